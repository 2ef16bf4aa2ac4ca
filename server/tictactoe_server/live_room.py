"""A room in this process: its value and revision, its lock, and who is connected to it.

It shows states and knows who plays and who watches. What changes a room, and when it ends, is the registry's.
"""

from __future__ import annotations

import asyncio

from tictactoe_protocol.pushes import Push, Replaced
from tictactoe_server.connection import Connection, encode_frame
from tictactoe_server.rooms import Player, Room, state_of


class LiveRoom:
    """`players` maps the ids of seated players to the connection that plays, `watchers` keeps the order of arrival.

    `lock` is held by whoever changes or shows the room; `flag` and `closing` are the timers of the running clock and
    of an abandoned room. What `room` shows is always stored, as `revision`; with `is_uncertain` something newer may be
    stored, too.
    """

    __slots__ = ("closing", "flag", "has_bots", "is_uncertain", "lock", "players", "revision", "room", "watchers")

    def __init__(self, room: Room, revision: int) -> None:
        self.room = room
        self.revision = revision
        self.lock = asyncio.Lock()
        self.players: dict[str, Connection] = {}
        self.watchers: dict[Connection, None] = {}
        self.closing: asyncio.TimerHandle | None = None
        self.flag: asyncio.TimerHandle | None = None
        self.has_bots = room.has_bots
        self.is_uncertain = False

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody is connected for whom the game goes on: those who play, or who watch bots among themselves."""
        is_for_bots = all(seat is not None and seat.bot for seat in self.room.seats.values())
        return not self.players and not (is_for_bots and self.watchers)

    def attach_player(self, connection: Connection, player: Player) -> None:
        """Let this connection play; the one that did so before is told, and is out of the room."""
        code = self.room.code
        older = self.players.get(player.id)
        if older is not None and older is not connection:
            older.rooms.pop(code, None)
            older.push(Replaced(code))
        self.players[player.id] = connection
        connection.rooms[code] = self

    def attach_watcher(self, connection: Connection) -> None:
        """Let this connection watch."""
        self.watchers[connection] = None
        connection.rooms[self.room.code] = self

    def show(self, now: int) -> None:
        """Send the state to everybody in the room, encoded once."""
        frame, code = self._frame(now), self.room.code
        for connection in self.players.values():
            connection.push_state(code, frame)
        for connection in self.watchers:
            connection.push_state(code, frame)

    def show_to(self, connection: Connection, now: int) -> None:
        """Send the state to one connection."""
        connection.push_state(self.room.code, self._frame(now))

    def push(self, message: Push) -> None:
        """Send a message to everybody in the room, encoded once."""
        frame = encode_frame(message)
        for connection in (*self.players.values(), *self.watchers):
            connection.push_frame(frame)

    def dismiss(self) -> None:
        """Detach everybody, and stop the timers."""
        for connection in (*self.players.values(), *self.watchers):
            connection.rooms.pop(self.room.code, None)
        self.players.clear()
        self.watchers.clear()
        self.stop_closing()
        self.stop_flag()

    def stop_closing(self) -> None:
        """Stop the timer that would end the deserted room."""
        if self.closing is not None:
            self.closing.cancel()
            self.closing = None

    def stop_flag(self) -> None:
        """Stop the timer of the running clock."""
        if self.flag is not None:
            self.flag.cancel()
            self.flag = None

    def _frame(self, now: int) -> bytes:
        return encode_frame(state_of(self.room, now, watchers=len(self.watchers)))
