"""Coming and going: who opens a room, takes a seat, is away, has left for good."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from msgspec.structs import replace

from tictactoe_engine import Position, Rules
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import Offers, SeatState
from tictactoe_protocol.requests import Leave
from tictactoe_protocol.terms import ClockFields
from tictactoe_protocol.text import MAX_NAME_LENGTH
from tictactoe_server.rooms import play
from tictactoe_server.rooms.clock import begin_turn, full_clocks, resume_turn
from tictactoe_server.rooms.room import Dropped, Enter, HandOver, Player, Refused, Room
from tictactoe_server.rooms.terms import terms_of


def open_room(
    code: str,
    rules: Rules,
    player: Player | None,
    now: int,
    *,
    seat: str | None = None,
    clock: ClockFields | None = None,
    reserved: Mapping[str, SeatState] = {},
    **fields: Any,
) -> Room:
    """Return a new room in which `player` plays the mark `seat`, the first where None, or only others have seats.

    `reserved` are seats by their marks: of bots, or of people who are still to come. `fields` are others of the room,
    such as its `visibility` and its `terms`. Raises ValueError where these do not fit together; see `_check_terms`.
    """
    seats: dict[str, SeatState | None] = dict.fromkeys(rules.marks) | dict(reserved)
    if player is not None:
        seats[seat or rules.marks[0]] = seat_of(player, {held.name for held in reserved.values()})
    room = Room(
        code,
        Position.start(rules),
        seats,
        now,
        clock=clock,
        gone_at={held.player: now for held in reserved.values() if not held.online},
        score={held.player: 0 for held in seats.values() if held is not None} | {"draws": 0},
        remaining_ms=full_clocks(clock, rules.marks),
        **fields,
    )
    _check_terms(room)
    return begin_turn(room, now)


def enter(room: Room, player: Player, command: Enter, now: int) -> Room:
    """Return the room with the player in a free seat, or back in the one that they hold."""
    names = {seat.name for seat in room.held_seats if seat.player != player.id}
    mark = room.mark_of(player.id)
    if mark is not None:
        seat = room.seat(mark)
        name = seat.name if room.terms.is_assigned else free_name(player.name, names)
        here = replace(seat, name=name, online=True)
        if here == seat:
            return room
        if room.terms.absence == "excused":
            room = begin_turn(resume_turn(room, mark, now), now)
        return _with_seat(room, mark, here, gone_at=_gone_without(room, player))
    if any(seat.player == player.id for seat in room.held_seats):
        raise Refused(ErrorCode.NOT_ALLOWED, "left")
    mark = next((mark for mark, seat in room.seats.items() if seat is None), None)
    if mark is None:
        raise Refused(ErrorCode.ROOM_FULL, room.terms.refusals.get("seat", ""), room=room.code)
    entered = _with_seat(room, mark, seat_of(player, names), score={**room.score, player.id: 0})
    return begin_turn(entered, now)


def drop(room: Room, player: Player, command: Dropped, now: int) -> Room:
    """Return the room with the player's seat held for them; this very room where they were away already."""
    mark = room.mark_of(player.id)
    if mark is None or not room.seat(mark).online:
        return room
    away = replace(room.seat(mark), online=False)
    return _with_seat(room, mark, away, gone_at={**room.gone_at, player.id: now})


def hand_over(room: Room, player: Player, command: HandOver, now: int) -> Room:
    """Return the room with the heir in the player's seat, held as for one who is away: mark, name, clock and hold stay.

    This very room where the player has no seat any more, or the game is over.
    """
    mark, heir = room.mark_of(player.id), command.heir
    if mark is None or room.result is not None:
        return room
    gone_at = {**_gone_without(room, player), heir: room.gone_at.get(player.id, now)}
    score = {heir if id == player.id else id: wins for id, wins in room.score.items()}
    return _with_seat(room, mark, replace(room.seat(mark), player=heir, online=False), gone_at=gone_at, score=score)


def with_stand_in(room: Room, id: str, stand_in: str) -> Room:
    """Return the room with a name and id that stand for a player who is forgotten, the seat as of one who is away."""
    mark = room.mark_of(id)
    if mark is None:
        return room
    seats = {**room.seats, mark: replace(room.seat(mark), player=stand_in, name=stand_in, online=False)}
    score, gone_at = (
        {stand_in if key == id else key: number for key, number in by_id.items()}
        for by_id in (room.score, room.gone_at)
    )
    return replace(room, seats=seats, score=score, gone_at=gone_at, seq=room.seq + 1)


def leave(room: Room, player: Player, command: Leave, now: int) -> Room:
    """Return the room without the player: the seat is free while the room waits, else lost for good.

    Offers of others outlive that, in a game that goes on.
    """
    mark, gone_at = room.seated(player), _gone_without(room, player)
    if room.status == "waiting":
        score = {id: wins for id, wins in room.score.items() if id != player.id}
        return _with_seat(room, mark, None, score=score, gone_at=gone_at)
    if room.status == "playing" and mark in room.position.active_marks:
        room = play.give_up(room, mark, now, "left")
    draw, undo = (None, None) if room.status == "over" else (room.offers.draw, room.offers.undo)
    offers = Offers(draw=None if draw == mark else draw, undo=None if undo == mark else undo)
    gone = replace(room.seat(mark), online=False, left=True)
    return _with_seat(room, mark, gone, offers=offers, gone_at=gone_at)


def seat_of(player: Player, taken: Collection[str] = ()) -> SeatState:
    """Return the seat of a person who is here, by a name that is not taken."""
    return SeatState(player.id, free_name(player.name, taken), online=True, bot=player.bot)


def free_name(name: str, taken: Collection[str]) -> str:
    """Return the name, or where it is taken the first free one with a number behind it, cut to fit.

    >>> free_name("ana", ("ana", "ana 2"))
    'ana 3'
    """
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name[: MAX_NAME_LENGTH - len(str(number)) - 1].rstrip()} {number}"
    return free


def _check_terms(room: Room) -> None:
    """Raise ValueError for terms that would be others once the room is stored and read.

    And for a room that is kept where its game might never end, be helped along, or be anybody's.
    """
    if room.terms is not terms_of(room.event, rated=room.rated):
        raise ValueError("A room has the terms of a tournament where it is one of an event, and no others.")
    if not room.terms.is_kept:
        return
    if room.clock is None or len(room.seats) != 2 or None in room.seats.values() or room.analysis != "closed":
        raise ValueError("A room that is kept has a clock, somebody in each of its two seats, and closed analysis.")


def _gone_without(room: Room, player: Player) -> dict[str, int]:
    """Return when those who are away dropped, without this player."""
    return {id: when for id, when in room.gone_at.items() if id != player.id}


def _with_seat(room: Room, mark: str, seat: SeatState | None, **changes: Any) -> Room:
    return replace(room, seats={**room.seats, mark: seat}, **changes)
