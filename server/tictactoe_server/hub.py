"""What connections ask of rooms: under the room's lock, answered before the new state is shown to everybody.

It knows connections only as places to push to, the path of every change as the registry's, and the rules of rooms
not at all.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Final

import structlog
from msgspec import UnsetType

from tictactoe_engine import Rules
from tictactoe_protocol import ErrorCode, clean_text
from tictactoe_protocol.pushes import ChatLine, HeldSeat, Ok, RoomSummary, SeatState, Visibility
from tictactoe_protocol.requests import ClockFields, Leave
from tictactoe_server.connection import Connection
from tictactoe_server.live_room import LiveRoom
from tictactoe_server.lobby import Lobby
from tictactoe_server.registry import Registry
from tictactoe_server.reviews import Reviews
from tictactoe_server.rooms import Command, Dropped, Enter, Player, Refused
from tictactoe_server.stores import StoreUnavailable

log: Final = structlog.get_logger(__name__)


class Hub:
    """Carries out what connections ask. `now` returns ms of served time.

    Methods that take an `id` answer it, where it is not None; all that name a room raise `Refused`.
    """

    def __init__(self, registry: Registry, lobby: Lobby, reviews: Reviews, now: Callable[[], int]) -> None:
        self._registry = registry
        self._reviews = reviews
        self._lobby = lobby
        self._now = now
        self._matching = asyncio.Lock()

    async def held_seats(self, player: str) -> tuple[HeldSeat, ...]:
        """Return the seats that a player holds in unfinished rooms."""
        return await self._registry.held_seats(player)

    def holds_left(self, player: str, held: Sequence[HeldSeat]) -> dict[str, int]:
        """Return for how many ms each of these seats is still held, by room; only those the player is away from."""
        return self._registry.holds_left(player, held)

    def list_rooms(self) -> tuple[RoomSummary, ...]:
        """Return the public rooms, newest first."""
        return self._lobby.list_rooms()

    def subscribe(self, connection: Connection, id: str | None, *, on: bool) -> None:
        """Tell a connection of every change of the list of public rooms, beginning with the list itself, or stop."""
        if on:
            self._lobby.subscribers[connection] = None
        else:
            self._lobby.subscribers.pop(connection, None)
        if id is not None:
            connection.push(Ok(id=id, rooms=self.list_rooms()) if on else Ok(id=id))

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
        seated = None if len(bots) == len(rules.marks) else player
        bot_seats = [_bot_seat(level, "" if len(bots) == 1 else f"-{number}") for number, level in enumerate(bots, 1)]
        live = await self._registry.open(rules, seated, seat=seat, visibility=visibility, clock=clock, bots=bot_seats)
        async with live.lock:
            if seated is None:
                live.attach_watcher(connection)
            else:
                live.attach_player(connection, seated)
            _answer_with_room(live, connection, id)
            self._registry.show(live)
        log.info("room opened", room=live.room.code, player=player.name, visibility=visibility, bots=list(bots))

    async def match(
        self, connection: Connection, player: Player, id: str | None, rules: Rules, clock: ClockFields | None
    ) -> None:
        """Join the oldest open public room of this kind whose players are there, or open one."""
        async with self._matching:
            for live in self._lobby.open_rooms((rules, clock)):
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
        await self._enter(await self._registry.find(code), connection, player, id)

    async def watch(self, connection: Connection, player: Player, id: str | None, code: str) -> None:
        """Spectate. A connection that plays in the room is refused."""
        live = await self._registry.find(code)
        async with live.lock:
            self._registry.check_alive(live)
            if live.players.get(player.id) is connection:
                raise Refused(ErrorCode.NOT_ALLOWED, "You play in this room.")
            is_new = connection not in live.watchers
            live.attach_watcher(connection)
            if not live.is_abandoned:
                live.stop_closing()
            _answer_with_room(live, connection, id)
            if is_new:
                self._registry.show(live)
            else:
                live.show_to(connection, self._now())

    async def leave(self, connection: Connection, player: Player, id: str | None, code: str) -> None:
        """Stop watching, free the seat of a waiting room, or resign and go."""
        live = await self._attached(connection, code)
        async with live.lock:
            _check_attached(live, connection)
            if connection in live.watchers:
                del live.watchers[connection]
            else:
                await self._registry.change(live, player, Leave(room=code))
                live.players.pop(player.id, None)
                log.info("player left", room=live.room.code, player=player.name)
            del connection.rooms[live.room.code]
            _answer(connection, id)
            if live.room.is_deserted:
                await self._registry.close(live, "Everybody left.")
            else:
                self._registry.show(live)
                if live.closing is None:
                    self._registry.timers.close_later(live)

    async def detach(self, connection: Connection) -> None:
        """Take notice that a connection is gone: its seats are held, its watching is over."""
        self._lobby.subscribers.pop(connection, None)
        for live in list(connection.rooms.values()):
            async with live.lock:
                if connection.rooms.pop(live.room.code, None) is None:
                    continue
                player = connection.player
                if connection in live.watchers:
                    del live.watchers[connection]
                elif player is not None and live.players.get(player.id) is connection:
                    del live.players[player.id]
                    await self._hold(live, player)
                self._registry.show(live)
                if live.closing is None:
                    self._registry.timers.close_later(live)

    # -- playing ------------------------------------------------------------------------------------------------

    async def apply(self, connection: Connection, player: Player, id: str | None, code: str, command: Command) -> None:
        """Carry out a command of one who plays: store it, answer it, show it."""
        live = connection.rooms.get(code) or await self._attached(connection, code)
        async with live.lock:
            _check_attached(live, connection)
            if connection in live.watchers:
                raise Refused(ErrorCode.NOT_SEATED, "You only watch this room.")
            changed = await self._registry.change(live, player, command)
            if id is not None:
                connection.push(Ok(id=id))
            if changed:
                self._registry.show(live)

    async def act(self, code: str, player: Player, command: Command) -> None:
        """Carry out a command of a player of the house, who needs no answer; raises `Refused`."""
        live = await self._registry.find(code)
        async with live.lock:
            self._registry.check_alive(live)
            if await self._registry.change(live, player, command):
                self._registry.show(live)

    async def sync(self, connection: Connection, id: str | None, code: str) -> None:
        """Send the current state again, to this connection alone."""
        live = await self._attached(connection, code)
        async with live.lock:
            _check_attached(live, connection)
            if id is not None:
                connection.push(Ok(id=id, moves=live.room.position.moves))
            live.show_to(connection, self._now())

    async def analyse(
        self, connection: Connection, player: Player, id: str | None, code: str, ply: int | UnsetType
    ) -> None:
        """Answer what a position is worth; not to one who plays a game that is on."""
        live = await self._attached(connection, code)
        wait_ms = connection.analysis_limit.take(self._now())
        if wait_ms:
            raise Refused(ErrorCode.RATE_LIMITED, "You ask too much at once.", retry_ms=wait_ms)
        analysis = await self._reviews.analyse(live.room, player, ply)
        if id is not None:
            connection.push(Ok(id=id, analysis=analysis))

    async def chat(self, connection: Connection, player: Player, id: str | None, code: str, text: str) -> None:
        """Say something to everybody in the room; without control, format and invisible characters."""
        live = await self._attached(connection, code)
        said = clean_text(text).strip()
        if not said:
            raise Refused(ErrorCode.BAD_MESSAGE, "There is nothing to read in that.", path="text")
        wait_ms = connection.chat_limit.take(self._now())
        if wait_ms:
            raise Refused(ErrorCode.RATE_LIMITED, "You say too much at once.", retry_ms=wait_ms)
        seat = None if connection in live.watchers else live.room.mark_of(player.id)
        at = time.time_ns() // 1_000_000
        _answer(connection, id)
        live.push(ChatLine(room=live.room.code, from_=player.name, seat=seat, text=said, at=at))

    # -- inside -------------------------------------------------------------------------------------------------

    async def _enter(self, live: LiveRoom, connection: Connection, player: Player, id: str | None) -> None:
        async with live.lock:
            self._registry.check_alive(live)
            held = live.room.mark_of(player.id)
            changed = await self._registry.change(live, player, Enter())
            was_watching = live.watchers.pop(connection, self) is None
            live.attach_player(connection, player)
            live.stop_closing()
            _answer_with_room(live, connection, id)
            if changed or was_watching:
                self._registry.show(live)
            else:
                live.show_to(connection, self._now())
        if held is None:
            log.info("player joined", room=live.room.code, player=player.name, mark=live.room.mark_of(player.id))

    async def _hold(self, live: LiveRoom, player: Player) -> None:
        """Hold the seat of one who dropped; where that fails they are shown as present until it can be stored."""
        try:
            await self._registry.change(live, player, Dropped())
        except StoreUnavailable:
            log.warning("a dropped player could not be stored yet", room=live.room.code)
            self._registry.timers.drop_later(live, player)
        except Exception:
            log.exception("a dropped player could not be stored", room=live.room.code)

    async def _attached(self, connection: Connection, code: str) -> LiveRoom:
        live = await self._registry.find(code)
        _check_attached(live, connection)
        return live


def _check_attached(live: LiveRoom, connection: Connection) -> None:
    """Raise `Refused` unless the connection plays or watches in the room."""
    if live.room.code not in connection.rooms:
        raise Refused(ErrorCode.NOT_IN_ROOM, f"You are not in room {live.room.code}: join or watch it first.")


def _answer(connection: Connection, id: str | None) -> None:
    if id is not None:
        connection.push(Ok(id=id))


def _answer_with_room(live: LiveRoom, connection: Connection, id: str | None) -> None:
    if id is None:
        return
    player = connection.player
    seat = None if player is None or connection in live.watchers else live.room.mark_of(player.id)
    connection.push(Ok(id=id, room=live.room.code, seat=seat, moves=live.room.position.moves))


def _bot_seat(level: str, suffix: str) -> SeatState:
    """Return the seat of a bot; the suffix tells apart the bots of one room."""
    return SeatState(f"bot-{secrets.token_hex(4)}", f"{level}-bot{suffix}", online=True, bot=level)
