"""A screen that is one picture: it is painted as a whole, and the canvas sends what has changed of it."""

from __future__ import annotations

from abc import abstractmethod

from textual import events
from textual.app import ComposeResult
from textual.geometry import Offset, Region
from textual.widget import Widget

from tictactoe_client.tui.canvas import Canvas
from tictactoe_client.tui.desk import ClientScreen
from tictactoe_client.tui.picture import Picture, notice_size
from tictactoe_client.tui.themes import theme_named
from tictactoe_protocol.catalogue import say


class DrawnScreen(ClientScreen):
    """A screen that is one picture on a stage, drawn once for all that changes at the same time.

    `is_small` where the window has no room for the picture, and says so in its place.
    """

    def __init__(self, *children: Widget) -> None:
        super().__init__()
        self.canvas = Canvas(*children)
        self.stage = Region()
        self.is_small = False
        self._painted = ""

    @abstractmethod
    def needed_size(self) -> tuple[int, int]:
        """Return the width and height of the smallest window that shows the picture."""

    @abstractmethod
    def place(self, width: int, height: int) -> Region:
        """Return where the picture stands in a window of this size."""

    def describe_key(self, label: str) -> str:
        """Return what stands on the binding already; the program's own way out is bound by an id."""
        return say(label) if label == "key quit" else label

    @abstractmethod
    def paint(self, page: Picture) -> None: ...

    def describe_question(self) -> str:
        """Return what is asked, which also a window that is too small says."""
        return ""

    def compose(self) -> ComposeResult:
        yield self.canvas

    def find(self, event: events.MouseEvent) -> Offset | None:
        """Return the place of the picture that is pointed at, None beside it and where there is no room for it."""
        is_beside = self.is_small or not self.stage.contains_point(event.screen_offset)
        return None if is_beside else event.screen_offset - self.stage.offset

    def draw(self) -> None:
        if self._painted != self.app.theme:
            self._painted = self.app.theme
            self.canvas.use_theme(theme_named(self._painted))
        window, needed = (self.app.size.width, self.app.size.height), self.needed_size()
        self.is_small = window[0] < needed[0] or window[1] < needed[1]
        if self.is_small:
            picture = Picture(*window)
            for y, line in enumerate(notice_size(needed, window, self.describe_question())):
                picture.put(0, y, line)
            for widget in self.canvas.children:
                widget.display = False
        else:
            self.stage = self.place(*window)
            page = Picture(self.stage.width, self.stage.height, ascii_only=self.desk.settings.ascii)
            self.paint(page)
            picture = Picture(*window)
            picture.paste(*self.stage.offset, page.rows)
        self.canvas.show(picture)
