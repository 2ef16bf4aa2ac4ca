"""What stands beside the board: the players with their clocks, the moves, and what was said. Pure.

What does not fit goes in this order: the talk first, then the moves. Where there is no room beside the board at all,
`paint_players` puts who plays and the clocks into one line.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tictactoe_client.board.board import mark_role
from tictactoe_client.board.glyphs import draw_words
from tictactoe_client.input.past import list_rounds
from tictactoe_client.input.record import describe_end, list_facts
from tictactoe_client.text.wording import describe_tally, format_duration
from tictactoe_client.tui.picture import Picture, fold, measure, shorten, wrap
from tictactoe_client.tui.room.foot import sum_up_end
from tictactoe_client.tui.room.table import Table
from tictactoe_engine import format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState

MIN_WIDTH = 24
MAX_WIDTH = 52
"""No wider, so that a clock stands near its player's name."""

_FEWEST_MOVE_LINES = 2


def paint_panel(
    picture: Picture,
    x: int,
    y: int,
    height: int,
    table: Table,
    now: float,
    worth: Sequence[str] = (),
    *,
    ascii_only: bool,
) -> None:
    """Draw the panel from here, to the right edge where that is near; `worth` says what moves are worth."""
    state = table.state
    if state is None:
        return
    width = min(MAX_WIDTH, picture.width - x - 1)
    bottom = y + height
    for mark in state.rules.marks[:height]:
        _paint_player(picture, x, y, width, mark, table, now, ascii_only=ascii_only)
        y += 1
    for line in _list_facts(table, state, width)[: max(0, bottom - y)]:
        picture.put(x, y, line, "dim")
        y += 1
    if y < bottom:
        picture.put(x, y, ("-" if ascii_only else "─") * width, "dim")
    y += 1
    ended, role = _list_end(table, width, bottom - y, ascii_only=ascii_only)
    for line in ended:
        picture.put(x, y, line, role)
        y += 1
    for line in worth[: max(0, bottom - y)]:
        picture.put(x, y, shorten(line, width))
        y += 1
    for_moves, talk = _share_out(table, state, width, bottom - y)
    y = _paint_moves(picture, x, y, width, for_moves, table, state)
    for number, (_, part) in enumerate(talk, y + 1):
        picture.put(x, number, part)


def _list_end(table: Table, width: int, height: int, *, ascii_only: bool = False) -> tuple[list[str], str]:
    """Return the lines of the end, with an empty one below, and their role; none before, or without room for them."""
    if table.state is None or table.state.result is None or table.record is not None or table.timeline.is_back:
        return [], ""
    words, role = sum_up_end(table)
    large = draw_words(words, width, ascii_only=ascii_only)
    told = fold(table.turning_point, width, 3) if table.turning_point else []
    for lines in ([*large, *([""] if told else []), *told], large, told):
        if lines and len(lines) + _FEWEST_MOVE_LINES < height:
            return [*lines, ""], role
    return [], ""


def _share_out(table: Table, state: RoomState, width: int, room: int) -> tuple[int, list[tuple[str, str]]]:
    """Return how many lines are for moves and, each with what it is a part of, those of the talk beneath them.

    The talk is cut at its beginning; what a record notes is, where it is too long, at its end.
    """
    talk = [(line, part) for line in table.talk for part in wrap(line, width)]
    moves, room = len(list_rounds(state, table.moves)), max(0, room)
    for_talk = min(len(talk), max(0, room - min(moves, max(_FEWEST_MOVE_LINES, room // 2)) - 1))
    for_moves = min(moves, room - (for_talk + 1 if for_talk else 0))
    if table.record is None or for_talk == len(talk):
        return for_moves, talk[len(talk) - for_talk :]
    cut = talk[:for_talk]
    return for_moves, [*cut[:-1], *((line, f"{part[:-1]}…") for line, part in cut[-1:])]


def _paint_moves(picture: Picture, x: int, y: int, width: int, count: int, table: Table, state: RoomState) -> int:
    """Draw so many rounds around the moment that is looked at; return the line below."""
    rounds, rules, here = list_rounds(state, table.moves), state.rules.to_rules(), table.timeline.here
    column = 4 + max(len(format_cell(rules.size - 1, rules)), 2)
    digits = len(str(len(rounds)))
    current = next((number for number, plies in enumerate(rounds) if here in plies), 0 if here == 0 else len(rounds))
    start = max(0, min(current - count // 2, len(rounds) - count))
    marks_here = table.timeline.is_back or table.record is not None
    judge = table.actions.judge if table.review.is_on else None
    for number in range(start, start + count):
        is_here = marks_here and here in rounds[number]
        end = picture.put(x, y, f"{'>' if is_here else ' ' if marks_here else ''}{number + 1:>{digits}}. ", "dim")
        for ply in rounds[number]:
            cell = table.moves[ply - 1]
            text = f"{state.board[cell]} {format_cell(cell, rules)}{'?' if judge and ply in judge.found else ''}"
            role = "title" if is_here and ply == here else "dim" if ply > here else ""
            end = picture.put(end, y, text.ljust(column), role, until=x + width)
        y += 1
    return y


def shows_talk(width: int, height: int, table: Table, worth: Sequence[str], heard: Sequence[str]) -> bool:
    """Tell whether a panel of this size, at most so wide, shows these lines of the talk in full."""
    state = table.state
    if state is None:
        return False
    width = min(MAX_WIDTH, width)
    above = len(state.rules.marks) + len(_list_facts(table, state, width)) + 1
    above += len(_list_end(table, width, height - above)[0]) + len(worth)
    _, talk = _share_out(table, state, width, height - above)
    shown = [line for line, _ in talk]
    return all(shown.count(line) >= len(wrap(line, width)) * heard.count(line) for line in heard)


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


def _paint_player(
    picture: Picture, x: int, y: int, width: int, mark: str, table: Table, now: float, *, ascii_only: bool
) -> None:
    state = table.state
    assert state is not None
    seat = state.seats.get(mark)
    clock, urgent = _clock(table, mark, now)
    runs = state.turn == mark
    arrow = (">" if ascii_only else "▶") if runs else " "
    name = clean_text(seat.name) if seat is not None else "(free)"
    notes = ""
    if seat is not None and seat.player == table.viewer and not seat.left:
        notes = "(you) (out)" if seat.out else "(you)"
    elif seat is not None and seat.left:
        notes = "(left)"
    elif seat is not None and seat.out:
        notes = "(out)"
    elif seat is not None and not seat.online:
        notes = "(away)"
    picture.put(x, y, mark, mark_role(mark, state.rules.to_rules(), strong=runs))
    space = width - 3 - measure(notes) - 1 - measure(clock) - 3
    picture.put_parts(x + 3, y, (shorten(name, max(4, space)), "title" if runs else ""), (f" {notes}", "dim"))
    right = f"{arrow} {clock}".rstrip()
    picture.put(x + width - measure(right), y, right, "bad" if urgent else "title" if runs else "dim")


def paint_players(picture: Picture, y: int, width: int, table: Table, now: float, *, ascii_only: bool) -> None:
    """Draw who plays, whose move it is and the clocks in one line of at most this width."""
    state = table.state
    if state is None:
        return
    x, share = 1, max(3, width // len(state.rules.marks) - 2)
    for mark in state.rules.marks:
        seat = state.seats.get(mark)
        clock, urgent = _clock(table, mark, now)
        runs = state.turn == mark
        arrow = (">" if ascii_only else "▶") if runs else ""
        space = share - measure(arrow) - measure(clock) - 3
        name = shorten(clean_text(seat.name) if seat is not None else "(free)", space) if space > 1 else ""
        text = " ".join(part for part in (name, clock) if part)
        role = mark_role(mark, state.rules.to_rules(), strong=runs)
        parts = (arrow, "title"), (mark, role), (f" {text}", "bad" if urgent else "title" if runs else "")
        x = picture.put_parts(x, y, *parts, until=width) + 2


def _clock(table: Table, mark: str, now: float) -> tuple[str, bool]:
    """Return what a clock shows, empty without clocks, and whether it is about to run out."""
    left = table.remaining_ms(mark, now)
    if left is None or table.state is None:
        return "", False
    return format_duration(left), table.state.turn == mark and left < 10_000
