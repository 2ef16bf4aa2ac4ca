"""Boards beside each other: those of games that are on, and of each game with a name one in the middle of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final, NamedTuple

from tictactoe_client.board.board import BoardView, Cell, draw_board
from tictactoe_client.board.grid import BoardStyle, Grid, fit_board
from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_protocol.pushes import LiveBoard

GAP: Final = 3
"""How many columns are between two boards."""
SAMPLES: Final = {
    "classic": (4, 0, 2, 6, 3),
    "blocker": (0, 2, 8, 6, 3),
    "misere": (0, 4, 8, 2, 7),
    "four": (5, 6, 9, 10, 0, 15, 1),
    "three-players": (12, 7, 6, 11, 13, 17, 8, 18, 2),
    "connect-four": (38, 37, 31, 39, 30, 36, 24, 29, 40),
    "gomoku": (112, 97, 113, 111, 98, 128, 126, 82, 127, 129),
}
"""The moves that led to a board of each game."""


class Drawn(NamedTuple):
    """A board that is drawn, with what is written above it, in a column so `wide`."""

    title: str
    rows: Sequence[Sequence[Cell]]
    wide: int


def draw_beside(boards: Sequence[tuple[str, BoardView]], style: BoardStyle, width: int, height: int) -> list[Drawn]:
    """Return as many of these boards as have room beside each other, in cells as large as possible; perhaps none."""
    for many in range(len(boards), 0, -1):
        share = (width + GAP) // many - GAP
        for chosen in combinations(boards, many):
            drawn = [_draw_within(view, style, share, width, height) for _, view in chosen]
            wide = [max(map(len, rows), default=width) for rows in drawn]
            if all(drawn) and sum(wide) + GAP * (many - 1) <= width:
                wide = [max(one, share) for one in wide] if max(wide) <= share else wide
                titles = [title for title, _ in chosen]
                return list(map(Drawn, titles, drawn, wide))
    return []


def _draw_within(view: BoardView, style: BoardStyle, share: int, width: int, height: int) -> Sequence[Sequence[Cell]]:
    """Return a board as large as its share has room for, else without the names of its cells, else a part of it.

    The last two may be wider than the share; empty where none is to be had in this width.
    """
    grid, bare = fit_board(view.rules, style, share, height), Grid.of(view.rules, BoardStyle(ascii=style.ascii))
    wide = (bare.wide + 1) * len(bare.columns) + 1
    if not grid.is_whole and wide <= width and len(bare.rows) <= height:
        return [row[bare.left - 1 :][:wide] for row in draw_board(view, bare)[bare.top :]]
    grid = grid.scroll(view.last, None)
    has_room = grid.width <= width and grid.height <= height and (grid.is_whole or len(grid.columns) >= 7)
    return draw_board(view, grid) if has_room else ()


def view_live(live: LiveBoard) -> BoardView:
    """Return a game's board as it is drawn; what wins is not told of it, and not needed."""
    rules = PRESETS.get(live.preset or "") or Rules(live.rows, live.columns, 2, "".join(live.names))
    line = frozenset(live.result.line) if live.result and live.result.line else frozenset()
    return BoardView(rules, live.board, live.last, line)


def view_sample(preset: str) -> BoardView:
    """Return a board of the game with this name, in the middle of it."""
    position = Position.replay(PRESETS[preset], SAMPLES[preset])
    return BoardView(position.rules, position.board, position.last)
