"""What every store promises, and the ways in which it says no.

A store keeps values: rooms, players, finished games. Whether and how it turns them into bytes is its own business.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from msgspec import Struct

from tictactoe_server.rooms import FinishedGame, Player, Room
from tictactoe_server.storage.figures import WriteFigures

Value = TypeVar("Value")

MISSING: Final[int] = 0
"""The revision of a value that is not there: `save` with it creates, and only creates."""


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


class Waiter(Protocol):
    """Who waits for a write. It is told on the event loop, within the call itself where the store answers at once."""

    def stored(self, revision: int) -> None:
        """Take notice that the write is kept, under this revision; `MISSING` after a delete."""
        ...

    def failed(self, error: Exception) -> None:
        """Take notice that it is not, or not known to be: `Conflict`, or `StoreUnavailable` and its kinds."""
        ...


@dataclass(frozen=True, slots=True)
class Stored(Generic[Value]):
    """A value as it is kept, or why it cannot be read."""

    key: str
    value: Value | Unreadable
    revision: int


class Table(Protocol[Value]):
    """Values by key, each with a revision that grows. Safety comes from compare-and-set, never from who wrote last.

    Keys are short ASCII texts. A key that is deleted and made again never has a revision that it had before.
    """

    async def load(self, key: str) -> tuple[Value, int] | None:
        """Return the value and its revision, or None where there is none; raises `StoreUnavailable`."""
        ...

    def save(self, key: str, value: Value, expected_revision: int, waiter: Waiter) -> None:
        """Keep the value in place of the one with `expected_revision`, and tell the waiter."""
        ...

    def delete(self, key: str, expected_revision: int, waiter: Waiter) -> None:
        """Forget the value and tell the waiter; a `Conflict` also where it is gone already."""
        ...


class Players(Table[Player], Protocol):
    """The players, by the hashes of their tokens, each with the day on which they were last here.

    Days are counted from 1970 (UTC).
    """

    def see(self, key: str, *, is_seated: bool = False) -> None:
        """Note that a player is here today, and with `is_seated` that they took a seat: soon, and it never fails."""
        ...

    async def forget_idle(self, after: str, today: int, stay: Collection[str]) -> str | None:
        """Look at some players behind a key, and forget those who were not here for long, but for the ids in `stay`.

        Who never took a seat is forgotten after a day, others after a year, unless finished games of theirs are kept.
        Returns the key to go on behind, or None at the end; raises `StoreUnavailable`.
        """
        ...


class Rooms(Table[Room], Protocol):
    """The rooms, by their codes."""

    def load_all(self) -> AsyncIterator[Sequence[Stored[Room]]]:
        """Return all that is kept, some at a time; raises `StoreUnavailable`."""
        ...

    def save(
        self, key: str, value: Room, expected_revision: int, waiter: Waiter, finished: FinishedGame | None = None
    ) -> None:
        """Keep the room in place of the one with `expected_revision`, and tell the waiter.

        `finished` is a game that is over by this very change: it goes into the archive with it, or neither does.
        """
        ...


class Archive(Protocol):
    """Finished games, kept for good, by id and by player. Every method may raise `StoreUnavailable`."""

    async def games_of(self, player: str, limit: int, before: int | None = None) -> list[tuple[int, FinishedGame]]:
        """Return a player's games with their ids, newest first, at most `limit` and `MAX_LISTED_GAMES`.

        `before` is the id of the last game of the page before, or None for the first page.
        """
        ...

    async def game(self, id: int) -> FinishedGame | None:
        """Return one game, or None where there is none. Ids grow in the order of archiving, from 1."""
        ...

    async def forget_before(self, at: int) -> bool:
        """Forget some of the games that ended before a moment (ms since 1970); tell whether more may follow.

        Where they were shared, that is over.
        """
        ...

    async def share(self, id: str, game: FinishedGame) -> None:
        """Keep a copy of a game under an id, letters, digits, ``-`` and ``_``, until that is taken back."""
        ...

    async def shared_id(self, half: str) -> str | None:
        """Return the id, of twice that length, that begins so and under which a copy is kept, or None."""
        ...

    async def unshare(self, id: str) -> None:
        """Forget what is kept under such an id, if there is anything."""
        ...

    async def shared(self, id: str) -> FinishedGame | None:
        """Return what is kept under such an id, or None."""
        ...


class Ban(Struct, frozen=True):
    """Who is not let in, a player's id or a network, and why; times are in ms since 1970, None is for good."""

    subject: str
    reason: str
    since: int
    until: int | None = None


class BanList(Protocol):
    """The bans, one for each subject. Every method may raise `StoreUnavailable`."""

    async def load_all(self) -> list[Ban]:
        """Return all that can be read."""
        ...

    async def keep(self, ban: Ban) -> None:
        """Keep a ban in place of the one of the same subject."""
        ...

    async def forget(self, subject: str) -> None:
        """Forget the ban of a subject, if there is one."""
        ...


class Storage(Protocol):
    """Everything that one server keeps."""

    @property
    def rooms(self) -> Rooms:
        """The rooms, by their codes."""
        ...

    @property
    def bans(self) -> BanList:
        """The bans."""
        ...

    @property
    def figures(self) -> WriteFigures:
        """What writing took so far."""
        ...

    @property
    def players(self) -> Players:
        """The players, by the hashes of their tokens."""
        ...

    @property
    def archive(self) -> Archive:
        """The finished games."""
        ...

    def owed_since(self) -> float | None:
        """Return since when the store owes an answer (s, as `time.monotonic`), or None where nothing waits for it."""
        ...

    def note_time(self, ms: int) -> None:
        """Keep how long servers have run, over the note before: soon, without a wait, and it never fails.

        It outlives the death of the process a moment later; a loss of power may take the last seconds of it.
        """
        ...

    async def noted_time(self) -> int | None:
        """Return the last note, or None; raises `StoreUnavailable`."""
        ...

    async def close(self) -> None:
        """Write what is still to be written and let go; raises `StoreUnavailable` where that is not to be had."""
        ...


class Pending:
    """A waiter for those who can await: `future` has the revision, or the error."""

    __slots__ = ("future",)

    def __init__(self) -> None:
        self.future: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def stored(self, revision: int) -> None:
        """Hand on the revision."""
        if not self.future.done():
            self.future.set_result(revision)

    def failed(self, error: Exception) -> None:
        """Hand on the error."""
        if not self.future.done():
            self.future.set_exception(error)


class _Unawaited:
    """Waits for a write that nobody misses."""

    def stored(self, revision: int) -> None:
        """Do nothing."""

    def failed(self, error: Exception) -> None:
        """Do nothing: it comes again."""


UNAWAITED: Final[Waiter] = _Unawaited()


async def save(table: Table[Value], key: str, value: Value, expected_revision: int) -> int:
    """Keep a value and return its new revision; raises `Conflict` and `StoreUnavailable`. See `Table.save`."""
    pending = Pending()
    table.save(key, value, expected_revision, pending)
    return await pending.future
