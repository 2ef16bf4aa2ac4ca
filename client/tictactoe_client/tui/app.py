"""The desk on a real terminal: one canvas, the pages upon it, time, signals, and the way out.

The only place, with `canvas`, that knows the terminal library.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, ClassVar

from rich.console import RenderableType
from textual import events
from textual._compositor import ChopsUpdate
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.timer import Timer

from tictactoe_client.address import Address
from tictactoe_client.choosing import Choice
from tictactoe_client.config import entry_of, show_path
from tictactoe_client.errors import ClientError, ConnectionLost, ProtocolBroken, Refused
from tictactoe_client.guide import describe_giving_up
from tictactoe_client.messages import Message
from tictactoe_client.session import exit_code_for
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.tui.canvas import Canvas
from tictactoe_client.tui.game_page import GamePage
from tictactoe_client.tui.keeper import Keeper
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.link import Link
from tictactoe_client.tui.opening import Opening
from tictactoe_client.tui.page import Page
from tictactoe_client.tui.picture import Picture, wrap
from tictactoe_client.tui.stage import Stage, place_stage
from tictactoe_client.tui.themes import theme_named
from tictactoe_protocol import clean_text

_IDLE_SECONDS = 10.0
"""Without a key for so long a person counts as away, where the terminal does not say."""


class TicTacToe(App[int], inherit_bindings=False):
    """The program; `first` is where the command line wants to go at once."""

    ENABLE_COMMAND_PALETTE = False
    CSS = "Screen { background: transparent; overflow: hidden; }"
    BINDINGS: ClassVar = []

    def __init__(
        self, settings: Settings, address: Address, first: Choice | None = None, *, opening: Opening | None = None
    ) -> None:
        _silence_no_color()
        super().__init__(ansi_color=True)
        self.settings = settings
        self.keymap = Keymap(settings.changed_keys)
        self.last_words = ""
        self.failure: BaseException | None = None
        self.canvas = Canvas(theme_named(settings.theme, colour=settings.colour))
        self._keeper = Keeper(self._note_kept)
        self._stage = Stage(0, 0, 0, 0)
        self._status: tuple[str, str] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: Timer | None = None
        self._window_title = ""
        self._is_focused: bool | None = None
        self._last_key = time.monotonic()
        opening = opening or Opening()
        self._connects = opening.connects
        self.link = Link(
            settings,
            address,
            hear=self._hear,
            connected=self._connected,
            changed=self.redraw,
            failed=self._lose,
            token=opening.find_token(address.url, settings.name, first),
            watches=opening.page != "home" or (first is not None and first.way == "watch"),
        )
        self._pages: list[Page] = opening.lay_pages(self, first)

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
            self.leave(self._exit_code())
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

    def quit(self, code: int) -> None:
        """End the program, unless a page has a question first; the second time there is none."""
        if not any(page.asks_first() for page in reversed(self._pages)):
            self.leave(code)

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
        """Change the colours, now and for later runs, and say so."""
        self.say(f"Theme: {name}", "dim")
        self.change("theme", name)

    def change(self, field: str, value: str | bool) -> None:
        """Change a setting, now and for later runs."""
        changed: Callable[..., Settings] = replace
        self.settings = changed(self.settings, **{field: value})
        if field in ("theme", "colour"):
            self.canvas.use_theme(theme_named(self.settings.theme, colour=self.settings.colour))
        elif field == "mouse":
            self._use_mouse(wanted=bool(value))
        self.run(self._keeper.keep(*entry_of(field, value)))

    def rename(self, name: str) -> None:
        """Be called otherwise, now and, where this run was not told a name, in later runs."""
        self.link.rename(name)
        if self.settings.name_is_for_now:
            self.say("The name is for this run only: an option or the environment names another.", "dim")
        else:
            self.run(self._keeper.keep("name", name))

    @property
    def kept_in(self) -> str:
        """Where settings are kept for later runs, for people."""
        return show_path(self._keeper.path)

    @property
    def not_kept(self) -> str | None:
        """Why the last setting counts for this run only, or None."""
        return self._keeper.problem

    # -- what happens ---------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """Lay out the one canvas."""
        yield self.canvas

    def on_mount(self) -> None:
        """Show something at once, then connect, unless that which is shown needs no server."""
        self.canvas.focus()
        for doubt in self.settings.doubts[:1]:
            self.say(doubt)
        self.redraw()
        if self._connects:
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
            self._attempt(self.quit, self._exit_code())
        elif self.keymap.does(event.name, "redraw"):
            self.refresh(layout=True, repaint=True)
            self.canvas.refresh()
        elif not self._is_too_small():
            self._attempt(self._pages[-1].press, event.name)
        elif self.keymap.does(event.name, "leave"):
            self._attempt(self.quit, ExitCode.INTERRUPTED)

    def on_canvas_pasted(self, event: Canvas.Pasted) -> None:
        """Pass pasted text to the page."""
        self._attempt(self._pages[-1].paste, event.text)

    def on_canvas_clicked(self, event: Canvas.Clicked) -> None:
        """Pass a click to the page, by the place on its stage; beside the stage there is nothing to click."""
        self._last_key = time.monotonic()
        self._status = None
        place = self._stage.find(event.x, event.y)
        if place is not None and not self._is_too_small():
            self._attempt(self._pages[-1].click, *place)

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
        elif len(self._pages) > 1 and page.needs_server:
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
            self.last_words = self.last_words or await page.say_goodbye()
        await self._keeper.finish()
        self.exit(code, return_code=code)

    def _exit_code(self) -> int:
        failure = self.link.failure
        return exit_code_for(failure) if failure is not None and self.link.phase == "failed" else ExitCode.NORMAL

    # -- drawing --------------------------------------------------------------------------------------------------

    def _is_too_small(self) -> bool:
        width, height = self._pages[-1].needed_size()
        return self.size.width < width or self.size.height < height

    def _show(self) -> None:
        page, window = self._pages[-1], (self.size.width, self.size.height)
        if self._is_too_small():
            picture = Picture(*window)
            width, height = page.needed_size()
            lines = wrap(f"needs at least {width}x{height}, now {window[0]}x{window[1]}", window[0])
            for y, line in enumerate([*lines, *wrap(page.question, window[0])][-window[1] :]):
                picture.put(0, y, line)
        else:
            self._stage = place_stage(page.wanted_size(*window), window)
            on_stage = Picture(self._stage.width, self._stage.height, ascii_only=self.settings.ascii)
            page.draw(on_stage, self._status)
            picture = self._stage.show(on_stage, *window)
        self.canvas.show(picture)
        self._set_window_title(page.window_title)
        self._set_timer(page.seconds_to_change)

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Send as little as can be."""
        super()._display(screen, self.canvas.narrow(renderable) if isinstance(renderable, ChopsUpdate) else renderable)

    def _set_timer(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if seconds is not None:
            self._timer = self.set_timer(seconds, self._tick)

    def _tick(self) -> None:
        self._attempt(self._pages[-1].tick)

    def _note_kept(self) -> None:
        """Say where a setting does not last."""
        if self._keeper.problem is None:
            self.redraw()
        else:
            self.say(f"For this run only: {self._keeper.problem}.")

    def _use_mouse(self, *, wanted: bool) -> None:
        """Take the mouse, or leave it to the terminal; the library gives it back at the end only while it has it."""
        driver: Any = self._driver
        if driver is None or self.is_headless:
            return
        if wanted:
            driver._mouse = True
            driver._enable_mouse_support()
        else:
            driver._disable_mouse_support()
            driver._mouse = False

    def _set_window_title(self, title: str) -> None:
        if title != self._window_title and self._driver is not None and not self.is_headless:
            self._window_title = title
            self._driver.write(f"\x1b]2;{clean_text(title)}\x07")


def _silence_no_color() -> None:
    """Keep the terminal library from obeying NO_COLOR, even an empty one: our themes do, and may be changed."""
    os.environ.pop("NO_COLOR", None)
