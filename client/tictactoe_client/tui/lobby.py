"""The public rooms of the server at the other end of the link: learnt when that is wanted, then kept up to date."""

from __future__ import annotations

from tictactoe_client.tui.page import Desk
from tictactoe_client.tui.room_list import RoomList
from tictactoe_client.wire.messages import Message
from tictactoe_protocol.pushes import LobbyChange


class Lobby:
    """Keeps `rooms` true, for all pages that show them."""

    def __init__(self, desk: Desk, rooms: RoomList) -> None:
        self.rooms = rooms
        self._desk = desk

    def follow(self) -> None:
        """Learn the rooms, and have every change told from now on."""
        self._desk.run(self._learn(follows=True))

    def read(self) -> None:
        """Learn the rooms anew, where there is a connection."""
        if self._desk.link.phase == "online":
            self._desk.run(self._learn(follows=False))

    def hear(self, message: Message) -> None:
        """Take what the server tells of changes."""
        if isinstance(message.push, LobbyChange):
            self.rooms.take(message.push, self._desk.now())

    def forget(self) -> None:
        """Know of no room: those of the next server are others."""
        self.rooms.reset((), self._desk.now())

    async def _learn(self, *, follows: bool) -> None:
        client = self._desk.link.client
        if client is None:
            return
        if follows:
            await client.lobby(on=True)
        self.rooms.reset(await client.rooms(), self._desk.now())
        self._desk.redraw()
