"""The one widget: shows a picture, and repaints only the cells that differ from the one before."""

from __future__ import annotations

from itertools import groupby

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tictactoe_client.tui.picture import Cell, Picture
from tictactoe_client.tui.themes import Theme

_CLOSE_ENOUGH = 8
"""Changes in a line that are no further apart go out as one."""


class Canvas(Widget, can_focus=True, inherit_bindings=False):
    """Shows pictures and passes on what is typed and clicked."""

    DEFAULT_CSS = "Canvas { width: 100%; height: 100%; background: transparent; }"

    class Pressed(Message):
        """A key went down; `name` is the character, or the key's name for others."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class Pasted(Message):
        """Text was pasted."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Clicked(Message):
        """The mouse was clicked on a cell of the screen."""

        def __init__(self, x: int, y: int) -> None:
            super().__init__()
            self.x = x
            self.y = y

    class Scrolled(Message):
        """The wheel was turned, by so many lines."""

        def __init__(self, lines: int) -> None:
            super().__init__()
            self.lines = lines

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._picture = Picture(0, 0)
        self._theme = theme
        self._styles: dict[str, Style] = {}

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
        """Show another picture; of the same size, only what differs is painted."""
        before, self._picture = self._picture, picture
        if (before.width, before.height) != (picture.width, picture.height):
            self.refresh()
            return
        regions = [
            Region(start, y, end - start, 1)
            for y, (old, new) in enumerate(zip(before.rows, picture.rows, strict=True))
            if old != new
            for start, end in find_changes(old, new)
        ]
        if regions:
            self.refresh(*regions)

    def render_line(self, y: int) -> Strip:
        """Return one line as segments of one style each; every segment has one, also without colour."""
        if y >= self._picture.height:
            return Strip([Segment(" " * self.size.width, self._style(""))])
        return self._strip(self._picture.rows[y])

    def _strip(self, cells: list[Cell]) -> Strip:
        """Return cells as segments; blanks go with what stands before them where that looks the same."""
        parts: list[tuple[str, str]] = []
        for role, group in groupby(cells, key=lambda cell: cell[1]):
            text = "".join(character for character, _ in group)
            if not text.strip(" "):
                before = parts[-1][1] if parts else ""
                role = before if self._is_blank_alike(role, before) else role
            if parts and parts[-1][1] == role:
                parts[-1] = (parts[-1][0] + text, role)
            else:
                parts.append((text, role))
        return Strip([Segment(text, self._style(role)) for text, role in parts], len(cells))

    def _is_blank_alike(self, role: str, other: str) -> bool:
        """Tell whether a blank looks the same in both roles."""
        one, two = self._style(role), self._style(other)
        return one.bgcolor == two.bgcolor and not (one.reverse or two.reverse or one.underline or two.underline)

    def _style(self, role: str) -> Style:
        style = self._styles.get(role)
        if style is None:
            definition = self._theme.get(role, self._theme.get("", ""))
            style = self._styles[role] = Style.parse(definition) if definition else Style()
        return style

    async def _on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        character = event.character
        is_text = character is not None and len(character) == 1 and character.isprintable() and "alt+" not in event.key
        self.post_message(self.Pressed(character if is_text and character and character != " " else event.key))

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.post_message(self.Pasted(event.text))

    def on_click(self, event: events.Click) -> None:
        """Pass a click on."""
        self.post_message(self.Clicked(event.x, event.y))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Pass the wheel on."""
        event.stop()
        self.post_message(self.Scrolled(1))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Pass the wheel on."""
        event.stop()
        self.post_message(self.Scrolled(-1))


def find_changes(old: list[Cell], new: list[Cell]) -> list[tuple[int, int]]:
    """Return the stretches (start, end) in which two rows differ, close ones joined, wide characters whole."""
    found: list[tuple[int, int]] = []
    for x, (before, after) in enumerate(zip(old, new, strict=True)):
        if before == after:
            continue
        start = x - 1 if x and (not after[0] or not before[0]) else x
        end = x + 2 if x + 1 < len(new) and (not new[x + 1][0] or not old[x + 1][0]) else x + 1
        if found and start - found[-1][1] <= _CLOSE_ENOUGH:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found
