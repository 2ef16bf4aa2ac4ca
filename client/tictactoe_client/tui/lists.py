"""Pages of rows to choose from, and the one with games to watch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from rich.cells import set_cell_size
from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tictactoe_client.online.client import Choice
from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.picture import ASCII, Picture, measure, wrap
from tictactoe_client.tui.screen import FramedScreen


class Rows(OptionList, can_focus=False, inherit_bindings=False):
    """Rows of one line each; a choice that moves sends the two lines that it concerns, not all of them."""

    highlighted: reactive[int | None] = reactive(None, repaint=False)
    _painted: int | None = None

    def __init__(self) -> None:
        super().__init__(markup=False, compact=True)

    def lie(self, place: Region, rows: Sequence[tuple[str, str]], chosen: str) -> None:
        """Show these rows, each by its name, at this place of the window."""
        self.styles.offset, self.styles.width, self.styles.height = place.offset, place.width, place.height
        self.display = bool(rows) and bool(place)
        before = {option.id: option.prompt for option in self.options}
        shown = {name: f"  {text}" for name, text in rows}
        if list(before) != list(shown):
            self.set_options(Option(text, id=name) for name, text in shown.items())
        for name, text in shown.items():
            if text != before.get(name, text):
                self.replace_option_prompt(name, text)
        self.highlighted = self.get_option_index(chosen) if chosen in shown else None

    def on_resize(self) -> None:
        """Keep the chosen row in sight where there is less room."""
        self.scroll_to_highlight()

    def watch_highlighted(self, highlighted: int | None) -> None:
        super().watch_highlighted(highlighted)
        for line in (self._painted, highlighted):
            if line is not None:
                self.refresh_line(line)
        self._painted = highlighted

    def render_line(self, y: int) -> Strip:
        """Return a line, with a sign before the chosen one that needs no colour."""
        strip = super().render_line(y)
        if y + int(self.scroll_offset.y) != self.highlighted:
            return strip
        style = next((segment.style for segment in strip), None)
        return Strip.join([Strip([Segment(">", style)], 1), strip.crop(1)])


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
        self.rows = Rows()
        super().__init__(self.rows, *children)
        self.chosen = ""
        self._names: Sequence[str] = ()

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
        return (bool(self._names) and not self.is_small) or action not in ("move", "go", "page", "open")

    def action_move(self, by: int) -> None:
        at, many = self.at + by, len(self._names)
        self.action_go(at % many if self.wraps else max(0, min(at, many - 1)))

    def action_page(self, by: int) -> None:
        at = self.at + by * max(1, self.rows.size.height)
        self.action_go(max(0, min(at, len(self._names) - 1)))

    def action_go(self, at: int) -> None:
        self.choose(self._names[at])

    def action_open(self) -> None:
        self.open_row(self.chosen)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.choose(event.option_id or "")
        self.open_row(self.chosen)

    def lay_rows(self, place: Region, rows: Sequence[tuple[str, str]], widget: Rows | None = None) -> None:
        """Let a list lie at this place of the page; without a `widget` it is the only one."""
        if widget is None:
            self.keep([name for name, _ in rows])
        if self.desk.settings.ascii:
            rows = [(name, text.translate(ASCII)) for name, text in rows]
        (widget or self.rows).lie(place.translate((self.stage.x, self.stage.y)), rows, self.chosen)

    def lay_table(
        self, page: Picture, place: Region, table: Mapping[str, Sequence[str]], widget: Rows | None = None
    ) -> None:
        """Let a list of cells, each row by its name, lie below the titles of their columns, which come first."""
        widths = [max(map(measure, column)) for column in zip(*table.values(), strict=True)]
        lines = [(name, "  ".join(map(set_cell_size, cells, widths))) for name, cells in table.items()]
        if len(lines) > 1 and place.height > 1:
            page.put(place.x + 2, place.y, lines[0][1], "dim", until=place.right)
        self.lay_rows(place.shrink((1, 0, 0, 0)), lines[1:], widget)


class WatchScreen(ListScreen):
    """A list of games; the code of one that is not in it may be typed. What the list says the home screen hears."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("back", label="back"), bind("help", label="help")]
    foot_renames = MappingProxyType({"open": "watch"})
    heading = "Watch a game"
    foot_first = ("watch", "back")
    wraps = False

    def describe_head(self) -> tuple[Sequence[tuple[str, str]], str]:
        return super().describe_head()[0], f"{len(self.desk.lobby.list_rooms('playing'))} live"

    def opened(self) -> None:
        self.desk.lobby.follow()

    def closed(self) -> None:
        self.desk.errands.give_up()

    def draw_body(self, page: Picture, body: Region) -> None:
        games, width = self.desk.lobby.tabulate("playing"), body.width - 6
        self.lay_table(page, Region(2, body.y, body.width - 4, body.height - 2), games)
        if len(games) == 1:
            told = "No public game is being played now. This page shows it when one begins."
            page.put_lines(3, body.y + 1, width, told)
        told = "Private games are not listed: type their code, or paste it."
        page.put_lines(3, body.bottom - len(wrap(told, width)), width, told, "dim")

    def open_row(self, name: str) -> None:
        self.desk.errands.enter(Choice("watch", code=name), self)

    def on_key(self, event: events.Key) -> None:
        if event.character is not None and event.character.isalnum():
            event.stop()
            self.desk.errands.ask_for_room(event.character, "watch", self)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.desk.errands.ask_for_room(event.text.strip(), "watch", self)
