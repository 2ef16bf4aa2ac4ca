"""Pages of lines to fill in: each has a title, a choice or a text, and a note. One text line of the library's moves
to whichever line is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.widgets import Input

from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.lists import ListScreen
from tictactoe_client.tui.picture import Picture, shorten, wrap
from tictactoe_client.tui.question import Line

_TITLE: Final = 20
_VALUE: Final = 18
_ARROW: Final = 14
_WIDE: Final = 72
"""From this width on notes stand beside the lines."""


@dataclass(slots=True)
class Field:
    """A line of a form; one with `choices`, each a value with how it is written, is no text."""

    title: str
    value: Any
    note: str = ""
    choices: Sequence[tuple[str, Any]] = ()

    @property
    def text(self) -> str:
        """What the line says."""
        return next((text for text, value in self.choices if value == self.value), "") if self.choices else self.value

    def step(self, by: int) -> None:
        """Go to another value, round and round."""
        values = [value for _, value in self.choices]
        self.value = values[(values.index(self.value) + by) % len(values)]


class FormLine(Line):
    """The text of the chosen line; typing replaces what stands there when one comes to it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", "open the room")]

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Leave the question mark to the help: it is part of no line's text."""
        return character != "?" and super().check_consume_key(key, character)

    def on_key(self, event: events.Key) -> None:
        """Type no question mark."""
        if event.character == "?":
            event.prevent_default()


class FormScreen(ListScreen):
    """A page with such lines by their names; left and right change a choice, Space lists all that it may be."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("left", "step(-1)", "change"),
        bind("right", "step(1)", "change"),
        ("space", "list_values"),
    ]

    def __init__(self) -> None:
        self.line = FormLine(compact=True, id="line")
        super().__init__(self.line)
        self.fields: dict[str, Field] = {}
        self._before = ""

    def list_fields(self) -> dict[str, Field]:
        """Return the lines as they are now."""
        return self.fields

    def took(self, name: str) -> None:
        """Take note that one has changed a line."""

    def describe_sum(self) -> tuple[str, str]:
        """Return what all lines come to, with its role."""
        return "", ""

    # -- what it looks like ---------------------------------------------------------------------------------------

    def draw_body(self, page: Picture, body: Region) -> None:
        """Draw the lines, and what they come to."""
        self.fields = self.list_fields()
        self.keep(list(self.fields))
        told, role = self.describe_sum()
        lines = wrap(told, body.width - 6)
        for y, line in enumerate(lines, body.bottom - len(lines)):
            page.put(3, y, line, role)
        top = body.y + (1 if body.height > len(self.fields) + len(lines) + 1 else 0)
        place = Region(3, top, body.width - 6, max(1, body.bottom - len(lines) - top))
        self.lay_rows(place, [(name, self._describe(page, field)) for name, field in self.fields.items()])
        if not self.line.display and not self.fields[self.chosen].choices:
            self.chose()
        if self.line.display:
            y = top + self.at - int(self.rows.scroll_offset.y)
            self.line.styles.offset = self.stage.x + 3 + _TITLE, self.stage.y + y

    def _describe(self, page: Picture, field: Field) -> str:
        arrow = "▼" if field.choices and not page.ascii_only else ""
        told = f"  {field.title:<{_TITLE - 1}}{shorten(field.text, _VALUE - 2):<{_ARROW}}{arrow}"
        return f"{told:<{_TITLE + _VALUE + 1}}{field.note}" if page.width >= _WIDE else told

    # -- the line that is typed at --------------------------------------------------------------------------------

    def chose(self) -> None:
        """Let the keys type where the chosen line is a text."""
        field = self.fields.get(self.chosen)
        if field is None or field.choices:
            self._put_line_away()
            return
        self._before = field.value
        with self.prevent(Input.Changed):
            self.line.value = field.value
        self.line.display = True
        self.line.focus()
        self.line.action_select_all()

    @property
    def is_edited(self) -> bool:
        """Whether the chosen line says something else than when one came to it."""
        return self.line.display and self.line.value != self._before

    def take_back(self) -> None:
        """Let the chosen line say again what it said."""
        self.line.value = self._before

    def _put_line_away(self) -> None:
        if self.line.display:
            self.line.display = False
            self.set_focus(None)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Take what is typed."""
        field = self.fields.get(self.chosen)
        if field is not None and not field.choices and field.value != event.value:
            field.value = event.value
            self.took(self.chosen)
            self.redraw()

    # -- choices --------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer a change where there is a choice."""
        if action in ("step", "list_values"):
            return bool(self.chosen) and bool(self.fields[self.chosen].choices)
        return super().check_action(action, parameters)

    def action_step(self, by: int) -> None:
        """Go to another value of the chosen line."""
        self.fields[self.chosen].step(by)
        self.took(self.chosen)
        self.redraw()

    def action_list_values(self) -> None:
        """List all values of the chosen line."""
        self.desk.open(ValuesScreen(self.fields[self.chosen], partial(self.took, self.chosen)))

    def open_row(self, name: str) -> None:
        """Take a click: on the title of a choice for another value, on its value for all of them."""
        if self.fields[name].choices and self.rows.clicked_x < _TITLE:
            self.action_step(1)
        elif self.fields[name].choices:
            self.action_list_values()


class ValuesScreen(ListScreen):
    """All values of a line, to choose one."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("back", label="back"), bind("help", label="help")]
    foot_renames = MappingProxyType({"open": "choose"})
    foot_first = ("choose", "back")

    def __init__(self, field: Field, took: Callable[[], None]) -> None:
        super().__init__()
        self.heading = field.title
        self._field = field
        self._took = took
        self.chosen = field.text

    def draw_body(self, page: Picture, body: Region) -> None:
        """Draw the values."""
        names = [text for text, _ in self._field.choices]
        self.keep(names)
        self.lay_rows(Region(3, body.y, body.width - 6, body.height), [(name, f"  {name}") for name in names])

    def open_row(self, name: str) -> None:
        """Let the line say this."""
        self._field.value = dict(self._field.choices)[name]
        self.desk.close_page()
        self._took()
