"""The list of public rooms, for who asks for it once or wants to hear of its changes; and the server's time."""

from __future__ import annotations

import time

from tictactoe_protocol.requests import Lobby, Ping, Rooms
from tictactoe_server.core.answers import Call
from tictactoe_server.core.core import Core
from tictactoe_server.core.service import Service


class PublicRooms(Service):
    """Lists rooms, and shows the boards of some of them."""

    def __init__(self) -> None:
        self.handles = {Rooms: self.list, Lobby: self.subscribe, Ping: self.tell_time}

    def start(self, core: Core) -> None:
        self._lobby = core.lobby
        self.topics = (core.lobby, core.lobby.boards)

    def list(self, call: Call) -> None:
        call.answer(rooms=self._lobby.list_rooms())

    def subscribe(self, call: Call) -> None:
        """Send every change of the list, beginning with the list itself, or stop."""
        if call.request.on:
            self._lobby.subscribe(call.session)
            call.answer(rooms=self._lobby.list_rooms())
            self._lobby.boards.subscribe(call.session, call.request.boards)
            return
        for topic in self.topics:
            topic.unsubscribe(call.session)
        call.answer()

    def tell_time(self, call: Call) -> None:
        call.answer(time=time.time_ns() // 1_000_000)
