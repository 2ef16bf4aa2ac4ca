"""The desk on a real terminal: one canvas, the pages upon it, time, signals, and the way out.

The only place, with `canvas`, that knows the terminal library.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.timer import Timer

from tictactoe_client.address import Address
from tictactoe_client.choosing import Choice
from tictactoe_client.errors import ClientError, ConnectionLost, ProtocolBroken, Refused
from tictactoe_client.guide import describe_giving_up
from tictactoe_client.messages import Message
from tictactoe_client.seats import Seats
from tictactoe_client.session import exit_code_for
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.tui.canvas import Canvas
from tictactoe_client.tui.game_page import GamePage
from tictactoe_client.tui.home_page import HomePage
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.link import Link
from tictactoe_client.tui.page import Page
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.themes import theme_named
from tictactoe_client.tui.watch_page import WatchPage
from tictactoe_protocol import clean_text

_IDLE_SECONDS = 10.0
"""Without a key for so long a person counts as away, where the terminal does not say."""


class TicTacToe(App[int], inherit_bindings=False):
    """The program; `first` is where the command line wants to go at once."""

    ENABLE_COMMAND_PALETTE = False
    CSS = "Screen { background: transparent; overflow: hidden; }"
    BINDINGS: ClassVar = []

    def __init__(
        self, settings: Settings, address: Address, first: Choice | None = None, *, watching: bool = False
    ) -> None:
        _choose_colour(wanted=settings.colour)
        super().__init__(ansi_color=True)
        self.settings = settings
        self.keymap = Keymap(settings.changed_keys)
        self.last_words = ""
        self.failure: BaseException | None = None
        self.canvas = Canvas(theme_named(settings.theme, colour=settings.colour))
        self._status: tuple[str, str] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: Timer | None = None
        self._window_title = ""
        self._is_focused: bool | None = None
        self._last_key = time.monotonic()
        room = first.code if first is not None and first.way == "join" else None
        wants_seat = first is None or room
        self.link = Link(
            settings,
            address,
            hear=self._hear,
            connected=self._connected,
            changed=self.redraw,
            failed=self._lose,
            saved=Seats().find(address.url, room) if wants_seat else None,
            watches=watching or (first is not None and first.way == "watch"),
        )
        home = HomePage(self, first)
        self._pages: list[Page] = [home, WatchPage(self, home.rooms)] if watching else [home]

    # -- the desk -------------------------------------------------------------------------------------------------

    @property
    def pages(self) -> list[Page]:
        """The pages, the visible one last."""
        return self._pages

    def open(self, page: Page) -> None:
        """Lay a page on top; a game whose connection has failed meanwhile is none any more."""
        if isinstance(page, GamePage) and self.link.phase == "failed":
            return
        self._pages.append(page)
        self._status = None
        page.opened()
        self.redraw()

    def close_page(self) -> None:
        """Take the top page off; below the first the program ends."""
        if len(self._pages) == 1:
            self.leave(ExitCode.NORMAL)
            return
        self._pages.pop().closed()
        self._pages[-1].opened()
        self.redraw()

    def go_home(self) -> None:
        """Take off all but the first page."""
        while len(self._pages) > 1:
            self._pages.pop().closed()
        self._pages[-1].opened()
        self.redraw()

    def run(self, work: Coroutine[Any, Any, None]) -> None:  # type: ignore[override]
        """Do something that takes time."""
        task = asyncio.create_task(self._guard(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def say(self, text: str, role: str = "warn") -> None:
        """Show something on the status line until the next key."""
        self._status = (clean_text(text), role)
        self.redraw()

    def hush(self) -> None:
        """Take what was said off the status line."""
        self._status = None

    def redraw(self) -> None:
        """Show what has changed."""
        if not self.is_running or not self.canvas.is_mounted:
            return
        try:
            self._show()
        except Exception as error:
            self._fail(error)

    def now(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def leave(self, code: int, message: str = "") -> None:
        """End the program, having given up what others wait for."""
        self.last_words = self.last_words or message
        self.run(self._say_goodbye(code))

    def ring(self) -> None:
        """Ring the bell where that is wanted: always, or while the person looks elsewhere."""
        mode = self.settings.bell
        idle = time.monotonic() - self._last_key > _IDLE_SECONDS
        is_away = idle if self._is_focused is None else not self._is_focused
        if mode == "always" or (mode == "away" and is_away):
            self.bell()

    def copy(self, text: str) -> None:
        """Put text on the clipboard, where the terminal lets us."""
        self.copy_to_clipboard(text)

    def use_theme(self, name: str) -> None:
        """Change the colours."""
        self.settings = replace(self.settings, theme=name)
        self.canvas.use_theme(theme_named(name, colour=self.settings.colour))
        self.say(f"Theme: {name}", "dim")

    # -- what happens ---------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """Lay out the one canvas."""
        yield self.canvas

    def on_mount(self) -> None:
        """Show something at once, then connect."""
        self.canvas.focus()
        self.redraw()
        self.run(self.link.run())

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new size."""
        self.call_after_refresh(self.redraw)

    def on_app_focus(self) -> None:
        """Take note that the person looks here."""
        self._is_focused = True

    def on_app_blur(self) -> None:
        """Take note that the person looks elsewhere."""
        self._is_focused = False

    def on_canvas_pressed(self, event: Canvas.Pressed) -> None:
        """Pass a key to the page, but for those that mean the same everywhere."""
        self._last_key = time.monotonic()
        self._status = None
        if self.keymap.does(event.name, "quit"):
            self.leave(self._exit_code())
        elif self.keymap.does(event.name, "redraw"):
            self.refresh(layout=True, repaint=True)
            self.canvas.refresh()
        elif not self._is_too_small():
            self._attempt(self._pages[-1].press, event.name)
        elif self.keymap.does(event.name, "leave"):
            self.leave(ExitCode.INTERRUPTED)

    def on_canvas_pasted(self, event: Canvas.Pasted) -> None:
        """Pass pasted text to the page."""
        self._attempt(self._pages[-1].paste, event.text)

    def on_canvas_clicked(self, event: Canvas.Clicked) -> None:
        """Pass a click to the page."""
        self._last_key = time.monotonic()
        self._status = None
        if not self._is_too_small():
            self._attempt(self._pages[-1].click, event.x, event.y)

    def on_canvas_scrolled(self, event: Canvas.Scrolled) -> None:
        """Pass a turn of the wheel to the page."""
        self._attempt(self._pages[-1].scroll, event.lines)

    def stop_by_signal(self, number: int) -> None:
        """End as a signal asks, politely; the second one ends at once."""
        self.leave(128 + number)

    def _attempt(self, deed: Any, *arguments: Any) -> None:
        try:
            deed(*arguments)
        except Exception as error:
            self._fail(error)
        self.redraw()

    def _hear(self, message: Message) -> None:
        for page in tuple(self._pages):
            self._attempt(page.hear, message)

    def _connected(self) -> None:
        for page in tuple(reversed(self._pages)):
            self._attempt(page.connected)

    async def _guard(self, work: Coroutine[Any, Any, None]) -> None:
        """Tell what was refused; whatever else goes wrong is our mistake and ends the program."""
        try:
            await work
        except Refused as refused:
            self.say(refused.message)
        except ClientError as error:
            if self.link.phase != "failed":
                self.say(error.message)
        except Exception as error:
            self._fail(error)

    def _lose(self, failure: ClientError) -> None:
        """Leave a game that could not be gone back to; from anywhere else go home, where one may try again."""
        page = self._pages[-1]
        if isinstance(failure, ProtocolBroken) and len(self._pages) > 1:
            self.leave(exit_code_for(failure), failure.message)
        elif isinstance(failure, ConnectionLost) and isinstance(page, GamePage) and page.table.is_live:
            reason = failure.reason
            text = describe_giving_up(page.table.state, page.table.viewer, self.link.address, reason)
            self.leave(ExitCode.CONNECTION_LOST, text)
        elif len(self._pages) > 1:
            self.go_home()

    def _fail(self, error: BaseException) -> None:
        if self.failure is None:
            self.failure = error
            self.exit(ExitCode.OUR_BUG, return_code=ExitCode.OUR_BUG)

    def _handle_exception(self, error: Exception) -> None:
        """Take what the library could not handle for our mistake too, and print no traceback over the terminal."""
        self._fail(error)

    async def _say_goodbye(self, code: int) -> None:
        for page in reversed(self._pages):
            await page.say_goodbye()
        self.exit(code, return_code=code)

    def _exit_code(self) -> int:
        failure = self.link.failure
        return exit_code_for(failure) if failure is not None and self.link.phase == "failed" else ExitCode.NORMAL

    # -- drawing --------------------------------------------------------------------------------------------------

    def _is_too_small(self) -> bool:
        page, size = self._pages[-1], self.size
        return size.width < page.min_width or size.height < page.min_height

    def _show(self) -> None:
        page, size = self._pages[-1], self.size
        picture = Picture(size.width, size.height)
        if self._is_too_small():
            text = f"needs at least {page.min_width}x{page.min_height}, now {size.width}x{size.height}"
            picture.put(0, 0, text)
        else:
            page.draw(picture, self._status)
        self.canvas.show(picture)
        self._set_window_title(page.window_title)
        self._set_timer(page.seconds_to_change)

    def _set_timer(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if seconds is not None:
            self._timer = self.set_timer(seconds, self._tick)

    def _tick(self) -> None:
        self._attempt(self._pages[-1].tick)

    def _set_window_title(self, title: str) -> None:
        if title != self._window_title and self._driver is not None and not self.is_headless:
            self._window_title = title
            self._driver.write(f"\x1b]2;{clean_text(title)}\x07")


def _choose_colour(*, wanted: bool) -> None:
    """Tell the terminal library about colour; an empty NO_COLOR, which it would obey, counts as not set."""
    if wanted:
        os.environ.pop("NO_COLOR", None)
    else:
        os.environ["NO_COLOR"] = "1"
