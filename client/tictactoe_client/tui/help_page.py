"""The page of help, in a window of any size; what it says is the page's for which it was asked."""

from __future__ import annotations

from collections.abc import Callable

from tictactoe_client.tui.page import Desk, Page, draw_frame
from tictactoe_client.tui.picture import Picture, measure, wrap

_FURTHER_IN = 2


class HelpPage(Page):
    """What can be pressed and typed, as `list_help` returns it whenever it is drawn."""

    max_height = 60

    def __init__(self, desk: Desk, list_help: Callable[[], list[str]]) -> None:
        super().__init__(desk)
        self._list_help = list_help
        self._top = 0

    def press(self, key: str) -> None:
        """Any key goes back, but for those that scroll."""
        does = self.desk.keymap.does
        if does(key, "down") or does(key, "up"):
            self.scroll(1 if does(key, "down") else -1)
        else:
            self.desk.close_page()

    def scroll(self, lines: int) -> None:
        """Scroll."""
        self._top = max(0, self._top + lines)

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw as much as there is room for."""
        scroll = self.desk.keymap.show_signs("" if self.desk.settings.ascii else "↑↓", "up", "down")
        hints = f"{scroll} scroll  any other key goes back" if scroll else "any key goes back"
        draw_frame(picture, (("Help", "title"),), ("", ""), hints, ascii_only=self.desk.settings.ascii)
        lines = [part for line in self._list_help() for part in break_line(line, picture.width - 6)]
        space = picture.height - 5
        self._top = min(self._top, max(0, len(lines) - space))
        for y, line in enumerate(lines[self._top : self._top + space], 2):
            picture.put(3, y, line)


def break_line(line: str, width: int) -> list[str]:
    """Return a line of help in lines of at most this width; where it goes on, it stands further in.

    >>> break_line("  r asks for a rematch", 15)
    ['  r asks for', '    a rematch']
    """
    if measure(line) <= width:
        return [line]
    text = line.lstrip(" ")
    margin = len(line) - len(text)
    first, *rest = wrap(text, width - margin - _FURTHER_IN)
    return [" " * margin + first, *(" " * (margin + _FURTHER_IN) + part for part in rest)]
