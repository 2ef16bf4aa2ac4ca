"""Draws pictures and sends only changed cells to the terminal; Textual would resend whole lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby, starmap
from operator import itemgetter
from typing import cast

from rich.cells import cell_len
from rich.control import Control
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tictactoe_client.themes import Theme, theme_named
from tictactoe_client.tui.picture import Cell, Picture
from tictactoe_client.tui.program import Program

_CLOSE_ENOUGH = 5
"""Two changes of a line are sent together if the gap between them is at most this wide and has the same style."""
_BARE = Style.parse("default on default")
_STYLE = re.compile(
    r"(\x1b\[0m)?\x1b\[(?P<attributes>(\d;)*)(?P<colour>38;5;\d+;|38;2;\d+;\d+;\d+;|\d\d;)(?P<ground>48;[\d;]+|\d+)m"
)


class Styles(dict[str, Style]):
    """The styles of a theme by role (see `picture`), created on first use."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def __missing__(self, role: str) -> Style:
        style = self[role] = _BARE + Style.parse(self._theme.get(role, self._theme.get("", "")))
        return style


class Canvas(Widget, inherit_bindings=False):
    """Draws pictures; keys and clicks are handled by the screen."""

    DEFAULT_CSS = "Canvas { width: 100%; height: 100%; background: transparent; }"

    def __init__(self, *children: Widget) -> None:
        super().__init__(*children)
        self.picture = Picture(0, 0)
        self._theme = ""
        self._styles = Styles({})
        self._is_painted = False

    def show(self, picture: Picture) -> None:
        """Draw another picture; only the differences are sent, bypassing Textual unless a widget covers the canvas."""
        before, self.picture = self.picture, picture
        if self.app.theme != self._theme:
            self._theme, self._styles = self.app.theme, Styles(theme_named(self.app.theme))
            self.refresh()
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
        if not changed:
            return
        patch = write_changes(picture, changed, self._styles) if is_bare else None
        if patch is None or not cast(Program, self.app).terminal.write(join_styles(patch.render(self.app.console))):
            self.refresh(*changed)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the current picture; Textual may have cached an older one."""
        self._is_painted = self._is_painted or crop.size == self.size
        rows = [row[crop.x : crop.right] for row in self.picture.rows[crop.y : crop.bottom]]
        rows += [[]] * (crop.height - len(rows))
        strips = (Strip(starmap(Segment, _paint(row, self._styles)), len(row)) for row in rows)
        return [strip.adjust_cell_length(crop.width, self._styles[""]) for strip in strips]


def write_changes(picture: Picture, changed: Iterable[Region], styles: Mapping[str, Style]) -> Strip:
    """Return the control sequences and texts that update the changed regions, grouped by style."""
    runs: list[tuple[str, Style, int, int]] = []
    for x, y, width, _ in changed:
        for text, style in _paint(picture.rows[y][x : x + width], styles):
            runs.append((text, style, x, y))
            x += cell_len(text)
    parts: dict[Style, list[str]] = {}
    rows: dict[Style, int] = {}
    for text, own, x, y in (*(run for run in runs if not run[0].isspace()), *(run for run in runs if run[0].isspace())):
        style = next((each for each in parts if _are_blanks_alike(each, own)), own) if text.isspace() else own
        movement = Control.move_to_column(x) if rows.get(style) == y else Control.move_to(x, y)
        parts.setdefault(style, []).extend((movement.segment.text, text))
        rows[style] = y
    return Strip([Segment("".join(texts), style) for style, texts in parts.items()])


def join_styles(rendered: str) -> str:
    r"""Drop from each style the codes that it has in common with the style before it.

    Each style has to name both colours, as the styles in `Styles` do.

    >>> join_styles("\x1b[1;31;40mX\x1b[0m\x1b[1;32;40mO\x1b[0m\x1b[37;40mbo\x1b[0m")
    '\x1b[1;31;40mX\x1b[32mO\x1b[0;37;40mbo\x1b[0m'
    """
    joined, end, before = "", 0, [""] * 3
    for found in _STYLE.finditer(rendered):
        style = [found["attributes"], found["colour"], found["ground"]]
        changed = [new for old, new in zip(before, style, strict=True) if new != old]
        if before[0] not in ("", style[0]):  # only a reset switches attributes off
            changed = ["0;", *style]
        codes = f"\x1b[{''.join(changed).removesuffix(';')}m" if changed else ""
        joined, end, before = joined + rendered[end : found.start()] + codes, found.end(), style
    return joined + rendered[end:]


def _paint(cells: Iterable[Cell], styles: Mapping[str, Style]) -> list[tuple[str, Style]]:
    """Return cells as runs of equal style; blanks take the style of a neighbour if they look the same in it."""
    runs: list[tuple[str, Style]] = []
    for role, group in groupby(cells, key=itemgetter(1)):
        text, style = "".join(character for character, _ in group), styles[role]
        before, other = runs[-1] if runs else ("", style)
        has_blank = text.isspace() or before.isspace()
        if before and (style == other or (has_blank and _are_blanks_alike(style, other))):
            runs[-1] = before + text, style if before.isspace() else other
        else:
            runs.append((text, style))
    return runs


def _are_blanks_alike(first: Style, second: Style) -> bool:
    return first.bgcolor == second.bgcolor and not (
        first.reverse or second.reverse or first.underline or second.underline
    )


def find_changes(old: list[Cell], new: list[Cell]) -> list[tuple[int, int]]:
    """Return the differing ranges (start, end) of two rows; close ranges of the same style are joined."""
    changes: list[tuple[int, int]] = []
    for x, (before, after) in enumerate(zip(old, new, strict=True)):
        if before == after:
            continue
        end = x + 2 if x + 1 < len(new) and not new[x + 1][0] else x + 1
        start, last = changes[-1] if changes else (x, x)
        if (
            changes
            and x - last <= _CLOSE_ENOUGH
            and all(sign == " " or role == new[last - 1][1] for sign, role in new[last - 1 : x])
        ):
            changes[-1] = (start, end)
        else:
            changes.append((x, end))
    return changes
