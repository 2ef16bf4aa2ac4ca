"""What stands beside the board: who plays, the clocks, how it ended, the moves and the talk. Pure.

What there is no room for goes: the talk first, then the moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from tictactoe_client.board.board import mark_role
from tictactoe_client.board.glyphs import draw_words
from tictactoe_client.input.past import list_rounds
from tictactoe_client.input.record import describe_end, list_facts
from tictactoe_client.tui.picture import fold, measure, shorten, wrap
from tictactoe_client.tui.room.banners import Text
from tictactoe_client.tui.room.ending import sum_up_end
from tictactoe_client.tui.room.table import Table
from tictactoe_engine import format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.wording import describe_tally, format_duration

MAX_WIDTH: Final = 52
"""No wider, so that a clock stands near its player's name."""
_FEWEST_MOVE_LINES: Final = 2
_URGENT_MS: Final = 10_000

Line = Sequence[Text]
"""The texts of a line, one after the other."""


def fill_panel(
    table: Table, state: RoomState, width: int, height: int, now: float, worth: Sequence[str] = (), *, ascii_only: bool
) -> tuple[list[Line], list[str]]:
    """Return at most so many lines, and for each line of the talk among them what it is a part of.

    The `state` is the newest one, and `worth` says what moves are worth.
    """
    lines = [_describe_player(mark, table, state, width, now, ascii_only=ascii_only) for mark in state.rules.marks]
    lines += [((line, "dim"),) for line in _list_facts(table, state, width)]
    lines.append(((("-" if ascii_only else "─") * width, "dim"),))
    lines += _list_end(table, width, height - len(lines), ascii_only=ascii_only)
    lines = [*lines, *(((shorten(line, width), ""),) for line in worth)][: max(0, height)]
    count, talk = _share_out(table, state, width, max(0, height - len(lines)))
    lines += _list_moves(count, table, state)
    if talk:
        lines += [(), *(((part, ""),) for _, part in talk)]
    return lines, [line for line, _ in talk]


def shows_talk(talk: Sequence[str], heard: Sequence[str], width: int) -> bool:
    """Tell whether the talk of a panel so wide has all that was heard in full."""
    return all(talk.count(line) >= len(wrap(line, width)) * heard.count(line) for line in heard)


def list_players(table: Table, state: RoomState, width: int, now: float, *, ascii_only: bool) -> Line:
    """Return who plays, whose move it is and the clocks in one line of about this width."""
    parts: list[Text] = []
    share = max(3, width // len(state.rules.marks) - 2)
    for mark in state.rules.marks:
        name, clock, runs, role = _look_at(mark, table, state, now)
        arrow = (">" if ascii_only else "▶") if runs else ""
        space = share - measure(arrow) - measure(clock) - 3
        text = " ".join(part for part in (shorten(name, space) if space > 1 else "", clock) if part)
        gap = "  " if parts else ""
        parts += [(gap, ""), (arrow, "title"), (mark, mark_role(mark, state.rules.to_rules(), strong=runs))]
        parts.append((f" {text}", role if role != "dim" else ""))
    return parts


def _look_at(mark: str, table: Table, state: RoomState, now: float) -> tuple[str, str, bool, str]:
    """Return the name on a seat, what its clock shows, whether it is its turn, and the role of the clock."""
    seat, left, runs = state.seats.get(mark), table.remaining_ms(mark, now), state.turn == mark
    clock = "" if left is None else format_duration(left)
    role = "dim" if not runs else "bad" if left is not None and left < _URGENT_MS else "title"
    return clean_text(seat.name) if seat is not None else "(free)", clock, runs, role


def _describe_player(mark: str, table: Table, state: RoomState, width: int, now: float, *, ascii_only: bool) -> Line:
    name, clock, runs, role = _look_at(mark, table, state, now)
    seat, notes = state.seats.get(mark), ""
    if seat is not None and seat.player == table.room.viewer and not seat.left:
        notes = "(you) (out)" if seat.out else "(you)"
    elif seat is not None:
        notes = "(left)" if seat.left else "(out)" if seat.out else "" if seat.online else "(away)"
    right = f"{'>' if ascii_only else '▶'} {clock}".rstrip() if runs else clock
    name = shorten(name, max(4, width - 7 - measure(notes) - measure(clock)))
    space = max(0, width - 4 - measure(name) - measure(notes) - measure(right))
    mark_part = mark, mark_role(mark, state.rules.to_rules(), strong=runs)
    return (
        mark_part,
        ("  ", ""),
        (name, "title" if runs else ""),
        (f" {notes}", "dim"),
        (" " * space, ""),
        (right, role),
    )


def _list_facts(table: Table, state: RoomState, width: int) -> list[str]:
    """Return what is said below the players: the score of the evening, or what a record says of its game."""
    if table.record is not None:
        facts = ", ".join(_local_time(fact) for fact in list_facts(table.record))
        return [line for text in (facts, describe_end(table.record)) if text for line in wrap(text, width)]
    has_tally = state.game > 1 or any(state.score.values())
    return [shorten(f"Game {state.game}. {describe_tally(state)}", width)] if has_tally else []


def _local_time(fact: str) -> str:
    """Return a moment as this machine's clock would show it; a mere date, and whatever is no date, as it is."""
    try:
        return datetime.fromisoformat(fact).astimezone().strftime("%Y-%m-%d %H:%M") if "T" in fact else fact
    except (ValueError, OverflowError):
        return fact


def _list_end(table: Table, width: int, height: int, *, ascii_only: bool) -> list[Line]:
    """Return the lines of the end, with an empty one below; none before, or without room for them."""
    if table.situation != "over" or table.actions.timeline.is_back:
        return []
    words, role = sum_up_end(table)
    large = draw_words(words, width, ascii_only=ascii_only)
    told = fold(table.turning_point, width, 3) if table.turning_point else []
    ways = ([*large, *([""] if told else []), *told], large, told)
    found = next((lines for lines in ways if lines and len(lines) + _FEWEST_MOVE_LINES < height), None)
    return [] if found is None else [*(((line, role),) for line in found), ()]


def _share_out(table: Table, state: RoomState, width: int, room: int) -> tuple[int, list[tuple[str, str]]]:
    """Return how many lines are for moves and, each with what it is a part of, those of the talk beneath them.

    The talk is cut at its beginning; what a record notes is, where it is too long, at its end.
    """
    talk = [(line, part) for line in table.talk for part in wrap(line, width)]
    moves = len(list_rounds(state, table.room.moves))
    for_talk = min(len(talk), max(0, room - min(moves, max(_FEWEST_MOVE_LINES, room // 2)) - 1))
    for_moves = min(moves, room - (for_talk + 1 if for_talk else 0))
    if table.record is None or for_talk == len(talk):
        return for_moves, talk[len(talk) - for_talk :]
    cut = talk[:for_talk]
    return for_moves, [*cut[:-1], *((line, f"{part[:-1]}…") for line, part in cut[-1:])]


def _list_moves(count: int, table: Table, state: RoomState) -> list[Line]:
    """Return so many rounds around the moment that is looked at."""
    timeline, moves, rules = table.actions.timeline, table.room.moves, state.rules.to_rules()
    rounds, here = list_rounds(state, moves), timeline.here
    column = 4 + max(len(format_cell(rules.size - 1, rules)), 2)
    current = next((number for number, plies in enumerate(rounds) if here in plies), 0 if here == 0 else len(rounds))
    start = max(0, min(current - count // 2, len(rounds) - count))
    marks_here = timeline.is_back or table.record is not None
    found = table.actions.judge.found if table.review.is_on and table.actions.judge is not None else ()
    lines: list[Line] = []
    for number in range(start, start + count):
        is_here = marks_here and here in rounds[number]
        sign = ">" if is_here else " " if marks_here else ""
        parts = [(f"{sign}{number + 1:>{len(str(len(rounds)))}}. ", "dim")]
        for ply in rounds[number]:
            text = f"{state.board[moves[ply - 1]]} {format_cell(moves[ply - 1], rules)}{'?' if ply in found else ''}"
            parts.append((text.ljust(column), "title" if is_here and ply == here else "dim" if ply > here else ""))
        lines.append(parts)
    return lines
