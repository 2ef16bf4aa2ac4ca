"""A question over the screen that asks it: yes or no, or a line of text."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label

from tictactoe_client.tui.foot import bind, list_keys


class Question(ModalScreen[str | None], inherit_bindings=False):
    """Asks; the answer is the text typed, empty for a plain yes, or None for no.

    With `value` it asks for a text, which begins as this; else `yes` says what the key does that
    confirms. Where it is asked `anew`, what is typed takes the place of that text.
    """

    BINDINGS: ClassVar[list[BindingType]] = [bind("confirm", "yes", "yes"), bind("back", "no", "no")]

    def __init__(
        self, text: str, value: str | None = None, *, yes: str = "yes", limit: int = 2000, anew: bool = False
    ) -> None:
        super().__init__()
        self._yes = yes
        self._is_anew = anew
        self._text = text
        self._value = value
        self._limit = limit

    def compose(self) -> ComposeResult:
        """Lay out what is asked."""
        with Vertical(id="question"):
            yield Label(self._text, markup=False)
            if self._value is not None:
                yield Line(self._value, max_length=self._limit, compact=True, select_on_focus=False)
            yield Label(id="keys")

    def on_key(self, event: events.Key) -> None:
        """Let Esc go back from a line of text whatever else it is for, and lose no key that comes before the line."""
        if self._value is None:
            return
        line = self.query_one(Line)
        if event.key == "escape":
            event.stop()
            self.action_no()
        elif event is not line.heard:
            event.stop()
            if event.key == "enter":
                self.dismiss(line.value.strip())
            elif event.is_printable and event.character:
                line.write(event.character)

    def type_more(self, text: str) -> None:
        """Take what was typed before the line could."""
        if self.is_mounted:
            self.query_one(Line).write(text)
        else:
            self._value = f"{self._value or ''}{text}"

    def on_mount(self) -> None:
        """Name the keys, and let what is typed take the place of a text that was refused."""
        self.query_one("#keys", Label).update(self._describe_keys())
        if self._is_anew:
            self.query_one(Line).action_select_all()

    def _describe_keys(self) -> Content:
        keys = list_keys(self, 56, (), {"yes": self._yes})
        part = Content.from_markup
        return Content("  ").join(
            part("[bold $key]$key[/] [$dim]$label[/]", key=key, label=label) for key, label in keys
        )

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with what is typed."""
        self.dismiss(event.value.strip())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A text is answered by its own Enter."""
        return not (action == "yes" and self._value is not None)

    def action_yes(self) -> None:
        """Answer yes."""
        self.dismiss("")

    def action_no(self) -> None:
        """Answer no, or want no text."""
        self.dismiss(None)


class Line(Input):
    """A line of text to type or paste."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", "ok")]
    heard: events.Key | None = None
    """The key that came last; one that the question hears and the line did not came before the line had the keys."""

    def on_key(self, event: events.Key) -> None:
        """Take note of a key."""
        self.heard = event

    def on_paste(self, event: events.Paste) -> None:
        """Take a pasted line without what stands around it."""
        event.prevent_default()
        event.stop()
        self.write(event.text.strip())

    def write(self, text: str) -> None:
        """Put text in the place of what is selected."""
        self.replace(text, *sorted(self.selection))
