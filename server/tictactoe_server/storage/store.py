"""What every store promises of its tables and its log of finished games, and the ways in which it says no."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

Value = TypeVar("Value")
Game = TypeVar("Game")

MISSING: Final[int] = 0  # the revision of a value that is not there: `save` with it creates, and only creates


class Conflict(Exception):
    """The value has another revision than expected; nothing was written. Load it and try again."""


class StoreUnavailable(Exception):
    """The store cannot answer now. A save that fails with this may or may not have happened: load to find out."""


class NotStored(StoreUnavailable):
    """The store cannot answer now, and certainly nothing was written."""


class StoreBusy(NotStored):
    """More waits for the store than it can do in good time; nothing was written. Try again a little later."""


class Unsettled(StoreUnavailable):
    """Nothing was written, but an earlier write of the key is still in process, and may yet happen. Try again soon."""


class Unreadable(StoreUnavailable):
    """What was asked for is damaged in the store itself. Asking again will not help; other keys are not affected."""


class CannotOpenStore(Exception):
    """The store cannot be opened, and nothing was changed; the message is a sentence for the operator."""


class CannotMove(Exception):
    """Not everything could be brought over; the message is a sentence for the operator."""


class Waiter(Protocol):
    """Who waits for a write. It is told on the event loop, within the call itself where the store answers at once."""

    def stored(self, revision: int) -> None:
        """Called when the write is kept, under this revision; `MISSING` after a delete."""

    def failed(self, error: Exception) -> None:
        """Called when it is not, or not known to be: `Conflict`, or `StoreUnavailable` and its kinds."""


@dataclass(frozen=True, slots=True)
class Stored(Generic[Value]):
    """A value as it is kept, or why it cannot be read."""

    key: str
    value: Value | Unreadable
    revision: int


class Table(Protocol[Value]):
    """Values by key, each with a revision that grows, also where a key is deleted and made again.

    Safety comes from compare-and-set. An expected revision of None is whichever there is, `MISSING` included.
    """

    @property
    def expires(self) -> bool:
        """Whether values go by themselves when their time is over, so that nobody else has to look."""

    async def load(self, key: str) -> tuple[Value, int] | None:
        """Return the value and its revision, or None where there is none; raises `StoreUnavailable`."""

    def load_all(self) -> AsyncIterator[Sequence[Stored[Value]]]:
        """Return all that is kept, some at a time; raises `StoreUnavailable`."""

    async def first_key(self, prefix: str) -> str | None:
        """Return one of the keys that begin so, or None; raises `StoreUnavailable`."""

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        """Keep the value in place of the one with `expected_revision`, and tell the waiter.

        `finished` is a game that is over by this very change: it goes into the log with it, or neither does.
        """

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        """Forget the value and tell the waiter; a `Conflict` also where it is gone already, but for None."""


class GameLog(Protocol[Game]):
    """Finished games, kept for good. Their ids never come again, and are told in the order in which games came.

    Every method may raise `StoreUnavailable`. What is damaged is left out of lists, and logged.
    """

    async def games_of(self, player: str, limit: int, before: int | None = None) -> list[tuple[int, Game]]:
        """Return a player's games with their ids, newest first, at most `limit` and `MAX_LISTED_GAMES`.

        `before` is the id of the last game of the page before, or None for the first page.
        """

    async def game(self, id: int) -> Game | None:
        """Return one game, or None where there is none."""

    async def games_at(self, room: str, number: int) -> list[tuple[int, Game]]:
        """Return the games that were played as this number in rooms of this code, with their ids: seldom several."""

    def after(self, cursor: str, limit: int) -> AsyncIterator[tuple[str, int, Game]]:
        """Yield at most `limit` games behind a `cursor`, "" for all: each with the cursor behind it and its id.

        Who remembers the last cursor goes on there at any later time, at any server, and misses none.
        """

    async def forget_before(self, at: int) -> bool:
        """Forget some of the games that ended before a moment (ms since 1970); tell whether more may follow."""

    async def replace(self, id: int, game: Game) -> None:
        """Keep a game in place of the one with this id, of which nothing is left; its id may be another one then."""


def read_time(document: bytes | None) -> int | None:
    """Return the time that was noted, None where nothing was; raises `Unreadable`."""
    try:
        return None if document is None else int(document)
    except ValueError as error:
        raise Unreadable(f"The time is no number: {error}.") from error


class Histogram:
    """How many values were at most as large as each of the `bounds`, how many were larger, and the `total` of all."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class WriteFigures:
    """How long the transactions of a store took, and how many writes each of them held."""

    def __init__(self) -> None:
        self.seconds = Histogram((0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5))
        self.writes = Histogram((1, 2, 5, 10, 25, 50, 100, 250, 500, 1000))

    def add(self, seconds: float, writes: int) -> None:
        self.seconds.add(seconds)
        self.writes.add(writes)


class Pending:
    """A waiter for those who can await: `future` has the revision, or the error."""

    __slots__ = ("future",)

    def __init__(self) -> None:
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def stored(self, revision: Any) -> None:
        if not self.future.done():
            self.future.set_result(revision)

    def failed(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)


class _Unawaited:
    """Waits for a write that nobody misses: it comes again."""

    def stored(self, revision: int) -> None: ...
    def failed(self, error: Exception) -> None: ...


UNAWAITED: Final[Waiter] = _Unawaited()


def save(table: Table[Value], key: str, value: Value, expected_revision: int | None) -> asyncio.Future[int]:
    """Keep a value and return its new revision; raises `Conflict` and `StoreUnavailable`. See `Table.save`."""
    pending = Pending()
    table.save(key, value, expected_revision, pending)
    return pending.future


def delete(table: Table[Any], key: str, expected_revision: int | None) -> asyncio.Future[int]:
    """Forget a value; raises `Conflict` and `StoreUnavailable`. See `Table.delete`."""
    pending = Pending()
    table.delete(key, expected_revision, pending)
    return pending.future
