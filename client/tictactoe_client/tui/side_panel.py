"""What stands beside the board: the players with their clocks, the moves, and what was said. Pure.

What does not fit goes in this order: the talk first, then the moves.
"""

from __future__ import annotations

from collections.abc import Sequence

from tictactoe_client.tui.board_area import mark_role
from tictactoe_client.tui.picture import Picture, measure, shorten, wrap
from tictactoe_client.tui.table import Table
from tictactoe_client.wording import format_duration
from tictactoe_engine import format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState

MIN_WIDTH = 24
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
    """Draw the panel from here to the right edge; `worth` says what moves are worth, where that is shown."""
    state = table.state
    if state is None:
        return
    width = picture.width - x - 1
    bottom = y + height
    for mark in state.rules.marks:
        _paint_player(picture, x, y, width, mark, table, now, ascii_only=ascii_only)
        y += 1
    if state.game > 1 or any(state.score.values()):
        picture.put(x, y, shorten(_score(state), width), "dim")
        y += 1
    if y < bottom:
        picture.put(x, y, ("-" if ascii_only else "─") * width, "dim")
    y += 1
    for line in worth[: max(0, bottom - y)]:
        picture.put(x, y, shorten(line, width))
        y += 1
    talk = [(line, part) for line in table.talk for part in wrap(line, width)]
    moves = _move_lines(table, state, width)
    room = max(0, bottom - y)
    for_talk = min(len(talk), max(0, room - min(len(moves), max(_FEWEST_MOVE_LINES, room // 2)) - 1))
    for_moves = min(len(moves), room - (for_talk + 1 if for_talk else 0))
    for line, is_shown in moves[len(moves) - for_moves :]:
        picture.put(x, y, line, "" if is_shown else "dim")
        y += 1
    if for_talk:
        y += 1
        for _, part in talk[-for_talk:]:
            picture.put(x, y, part)
            y += 1


def _paint_player(
    picture: Picture, x: int, y: int, width: int, mark: str, table: Table, now: float, *, ascii_only: bool
) -> None:
    state = table.state
    assert state is not None
    seat = state.seats.get(mark)
    left = table.remaining_ms(mark, now)
    clock = format_duration(left) if left is not None else ""
    runs = state.turn == mark
    arrow = (">" if ascii_only else "▶") if runs else " "
    name = clean_text(seat.name) if seat is not None else "(free)"
    notes = ""
    if seat is not None and seat.player == table.viewer and not seat.left:
        notes = "(you)"
    elif seat is not None and seat.left:
        notes = "(left)"
    elif seat is not None and not seat.online:
        notes = "(away)"
    picture.put(x, y, mark, mark_role(mark, state.rules.to_rules(), strong=runs))
    space = width - 3 - measure(notes) - 1 - measure(clock) - 3
    picture.put_parts(x + 3, y, (shorten(name, max(4, space)), "title" if runs else ""), (f" {notes}", "dim"))
    urgent = left is not None and runs and left < 10_000
    picture.put_right(y, f"{arrow} {clock}".rstrip(), "bad" if urgent else "title" if runs else "dim")


def _move_lines(table: Table, state: RoomState, width: int) -> list[tuple[str, bool]]:
    """Return the moves in rounds, each line with whether it has happened at the moment that is looked at."""
    rules = state.rules.to_rules()
    marks = state.rules.marks
    texts = [f"{state.board[cell]} {format_cell(cell, rules)}" for cell in table.moves]
    column = max((len(text) for text in texts), default=4) + 2
    digits = len(str(len(texts) // len(marks) + 1))
    lines = []
    for start in range(0, len(texts), len(marks)):
        texts_of_round = texts[start : start + len(marks)]
        line = f"{start // len(marks) + 1:>{digits}}. " + "".join(text.ljust(column) for text in texts_of_round)
        lines.append((shorten(line.rstrip(), width), table.shown_ply is None or start < table.shown_ply))
    return lines


def _score(state: RoomState) -> str:
    parts = [f"{clean_text(seat.name)} {state.score.get(seat.player, 0)}" for seat in state.seats.values() if seat]
    return f"Game {state.game}. {', '.join(parts)}, draws {state.score.get('draws', 0)}"
