"""A page outside the rooms: its title, what it is about, its body, a line of news, and the keys that count now.

The library lays it out by the stylesheet; a page fills its parts in `fill`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.table import Table
from rich.text import Text as RichText
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tictactoe_client.exits import list_helps
from tictactoe_client.online.errors import Unreachable, VersionRefused
from tictactoe_client.text.help import Topic, list_home_help
from tictactoe_client.themes import QR
from tictactoe_client.tui.foot import bind, find_keys, fit_keys
from tictactoe_client.tui.program import ClientScreen
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say

Part = tuple[str, str]
"""A text and its role: ``title``, ``dim``, ``key``, ``good``, ``warn`` or ``bad``, empty for ordinary text."""

_LASTING = ("key help", "key quit")
"""What the last line says of keys as long as there is any room."""


class Text(Static):
    """A text that is drawn anew only where it has become another one; it takes no room while it is empty."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(markup=False, id=id, classes=classes)
        self._shown: tuple[Part, ...] | None = None

    def show(self, *parts: Part) -> None:
        """Show these texts, one after the other."""
        if parts != self._shown:
            self._shown = parts
            styles = {"": "", "title": "bold $title", "key": "bold $key", "qr": QR}
            content = Content.assemble(*((text, styles.get(role, f"${role}")) for text, role in parts))
            self.set_class(not content, "-empty")
            self.update(content, layout=self.styles.is_auto_height)


class Page(ClientScreen):
    """A page; `fill` shows what there is to show by now."""

    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (72, "-medium"), (104, "-wide")]  # noqa: RUF012 (so the library has it)
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-middling"), (30, "-high")]  # noqa: RUF012
    heading = ""
    """The id of its title."""
    first_keys: tuple[str, ...] = ()
    """What the last line says first, by the ids of what the keys do."""
    opens = "key open"
    """The id of what opening a row does."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: dict[str, Text] = {}

    def text(self, id: str) -> Text:
        """Return the text of this id, always the same one."""
        return self._texts.setdefault(id, Text(id=id))

    def compose(self) -> ComposeResult:
        with Vertical(id="page"):
            with Horizontal(id="head"):
                yield self.text("heading")
                yield self.text("about")
            with Vertical(id="body"):
                yield from self.compose_body()
            yield self.text("news")
            yield self.text("keys")

    def compose_body(self) -> ComposeResult:
        """Yield what stands between the title and the news."""
        return iter(())

    def on_mount(self) -> None:
        self.draw()

    def fill(self) -> None:
        """Show in the body what there is to show by now."""

    def draw(self) -> None:
        self.fill()
        self.text("heading").show((self.describe_heading(), "title"))
        self.text("about").show((self.describe_about(), "dim"))
        news = self.program.status or self.describe_news()
        self.text("news").show(*([news] if news else []))
        self.text("keys").show(*self._list_keys())

    def _list_keys(self) -> list[Part]:
        """Return the keys that count now with what they do, as many as there is room for."""
        shown = [active.binding for active in self.active_bindings.values() if active.enabled and active.binding.show]
        in_line = {binding.action.removeprefix("screen.") for binding in shown if binding.id is None}
        ids = {
            binding.id or binding.action: self.name_key(binding.description)
            for binding in shown
            if binding.id is None or binding.action not in in_line
        }
        first = [id for id in (*self.first_keys, *ids.values()) if id in ids.values()]
        names = dict(sorted(((name, say(id)) for name, id in ids.items()), key=lambda pair: first.index(ids[pair[0]])))
        lasting = tuple(say(id) for id in (*self.first_keys, *_LASTING))
        hints = fit_keys(find_keys(self, names), self.size.width - 2, lasting)
        return [part for keys, label in hints for part in ((keys, "key"), (f" {label}  ", "dim"))]

    def name_key(self, id: str) -> str:
        """Return the id of what a key does on this page that is bound under this one."""
        return self.opens if id == "key open" else id

    def describe_key(self, label: str) -> str:
        return say(self.name_key(label))

    # -- what it says of itself -----------------------------------------------------------------------------------

    @property
    def window_title(self) -> str:
        return say("window title of", page=say(self.heading)) if self.heading else super().window_title

    def describe_heading(self) -> str:
        return say(self.heading)

    def describe_about(self) -> str:
        """Return what stands beside the title."""
        return ""

    def describe_news(self) -> Part | None:
        """Return what to say while nothing else was said."""
        what = self.program.ways_in.waits_for
        return (say("page wait", what=what, key=self.show_key("back")), "warn") if what else None

    @property
    def can_start_local(self) -> bool:
        """Whether a server of this run alone would help."""
        return isinstance(self.program.link.failure, Unreachable) and self.program.link.address.is_loopback

    def describe_no_server(self, *, offers_own: bool = False) -> list[Part]:
        """Return the lines that say that a server is called, or why there is none and what helps.

        With `offers_own` the page takes keys for a server of this run, and for the way back to the one before.
        """
        link, show = self.program.link, self.show_key
        before = link.before if offers_own else None
        if link.failure is None:
            lines = [(say("connecting", url=link.address.url), "dim")]
            return [*lines, (say("home esc back", key=show("back"), url=before.url), "dim")] if before else lines
        helps = list_helps(link.failure)
        if offers_own and self.can_start_local:
            helps.insert(1, (say("home own server"), say("home press", key=show("local"))))
        if before is not None:
            helps.insert(0, (say("home back to", url=before.url), say("home press", key=show("back"))))
        if isinstance(link.failure, VersionRefused):
            helps.append((say("home version"), ""))
        lines = [(f"✗ {clean_text(link.failure.message)}", "bad"), ("", "")]
        for text, command in helps:
            lines += [(f"  {text}", ""), (f"    {command}", "key")]
        return [*lines, ("", ""), (f"  {say('home retries', key=show('retry' if offers_own else 'refresh'))}", "key")]

    def show_key(self, action: str) -> str:
        """Return how the key of an action is written."""
        return self.program.keymap.show(action)

    def action_back(self) -> None:
        self.program.close(self)

    def list_help(self) -> Sequence[Topic]:
        return list_home_help(self.program.keymap.show)

    def action_help(self) -> None:
        self.program.open(HelpPage(self.list_help()))


class Scroll(VerticalScroll, inherit_bindings=False):
    """A text to scroll in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("up", "scroll_up", "key scroll"),
        bind("down", "scroll_down", "key scroll"),
        bind("page_up"),
        bind("page_down"),
        bind("home", "scroll_home"),
        bind("end", "scroll_end"),
    ]


class HelpPage(Page):
    """What can be pressed and typed."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("back", label="key back"), bind("help", "back")]
    AUTO_FOCUS = "Scroll"
    heading = "help title"

    def __init__(self, topics: Sequence[Topic]) -> None:
        super().__init__()
        self._topics = topics

    def compose_body(self) -> ComposeResult:
        with Scroll():
            for title, rows in self._topics:
                yield Static(Content.styled(title, "bold $title"), classes="topic")
                table = Table.grid(padding=(0, 2), expand=True)
                table.add_column(max_width=24, overflow="fold")
                table.add_column(ratio=1, overflow="fold")
                for keys, does in rows:
                    table.add_row(RichText(f"  {keys}", "bold"), RichText(does))
                yield Static(table)
