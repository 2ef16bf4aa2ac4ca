"""Requests in a room: moves and other actions in a game, the current state, and chat."""

from __future__ import annotations

from msgspec import UNSET

from tictactoe_protocol import ErrorCode, clean_text
from tictactoe_protocol.pushes import ChatLine
from tictactoe_protocol.requests import Chat, Choose, Claim, Draw, Move, Rematch, Resign, Sync, Undo
from tictactoe_server import clock
from tictactoe_server.core.change import Call
from tictactoe_server.core.core import Core, Service
from tictactoe_server.operator.drain import Drain
from tictactoe_server.rooms.play import has_begun
from tictactoe_server.rooms.room import Refused
from tictactoe_words.catalogue import say


class Play(Service):
    """Handles moves and other actions in a game; a draining server refuses actions that begin a new game."""

    def __init__(self, core: Core, drain: Drain) -> None:
        self._drain = drain
        self._core = core
        self.handles = dict.fromkeys((Move, Choose, Resign, Claim), Call.submit)
        self.handles |= {Draw: self.offer, Undo: self.offer, Rematch: self.rematch, Sync: self.sync}

    def offer(self, call: Call) -> None:
        """Offer a draw or ask for a takeback, or answer such an offer. Only offers are rate-limited."""
        if call.request.action == "offer":
            self._core.allowances.count_offer(call.player)
        call.submit()

    def rematch(self, call: Call) -> None:
        """Ask for a rematch or agree to one. After an aborted game, this is rate-limited."""
        if not has_begun(call.live.room, call.request):
            self._drain.check()
        if call.live.room.was_aborted:
            self._core.allowances.count_offer(call.player)
        call.submit()

    def sync(self, call: Call) -> None:
        call.answer()
        call.live.show_to(call.session, call.now)


class ChatService(Service):
    """Broadcasts chat in a room, except to players who have blocked the sender."""

    def __init__(self, core: Core) -> None:
        self.handles = {Chat: self.say}
        self._mute_checks, self._on_chat = core.hooks.mute_checks, core.hooks.on_chat
        self._allowances, self._chat = core.allowances, core.settings.chat

    def say(self, call: Call) -> None:
        """Broadcast a line of chat. If there are many watchers, each may send only one line every few seconds."""
        session, player, live = call.session, call.player, call.live
        room = live.room
        seat = room.mark_of(player.id) if live.is_played_by(session) else None
        if seat is None and room.chat == "players":
            raise Refused(ErrorCode.NOT_ALLOWED, "chat")
        sentence = call.request.sentence
        if self._chat == "off" or (self._chat == "sentences" and sentence is UNSET):
            raise Refused(ErrorCode.NOT_ALLOWED, "chat off" if self._chat == "off" else "chat sentences")
        text = read_text(call.request.text, "text") if sentence is UNSET else say(f"sentence {sentence}")
        if seat is None and live.watchers.are_many:
            self._allowances.consume(self._allowances.crowd_chat[player.id], "chat", "crowd")
        self._allowances.consume(session.chat, "chat")
        call.answer()
        name = player.name if seat is None else room.seat(seat).name
        at = clock.wall_ms()
        line = ChatLine(room=room.code, from_=name, seat=seat, text=text, at=at, player=player.id, sentence=sentence)
        others = ((session, session.player) for session in live.sessions if session.player)
        muted = [one for one, other in others if any(check(other.id, player.id) for check in self._mute_checks)]
        live.push(line, muted)
        self._on_chat(live, line)


def read_text(text: str, path: str) -> str:
    """Return `text` without invisible characters; if the result is blank, raise `Refused` with the field `path`."""
    cleaned = clean_text(text).strip()
    if not cleaned:
        raise Refused(ErrorCode.BAD_MESSAGE, "blank", path=path)
    return cleaned
