"""Pages of lines to fill in. One text line of the library's moves to whichever line is chosen."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.widgets import Input

from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.keymap import ACTIONS
from tictactoe_client.tui.lists import ListScreen
from tictactoe_client.tui.picture import Picture, shorten, wrap
from tictactoe_client.tui.question import Line

_IN_TEXT: Final = {
    key: action
    for name, action in {"up": "move(-1)", "down": "move(1)", "back": "back", "help": "help"}.items()
    for key in ACTIONS[name]
}
"""What the keys do in a text that they come with, where one's own are text there."""
_TITLE: Final = 20
_VALUE: Final = 18


@dataclass(slots=True)
class Field:
    """A line of a form, with a note on it; one with `choices`, the values by how they are written, is no text."""

    title: str
    value: Any
    note: str = ""
    choices: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return next((text for text, value in self.choices.items() if value == self.value), self.value)

    def step(self, by: int) -> None:
        """Go to another value, round and round."""
        values = list(self.choices.values())
        self.value = values[(values.index(self.value) + by) % len(values)]


class FormLine(Line):
    """The text of the chosen line; typing replaces what stands there when one comes to it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.enter_room", "open the room")]

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Leave the question mark to the help: it is part of no line's text."""
        return character != "?" and super().check_consume_key(key, character)


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

    @abstractmethod
    def list_fields(self) -> dict[str, Field]:
        """Return the lines as they are now."""

    @abstractmethod
    def took(self, name: str) -> None:
        """Take note that one has changed a line."""

    @abstractmethod
    def describe_sum(self) -> tuple[str, str]:
        """Return what all lines come to, with its role."""

    def draw_body(self, page: Picture, body: Region) -> None:
        self.fields = self.list_fields()
        width, (told, role) = body.width - 6, self.describe_sum()
        bottom = body.bottom - len(wrap(told, width))
        page.put_lines(3, bottom, width, told, role)
        top = body.y + 1 if bottom - body.y > len(self.fields) + 1 else body.y
        rows = [(name, self._describe(field, page.width)) for name, field in self.fields.items()]
        self.lay_rows(Region(3, top, width, max(1, bottom - top)), rows)
        if not self.line.display and not self.fields[self.chosen].choices:
            self.chose()
        y = self.at - int(self.rows.scroll_offset.y)
        is_seen = 0 <= y < max(1, bottom - top)
        self.line.styles.offset = self.stage.x + 3 + _TITLE, self.stage.y + top + y if is_seen else -1
        if not is_seen and self.line.region.y >= 0:
            self.call_after_refresh(self.refresh)  # the library leaves what goes off the window where it stood

    def _describe(self, field: Field, width: int) -> str:
        text, arrow = shorten(field.text, _VALUE - 2), "▼" if field.choices else ""
        told = f"{field.title:<{_TITLE - 1}}{text:<{_VALUE - 4}}{arrow}"
        return f"{told:<{_TITLE + _VALUE - 1}}{field.note}" if width >= 72 else told

    def on_mount(self) -> None:
        """Let the line follow its row, however that is scrolled."""
        self.watch(self.rows, "scroll_y", self.redraw, init=False)

    def chose(self) -> None:
        field = self.fields[self.chosen]
        self.line.display = not field.choices
        if field.choices:
            self.set_focus(None)
            return
        self._before = field.value
        with self.prevent(Input.Changed):
            self.line.value = field.value
        self.set_focus(self.line)
        self.line.action_select_all()

    @property
    def is_edited(self) -> bool:
        """Whether the chosen line says something else than when one came to it."""
        return self.line.display and self.line.value != self._before

    def choose(self, name: str) -> None:
        self.take()
        super().choose(name)

    def take(self) -> None:
        """Take over what the line holds."""
        text = self.line.value.strip()
        if self.line.display and self.fields[self.chosen].value != text:
            self.fields[self.chosen].value = text
            self.took(self.chosen)
            self.rows.scroll_to_highlight()
            self.redraw()

    def on_input_changed(self) -> None:
        self.take()

    async def on_key(self, event: events.Key) -> None:
        action = _IN_TEXT.get(event.key) or _IN_TEXT.get(event.character or "")
        if action and self.line.has_focus and event.key not in self.active_bindings:
            event.stop()
            await self.run_action(action)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("step", "list_values"):
            return bool(self.chosen) and bool(self.fields[self.chosen].choices)
        return super().check_action(action, parameters)

    def action_step(self, by: int) -> None:
        self.fields[self.chosen].step(by)
        self.took(self.chosen)
        self.redraw()

    def action_list_values(self) -> None:
        self.desk.open(ValuesScreen(self.fields[self.chosen], partial(self.took, self.chosen)))

    def open_row(self, name: str) -> None:
        """Take a click: on the title of a choice for another value, on its value for all of them."""
        if self.fields[name].choices and self.app.mouse_position.x < self.rows.region.x + _TITLE:
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
        rows = [(text, text) for text in self._field.choices]
        self.lay_rows(Region(3, body.y, body.width - 6, body.height), rows)

    def open_row(self, name: str) -> None:
        self._field.value = self._field.choices[name]
        self.desk.close(self)
        self._took()
