"""Boards to look at outside the room, each below its title."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from textual.content import Content
from textual.widget import Widget

from tictactoe_client.board.beside import GAP, draw_beside, view_live, view_sample
from tictactoe_client.board.board import BoardView, Cell
from tictactoe_client.board.grid import BoardStyle
from tictactoe_client.themes import theme_named
from tictactoe_client.tui.picture import measure, shorten
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.pushes import LiveBoard

Titled = tuple[str, BoardView]
"""A board with what stands above it."""


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
        drawn, roles = (
            draw_beside(self._boards, style, self.size.width, self.size.height - 1),
            theme_named(self.app.theme),
        )
        parts: list[tuple[str, str]] = []
        for y in range(max((len(board.rows) + 1 for board in drawn), default=0)):
            for title, rows, wide in drawn:
                cells: Sequence[Cell] = rows[y - 1] if 0 < y <= len(rows) else [(shorten(title, wide), "title")][y:]
                parts += [("".join(map(itemgetter(0), run)), role) for role, run in groupby(cells, itemgetter(1))]
                parts.append((" " * (wide + GAP - sum(measure(text) for text, _ in cells)), ""))
            parts.append(("\n", ""))
        return Content.assemble(*((text, roles.get(role, roles[""])) for text, role in parts))


def live_board(live: LiveBoard) -> Titled:
    """Return the board of a game that is on below the names of those who play."""
    return say("versus").join(shorten(clean_text(name), 14) for name in live.names.values()), view_live(live)


def sample_board(preset: str) -> Titled:
    """Return a board of a game with a name, in the middle of it, below that."""
    return say(f"name of {preset}"), view_sample(preset)
