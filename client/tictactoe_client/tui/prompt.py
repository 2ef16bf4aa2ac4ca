"""The screen that shows a prompt above another screen."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Label

from tictactoe_client.tui.foot import bind_keys, join_hints
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.line import Line, hand_on
from tictactoe_client.visit.face import Prompt
from tictactoe_words.catalogue import say


class Answer(Line):
    """The text input of a prompt; Enter and Esc always answer the prompt, even if the user has changed the keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.confirm"), Binding("escape", "screen.back")]


class PromptScreen(ModalScreen[None], inherit_bindings=False):
    """Shows a prompt.

    Attributes:
        answered: The answer that `Face.ask` returns; cancelled if the prompt is closed without an answer.
    """

    BINDINGS: ClassVar[list[BindingType]] = bind_keys("question")

    def __init__(self, prompt: Prompt, keymap: Keymap) -> None:
        super().__init__()
        self.answered: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self.line: Answer | None = None
        if prompt.value is not None:
            self.line = Answer(prompt.value, max_length=prompt.limit, compact=True, select_on_focus=prompt.replaces)
        self._prompt, self._keymap = prompt, keymap

    def compose(self) -> ComposeResult:
        with Vertical(id="question"):
            yield Label(self._prompt.text, markup=False)
            if self.line is not None:
                yield self.line
            yield Label(id="answers")

    def on_mount(self) -> None:
        labels = {"confirm": say("key ok" if self.line else self._prompt.yes), "back": say("key no")}
        keys = join_hints(labels, self._keymap, in_text=self.line is not None)
        hints = (Content.assemble((key, "bold $key"), (f" {label}", "$dim")) for key, label in keys)
        self.query_one("#answers", Label).update(Content("  ").join(hints))

    async def on_event(self, event: events.Event) -> None:
        if not hand_on(event, self):
            await super().on_event(event)

    def on_key(self, event: events.Key) -> None:
        """Write characters into the input even before it gets the focus."""
        if self.line is not None and self.focused is None and event.is_printable and event.character:
            self.line.write(event.character)
            event.stop()

    def action_confirm(self) -> None:
        self._answer("" if self.line is None else self.line.value.strip())

    def action_back(self) -> None:
        self._answer(None)

    def _answer(self, answer: str | None) -> None:
        self.dismiss()
        if not self.answered.done():
            self.answered.set_result(answer)

    def closed(self) -> None:
        self.answered.cancel()
