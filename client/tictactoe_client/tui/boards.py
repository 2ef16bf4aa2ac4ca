"""Titled boards on pages outside rooms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, groupby
from operator import itemgetter
from typing import Final, NamedTuple

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from tictactoe_client.board.board import BoardView, Cell, draw_board
from tictactoe_client.board.grid import BoardStyle, Grid, fit_board
from tictactoe_client.themes import theme_named
from tictactoe_client.tui.picture import measure, shorten
from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import LiveBoard
from tictactoe_words.catalogue import say

GAP: Final = 3
SAMPLES: Final[Mapping[str, tuple[int, ...]]] = {
    "classic": (4, 0, 2, 6, 3),
    "blocker": (0, 2, 8, 6, 3),
    "misere": (0, 4, 8, 2, 7),
    "four": (5, 6, 9, 10, 0, 15, 1),
    "three-players": (12, 7, 6, 11, 13, 17, 8, 18, 2),
    "connect-four": (38, 37, 31, 39, 30, 36, 24, 29, 40),
    "gomoku": (112, 97, 113, 111, 98, 128, 126, 82, 127, 129),
    "gomoku-standard": (112, 97, 127, 113, 98, 128, 126, 82, 111, 129),
    "four-pie": (1, 6, 5, 9, 10, 15),
}
"""The moves of each game's sample board; in an opening, the second player chooses to keep the colour."""
Titled = tuple[str, BoardView]


class Drawn(NamedTuple):
    """A drawn board with its title and the width of its column."""

    title: str
    rows: Sequence[Sequence[Cell]]
    wide: int


def draw_beside(boards: Sequence[Titled], style: BoardStyle, width: int, height: int) -> list[Drawn]:
    """Return as many boards as fit side by side, with the largest possible cells."""
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
    """Return a board that fits the share, if necessary without coordinates or only a part of it.

    The reduced boards may be wider than the share; the result is empty if nothing fits the width.
    """
    grid, bare = fit_board(view.rules, style, share, height), Grid.of(view.rules, BoardStyle(ascii=style.ascii))
    wide = (bare.wide + 1) * len(bare.columns) + 1
    if not grid.is_whole and wide <= width and len(bare.rows) <= height:
        return [row[bare.left - 1 :][:wide] for row in draw_board(view, bare)[bare.top :]]
    grid = grid.scroll(view.last, None)
    has_room = grid.width <= width and grid.height <= height and (grid.is_whole or len(grid.columns) >= 7)
    return draw_board(view, grid) if has_room else ()


class Boards(Widget):
    """Boards side by side, as many as fit."""

    DEFAULT_CSS = "Boards { width: 1fr; height: 1fr; }"
    shown: reactive[Sequence[Titled]] = reactive(())

    def render(self) -> Content:
        style = BoardStyle(ascii=self.app.has_class("-ascii"), colour=self.app.theme != "terminal")
        drawn = draw_beside(self.shown, style, self.size.width, self.size.height - 1)
        roles = theme_named(self.app.theme)
        parts: list[tuple[str, str]] = []
        for y in range(max((len(board.rows) + 1 for board in drawn), default=0)):
            for title, rows, wide in drawn:
                cells: Sequence[Cell] = rows[y - 1] if 0 < y <= len(rows) else [(shorten(title, wide), "title")][y:]
                parts += [("".join(map(itemgetter(0), run)), role) for role, run in groupby(cells, itemgetter(1))]
                parts.append((" " * (wide + GAP - sum(measure(text) for text, _ in cells)), ""))
            parts.append(("\n", ""))
        return Content.assemble(*((text, roles.get(role, roles[""])) for text, role in parts))


def live_board(live: LiveBoard) -> Titled:
    """Return the board of a running game below the names of its players."""
    rules = PRESETS.get(live.preset or "") or Rules(live.rows, live.columns, 2, "".join(live.names))
    line = frozenset(live.result.line) if live.result and live.result.line else frozenset()
    names = say("versus").join(shorten(clean_text(name), 14) for name in live.names.values())
    return names, BoardView(rules, live.board, live.last, line)


def sample_board(preset: str) -> Titled:
    """Return a mid-game board of a named game below its title."""
    rules = PRESETS[preset]
    position = Position.replay(rules, SAMPLES[preset], (), rules.marks[1] if rules.opening else ())
    return say(f"name of {preset}"), BoardView(position.rules, position.board, position.last)
