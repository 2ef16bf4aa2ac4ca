"""Shows a picture, and sends the terminal only the cells that differ from the one before.

The library would send each line that has changed from its left edge.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import cast

from rich.control import Control
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.picture import Cell, Picture
from tictactoe_client.tui.themes import Theme

_CLOSE_ENOUGH = 8
"""Changes in a line that are no further apart go out as one, where what is between them looks like the one before."""
_BARE = Style.parse("default on default")


class Canvas(Widget, inherit_bindings=False):
    """Shows pictures; keys and clicks are the screen's. What takes text may lie on it as a child."""

    DEFAULT_CSS = "Canvas { width: 100%; height: 100%; background: transparent; }"

    def __init__(self, *children: Widget) -> None:
        super().__init__(*children)
        self._picture = Picture(0, 0)
        self._theme: Theme = {}
        self._styles: dict[str, Style] = {}
        self._is_painted = False

    @property
    def picture(self) -> Picture:
        """What is shown."""
        return self._picture

    def use_theme(self, theme: Theme) -> None:
        """Paint everything anew in other colours."""
        self._theme = theme
        self._styles.clear()
        self.refresh()

    def show(self, picture: Picture) -> None:
        """Show another picture; only what differs is sent, past the library where nothing lies on it."""
        before, self._picture = self._picture, picture
        if not (before.width, before.height) == (picture.width, picture.height) == self.size:
            self._is_painted = False
            self.refresh()
            return
        changed = [
            Region(start, y, end - start, 1)
            for y, (old, new) in enumerate(zip(before.rows, picture.rows, strict=True))
            if old != new
            for start, end in find_changes(old, new)
        ]
        is_bare = self._is_painted and self.screen.is_active and not any(child.display for child in self.children)
        if changed and not (is_bare and cast(Desk, self.app).terminal.write(self._patch(changed))):
            self.refresh(*changed)

    def _patch(self, changed: Iterable[Region]) -> str:
        """Return what makes these parts of the terminal show the picture."""
        parts: list[tuple[str, str, str]] = []
        for x, y, width, _ in changed:
            (_, text, role), *rest = _split(self._picture.rows[y][x : x + width])
            parts += [(Control.move_to(x, y).segment.text, text, role), *rest]
        return Strip(self._paint(parts)).render(self.app.console)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the picture as it is by now: what the library keeps of a line may have been painted over."""
        self._is_painted = self._is_painted or crop.size == self.size
        return [self._line(y, crop.x, crop.right) for y in range(crop.y, crop.bottom)]

    def _line(self, y: int, start: int, end: int) -> Strip:
        cells = self._picture.rows[y][start:end] if y < self._picture.height else []
        return Strip(self._paint(_split(cells)), len(cells)).adjust_cell_length(end - start, self._style(""))

    def _paint(self, parts: Iterable[tuple[str, str, str]]) -> list[Segment]:
        """Return parts as segments; blanks go with what stands before or behind them where that looks the same."""
        texts: list[list[str]] = []
        roles: list[str] = []
        is_blank = False
        for way, text, role in parts:
            was_blank, is_blank = is_blank, not text.strip(" ")
            if roles and (role == roles[-1] or ((is_blank or was_blank) and self._is_blank_alike(role, roles[-1]))):
                texts[-1] += way, text
                roles[-1] = role if was_blank else roles[-1]
                is_blank = is_blank and was_blank
            else:
                texts.append([way, text])
                roles.append(role)
        return [Segment("".join(text), self._style(role)) for text, role in zip(texts, roles, strict=True)]

    def _is_blank_alike(self, role: str, other: str) -> bool:
        """Tell whether a blank looks the same in both roles."""
        one, two = self._style(role), self._style(other)
        return one.bgcolor == two.bgcolor and not (one.reverse or two.reverse or one.underline or two.underline)

    def _style(self, role: str) -> Style:
        style = self._styles.get(role)
        if style is None:
            style = self._styles[role] = _BARE + Style.parse(self._theme.get(role, self._theme.get("", "")))
        return style


def _split(cells: list[Cell]) -> list[tuple[str, str, str]]:
    """Return cells as texts of one role each, with nothing before them."""
    return [("", "".join(cell[0] for cell in group), role) for role, group in groupby(cells, key=itemgetter(1))]


def find_changes(old: list[Cell], new: list[Cell]) -> list[tuple[int, int]]:
    """Return the stretches (start, end) in which two rows differ, close ones joined, wide characters whole."""
    found: list[tuple[int, int]] = []
    for x, (before, after) in enumerate(zip(old, new, strict=True)):
        if before == after:
            continue
        start = x - 1 if x and (not after[0] or not before[0]) else x
        end = x + 2 if x + 1 < len(new) and (not new[x + 1][0] or not old[x + 1][0]) else x + 1
        last = found[-1][1] if found else None
        if last is not None and start - last <= _CLOSE_ENOUGH and _looks_alike(new[last - 1 : start]):
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _looks_alike(cells: list[Cell]) -> bool:
    """Tell whether cells need no other style than the first, blanks aside."""
    return all(character == " " or role == cells[0][1] for character, role in cells)
