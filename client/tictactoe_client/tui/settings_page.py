"""What can be changed while playing: each change counts at once, and is kept for later runs."""

from __future__ import annotations

from typing import Final

from tictactoe_client.options import SCREEN_OPTIONS, Option
from tictactoe_client.tui.page import Desk, Page, draw_frame, draw_status
from tictactoe_client.tui.picture import Picture, measure
from tictactoe_client.tui.themes import THEMES

_TOP: Final = 3
_VALUE_COLUMN: Final = 25
_NOTE_COLUMN: Final = 40


ROWS: Final = tuple(SCREEN_OPTIONS.items())


def next_theme(name: str) -> str:
    """Return the theme after this one."""
    names = list(THEMES)
    return names[(names.index(name) + 1) % len(names)] if name in names else names[0]


class SettingsPage(Page):
    """A form of choices."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._row = 0
        self._shown = range(0)

    def press(self, key: str) -> None:
        """Choose a line, change its value."""
        does = self.desk.keymap.does
        if does(key, "up") or does(key, "down"):
            self.scroll(-1 if does(key, "up") else 1)
        elif does(key, "home") or does(key, "end"):
            self._row = 0 if does(key, "home") else len(ROWS) - 1
        elif does(key, "left"):
            self._change(-1)
        elif does(key, "right") or does(key, "place"):
            self._change(1)
        elif does(key, "theme"):
            self.desk.use_theme(next_theme(self.desk.settings.theme))
        elif does(key, "help"):
            self.open_help()
        elif does(key, "back") or does(key, "settings"):
            self.desk.close_page()

    def scroll(self, lines: int) -> None:
        """Move the choice."""
        self._row = (self._row + lines) % len(ROWS)

    def click(self, x: int, y: int) -> None:
        """A click changes a line."""
        number = y - _TOP + self._shown.start
        if y >= _TOP and number in self._shown:
            self._row = number
            self._change(1)

    def _change(self, by: int) -> None:
        field, option = ROWS[self._row]
        current = getattr(self.desk.settings, field)
        here = option.choices.index(current) if current in option.choices else 0
        self.desk.change(field, option.choices[(here + by) % len(option.choices)])

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the form, as many of its lines as there is room for, and where it is kept."""
        settings, show = self.desk.settings, self.desk.keymap.show
        hints = f"{show('back')} back  {self._hint_ways()}  {show('help')} help"
        draw_frame(picture, (("Settings", "title"),), ("", ""), hints, ascii_only=settings.ascii)
        space = picture.height - _TOP - 3
        start = max(0, min(self._row - space // 2, len(ROWS) - space))
        self._shown = range(start, min(len(ROWS), start + space))
        for y, number in enumerate(self._shown, _TOP):
            self._draw_row(picture, y, *ROWS[number], is_chosen=number == self._row)
        below = _TOP + len(self._shown) + 1
        if below < picture.height - 3:
            kept = f"Kept in {self.desk.kept_in}" if self.desk.not_kept is None else f"Not kept: {self.desk.not_kept}"
            picture.put(3, below, kept, "dim" if self.desk.not_kept is None else "warn", until=picture.width - 1)
        if status is not None:
            draw_status(picture, status)

    def _hint_ways(self) -> str:
        signs = self.desk.keymap.show_signs
        if self.desk.settings.ascii:
            return f"{signs('arrows', 'up', 'down', 'left', 'right')} change"
        return f"{signs('↑↓', 'up', 'down')} choose  {signs('←→', 'left', 'right')} change"

    def _draw_row(self, picture: Picture, y: int, field: str, option: Option, *, is_chosen: bool) -> None:
        role = "title" if is_chosen else ""
        shown, note = option.describe(getattr(self.desk.settings, field))
        picture.put_parts(3, y, ("> " if is_chosen else "  ", "key"), (option.title, role))
        end = picture.put(_VALUE_COLUMN, y, shown, role)
        if max(_NOTE_COLUMN, end + 1) + measure(note) < picture.width:
            picture.put(max(_NOTE_COLUMN, end + 1), y, note, "dim")
