"""Describes the events in a room in sentences, for all clients. Pure.

In every function, `viewer` is the public id of the player who reads the sentences, or "".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tictactoe_engine import format_cell
from tictactoe_engine.opening import MORE
from tictactoe_protocol.pushes import OUT_REASONS, RoomState
from tictactoe_protocol.text import clean_text
from tictactoe_words import happened
from tictactoe_words.catalogue import say
from tictactoe_words.happened import Change, is_draw, standing
from tictactoe_words.lines import describe_lines, describe_reach, split_lines
from tictactoe_words.wording import (
    describe_cell,
    describe_players,
    describe_reason,
    format_duration,
    join_words,
    name_of,
    seat_of,
)

_MOST_NAMED: Final = 6
"""Up to this number of moves, the moves that were taken back are named."""

_WHY_OVER: Final = frozenset({"full", "agreed", "claimed", "aborted"})


def announce(
    changes: Sequence[Change], viewer: str, *, sees_board: bool = False, after_loss: bool = False
) -> list[str]:
    """Return the sentences about events. A result shares a sentence with the move that caused it.

    Args:
        sees_board: Whether the viewer sees the board; events that the board shows are left out.
        after_loss: Whether the viewer's own connection was lost. Others are then called absent instead of disconnected,
            because the server may have been down for everyone.
    """
    if sees_board:
        begun = next((one for one in changes if isinstance(one, happened.Started) and one.old.game != one.game), None)
        seen = (happened.Missed, happened.Moved, happened.Ended)
        changes = [one for one in changes if not isinstance(one, seen)] if begun is None else [begun]
    told: list[str] = []
    last_move = ""
    for change in changes:
        sentence = tell(change, viewer, sees_board=sees_board, after_loss=after_loss)
        if isinstance(change, happened.Moved):
            last_move = sentence
        elif isinstance(change, happened.Ended) and change.result.reason in ("line", "full") and last_move:
            told.remove(last_move)
            sentence = f"{last_move} {sentence}"
        if sentence:
            told.append(sentence)
    return told


def announce_standing(state: RoomState, viewer: str, moves: Sequence[int] | None = None) -> list[str]:
    """Return sentences about a state for a newcomer: absent players, open offers, the end of the game."""
    told = announce(standing(state, moves), viewer, after_loss=True)
    return [say("game of room", n=state.game), *told] if state.game > 1 else told


def describe_result(state: RoomState, viewer: str) -> str:
    """Return sentences about the result of a game and how it ended: ``You lose. Row 1 is X X X.``"""
    return f"{describe_verdict(state, viewer)} {describe_why_over(state, viewer)}".strip()


def describe_verdict(state: RoomState, viewer: str) -> str:
    """Return a sentence about the winner or the viewer's own result, ``You lose.``, or "" before the end."""
    result, own = state.result, seat_of(state, viewer)
    if result is None:
        return ""
    if result.reason == "aborted":
        verdict = "aborted"
    elif result.winner is None:
        verdict = "draw" if is_draw(result) else "none"
    elif result.winner == own:
        verdict = "win"
    else:
        verdict = "lose" if own is not None and len(state.seats) == 2 else "wins"
    return say(f"verdict {verdict}", name=name_of(state, result.winner))


def describe_why_over(state: RoomState, viewer: str) -> str:
    """Return a sentence about how a game ended: ``Row 1 is X X X.``, ``bo resigns.``"""
    result = state.result
    if result is None:
        return ""
    loser = loser_of(state) if result.reason in ("resigned", "timeout", "forfeit") else None
    if result.reason == "line":
        if not state.rules.misere:
            return describe_lines(state)
        run = split_lines(result.line, state.rules.to_rules())[0]
        return _say_of(
            state, state.board[run[0]], "line loses", viewer, reach=describe_reach(run, state.rules.to_rules())
        )
    if result.reason in _WHY_OVER:
        return say(f"ended {result.reason}")
    if loser is not None:
        has_left = result.reason == "resigned" and _why_out(state, loser) == "left"
        deed = "left" if has_left else result.reason
        return _say_of(state, loser, f"ended {deed}", viewer)
    if result.reason in ("resigned", "timeout", "forfeit"):
        return say("ended nobody came" if result.reason == "forfeit" else "ended nobody left")
    return say("ended otherwise", reason=describe_reason(result.reason))


def describe_take_back(state: RoomState, asker: str, moves: Sequence[int] | None = None) -> str:
    """Return the moves that `asker`, a mark, would take back: ``B2 and C3``, or ``the last 2 moves`` if unknown."""
    count = happened.taken_back_by(state, asker)
    known = (state.last,) if state.last is not None else ()
    cells = (moves if moves is not None and len(moves) == state.ply else known)[-count:]
    return name_moves(cells if len(cells) == count else (), count, state)


def name_moves(cells: Sequence[int], count: int, state: RoomState) -> str:
    """Return the names of the cells of the last `count` moves, or their number if the cells are unknown."""
    rules = state.rules.to_rules()
    return join_words([format_cell(cell, rules) for cell in cells]) or say("last moves", n=count)


def loser_of(state: RoomState) -> str | None:
    """Return the only mark that lost, among the players who were not out before the end, or None."""
    result = state.result
    if result is None or result.winner is None:
        return None
    others = [mark for mark, seat in state.seats.items() if mark != result.winner and not (seat and seat.out)]
    return others[0] if len(others) == 1 else None


def tell(change: Change, viewer: str, *, sees_board: bool = False, after_loss: bool = False) -> str:
    """Return a sentence about an event, or "" if another event implies it or if the viewer is the one who came or left.

    For `sees_board` and `after_loss`, see `announce`.
    """
    state = change.state
    match change:
        case happened.Started(game):
            return say("game", n=game, players=describe_players(state, viewer)) if change.old.game != game else ""
        case happened.Missed():
            return _tell_missed(change)
        case happened.Chose():
            return _tell_choice(change, viewer)
        case happened.Moved(mark, cell):
            rules = state.rules.to_rules()
            if change.by:
                return _say_of(state, change.by, "places", viewer, cell=describe_cell(cell, rules), mark=mark)
            where = format_cell(cell, rules) if change.decides else describe_cell(cell, rules)
            return _say_of(state, mark, "plays", viewer, cell=where)
        case happened.TakenBack(count, cells, by):
            names = name_moves(cells, count, state) if cells and count <= _MOST_NAMED else ""
            if names and by is not None:
                return _say_of(state, by, "takes back", viewer, moves=names)
            return say("taken back" if names else "taken back unnamed", n=count, moves=names)
        case happened.PassedOver(mark):
            return _say_of(state, mark, f"out {_why_out(state, mark)}", viewer)
        case happened.Ended():
            return describe_result(state, viewer)
        case happened.Offered() | happened.Declined() | happened.Withdrawn() | happened.Lapsed():
            return _tell_offer(change, viewer)
        case happened.Left():
            return "" if change.seat.player == viewer else _tell_left(change)
        case happened.Joined(mark) | happened.Renamed(mark) | happened.Returned(mark) | happened.Dropped(mark):
            seat = state.seats[mark]
            if seat is None or seat.player == viewer:
                return ""
    name, is_beginning = name_of(state, mark), state.game == 1 and not state.ply  # when a seat may be reserved
    match change:
        case happened.Joined():
            return say("joins", name=name, mark=mark)
        case happened.Renamed(_, before):
            return say("renamed", before=clean_text(before), name=name)
        case happened.Dropped(_, hold_ms):
            is_held = hold_ms and not sees_board and state.status == "playing"
            held = f" {say('held', time=format_duration(hold_ms or 0))}" if is_held else ""
            is_absent = after_loss or (bool(state.event) and is_beginning)
            return say("not here" if is_absent else "dropped", name=name) + held
    return say("is here" if is_beginning else "back", name=name)


def _tell_choice(choice: happened.Chose, viewer: str) -> str:
    state, mark, take = choice.state, choice.mark, choice.take
    other = next((one for one in state.seats if one != mark), mark)
    places = {"take": take, "other": name_of(state, other), "mark": other}
    id = "chose swap" if choice.swaps else "chose more" if take == MORE else "chose stay"
    if other == seat_of(state, viewer) and id != "chose stay":
        return say(f"{id}, them", name=name_of(state, mark), **places)
    return _say_of(state, mark, id, viewer, **places)


def _tell_missed(missed: happened.Missed) -> str:
    first, last, winner = missed.first_game, missed.last_game, missed.winner
    if first < last:
        return say("missed games", first=first, last=last)
    if winner is not None:
        return say("missed won", n=first, name=name_of(missed.old, winner))
    return say("missed draw" if missed.is_draw else "missed no winner", n=first)


def _tell_offer(
    change: happened.Offered | happened.Declined | happened.Withdrawn | happened.Lapsed, viewer: str
) -> str:
    state, by, kind = change.state, change.by, change.kind
    match change:
        case happened.Offered("draw"):
            return _say_of(state, by, "offers draw", viewer)
        case happened.Offered("undo", _, count, cells):
            return _say_of(state, by, "asks undo", viewer, moves=name_moves(cells, count, state))
        case happened.Offered():
            return _say_of(state, by, "asks rematch", viewer)
        case happened.Declined():
            return _say_of(state, by, f"declines {kind}", viewer)
        case happened.Withdrawn():
            return _say_of(state, by, f"withdraws {kind}", viewer)
        case happened.Lapsed(cause="taking back"):
            return say(f"lapses {kind} by undo")
        case happened.Lapsed(mover=str(mover)):
            return _say_of(state, mover, f"lapses {kind}", viewer)
    return say(f"off {kind}")


def _tell_left(left: happened.Left) -> str:
    state, old, mark = left.state, left.old, left.mark
    if left.frees:
        free = f" {say('seat free', mark=mark)}" if state.seats.get(mark) is None else ""
        return say("left seat", name=name_of(old, mark)) + free
    before = old.seats.get(mark)
    is_just_out = left.seat.out and not (before is not None and before.out)
    is_just_over = old.result is None and state.result is not None and state.result.reason == "resigned"
    if is_just_out or (is_just_over and mark == loser_of(state)):
        return ""
    return say("left room" if state.status == "over" else "left game", name=name_of(state, mark))


def _why_out(state: RoomState, mark: str) -> str:
    """Return why a player is out of the game: the reason in the state, or else the one that seat and clock suggest."""
    for one in state.news:
        if one.type == "out" and one.mark == mark and one.why in OUT_REASONS:
            return str(one.why)
    seat = state.seats[mark]
    if seat is not None and seat.left:
        return "left"
    if state.clock is not None and state.clock.remaining_ms.get(mark) == 0:
        return "late"
    return "away" if seat is not None and not seat.online and seat.hold_ms == 0 else "resigned"


def _say_of(state: RoomState, mark: str, id: str, viewer: str, /, **places: Any) -> str:
    """Return the sentence `id` about the player with `mark`, in its form with "you" if that is the viewer."""
    id = f"{id}, you" if mark == seat_of(state, viewer) else id
    return say(id, name=name_of(state, mark), **places)
