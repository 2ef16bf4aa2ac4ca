"""What is chosen in an opening: a side, by which both players may change places, or two more marks."""

from __future__ import annotations

from msgspec.structs import replace

from tictactoe_engine import IllegalMove, Position
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import Happening, Offers
from tictactoe_protocol.requests import Choose
from tictactoe_server.core.rooms.clock import remaining_after_turn, turn_to
from tictactoe_server.core.rooms.room import Player, Refused, Room


def choose(room: Room, player: Player, request: Choose, now: int) -> Room:
    """Return the room after a choice; this very room for one that was made already, so that it may be sent twice.

    Where it makes both players change places, what is a player's goes along: seat and clock. Offers end.
    """
    mark, position = room.seated(player), room.position
    if _is_made(position, mark, request):
        return room
    room.check_playing()
    if position.turn != mark:
        raise Refused(ErrorCode.NOT_YOUR_TURN, name=room.seat(position.turn).name)
    if request.ply != position.ply:
        raise Refused(ErrorCode.STALE, "move", path="ply", ply=request.ply, played=position.ply)
    try:
        position = position.choose(request.take)
    except IllegalMove as illegal:
        raise Refused(ErrorCode(illegal.code), path="take", **illegal.data) from None
    left = remaining_after_turn(room, now, has_moved=True)
    happened = (Happening("chose", mark, take=request.take),)
    after = turn_to(room, position, left, now, offers=Offers(), happened=happened)
    return _swapped(after) if position.is_swapped else after


def _is_made(position: Position, mark: str, request: Choose) -> bool:
    """Tell whether it is this player who has chosen this already."""
    return any(
        (choice.ply, choice.take) == (request.ply, request.take) and position.sits_now(choice.mark) == mark
        for choice in position.choices
    )


def _swapped(room: Room) -> Room:
    """Return the room with both players in each other's place."""
    one, other = tuple(room.rules.marks)
    change = {one: other, other: one}
    return replace(
        room,
        seats={mark: room.seats[change[mark]] for mark in room.seats},
        remaining_ms={mark: room.remaining_ms[change[mark]] for mark in room.remaining_ms},
        asked={f"{change[key[0]]}{key[1:]}": ply for key, ply in room.asked.items()},
    )
