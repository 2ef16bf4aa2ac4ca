"""The games that one may watch; the code of one that is not in the list may be typed."""

from __future__ import annotations

from types import MappingProxyType
from typing import ClassVar

from textual import events
from textual.binding import BindingType

from tictactoe_client.online.client import Choice
from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.lists import ListPage
from tictactoe_protocol.catalogue import say


class WatchPage(ListPage):
    """The list; what the server says of it the program hears."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("back", label="key back"), bind("help", label="key help")]
    key_names = MappingProxyType({"key open": "key watch"})
    heading = "watch title"
    first_keys = ("key watch", "key back")
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
        self.program.ways_in.enter(Choice("watch", code=name), self)

    def on_key(self, event: events.Key) -> None:
        if event.character is not None and event.character.isalnum():
            event.stop()
            self.program.ways_in.ask_for_room(event.character, "watch", self)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.program.ways_in.ask_for_room(event.text.strip(), "watch", self)
