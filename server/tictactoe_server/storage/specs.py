"""A store, and what it is opened with: its tables, and how their values and the finished games become bytes.

Stores know nothing else of what they keep. A new table is a new spec, and needs no line in any of them. It says whom
its values name, too. Who is forgotten is known by a hash of the id, which tells nobody who it was: so what comes back
with a backup can be forgotten again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Generic, NamedTuple, Protocol

import msgspec

from tictactoe_server.storage.store import GameLog, Table, Unreadable, Value, WriteFigures


def _gone(value: Any, id: str, stand_in: str) -> None:
    """Return nothing: the value goes with the person."""


@dataclass(frozen=True, slots=True)
class Persons(Generic[Value]):
    """Whom a value names, by their `ids`.

    `without` takes a value, the id of one who is forgotten, and the name and id that stand for them from now on; it
    returns what is left, None where all of it goes. `shown` is what is given of it as JSON to each of them, or to its
    `owner` alone.
    """

    ids: Callable[[Value], Collection[str]]
    without: Callable[[Value, str, str], Value | None] = _gone
    shown: Callable[[Value], Any] = msgspec.to_builtins
    owner: Callable[[Value], str] | None = None

    def is_shown(self, value: Value, id: str) -> bool:
        """Tell whether a person is given a value."""
        return id in self.ids(value) if self.owner is None else id == self.owner(value)


NOBODY: Final[Persons[Any]] = Persons(lambda value: ())
"""For a table that names no person."""


def hash_id(id: str) -> str:
    """Return by what one is known who is forgotten."""
    return sha256(id.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Columns(Generic[Value]):
    """The whole numbers that a database keeps of a value beside its document, in columns of their own.

    Attributes:
        names: The names of the columns.
        split: Returns the document and the numbers of a value.
        join: Makes the value of a document and the numbers.
    """

    names: tuple[str, ...]
    split: Callable[[Value], tuple[Any, ...]]
    join: Callable[..., Value]


@dataclass(frozen=True, slots=True)
class TableSpec(Generic[Value]):
    """A table of a store, and how its values become bytes.

    Attributes:
        name: The name of the table, a plural.
        noun: A value of it, in messages.
        encode: Makes the document of a value.
        decode: Makes the value of a document; raises ValueError, TypeError, RecursionError or msgspec's errors.
        label: A value with its key, in messages.
        key_of: Returns the key that a value contains; None if values do not contain their keys.
        columns: Numbers that a database keeps in columns of their own.
        lifetime_seconds: After how long a value expires, in stores that can expire values.
        is_bounded: Whether a store in memory drops the oldest values if there are too many.
        persons: Whom its values name; required if values contain players' ids.
        forget: Called with each key that is deleted.
    """

    name: str
    noun: str
    encode: Callable[[Value], bytes]
    decode: Callable[[bytes], Value]
    label: str = "The {noun} {key}"
    key_of: Callable[[Value], str] | None = None
    columns: Columns[Value] | None = None
    lifetime_seconds: Callable[[Value], int] | None = None
    is_bounded: bool = False
    persons: Persons[Value] | None = None
    forget: Callable[[str], None] = lambda key: None

    @property
    def rows(self) -> Columns[Value]:
        """How its values are kept in a database: as documents alone where no columns are named."""
        return self.columns or Columns((), lambda value: (self.encode(value),), self.decode)

    def read_row(self, key: object, document: object, *numbers: object) -> Value:
        """Return the value of a row of the database; otherwise like `read`."""
        if not all(isinstance(number, int) for number in numbers):
            raise Unreadable(f"A number is none: {numbers}.")
        return self.read(key, document, lambda found: self.rows.join(found, *numbers))

    def read(self, key: object, document: object, decode: Callable[[bytes], Value] | None = None) -> Value:
        """Return the value of a document that is kept under a key, whichever for None; raises `Unreadable`."""
        try:
            value = (decode or self.decode)(as_bytes(document))
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
            raise Unreadable(f"Not a {self.noun}: {error}") from error
        if key is not None and self.key_of is not None and self.key_of(value) != key:
            raise Unreadable(f"It says that it is {self.key_of(value)}.")
        return value

    @property
    def persons_of(self) -> Persons[Value]:
        """Whom its values name; nobody where it does not say."""
        return self.persons or NOBODY

    def describe(self, key: object) -> str:
        return self.label.format(noun=self.noun, key=key)


def as_bytes(value: object) -> bytes:
    """Return a document as such: what is of another kind is read like its text, or as damaged."""
    return value if isinstance(value, bytes) else str(value).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSpec(TableSpec[Value]):
    """Finished games, by their ids: who played, when it ended (ms since 1970), in which room as which game."""

    people: Callable[[Value], Sequence[str]]
    at: Callable[[Value], int]
    place: Callable[[Value], tuple[str, int]]


class Specs(NamedTuple):
    """All that a store keeps. In this order it is copied into another one."""

    tables: tuple[TableSpec[Any], ...]
    games: GameSpec[Any]


class Storage(Protocol):
    """Everything that one server keeps."""

    figures: WriteFigures

    @property
    def games(self) -> GameLog[Any]: ...

    def table(self, spec: TableSpec[Value]) -> Table[Value]:
        """Return one of the tables that the store was opened with."""

    def owed_since(self) -> float | None:
        """Return since when the store owes an answer (s, as `time.monotonic`), or None where nothing waits for it."""

    def note_time(self, ms: int) -> None:
        """Keep how long servers have run, over the note before: soon, without a wait, and it never fails.

        It outlives the death of the process a moment later; a loss of power may take the last seconds of it.
        """

    async def noted_time(self) -> int | None:
        """Return the last note, or None; raises `StoreUnavailable`."""

    async def drop_copies(self, keys: Collection[str]) -> None:
        """Keep no copy of a game that names one who is forgotten, by a hash of the id; raises `StoreUnavailable`."""

    async def scrub(self) -> None:
        """Leave nothing of what was deleted or replaced before, as far as it can; raises `StoreUnavailable`."""

    async def close(self) -> None:
        """Write what is still to be written and let go; raises `StoreUnavailable` where that is not to be had."""
