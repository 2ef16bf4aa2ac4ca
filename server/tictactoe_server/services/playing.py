"""What is done in a room by those who are in it: moves and their like, chat, a look at the state."""

from __future__ import annotations

import time

from tictactoe_protocol import ErrorCode, clean_text
from tictactoe_protocol.pushes import ChatLine
from tictactoe_protocol.requests import Chat, Draw, Rematch, Request, Sync, Undo
from tictactoe_server.core.live_room import LiveRoom, not_in_room
from tictactoe_server.core.session import Session
from tictactoe_server.rooms import Player, Refused, Room, apply
from tictactoe_server.services.answers import Asked, answer
from tictactoe_server.transport.rate_limit import RateLimit, RateLimits


class Played(Asked):
    """A command of one who plays in the room."""

    __slots__ = ()

    def apply(self, room: Room) -> Room | None:
        """Return the room after the command, if it is still this session with which the player plays."""
        if self.live.players.get(self.player.id) is not self.session:
            if self.session in self.live.watchers:
                raise Refused(ErrorCode.NOT_SEATED, "You only watch this room.")
            raise not_in_room(room.code)
        return apply(room, self.player, self.command, self.now)


def sync(session: Session, request: Sync, live: LiveRoom, now: int) -> None:
    """Send the current state again, to this session alone."""
    answer(session, request, moves=live.room.position.moves)
    live.show_to(session, now)


def is_offer(request: Request, room: Room) -> bool:
    """Tell whether the others are asked something: a draw, a move back, a game after one that counted for nobody.

    A rematch after a game that was played costs that game, and so is none.
    """
    if isinstance(request, Draw | Undo):
        return request.action == "offer"
    return isinstance(request, Rematch) and room.was_aborted


def chat(session: Session, player: Player, request: Chat, live: LiveRoom, in_crowds: RateLimits) -> None:
    """Say something to everybody in the room; without control, format and invisible characters.

    Where a crowd watches, those who do may speak as often as `in_crowds` lets them.
    """
    room = live.room
    seat = room.mark_of(player.id) if live.is_played_by(session) else None
    if seat is None and room.chat == "players":
        raise Refused(ErrorCode.NOT_ALLOWED, "In this room only those who play may chat.")
    said = clean_text(request.text).strip()
    if not said:
        raise Refused(ErrorCode.BAD_MESSAGE, "There is nothing to read in that.", path="text")
    if seat is None and live.watchers.are_many:
        take(session, in_crowds.of(player.id), "chat", "So many watch that each may say something only now and then.")
    take(session, session.chat, "chat", "You say too much at once.")
    answer(session, request)
    name = player.name if seat is None else room.seat(seat).name
    at = time.time_ns() // 1_000_000
    live.push(ChatLine(room=room.code, from_=name, seat=seat, text=said, at=at, player=player.id))


def take(session: Session, limit: RateLimit, kind: str, words: str) -> None:
    """Count one use, or raise `Refused` where that is too much."""
    wait_ms = limit.take()
    if wait_ms:
        session.tally.limited[kind] += 1
        raise Refused(ErrorCode.RATE_LIMITED, words, retry_ms=wait_ms)
