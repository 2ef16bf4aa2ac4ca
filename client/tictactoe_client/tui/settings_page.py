"""What can be changed while playing: each change counts at once, and is kept for later runs."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from tictactoe_client.files.config import config_path, show_path
from tictactoe_client.settings import SCREEN_OPTIONS
from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.form import Field, FormPage
from tictactoe_client.tui.page import Part
from tictactoe_protocol.catalogue import say


class SettingsPage(FormPage):
    """A form of choices, one for each option that has a place here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("back", label="key back"),
        bind("settings", "back"),
        bind("help", label="key help"),
        bind("theme", "app.theme"),
        bind("open", "step(1)"),
    ]
    heading = "settings title"
    first_keys = ("key back",)

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
