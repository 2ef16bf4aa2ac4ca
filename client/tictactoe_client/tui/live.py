"""What is going on now: the boards of games that are on, very small, and how one's own last games went. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.content import Content

from tictactoe_client.text.lobby import describe_outcome
from tictactoe_client.text.wording import is_draw
from tictactoe_client.tui.picture import shorten
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import LiveBoard, PastGame

NAME: Final = (
    "╺┳╸╻┏━╸ ╺┳╸┏━┓┏━╸ ╺┳╸┏━┓┏━╸",
    " ┃ ┃┃    ┃ ┣━┫┃    ┃ ┃ ┃┣╸ ",
    " ╹ ╹┗━╸  ╹ ╹ ╹┗━╸  ╹ ┗━┛┗━╸",
)
ASCII_NAME: Final = (
    "___ _ __  ___ __  __  ___ _  ___",
    " |  | |    |  |_| |    |  | | |_ ",
    " |  | |__  |  | | |__  |  |_| |__",
)
_MOST_ROWS: Final = 7
_MOST_COLUMNS: Final = 9


def draw_board(live: LiveBoard) -> list[Content]:
    """Return a game's board, a character a cell, the last move marked; of a large one what lies around that move."""
    row, column = divmod(live.last if live.last is not None else len(live.board) // 2, live.columns)
    top = max(0, min(row - _MOST_ROWS // 2, live.rows - _MOST_ROWS))
    left = max(0, min(column - _MOST_COLUMNS // 2, live.columns - _MOST_COLUMNS))
    line = set(live.result.line) if live.result and live.result.line else {live.last}
    marks = "".join(live.names)
    lines = []
    for y in range(top, min(live.rows, top + _MOST_ROWS)):
        parts = []
        for x in range(left, min(live.columns, left + _MOST_COLUMNS)):
            cell = y * live.columns + x
            mark = live.board[cell]
            style = f"$mark{marks.index(mark) % 6}" if mark in marks else "$dim"
            parts.append(Content.styled({".": "·"}.get(mark, mark), f"bold reverse {style}" if cell in line else style))
        lines.append(Content(" ").join(parts))
    return lines


def describe_live(live: LiveBoard, width: int) -> list[Content]:
    """Return who plays, and under that the board."""
    names = [clean_text(name) for name in live.names.values()]
    room = max(3, (width - 2 * len(names)) // len(names))
    return [Content.styled(" v ".join(shorten(name, room) for name in names), "bold"), *draw_board(live)]


def put_side_by_side(boards: Sequence[list[Content]], width: int, gap: int = 3) -> Content:
    """Return those of these that have room beside one another in this width."""
    height = max((len(board) for board in boards), default=0)
    rows = [Content()] * height
    taken = 0
    for board in boards:
        wide = max(line.cell_length for line in board)
        if taken + wide > width:
            continue
        for y in range(height):
            line = board[y] if y < len(board) else Content()
            rows[y] = rows[y].append(" " * (taken - rows[y].cell_length)).append(line)
        taken += wide + gap
    return Content("\n").join(rows)


def describe_record(games: Sequence[PastGame], viewer: str) -> str:
    """Return how the last game went, and how many were won in a row; games come newest first, nothing for none.

    A run that is not over with all the games that are known is at least so long.
    """
    if not games:
        return ""
    last = games[0]
    others = ", ".join(clean_text(player.name) for player in last.players.values() if player.player != viewer)
    told = f"Last: {describe_outcome(last, viewer)}{f', against {others}' if others else ''}."
    streak = 0
    for game in games:
        winner = game.players.get(game.result.winner or "")
        if is_draw(game.result) or winner is None or winner.player != viewer:
            break
        streak += 1
    more = "at least " if streak == len(games) and streak > 9 else ""
    return f"{told} {more}{streak} wins in a row." if streak > 1 else told
