"""Pages of rows to choose from, and the one with games to watch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import MappingProxyType
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.widget import Widget

from tictactoe_client.online.client import Choice
from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.lobby import COLUMNS
from tictactoe_client.tui.picture import Picture, measure, wrap
from tictactoe_client.tui.screen import FramedScreen

Row = tuple[str, str]
"""The name of what one may choose, and how it is shown after two blanks."""


class ListScreen(FramedScreen):
    """A page with rows, in one list or more below each other; one row is chosen as long as there are any."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("up", "move(-1)", "choose"),
        bind("down", "move(1)", "choose"),
        bind("home", "go(0)"),
        bind("end", "go(-1)"),
        bind("page_up", "page(-1)"),
        bind("page_down", "page(1)"),
        bind("open", "open", "open"),
    ]
    wraps = True
    """Whether the first row comes after the last one."""

    def __init__(self, *children: Widget) -> None:
        super().__init__(*children)
        self.chosen = ""
        self._names: Sequence[str] = ()
        self._top = 0
        self._shown = 1

    # -- the choice -----------------------------------------------------------------------------------------------

    @property
    def at(self) -> int:
        """The number of the chosen row, 0 of none."""
        return self._names.index(self.chosen) if self.chosen in self._names else 0

    def keep(self, names: Sequence[str]) -> None:
        """Let these be the rows; the choice stays with its row, or goes to the first one."""
        self._names = names
        if names and self.chosen not in names:
            self.chosen = names[0]
            self.chose()

    def choose(self, name: str) -> None:
        """Choose a row, perhaps one that is still to come."""
        self.chosen = name
        self.chose()
        self.redraw()

    def chose(self) -> None:
        """Take note that another row is chosen."""

    def open_row(self, name: str) -> None:
        """Do what the row is there for."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where no row is in sight none can be chosen."""
        return (bool(self._names) and not self.is_small) or action not in ("move", "go", "page", "open")

    def action_move(self, by: int) -> None:
        at = self.at + by
        self._go(at % len(self._names) if self.wraps else at)

    def action_page(self, by: int) -> None:
        self._go(self.at + by * self._shown)

    def action_go(self, at: int) -> None:
        self.choose(self._names[at])

    def on_mouse_scroll_down(self) -> None:
        self._go(self.at + 1)

    def on_mouse_scroll_up(self) -> None:
        self._go(self.at - 1)

    def _go(self, at: int) -> None:
        if self._names and not self.is_small:
            self.choose(self._names[max(0, min(at, len(self._names) - 1))])

    def action_open(self) -> None:
        self.open_row(self.chosen)

    def _click(self, name: str) -> None:
        self.choose(name)
        self.open_row(name)

    # -- what it looks like ---------------------------------------------------------------------------------------

    def draw_rows(self, page: Picture, place: Region, rows: Sequence[Row]) -> dict[str, Region]:
        """Draw the rows that there is room for, the chosen one among them; return where they stand, by their names."""
        top, height = 0, place.height
        if 0 < height < len(rows):
            at = next((at for at, (name, _) in enumerate(rows) if name == self.chosen), 0)
            top = self._top = max(at - height + 1, min(self._top, at, len(rows) - height))
        places = {}
        for y, (name, text) in enumerate(rows[top : top + height], place.y):
            places[name] = Region(place.x, y, place.width, 1)
            self.let_click(places[name], partial(self._click, name))
            is_chosen = name == self.chosen
            line = f"{'>' if is_chosen else ' '} {text}{' ' * (place.width - 2 - measure(text))}"
            page.put(place.x, y, line, "chosen" if is_chosen else "", until=place.right)
        if self.chosen in places:
            self._shown = len(places)
        return places

    def draw_table(
        self, page: Picture, place: Region, titles: Sequence[str], lines: Sequence[tuple[str, Sequence[str]]]
    ) -> None:
        """Draw rows of cells below the titles of their columns."""
        widths = [max(map(measure, column)) for column in zip(titles, *(cells for _, cells in lines), strict=True)]

        def align(cells: Sequence[str]) -> str:
            return "  ".join(cell + " " * (width - measure(cell)) for cell, width in zip(cells, widths, strict=True))

        if lines and place.height > 1:
            page.put(place.x + 2, place.y, align(titles), "dim", until=place.right)
        self.draw_rows(page, place.shrink((1, 0, 0, 0)), [(name, align(cells)) for name, cells in lines])


_EMPTY = "No public game is being played now. This page shows it when one begins."
_PRIVATE = "Private games are not listed: type their code, or paste it."


class WatchScreen(ListScreen):
    """A list of games; the code of one that is not in it may be typed. What the list says the home screen hears."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("back", label="back"), bind("help", label="help")]
    foot_renames = MappingProxyType({"open": "watch"})
    heading = "Watch a game"
    foot_first = ("watch", "back")
    wraps = False

    def describe_head(self) -> tuple[Sequence[tuple[str, str]], str]:
        """Return the title, and how many games are on."""
        return super().describe_head()[0], f"{len(self.desk.lobby.playing())} live"

    def opened(self) -> None:
        """Read the list anew."""
        self.desk.lobby.follow()

    def closed(self) -> None:
        """Whoever went back wants to watch nothing."""
        self.desk.errands.give_up()

    def draw_body(self, page: Picture, body: Region) -> None:
        """Draw the games."""
        playing = self.desk.lobby.playing()
        self.keep([room.room for room in playing])
        rows = [(room.room, self.desk.lobby.describe(room)) for room in playing]
        self.draw_table(page, Region(2, body.y, body.width - 4, body.height - 2), COLUMNS, rows)
        if not playing:
            page.put_lines(3, body.y + 1, body.width - 6, _EMPTY)
        page.put_lines(3, body.bottom - len(wrap(_PRIVATE, body.width - 6)), body.width - 6, _PRIVATE, "dim")

    def open_row(self, name: str) -> None:
        """Watch the chosen game."""
        self.desk.errands.enter(Choice("watch", code=name), self)

    def on_key(self, event: events.Key) -> None:
        """Begin a code with the first letter of it."""
        if event.character is not None and event.character.isalnum():
            event.stop()
            self.desk.errands.ask_for_room(event.character, "watch", self)

    def on_paste(self, event: events.Paste) -> None:
        """Take a code or a link."""
        event.stop()
        self.desk.errands.ask_for_room(event.text.strip(), "watch", self)
