"""The full-screen program: opens its screens, and adapts Textual."""

from __future__ import annotations

import time
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar, Final

from rich.console import Console
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.driver import Driver
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import Screen

from tictactoe_client.input.record import RecordedRoom
from tictactoe_client.input.ways import Choice, EventWay
from tictactoe_client.online.address import Address
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_client.streams.terminal import Terminal
from tictactoe_client.themes import THEMES, library_theme
from tictactoe_client.tui import FirstPage
from tictactoe_client.tui.events import EventPage
from tictactoe_client.tui.foot import bind_keys
from tictactoe_client.tui.history import HistoryPage
from tictactoe_client.tui.home import PAGES, HomePage
from tictactoe_client.tui.line import Line
from tictactoe_client.tui.names import NamesPage
from tictactoe_client.tui.picture import ASCII
from tictactoe_client.tui.program import ClientScreen, Program
from tictactoe_client.tui.room.screen import RoomScreen

TICK_SECONDS: Final = 1.0


class PlainSigns(LineFilter):
    """Replaces special characters, such as frames, with ASCII."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(text.translate(ASCII), style, control) for text, style, control in segments]


class TicTacToe(Program, inherit_bindings=False):
    """The program; `unhandled` collects errors that Textual would otherwise print over the terminal."""

    TITLE = "tictactoe"
    CSS_PATH = Path(__file__).with_name("pages.tcss")
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = bind_keys("app", priority=True)

    def __init__(
        self,
        settings: Settings,
        address: Address,
        first: Choice | None = None,
        *,
        first_page: FirstPage | None = None,
        terminal: Terminal | None = None,
    ) -> None:
        self._first_page = first_page or FirstPage()
        self._asked_page = self._first_page.page if self._first_page.page in ("watch", "events") else ""
        super().__init__(settings, address, first, self._first_page.role_for(first), terminal or Terminal())
        self.unhandled = StringIO()
        self.error_console = Console(file=self.unhandled, width=120)
        for name in THEMES[1:]:
            self.register_theme(library_theme(name))
        self.show_theme()
        self.set_keymap(self.keymap.for_library)

    def get_default_screen(self) -> Screen[Any]:
        """Return the bottom screen. Going back from it ends the program, unless it is the home screen."""
        first_page = self._first_page
        if first_page.record is not None:
            return RoomScreen(self, RecordedRoom(first_page.record), news=first_page.note, ply=first_page.ply)
        return HistoryPage(first_page.limit) if first_page.page == "history" else HomePage()

    def on_mount(self) -> None:
        self.set_class(self.settings.ascii, "-ascii")
        if self._asked_page:
            self.push_screen(PAGES[self._asked_page].page())
        elif self._first_page.enter is not None:
            self.push_screen(EventPage(self._first_page.enter, is_first=True))
        for doubt in self.settings.doubts[:1]:
            self.say(doubt)
        self.redraw()
        self.set_interval(TICK_SECONDS, self.tick)
        if self._first_page.record is None:
            self.start(self.session.run())

    def _connected(self) -> None:
        """Open the page that the command line asked for again, if a failed connection had closed it."""
        super()._connected()
        page, self._asked_page = self._asked_page, ""
        if page and self.screens[-1] is self.screens[0]:
            self.open(PAGES[page].page())

    def tick(self) -> None:
        """Update times and clocks; do nothing if the last screen has closed."""
        if self.screens:
            self.heed_call()
            self.screens[-1].tick()

    def open_room(self, room: Room, choice: Choice, over: Screen[Any] | None, news: str = "") -> None:
        self.go_back_to(over if isinstance(over, ClientScreen) and over in self.screens else self.screens[0])
        if self.session.phase != "failed":
            self.open(RoomScreen(self, room, choice.again(room), news))

    def open_event(self, code: str, ticket: str, address: Address | None) -> None:
        if address is not None and not self.session.cluster.has(address):
            self.ways_in.travel(address)
        self.open(EventPage(EventWay(code, ticket, watches=not ticket)))

    async def claim_name(self, why: str) -> str | None:
        page = NamesPage()
        self.open(page)
        self.say(why)
        return await page.claimed

    def get_driver_class(self) -> type[Driver]:
        return self.terminal.drive_with(super().get_driver_class())

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return Textual's filters except its NO_COLOR filters; our settings handle NO_COLOR."""
        filters = [
            line_filter
            for line_filter in super().get_line_filters()
            if not isinstance(line_filter, (Monochrome, NoColor))
        ]
        return [*filters, PlainSigns()] if self.settings.ascii else filters

    def get_key_display(self, binding: Binding) -> str:
        return self.keymap.show_key(binding.key)

    def on_resize(self, event: events.Resize) -> None:
        """Pass a resize to the screen at once; Textual's delayed event is lost if the machine stalls at the start."""
        if self.screen_stack:
            self.screen.post_message(event)

    def on_key(self, event: events.Key) -> None:
        """Write a character into the focused input; by now, all earlier keys have been handled."""
        line, character = self.focused, event.character
        if isinstance(line, Line) and character and line.check_consume_key(event.key, character):
            line.write(character)
            event.prevent_default()

    async def on_event(self, event: events.Event) -> None:
        """Record keys, clicks and focus changes before the event is handled."""
        if isinstance(event, (events.Key, events.MouseDown)) and not event.is_forwarded:
            self._last_key = time.monotonic()
            self.screens[-1].note_person()
            self.status = None  # the person has read it
        elif isinstance(event, (events.AppFocus, events.AppBlur)):
            self._is_focused = isinstance(event, events.AppFocus)
        try:
            await super().on_event(event)
        except Exception as error:
            self.fail(error)
