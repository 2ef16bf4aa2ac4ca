"""The interfaces of a store's tables and of its log of finished games, and the errors of stores."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable, Container, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from tictactoe_server import OperatorError

Value = TypeVar("Value")
Game = TypeVar("Game")

MISSING: Final[int] = 0
"""The revision of a value that does not exist. A save that expects this revision creates the value or fails."""


class Conflict(Exception):
    """The value does not have the expected revision; nothing was written. Load the value and try again."""


class StoreUnavailable(Exception):
    """The store cannot answer now. A write that fails with this error may still take effect."""


class NotStored(StoreUnavailable):
    """The store cannot answer now; nothing was written."""


class StoreBusy(NotStored):
    """Too many operations are waiting; nothing was written. Try again later."""


class Unsettled(StoreUnavailable):
    """Nothing was written, but an earlier write of the key may still take effect. Try again soon."""


class Unreadable(StoreUnavailable):
    """The stored value is damaged. A retry does not help. Other keys are not affected."""


class CannotOpenStore(OperatorError):
    """The store cannot be opened; nothing was changed."""


class Waiter(Protocol):
    """The callbacks of a write. They run on the event loop; a store in memory calls them before the write returns."""

    def stored(self, revision: int) -> None:
        """Called after the write with the new revision, which is `MISSING` after a deletion."""

    def failed(self, error: Exception) -> None:
        """Called with a `Conflict`, or with a `StoreUnavailable`; see there whether the write may take effect later."""


@dataclass(frozen=True, slots=True)
class Stored(Generic[Value]):
    """A value in a table, or the error if the value is damaged."""

    key: str
    value: Value | Unreadable
    revision: int


class Table(Protocol[Value]):
    """Values by key, written by compare-and-set. Every coroutine may raise, and every write report, `StoreUnavailable`.

    The revisions of a key only increase, even after a deletion. An expected revision of None matches every revision.
    """

    @property
    def expires(self) -> bool:
        """Whether the store itself deletes values at the end of their lifetime."""
        return False

    async def load(self, key: str) -> tuple[Value, int] | None:
        """Return the value and its revision, or None if there is no value."""

    async def has_lost(self, key: str, revision: int) -> bool:
        """Return True if the store lost this revision of the value because it was restored to an earlier state."""
        return False

    def load_all(self, skipped: Container[str] = ()) -> AsyncIterator[Sequence[Stored[Value]]]:
        """Yield all values in batches, except for those with the keys `skipped`."""

    async def first_key(self, prefix: str) -> str | None:
        """Return a key with this prefix, or None if there is none."""

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        """Store the value if the stored revision equals `expected_revision`; otherwise the waiter gets a `Conflict`.

        Args:
            finished: A game that is added to the game log in the same transaction, or None.
        """

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        """Delete the value if its revision equals `expected_revision`; otherwise the waiter gets a `Conflict`.

        A missing value is a `Conflict`, too, unless `expected_revision` is None.
        """


class GameLog(Protocol[Game]):
    """Finished games by id; ids are never reused. Every method may raise `StoreUnavailable`.

    Methods that return several games log damaged games and skip them.
    """

    async def games_of(self, player: str, limit: int, before: int | None = None) -> list[tuple[int, Game]]:
        """Return at most `limit` of a player's games with their ids, newest first.

        Args:
            limit: The most games to return; values above `MAX_LISTED_GAMES` count as that.
            before: Return only games older than the game with this id; None for all.
        """

    async def game(self, id: int) -> Game | None: ...

    async def games_at(self, room: str, number: int) -> list[tuple[int, Game]]:
        """Return the games with this number in rooms with this code, with their ids.

        There is usually at most one, because room codes are seldom reused.
        """

    def after(self, cursor: str, limit: int) -> AsyncIterator[tuple[str, int, Game]]:
        """Yield at most `limit` games after a position in the log; each item is a cursor, the game's id and the game.

        Args:
            cursor: Where to start: the cursor from the item before, or "" for the beginning. Cursors stay valid forever
                and on every server.
        """

    async def forget_before(self, at: int) -> bool:
        """Delete some of the games that ended before `at` (ms since 1970); return True if there may be more."""

    async def replace(self, id: int, game: Game) -> None:
        """Erase the game with this id and store `game` in its place, possibly under another id."""


async def values_of(table: Table[Value], pause_seconds: float = 0.0) -> AsyncIterator[tuple[str, Value, int]]:
    """Yield the keys, values and revisions in a table, skipping damaged values. May raise `StoreUnavailable`.

    Args:
        pause_seconds: A pause after each batch of values, which leaves time for other work.
    """
    async for some in table.load_all():
        for stored in some:
            if not isinstance(stored.value, Unreadable):
                yield stored.key, stored.value, stored.revision
        await asyncio.sleep(pause_seconds)


async def delete_where(table: Table[Value], is_old: Callable[[Value], bool], pause_seconds: float) -> None:
    """Delete the values for which `is_old` returns True, unless they change meanwhile; otherwise like `values_of`."""
    async for key, value, revision in values_of(table, pause_seconds):
        if is_old(value):
            with suppress(Conflict):
                await delete(table, key, revision)


def read_time(document: bytes | None) -> int | None:
    """Decode a stored time in ms; return None if there is none. Raise `Unreadable` if the document is no number."""
    try:
        return None if document is None else int(document)
    except ValueError as error:
        raise Unreadable(f"The time is not a number: {error}.") from error


class Histogram:
    """A histogram of values.

    Attributes:
        bounds: The upper bounds of the buckets, ascending and inclusive.
        counts: The number of values in each bucket, and last the number of values above all bounds.
        total: The sum of all values.
    """

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class WriteFigures:
    """Histograms of the durations of a store's transactions and of the number of writes in each transaction."""

    def __init__(self) -> None:
        self.seconds = Histogram((0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5))
        self.writes = Histogram((1, 2, 5, 10, 25, 50, 100, 250, 500, 1000))

    def add(self, seconds: float, writes: int) -> None:
        self.seconds.add(seconds)
        self.writes.add(writes)


class Pending:
    """A `Waiter` whose `future` receives the revision or the error."""

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
    """Save a value as in `Table.save`, and return its new revision. May raise `Conflict` or `StoreUnavailable`."""
    pending = Pending()
    table.save(key, value, expected_revision, pending)
    return pending.future


def delete(table: Table[Any], key: str, expected_revision: int | None) -> asyncio.Future[int]:
    """Delete a value as in `Table.delete`. May raise `Conflict` or `StoreUnavailable`."""
    pending = Pending()
    table.delete(key, expected_revision, pending)
    return pending.future
