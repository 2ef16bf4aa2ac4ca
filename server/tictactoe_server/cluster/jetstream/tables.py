"""The rooms, players and bans as keys of the stream; see `Table`, `Players` and `BanList` for what is promised."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from typing import Final

import msgspec
import structlog

from tictactoe_server.cluster.jetstream.stream import TOMBSTONE, Entry, Stream
from tictactoe_server.rooms import FinishedGame, Player, Room
from tictactoe_server.storage.documents import RoomEncoder, decode_ban, decode_room_of, encode_ban, encode_game
from tictactoe_server.storage.idleness import SEATED_DAYS, SECONDS_A_DAY, UNSEATED_DAYS, today
from tictactoe_server.storage.store import (
    MISSING,
    Ban,
    Conflict,
    NotStored,
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
IDENTITY: Final = "cluster"
_ATTEMPTS: Final = 3

log: Final = structlog.get_logger(__name__)


class JetStreamRooms:
    """The rooms."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._encoder = RoomEncoder()

    async def load(self, key: str) -> tuple[Room, int] | None:
        """Return the room and its revision, or None where there is none; raises `Unreadable` for a damaged one."""
        found = await self._stream.newest(ROOM + key)
        return found and (decode_room_of(key, found.document), found.sequence)

    async def load_all(
        self, is_wanted: Callable[[str], bool] = lambda code: True
    ) -> AsyncIterator[Sequence[Stored[Room]]]:
        """Return all that is kept and wanted, some at a time; what is changed meanwhile may be missing."""
        async for entries in self._stream.walk(ROOM + ">"):
            yield [_stored(entry) for entry in entries if is_wanted(entry.key.removeprefix(ROOM))]

    def save(
        self, key: str, value: Room, expected_revision: int, waiter: Waiter, finished: FinishedGame | None = None
    ) -> None:
        """Keep the room, and the finished game with it in one batch, and tell the waiter."""
        document, before = self._encoder.encode(value), None
        if finished is not None:
            before = f"{GAME}{key}-{value.opened_at}-{finished.game}", encode_game(finished)
        self._stream.replace(ROOM + key, document, expected_revision, waiter, before=before)

    def delete(self, key: str, expected_revision: int, waiter: Waiter) -> None:
        """Forget the room and tell the waiter."""
        self._encoder.forget(key)
        self._stream.delete(ROOM + key, expected_revision, waiter)


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


class JetStreamPlayers:
    """The players, who expire in the stream by themselves; `see` puts that off, once a day."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._seen_day = 0
        self._seen: dict[str, bool] = {}

    async def load(self, key: str) -> tuple[Player, int] | None:
        """Return the player and the revision, or None where there is none; raises `Unreadable` for a damaged one."""
        found = await self._stream.newest(PLAYER + key)
        return found and (decode_known(found.document).player, found.sequence)

    def save(self, key: str, value: Player, expected_revision: int, waiter: Waiter) -> None:
        """Keep the player and tell the waiter; of one who is known it is read first how long they stay."""
        if expected_revision == MISSING:
            self._write(key, Known(value, today()), MISSING, waiter)
        else:
            self._stream.link.run(self._replace(key, value, expected_revision, waiter))

    def delete(self, key: str, expected_revision: int, waiter: Waiter) -> None:
        """Forget the player and tell the waiter."""
        self._seen.pop(key, None)
        self._stream.delete(PLAYER + key, expected_revision, waiter)

    def see(self, key: str, *, is_seated: bool = False) -> None:
        """Note that a player is here today: what is known already is not written again."""
        day = today()
        if day != self._seen_day:
            self._seen_day = day
            self._seen.clear()
        if key not in self._seen or is_seated > self._seen[key]:
            self._seen[key] = is_seated
            self._stream.link.run(self._note(key, day, is_seated=is_seated))

    async def forget_idle(self, after: str, today: int, stay: Collection[str]) -> str | None:
        """Return None: players expire by themselves."""
        return None

    def _write(self, key: str, known: Known, expected_revision: int, waiter: Waiter) -> None:
        self._stream.replace(PLAYER + key, encode_known(known), expected_revision, waiter, known.headers)

    async def _replace(self, key: str, value: Player, expected_revision: int, waiter: Waiter) -> None:
        try:
            found = await self._stream.newest(PLAYER + key)
            is_seated = found is not None and decode_known(found.document).is_seated
        except StoreUnavailable as unavailable:
            waiter.failed(NotStored(str(unavailable)))
        else:  # what is not of that revision any more is refused
            self._write(key, Known(value, today(), is_seated), expected_revision, waiter)

    async def _note(self, key: str, day: int, *, is_seated: bool) -> None:
        """Write the day, unless it stands there; where that fails the next time will do."""
        try:
            for _ in range(_ATTEMPTS):
                found = await self._stream.newest(PLAYER + key)
                if found is None:
                    break
                known = decode_known(found.document)
                if known.seen >= day and known.is_seated >= is_seated:
                    return
                now = Known(known.player, max(known.seen, day), known.is_seated or is_seated)
                with contextlib.suppress(Conflict):
                    await self._stream.put(PLAYER + key, encode_known(now), found.sequence, now.headers)
                    return
        except StoreUnavailable as unavailable:
            log.debug("that a player is here could not be noted", reason=str(unavailable))
        self._seen.pop(key, None)


class JetStreamBans:
    """The bans, one key each."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    async def load_all(self) -> list[Ban]:
        """Return all that can be read."""
        found = [read_ban(entry) async for entries in self._stream.walk(BAN + ">") for entry in entries]
        return [ban for ban in found if ban is not None]

    async def keep(self, ban: Ban) -> None:
        """Keep a ban."""
        await self._stream.put(ban_key(ban.subject), encode_ban(ban))

    async def forget(self, subject: str) -> None:
        """Forget a ban."""
        await self._stream.put(ban_key(subject), b"", headers=TOMBSTONE)


def read_ban(entry: Entry) -> Ban | None:
    """Return the ban of a message, or None for a tombstone and for a damaged one, which is logged."""
    if entry.is_gone:
        return None
    try:
        return decode_ban(entry.document)
    except Unreadable as damaged:
        log.error("a damaged ban is left alone", key=entry.key, reason=str(damaged))
        return None


def ban_key(subject: str) -> str:
    """Return the key of the ban of a subject."""
    return BAN + base64.urlsafe_b64encode(subject.encode()).rstrip(b"=").decode()


def subject_of(key: str) -> str:
    """Return whom the ban under a key is about.

    >>> subject_of("ban.cGFuYQ")
    'pana'
    """
    return base64.urlsafe_b64decode(key.removeprefix(BAN) + "==").decode()


def share_key(id: str) -> str:
    """Return the key of a shared game: its halves are words of their own, so that one is found by the first."""
    return f"{SHARE}{id[: len(id) // 2]}.{id[len(id) // 2 :]}"


def shared_id_of(key: str) -> str:
    """Return the id of a shared game by its key."""
    return key.removeprefix(SHARE).replace(".", "")


encode_known: Final = msgspec.json.Encoder().encode
_decode_known: Final = msgspec.json.Decoder(Known).decode


def decode_known(document: bytes) -> Known:
    """Return the player that a document holds; raises `Unreadable`."""
    try:
        return _decode_known(document)
    except (msgspec.MsgspecError, ValueError) as error:
        raise Unreadable(f"Not a player: {error}") from error


def _stored(entry: Entry) -> Stored[Room]:
    code = entry.key.removeprefix(ROOM)
    try:
        return Stored(code, decode_room_of(code, entry.document), entry.sequence)
    except Unreadable as damaged:
        return Stored(code, damaged, MISSING)
