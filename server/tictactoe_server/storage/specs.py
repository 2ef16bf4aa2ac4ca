"""The interface of a store, and the specs of its tables: how values are encoded, and which persons they mention.

A new table needs only a new spec; the stores stay unchanged. To forget a person is to erase the person from all values.
Only a hash of the person's id is kept, so that data restored from a backup can be erased again.
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
    """How the values of a table mention persons, and how they are erased and exported.

    Attributes:
        ids: Returns the ids of the persons that a value mentions.
        without: Called with a value, the id of a forgotten person and the id of a stand-in, which is also the
            stand-in's name. Returns the value with the person replaced, or None to delete the value.
        shown: Returns the part of a value that an export contains, as JSON-compatible objects.
        owner: Returns the id of the only person whose export contains the value. If `owner` is None, the exports of all
            `ids` contain it.
        is_indexed: Whether stores find values by these ids. False if the ids change too often or are indexed elsewhere.
    """

    ids: Callable[[Value], Collection[str]]
    without: Callable[[Value, str, str], Value | None] = lambda value, id, stand_in: None
    shown: Callable[[Value], Any] = msgspec.to_builtins
    owner: Callable[[Value], str] | None = None
    is_indexed: bool = True

    def is_shown(self, value: Value, id: str) -> bool:
        return id in self.ids(value) if self.owner is None else id == self.owner(value)


NOBODY: Final[Persons[Any]] = Persons(lambda value: (), is_indexed=False)
"""For tables whose values mention no persons."""


def hash_id(id: str) -> str:
    """Return the hash of a person's id, which is kept after the person is forgotten."""
    return sha256(id.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class TableSpec(Generic[Value]):
    """The description of a table in a store: its name, and how its values are encoded.

    Attributes:
        name: The name of the table, a plural noun.
        noun: What a message calls one value of the table, such as ``room``.
        decode: Decodes a document; may raise ValueError, TypeError, RecursionError or msgspec's errors.
        key_of: Returns the key that a value contains; None if values do not contain their keys.
        lifetime_seconds: Returns the time until a value expires, for stores that can expire values.
        is_bounded: Whether a store in memory drops the oldest values when there are too many.
        persons: How values mention persons; required if values contain players' ids.
        forget: Called with the key of each value that has been deleted.
    """

    name: str
    noun: str
    encode: Callable[[Value], bytes]
    decode: Callable[[bytes], Value]
    key_of: Callable[[Value], str] | None = None
    lifetime_seconds: Callable[[Value], int] | None = None
    is_bounded: bool = False
    persons: Persons[Value] | None = None
    forget: Callable[[str], None] = lambda key: None

    def read(self, key: object, document: object) -> Value:
        """Decode a document.

        Args:
            key: The key that the value must contain; None to skip this check.

        Raises:
            Unreadable: The document is damaged, or its value contains another key.
        """
        try:
            value = self.decode(as_bytes(document))
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
            raise Unreadable(f"Not a {self.noun}: {error}") from error
        if key is not None and self.key_of is not None and self.key_of(value) != key:
            raise Unreadable(f"It contains the key {self.key_of(value)}.")
        return value

    @property
    def persons_of(self) -> Persons[Value]:
        return self.persons or NOBODY

    def indexed_ids(self, value: Value) -> Collection[str]:
        """Return the ids of the persons that `Storage.keys_of` finds the value by."""
        return set(self.persons_of.ids(value)) if self.persons_of.is_indexed else ()


def as_bytes(value: object) -> bytes:
    """Return a document as bytes. SQLite may return another type if the row is damaged."""
    return value if isinstance(value, bytes) else str(value).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSpec(TableSpec[Value]):
    """The description of the finished games, whose keys are their ids.

    Attributes:
        people: Returns the ids of a game's players.
        at: Returns the time when a game ended, in ms since 1970.
        place: Returns the code of a game's room and the game's number in that room.
    """

    people: Callable[[Value], Sequence[str]]
    at: Callable[[Value], int]
    place: Callable[[Value], tuple[str, int]]


class Specs(NamedTuple):
    """All tables of a store, in the order of copying them to another store."""

    tables: tuple[TableSpec[Any], ...]
    games: GameSpec[Any]


class Storage(Protocol):
    """The data of a server or of a cluster. Every coroutine may raise `StoreUnavailable`."""

    figures: WriteFigures

    @property
    def games(self) -> GameLog[Any]: ...

    def table(self, spec: TableSpec[Value]) -> Table[Value]:
        """Return a table; `spec` must be one of the specs that the store was opened with."""

    async def keys_of(self, ids: Collection[str], *, is_exact: bool = False) -> Sequence[tuple[str, str]]:
        """Return the tables and keys of the indexed values that mention any of these persons; see `Persons.is_indexed`.

        Args:
            is_exact: Whether values that another server in the cluster stored a moment ago must be included. This is
                slow.
        """

    def owed_since(self) -> float | None:
        """Return when the current wait for the store began (s, as `clock.monotonic`), or None if nothing waits."""

    def note_time(self, ms: int) -> None:
        """Schedule storing the total run time of the servers, in ms. A power failure may lose the last seconds."""

    async def noted_time(self) -> int | None:
        """Return the stored total run time in ms, or None."""

    async def drop_copies(self, keys: Collection[str]) -> None:
        """Delete local copies of forgotten persons' games; `keys` are the hashes of the persons' ids."""

    async def scrub(self) -> None:
        """Overwrite deleted and replaced content as far as possible."""

    async def close(self) -> None:
        """Finish all writes, then close."""
