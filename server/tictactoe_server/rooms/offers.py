"""Offers of a draw or an undo, which are accepted, declined or withdrawn, or lapse.

A request that contains the number of the game and the number of moves is idempotent: `Room.asked` records that the
request took effect, until moves are taken back and that number of moves is reached again.
"""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_engine import Position
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import EndedOffer, Offers, Result
from tictactoe_protocol.requests import Draw, Undo
from tictactoe_server.rooms.clock import remaining_after_undo, turn_to
from tictactoe_server.rooms.play import check_game, finish
from tictactoe_server.rooms.room import Player, Refused, Room


def offer(room: Room, player: Player, request: Draw | Undo, now: int) -> Room:
    """Return the room with a draw or undo offered, accepted, declined or withdrawn; the same room if repeated."""
    mark, position, terms, is_draw = room.seated(player), room.position, room.terms, isinstance(request, Draw)
    kind = "draw" if is_draw else "undo"
    key = f"{mark} {request.__struct_config__.tag} {request.action}"
    if request.game == room.game and room.asked.get(key) == request.ply:
        return room
    check_game(room, request)
    room.check_active(mark)
    if len(position.active_marks if is_draw else room.rules.marks) > 2:
        raise Refused(ErrorCode.NOT_ALLOWED, kind)
    if request.action == "offer" and not (position.ply >= terms.draw_from if is_draw else terms.undo):
        raise Refused(ErrorCode.NOT_ALLOWED, f"{room.purpose.name} {kind}")
    if not is_draw and request.action == "offer" and position.opening is not None:
        raise Refused(ErrorCode.NOT_ALLOWED, "opening")
    if request.ply is not UNSET and request.ply != position.ply:
        raise Refused(ErrorCode.STALE, "position", path="ply", ply=request.ply, played=position.ply)
    after = _answered(room, mark, kind, request.action, now)
    if request.game is UNSET or request.ply is UNSET:
        return after
    return replace(after, asked={**after.asked, key: request.ply})


def _answered(room: Room, mark: str, kind: str, action: str, now: int) -> Room:
    """Return the room after a valid request. Offering a draw accepts the opponent's draw offer."""
    offered: str | None = getattr(room.offers, kind)
    if action == "offer":
        if offered == mark:
            return room
        if kind == "undo" and _before_last(room.position, mark) < 0:
            raise Refused(ErrorCode.NOT_ALLOWED, "no move")
        if offered is None:
            return _with_offer(room, kind, mark)
        if kind == "undo":
            raise Refused(ErrorCode.NOT_ALLOWED, "answer", name=room.seat(offered).name)
    elif offered is None or (offered == mark and action == "accept"):
        raise Refused(ErrorCode.NO_OFFER, kind)
    elif action == "decline":
        return _with_offer(room, kind, None, EndedOffer(mark, "withdrawn" if mark == offered else "declined"))
    if kind == "draw":
        return finish(room, Result(None, "agreed"), now)
    position = room.position.at(_before_last(room.position, offered))
    return turn_to(room, position, remaining_after_undo(room, now), now, offers=Offers())


def _before_last(position: Position, mark: str) -> int:
    """Return the number of moves before the last move of `mark`, negative if it is missing or part of an opening."""
    if not position.stones(mark):
        return -1
    ply = position.ply - (1 if position.board[position.moves[-1]] == mark else 2)
    return ply if all(choice.ply <= ply for choice in position.choices) else -1


def _with_offer(room: Room, kind: str, mark: str | None, end: EndedOffer | None = None) -> Room:
    ended = {key: value for key, value in ((room.offers.ended or {}) | {kind: end}).items() if value is not None}
    return replace(room, offers=replace(room.offers, **{kind: mark}, ended=ended or UNSET))
