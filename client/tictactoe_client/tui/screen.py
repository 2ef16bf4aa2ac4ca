"""What every screen of the client is: one of Textual's, with what the program asks of it and what it may ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tictactoe_client.text.help import Topic
from tictactoe_client.tui.desk import ClientScreen
from tictactoe_client.tui.foot import Foot, bind
from tictactoe_client.tui.picture import measure, notice_size, shorten_left, wrap


class FramedScreen(ClientScreen):
    """A screen with a title, what it lays out, a line for what was said, and the keys at its foot."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("back", label="back"), bind("help", label="help")]
    AUTO_FOCUS = "#first"
    min_size: ClassVar = (36, 10)
    heading = ""
    foot_first: tuple[str, ...] = ()
    """What the foot says first."""
    foot_renames: Mapping[str, str] = MappingProxyType({})
    """What the foot calls otherwise than the list that has the keys."""

    @property
    def window_title(self) -> str:
        """What the terminal's window is called meanwhile."""
        return f"{self.heading.lower()}: tictactoe" if self.heading else "tictactoe"

    # -- what it looks like ---------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """Lay out the title, the body and the foot, and what stands in a window that is too small for them."""
        with Vertical(id="stage"):
            yield Static(id="head")
            yield from self.lay_out()
            yield Static(id="status")
            yield Static(id="rule")
            yield Foot(id="foot", first=self.foot_first, renames=self.foot_renames)
        yield Static(id="small")

    def show(self) -> None:
        """Show what has changed between the title and the foot."""

    def lay_out(self) -> Iterable[Widget]:
        """Return what stands between the title and the foot."""
        return ()

    def describe_head(self) -> tuple[Content, str]:
        """Return the title, and what stands at the right of it."""
        return Content.from_markup("[bold $title]$text[/]", text=self.heading), ""

    def describe_status(self) -> tuple[str, str] | None:
        """Return what to say while nothing else was said, with its role."""
        errand, dots = self.desk.errands.errand, "..." if self.desk.settings.ascii else "…"
        return (f"{errand}{dots}   {self.desk.keymap.show('back')} cancel", "warn") if errand else None

    def needed_size(self) -> tuple[int, int]:
        """Return the width and height of the smallest window that shows the screen."""
        return self.min_size

    def on_mount(self) -> None:
        """Show what there is, and from now on what time changes."""
        self.set_interval(1.0, self.tick)
        self.redraw()

    def on_screen_resume(self) -> None:
        """Draw what it has become meanwhile."""
        self.redraw()

    def on_resize(self, event: events.Resize) -> None:
        """Say how large the window must be, where it is too small."""
        width, height = self.needed_size()
        is_small = event.size.width < width or event.size.height < height
        self.set_class(is_small, "-small")
        if is_small:
            notice = notice_size((width, height), (event.size.width, event.size.height), "")
            self.query_one("#small", Static).update("\n".join(notice))
        self.redraw()

    def tick(self) -> None:
        """Take note that time has passed."""
        if self.is_in_sight:
            self.redraw()

    def redraw(self) -> None:
        """Show what has changed."""
        if not self.is_mounted or not self.is_in_sight or self.desk.is_ending or not self.query("#head"):
            return
        self.show()
        head, right = self.describe_head()
        width = self.query_one("#stage").size.width - 2
        right = shorten_left(right, max(1, width - head.cell_length - 2))
        gap = " " * max(1, width - head.cell_length - measure(right))
        self.put("#head", head.append(gap).append(Content.styled(right, "$dim")))
        said = self.desk.status or self.describe_status()
        self.query_one("#status").display = said is not None
        if said is not None:
            self.put("#status", Content.styled(said[0], f"${said[1] or 'ink'}"))
        self.refresh_bindings()

    def put(self, where: str, content: Content | str) -> None:
        """Let a line say this, and send it only where it said something else."""
        line = self.query_one(where, Static)
        if line.content != content:
            line.clear_cached_dimensions()  # the library keeps those from before the line was mounted
            line.update(content, layout=line.styles.height is None or line.styles.height.is_auto)

    # -- what happens ---------------------------------------------------------------------------------------------

    def action_back(self) -> None:
        """Go back to where one came from."""
        self.desk.close_page()

    def action_help(self) -> None:
        """Open the help for what one can do here."""
        self.desk.open(HelpScreen(self.list_help()))


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

    def __init__(self, topics: Sequence[Topic]) -> None:
        super().__init__()
        self._topics = topics

    def lay_out(self) -> Iterable[Widget]:
        """Lay out the text."""
        yield Page(Static(id="text", markup=False), id="first")

    def on_resize(self, event: events.Resize) -> None:
        """Break the lines anew."""
        self.put("#text", lay_out_topics(self._topics, min(event.size.width, 100) - 6))


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
