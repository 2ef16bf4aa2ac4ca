"""The interface of a store, and the specs of its tables: how values become bytes, and which persons they name.

A new table is a new spec and needs no change in any store. A forgotten person is remembered by a hash of the id alone,
so that data restored from a backup can be erased again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Generic, NamedTuple, Protocol

import msgspec

from tictactoe_server.storage.store import GameLog, Table, Unreadable, Value, WriteFigures


@dataclass(frozen=True, slots=True)
class Persons(Generic[Value]):
    """Which persons a value names, and how it is erased and exported.

    Attributes:
        ids: Returns the ids of the persons.
        without: Takes a value, the id of a forgotten person and the stand-in's id, which is also the name; returns the
            value without the person, None to delete it.
        shown: Returns the part of the value, as JSON, that an export contains.
        owner: Returns the only person whose export contains the value; None if the exports of all `ids` do.
        is_indexed: Whether stores find the value by the ids; not if these change too often, or are derived from others.
    """

    ids: Callable[[Value], Collection[str]]
    without: Callable[[Value, str, str], Value | None] = lambda value, id, stand_in: None
    shown: Callable[[Value], Any] = msgspec.to_builtins
    owner: Callable[[Value], str] | None = None
    is_indexed: bool = True

    def is_shown(self, value: Value, id: str) -> bool:
        return id in self.ids(value) if self.owner is None else id == self.owner(value)


NOBODY: Final[Persons[Any]] = Persons(lambda value: (), is_indexed=False)
"""For tables whose values name no person."""


def hash_id(id: str) -> str:
    """Return the hash by which a forgotten person is remembered."""
    return sha256(id.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Columns(Generic[Value]):
    """The document and the integers of a value that a database keeps in columns; `join` is the inverse of `split`."""

    names: tuple[str, ...]
    split: Callable[[Value], tuple[Any, ...]]
    join: Callable[..., Value]


@dataclass(frozen=True, slots=True)
class TableSpec(Generic[Value]):
    """A table of a store, and how its values become bytes.

    Attributes:
        name: The name of the table, a plural.
        noun: The noun for a value in messages.
        decode: Returns the value of a document; raises ValueError, TypeError, RecursionError or msgspec's errors.
        label: The noun phrase for a value with its key in messages.
        key_of: Returns the key that a value contains; None if values do not contain their keys.
        lifetime_seconds: Returns when a value expires, in stores that can expire values.
        is_bounded: Whether a store in memory drops the oldest values if there are too many.
        persons: The persons named in values; required if values contain players' ids.
        forget: Called with each deleted key.
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
        """The columns of a database's table; only the document if no others are named."""
        return self.columns or Columns((), lambda value: (self.encode(value),), self.decode)

    def read_row(self, key: object, document: object, *numbers: object) -> Value:
        """Return the value of a row of the database; raises `Unreadable`."""
        if not all(isinstance(number, int) for number in numbers):
            raise Unreadable(f"A number is none: {numbers}.")
        return self.read(key, document, lambda found: self.rows.join(found, *numbers))

    def read(self, key: object, document: object, decode: Callable[[bytes], Value] | None = None) -> Value:
        """Return the value of a document; raises `Unreadable`, also if its key is not `key`, unless that is None."""
        try:
            value = (decode or self.decode)(as_bytes(document))
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
            raise Unreadable(f"Not a {self.noun}: {error}") from error
        if key is not None and self.key_of is not None and self.key_of(value) != key:
            raise Unreadable(f"It says that it is {self.key_of(value)}.")
        return value

    @property
    def persons_of(self) -> Persons[Value]:
        return self.persons or NOBODY

    def indexed_ids(self, value: Value) -> Collection[str]:
        """Return the persons by whom stores find a value; see `Storage.keys_of`."""
        return set(self.persons_of.ids(value)) if self.persons_of.is_indexed else ()

    def describe(self, key: object) -> str:
        return self.label.format(noun=self.noun, key=key)


def as_bytes(value: object) -> bytes:
    """Return a document as bytes; SQLite returns another type if the row is damaged."""
    return value if isinstance(value, bytes) else str(value).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSpec(TableSpec[Value]):
    """Finished games by their ids; `at` returns the end of a game in ms since 1970, `place` its room and number."""

    people: Callable[[Value], Sequence[str]]
    at: Callable[[Value], int]
    place: Callable[[Value], tuple[str, int]]


class Specs(NamedTuple):
    """All tables of a store, in the order of copies between stores."""

    tables: tuple[TableSpec[Any], ...]
    games: GameSpec[Any]


class Storage(Protocol):
    """The data of one server. All coroutines raise `StoreUnavailable`."""

    figures: WriteFigures

    @property
    def games(self) -> GameLog[Any]: ...

    def table(self, spec: TableSpec[Value]) -> Table[Value]:
        """Return a table that the store was opened with."""

    async def keys_of(self, ids: Collection[str], *, is_exact: bool = False) -> Sequence[tuple[str, str]]:
        """Return the tables and keys of the values that name one of these persons; see `Persons.is_indexed`.

        In a cluster, values stored a moment ago may be missing unless the result must be `is_exact`, which is slow.
        """

    def owed_since(self) -> float | None:
        """Return the start of the current wait for the store (s, as `clock.monotonic`), None if there is none."""

    def note_time(self, ms: int) -> None:
        """Replace the total run time of servers soon, without waiting. A loss of power may lose the last seconds."""

    async def noted_time(self) -> int | None:
        """Return the noted run time, or None."""

    async def drop_copies(self, keys: Collection[str]) -> None:
        """Delete local copies of the games of forgotten persons, given by the hashes of their ids."""

    async def scrub(self) -> None:
        """Overwrite deleted and replaced content as far as possible."""

    async def close(self) -> None:
        """Finish all writes, then close."""
