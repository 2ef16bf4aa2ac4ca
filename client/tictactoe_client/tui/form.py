"""Pages of lines to fill in: texts to type, and choices that the arrows go through."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input

from tictactoe_client.files.config import config_path, show_path
from tictactoe_client.settings import SCREEN_OPTIONS
from tictactoe_client.tui.foot import bind_in_line, bind_keys
from tictactoe_client.tui.lists import ListPage
from tictactoe_client.tui.page import Part, Text
from tictactoe_client.tui.picture import measure
from tictactoe_client.tui.question import Line
from tictactoe_protocol.catalogue import say

VALUE_COLUMN: Final = 24
"""The column in which the values of a form and of the menu begin."""


@dataclass(slots=True)
class Field:
    """A line of a form, with a note on it; one with `choices`, the values by how they are written, is no text.

    A `value` of None is nothing to fill in: the line is there for what it does.
    """

    title: str
    value: Any
    note: str = ""
    choices: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return next((text for text, value in self.choices.items() if value == self.value), self.value or "")

    def step(self, by: int) -> None:
        """Go to another value, round and round."""
        values = list(self.choices.values())
        self.value = values[(values.index(self.value) + by) % len(values)]


class FormLine(Line):
    """The text of a line, where keys do what they come with: one's own may be text there."""

    BINDINGS: ClassVar[list[BindingType]] = bind_in_line(("up", "down", "open", "back", "help"), "page", "list", "new")

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Leave the question mark to the help: it is part of no line's text."""
        return character != "?" and super().check_consume_key(key, character)


class FieldRow(Horizontal, can_focus=True):
    """A line of the form as it lies on the page; the keys go to its text, where it has one."""

    def __init__(self, name: str, shown: Field) -> None:
        super().__init__(classes="field")
        self.field_name = name
        self.title, self.value, self.note = Text(classes="title"), Text(classes="value"), Text(classes="note")
        is_text = isinstance(shown.value, str) and not shown.choices
        self.line = FormLine(shown.value, compact=True, select_on_focus=False) if is_text else None
        self.can_focus = self.line is None

    def compose(self) -> ComposeResult:
        yield self.title
        yield self.value if self.line is None else self.line
        yield self.note

    def show(self, shown: Field, *, is_chosen: bool) -> None:
        self.title.show((f"{'>' if is_chosen else ' '} {shown.title}", ""))
        self.note.show((shown.note, "dim"))
        self.set_class(is_chosen, "-chosen")
        if self.line is None:
            room = self.app.size.width - VALUE_COLUMN - 1
            self.value.show((show_choice(shown.text, room) if shown.choices else "", ""))
        elif self.line.value.strip() != shown.value:
            with self.line.prevent(Input.Changed):
                self.line.value = shown.value


def show_choice(text: str, room: int) -> str:
    """Return what is chosen between the signs that it can be changed, without blanks where there is little room.

    >>> show_choice("Fair four", 13), show_choice("Fair four", 12)
    ('‹ Fair four ›', '‹Fair four›')
    """
    told = f"‹ {text} ›"
    return told if measure(told) <= room else f"‹{text}›"


def find_row(widget: Widget | None) -> FieldRow | None:
    """Return the line that this widget is a part of."""
    ancestors = widget.ancestors_with_self if widget is not None else ()
    return next((one for one in ancestors if isinstance(one, FieldRow)), None)


class Fields(VerticalScroll, can_focus=False, inherit_bindings=False):
    """The lines; the chosen one stays in sight where there is less room."""

    def on_resize(self) -> None:
        for row in self.query(".-chosen"):
            row.scroll_visible(animate=False)


class FormPage(ListPage):
    """A page with such lines by their names; left and right change a choice, Space lists all that it may be."""

    BINDINGS: ClassVar[list[BindingType]] = [*bind_keys("form"), ("space", "list_values")]

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, Field] = {}
        self.form, self.lines = Vertical(id="form"), Fields()
        self.field_rows: dict[str, FieldRow] = {}
        self._before = ""

    def compose_body(self) -> ComposeResult:
        self.fields = self.list_fields()
        self.field_rows = {name: FieldRow(name, shown) for name, shown in self.fields.items()}
        with self.form:
            with self.lines:
                yield from self.field_rows.values()
            yield self.text("sum")

    @abstractmethod
    def list_fields(self) -> dict[str, Field]:
        """Return the lines as they are now."""

    @abstractmethod
    def took(self, name: str) -> None:
        """Take note that a line was changed."""

    @abstractmethod
    def describe_sum(self) -> Part:
        """Return what all lines come to."""

    def list_shown(self) -> list[str]:
        """Return the names of the lines that are in sight."""
        return list(self.fields)

    def fill(self) -> None:
        self.take()
        self.fields, shown = self.list_fields(), self.list_shown()
        self.keep(shown)
        for name, row in self.field_rows.items():
            row.display = name in shown
            row.show(self.fields[name], is_chosen=name == self.chosen)
        self.form.styles.max_height = len(shown) + 3  # the sum has three lines at most
        self.lines.styles.max_height = len(shown)
        self.text("sum").show(self.describe_sum())

    @property
    def row(self) -> FieldRow:
        return self.field_rows[self.chosen]

    @property
    def line(self) -> FormLine | None:
        """The text of the chosen line, if it is one."""
        return self.row.line if self.chosen else None

    def chose(self) -> None:
        """Let the keys go to the line; what is typed there first takes the place of what stands there."""
        row = self.row
        self.set_focus(row.line or row)
        if row.line is not None:
            self._before = row.line.value
            row.line.action_select_all()

    @property
    def is_edited(self) -> bool:
        """Whether the chosen line says something else than when one came to it."""
        return self.line is not None and self.line.value != self._before

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Choose the line that was clicked on."""
        row = find_row(event.widget)
        if row is not None and row.field_name != self.chosen and event.widget is self.focused:
            self.choose(row.field_name)

    def choose(self, name: str) -> None:
        self.take()
        super().choose(name)

    def take(self) -> None:
        """Take over what the chosen line holds."""
        if self.line is not None and self.fields[self.chosen].value != self.line.value.strip():
            self.fields[self.chosen].value = self.line.value.strip()
            self.took(self.chosen)
            self.row.scroll_visible(animate=False)
            self.redraw()

    def on_input_changed(self) -> None:
        self.take()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("change", "list_values"):
            return bool(self.chosen) and bool(self.fields[self.chosen].choices)
        return super().check_action(action, parameters)

    def action_change(self, by: int) -> None:
        self.fields[self.chosen].step(by)
        self.took(self.chosen)
        self.redraw()

    def action_list_values(self) -> None:
        self.program.open(ValuesPage(self.fields[self.chosen], partial(self.took, self.chosen)))

    def on_click(self, event: events.Click) -> None:
        """Take a click: on the title of a choice for another value, on its value for all of them."""
        widget, _ = self.get_widget_at(*event.screen_offset)
        row = find_row(widget)
        if row is not None and row.line is None:
            self.choose(row.field_name)
            self.open_row(row.field_name, lists_values=widget is row.value)

    def open_row(self, name: str, *, lists_values: bool = False) -> None:
        if self.fields[name].choices:
            self.action_list_values() if lists_values else self.action_change(1)


class ValuesPage(ListPage):
    """All values of a line, to choose one."""

    situation = "values"
    BINDINGS: ClassVar[list[BindingType]] = bind_keys(situation)

    def __init__(self, shown: Field, took: Callable[[], None]) -> None:
        super().__init__()
        self._field = shown
        self._took = took
        self.chosen = shown.text

    def describe_heading(self) -> str:
        return self._field.title

    def fill(self) -> None:
        self.keep(list(self._field.choices))
        self.rows.show({text: text for text in self._field.choices}, self.chosen)

    def open_row(self, name: str) -> None:
        self._field.value = self._field.choices[name]
        self.program.close(self)
        self._took()


class SettingsPage(FormPage):
    """What can be changed while playing: each change counts at once, and is kept for later runs."""

    situation = "settings"
    BINDINGS: ClassVar[list[BindingType]] = bind_keys(situation)
    heading = "settings title"

    def describe_sum(self) -> Part:
        problem = self.program.kept.problem
        if problem:
            return say("settings not kept", why=problem), "warn"
        return say("settings kept", file=show_path(config_path())), "dim"

    def list_fields(self) -> dict[str, Field]:
        fields = {}
        for name, option in SCREEN_OPTIONS.items():
            value = getattr(self.program.settings, name)
            choices = {option.describe(choice)[0]: choice for choice in option.choices}
            fields[name] = Field(option.title, value, option.describe(value)[1], choices)
        return fields

    def took(self, name: str) -> None:
        self.program.change(name, self.fields[name].value)
