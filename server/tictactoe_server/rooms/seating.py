"""The seats in a room: opening and entering a room, lost connections, and handing over a seat."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from tictactoe_engine import Position, Rules
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.guests import other_owner, owner_of
from tictactoe_protocol.pushes import SeatState
from tictactoe_protocol.terms import ClockFields
from tictactoe_protocol.text import MAX_NAME_LENGTH
from tictactoe_server.rooms.room import CASUAL, Player, Purpose, Refused, Room, begin_turn, full_clocks, resume_turn


def open_room(
    code: str,
    rules: Rules,
    player: Player | None,
    now: int,
    *,
    seat: str | None = None,
    clock: ClockFields | None = None,
    guests: Sequence[Player] = (),
    reserved: Mapping[str, SeatState] = {},
    **fields: Any,
) -> Room:
    """Return a new room.

    Args:
        seat: The mark of `player`, by default the first mark. Guests get the first free marks.
        reserved: The seats of bots and of players who will connect later, by mark.
        fields: Other fields of `Room`.
    """
    seats: dict[str, SeatState | None] = dict.fromkeys(rules.marks) | dict(reserved)
    if clock is not None and clock.counts_days:
        purpose: Purpose = fields.get("purpose", CASUAL)
        terms = replace(purpose.terms, absence="normal", is_aborted=False, stands_still=False, hints=False)
        fields["purpose"] = replace(purpose, terms=terms)
    if player is not None:
        own = seat or rules.marks[0]
        free = (own, *(mark for mark, held in seats.items() if held is None and mark != own))
        seats |= _seats_for((player, *guests), free, {held.name for held in reserved.values()})
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
    return begin_turn(room, now)


def enter(room: Room, player: Player, now: int, guests: Sequence[Player] = ()) -> Room:
    """Return the room with the player and new guests in free seats, or with a returning player and guests online.

    New players are refused unless there are seats for the player and all guests. For a returning player, `guests` is
    ignored.
    """
    marks = room.marks_of(player.id)
    if marks:
        return _return(room, player, marks, now)
    if any(seat.player == player.id for seat in room.held_seats):
        raise Refused(ErrorCode.NOT_ALLOWED, "left")
    people, free = (player, *guests), [mark for mark, seat in room.seats.items() if seat is None]
    if len(people) > len(free):
        raise Refused(ErrorCode.ROOM_FULL, room.purpose.name if room.terms.is_organised else "", room=room.code)
    entered = _seats_for(people, free, {seat.name for seat in room.held_seats})
    score = room.score | {person.id: 0 for person in people}
    return begin_turn(with_seats(room, entered, score=score), now)


def _return(room: Room, player: Player, marks: Sequence[str], now: int) -> Room:
    seats = {mark: replace(room.seat(mark), online=True) for mark in marks}
    own = room.mark_of(player.id)
    if own is not None and not room.terms.is_organised:
        names = {seat.name for seat in room.held_seats if seat.player != player.id}
        seats[own] = replace(room.seat(own), name=free_name(player.name, names), online=True)
    if all(room.seats[mark] == seat for mark, seat in seats.items()):
        return room
    if room.terms.absence == "excused":
        for mark in marks:
            room = resume_turn(room, mark, now)
        room = begin_turn(room, now)
    return with_seats(room, seats, gone_at=absent_without(room, marks))


def drop(room: Room, player: Player, now: int) -> Room:
    """Return the room with the seats of the player and guests held, or the same room if they were absent already."""
    online = [mark for mark in room.marks_of(player.id) if room.seat(mark).online]
    if not online:
        return room
    away = {mark: replace(room.seat(mark), online=False) for mark in online}
    return with_seats(room, away, gone_at=room.gone_at | {room.seat(mark).player: now for mark in online})


def hand_over(room: Room, player: Player, now: int, heir: str) -> Room:
    """Return the room with the absent player `heir` (id) in the player's seat, which keeps its name, clock and hold.

    Return the same room if the player has no seat or the game is over.
    """
    mark = room.mark_of(player.id)
    if mark is None or room.result is not None:
        return room
    gone_at = {**absent_without(room, [mark]), heir: room.gone_at.get(player.id, now)}
    score = {heir if id == player.id else id: wins for id, wins in room.score.items()}
    seat = replace(room.seat(mark), player=heir, online=False)
    return with_seats(room, {mark: seat}, gone_at=gone_at, score=score)


def with_stand_in(room: Room, id: str, stand_in: str) -> Room:
    """Return the room with `stand_in` as id and name of the forgotten player `id` and guests, also in left seats."""
    score, gone_at = (
        {other_owner(key, id, stand_in): number for key, number in by_id.items()}
        for by_id in (room.score, room.gone_at)
    )
    seats = {}
    for mark, seat in room.seats.items():
        if seat is not None and owner_of(seat.player) == id:
            name = other_owner(seat.player, id, stand_in)
            seats[mark] = replace(seat, player=name, name=name, online=False)
            if seat.online:  # the server crashed
                gone_at.setdefault(name, room.opened_at)
    return with_seats(room, seats, score=score, gone_at=gone_at) if seats else room


def seat_of(player: Player, taken: Collection[str] = ()) -> SeatState:
    """Return a seat for a player who is online, under a name that is not in `taken`."""
    return SeatState(player.id, free_name(player.name, taken), online=True, bot=player.bot)


def free_name(name: str, taken: Collection[str]) -> str:
    """Return the name or, if it is taken, the name cut as needed and followed by a number.

    >>> free_name("ana", ("ana", "ana 2"))
    'ana 3'
    """
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name[: MAX_NAME_LENGTH - len(str(number)) - 1].rstrip()} {number}"
    return free


def absent_without(room: Room, marks: Collection[str]) -> dict[str, int]:
    """Return `Room.gone_at` without the players of these seats."""
    present = {room.seat(mark).player for mark in marks}
    return {id: when for id, when in room.gone_at.items() if id not in present}


def _seats_for(people: Iterable[Player], marks: Iterable[str], taken: Collection[str]) -> dict[str, SeatState]:
    seats: dict[str, SeatState] = {}
    for mark, player in zip(marks, people, strict=False):
        seats[mark] = seat_of(player, {*taken, *(seat.name for seat in seats.values())})
    return seats


def with_seats(room: Room, seats: Mapping[str, SeatState | None], **changes: Any) -> Room:
    """Return the room after a change of seats, given by mark, and of other fields."""
    return replace(room, **{"seats": {**room.seats, **seats}, "seq": room.seq + 1, "happened": (), **changes})
