"""Talk in rooms."""

from __future__ import annotations

import time

from tictactoe_protocol import ErrorCode, clean_text
from tictactoe_protocol.pushes import ChatLine
from tictactoe_protocol.requests import Chat
from tictactoe_server.core.answers import Call
from tictactoe_server.core.core import Core
from tictactoe_server.core.rooms import Refused
from tictactoe_server.core.service import Service


class Talk(Service):
    """Says to everybody in a room what one of them says, without control, format and invisible characters."""

    def __init__(self) -> None:
        self.handles = {Chat: self.say}

    def start(self, core: Core) -> None:
        self._allowances = core.allowances

    def say(self, call: Call) -> None:
        """Say something; where a crowd watches, those who do may speak only now and then."""
        session, player, live = call.session, call.player, call.live
        room = live.room
        seat = room.mark_of(player.id) if live.is_played_by(session) else None
        if seat is None and room.chat == "players":
            raise Refused(ErrorCode.NOT_ALLOWED, "chat")
        said = read_text(call.request.text, "text")
        if seat is None and live.watchers.are_many:
            self._allowances.take(self._allowances.crowd_chat[player.id], "chat", "crowd")
        self._allowances.take(session.chat, "chat")
        call.answer()
        name = player.name if seat is None else room.seat(seat).name
        at = time.time_ns() // 1_000_000
        live.push(ChatLine(room=room.code, from_=name, seat=seat, text=said, at=at, player=player.id))


def read_text(text: str, path: str) -> str:
    """Return a text without what could not be seen in it; refuses one of which nothing is left."""
    cleaned = clean_text(text).strip()
    if not cleaned:
        raise Refused(ErrorCode.BAD_MESSAGE, "blank", path=path)
    return cleaned
