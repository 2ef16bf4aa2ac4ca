"""The rooms, players and bans as keys of the stream; see `Table`, `Players` and `BanList` for what is promised."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Sequence
from typing import Any, Final

import msgspec
import structlog

from tictactoe_server.rooms import FinishedGame, Player, Room
from tictactoe_server.stores.documents import RoomEncoder, decode_ban, decode_room_of, encode_ban, encode_game
from tictactoe_server.stores.idleness import SEATED_DAYS, SECONDS_A_DAY, UNSEATED_DAYS, today
from tictactoe_server.stores.jetstream.stream import TOMBSTONE, Entry, Stream
from tictactoe_server.stores.jetstream.writes import Writes
from tictactoe_server.stores.store import (
    MISSING,
    Ban,
    Conflict,
    NotStored,
    Pending,
    Stored,
    StoreUnavailable,
    Unreadable,
    Waiter,
)

ROOM: Final = "room."
PLAYER: Final = "player."
GAME: Final = "game."
BAN: Final = "ban."
SHARE: Final = "share."
TIME: Final = "time"
_ATTEMPTS: Final = 3

log: Final = structlog.get_logger(__name__)


class JetStreamRooms:
    """The rooms. `on_archived` is called with the id of each finished game that was kept with its room."""

    def __init__(self, stream: Stream, writes: Writes, on_archived: Callable[[int], None]) -> None:
        self._stream = stream
        self._writes = writes
        self._on_archived = on_archived
        self._encoder = RoomEncoder()

    async def load(self, key: str) -> tuple[Room, int] | None:
        """Return the room and its revision, or None where there is none; raises `Unreadable` for a damaged one."""
        found = await self._stream.newest(ROOM + key)
        if found is None or found.document is None:
            return None
        return decode_room_of(key, found.document), found.sequence

    async def load_all(self) -> AsyncIterator[Sequence[Stored[Room]]]:
        """Return all that is kept, some at a time; what is changed meanwhile may be missing."""
        upto = await self._stream.last_sequence()
        async for entries in self._stream.walk(ROOM + ">", 0, upto):
            yield [_stored(entry, entry.document) for entry in entries if entry.document is not None]

    def save(
        self, key: str, value: Room, expected_revision: int, waiter: Waiter, finished: FinishedGame | None = None
    ) -> None:
        """Keep the room, and the finished game with it in one batch, and tell the waiter."""
        document = self._encoder.encode(value)
        if finished is None:
            self._writes.replace(ROOM + key, document, expected_revision, waiter)
            return
        game = f"{GAME}{key}-{value.opened_at}-{finished.game}"
        archived = _Archived(waiter, self._on_archived)
        before = (game, encode_game(finished))
        self._writes.replace(ROOM + key, document, expected_revision, archived, before=before)

    def delete(self, key: str, expected_revision: int, waiter: Waiter) -> None:
        """Forget the room and tell the waiter."""
        self._encoder.forget(key)
        self._writes.delete(ROOM + key, expected_revision, waiter)


class _Archived:
    """Waits for a room with a finished game, whose message comes just before that of the room."""

    def __init__(self, waiter: Waiter, on_archived: Callable[[int], None]) -> None:
        self._waiter = waiter
        self._on_archived = on_archived

    def stored(self, revision: int) -> None:
        self._on_archived(revision - 1)
        self._waiter.stored(revision)

    def failed(self, error: Exception) -> None:
        self._waiter.failed(error)


class Known(msgspec.Struct, frozen=True):
    """A player as kept: `seen` is the day on which they were last here."""

    player: Player
    seen: int
    is_seated: bool = False

    @property
    def headers(self) -> dict[str, str]:
        """For how long they are still remembered: whole days, the last one included, and one at least."""
        days = (SEATED_DAYS if self.is_seated else UNSEATED_DAYS) + 1 - (today() - self.seen)
        return {"Nats-TTL": f"{max(1, days) * SECONDS_A_DAY}s"}


encode_known: Final = msgspec.json.Encoder().encode
_decode_known: Final = msgspec.json.Decoder(Known).decode


class JetStreamPlayers:
    """The players, who expire in the stream by themselves; `see` puts that off, once a day."""

    def __init__(self, stream: Stream, writes: Writes) -> None:
        self._stream = stream
        self._writes = writes
        self._tasks: set[asyncio.Task[None]] = set()
        self._seen_day = 0
        self._seen: dict[str, bool] = {}

    async def load(self, key: str) -> tuple[Player, int] | None:
        """Return the player and the revision, or None where there is none; raises `Unreadable` for a damaged one."""
        found = await self._stream.newest(PLAYER + key)
        if found is None or found.document is None:
            return None
        return decode_known(found.document).player, found.sequence

    def save(self, key: str, value: Player, expected_revision: int, waiter: Waiter) -> None:
        """Keep the player and tell the waiter; of one who is known it is read first how long they stay."""
        if expected_revision == MISSING:
            self._write(key, Known(value, today()), MISSING, waiter)
        else:
            self._run(self._replace(key, value, expected_revision, waiter))

    def delete(self, key: str, expected_revision: int, waiter: Waiter) -> None:
        """Forget the player and tell the waiter."""
        self._seen.pop(key, None)
        self._writes.delete(PLAYER + key, expected_revision, waiter)

    def see(self, key: str, *, is_seated: bool = False) -> None:
        """Note that a player is here today: what is known already is not written again."""
        day = today()
        if day != self._seen_day:
            self._seen_day = day
            self._seen.clear()
        if key not in self._seen or is_seated > self._seen[key]:
            self._seen[key] = is_seated
            self._run(self._note(key, day, is_seated=is_seated))

    async def forget_idle(self, after: str, today: int, stay: Collection[str]) -> str | None:
        """Return None: players expire by themselves."""
        return None

    async def close(self) -> None:
        """Give up what is still to be noted."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _write(self, key: str, known: Known, expected_revision: int, waiter: Waiter) -> None:
        self._writes.replace(PLAYER + key, encode_known(known), expected_revision, waiter, known.headers)

    async def _replace(self, key: str, value: Player, expected_revision: int, waiter: Waiter) -> None:
        try:
            found = await self._stream.newest(PLAYER + key)
            if found is None or found.document is None or found.sequence != expected_revision:
                waiter.failed(Conflict(key))
                return
            is_seated = decode_known(found.document).is_seated
        except StoreUnavailable as unavailable:
            waiter.failed(NotStored(str(unavailable)))
            return
        self._write(key, Known(value, today(), is_seated), expected_revision, waiter)

    async def _note(self, key: str, day: int, *, is_seated: bool) -> None:
        """Write the day, unless it stands there; where that fails the next time will do."""
        try:
            for _ in range(_ATTEMPTS):
                found = await self._stream.newest(PLAYER + key)
                if found is None or found.document is None:
                    break
                known = decode_known(found.document)
                if known.seen >= day and known.is_seated >= is_seated:
                    return
                pending = Pending()
                now = Known(known.player, max(known.seen, day), known.is_seated or is_seated)
                self._write(key, now, found.sequence, pending)
                try:
                    await pending.future
                except Conflict:
                    continue
                return
        except StoreUnavailable as unavailable:
            log.debug("that a player is here could not be noted", reason=str(unavailable))
        self._seen.pop(key, None)


class JetStreamBans:
    """The bans, one key each."""

    def __init__(self, stream: Stream, writes: Writes) -> None:
        self._stream = stream
        self._writes = writes

    async def load_all(self) -> list[Ban]:
        """Return all that can be read."""
        bans = []
        upto = await self._stream.last_sequence()
        async for entries in self._stream.walk(BAN + ">", 0, upto):
            for entry in entries:
                ban = read_ban(entry)
                if ban is not None:
                    bans.append(ban)
        return bans

    async def keep(self, ban: Ban) -> None:
        """Keep a ban."""
        await self._writes.carry_out(ban_key(ban.subject), encode_ban(ban))

    async def forget(self, subject: str) -> None:
        """Forget a ban."""
        await self._writes.carry_out(ban_key(subject), b"", TOMBSTONE)


def read_ban(entry: Entry) -> Ban | None:
    """Return the ban of a message, or None for a tombstone and for a damaged one, which is logged."""
    if entry.document is None:
        return None
    try:
        return decode_ban(entry.document)
    except Unreadable as damaged:
        log.error("a damaged ban is left alone", key=entry.key, reason=str(damaged))
        return None


def subject_of(key: str) -> str:
    """Return whom the ban under a key is about; raises ValueError where the key is none of ours.

    >>> subject_of("ban.cGFuYQ")
    'pana'
    """
    text = key.removeprefix(BAN)
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode()


def share_key(id: str) -> str:
    """Return the key of a shared game: its halves are words of their own, so that one is found by the first."""
    return f"{SHARE}{id[: len(id) // 2]}.{id[len(id) // 2 :]}"


def shared_id_of(key: str) -> str:
    """Return the id of a shared game by its key."""
    return key.removeprefix(SHARE).replace(".", "")


def ban_key(subject: str) -> str:
    """Return the key of the ban of a subject."""
    return BAN + base64.urlsafe_b64encode(subject.encode()).rstrip(b"=").decode()


def _stored(entry: Entry, document: bytes) -> Stored[Room]:
    code = entry.key.removeprefix(ROOM)
    try:
        return Stored(code, decode_room_of(code, document), entry.sequence)
    except Unreadable as damaged:
        return Stored(code, damaged, MISSING)


def decode_known(document: bytes) -> Known:
    """Return the player that a document holds; raises `Unreadable`."""
    try:
        return _decode_known(document)
    except (msgspec.MsgspecError, ValueError) as error:
        raise Unreadable(f"Not a player: {error}") from error
