"""Offers across the table: a draw, and taking a move back. Each is made, then accepted, declined or lapses."""

from __future__ import annotations

from msgspec.structs import replace

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import Offers, Result
from tictactoe_protocol.requests import Draw, Undo
from tictactoe_server.rooms.clock import remaining_after_undo, start_of_turn
from tictactoe_server.rooms.play import finish
from tictactoe_server.rooms.player import Player, Refused
from tictactoe_server.rooms.room import Room


def draw(room: Room, player: Player, request: Draw, now: int) -> Room:
    """Return the room with a draw offered, agreed or declined. Two offers that meet are an agreement."""
    mark = _in_game(room, player)
    if len(room.position.active_marks) > 2:
        raise Refused(ErrorCode.NOT_ALLOWED, "A draw can be offered when two players are left.")
    offered = room.offers.draw
    if request.action == "offer" and offered in (None, mark):
        return room if offered == mark else _with_offers(room, replace(room.offers, draw=mark))
    if offered is None or (offered == mark and request.action == "accept"):
        raise Refused(ErrorCode.NO_OFFER, "Nobody has offered you a draw.")
    if request.action == "decline":
        return _with_offers(room, replace(room.offers, draw=None))
    return finish(replace(room, seq=room.seq + 1), Result(None, "agreed"), now)


def undo(room: Room, player: Player, request: Undo, now: int) -> Room:
    """Return the room with an undo asked for, carried out or declined."""
    mark = _in_game(room, player)
    if len(room.rules.marks) > 2:
        raise Refused(ErrorCode.NOT_ALLOWED, "A move can be taken back in games of two.")
    asked = room.offers.undo
    if request.action == "offer":
        if asked == mark:
            return room
        if not room.position.stones(mark):
            raise Refused(ErrorCode.NOT_ALLOWED, "You have made no move that could be taken back.")
        if asked is None:
            return _with_offers(room, replace(room.offers, undo=mark))
        raise Refused(ErrorCode.NOT_ALLOWED, f"{room.seat(asked).name} asks to take a move back: answer that first.")
    if asked is None or (asked == mark and request.action == "accept"):
        raise Refused(ErrorCode.NO_OFFER, "Nobody has asked you to take a move back.")
    if request.action == "decline":
        return _with_offers(room, replace(room.offers, undo=None))
    return _take_back(room, asked, now)


def _take_back(room: Room, asker: str, now: int) -> Room:
    """Return the room as it was before the asker's last move."""
    played = room.position
    position = played.at(played.ply - (1 if played.board[played.moves[-1]] == asker else 2))
    return replace(
        room,
        seq=room.seq + 1,
        position=position,
        offers=Offers(),
        remaining_ms=remaining_after_undo(room, now),
        clock_started_at=start_of_turn(room, position, now),
    )


def _in_game(room: Room, player: Player) -> str:
    mark = room.seated(player)
    room.check_playing()
    room.check_active(mark)
    return mark


def _with_offers(room: Room, offers: Offers) -> Room:
    return replace(room, seq=room.seq + 1, offers=offers)
