"""The course of a game: moves, choices in an opening, resignations, expired clocks, claims and rematches."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_engine import IllegalMove, Position
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import Happening, Offers, OutReason, Result
from tictactoe_protocol.requests import Choose, Claim, Draw, Move, Rematch, Resign, Undo
from tictactoe_server.rooms.clock import (
    end_of_hold,
    expires_at,
    full_clocks,
    is_expired,
    is_first_move,
    remaining_after_turn,
    turn_to,
)
from tictactoe_server.rooms.room import Expire, Player, Refused, Room


def move(room: Room, player: Player, request: Move, now: int) -> Room:
    """Return the room after a move, or the same room for a repeated request."""
    position, cell, ply = room.position, request.cell, request.ply
    seat = room.seats.get(position.turn)  # type: ignore[arg-type]  # after a game, `turn` is None
    mark = position.turn if seat is not None and seat.player == player.id and not seat.left else room.seated(player)
    played = len(position.moves)
    if ply < played and position.moves[ply] == cell and position.player_of(ply) == mark:
        return room
    if room.result is not None or None in room.seats.values() or position.turn != mark or ply != played:
        _check_turn(room, mark, ply)
    try:
        position = position.play(cell)
    except IllegalMove as illegal:
        raise Refused(ErrorCode(illegal.code), path="cell", **illegal.data) from None
    offers = room.offers
    if offers is not _NO_OFFERS:
        offers = Offers(draw=mark) if offers.draw == mark else _NO_OFFERS
    outcome = position.outcome
    if outcome is None and room.clock is None and not (room.asked or room.happened):
        return replace(room, seq=room.seq + 1, position=position, offers=offers)
    changes: dict[str, Any] = {}
    if room.clock is not None:
        changes["remaining_ms"] = remaining_after_turn(room, now, has_moved=True)
        changes["clock_started_at"] = None if position.turn is None or room.stands_still else now
    if room.asked:
        changes["asked"] = {key: at for key, at in room.asked.items() if at != played + 1}
    if room.happened:
        changes["happened"] = ()
    if outcome is not None:
        result, offers = Result(outcome.winner, outcome.reason, outcome.line), _NO_OFFERS
        changes["result"], changes["score"] = result, _count(room, result)
    return replace(room, seq=room.seq + 1, position=position, offers=offers, **changes)


def choose(room: Room, player: Player, request: Choose, now: int) -> Room:
    """Return the room after a choice, which may swap seats and clocks, or the same room for a repeated request."""
    mark, position, made = room.seated(player), room.position, (request.ply, request.take)
    if any((old.ply, old.take) == made and position.sits_now(old.mark) == mark for old in position.choices):
        return room
    _check_turn(room, mark, request.ply)
    try:
        position = position.choose(request.take)
    except IllegalMove as illegal:
        raise Refused(ErrorCode(illegal.code), path="take", **illegal.data) from None
    left = remaining_after_turn(room, now, has_moved=True)
    happened = (Happening("chose", mark, take=request.take),)
    after = turn_to(room, position, left, now, offers=Offers(), happened=happened)
    return _swapped(after) if position.is_swapped else after


def _check_turn(room: Room, mark: str | None, ply: int) -> None:
    """Raise `Refused` unless the game is running, it is the turn of `mark`, and `ply` moves have been played."""
    room.check_playing()
    if room.position.turn != mark:
        raise Refused(ErrorCode.NOT_YOUR_TURN, name=room.seat(room.position.turn).name)
    if room.position.ply != ply:
        raise Refused(ErrorCode.STALE, "move", path="ply", ply=ply, played=room.position.ply)


def resign(room: Room, player: Player, request: Resign, now: int) -> Room:
    """Return the room after the player has resigned; see `give_up`."""
    mark = room.seated(player)
    room.check_active(mark)
    return give_up(room, mark, now)


def give_up(room: Room, mark: str, now: int, why: OutReason = "resigned") -> Room:
    """Return the room with `mark` out of the game. A game between two is lost, or aborted if it has hardly begun."""
    room = replace(room, happened=(Happening("out", mark, why),))
    active = room.position.active_marks
    if len(active) <= 2:
        reason = _REASONS.get(why, "resigned")
        result = _ABORTED if room.is_beginning else Result(active.replace(mark, ""), reason)
        return finish(room, result, now)
    position = room.position.pass_over(mark)
    if position.turn == room.position.turn:
        return replace(room, position=position)
    return turn_to(room, position, remaining_after_turn(room, now), now)


def expire(room: Room, player: Player, command: Expire, now: int) -> Room:
    """Return the room after the time for the turn has expired, or the same room if time is left."""
    turn = room.position.turn
    if turn is None or not is_expired(room, now):
        return room
    return give_up(room, turn, now, "late") if room.terms.absence == "excused" else _end(room, turn, now)


def _end(room: Room, turn: str, now: int) -> Room:
    """Return the room with the game lost because of a missing first move, an ended hold, or an expired clock.

    There is no winner if a first move is missing and the other player has not appeared either.
    """
    other = room.rules.marks.replace(turn, "")
    if is_first_move(room):
        has_appeared = room.seat(other).online or room.position.has_acted(other)
        out = [Happening("out", turn, "late")] + [Happening("out", other, "away")] * (not has_appeared)
        result = Result(other if has_appeared else None, "forfeit")
        return finish(replace(room, happened=tuple(out)), result, now)
    hold, end = end_of_hold(room), expires_at(room, with_hold=False)
    if hold is not None and end is not None and hold[0] < end:
        return give_up(room, hold[1], now, "away")
    return give_up(room, turn, now, "late")


def claim(room: Room, player: Player, request: Claim, now: int) -> Room:
    """Return the room after a claim: the opponents whose hold has ended are out of the game, or the game is drawn."""
    mark = room.seated(player)
    room.check_active(mark)
    if room.terms.absence == "loses":
        raise Refused(ErrorCode.NOT_ALLOWED, f"{room.purpose.name} claim")
    holds = {other: room.hold_left(other, now) for other in room.position.active_marks if other != mark}
    gone = [other for other, hold_ms in holds.items() if hold_ms == 0]
    if not gone:
        retry_ms = min((hold_ms for hold_ms in holds.values() if hold_ms is not None), default=None)
        raise Refused(ErrorCode.NOT_ALLOWED, "hold", retry_ms=retry_ms)
    if request.as_ == "draw":
        if len(gone) < len(holds):
            raise Refused(ErrorCode.NOT_ALLOWED, "claim draw")
        result = _ABORTED if room.is_beginning else Result(None, "claimed")
        return finish(room, result, now)
    for other in gone:
        room = give_up(room, other, now, "away")
    return replace(room, happened=tuple(Happening("out", other, "away") for other in gone))


def rematch(room: Room, player: Player, request: Rematch, now: int) -> Room:
    """Return the room with the player's agreement to a rematch, or with the next game once all players agree.

    Return the same room for a repeated request.
    """
    mark = room.seated(player)
    if has_begun(room, request):
        return room
    check_game(room, request)
    if room.result is None:
        raise Refused(ErrorCode.NOT_STARTED) if room.status == "waiting" else Refused(ErrorCode.NOT_ALLOWED, "playing")
    if not room.terms.rematch:
        raise Refused(ErrorCode.NOT_ALLOWED, f"{room.purpose.name} rematch")
    for seat in room.seats.values():
        if seat is not None and seat.left:
            raise Refused(ErrorCode.NOT_ALLOWED, "deserted", name=seat.name)
    asking = room.offers.rematch
    if mark in asking:
        return room
    if len(asking) + 1 < len(room.seats):
        asking = tuple([other for other in room.seats if other == mark or other in asking])
        return replace(room, seq=room.seq + 1, offers=replace(room.offers, rematch=asking), happened=())
    return _start_again(room, now)


def has_begun(room: Room, request: Rematch) -> bool:
    """Return True if the requested rematch has already begun."""
    return request.game is not UNSET and request.game < room.game


def check_game(room: Room, request: Draw | Undo | Rematch) -> None:
    """Raise `Refused` if the request is for a game other than the current game."""
    if request.game is not UNSET and request.game != room.game:
        raise Refused(ErrorCode.STALE, "game", path="game", game=request.game, current=room.game)


def finish(room: Room, result: Result, now: int) -> Room:
    """Return the room with the game over, the score counted, and the clocks stopped."""
    score, remaining_ms = _count(room, result), remaining_after_turn(room, now)
    return replace(
        room, result=result, offers=_NO_OFFERS, score=score, remaining_ms=remaining_ms, clock_started_at=None
    )


def _count(room: Room, result: Result) -> dict[str, int]:
    """Return the score after a game. Aborted games, and forfeits without a winner, do not count."""
    if result.winner is None and result.reason in ("aborted", "forfeit"):
        return room.score
    winner = "draws" if result.winner is None else room.seat(result.winner).player
    return {**room.score, winner: room.score.get(winner, 0) + 1}


def _start_again(room: Room, now: int) -> Room:
    """Return the room with the next game. Each player gets the next mark, unless the last game was aborted."""
    rules, seats = room.rules, room.seats
    if not (room.was_aborted or room.position.is_swapped):  # a swap has already exchanged the seats
        *others, last = seats.values()
        seats = dict(zip(rules.marks, (last, *others), strict=True))
    changes: dict[str, Any] = {}
    if room.clock is not None:
        changes["remaining_ms"] = full_clocks(room.clock, rules.marks)
        changes["clock_started_at"] = now
    return replace(
        room,
        seq=room.seq + 1,
        game=room.game + 1,
        position=Position.start(rules),
        seats=seats,
        result=None,
        offers=_NO_OFFERS,
        asked=_NOTHING,
        happened=(),
        **changes,
    )


def _swapped(room: Room) -> Room:
    first, second = tuple(room.rules.marks)
    change = {first: second, second: first}
    return replace(
        room,
        seats={mark: room.seats[change[mark]] for mark in room.seats},
        remaining_ms={mark: room.remaining_ms[change[mark]] for mark in room.remaining_ms},
        asked={f"{change[key[0]]}{key[1:]}": ply for key, ply in room.asked.items()},
    )


_NO_OFFERS = Offers()
_NOTHING: dict[str, int] = {}
_ABORTED = Result(None, "aborted")
_REASONS = {"late": "timeout", "away": "claimed"}  # reasons of results, by the reason why the loser is out of the game
