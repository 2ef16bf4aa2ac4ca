"""This process's live rooms: how they are found, opened, changed and ended. The one path of every change.

A change is applied to the room's value, stored by compare-and-set, and only then shown. Rooms come from the store when
they are first asked for. The rules of rooms are not known here.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final

import structlog

from tictactoe_engine import Rules
from tictactoe_protocol import ROOM_CODE_ALPHABET, ROOM_CODE_LENGTH, BadRoomCode, ErrorCode, parse_room_code
from tictactoe_protocol.pushes import Closed, HeldSeat
from tictactoe_server.live_room import LiveRoom
from tictactoe_server.lobby import Lobby
from tictactoe_server.rooms import (
    Command,
    Dropped,
    Expire,
    Player,
    Refused,
    Room,
    UnreadableRoom,
    decode_room,
    encode_game,
    encode_room,
    expires_at,
    finished_game,
    is_expired,
)
from tictactoe_server.settings import Limits
from tictactoe_server.stores import MISSING, Conflict, GameRecord, Store, StoreUnavailable, Unreadable

NOBODY: Final = Player("", "")
"""Who acts when time does."""

_KEY_PREFIX: Final = "room/"
_ATTEMPTS: Final = 8
_RETRY_SECONDS: Final = 1.0
_RESTORED_AT_ONCE: Final = 64

log: Final = structlog.get_logger(__name__)


class Registry:
    """The rooms of this process. `now` returns ms of served time; `lobby` is kept true to the rooms; new rooms hold a
    seat for `hold_ms`.

    `on_change` is called with every room that has a new state to show, after it was shown.
    """

    def __init__(self, store: Store, now: Callable[[], int], lobby: Lobby, limits: Limits, *, hold_ms: int) -> None:
        self._store = store
        self._now = now
        self._lobby = lobby
        self._limits = limits
        self._hold_ms = hold_ms
        self._live: dict[str, LiveRoom] = {}
        self._seats: dict[str, dict[str, None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._restored = asyncio.Event()
        self.on_change: Callable[[Room], None] = lambda room: None

    # -- finding ------------------------------------------------------------------------------------------------

    async def find(self, code: str) -> LiveRoom:
        """Return a room by its code in any spelling; raises `Refused` with ``no_such_room``."""
        live = self._live.get(code)
        if live is not None:
            return live
        try:
            code = parse_room_code(code)
        except BadRoomCode as bad:
            raise Refused(ErrorCode.NO_SUCH_ROOM, bad.message, path="room") from None
        live = self._live.get(code) or await self._load(code)
        if live is None:
            raise no_such_room(code)
        return live

    def check_alive(self, live: LiveRoom) -> None:
        """Raise `Refused` where the room was closed while its lock was awaited."""
        if self._live.get(live.room.code) is not live:
            raise no_such_room(live.room.code)

    async def held_seats(self, player: str) -> tuple[HeldSeat, ...]:
        """Return the seats that a player holds in unfinished rooms."""
        await self._restored.wait()
        held = []
        for code in self._seats.get(player, ()):
            room = self._live[code].room
            mark = room.mark_of(player)
            if mark is not None and room.status != "over":
                held.append(HeldSeat(code, mark))
        return tuple(held)

    async def restore(self) -> None:
        """Bring back the rooms that an earlier server left; unreadable ones are named in the log and left alone.

        What the store refuses is tried again until it is here; players are not kept waiting for that.
        """
        left: list[str] | None = None
        while left is None or left:
            try:
                if left is None:
                    left = [key.removeprefix(_KEY_PREFIX) for key in await self._store.keys(_KEY_PREFIX)]
                left = await self._restore_all(left)
            except StoreUnavailable:
                log.exception("the rooms cannot be listed yet")
            finally:
                self._lobby.put_in_order()
                self._restored.set()
            if left is None or left:
                await asyncio.sleep(_RETRY_SECONDS)

    # -- the path of every change -------------------------------------------------------------------------------

    async def open(self, rules: Rules, player: Player | None, **options: Any) -> LiveRoom:
        """Store a new room under a code that nobody has; the options are those of `Room.open`."""
        if len(self._live) >= self._limits.rooms:
            raise Refused(ErrorCode.SERVER_FULL, "This server has as many rooms as it can hold.", retry_ms=60_000)
        while True:
            code = "".join(secrets.choice(ROOM_CODE_ALPHABET) for _ in range(ROOM_CODE_LENGTH))
            room = Room.open(code, rules, player, self._now(), hold_ms=self._hold_ms, **options)
            try:
                revision = await self._store.save(_key(code), encode_room(room), MISSING)
            except Conflict:
                continue
            return self._take_in(room, revision)

    async def change(self, live: LiveRoom, player: Player, command: Command) -> bool:
        """Apply and store a command under the room's lock; return whether there is a new state to show.

        What somebody else stored in the meantime is shown too, also where it makes the command impossible.
        """
        has_news = False
        for _ in range(_ATTEMPTS):
            if live.is_uncertain:
                await self._reload(live)
                has_news = True
            now = self._now()
            if live.room.clock_started_at is not None and player is not NOBODY and is_expired(live.room, now):
                await self.change(live, NOBODY, Expire())
                self.show(live)
            before = live.room
            try:
                after = before.apply(player, command, now)
            except Refused:
                if has_news:
                    self.show(live)
                raise
            if after is before:
                return has_news
            ended = after.result is not None and before.result is None
            try:
                live.revision = await self._store.save(
                    _key(after.code), encode_room(after), live.revision, archived=_record_of(after) if ended else None
                )
            except Conflict:
                await self._reload(live)
                has_news = True
                continue
            except StoreUnavailable:
                live.is_uncertain = True
                raise
            live.room = after
            if ended or after.seats is not before.seats:
                self._index(live, before)
            if after.clock is not None:
                self._watch_clock(live)
            return True
        self.show(live)
        raise Refused(ErrorCode.BUSY, "Too many want to change this room at once.", retry_ms=500)

    def drop_later(self, live: LiveRoom, player: Player) -> None:
        """Hold the seat of one whose connection is gone once the store can take it, unless they are back."""
        self._start(lambda room: self._drop(room, player), live)

    def show(self, live: LiveRoom) -> None:
        """Send the state to everybody in the room."""
        live.show(self._now())
        if live.has_bots:
            self.on_change(live.room)

    # -- the end of rooms ---------------------------------------------------------------------------------------

    def close_later(self, live: LiveRoom) -> None:
        """Let a room that nobody plays in any more end after a while; `LiveRoom.stop_closing` takes that back."""
        live.stop_closing()
        if live.is_abandoned:
            limits, is_playing = self._limits, live.room.status == "playing"
            delay = limits.deserted_game_seconds if is_playing else limits.deserted_seconds
            live.closing = asyncio.get_running_loop().call_later(delay, self._start, self._close_if_deserted, live)

    async def close(self, live: LiveRoom, reason: str) -> None:
        """Delete a room under its lock and tell whoever is still there; where that fails it is tried again later."""
        try:
            await self._store.delete(_key(live.room.code), live.revision)
        except (Conflict, StoreUnavailable) as error:
            log.warning("a room could not be deleted", room=live.room.code)
            with contextlib.suppress(Refused, StoreUnavailable):
                if isinstance(error, Conflict):
                    await self._reload(live)
            if self._live.get(live.room.code) is live:
                self.close_later(live)
            return
        self._forget(live, reason)

    async def stop(self) -> None:
        """Stop all timers and what they started."""
        for live in self._live.values():
            live.stop_closing()
            live.stop_flag()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- inside -------------------------------------------------------------------------------------------------

    async def _restore_all(self, codes: list[str]) -> list[str]:
        """Bring rooms back, many at once; return the codes of those that the store refused."""
        refused: list[str] = []
        count = 0
        for first in range(0, len(codes), _RESTORED_AT_ONCE):
            some = codes[first : first + _RESTORED_AT_ONCE]
            outcomes = await asyncio.gather(*map(self._restore, some))
            refused += [code for code, outcome in zip(some, outcomes, strict=True) if outcome is None]
            count += sum(outcome is True for outcome in outcomes)
        if count:
            log.info("rooms restored", rooms=count)
        if refused:
            log.warning("rooms could not be restored yet", rooms=len(refused))
        return refused

    async def _restore(self, code: str) -> bool | None:
        """Bring one room back and tell whether it is here, None where the store refused.

        One that fails keeps no other from coming.
        """
        try:
            return code in self._live or await self._load(code) is not None
        except StoreUnavailable:
            return None
        except Exception:
            log.exception("a room could not be restored", room=code)
            return False

    async def _load(self, code: str) -> LiveRoom | None:
        """Return a stored room, everybody in it away, or None where there is none."""
        try:
            found = await self._store.load(_key(code))
            if found is None or code in self._live:
                return self._live.get(code)
            room = decode_room(found[0])
            if room.code != code:
                raise UnreadableRoom(f"It says that it is room {room.code}.")
        except (UnreadableRoom, Unreadable) as damaged:
            log.error("a damaged room is left alone", room=code, reason=str(damaged))
            return None
        for seat in room.seats.values():
            if seat is not None and seat.online and not seat.bot:
                room = room.apply(Player(seat.player, seat.name), Dropped(), self._now())
        live = self._take_in(room, found[1])
        self.close_later(live)
        self._watch_clock(live)
        if live.has_bots:
            self.on_change(room)
        return live

    async def _reload(self, live: LiveRoom) -> None:
        """Read the room again after somebody else changed it."""
        found = await self._store.load(_key(live.room.code))
        if found is None:
            self._forget(live, "It was closed elsewhere.")
            raise no_such_room(live.room.code)
        live.is_uncertain = False
        if found[1] == live.revision:  # nothing newer: what is here is that document, less who has not come back yet
            return
        before = live.room
        live.room, live.revision = decode_room(found[0]), found[1]
        self._index(live, before)
        self._watch_clock(live)

    def _take_in(self, room: Room, revision: int) -> LiveRoom:
        live = self._live[room.code] = LiveRoom(room, revision)
        self._index(live, None)
        return live

    def _forget(self, live: LiveRoom, reason: str) -> None:
        """Let go of a room that is no longer stored and tell whoever is still there."""
        code = live.room.code
        del self._live[code]
        self._forget_seats(live.room)
        self._lobby.remove(live)
        live.push(Closed(code, reason))
        live.dismiss()
        log.debug("room closed", room=code, reason=reason)

    def _index(self, live: LiveRoom, before: Room | None) -> None:
        """Keep the lobby and the index of seats true to a room that opened or changed."""
        code = live.room.code
        if before is not None:
            self._forget_seats(before)
        for seat in live.room.seats.values():
            if seat is not None and not seat.left:
                self._seats.setdefault(seat.player, {})[code] = None
        self._lobby.update(live)

    def _forget_seats(self, room: Room) -> None:
        for seat in room.seats.values():
            if seat is None or seat.player not in self._seats:
                continue
            self._seats[seat.player].pop(room.code, None)
            if not self._seats[seat.player]:
                del self._seats[seat.player]

    def _watch_clock(self, live: LiveRoom) -> None:
        """See to it that the running clock's end is noticed."""
        live.stop_flag()
        end = expires_at(live.room)
        if end is not None:
            self._expire_later(live, max(0, end - self._now()) / 1000)

    def _expire_later(self, live: LiveRoom, seconds: float) -> None:
        live.flag = asyncio.get_running_loop().call_later(seconds, self._start, self._expire, live)

    async def _expire(self, live: LiveRoom) -> None:
        """End the turn whose clock ran out; where that cannot be stored it is tried until it can."""
        async with live.lock:
            if self._live.get(live.room.code) is not live:
                return
            try:
                changed = await self.change(live, NOBODY, Expire())
            except (Refused, StoreUnavailable) as error:
                log.warning("a clock that ran out could not be stored", room=live.room.code, reason=str(error))
                if self._live.get(live.room.code) is live:
                    self._expire_later(live, _RETRY_SECONDS)
                return
            if changed:
                self.show(live)
            else:
                self._watch_clock(live)

    async def _drop(self, live: LiveRoom, player: Player) -> None:
        is_stored = False
        while not is_stored:
            await asyncio.sleep(_RETRY_SECONDS)
            async with live.lock:
                if self._live.get(live.room.code) is not live or player.id in live.players:
                    return
                with contextlib.suppress(StoreUnavailable):
                    await self.change(live, player, Dropped())
                    self.show(live)
                    is_stored = True

    async def _close_if_deserted(self, live: LiveRoom) -> None:
        async with live.lock:
            if live.is_abandoned and self._live.get(live.room.code) is live:
                await self.close(live, "Nobody came back.")

    def _start(self, work: Callable[[LiveRoom], Coroutine[Any, Any, None]], live: LiveRoom) -> None:
        """Begin what a timer asks for; failures are logged."""
        task = asyncio.create_task(self._guarded(work(live)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:
            log.exception("work on a room failed")


def no_such_room(code: str) -> Refused:
    """Return the refusal for a code that no room has, or has any more."""
    return Refused(ErrorCode.NO_SUCH_ROOM, f"No room {code}. It may have closed.")


def _record_of(room: Room) -> GameRecord:
    """Return the game that a room has just finished, for the archive."""
    game = finished_game(room, time.time_ns() // 1_000_000)
    players = tuple(player.player for player in game.players.values() if player.bot is None)
    return GameRecord(game.room, game.game, game.at, players, encode_game(game))


def _key(code: str) -> str:
    return f"{_KEY_PREFIX}{code}"
