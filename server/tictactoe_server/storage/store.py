"""The interface of a store's tables and of its log of finished games, and the errors of stores."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

Value = TypeVar("Value")
Game = TypeVar("Game")

MISSING: Final[int] = 0
"""The revision of a value that does not exist; `save` with this expected revision only creates."""


class Conflict(Exception):
    """The value has another revision than expected; nothing was written. Load the value and try again."""


class StoreUnavailable(Exception):
    """The store cannot answer now. A write that fails with this error may still take effect."""


class NotStored(StoreUnavailable):
    """The store cannot answer now; nothing was written."""


class StoreBusy(NotStored):
    """Too many operations are waiting; nothing was written. Try again later."""


class Unsettled(StoreUnavailable):
    """Nothing was written, but an earlier write of the key may still take effect. Try again soon."""


class Unreadable(StoreUnavailable):
    """The stored value is damaged. A retry does not help; other keys are not affected."""


class CannotOpenStore(Exception):
    """The store cannot be opened; nothing was changed. The message is a sentence for the operator."""


class CannotMove(Exception):
    """A copy is incomplete. The message is a sentence for the operator."""


class Waiter(Protocol):
    """Callbacks of a write. They run on the event loop, in a store in memory within the call of the write itself."""

    def stored(self, revision: int) -> None:
        """Called after the write with the new revision, `MISSING` after a delete."""

    def failed(self, error: Exception) -> None:
        """Called with `Conflict`, or with a `StoreUnavailable`, after which the write may still take effect."""


@dataclass(frozen=True, slots=True)
class Stored(Generic[Value]):
    """A value of a table, or the error if it is damaged."""

    key: str
    value: Value | Unreadable
    revision: int


class Table(Protocol[Value]):
    """Values by key, written by compare-and-set. Every method raises or reports `StoreUnavailable`.

    The revisions of a key grow, also after the key was deleted. An expected revision of None matches all revisions.
    """

    @property
    def expires(self) -> bool:
        """Whether the store deletes values at the end of their lifetime."""

    async def load(self, key: str) -> tuple[Value, int] | None:
        """Return the value and its revision, or None."""

    async def has_lost(self, key: str, revision: int) -> bool:
        """Return whether the value is missing or older because the store was set back to before this revision."""

    def load_all(self) -> AsyncIterator[Sequence[Stored[Value]]]:
        """Yield all values, some at a time."""

    async def first_key(self, prefix: str) -> str | None:
        """Return a key with this prefix, or None."""

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        """Replace the value with `expected_revision`, and add a `finished` game to the log in the same transaction."""

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        """Delete the value; a `Conflict` if it is missing, unless `expected_revision` is None."""


class GameLog(Protocol[Game]):
    """Finished games, under ids that are never reused. Every method may raise `StoreUnavailable`.

    Damaged games are logged and left out of lists.
    """

    async def games_of(self, player: str, limit: int, before: int | None = None) -> list[tuple[int, Game]]:
        """Return a player's games with ids below `before`, newest first, at most `limit` and `MAX_LISTED_GAMES`."""

    async def game(self, id: int) -> Game | None: ...

    async def games_at(self, room: str, number: int) -> list[tuple[int, Game]]:
        """Return the games with this number in rooms of this code, with their ids; codes are seldom reused."""

    def after(self, cursor: str, limit: int) -> AsyncIterator[tuple[str, int, Game]]:
        """Yield at most `limit` games after a cursor ("" for all), each as the cursor after it, its id and the game.

        Cursors are valid forever and on every server.
        """

    async def forget_before(self, at: int) -> bool:
        """Delete some of the games that ended before a time (ms since 1970); return True if there may be more."""

    async def replace(self, id: int, game: Game) -> None:
        """Replace and erase the game with this id; the new game may get another id."""


async def values_of(table: Table[Value], pause_seconds: float = 0.0) -> AsyncIterator[tuple[str, Value, int]]:
    """Yield the keys, values and revisions of a table without damaged values; raises `StoreUnavailable`."""
    async for some in table.load_all():
        for stored in some:
            if not isinstance(stored.value, Unreadable):
                yield stored.key, stored.value, stored.revision
        await asyncio.sleep(pause_seconds)


def read_time(document: bytes | None) -> int | None:
    """Return a noted time, or None; raises `Unreadable`."""
    try:
        return None if document is None else int(document)
    except ValueError as error:
        raise Unreadable(f"The time is no number: {error}.") from error


class Histogram:
    """Counts of values up to each of the `bounds` and beyond the last one, and the `total` of all values."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class WriteFigures:
    """The durations of a store's transactions, and their numbers of writes."""

    def __init__(self) -> None:
        self.seconds = Histogram((0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5))
        self.writes = Histogram((1, 2, 5, 10, 25, 50, 100, 250, 500, 1000))

    def add(self, seconds: float, writes: int) -> None:
        self.seconds.add(seconds)
        self.writes.add(writes)


class Pending:
    """A waiter with a `future` for the revision or the error."""

    __slots__ = ("future",)

    def __init__(self) -> None:
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def stored(self, revision: Any) -> None:
        if not self.future.done():
            self.future.set_result(revision)

    def failed(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)


def save(table: Table[Value], key: str, value: Value, expected_revision: int | None) -> asyncio.Future[int]:
    """Save a value and return its new revision; raises `Conflict` and `StoreUnavailable`. See `Table.save`."""
    pending = Pending()
    table.save(key, value, expected_revision, pending)
    return pending.future


def delete(table: Table[Any], key: str, expected_revision: int | None) -> asyncio.Future[int]:
    """Delete a value; raises `Conflict` and `StoreUnavailable`. See `Table.delete`."""
    pending = Pending()
    table.delete(key, expected_revision, pending)
    return pending.future
