"""Requests for the list of public rooms, once or with updates, for the server's time, and for QR codes."""

from __future__ import annotations

from base64 import b64encode
from itertools import islice
from typing import Final

from tictactoe_protocol.requests import DrawQr, Lobby, Ping, Rooms
from tictactoe_server import clock
from tictactoe_server.core.change import Call
from tictactoe_server.core.core import Core, Service
from tictactoe_server.http import texts
from tictactoe_server.http.qr_codes import draw_qr
from tictactoe_server.transport.http_messages import HttpRequest, PageHead, Reply
from tictactoe_server.transport.rate_limit import RateLimits

CODES, CODES_MS = 200, 60_000  # QR codes for a player; each takes up to six milliseconds of processor time
WALL_MS: Final = 500  # lifetime of the cached text wall; drawing a hundred large boards takes a while


class PublicRooms(Service):
    """Lists public rooms."""

    def __init__(self, core: Core) -> None:
        self.handles = {Rooms: self.list, Lobby: self.subscribe, Ping: lambda call: call.answer(time=clock.wall_ms())}
        self.handles[DrawQr] = self.draw_qr
        self.routes = {"/wall": self.show_wall}
        self._walls: dict[bool, tuple[int, list[str]]] = {}
        self._codes = RateLimits(CODES, CODES_MS, core.monotonic_ns)
        self._core = core
        self._lobby = core.lobby

    def draw_qr(self, call: Call) -> None:
        self._core.allowances.consume(self._codes[call.player.id], "analyse")
        image = b64encode(draw_qr(call.request.text)).decode()
        call.answer(qr=f"data:image/svg+xml;base64,{image}")

    def list(self, call: Call) -> None:
        call.answer(rooms=self._lobby.list_rooms())

    def subscribe(self, call: Call) -> None:
        """Subscribe the session to changes in the list and reply with the list, or unsubscribe the session."""
        if call.request.on:
            self._lobby.subscribe(call.session)
            call.answer(rooms=self._lobby.list_rooms(), online=self._core.presence.people)
        else:
            self._lobby.unsubscribe(call.session)
            call.answer(online=self._core.presence.people)
        self._core.hooks.on_lobby_request(call.session, call.request)

    async def show_wall(self, request: HttpRequest) -> Reply:
        if request.wants_html:
            return PageHead(*texts.HEAD_OF_WALL, "wall.js")
        is_coloured, now = request.wants_colour, self._core.time()
        drawn_at, lines = self._walls.get(is_coloured, (-WALL_MS, []))
        if now - drawn_at >= WALL_MS:
            games = (live for live in self._lobby.newest() if live.room.status == "playing" and live.is_alive)
            boards = list(islice(games, texts.MOST_BOARDS))
            await self._core.rooms.elsewhere.look_at(boards)
            states = [self._core.names.public(live.state(now)) for live in boards]
            lines = texts.describe_wall(states, is_coloured=is_coloured)
            self._walls[is_coloured] = now, lines
        return [*lines, "", f"In a browser:  {request.origin}/wall"]
