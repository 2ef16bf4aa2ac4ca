"""Coming and going: who opens a room, takes a seat, is away, has left for good."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from tictactoe_engine import Position, Rules
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import Offers, SeatState, Visibility
from tictactoe_protocol.requests import ClockFields
from tictactoe_protocol.text import MAX_NAME_LENGTH
from tictactoe_server.rooms import play
from tictactoe_server.rooms.clock import begin_turn, full_clocks, resume_turn
from tictactoe_server.rooms.player import Player, Refused
from tictactoe_server.rooms.room import HOLD_MS, START_MS, Analysis, Chat, Room


def open_room(
    code: str,
    rules: Rules,
    player: Player | None,
    now: int,
    *,
    seat: str | None = None,
    visibility: Visibility = "public",
    clock: ClockFields | None = None,
    hold_ms: int = HOLD_MS,
    start_ms: int = START_MS,
    analysis: Analysis = "closed",
    chat: Chat = "all",
    bots: Sequence[SeatState] = (),
    reserved: Mapping[str, SeatState] = {},
) -> Room:
    """Return a new room in which `player` plays the mark `seat`, the first where None; bots take the next seats.

    Where there is no player the bots hold all seats, or some wait for people. `reserved` are seats by their marks: of
    bots, or of people who are still to come.
    """
    seats: dict[str, SeatState | None] = dict.fromkeys(rules.marks) | dict(reserved)
    if player is not None:
        seats[seat or rules.marks[0]] = seat_of(player, {bot.name for bot in bots})
    free = [mark for mark, held in seats.items() if held is None]
    seats.update(zip(free, bots, strict=False))
    room = Room(
        code,
        Position.start(rules),
        seats,
        now,
        visibility=visibility,
        clock=clock,
        gone_at={held.player: now for held in reserved.values() if not held.online},
        score={held.player: 0 for held in seats.values() if held is not None} | {"draws": 0},
        hold_ms=hold_ms,
        start_ms=start_ms,
        analysis=analysis,
        chat=chat,
        remaining_ms=full_clocks(clock, rules.marks),
    )
    return begin_turn(room, now)


def enter(room: Room, player: Player, now: int) -> Room:
    """Return the room with the player in a free seat, or back in the one that they hold."""
    held = room.mark_of(player.id)
    if held is not None:
        seat = room.seat(held)
        here = replace(seat, name=free_name(player.name, _names_of_others(room, player)), online=True)
        if here == seat:
            return room
        room = begin_turn(resume_turn(room, player.id, now), now)
        return replace(_with_seat(room, held, here), gone_at=_gone_without(room, player))
    if any(seat is not None and seat.player == player.id for seat in room.seats.values()):
        raise Refused(ErrorCode.NOT_ALLOWED, "You left this room for good; you may watch it.")
    free = next((mark for mark, seat in room.seats.items() if seat is None), None)
    if free is None:
        raise Refused(ErrorCode.ROOM_FULL, f"Room {room.code} is full; you may watch it.")
    seat = seat_of(player, _names_of_others(room, player))
    entered = replace(_with_seat(room, free, seat), score={**room.score, player.id: 0})
    return begin_turn(entered, now)


def drop(room: Room, player: Player, now: int) -> Room:
    """Return the room with the player's seat held for them; this very room where they were away already."""
    mark = room.mark_of(player.id)
    if mark is None or not room.seat(mark).online:
        return room
    away = replace(room.seat(mark), online=False)
    return replace(_with_seat(room, mark, away), gone_at={**room.gone_at, player.id: now})


def leave(room: Room, player: Player, now: int) -> Room:
    """Return the room without the player: the seat is free while the room waits, else lost for good."""
    mark = room.seated(player)
    if room.status == "waiting":
        score = {id: wins for id, wins in room.score.items() if id != player.id}
        return replace(_with_seat(room, mark, None), score=score, gone_at=_gone_without(room, player))
    is_in_game = room.status == "playing" and mark in room.position.active_marks
    after = play.give_up(room, mark, now) if is_in_game else replace(room, seq=room.seq + 1)
    gone = replace(room.seat(mark), online=False, left=True)
    return replace(
        after,
        seats={**after.seats, mark: gone},
        offers=_offers_without(after, mark),
        gone_at=_gone_without(room, player),
    )


def _gone_without(room: Room, player: Player) -> dict[str, int]:
    """Return when those who are away dropped, without this player."""
    return {id: when for id, when in room.gone_at.items() if id != player.id}


def _offers_without(room: Room, mark: str) -> Offers:
    """Return the offers that outlive the leaving of a mark: those of others, in a game that goes on."""
    if room.status == "over":
        return Offers()
    draw, undo = room.offers.draw, room.offers.undo
    return Offers(draw=None if draw == mark else draw, undo=None if undo == mark else undo)


def seat_of(player: Player, taken: Collection[str] = ()) -> SeatState:
    """Return the seat of a person who is here, by a name that is not taken."""
    return SeatState(player.id, free_name(player.name, taken), online=True, bot=None)


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


def _names_of_others(room: Room, player: Player) -> set[str]:
    return {seat.name for seat in room.seats.values() if seat is not None and seat.player != player.id}


def _with_seat(room: Room, mark: str, seat: SeatState | None) -> Room:
    return replace(room, seq=room.seq + 1, seats={**room.seats, mark: seat})
