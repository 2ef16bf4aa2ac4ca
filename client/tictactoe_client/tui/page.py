"""The base of pages outside rooms: heading, body, a line of news, and the keys that work now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rich.table import Table
from rich.text import Text as RichText
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tictactoe_client.exits import list_helps
from tictactoe_client.online.errors import Unreachable
from tictactoe_client.text.help import Topic, list_home_help
from tictactoe_client.themes import QR
from tictactoe_client.tui.foot import bind_keys, fit_keys, join_hints
from tictactoe_client.tui.line import Line
from tictactoe_client.tui.program import ClientScreen
from tictactoe_protocol import clean_text
from tictactoe_words.catalogue import say
from tictactoe_words.commands import list_first, order_keys
from tictactoe_words.wording import capitalize

Part = tuple[str, str]
"""A text and its style: ``title``, ``dim``, ``key``, ``good``, ``warn``, ``bad``, or "" for ordinary text."""

_LASTING = ("help", "quit")
"""The keys whose hints are dropped last if the line of keys is too long."""


class Text(Static):
    """A text that is redrawn only when it changes, and hidden while it is empty."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(markup=False, id=id, classes=classes)
        self._shown: tuple[Part, ...] | None = None

    def show(self, *parts: Part) -> None:
        if parts != self._shown:
            self._shown = parts
            styles = {"": "", "title": "bold $title", "key": "bold $key", "qr": QR}
            content = Content.assemble(*((text, styles.get(role, f"${role}")) for text, role in parts))
            self.set_class(not content, "-empty")
            self.update(content, layout=self.styles.is_auto_height)


class Page(ClientScreen):
    """A page outside rooms. Subclasses fill its body."""

    situation: ClassVar[str] = "page"
    """The page's name in the table of commands, where its keys are listed."""
    BINDINGS: ClassVar[list[BindingType]] = bind_keys("page")
    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (72, "-medium")]  # noqa: RUF012 (so the library has it)
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-middling"), (30, "-high")]  # noqa: RUF012
    heading = ""
    """The id of the sentence that is the page's heading."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Bind the keys of a subclass that has its own situation."""
        if "situation" in vars(cls):
            cls.BINDINGS = bind_keys(cls.situation)
        super().__init_subclass__(**options)

    def __init__(self) -> None:
        super().__init__()
        self._texts: dict[str, Text] = {}

    def text(self, id: str) -> Text:
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
        return iter(())

    def on_mount(self) -> None:
        self.draw()

    def fill(self) -> None: ...

    def draw(self) -> None:
        self.fill()
        self.text("heading").show((self.describe_heading(), "title"))
        self.text("about").show((self.describe_about(), "dim"))
        news = self.program.describe_status() or self.describe_news()
        self.text("news").show(*([news] if news else []))
        self.text("keys").show(*self._list_keys())

    def _list_keys(self) -> list[Part]:
        ids = {f"screen.{binding.action}": binding.id for _, binding in self._bindings if binding.id}
        named: dict[str, str] = {}
        for active in self.active_bindings.values():  # the bindings of the focused input come first
            binding = active.binding
            if active.enabled and binding.show and (label := self.describe_key(binding.description)):
                named.setdefault(binding.id or ids.get(binding.action, binding.action), label)
        ordered = {name: named[name] for name in order_keys(self.situation, named)}
        lasting = [named[name] for name in (*list_first(self.situation), *_LASTING) if name in named]
        hints = join_hints(ordered, self.program.keymap, in_text=isinstance(self.focused, Line))
        hints = fit_keys(hints, self.size.width - 2, lasting)
        return [part for keys, label in hints for part in ((keys, "key"), (f" {label}  ", "dim"))]

    def name_key(self, id: str) -> str:
        """Return the id of a key's current label, by default `id`; return "" to hide the key."""
        return id

    def describe_key(self, label: str) -> str:
        id = self.name_key(label)
        return say(id) if id else ""

    @property
    def window_title(self) -> str:
        return say("window title of", page=capitalize(say(self.heading))) if self.heading else super().window_title

    def describe_heading(self) -> str:
        return capitalize(say(self.heading))

    def describe_about(self) -> str:
        return ""

    def describe_news(self) -> Part | None:
        what = self.program.ways_in.waits_for
        return (say("page wait", what=what, key=self.show_key("back")), "warn") if what else None

    @property
    def can_start_local(self) -> bool:
        return isinstance(self.program.session.failure, Unreachable) and self.program.session.address.is_loopback

    def describe_no_server(self, *, offers_own: bool = False) -> list[Part]:
        """Describe the attempt to connect, or why it failed and what helps; `offers_own` adds the keys of home."""
        session, show = self.program.session, self.show_key
        before = session.before if offers_own else None
        if session.failure is None:
            lines = [(say("connecting", url=session.address.url), "dim")]
            return [*lines, (say("home esc back", key=show("back"), url=before.url), "dim")] if before else lines
        helps = list_helps(session.failure)
        if offers_own and self.can_start_local:
            helps.insert(1, (say("home own server"), say("home press", key=show("local"))))
        if before is not None:
            helps.insert(0, (say("home back", url=before.url), say("home press", key=show("back"))))
        lines = [(f"✗ {clean_text(session.failure.message)}", "bad"), ("", "")]
        for text, command in helps:
            lines += [(f"  {text}", ""), (f"    {command}", "key")]
        return [*lines, ("", ""), (f"  {say('page retries', key=show('retry' if offers_own else 'refresh'))}", "key")]

    def show_key(self, action: str) -> str:
        return self.program.keymap.show(action)

    def action_back(self) -> None:
        self.program.close(self)

    def list_help(self) -> Sequence[Topic]:
        return list_home_help(self.program.keymap.show)

    def action_help(self) -> None:
        self.program.open(HelpPage(self.list_help()))


class Scroll(VerticalScroll, inherit_bindings=False):
    """A text that scrolls by keys."""

    BINDINGS: ClassVar[list[BindingType]] = bind_keys("text")


class HelpPage(Page):
    """The keys and commands."""

    situation = "help"
    AUTO_FOCUS = "Scroll"
    heading = "key help"

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
