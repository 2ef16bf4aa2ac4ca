"""Lists to choose from: a menu and a table of the library's, with keys that a person may have changed.

A move of the choice sends the two lines that it concerns, where the library would send all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import ClassVar

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import DataTable, OptionList, Static
from textual.widgets.option_list import Option

from tictactoe_client.online.client import Choice
from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.lobby import COLUMNS
from tictactoe_client.tui.screen import FramedScreen

_WAYS: tuple[BindingType, ...] = (
    bind("up", "cursor_up", "choose"),
    bind("down", "cursor_down", "choose"),
    bind("home", "first"),
    bind("end", "last"),
    bind("page_up"),
    bind("page_down"),
)


def mark_line(strip: Strip) -> Strip:
    """Return a line that has a sign in the place of its first cell."""
    style = next((segment.style for segment in strip), None)
    return Strip.join([Strip([Segment(">", style)], 1), strip.crop(1)])


class Menu(OptionList, inherit_bindings=False):
    """Lines to choose from, one cell high each."""

    BINDINGS: ClassVar[list[BindingType]] = [*_WAYS, bind("open", "select", "open")]
    highlighted: reactive[int | None] = reactive(None, repaint=False)
    _painted: int | None = None

    @property
    def chosen(self) -> str:
        """The id of the chosen line, empty of no lines."""
        return (self.highlighted_option.id or "") if self.highlighted_option is not None else ""

    def choose(self, name: str) -> None:
        """Choose a line, the first one where there is none of this id."""
        self.highlighted = next((at for at, option in enumerate(self.options) if option.id == name), 0)

    def show_lines(self, lines: Sequence[tuple[str, Content]]) -> None:
        """Show these lines, by their ids; the choice stays with its line."""
        chosen = self.chosen
        if [option.id for option in self.options] != [name for name, _ in lines]:
            self.clear_options()
            self.add_options(Option(line, id=name) for name, line in lines)
        else:
            for option, (name, line) in zip(self.options, lines, strict=True):
                if option.prompt != line:
                    self.replace_option_prompt(name, line)
        if self.chosen != chosen or not chosen:
            self.choose(chosen)

    def watch_highlighted(self, highlighted: int | None) -> None:
        """Paint the line that is chosen, and the one that was."""
        super().watch_highlighted(highlighted)
        for line in (self._painted, highlighted):
            if line is not None:
                self.refresh_line(line)
        self._painted = highlighted

    def render_line(self, y: int) -> Strip:
        """Return a line, with a sign before the chosen one that needs no colour."""
        strip = super().render_line(y)
        return mark_line(strip) if y + int(self.scroll_offset.y) == self.highlighted else strip


class Table(DataTable[Text], inherit_bindings=False):
    """Rows to choose from, in columns."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *_WAYS[:2],
        bind("home", "scroll_top"),
        bind("end", "scroll_bottom"),
        *_WAYS[4:],
        bind("open", "select_cursor", "open"),
    ]

    def __init__(self, *columns: str, id: str) -> None:
        super().__init__(id=id, cursor_type="row", zebra_stripes=False, cell_padding=1)
        self._titles = columns

    def on_mount(self) -> None:
        """Head the columns."""
        for title in self._titles:
            self.add_column(f" {title}" if title == self._titles[0] else title, key=title)

    def show_rows(self, rows: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Show these rows, by their keys, and send what differs; the choice stays with its row."""
        chosen = self.chosen
        keys = [name for name, _ in rows]
        if [row.value for row in self.rows] != keys:
            self.clear()
            for name, cells in rows:
                self.add_row(*map(Text, _indent(cells)), key=name)
            if chosen in keys:
                self.move_cursor(row=keys.index(chosen))
            return
        for name, cells in rows:
            for title, cell in zip(self._titles, _indent(cells), strict=True):
                if self.get_cell(name, title) != Text(cell):
                    self.update_cell(name, title, Text(cell), update_width=True)

    def render_line(self, y: int) -> Strip:
        """Return a line, with a sign before the chosen one that needs no colour."""
        strip, row = super().render_line(y), y - self.header_height + int(self.scroll_offset.y)
        is_chosen = self.has_focus and y >= self.header_height and row == self.cursor_row < self.row_count
        return mark_line(strip) if is_chosen else strip

    def on_click(self, event: events.Click) -> None:
        """Let one click open a row, where the library wants a second one on the same cell."""
        if event.style.meta.get("row", -1) >= 0 and event.style.meta["row"] != self.cursor_row:
            self.call_later(self.action_select_cursor)

    @property
    def chosen(self) -> str | None:
        """The key of the chosen row, or None of no rows."""
        return self.coordinate_to_cell_key(self.cursor_coordinate).row_key.value if self.row_count else None


def _indent(cells: Sequence[str]) -> tuple[str, ...]:
    """Leave room for the sign before the first cell."""
    return f" {cells[0]}", *cells[1:]


_EMPTY = "No public game is being played now. This page shows it when one begins."
_PRIVATE = "Private games are not listed: type their code, or paste it."


class WatchScreen(FramedScreen):
    """A list of games; the code of one that is not in it may be typed. What the list says the home screen hears."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("back", label="back"), bind("help", label="help")]
    foot_renames = MappingProxyType({"open": "watch"})
    heading = "Watch a game"
    foot_first = ("watch", "back")

    def describe_head(self) -> tuple[Content, str]:
        """Return the title, and how many games are on."""
        return super().describe_head()[0], f"{len(self.desk.lobby.playing())} live"

    def lay_out(self) -> Iterable[Widget]:
        """Lay out the list, and what is said below it."""
        yield Static(_EMPTY, id="empty")
        yield Table(*COLUMNS, id="first")
        yield Static(_PRIVATE, id="note")

    def opened(self) -> None:
        """Read the list anew."""
        self.desk.lobby.follow()

    def closed(self) -> None:
        """Whoever went back wants to watch nothing."""
        self.desk.errands.give_up()

    def show(self) -> None:
        """Show the games."""
        if self.query(Table):
            playing = self.desk.lobby.playing()
            self.query_one("#empty").display = not playing
            self.query_one(Table).display = bool(playing)
            self.query_one(Table).show_rows(
                [(room.room, self.desk.lobby.describe(room, ascii_only=self.desk.settings.ascii)) for room in playing]
            )

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Watch the chosen game."""
        if event.row_key.value is not None:
            self.desk.errands.enter(Choice("watch", code=event.row_key.value), self)

    def on_key(self, event: events.Key) -> None:
        """Begin a code with the first letter of it."""
        if event.character is not None and event.character.isalnum():
            event.stop()
            self.desk.errands.ask_for_room(event.character, "watch", self)

    def on_paste(self, event: events.Paste) -> None:
        """Take a code or a link."""
        event.stop()
        self.desk.errands.ask_for_room(event.text.strip(), "watch", self)
