"""What two states of a room say about what happened between them, and about the moves that led there. Pure.

A state has the board and the last move alone; one after another they tell the moves in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Literal

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_client.online import events
from tictactoe_engine import BLOCKED, FREE, IllegalMove, Position
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RESULT_REASONS, Offers, Result, RoomState

_NOBODYS = FREE + BLOCKED


def changes(
    old: RoomState, new: RoomState, *, moves: Sequence[int] | None = None, before: Sequence[int] | None = None
) -> list[events.Change]:
    """Return what happened between two states of one room: every event once, in the order in which it is told.

    `moves` are all cells of the new state's game and `before` those of the old one's; None where they are not known.
    """
    begin: list[events.Change] = [events.Started(new.game, old=old, state=new)]
    if new.game != old.game:
        start = _before_first_move(old, new)
        begin = [*_missed_games(old, new), *begin, *_arrivals(start, new)]
    else:
        start = old
        is_start = old.status == "waiting" and new.status == "playing"
        begin = [*_arrivals(old, new), *(begin if is_start else ())]
    kept = count_kept(start, new, moves, before)
    return [
        *begin,
        *_play(start, new, moves, kept, before),
        *_departures(start, new),
        *_offers(start, new, moves, is_taken_back=kept < start.ply),
    ]


def standing(state: RoomState, moves: Sequence[int] | None = None) -> list[events.Change]:
    """Return what one who comes now must know beside players and moves: who is away, what is offered, the end."""
    seats = {mark: seat and replace(seat, online=True, left=False, out=False) for mark, seat in state.seats.items()}
    return changes(replace(state, seats=seats, offers=Offers(), result=None), state, moves=moves, before=moves)


def is_draw(result: Result) -> bool:
    """Tell whether a game that is over is a draw: not one that was aborted, or ended as only newer servers know."""
    return result.winner is None and result.reason in RESULT_REASONS and result.reason != "aborted"


def _missed_games(old: RoomState, new: RoomState) -> Iterator[events.Change]:
    """Yield which games' ends were not seen; how a single one ended shows in the score."""
    first, last = old.game + 1 if old.status == "over" else old.game, new.game - 1
    if first > last:
        return
    latest = None
    if new.result is not None:
        seat = new.seats.get(new.result.winner or "")
        latest = "draws" if is_draw(new.result) else seat.player if seat is not None else None

    def has_gained(who: str) -> bool:
        return first == last and new.score.get(who, 0) - (who == latest) > old.score.get(who, 0)

    winner = next((mark for mark, seat in old.seats.items() if seat is not None and has_gained(seat.player)), None)
    yield events.Missed(first, last, winner, winner is None and has_gained("draws"), old=old, state=new)


def _before_first_move(old: RoomState, new: RoomState) -> RoomState:
    """Return the new state's game at its start, with the players as the old state had them."""
    board = "".join(BLOCKED if mark == BLOCKED else FREE for mark in new.board)
    known = {seat.player: replace(seat, out=False) for seat in old.seats.values() if seat is not None}
    seats = {mark: known.get(seat.player, seat) if seat is not None else None for mark, seat in new.seats.items()}
    return replace(
        new, seq=old.seq, board=board, ply=0, last=None, result=None, status="playing", seats=seats, offers=Offers()
    )


def _arrivals(old: RoomState, new: RoomState) -> Iterator[events.Change]:
    """Yield who sat down, came back, or goes by another name."""
    for mark, seat in new.seats.items():
        before = old.seats.get(mark)
        if seat is None:
            continue
        if before is None or before.player != seat.player:
            if before is not None:
                yield events.Left(mark, before, frees=True, old=old, state=new)
            yield events.Joined(mark, old=old, state=new)
            continue
        if clean_text(before.name) != clean_text(seat.name):
            yield events.Renamed(mark, before.name, old=old, state=new)
        if seat.online and not before.online:
            yield events.Returned(mark, old=old, state=new)


def _play(
    old: RoomState, new: RoomState, moves: Sequence[int] | None, kept: int, before: Sequence[int] | None
) -> Iterator[events.Change]:
    """Yield what happened on the board after the first `kept` moves, who was passed over, and how it ended."""
    if count := max(0, old.ply - kept):
        asker = old.offers.undo if new.seq <= old.seq + 1 else None
        yield events.TakenBack(count, _cells_taken_back(old, new, kept, before), asker, old=old, state=new)
    played = _cells_since(kept, old, new, moves)
    result = new.result if old.result is None else None
    for ply, cell in enumerate(played, new.ply - len(played) + 1):
        decides = result is not None and cell in result.line and ply == new.ply
        yield events.Moved(new.board[cell], cell, ply, decides, old=old, state=new)
    for mark, seat in new.seats.items():
        was = old.seats.get(mark)
        if seat is not None and seat.out and (was is None or not was.out):
            yield events.PassedOver(mark, old=old, state=new)
    if result is not None:
        yield events.Ended(result, old=old, state=new)


def _cells_since(kept: int, old: RoomState, new: RoomState, moves: Sequence[int] | None) -> list[int]:
    """Return the cells played after the first `kept` moves in their order, as far as it can be known."""
    if new.last is None or new.ply <= kept:
        return []
    if new.ply == kept + 1:
        return [new.last]
    if moves is not None and len(moves) >= new.ply:
        return list(moves[kept : new.ply])
    fresh = [cell for cell, mark in enumerate(new.board) if mark != old.board[cell] and cell != new.last]
    return [*fresh, new.last]


def _cells_taken_back(old: RoomState, new: RoomState, kept: int, before: Sequence[int] | None) -> tuple[int, ...]:
    """Return the cells that were taken back, as they were played; none where that is not known."""
    count = old.ply - kept
    if before is not None and len(before) == old.ply:
        return tuple(before[kept:])
    cleared = _cleared(old, new)
    if len(cleared) != count or count > 2 or old.last not in cleared:
        return ()
    return tuple(sorted(cleared, key=lambda cell: cell == old.last))


def _departures(old: RoomState, new: RoomState) -> Iterator[events.Change]:
    """Yield who left or dropped."""
    for mark, seat in new.seats.items():
        before = old.seats.get(mark)
        if seat is None:
            if before is not None:
                yield events.Left(mark, before, frees=True, old=old, state=new)
            continue
        was_here = before is None or before.player != seat.player or before.online
        if before is not None and before.left:
            continue
        if seat.left:
            yield events.Left(mark, seat, frees=False, old=old, state=new)
        elif not seat.online and was_here:
            hold_ms = seat.hold_ms if isinstance(seat.hold_ms, int) else None
            yield events.Dropped(mark, hold_ms, old=old, state=new)


def _offers(
    old: RoomState, new: RoomState, moves: Sequence[int] | None, *, is_taken_back: bool
) -> Iterator[events.Change]:
    """Yield which offers were made, and which came to nothing; what was agreed shows in the game itself."""
    kinds: tuple[Literal["draw", "undo"], ...] = ("draw", "undo")
    for kind in kinds:
        offerer: str | None = getattr(old.offers, kind)
        now: str | None = getattr(new.offers, kind)
        is_granted = new.result is not None or (is_taken_back and kind == "undo")
        if now is not None and now != offerer:
            count = 0 if kind == "draw" else 1 if new.last is not None and new.board[new.last] == now else 2
            known = moves if moves is not None and len(moves) == new.ply else () if new.last is None else (new.last,)
            cells = tuple(known[-count:]) if 0 < count <= len(known) else ()
            yield events.Offered(kind, now, count, cells, old=old, state=new)
        elif offerer is not None and now is None and not is_granted:
            yield _how_it_ended(old, new, kind, offerer, is_taken_back=is_taken_back)
    for mark in new.offers.rematch:
        if mark not in old.offers.rematch:
            yield events.Offered("rematch", mark, old=old, state=new)


def _how_it_ended(
    old: RoomState, new: RoomState, kind: Literal["draw", "undo"], offerer: str, *, is_taken_back: bool
) -> events.Change:
    if new.offers.ended is not UNSET and (ended := new.offers.ended.get(kind)):
        return (events.Withdrawn if ended.how == "withdrawn" else events.Declined)(kind, ended.by, old=old, state=new)
    mover = new.board[new.last] if new.last is not None and new.ply > old.ply else None
    if new.seq <= old.seq + 1:
        if is_taken_back:
            return events.Lapsed(kind, offerer, "taking back", old=old, state=new)
        if mover is not None and (mover != offerer or kind == "undo"):
            return events.Lapsed(kind, offerer, "move", mover, old=old, state=new)
    return events.Lapsed(kind, offerer, "unknown", old=old, state=new)


def count_kept(
    old: RoomState, new: RoomState, moves: Sequence[int] | None = None, before: Sequence[int] | None = None
) -> int:
    """Return how many of the old state's moves still lie on the new one's board, in a state of the same game.

    Where the moves of both are not known, those that were taken back and made again count as kept.
    """
    if moves is not None and before is not None and len(before) == old.ply:
        pairs = zip(before, moves, strict=False)
        return next((count for count, (one, other) in enumerate(pairs) if one != other), min(len(before), len(moves)))
    return old.ply - len(_cleared(old, new))


def _cleared(old: RoomState, new: RoomState) -> list[int]:
    """Return the cells of the old board whose marks are not on the new one."""
    return [cell for cell, mark in enumerate(old.board) if mark not in _NOBODYS and mark != new.board[cell]]


def follow_moves(moves: tuple[int, ...], old: RoomState | None, new: RoomState) -> tuple[int, ...]:
    """Return all cells played in the new state's game, `moves` being those of the old one's, as far as can be told."""
    if old is not None:
        moves = moves[: count_kept(old, new)] if old.game == new.game else ()
    if new.ply == len(moves) + 1 and new.last is not None:
        moves = (*moves, new.last)
    return moves[: new.ply]


def fits(moves: Sequence[int], state: RoomState) -> bool:
    """Tell whether these can be the moves of a state: so many, on these cells, the last one last."""
    if len(moves) != state.ply or (moves[-1] if moves else None) != state.last:
        return False
    played = {cell for cell, mark in enumerate(state.board) if mark not in _NOBODYS}
    return len(set(moves)) == len(moves) and played.issuperset(moves)


def position_after(state: RoomState, moves: Sequence[int]) -> Position | None:
    """Return the position of a state whose moves these are, or None where they do not lead to its board.

    A state says who was passed over, but not when: they are so from where it shows.
    """
    rules = state.rules.to_rules()
    out = {mark for mark, seat in state.seats.items() if seat is not None and seat.out}
    try:
        position = _play_without(state, moves, Position.start(rules), out) if out else Position.replay(rules, moves)
    except (IndexError, IllegalMove, ValueError):
        return None
    return position if position.board == state.board else None


def _play_without(state: RoomState, moves: Sequence[int], position: Position, out: Set[str]) -> Position:
    """Return the position after these moves with whoever did not move in turn passed over, in the end all of `out`."""
    for cell in moves:
        while position.turn not in (state.board[cell], None):
            position = position.pass_over(str(position.turn))
        following = position.play(cell)
        position = _pass_over(position, out).play(cell) if following.outcome else following
    return position if position.outcome else _pass_over(position, out)


def _pass_over(position: Position, marks: Set[str]) -> Position:
    for mark in position.active_marks:
        if mark in marks and len(position.active_marks) > 2:
            position = position.pass_over(mark)
    return position
