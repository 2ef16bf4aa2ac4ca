"""Form pages, whose lines are text inputs, choices or buttons; and the settings page."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input, Select
from textual.widgets._select import SelectCurrent, SelectOverlay

from tictactoe_client.files.config import FILE_NAME, choices_path, show_path
from tictactoe_client.settings import SCREEN_OPTIONS
from tictactoe_client.tui.foot import bind_in_line, bind_keys
from tictactoe_client.tui.line import Line
from tictactoe_client.tui.lists import Signed
from tictactoe_client.tui.page import Page, Part, Text
from tictactoe_client.tui.program import Program
from tictactoe_words.catalogue import say


class Field(NamedTuple):
    """A line of a form.

    Attributes:
        value: The initial value; None for a button.
        note: An explanation, shown while the line is chosen.
        choices: The possible values by label; empty for a text input or a button.
    """

    title: str
    value: Any
    note: str = ""
    choices: Mapping[str, Any] = {}


class FormLine(Line):
    """The text input of a line. It uses the default keys, since the user's own keys may be characters to type."""

    BINDINGS: ClassVar[list[BindingType]] = bind_in_line(("up", "down", "open", "back", "help"), "page", "list", "new")

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return False for the question mark, which opens the help; no value contains it."""
        return character != "?" and super().check_consume_key(key, character)


class Values(SelectOverlay, Signed, inherit_bindings=False):
    """The drop-down list of a choice."""

    BINDINGS: ClassVar[list[BindingType]] = bind_keys("values")


class Choice(Select[Any], inherit_bindings=False):
    """A line with fixed values; the page's keys step through the values or list them."""

    def __init__(self, choices: Mapping[str, Any], value: Any, name: str) -> None:
        super().__init__(choices.items(), allow_blank=False, value=value, compact=True, name=name)
        self.choices = choices

    def compose(self) -> ComposeResult:
        yield SelectCurrent("")
        yield Values().data_bind(compact=Select.compact)

    def offer(self, choices: Mapping[str, Any], value: Any) -> None:
        """Set the possible values and the selected one without triggering a `Changed` event."""
        with self.prevent(Select.Changed):
            if self.choices != choices:
                self.choices = choices
                self.set_options(choices.items())
            self.value = value


class Fields(VerticalScroll, can_focus=False, inherit_bindings=False):
    """The lines of a form; the focused line stays visible when the window shrinks."""

    def on_resize(self) -> None:
        for row in self.query(".-chosen"):
            row.scroll_visible(animate=False)


class ButtonLine(Widget, can_focus=True):
    """The value column of a line that is a button: the key that presses it."""

    value = None

    def render(self) -> str:
        return cast(Program, self.app).keymap.show_key("enter")


def _make_line(name: str, value: Any, choices: Mapping[str, Any]) -> FormLine | Choice | ButtonLine:
    if choices:
        return Choice(choices, value, name)
    return ButtonLine() if value is None else FormLine(value, say("form none"), compact=True, select_on_focus=False)


class FormPage(Page):
    """A page of named lines. Left and Right change a choice, Space lists its values.

    Attributes:
        lines: The input of each line, by name.
        values: The values of the lines when `take` last read them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bind_keys("list"), *bind_keys("form"), ("space", "list_values")]

    def __init__(self) -> None:
        super().__init__()
        self.fields: Mapping[str, Field] = {}
        self.lines: dict[str, FormLine | Choice | ButtonLine] = {}
        self.rows: dict[str, tuple[Horizontal, Text]] = {}
        self.values: dict[str, Any] = {}
        self.form, self.scroll = Vertical(id="form"), Fields()
        self._entered: Widget | None = None
        self._before = ""

    def compose_body(self) -> ComposeResult:
        self.fields = self.list_fields()
        with self.form:
            with self.scroll:
                for name, (_, value, _, choices) in self.fields.items():
                    line = self.lines[name] = _make_line(name, value, choices)
                    title = Text(classes="title")
                    self.values[name] = value
                    self.rows[name] = Horizontal(title, line, classes="field", name=name), title
                    yield self.rows[name][0]
            yield self.text("sum")
        yield self.text("note")

    def on_mount(self) -> None:
        super().on_mount()
        self.choose(next(iter(self.lines)))

    @abstractmethod
    def list_fields(self) -> Mapping[str, Field]:
        """Return the lines with their current values, by name."""

    @abstractmethod
    def took(self, name: str) -> None:
        """React to the changed value of a line."""

    @abstractmethod
    def describe_sum(self) -> Part:
        """Return the summary below the lines."""

    def describe_note(self) -> str:
        return self.fields[self.chosen].note if self.chosen else ""

    def list_shown(self) -> list[str]:
        return list(self.lines)

    def fill(self) -> None:
        self.take()
        shown, chosen = self.list_shown(), self.chosen
        for name, (row, title) in self.rows.items():
            row.display = name in shown
            row.set_class(name == chosen, "-chosen")
            title.show((f"{'>' if name == chosen else ' '} {self.fields[name].title}", ""))
        self.form.styles.max_height = len(shown) + 3  # the summary has three lines at most
        self.scroll.styles.max_height = len(shown)
        self.text("sum").show(self.describe_sum())
        self.text("note").show((self.describe_note(), "dim"))

    @property
    def chosen(self) -> str:
        """The name of the focused line, or "" if no line has the focus."""
        lines = self.focused.ancestors_with_self if self.focused is not None else ()
        return next((name for name, line in self.lines.items() if line in lines), "")

    @property
    def line(self) -> FormLine | Choice | ButtonLine | None:
        return self.lines.get(self.chosen)

    @property
    def is_edited(self) -> bool:
        """Whether the focused line is a text that was edited since it got the focus."""
        return isinstance(self.line, FormLine) and self.line.value != self._before

    def choose(self, name: str) -> None:
        self.take()
        line = self._entered = self.lines[name]
        self.set_focus(line)
        if isinstance(line, FormLine):
            self._before = line.value
            line.action_select_all()
        self.redraw()

    def action_move(self, by: int) -> None:
        shown = self.list_shown()
        self.choose(shown[(shown.index(self.chosen) + by) % len(shown)])

    def action_go(self, at: int) -> None:
        self.choose(self.list_shown()[at])

    def take(self) -> None:
        """Read the values of changed lines into `values`, and call `took` for each."""
        for name, line in self.lines.items():
            value = line.value.strip() if isinstance(line, FormLine) else line.value
            if value not in (self.values[name], Select.NULL):  # a choice is NULL until it is mounted
                self.values[name] = value
                self.took(name)
                line.scroll_visible(animate=False)
                self.redraw()

    def put(self, name: str, value: Any, choices: Mapping[str, Any] | None = None) -> None:
        """Set the value of a line, and its choices if given."""
        line, self.values[name] = self.lines[name], value
        if isinstance(line, Choice):
            line.offer(line.choices if choices is None else choices, value)
        elif isinstance(line, FormLine) and line.value.strip() != value:
            with line.prevent(Input.Changed):
                line.value = value

    @on(Input.Changed)
    @on(Select.Changed)
    def hear(self) -> None:
        self.take()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("change", "list_values"):
            return isinstance(self.line, Choice) and not self.line.expanded
        return super().check_action(action, parameters)

    def action_change(self, by: int) -> None:
        if isinstance(self.line, Choice):
            values = list(self.line.choices.values())
            self.line.value = values[(values.index(self.line.value) + by) % len(values)]
            self.take()

    def action_list_values(self) -> None:
        if isinstance(self.line, Choice):
            self.line.action_show_overlay()

    def action_open(self) -> None:
        self.action_change(1)

    def on_click(self, event: events.Click) -> None:
        """Change the choice or press the button of the clicked line; Textual handles clicks on values themselves."""
        widget, _ = self.get_widget_at(*event.screen_offset)
        inside = widget.ancestors_with_self
        name = next((row.name for row in inside if row.name in self.rows and isinstance(row, Horizontal)), None)
        if name is None or any(isinstance(ancestor, (Select, FormLine)) for ancestor in inside):
            return
        self.choose(name)
        if isinstance(self.line, ButtonLine):
            self.action_open()
        self.action_change(1)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if event.widget is self.focused and event.widget is not self._entered and isinstance(event.widget, FormLine):
            self.choose(self.chosen)
        self.redraw()


class SettingsPage(FormPage):
    """The settings that can be changed while playing. Each change takes effect at once and is saved for later runs."""

    situation = "settings"
    heading = "key settings"

    def describe_sum(self) -> Part:
        if problem := self.program.save_problem:
            return say("settings not kept", why=problem), "warn"
        return say("saved in", file=show_path(choices_path())), "dim"

    def list_fields(self) -> dict[str, Field]:
        fields = {}
        for name, option in SCREEN_OPTIONS.items():
            value = getattr(self.program.settings, name)
            choices = {option.describe(choice)[0]: choice for choice in option.choices}
            is_fixed = option.key in self.program.settings.fixed
            note = say("setting fixed", file=FILE_NAME) if is_fixed else option.describe(value)[1]
            fields[name] = Field(option.title, value, note, choices)
        return fields

    def fill(self) -> None:
        self.take()
        self.fields = self.list_fields()
        for name, field in self.fields.items():
            self.put(name, field.value, field.choices)
        super().fill()

    def took(self, name: str) -> None:
        self.program.change(name, self.values[name])
