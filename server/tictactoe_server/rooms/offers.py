"""Offers across the table: a draw, and taking a move back. Each is made, then accepted, declined or lapses."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import EndedOffer, Offers, Result
from tictactoe_protocol.requests import Draw, Undo
from tictactoe_server.rooms.clock import remaining_after_undo, start_of_turn
from tictactoe_server.rooms.play import finish
from tictactoe_server.rooms.player import Player, Refused
from tictactoe_server.rooms.repeats import check_game, check_ply, is_done, note
from tictactoe_server.rooms.room import Room

OfferKind = Literal["draw", "undo"]


def draw(room: Room, player: Player, request: Draw, now: int) -> Room:
    """Return the room with a draw offered, agreed or declined, this very room where that is done already."""
    mark = room.seated(player)
    if is_done(room, mark, request):
        return room
    _check_in_game(room, mark, request)
    if len(room.position.active_marks) > 2:
        raise Refused(ErrorCode.NOT_ALLOWED, "A draw can be offered when two players are left.")
    check_ply(room, request)
    return note(room, _draw(room, mark, request, now), mark, request)


def undo(room: Room, player: Player, request: Undo, now: int) -> Room:
    """Return the room with an undo asked for, carried out or declined, this very room where that is done already."""
    mark = room.seated(player)
    if is_done(room, mark, request):
        return room
    _check_in_game(room, mark, request)
    if len(room.rules.marks) > 2:
        raise Refused(ErrorCode.NOT_ALLOWED, "A move can be taken back in games of two.")
    check_ply(room, request)
    return note(room, _undo(room, mark, request, now), mark, request)


def _draw(room: Room, mark: str, request: Draw, now: int) -> Room:
    """Return the room with a draw offered, agreed or declined. Two offers that meet are an agreement."""
    offered = room.offers.draw
    if request.action == "offer" and offered in (None, mark):
        return room if offered == mark else _with_offers(room, _opened(room.offers, "draw", mark))
    if offered is None or (offered == mark and request.action == "accept"):
        raise Refused(ErrorCode.NO_OFFER, "Nobody has offered you a draw.")
    if request.action == "decline":
        return _with_offers(room, _ended(room.offers, "draw", mark, offered))
    return finish(replace(room, seq=room.seq + 1), Result(None, "agreed"), now)


def _undo(room: Room, mark: str, request: Undo, now: int) -> Room:
    """Return the room with an undo asked for, carried out or declined."""
    asked = room.offers.undo
    if request.action == "offer":
        if asked == mark:
            return room
        if not room.position.stones(mark):
            raise Refused(ErrorCode.NOT_ALLOWED, "You have made no move that could be taken back.")
        if asked is None:
            return _with_offers(room, _opened(room.offers, "undo", mark))
        raise Refused(ErrorCode.NOT_ALLOWED, f"{room.seat(asked).name} asks to take a move back: answer that first.")
    if asked is None or (asked == mark and request.action == "accept"):
        raise Refused(ErrorCode.NO_OFFER, "Nobody has asked you to take a move back.")
    if request.action == "decline":
        return _with_offers(room, _ended(room.offers, "undo", mark, asked))
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


def _check_in_game(room: Room, mark: str, request: Draw | Undo) -> None:
    check_game(room, request)
    room.check_playing()
    room.check_active(mark)


def _opened(offers: Offers, kind: OfferKind, mark: str) -> Offers:
    """Return the offers with one more, and without what was said of an earlier one of its kind."""
    ended = {other: end for other, end in (offers.ended or {}).items() if other != kind}
    return replace(offers, **{kind: mark}, ended=ended or UNSET)


def _ended(offers: Offers, kind: OfferKind, mark: str, offered: str) -> Offers:
    """Return the offers without one that this mark wants no more."""
    end = EndedOffer(mark, "withdrawn" if mark == offered else "declined")
    return replace(offers, **{kind: None}, ended={**(offers.ended or {}), kind: end})


def _with_offers(room: Room, offers: Offers) -> Room:
    return replace(room, seq=room.seq + 1, offers=offers)
