"""The public rooms of the server at the other end of the link: learnt when that is wanted, then kept up to date."""

from __future__ import annotations

from msgspec import UNSET

from tictactoe_client.online.messages import Message
from tictactoe_client.tui.page import Desk
from tictactoe_client.tui.room_list import RoomList
from tictactoe_protocol.pushes import LobbyChange, Ok


class Lobby:
    """Keeps `rooms` true, for all pages that show them."""

    def __init__(self, desk: Desk, rooms: RoomList) -> None:
        self.rooms = rooms
        self._desk = desk

    def follow(self) -> None:
        """Learn the rooms, where there is a connection, and have every change told from now on."""
        if self._desk.link.phase == "online":
            self._desk.start(self._subscribe(on=True))

    def leave(self) -> None:
        """Have nothing told any more, while nobody looks."""
        if self._desk.link.phase == "online":
            self._desk.start(self._subscribe(on=False))

    def hear(self, message: Message) -> None:
        """Take lists and changes in the order in which the server tells them.

        What is followed is followed again after a loss, with a list to begin with.
        """
        push = message.push
        if isinstance(push, LobbyChange):
            self.rooms.take(push, self._desk.now())
        elif isinstance(push, Ok) and push.rooms is not UNSET:
            self.rooms.reset(push.rooms, self._desk.now())

    def forget(self) -> None:
        """Know of no room: those of the next server are others."""
        self.rooms.reset((), self._desk.now())

    async def _subscribe(self, *, on: bool) -> None:
        client = self._desk.link.client
        if client is not None:
            await client.lobby(on=on)
