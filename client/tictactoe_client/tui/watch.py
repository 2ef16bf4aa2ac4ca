"""The games that are being played, to watch one of them."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import DataTable, Static

from tictactoe_client.online.client import Choice
from tictactoe_client.tui.lists import Table
from tictactoe_client.tui.lobby import COLUMNS
from tictactoe_client.tui.screen import FramedScreen, bind

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
            self.query_one(Table).show_rows([(room.room, self.desk.lobby.describe(room)) for room in playing])

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Watch the chosen game."""
        if event.row_key.value is not None:
            self.desk.entrance.enter(Choice("watch", code=event.row_key.value), self)

    def on_key(self, event: events.Key) -> None:
        """Begin a code with the first letter of it."""
        if event.character is not None and event.character.isalnum():
            event.stop()
            self.desk.entrance.ask_for_room(event.character, "watch", self)

    def on_paste(self, event: events.Paste) -> None:
        """Take a code or a link."""
        event.stop()
        self.desk.entrance.ask_for_room(event.text.strip(), "watch", self)
