"""What every screen outside rooms is: a page drawn with a title, what it is about, a line of news, and its keys."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Offset, Region
from textual.widget import Widget
from textual.widgets import Static

from tictactoe_client.text.help import Topic
from tictactoe_client.tui.canvas import Canvas
from tictactoe_client.tui.desk import ClientScreen
from tictactoe_client.tui.foot import bind, draw_keys, list_keys
from tictactoe_client.tui.picture import (
    Picture,
    fold,
    measure,
    notice_size,
    place_stage,
    shorten_left,
    wrap,
)
from tictactoe_client.tui.themes import theme_named

Part = tuple[str, str]
"""A text and its role."""


class DrawnScreen(ClientScreen):
    """A screen that is one picture on a stage, drawn once for all that changes at the same time.

    `is_small` where the window has no room for the picture, and says so in its place.
    """

    def __init__(self, *children: Widget) -> None:
        super().__init__()
        self.canvas = Canvas(*children)
        self.stage = Region()
        self.is_small = False
        self._is_dirty = False
        self._painted = ""

    @abstractmethod
    def needed_size(self) -> tuple[int, int]:
        """Return the width and height of the smallest window that shows the picture."""

    @abstractmethod
    def place(self, width: int, height: int) -> Region:
        """Return where the picture stands in a window of this size."""

    @abstractmethod
    def paint(self, page: Picture) -> None: ...

    def describe_question(self) -> str:
        """Return what is asked, which also a window that is too small says."""
        return ""

    def compose(self) -> ComposeResult:
        yield self.canvas

    def on_screen_resume(self) -> None:
        self.redraw()

    def on_resize(self) -> None:
        self.redraw()

    def find(self, event: events.MouseEvent) -> Offset | None:
        """Return the place of the picture that is pointed at, None beside it and where there is no room for it."""
        is_beside = self.is_small or not self.stage.contains_point(event.screen_offset)
        return None if is_beside else event.screen_offset - self.stage.offset

    def redraw(self) -> None:
        """Draw once for all that changes now; what has to be sent goes first."""
        if not self._is_dirty and self.canvas.is_mounted:
            self._is_dirty = True
            self.desk.start(self._draw())

    async def _draw(self) -> None:
        self._is_dirty = False
        if not self.is_current or self.desk.return_code is not None:
            return
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


class FramedScreen(DrawnScreen):
    """A page; `draw_body` draws what stands between its title and its keys."""

    AUTO_FOCUS = ""
    max_size: ClassVar = (120, 34)
    foot_first: tuple[str, ...] = ()
    """What the foot says first."""
    foot_renames: Mapping[str, str] = MappingProxyType({})
    """What the foot calls otherwise than the bindings do."""

    # -- what it looks like ---------------------------------------------------------------------------------------

    def draw_body(self, page: Picture, body: Region) -> None:
        """Draw what stands between the title and the line above the keys."""

    def describe_head(self) -> tuple[Sequence[Part], str]:
        return [(self.heading, "title")], ""

    def describe_status(self) -> Part | None:
        """Return what to say while nothing else was said."""
        errand, dots = self.desk.errands.errand, "..." if self.desk.settings.ascii else "…"
        return (f"{errand}{dots}   {self.desk.keymap.show('back')} cancel", "warn") if errand else None

    def needed_size(self) -> tuple[int, int]:
        return 36, 10

    def place(self, width: int, height: int) -> Region:
        return place_stage(self.max_size, (width, height))

    def paint(self, page: Picture) -> None:
        inner, last = page.width - 2, page.height - 1
        said = self.desk.status or self.describe_status()
        lines = fold(said[0], inner, 2) if said else []
        self.draw_body(page, Region(0, 2, page.width, last - 3 - len(lines)))
        head, right = self.describe_head()
        end = page.put_parts(1, 0, *head)
        page.put_right(0, shorten_left(right, max(1, page.width - end - 3)), "dim")
        for y in (1, last - 1):
            draw_rule(page, 0, y, page.width)
        for y, line in enumerate(lines, last - 1 - len(lines)):
            page.put(1, y, line, said[1] if said else "")
        draw_keys(page, list_keys(self, inner, self.foot_first, self.foot_renames))

    def draw_lines(self, page: Picture, y: int, lines: Sequence[Part]) -> int:
        """Draw texts with their roles below each other, broken where one is too long; return the row below them."""
        for text, role in lines:
            y = page.put_lines(3, y, page.width - 6, text, role)
        return y

    def action_back(self) -> None:
        self.desk.close(self)

    def action_help(self) -> None:
        self.desk.open(HelpScreen(self.list_help()))


def draw_rule(page: Picture, x: int, y: int, width: int, title: str = "") -> None:
    """Draw a line across, with a title in it."""
    page.put(x, y, ("-" if page.ascii_only else "─") * width, "dim", until=x + width)
    page.put(x + 1, y, title, "title")


class Page(VerticalScroll, inherit_bindings=False):
    """A text to scroll in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("up", "scroll_up", "scroll"),
        bind("down", "scroll_down", "scroll"),
        bind("page_up"),
        bind("page_down"),
        bind("home", "scroll_home"),
        bind("end", "scroll_end"),
    ]


class HelpScreen(FramedScreen):
    """What can be pressed and typed."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("back", label="back"), bind("help", "back")]
    heading = "Help"
    AUTO_FOCUS = "Page"
    _place = Region()

    def __init__(self, topics: Sequence[Topic]) -> None:
        self._text = Static(markup=False)
        self._page = Page(self._text)
        super().__init__(self._page)
        self._topics = topics

    def draw_body(self, page: Picture, body: Region) -> None:
        """Let the text lie below the title, its lines broken anew where the width has changed."""
        place = body.translate((self.stage.x, self.stage.y)).shrink((1, 3, 0, 3))
        if not self._page.display:
            self._page.display = True
            self._page.focus()
        if place != self._place:
            self._place = place
            styles = self._page.styles
            styles.offset, styles.width, styles.height = place.offset, place.width, place.height
            self._text.update(lay_out_topics(self._topics, min(body.width, 100) - 6))


def lay_out_topics(topics: Sequence[Topic], width: int) -> Content:
    """Return the topics as text of at most this width: what is typed or pressed, and beside it what that does."""
    lines: list[Content] = []
    for title, rows in topics:
        lines.append(Content.styled(title, "bold $title"))
        aside = min(max((measure(keys) for keys, _ in rows), default=0), width // 3)
        for keys, does in rows:
            parts = wrap(does, width - aside - 4)
            head = keys if measure(keys) > aside else keys + " " * (aside - measure(keys))
            if measure(keys) > aside:
                lines.append(Content.styled(f"  {head}", "bold $key"))
                head = " " * aside
            lines.append(Content.assemble((f"  {head}", "bold $key"), f"  {parts[0]}"))
            lines += [Content(" " * (aside + 4) + part) for part in parts[1:]]
        lines.append(Content())
    return Content("\n").join(lines)
