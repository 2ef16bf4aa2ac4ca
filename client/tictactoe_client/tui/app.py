"""The desk on a real terminal: one canvas that shows its pages, keys and clicks, time, signals.

The only place, with `canvas`, that knows the terminal library.
"""

from __future__ import annotations

import os
import time
from typing import Any, ClassVar

from rich.console import RenderableType
from textual import events
from textual._compositor import ChopsUpdate
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.timer import Timer

from tictactoe_client.online.address import Address
from tictactoe_client.online.choosing import Choice
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.tui.canvas import Canvas
from tictactoe_client.tui.desktop import Desktop
from tictactoe_client.tui.opening import Opening
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.size_notice import notice_size
from tictactoe_client.tui.stage import Stage, place_stage
from tictactoe_client.tui.themes import theme_named
from tictactoe_protocol import clean_text

_IDLE_SECONDS = 10.0
"""Without a key for so long a person counts as away, where the terminal does not say."""


class TicTacToe(Desktop, App[int], inherit_bindings=False):  # type: ignore[misc]
    """The program; `first` is where the command line wants to go at once."""

    ENABLE_COMMAND_PALETTE = False
    CSS = "Screen { background: transparent; overflow: hidden; }"
    BINDINGS: ClassVar = []

    def __init__(
        self, settings: Settings, address: Address, first: Choice | None = None, *, opening: Opening | None = None
    ) -> None:
        _silence_no_color()
        App.__init__(self, ansi_color=True)
        opening = opening or Opening()
        self.canvas = Canvas(theme_named(settings.theme, colour=settings.colour))
        self._stage = Stage(0, 0, 0, 0)
        self._timer: Timer | None = None
        self._window_title = ""
        self._is_focused: bool | None = None
        self._last_key = time.monotonic()
        self._connects = opening.connects
        Desktop.__init__(self, settings, address, first, opening)

    # -- the desk -------------------------------------------------------------------------------------------------

    def redraw(self) -> None:
        """Show what has changed."""
        if not self.is_running or not self.canvas.is_mounted:
            return
        try:
            self._show()
        except Exception as error:
            self._fail(error)

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

    def apply_setting(self, field: str) -> None:
        """Let a changed setting be seen on the terminal."""
        if field in ("theme", "colour"):
            self.canvas.use_theme(theme_named(self.settings.theme, colour=self.settings.colour))
        elif field == "mouse":
            self._use_mouse(wanted=self.settings.mouse)

    def end(self, code: int) -> None:
        """Give the terminal back and end with this exit code."""
        self.exit(code, return_code=code)

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
        elif self.keymap.does(event.name, "leave"):
            self._attempt(self.quit, ExitCode.INTERRUPTED)
        elif self.keymap.does(event.name, "redraw"):
            self.refresh(layout=True, repaint=True)
            self.canvas.refresh()
        elif not self._is_too_small():
            self._attempt(self._pages[-1].press, event.name)

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

    def _handle_exception(self, error: Exception) -> None:
        """Take what the library could not handle for our mistake too, and print no traceback over the terminal."""
        self._fail(error)

    # -- drawing --------------------------------------------------------------------------------------------------

    def _is_too_small(self) -> bool:
        width, height = self._pages[-1].needed_size()
        return self.size.width < width or self.size.height < height

    def _show(self) -> None:
        page, window = self._pages[-1], (self.size.width, self.size.height)
        if self._is_too_small():
            picture = Picture(*window)
            for y, line in enumerate(notice_size(page.needed_size(), window, page.question)):
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
