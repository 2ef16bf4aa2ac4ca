"""A question above a screen: yes or no, or a line of text."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Label

from tictactoe_client.tui.foot import bind_keys, find_keys
from tictactoe_client.tui.line import Line, hand_on
from tictactoe_words.catalogue import say


class Answer(Line):
    """The text input of a question; Enter and Esc always answer it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.confirm"), Binding("escape", "screen.back")]


class Question(ModalScreen[str | None], inherit_bindings=False):
    """Asks; the result is the typed text, "" for a plain yes, or None for no.

    Args:
        value: The initial text; None asks a yes-no question.
        yes: The id of the confirming key's description.
        anew: Whether typing replaces the initial text.
    """

    BINDINGS: ClassVar[list[BindingType]] = bind_keys("question")

    def __init__(
        self, text: str, value: str | None = None, *, yes: str = "key yes", limit: int = 2000, anew: bool = False
    ) -> None:
        super().__init__()
        self.line = None if value is None else Answer(value, max_length=limit, compact=True, select_on_focus=anew)
        answers = {"confirm": yes, "back": "key no"}
        self._names = answers if self.line is None else {"screen.confirm": "key ok", "screen.back": "key no"}
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(id="question"):
            yield Label(self._text, markup=False)
            if self.line is not None:
                yield self.line
            yield Label(id="answers")

    def on_mount(self) -> None:
        keys = find_keys(self, {name: say(id) for name, id in self._names.items()})
        shown = (Content.assemble((key, "bold $key"), (f" {label}", "$dim")) for key, label in keys)
        self.query_one("#answers", Label).update(Content("  ").join(shown))

    async def on_event(self, event: events.Event) -> None:
        if not hand_on(event, self):
            await super().on_event(event)

    def on_key(self, event: events.Key) -> None:
        """Keep characters that arrive before the input has the focus."""
        if self.line is not None and self.focused is None and event.is_printable and event.character:
            self.line.write(event.character)
            event.stop()

    def action_confirm(self) -> None:
        self.dismiss("" if self.line is None else self.line.value.strip())

    def action_back(self) -> None:
        self.dismiss(None)
