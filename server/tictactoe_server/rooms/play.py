"""Commands in a room: moves, choices in an opening, offers, resignations, expired clocks, claims and rematches.

A request that contains the number of the game and the number of moves is idempotent: `Room.asked` records after how
many moves a request about an offer took effect, until moves are taken back and that number of moves is reached again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_engine import IllegalMove, Position
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.guests import is_guest
from tictactoe_protocol.pushes import EndedOffer, Happening, Offers, OutReason, Result
from tictactoe_protocol.requests import Choose, Claim, Draw, Leave, Move, Rematch, Resign, Undo
from tictactoe_protocol.terms import DAY_MS
from tictactoe_server.rooms.room import (
    Player,
    Refused,
    Room,
    end_of_hold,
    expires_at,
    full_clocks,
    is_expired,
    is_first_move,
    ply_before_last,
)
from tictactoe_server.rooms.seating import absent_without, with_seats

Command = Move | Choose | Leave | Resign | Rematch | Draw | Undo | Claim

_NO_OFFERS = Offers()
_ABORTED = Result(None, "aborted")
_REASONS = {"late": "timeout", "away": "claimed"}  # reasons of results, by the reason why the loser is out of the game


def move(room: Room, player: Player, request: Move, now: int) -> Room:
    """Return the room after a move, or the same room for a repeated request."""
    position, cell, ply = room.position, request.cell, request.ply
    played, seat = len(position.moves), room.seats.get(position.turn or "")
    is_due = seat is not None and seat.player == player.id and not seat.left and ply == played and room.result is None
    if is_due and None not in room.seats.values():
        mark = position.turn  # most moves; the checks below would find nothing
    else:
        mark = room.require_mark(player)
        if ply < played and position.moves[ply] == cell and position.player_of(ply) == mark:
            return room
        _check_turn(room, mark, ply)
    try:
        position = position.play(cell)
    except IllegalMove as illegal:
        raise Refused(ErrorCode(illegal.code), path="cell", **illegal.data) from None
    offers = room.offers
    if offers is not _NO_OFFERS:
        draw = offers.draw if room.keeps_seats or offers.draw == mark else None
        undo = offers.undo if room.keeps_seats and offers.undo != mark else None
        offers = Offers(draw, undo) if draw or undo else _NO_OFFERS
    outcome = position.outcome
    if outcome is None and room.clock is None and not (room.asked or room.happened):  # most moves, and the quickest way
        return replace(room, seq=room.seq + 1, position=position, offers=offers)
    asked = {key: at for key, at in room.asked.items() if at != played + 1}
    changes: dict[str, Any] = {"seq": room.seq + 1, "asked": asked, "happened": ()}
    if outcome is not None:
        result, offers = Result(outcome.winner, outcome.reason, outcome.line), _NO_OFFERS
        changes["result"], changes["score"] = result, _count(room, result)
    if room.clock is None:
        return replace(room, position=position, offers=offers, **changes)
    left = remaining_after_turn(room, now, has_moved=True)
    return turn_to(room, position, left, now, offers=offers, **changes)


def choose(room: Room, player: Player, request: Choose, now: int) -> Room:
    """Return the room after a choice, which may swap seats and clocks, or the same room for a repeated request."""
    mark, position, made = room.require_mark(player), room.position, (request.ply, request.take)
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
    return _swap_seats(after) if position.is_swapped else after


def _check_turn(room: Room, mark: str | None, ply: int) -> None:
    room.check_playing()
    if room.position.turn != mark:
        raise Refused(ErrorCode.NOT_YOUR_TURN, name=room.seat(room.position.turn).name)
    if room.position.ply != ply:
        raise Refused(ErrorCode.STALE, "move", path="ply", ply=ply, played=room.position.ply)


def resign(room: Room, player: Player, request: Resign, now: int) -> Room:
    """Return the room after the player has resigned; see `give_up`."""
    mark = room.require_mark(player)
    room.check_active(mark)
    return give_up(room, mark, now)


def expire(room: Room, now: int) -> Room:
    """Return the room after the time for the turn has expired, or the same room if time is left."""
    turn = room.position.turn
    if turn is None or not is_expired(room, now):
        return room
    return _step(room, _end(room, turn, now) if room.terms.absence == "loses" else give_up(room, turn, now, "late"))


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
    """Return the room after a claim: opponents who were absent too long are out of the game, or the game is drawn."""
    mark = room.require_mark(player)
    room.check_active(mark)
    if room.terms.absence == "loses":
        raise Refused(ErrorCode.NOT_ALLOWED, f"{room.purpose.name} claim")
    holds = {other: room.hold_left(other, now) for other in room.position.active_marks if other != mark}
    absent = [other for other, hold_ms in holds.items() if hold_ms == 0]
    if not absent:
        retry_ms = min((hold_ms for hold_ms in holds.values() if hold_ms is not None), default=None)
        raise Refused(ErrorCode.NOT_ALLOWED, "hold", retry_ms=retry_ms)
    if request.as_ == "draw":
        if len(absent) < len(holds):
            raise Refused(ErrorCode.NOT_ALLOWED, "claim draw")
        result = _ABORTED if room.is_beginning else Result(None, "claimed")
        return finish(room, result, now)
    for other in absent:
        room = give_up(room, other, now, "away")
    return replace(room, happened=tuple(Happening("out", other, "away") for other in absent))


def rematch(room: Room, player: Player, request: Rematch, now: int) -> Room:
    """Return the room with the player's agreement, the next game once all agree, or the same room for a repeat."""
    mark = room.require_mark(player)
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
    return replace(
        room,
        seq=room.seq + 1,
        game=room.game + 1,
        position=Position.start(rules),
        seats=seats,
        result=None,
        offers=_NO_OFFERS,
        asked={},
        happened=(),
        remaining_ms=full_clocks(room.clock, rules.marks),
        clock_started_at=None if room.clock is None else now,
        kept_at=0,
    )


def _swap_seats(room: Room) -> Room:
    first, second = tuple(room.rules.marks)
    change = {first: second, second: first}
    return replace(
        room,
        seats={mark: room.seats[change[mark]] for mark in room.seats},
        remaining_ms={mark: room.remaining_ms[change[mark]] for mark in room.remaining_ms},
        asked={f"{change[key[0]]}{key[1:]}": ply for key, ply in room.asked.items()},
    )


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


def leave(room: Room, player: Player, command: Leave, now: int) -> Room:
    """Return the room after the player and guests have left. Their seats become free only if no game has begun."""
    marks = room.marks_of(player.id)
    if not marks and is_guest(player.id):  # the guest has already left
        return room
    marks = marks or [room.require_mark(player)]
    gone_at = absent_without(room, marks)
    if room.status == "waiting":
        left = {room.seat(mark).player for mark in marks}
        score = {id: wins for id, wins in room.score.items() if id not in left}
        return with_seats(room, dict.fromkeys(marks), score=score, gone_at=gone_at)
    happened: tuple[Happening, ...] = ()
    for mark in marks:
        if room.status == "playing" and mark in room.position.active_marks:
            room = give_up(room, mark, now, "left")
            happened += room.happened
    draw, undo = (None, None) if room.status == "over" else (room.offers.draw, room.offers.undo)
    offers = Offers(draw=None if draw in marks else draw, undo=None if undo in marks else undo)
    departed = {mark: replace(room.seat(mark), online=False, left=True) for mark in marks}
    return with_seats(room, departed, offers=offers, gone_at=gone_at, happened=happened)


def offer(room: Room, player: Player, request: Draw | Undo, now: int) -> Room:
    """Return the room with a draw or undo offered, accepted, declined or withdrawn; the same room if repeated."""
    mark, position, is_draw = room.require_mark(player), room.position, isinstance(request, Draw)
    kind = "draw" if is_draw else "undo"
    key = f"{mark} {kind} {request.action}"
    if request.game == room.game and room.asked.get(key) == request.ply:
        return room
    check_game(room, request)
    room.check_active(mark)
    if len(position.active_marks if is_draw else room.rules.marks) > 2:
        raise Refused(ErrorCode.NOT_ALLOWED, kind)
    if request.action == "offer" and not (position.ply >= room.terms.draw_from if is_draw else room.terms.undo):
        raise Refused(ErrorCode.NOT_ALLOWED, f"{room.purpose.name} {kind}")
    if not is_draw and request.action == "offer" and position.opening is not None:
        raise Refused(ErrorCode.NOT_ALLOWED, "opening")
    if request.ply is not UNSET and request.ply != position.ply:
        raise Refused(ErrorCode.STALE, "position", path="ply", ply=request.ply, played=position.ply)
    after = _answer_offer(room, mark, kind, request.action, now)
    return room if after is room else replace(after, asked={**after.asked, key: position.ply})


def _answer_offer(room: Room, mark: str, kind: str, action: str, now: int) -> Room:
    """Return the room after a valid request. Offering a draw accepts the opponent's draw offer."""
    offered: str | None = getattr(room.offers, kind)
    if action == "offer":
        if offered == mark:
            return room
        if kind == "undo" and ply_before_last(room.position, mark) < 0:
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
    position = room.position.at(ply_before_last(room.position, offered))
    if room.clock is None or room.clock.move_ms:  # only a time for each move starts again in full
        left = full_clocks(room.clock, room.rules.marks)
    else:
        left = remaining_after_turn(room, now, has_moved=room.clock.counts_days)
    return turn_to(room, position, left, now, offers=Offers())


def _with_offer(room: Room, kind: str, mark: str | None, end: EndedOffer | None = None) -> Room:
    ended = {key: value for key, value in ((room.offers.ended or {}) | {kind: end}).items() if value is not None}
    # An answer to an earlier offer is none to this one.
    asked = {key: at for key, at in room.asked.items() if mark is None or f" {kind} " not in key or "offer" in key}
    return replace(room, offers=replace(room.offers, **{kind: mark}, ended=ended or UNSET), asked=asked)


def remaining_after_turn(room: Room, now: int, *, has_moved: bool = False) -> dict[str, int]:
    """Return the remaining time of each mark if the current turn ends now (ms)."""
    clock, turn = room.clock, room.position.turn
    started_at = now if room.stands_still else room.clock_started_at
    if clock is None or started_at is None or turn is None or is_first_move(room):
        return room.remaining_ms
    left = max(0, room.remaining_ms[turn] - max(0, now - started_at))
    if has_moved and clock.counts_days:
        left = min(left, (clock.bank_days or 0) * DAY_MS) + (clock.days or 0) * DAY_MS
    elif has_moved:
        left = clock.move_ms or left + (clock.increment_ms or 0)
    return {**room.remaining_ms, turn: left}


def turn_to(room: Room, position: Position, remaining_ms: dict[str, int], now: int, **changes: Any) -> Room:
    """Return the room with a new position, whose turn begins at `now`."""
    runs = room.clock is not None and position.turn is not None and not room.stands_still
    started_at = now if runs else None
    return replace(room, position=position, remaining_ms=remaining_ms, clock_started_at=started_at, **changes)


def stand_still(room: Room, now: int) -> Room:
    """Return the room with its clock stopped until `go_on`, if the room's terms allow it."""
    if not room.terms.stands_still or room.clock_started_at is None:
        return room
    return _step(room, replace(room, remaining_ms=remaining_after_turn(room, now), clock_started_at=None))


def go_on(room: Room, now: int) -> Room:
    """Return the room with its clock running again, with full time for a first move and with full holds."""
    if not room.stands_still:
        return room
    return _step(room, replace(room, clock_started_at=now, gone_at=dict.fromkeys(room.gone_at, now)))


_CARRY_OUT: Final[Mapping[type[Command], Callable[[Room, Player, Any, int], Room]]] = {
    Move: move,
    Choose: choose,
    Leave: leave,
    Resign: resign,
    Rematch: rematch,
    Draw: offer,
    Undo: offer,
    Claim: claim,
}
"""Each function returns the next room, or the same room if nothing changes."""


def apply(room: Room, player: Player, command: Command, now: int) -> Room:
    """Return the room after a command, or the same room if nothing changes. May raise `Refused`.

    `now` is in ms of served time.
    """
    after = _CARRY_OUT[type(command)](room, player, command, now)
    return after if after.seq != room.seq else _step(room, after)  # the frequent commands increment `seq` themselves


def _step(room: Room, after: Room) -> Room:
    """Return `after` with the next `seq` and only its own events, or the same room if nothing has changed."""
    if after is room:
        return room
    return replace(after, seq=room.seq + 1, happened=() if after.happened is room.happened else after.happened)
