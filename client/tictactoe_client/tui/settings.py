"""What can be changed while playing: each change counts at once, and is kept for later runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, cast

from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import Label, Select, Static

from tictactoe_client.files.config import show_path
from tictactoe_client.settings import SCREEN_OPTIONS
from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.form import Choice, Field, Form
from tictactoe_client.tui.screen import FramedScreen


class SettingsScreen(FramedScreen):
    """A form of choices, one for each option that has a place here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("back", label="back"),
        bind("settings", "back"),
        bind("help", label="help"),
        bind("theme", "app.theme"),
        bind("open", "change"),
    ]
    heading = "Settings"
    AUTO_FOCUS = "Choice"
    foot_first = ("back",)

    def lay_out(self) -> Iterable[Widget]:
        """Lay out a line for each option, and where they are kept."""
        fields = []
        for name, option in SCREEN_OPTIONS.items():
            choices = [(option.describe(value)[0], value) for value in option.choices]
            value = getattr(self.desk.settings, name)
            note = option.describe(value)[1]
            fields.append(Field(option.title, Choice(choices, value, id=name), note))
        yield Form(fields)
        yield Static(id="kept")

    def action_change(self) -> None:
        """Go to another value of the chosen line."""
        if isinstance(self.focused, Choice):
            self.focused.action_step(1)

    def on_select_changed(self, event: Select.Changed) -> None:
        """Change a setting."""
        name, value = event.select.id or "", cast("str | bool", event.value)
        if value != getattr(self.desk.settings, name):
            self.desk.change(name, value)
        if event.select.parent is not None:
            note = SCREEN_OPTIONS[name].describe(event.value)[1]
            event.select.parent.query_one(".note", Label).update(note)

    def show(self) -> None:
        """Show what was changed elsewhere, and where all is kept."""
        self.query_one(Form).fill("theme", self.desk.settings.theme)
        keeper = self.desk.keeper
        self.put("#kept", f"Not kept: {keeper.problem}" if keeper.problem else f"Kept in {show_path(keeper.path)}")
