"""A form: lines with a title, a choice or a text, and a note; the library's own fields, with keys of our own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input, Label, Select

from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.question import Line

_ROWS: tuple[BindingType, ...] = (
    bind("up", "app.focus_previous", "choose"),
    bind("down", "app.focus_next", "choose"),
)


class Choice(Select[Any], inherit_bindings=False):
    """One of a few values: left and right go through them, Space lists them all."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *_ROWS,
        bind("left", "step(-1)", "change"),
        bind("right", "step(1)", "change"),
        ("space", "show_overlay"),
    ]

    def __init__(self, options: Sequence[tuple[str, Any]], value: Any, *, id: str) -> None:
        super().__init__(options, value=value, allow_blank=False, compact=True, id=id)
        self.values = [one for _, one in options]

    def action_step(self, by: int) -> None:
        """Go to another value, round and round."""
        self.value = self.values[(self.values.index(self.value) + by) % len(self.values)]


class Text(Line):
    """A line of text in a form; typing replaces what stands there when one comes to it."""

    BINDINGS: ClassVar[list[BindingType]] = [*_ROWS, Binding("enter", "submit", "open the room")]

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Leave the question mark to the help: it is part of no line's text."""
        return character != "?" and super().check_consume_key(key, character)

    def on_key(self, event: events.Key) -> None:
        """Type no question mark."""
        if event.character == "?":
            event.prevent_default()


class Field(Horizontal):
    """One line."""

    def __init__(self, title: str, control: Widget, note: str) -> None:
        super().__init__()
        self._title = title
        self._parts = (Label(f"  {title}", classes="title"), control, Label(note, classes="note"))

    def compose(self) -> ComposeResult:
        """Lay out the title, what is to be filled in, and the note."""
        yield from self._parts

    def on_click(self, event: events.Click) -> None:
        """Go to the line whose title is clicked, and to another of its values."""
        control = self._parts[1]
        if self._parts[0].region.contains_point(event.screen_offset):
            control.focus()
            if isinstance(control, Choice):
                control.action_step(1)

    def on_descendant_focus(self) -> None:
        """Put a sign before the line that has the keys."""
        self._parts[0].update(f"> {self._title}", layout=False)

    def on_descendant_blur(self) -> None:
        """Take the sign away."""
        self._parts[0].update(f"  {self._title}", layout=False)


class Form(VerticalScroll, can_focus=False):
    """The lines; they scroll where there is no room for all."""

    def __init__(self, fields: Iterable[Field]) -> None:
        super().__init__(*fields)

    def value_of(self, name: str) -> Any:
        """Return what a line says."""
        control = self.query_one(f"#{name}")
        return control.value.strip() if isinstance(control, Input) else getattr(control, "value", None)

    def fill(self, name: str, value: Any) -> None:
        """Let a line say this, without telling that it changed."""
        control = self.query_one(f"#{name}")
        with self.prevent(Input.Changed, Select.Changed):
            if isinstance(control, (Input, Select)) and control.value != value:
                control.value = value
