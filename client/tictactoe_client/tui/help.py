"""The help, in a window of any size; what it says is the screen's for which it was asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tictactoe_client.text.help import Topic
from tictactoe_client.tui.picture import measure, wrap
from tictactoe_client.tui.screen import FramedScreen, bind


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
