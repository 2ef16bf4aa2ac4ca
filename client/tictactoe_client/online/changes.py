"""What two states of a room say about what happened between them, and about the moves that led there. Pure.

A state has the board and the last move alone; one after another they tell the moves in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Literal

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_client.online import events
from tictactoe_engine import BLOCKED, FREE, IllegalMove, Position
from tictactoe_protocol.pushes import RESULT_REASONS, Offers, Result, RoomState

_NOBODYS = FREE + BLOCKED


def changes(
    old: RoomState, new: RoomState, *, moves: Sequence[int] | None = None, before: Sequence[int] | None = None
) -> list[events.Change]:
    """Return what happened between two states of one room: every event once, in the order in which it is told.

    `moves` are all cells of the new state's game and `before` those of the old one's; None where they are not known.
    """
    started = events.Started(new.game, old=old, state=new)
    start = old if new.game == old.game else _before_first_move(old, new)
    if start is not old:
        begin = [*_missed_games(old, new), started, *_arrivals(start, new)]
    else:
        is_start = old.status == "waiting" != new.status
        begin = [*_arrivals(old, new), *((started,) if is_start else ())]
    play = _play(start, new, before, moves)
    is_taken_back = any(isinstance(change, events.TakenBack) for change in play)
    return [*begin, *play, *_departures(start, new), *_offers(start, new, moves, is_taken_back=is_taken_back)]


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
        if before is not None and before.player == seat.player:
            if before.name != seat.name:
                yield events.Renamed(mark, before.name, old=old, state=new)
            if seat.online and not before.online:
                yield events.Returned(mark, old=old, state=new)
            continue
        if before is not None:
            yield events.Left(mark, before, frees=True, old=old, state=new)
        yield events.Joined(mark, old=old, state=new)


def _order(
    known: Sequence[int] | None, state: RoomState, other: RoomState, guide: Sequence[int] | None
) -> Sequence[int]:
    """Return the cells of a state's game as they were played, or as far as boards tell that where it is not known.

    Then those come first that lie on the other state's board as well, as `guide` has them: as never taken back.
    """
    if known is not None and len(known) == state.ply:
        return known
    places = {cell: number for number, cell in enumerate(guide or ())}

    def place(cell: int) -> tuple[bool, int]:
        is_new = state.board[cell] != other.board[cell]
        return is_new, cell == state.last if is_new else places.get(cell, cell)

    return sorted((cell for cell, mark in enumerate(state.board) if mark not in _NOBODYS), key=place)


def _play(
    old: RoomState, new: RoomState, before: Sequence[int] | None, moves: Sequence[int] | None
) -> list[events.Change]:
    """Return what happened on the board, who was passed over, and how it ended."""
    told: list[events.Change] = []
    laid = _order(before, old, new, moves)
    lies = _order(moves, new, old, laid)
    pairs = enumerate(zip(laid, lies, strict=False))
    kept = next((count for count, (one, other) in pairs if one != other), min(len(laid), len(lies)))
    if taken := tuple(laid[kept:]):
        asker = old.offers.undo if new.seq <= old.seq + 1 else None
        named = taken if laid is before or len(taken) <= 2 else ()
        told.append(events.TakenBack(len(taken), named, asker, old=old, state=new))
    result = new.result if old.result is None else None
    for ply, cell in enumerate(lies[kept:], kept + 1):
        decides = result is not None and cell in result.line and ply == new.ply
        told.append(events.Moved(new.board[cell], cell, ply, decides, old=old, state=new))
    for mark, seat in new.seats.items():
        was = old.seats.get(mark)
        if seat is not None and seat.out and (was is None or not was.out):
            told.append(events.PassedOver(mark, old=old, state=new))
    if result is not None:
        told.append(events.Ended(result, old=old, state=new))
    return told


def _departures(old: RoomState, new: RoomState) -> Iterator[events.Change]:
    """Yield who left or dropped."""
    for mark, seat in new.seats.items():
        before = old.seats.get(mark)
        if seat is None and before is not None:
            yield events.Left(mark, before, frees=True, old=old, state=new)
        if seat is None or (before is not None and before.left):
            continue
        if seat.left:
            yield events.Left(mark, seat, frees=False, old=old, state=new)
        elif not seat.online and (before is None or before.player != seat.player or before.online):
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
    is_next, mover = new.seq <= old.seq + 1, new.board[new.last] if new.last is not None and new.ply > old.ply else None
    if is_next and is_taken_back:
        return events.Lapsed(kind, offerer, "taking back", old=old, state=new)
    if is_next and mover is not None and (mover != offerer or kind == "undo"):
        return events.Lapsed(kind, offerer, "move", mover, old=old, state=new)
    return events.Lapsed(kind, offerer, "unknown", old=old, state=new)


def follow_moves(moves: tuple[int, ...], old: RoomState | None, new: RoomState) -> tuple[int, ...]:
    """Return all cells played in the new state's game, `moves` being those of the old one's, as far as can be told."""
    if old is not None and old.game == new.game:
        before, board = old.board, new.board
        moves = tuple([cell for cell in moves if before[cell] == board[cell]])
    elif old is not None:
        moves = ()
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
    """Return the position of a state whose moves these are, or None where they do not lead to its board."""
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
