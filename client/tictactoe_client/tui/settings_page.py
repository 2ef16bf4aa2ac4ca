"""What can be changed while playing; what is to last stands in the configuration file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.tui.page import Desk, Page, draw_frame
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.themes import THEMES
from tictactoe_engine import Coordinates, Keys

_CHOICES: dict[str, tuple[str, tuple[Any, ...], str]] = {
    "theme": ("Theme", tuple(THEMES), "terminal: the colours of your terminal"),
    "bell": ("Bell at your turn", ("off", "away", "always"), "away: while you look elsewhere"),
    "ascii": ("Plain ASCII", (False, True), "for terminals and fonts without lines"),
    "keys": ("Digits of 3x3", (Keys.PHONE, Keys.PAD), "phone: 1 2 3 on top; pad: 7 8 9 on top"),
    "coordinates": ("Two numbers mean", tuple(Coordinates), "as a typed move, such as 2,3"),
    "confirm": ("Confirm clicks", (False, True), "the second click places, on 3x3 too"),
}


def next_theme(name: str) -> str:
    """Return the theme after this one."""
    names = list(THEMES)
    return names[(names.index(name) + 1) % len(names)] if name in names else names[0]


class SettingsPage(Page):
    """A form of choices."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._row = 0

    def press(self, key: str) -> None:
        """Choose a line, change its value."""
        does = self.desk.keymap.does
        if does(key, "leave"):
            self.desk.leave(ExitCode.INTERRUPTED)
        elif does(key, "up") or does(key, "down"):
            self.scroll(-1 if does(key, "up") else 1)
        elif does(key, "left"):
            self._change(-1)
        elif does(key, "right") or does(key, "place"):
            self._change(1)
        elif does(key, "back"):
            self.desk.close_page()

    def scroll(self, lines: int) -> None:
        """Move the choice."""
        self._row = (self._row + lines) % len(_CHOICES)

    def click(self, x: int, y: int) -> None:
        """A click changes a line."""
        if 3 <= y < 3 + len(_CHOICES):
            self._row = y - 3
            self._change(1)

    def _change(self, by: int) -> None:
        field = list(_CHOICES)[self._row]
        values = _CHOICES[field][1]
        current = getattr(self.desk.settings, field)
        here = values.index(current) if current in values else 0
        value = values[(here + by) % len(values)]
        if field == "theme":
            self.desk.use_theme(value)
        else:
            change: Callable[..., Settings] = replace
            self.desk.settings = change(self.desk.settings, **{field: value})

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the form."""
        settings = self.desk.settings
        arrows = "arrows change" if settings.ascii else "↑↓ choose  ←→ change"
        hints = f"{arrows}  {self.desk.keymap.show('back')} back"
        draw_frame(picture, (("Settings", "title"),), ("", ""), hints, ascii_only=settings.ascii)
        for number, (field, (title, _, note)) in enumerate(_CHOICES.items()):
            chosen = number == self._row
            value = getattr(settings, field)
            shown = ("yes" if value else "no") if isinstance(value, bool) else str(value)
            picture.put_parts(3, 3 + number, ("> " if chosen else "  ", "key"), (title, "title" if chosen else ""))
            picture.put(25, 3 + number, shown, "title" if chosen else "")
            picture.put(40, 3 + number, note, "dim")
        picture.put(3, 4 + len(_CHOICES), "For good: tictactoe-client config path names the file.", "dim")
