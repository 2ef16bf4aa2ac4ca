"""What every screen of the client is: one of Textual's, with what the program asks of it and what it may ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.timer import Timer

from tictactoe_client.online.messages import Message
from tictactoe_client.tui.canvas import Canvas
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.size_notice import notice_size
from tictactoe_client.tui.stage import Stage, place_stage

if TYPE_CHECKING:
    from tictactoe_client.tui.app import TicTacToe
    from tictactoe_client.tui.page import Page


class ClientScreen(Screen[None], inherit_bindings=False):
    """A screen; the methods below are what one may do, and what it does where it says nothing.

    It is drawn, and hears its keys, only while it is the top one; of the server it hears always.
    """

    needs_server = True
    """Whether it means nothing once there is no server to be had; home then says so in its place."""

    @property
    def desk(self) -> TicTacToe:
        """The program, of which one asks for other screens, the connection, settings and the way out."""
        return cast("TicTacToe", self.app)

    @property
    def page(self) -> Any:
        """What the program asks: the screen itself, or the page that it shows."""
        return self

    @property
    def window_title(self) -> str:
        """What the terminal's window is called meanwhile."""
        return "tictactoe"

    def redraw(self) -> None:
        """Show what has changed."""

    def hear(self, message: Message) -> None:
        """Take a message of the server."""

    def connected(self) -> None:
        """Take note that there is a connection, perhaps again, to a server that may not know of us."""

    def opened(self) -> None:
        """Take note that it came to lie on top."""

    def covered(self, page: Any) -> None:
        """Take note that another came to lie above."""

    def closed(self) -> None:
        """Take note that it was taken off."""

    def asks_first(self) -> bool:
        """Ask before the program ends, where that costs something and was not asked yet; tell whether it is asked."""
        return False

    async def say_goodbye(self) -> str:
        """Give up what others wait for, as the program ends; return a line for the terminal, or nothing."""
        return ""


class PageScreen(ClientScreen):
    """Shows a page that draws itself."""

    def __init__(self, page: Page, canvas: Canvas) -> None:
        super().__init__()
        self.canvas = canvas
        self._page = page
        self._stage = Stage(0, 0, 0, 0)
        self._timer: Timer | None = None

    @property
    def page(self) -> Page:
        """The page."""
        return self._page

    @property
    def window_title(self) -> str:
        """The page's."""
        return self._page.window_title

    def compose(self) -> ComposeResult:
        """Lay out the one canvas."""
        yield self.canvas

    def on_mount(self) -> None:
        """Draw as soon as there is something to draw on."""
        self.canvas.focus()
        self.desk.redraw()

    def on_screen_suspend(self) -> None:
        """Nothing changes by itself that is not in sight."""
        self._set_timer(None)

    def on_screen_resume(self) -> None:
        """Draw what it has become meanwhile."""
        self.desk.redraw()

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new size."""
        self.call_after_refresh(self.desk.redraw)

    def redraw(self) -> None:
        """Draw the page, or say how large its window must be."""
        if not self.canvas.is_mounted:
            return
        page, window = self._page, (self.app.size.width, self.app.size.height)
        if self._is_too_small():
            picture = Picture(*window)
            for y, line in enumerate(notice_size(page.needed_size(), window, page.question)):
                picture.put(0, y, line)
        else:
            self._stage = place_stage(page.wanted_size(*window), window)
            on_stage = Picture(self._stage.width, self._stage.height, ascii_only=self.desk.settings.ascii)
            page.draw(on_stage, self.desk.status)
            picture = self._stage.show(on_stage, *window)
        self.canvas.show(picture)
        self._set_timer(page.seconds_to_change)

    def on_canvas_pressed(self, event: Canvas.Pressed) -> None:
        """Pass a key to the page, but for those that mean the same everywhere."""
        if not self.desk.press_anywhere(event.name) and not self._is_too_small():
            self.desk.attempt(self._page.press, event.name)

    def on_canvas_pasted(self, event: Canvas.Pasted) -> None:
        """Pass pasted text to the page."""
        self.desk.attempt(self._page.paste, event.text)

    def on_canvas_clicked(self, event: Canvas.Clicked) -> None:
        """Pass a click to the page, by the place on its stage; beside the stage there is nothing to click."""
        self.desk.note_person()
        place = self._stage.find(event.x, event.y)
        if place is not None and not self._is_too_small():
            self.desk.attempt(self._page.click, *place)

    def on_canvas_scrolled(self, event: Canvas.Scrolled) -> None:
        """Pass a turn of the wheel to the page."""
        self.desk.attempt(self._page.scroll, event.lines)

    def _is_too_small(self) -> bool:
        width, height = self._page.needed_size()
        return self.app.size.width < width or self.app.size.height < height

    def _set_timer(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if seconds is not None:
            self._timer = self.set_timer(seconds, self._tick)

    def _tick(self) -> None:
        self.desk.attempt(self._page.tick)

    def hear(self, message: Message) -> None:
        """Pass it on to the page."""
        self._page.hear(message)

    def connected(self) -> None:
        """Pass it on to the page."""
        self._page.connected()

    def opened(self) -> None:
        """Pass it on to the page."""
        self._page.opened()

    def covered(self, page: Any) -> None:
        """Pass it on to the page."""
        self._page.covered(page)

    def closed(self) -> None:
        """Pass it on to the page."""
        self._page.closed()

    def asks_first(self) -> bool:
        """Pass it on to the page."""
        return self._page.asks_first()

    async def say_goodbye(self) -> str:
        """Pass it on to the page."""
        return await self._page.say_goodbye()
