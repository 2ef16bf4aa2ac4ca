"""This process's live rooms: one lock each, one path for every command.

The hub applies a command to the room, saves it, answers the sender and then shows the new state to everybody:
nobody sees what is not stored. It knows connections only as places to push to, and the rules of rooms not at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import structlog

from tictactoe_engine import Rules
from tictactoe_protocol import (
    MAX_LISTED_ROOMS,
    ROOM_CODE_ALPHABET,
    ROOM_CODE_LENGTH,
    BadRoomCode,
    ErrorCode,
    clean_text,
)
from tictactoe_protocol import parse_room_code as parse_code
from tictactoe_protocol.pushes import (
    ChatLine,
    Closed,
    HeldSeat,
    LobbyChange,
    Ok,
    Replaced,
    RoomSummary,
    SeatState,
    Visibility,
)
from tictactoe_protocol.requests import ClockFields, Leave
from tictactoe_server.connection import Connection, encode_frame
from tictactoe_server.lobby import Lobby
from tictactoe_server.rooms import (
    Command,
    Dropped,
    Enter,
    Expire,
    Player,
    Refused,
    Room,
    decode_room,
    encode_room,
    expires_at,
    is_expired,
    state_of,
    summary_of,
)
from tictactoe_server.settings import Limits
from tictactoe_server.stores import MISSING, Conflict, Store, StoreUnavailable

if TYPE_CHECKING:
    from tictactoe_server.bots import Bots

LOBBY_SECONDS: Final = 0.1
"""How long changes of the list of public rooms are gathered before its subscribers hear of them."""

EXPIRE_AGAIN_SECONDS: Final = 0.5
"""How long until a clock that ran out is dealt with, where the store refused it."""

NOBODY: Final = Player("", "")
"""Who acts when time does."""

_ATTEMPTS: Final = 8

log = structlog.get_logger(__name__)


class LiveRoom:
    """A room in this process: its value and revision, its lock, and who is connected to it.

    `players` maps the ids of seated players to the connection that plays, `watchers` keeps the order of arrival.
    """

    __slots__ = ("closing", "flag", "has_bots", "lock", "players", "revision", "room", "watchers")

    def __init__(self, room: Room, revision: int) -> None:
        self.room = room
        self.revision = revision
        self.lock = asyncio.Lock()
        self.players: dict[str, Connection] = {}
        self.watchers: dict[Connection, None] = {}
        self.closing: asyncio.TimerHandle | None = None
        self.flag: asyncio.TimerHandle | None = None
        self.has_bots = room.has_bots

    @property
    def has_connections(self) -> bool:
        """Whether anybody plays or watches from a live connection."""
        return bool(self.players or self.watchers)


class Hub:
    """Carries out every command on rooms; see the module's paragraph for the order of things.

    `now` returns monotonic milliseconds; new rooms hold a seat for `hold_ms`.
    All methods that name a room raise `Refused`.
    """

    def __init__(self, store: Store, now: Callable[[], int], limits: Limits, *, hold_ms: int) -> None:
        self._store = store
        self._now = now
        self._limits = limits
        self._hold_ms = hold_ms
        self._live: dict[str, LiveRoom] = {}
        self._lobby = Lobby(self._lobby_changed)
        self._lobby_due: asyncio.TimerHandle | None = None
        self._seats: dict[str, dict[str, None]] = {}
        self._matching = asyncio.Lock()
        self.bots: Bots | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    # -- asking -------------------------------------------------------------------------------------------------

    def held_seats(self, player: str) -> tuple[HeldSeat, ...]:
        """Return the seats that a player holds in unfinished rooms."""
        held = []
        for code in self._seats.get(player, ()):
            room = self._live[code].room
            mark = room.mark_of(player)
            if mark is not None and room.status != "over":
                held.append(HeldSeat(code, mark))
        return tuple(held)

    def list_rooms(self) -> tuple[RoomSummary, ...]:
        """Return the public rooms, newest first."""
        return self._summaries(self._lobby.newest(MAX_LISTED_ROOMS))

    def _summaries(self, rooms: Iterable[LiveRoom]) -> tuple[RoomSummary, ...]:
        now = self._now()
        return tuple(summary_of(live.room, now, watchers=len(live.watchers)) for live in rooms)

    def _lobby_changed(self) -> None:
        if self._lobby_due is None:
            self._lobby_due = asyncio.get_running_loop().call_later(LOBBY_SECONDS, self._tell_lobby)

    def _tell_lobby(self) -> None:
        """Send what changed to all subscribers, encoded once."""
        self._lobby_due = None
        changed, closed = self._lobby.take_changes()
        if not self._lobby.subscribers:
            return
        frame = encode_frame(LobbyChange(self._summaries(changed), closed))
        for connection in self._lobby.subscribers:
            connection.push_frame(frame)

    # -- coming and going ---------------------------------------------------------------------------------------

    async def create(
        self,
        connection: Connection,
        player: Player,
        id: str | None,
        rules: Rules,
        *,
        seat: str | None = None,
        visibility: Visibility = "public",
        clock: ClockFields | None = None,
        bots: Sequence[str] = (),
    ) -> None:
        """Open a room in which the player plays the mark `seat`, the first where None; bots take the next seats.

        `bots` are the names of their levels; with as many as there are marks the player only watches.
        """
        if len(self._live) >= self._limits.rooms:
            raise Refused(ErrorCode.SERVER_FULL, "This server has as many rooms as it can hold.", retry_ms=60_000)
        seated = None if len(bots) == len(rules.marks) else player
        live = await self._open(
            rules,
            seated,
            seat=seat,
            visibility=visibility,
            clock=clock,
            hold_ms=self._hold_ms,
            bots=[*map(_bot_seat, bots, count(1))],
        )
        async with live.lock:
            if seated is None:
                self._attach_watcher(live, connection)
            else:
                self._attach_player(live, connection, seated)
            self._answer_with_room(live, connection, id)
            self._broadcast(live)

    async def match(
        self, connection: Connection, player: Player, id: str | None, rules: Rules, clock: ClockFields | None
    ) -> None:
        """Join the oldest open public room of this kind whose players are there, or open one."""
        kind = (rules, clock)
        async with self._matching:
            for live in self._lobby.open_rooms(kind):
                if live.room.mark_of(player.id) is not None or not live.players:
                    continue
                try:
                    await self._enter(live, connection, player, id)
                except Refused:
                    continue
                break
            else:
                await self.create(connection, player, id, rules, clock=clock)

    async def join(self, connection: Connection, player: Player, id: str | None, code: str) -> None:
        """Take a free seat, or attach this connection to the seat that the player holds."""
        await self._enter(self._find(code), connection, player, id)

    async def watch(self, connection: Connection, player: Player, id: str | None, code: str) -> None:
        """Spectate. A connection that plays in the room is refused."""
        live = self._find(code)
        async with live.lock:
            self._check_alive(live)
            if live.players.get(player.id) is connection:
                raise Refused(ErrorCode.NOT_ALLOWED, "You play in this room.")
            is_new = connection not in live.watchers
            self._attach_watcher(live, connection)
            self._answer_with_room(live, connection, id)
            if is_new:
                self._broadcast(live)
            else:
                self._show(live, connection)

    async def leave(self, connection: Connection, player: Player, id: str | None, code: str) -> None:
        """Stop watching, free the seat of a waiting room, or resign and go."""
        live = self._attached(connection, code)
        async with live.lock:
            self._check_alive(live)
            if connection in live.watchers:
                del live.watchers[connection]
            else:
                await self._change(live, player, Leave(room=code))
                live.players.pop(player.id, None)
            del connection.rooms[live.room.code]
            if id is not None:
                connection.push(Ok(id=id))
            if live.room.is_deserted:
                await self._close(live, "Everybody left.")
            else:
                self._broadcast(live)
                self._close_later(live)

    async def detach(self, connection: Connection) -> None:
        """Take notice that a connection is gone: its seats are held, its watching is over."""
        self._lobby.subscribers.pop(connection, None)
        for live in list(connection.rooms.values()):
            async with live.lock:
                connection.rooms.pop(live.room.code, None)
                if connection in live.watchers:
                    del live.watchers[connection]
                elif (player := connection.player) and live.players.get(player.id) is connection:
                    del live.players[player.id]
                    await self._hold(live, player)
                else:
                    continue
                if self._live.get(live.room.code) is live:
                    self._broadcast(live)
                    self._close_later(live)

    async def _hold(self, live: LiveRoom, player: Player) -> None:
        """Hold the seat of one who dropped; where that fails they are shown as present until they come back."""
        try:
            await self._change(live, player, Dropped())
        except (Refused, StoreUnavailable):
            log.warning("a dropped player could not be stored", room=live.room.code)
        except Exception:
            log.exception("a dropped player could not be stored", room=live.room.code)

    # -- playing ------------------------------------------------------------------------------------------------

    async def apply(self, connection: Connection, player: Player, id: str | None, code: str, command: Command) -> None:
        """Carry out a command of one who plays: store it, answer it, show it."""
        live = connection.rooms.get(code) or self._attached(connection, code)
        async with live.lock:
            self._check_alive(live)
            if connection in live.watchers:
                raise Refused(ErrorCode.NOT_SEATED, "You only watch this room.")
            changed = await self._change(live, player, command)
            if id is not None:
                connection.push(Ok(id=id))
            if changed:
                self._broadcast(live)

    async def act(self, code: str, player: Player, command: Command) -> None:
        """Carry out a command of a player of the house, who needs no answer; raises `Refused`."""
        live = self._find(code)
        async with live.lock:
            self._check_alive(live)
            if await self._change(live, player, command):
                self._broadcast(live)

    async def sync(self, connection: Connection, id: str | None, code: str) -> None:
        """Send the current state again, to this connection alone."""
        live = self._attached(connection, code)
        async with live.lock:
            if id is not None:
                connection.push(Ok(id=id, moves=live.room.position.moves))
            self._show(live, connection)

    async def chat(self, connection: Connection, player: Player, id: str | None, code: str, text: str) -> None:
        """Say something to everybody in the room; without control, format and invisible characters."""
        live = self._attached(connection, code)
        said = clean_text(text).strip()
        if not said:
            raise Refused(ErrorCode.BAD_MESSAGE, "There is nothing to read in that.", path="text")
        wait_ms = connection.chat_limit.take(self._now())
        if wait_ms:
            raise Refused(ErrorCode.RATE_LIMITED, "You say too much at once.", retry_ms=wait_ms)
        seat = None if connection in live.watchers else live.room.mark_of(player.id)
        line = ChatLine(room=live.room.code, from_=player.name, seat=seat, text=said, at=time.time_ns() // 1_000_000)
        if id is not None:
            connection.push(Ok(id=id))
        for listener in (*live.players.values(), *live.watchers):
            listener.push(line)

    def subscribe(self, connection: Connection, id: str | None, *, on: bool) -> None:
        """Tell a connection of every change of the list of public rooms, beginning with the list itself, or stop."""
        if on:
            self._lobby.subscribers[connection] = None
        else:
            self._lobby.subscribers.pop(connection, None)
        if id is not None:
            connection.push(Ok(id=id, rooms=self.list_rooms()) if on else Ok(id=id))

    # -- the path of every change -------------------------------------------------------------------------------

    async def _change(self, live: LiveRoom, player: Player, command: Command) -> bool:
        """Apply and store a command under the room's lock; return whether there is a new state to show.

        What somebody else stored in the meantime is shown too, also where it makes the command impossible.
        """
        for attempt in range(_ATTEMPTS):
            now = self._now()
            if live.room.clock_started_at is not None and player is not NOBODY and is_expired(live.room, now):
                await self._change(live, NOBODY, Expire())
                self._broadcast(live)
            before = live.room
            try:
                after = before.apply(player, command, now)
            except Refused:
                if attempt:
                    self._broadcast(live)
                raise
            if after is before:
                return attempt > 0
            try:
                live.revision = await self._store.save(_key(after.code), encode_room(after), live.revision)
            except Conflict:
                await self._reload(live)
                continue
            live.room = after
            if after.seats is not before.seats or after.result is not before.result:
                self._index(live, before)
            if after.clock is not None:
                self._watch_clock(live)
            return True
        self._broadcast(live)
        raise Refused(ErrorCode.BUSY, "Too many want to change this room at once.", retry_ms=500)

    def _watch_clock(self, live: LiveRoom) -> None:
        """See to it that the running clock's end is noticed."""
        if live.flag is not None:
            live.flag.cancel()
            live.flag = None
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
                changed = await self._change(live, NOBODY, Expire())
            except (Refused, StoreUnavailable) as error:
                log.warning("a clock that ran out could not be stored", room=live.room.code, reason=str(error))
                if self._live.get(live.room.code) is live:
                    self._expire_later(live, EXPIRE_AGAIN_SECONDS)
                return
            if changed:
                self._broadcast(live)
            else:
                self._watch_clock(live)

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

    async def _reload(self, live: LiveRoom) -> None:
        """Read the room again after somebody else changed it."""
        found = await self._store.load(_key(live.room.code))
        if found is None:
            self._forget(live, "It was closed elsewhere.")
            raise _no_such_room(live.room.code)
        before = live.room
        live.room, live.revision = decode_room(found[0]), found[1]
        self._index(live, before)
        self._watch_clock(live)

    async def _open(self, rules: Rules, player: Player | None, **options: Any) -> LiveRoom:
        """Store a new room under a code that nobody has; the options are those of `Room.open`."""
        while True:
            code = "".join(secrets.choice(ROOM_CODE_ALPHABET) for _ in range(ROOM_CODE_LENGTH))
            room = Room.open(code, rules, player, self._now(), **options)
            try:
                revision = await self._store.save(_key(code), encode_room(room), MISSING)
            except Conflict:
                continue
            live = self._live[code] = LiveRoom(room, revision)
            self._index(live, None)
            return live

    async def _enter(self, live: LiveRoom, connection: Connection, player: Player, id: str | None) -> None:
        async with live.lock:
            self._check_alive(live)
            changed = await self._change(live, player, Enter())
            was_watching = live.watchers.pop(connection, self) is None
            self._attach_player(live, connection, player)
            self._answer_with_room(live, connection, id)
            if changed or was_watching:
                self._broadcast(live)
            else:
                self._show(live, connection)

    def _attach_player(self, live: LiveRoom, connection: Connection, player: Player) -> None:
        """Let this connection play; the one that did so before is told, and is out of the room."""
        code = live.room.code
        older = live.players.get(player.id)
        if older is not None and older is not connection:
            older.rooms.pop(code, None)
            older.push(Replaced(code))
        live.players[player.id] = connection
        connection.rooms[code] = live
        self._keep_open(live)

    def _attach_watcher(self, live: LiveRoom, connection: Connection) -> None:
        live.watchers[connection] = None
        connection.rooms[live.room.code] = live
        self._keep_open(live)

    # -- showing ------------------------------------------------------------------------------------------------

    def _answer_with_room(self, live: LiveRoom, connection: Connection, id: str | None) -> None:
        if id is None:
            return
        player = connection.player
        seat = None if player is None or connection in live.watchers else live.room.mark_of(player.id)
        connection.push(Ok(id=id, room=live.room.code, seat=seat, moves=live.room.position.moves))

    def _broadcast(self, live: LiveRoom) -> None:
        """Send the state to everybody in the room, encoded once."""
        frame, code = self._frame(live), live.room.code
        for connection in live.players.values():
            connection.push_state(code, frame)
        for connection in live.watchers:
            connection.push_state(code, frame)
        if live.has_bots and self.bots is not None:
            self.bots.notice(live.room)

    def _show(self, live: LiveRoom, connection: Connection) -> None:
        connection.push_state(live.room.code, self._frame(live))

    def _frame(self, live: LiveRoom) -> bytes:
        return encode_frame(state_of(live.room, self._now(), watchers=len(live.watchers)))

    # -- which rooms there are ----------------------------------------------------------------------------------

    def _find(self, code: str) -> LiveRoom:
        live = self._live.get(code)
        if live is None:
            try:
                live = self._live.get(parse_code(code))
            except BadRoomCode as bad:
                raise Refused(ErrorCode.NO_SUCH_ROOM, bad.message, path="room") from None
        if live is None:
            raise _no_such_room(code)
        return live

    def _attached(self, connection: Connection, code: str) -> LiveRoom:
        live = self._find(code)
        if live.room.code not in connection.rooms:
            raise Refused(ErrorCode.NOT_IN_ROOM, f"You are not in room {live.room.code}: join or watch it first.")
        return live

    def _check_alive(self, live: LiveRoom) -> None:
        """Raise `Refused` where the room was closed while its lock was awaited."""
        if self._live.get(live.room.code) is not live:
            raise _no_such_room(live.room.code)

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

    # -- the end of rooms ---------------------------------------------------------------------------------------

    def _keep_open(self, live: LiveRoom) -> None:
        if live.closing is not None:
            live.closing.cancel()
            live.closing = None

    def _close_later(self, live: LiveRoom) -> None:
        """Let a room that nobody is connected to end after a while, unless somebody comes back."""
        self._keep_open(live)
        if not live.has_connections:
            limits, is_playing = self._limits, live.room.status == "playing"
            delay = limits.deserted_game_seconds if is_playing else limits.deserted_seconds
            live.closing = asyncio.get_running_loop().call_later(delay, self._start, self._close_if_deserted, live)

    async def _close_if_deserted(self, live: LiveRoom) -> None:
        async with live.lock:
            if not live.has_connections and self._live.get(live.room.code) is live:
                await self._close(live, "Nobody came back.")

    async def _close(self, live: LiveRoom, reason: str) -> None:
        """Delete a room under its lock and tell whoever is still there; where that fails it is tried again later."""
        try:
            await self._store.delete(_key(live.room.code), live.revision)
        except (Conflict, StoreUnavailable) as error:
            log.warning("a room could not be deleted", room=live.room.code)
            with contextlib.suppress(Refused, StoreUnavailable):
                if isinstance(error, Conflict):
                    await self._reload(live)
            if self._live.get(live.room.code) is live:
                self._close_later(live)
            return
        self._forget(live, reason)

    def _forget(self, live: LiveRoom, reason: str) -> None:
        """Let go of a room that is no longer stored and tell whoever is still there."""
        code = live.room.code
        self._keep_open(live)
        if live.flag is not None:
            live.flag.cancel()
        del self._live[code]
        self._forget_seats(live.room)
        self._lobby.remove(live)
        closed = Closed(code, reason)
        for connection in (*live.players.values(), *live.watchers):
            connection.rooms.pop(code, None)
            connection.push(closed)
        live.players.clear()
        live.watchers.clear()
        log.debug("room closed", room=code, reason=reason)


def _key(code: str) -> str:
    return f"room/{code}"


def _bot_seat(level: str, number: int) -> SeatState:
    """Return the seat of a bot; `number` counts the room's bots from 1."""
    return SeatState(f"bot-{secrets.token_hex(4)}", f"{level}-bot-{number}", online=True, bot=level)


def _no_such_room(code: str) -> Refused:
    return Refused(ErrorCode.NO_SUCH_ROOM, f"No room {code}. It may have closed.")
