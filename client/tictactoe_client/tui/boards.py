"""Boards to look at: those of games that are on, and of each game with a name one in the middle of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, groupby
from operator import itemgetter
from typing import Final

from textual.content import Content
from textual.widget import Widget

from tictactoe_client.board.board import BoardView, Cell, draw_board
from tictactoe_client.board.grid import BoardStyle, Grid, fit_board
from tictactoe_client.tui.picture import measure, shorten
from tictactoe_client.tui.themes import theme_named
from tictactoe_engine import BLOCKED, FREE, PRESETS, Rules
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.pushes import LiveBoard

Titled = tuple[str, BoardView]
"""A board with what stands above it."""

_GAP: Final = 3
_SAMPLES: Final = {
    "classic": (4, 0, 2, 6, 3),
    "blocker": (0, 2, 8, 6, 3),
    "misere": (0, 4, 8, 2, 7),
    "four": (5, 6, 9, 10, 0, 15, 1),
    "three-players": (12, 7, 6, 11, 13, 17, 8, 18, 2),
    "connect-four": (38, 37, 31, 39, 30, 36, 24, 29, 40),
    "gomoku": (112, 97, 113, 111, 98, 128, 126, 82, 127, 129),
}
"""The moves that led to such a board."""


class Boards(Widget):
    """Boards side by side: as many as there is room for, in cells as large as possible."""

    DEFAULT_CSS = "Boards { width: 1fr; height: 1fr; }"
    _boards: Sequence[Titled] = ()

    def show(self, boards: Sequence[Titled]) -> None:
        if boards != self._boards:
            self._boards = boards
            self.refresh()

    def render(self) -> Content:
        style = BoardStyle(ascii=self.app.has_class("-ascii"), colour=self.app.theme != "terminal")
        roles = theme_named(self.app.theme)
        rows = lay_side_by_side(self._boards, style, *self.size)
        runs = ((role, cells) for row in rows for role, cells in groupby([*row, ("\n", "")], itemgetter(1)))
        parts = (("".join(text for text, _ in cells), roles.get(role, roles[""])) for role, cells in runs)
        return Content.assemble(*parts)


def lay_side_by_side(boards: Sequence[Titled], style: BoardStyle, width: int, height: int) -> list[list[Cell]]:
    """Return the lines of as many of these boards as have room beside each other; empty where none has."""
    for many in range(len(boards), 0, -1):
        share = (width + _GAP) // many - _GAP
        for chosen in combinations(boards, many):
            drawn = [draw_within(view, style, share, width, height - 1) for _, view in chosen]
            wide = [max(map(len, rows), default=width) for rows in drawn]
            if all(drawn) and sum(wide) + _GAP * (many - 1) <= width:
                wide = [max(one, share) for one in wide] if max(wide) <= share else wide
                return _join([title for title, _ in chosen], drawn, wide)
    return []


def _join(titles: Sequence[str], boards: Sequence[Sequence[Sequence[Cell]]], widths: Sequence[int]) -> list[list[Cell]]:
    lines: list[list[Cell]] = []
    for y in range(-1, max(map(len, boards))):
        line: list[Cell] = []
        for title, rows, wide in zip(titles, boards, widths, strict=True):
            cells = [(shorten(title, wide), "title")] if y < 0 else list(rows[y]) if y < len(rows) else []
            used = sum(measure(text) for text, _ in cells)
            line += [*cells, (" " * (wide + _GAP - used), "")]
        lines.append(line)
    return lines


def draw_within(view: BoardView, style: BoardStyle, share: int, width: int, height: int) -> Sequence[Sequence[Cell]]:
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


def live_board(live: LiveBoard) -> Titled:
    """Return a game's board as it is drawn; what wins is not told of it, and not needed."""
    rules = PRESETS.get(live.preset or "") or Rules(live.rows, live.columns, 2, "".join(live.names))
    line = frozenset(live.result.line) if live.result and live.result.line else frozenset()
    names = say("watch versus").join(shorten(clean_text(name), 14) for name in live.names.values())
    return names, BoardView(rules, live.board, live.last, line)


def sample_of(preset: str) -> Titled:
    """Return a board of the game with this name, in the middle of it."""
    rules, moves = PRESETS[preset], _SAMPLES[preset]
    marks = {cell: rules.marks[ply % len(rules.marks)] for ply, cell in enumerate(moves)}
    free = {cell: BLOCKED if cell in rules.blocked else FREE for cell in range(rules.rows * rules.columns)}
    board = "".join((free | marks).values())
    return say(f"name of {preset}"), BoardView(rules, board, moves[-1])
