"""This process's live rooms: how they are found, opened, changed and ended. The one path of every change.

A change is applied to the room's value, stored by compare-and-set, and only then shown. Rooms come from the store when
they are first asked for. The rules of rooms are not known here, nor when time changes them (`room_timers`).
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import structlog

from tictactoe_engine import Rules
from tictactoe_protocol import ROOM_CODE_ALPHABET, ROOM_CODE_LENGTH, BadRoomCode, ErrorCode, parse_room_code
from tictactoe_protocol.pushes import Closed, HeldSeat
from tictactoe_server.live_room import LiveRoom
from tictactoe_server.lobby import Lobby
from tictactoe_server.room_timers import NOBODY, RoomTimers
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
    finished_game,
    is_expired,
)
from tictactoe_server.seat_index import SeatIndex
from tictactoe_server.settings import Limits
from tictactoe_server.stores import MISSING, Conflict, GameRecord, Store, StoreUnavailable, Unreadable

_KEY_PREFIX: Final = "room/"
_ATTEMPTS: Final = 8

log: Final = structlog.get_logger(__name__)


class Registry:
    """The rooms of this process. `now` returns ms of served time; `lobby` is kept true to the rooms; new rooms hold a
    seat for `hold_ms`.

    `timers` do what time does to rooms. `on_change` is called with every room that shows a new state.
    """

    def __init__(self, store: Store, now: Callable[[], int], lobby: Lobby, limits: Limits, *, hold_ms: int) -> None:
        self._store = store
        self._now = now
        self._lobby = lobby
        self._limits = limits
        self._hold_ms = hold_ms
        self._live: dict[str, LiveRoom] = {}
        self._seats = SeatIndex()
        self._restored = asyncio.Event()
        self.timers = RoomTimers(self, now, limits)
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
        live = await self.load(code)
        if live is None:
            raise no_such_room(code)
        return live

    async def load(self, code: str) -> LiveRoom | None:
        """Return a room by its exact code, from the store with everybody in it away, or None where there is none."""
        if code in self._live:
            return self._live[code]
        try:
            found = await self._store.load(_key(code))
            if found is None or code in self._live:  # another may have brought it meanwhile
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
        self.timers.close_later(live)
        self.timers.watch_clock(live)
        if live.has_bots:
            self.on_change(room)
        return live

    def is_alive(self, live: LiveRoom) -> bool:
        """Tell whether a room is still here; it may have been closed while its lock was awaited."""
        return self._live.get(live.room.code) is live

    def check_alive(self, live: LiveRoom) -> None:
        """Raise `Refused` where a room is not here any more."""
        if not self.is_alive(live):
            raise no_such_room(live.room.code)

    async def held_seats(self, player: str) -> tuple[HeldSeat, ...]:
        """Return the seats that a player holds in unfinished rooms."""
        await self._restored.wait()
        held = []
        for code in self._seats.rooms_of(player):
            room = self._live[code].room
            mark = room.mark_of(player)
            if mark is not None and room.status != "over":
                held.append(HeldSeat(code, mark))
        return tuple(held)

    def holds_left(self, player: str, held: Sequence[HeldSeat]) -> dict[str, int]:
        """Return for how many ms each of these seats is still held, by room; only those the player is away from."""
        now = self._now()
        left = {}
        for seat in held:
            live = self._live.get(seat.room)
            mark = live.room.mark_of(player) if live is not None else None
            ms = live.room.hold_left(mark, now) if live is not None and mark is not None else None
            if ms is not None:
                left[seat.room] = ms
        return left

    async def stored_codes(self) -> list[str]:
        """Return the codes of all rooms in the store, read or not."""
        return [key.removeprefix(_KEY_PREFIX) for key in await self._store.keys(_KEY_PREFIX)]

    def finish_restoring(self) -> None:
        """Let players be greeted: the rooms of an earlier server are here, as far as the store has them now."""
        self._lobby.put_in_order()
        self._restored.set()

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
                self.timers.watch_clock(live)
            return True
        self.show(live)
        raise Refused(ErrorCode.BUSY, "Too many want to change this room at once.", retry_ms=500)

    def show(self, live: LiveRoom) -> None:
        """Send the state to everybody in the room."""
        live.show(self._now())
        if live.has_bots:
            self.on_change(live.room)

    # -- the end of rooms ---------------------------------------------------------------------------------------

    async def close(self, live: LiveRoom, reason: str) -> None:
        """Delete a room under its lock and tell whoever is still there; where that fails it is tried again later."""
        try:
            await self._store.delete(_key(live.room.code), live.revision)
        except (Conflict, StoreUnavailable) as error:
            log.warning("a room could not be deleted", room=live.room.code)
            with contextlib.suppress(Refused, StoreUnavailable):
                if isinstance(error, Conflict):
                    await self._reload(live)
            if self.is_alive(live):
                self.timers.close_later(live)
            return
        self._forget(live, reason)

    async def stop(self) -> None:
        """Stop all timers and what they started."""
        for live in self._live.values():
            live.stop_closing()
            live.stop_flag()
        await self.timers.stop()

    # -- inside -------------------------------------------------------------------------------------------------

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
        self.timers.watch_clock(live)

    def _take_in(self, room: Room, revision: int) -> LiveRoom:
        live = self._live[room.code] = LiveRoom(room, revision)
        self._index(live, None)
        return live

    def _forget(self, live: LiveRoom, reason: str) -> None:
        """Let go of a room that is no longer stored and tell whoever is still there."""
        code = live.room.code
        del self._live[code]
        self._seats.remove(live.room)
        self._lobby.remove(live)
        live.push(Closed(code, reason))
        live.dismiss()
        log.info("room closed", room=code, reason=reason)

    def _index(self, live: LiveRoom, before: Room | None) -> None:
        """Keep the lobby and the index of seats true to a room that opened or changed."""
        self._seats.update(live.room, before)
        self._lobby.update(live)


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
