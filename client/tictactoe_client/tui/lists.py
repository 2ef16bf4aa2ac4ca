"""Lists of one-line rows with a chosen row, and the page of running games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.reactive import reactive
from textual.strip import Strip
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tictactoe_client.input.ways import Choice
from tictactoe_client.online.client import Client
from tictactoe_client.text.lobby import align_columns
from tictactoe_client.tui.foot import bind_keys
from tictactoe_client.tui.page import Page
from tictactoe_words.catalogue import say

_MAX_COLUMN: Final = 34


class Signed(OptionList, inherit_bindings=False):
    """A list that marks its chosen row with ">", so that it can do without colour."""

    def render_line(self, y: int) -> Strip:
        """Return a line; in the chosen row, ">" replaces the first character."""
        strip = super().render_line(y)
        if y + int(self.scroll_offset.y) != self.highlighted:
            return strip
        style = next((segment.style for segment in strip), None)
        return Strip.join([Strip([Segment(">", style)], 1), strip.crop(1)])


class Rows(Signed, can_focus=False):
    """Named rows; choosing another row redraws only the two rows concerned."""

    highlighted: reactive[int | None] = reactive(None, repaint=False)
    _painted: int | None = None

    def __init__(self, id: str = "rows") -> None:
        super().__init__(markup=False, compact=True, id=id)

    def show(self, rows: Mapping[str, str], chosen: str) -> None:
        before = {option.id: option.prompt for option in self.options}
        shown = {name: f"  {text}" for name, text in rows.items()}
        self.display = bool(rows)
        if list(before) != list(shown):
            self.set_options(Option(text, id=name) for name, text in shown.items())
        for name, text in shown.items():
            if text != before.get(name, text):
                self.replace_option_prompt(name, text)
        self.highlighted = self.get_option_index(chosen) if chosen in shown else None

    def on_resize(self) -> None:
        """Keep the chosen row visible when the window shrinks."""
        self.scroll_to_highlight()

    def watch_highlighted(self, highlighted: int | None) -> None:
        super().watch_highlighted(highlighted)
        for line in (self._painted, highlighted):
            if line is not None:
                self.refresh_line(line)
        self._painted = highlighted


class ListPage(Page):
    """A page with one or more lists, one below the other; one row of all of them is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = bind_keys("list")
    wraps = True
    """Whether moving down from the last row chooses the first."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = Rows()
        self.chosen = ""
        self._names: Sequence[str] = ()

    def compose_body(self) -> ComposeResult:
        yield self.text("columns")
        yield self.rows
        yield self.text("hint")

    @property
    def at(self) -> int:
        return self._names.index(self.chosen) if self.chosen in self._names else 0

    async def fetch(self, client: Client) -> None:
        """Load what the page shows; called when the page comes to the top, and after each connection."""

    def opened(self) -> None:
        self.program.start_online(self.fetch)

    connected = opened

    def show_table(self, table: Mapping[str, Sequence[str]]) -> None:
        titles, rows = align(table)
        self.keep(list(rows))
        self.text("columns").show((titles if rows else "", "dim"))
        self.rows.show(rows, self.chosen)

    def keep(self, names: Sequence[str]) -> None:
        """Set the names of the rows; if the chosen row is not among them, choose the first."""
        self._names = names
        if names and self.chosen not in names:
            self.chosen = names[0]
            self.chose()

    def choose(self, name: str) -> None:
        """Choose a row, even if it is not in the list yet."""
        self.chosen = name
        self.chose()
        self.redraw()

    def chose(self) -> None:
        """Called when another row has been chosen."""

    def open_row(self, name: str) -> None: ...

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._names) or action not in ("move", "go", "page", "open")

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


class WatchPage(ListPage):
    """The running public games; typing a letter or digit asks for the code of another game."""

    situation = "watch"
    heading = "watch title"
    wraps = False

    def describe_about(self) -> str:
        return say("watch live", n=len(self.program.lobby.list_rooms("playing")))

    def opened(self) -> None:
        self.program.lobby.follow()

    def closed(self) -> None:
        self.program.ways_in.give_up()

    def fill(self) -> None:
        games = self.program.lobby.tabulate("playing")
        self.show_table(games)
        nothing = "" if len(games) > 1 else f"{say('watch nothing')}\n\n"
        self.text("hint").show((nothing, ""), (say("watch private"), "dim"))

    def open_row(self, name: str) -> None:
        self.program.ways_in.go(Choice("watch", code=name), self)

    def on_key(self, event: events.Key) -> None:
        if event.character is not None and event.character.isalnum():
            event.stop()
            self.program.ways_in.ask_for_room(event.character, "watch", self)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.program.ways_in.ask_for_room(event.text.strip(), "watch", self)


def align(table: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, str]]:
    """Return the first row of a table, the column titles, and its other rows by name, each as one aligned line.

    >>> align({"": ("room", "who"), "K7M4PQ": ("K7M4PQ", "ana")})
    ('  room    who', {'K7M4PQ': 'K7M4PQ  ana'})
    """
    titles, *rows = align_columns(table.values(), max_width=_MAX_COLUMN)
    return f"  {titles}", dict(zip(list(table)[1:], rows, strict=True))
