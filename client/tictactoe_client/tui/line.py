"""Text inputs, and the line below a board for chat and commands."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from tictactoe_client.tui.picture import measure, shorten, shorten_left
from tictactoe_protocol import clean_text
from tictactoe_words.catalogue import say
from tictactoe_words.commands import COMMANDS, SUGGESTED, word_of

_MOST: Final = 2000


def hand_on(event: events.Event, screen: Screen[Any]) -> bool:
    """Return False if `screen` should handle the event; else pass the key to the screen that now covers `screen`."""
    if screen.is_active or not isinstance(event, events.Key):
        return False
    screen.app.post_message(events.Key(event.key, event.character))
    return True


class Line(Input, inherit_bindings=False):
    """A text input without scrolling."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(one for one in Binding.make_bindings(Input.BINDINGS) if one.action not in ("delete_right_word", "submit")),
        Binding("ctrl+backspace,alt+backspace", "delete_left_word"),
    ]

    async def on_event(self, event: events.Event) -> None:
        if not hand_on(event, self.screen):
            await super().on_event(event)

    def on_key(self, event: events.Key) -> None:
        """Ignore the key; the app calls `write` once all earlier keys have been handled."""
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Insert pasted text without surrounding whitespace."""
        event.prevent_default()
        event.stop()
        self.write(event.text.strip())

    def write(self, text: str) -> None:
        self.replace(text, *sorted(self.selection))


class RoomLine(Line, can_focus=False):
    """The chat and command line of a room: a hidden input that edits the text; the foot of the screen draws it.

    Attributes:
        mode: What is being typed, or "" while the line is closed.
        unsaid: Chat text that was not sent; the line shows it again when it is next opened.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("up", "recall(-1)"), Binding("down", "recall(1)")]

    def __init__(self) -> None:
        super().__init__(max_length=_MOST)
        self.display = False
        self.mode: Literal["", "chat", "command"] = ""
        self.unsaid = ""
        self._past: list[str] = []
        self._at = 0

    def switch(self) -> None:
        """Complete a command; otherwise open the line for chat, or close it and keep the text for later."""
        if self.mode == "command":
            self.fill(self.completion or self.value)
        elif self.mode:
            self.unsaid = self.close()
        else:
            self.begin_chat()

    def begin_chat(self, text: str = "") -> None:
        self.mode = "chat"
        self.fill(text or self.unsaid)
        self.unsaid = ""

    def begin_command(self) -> None:
        self.mode, self._at = "command", 0

    def close(self) -> str:
        text, self.value, self.mode = self.value, "", ""
        return text

    def submit(self) -> str:
        """Close the line and return its text; a command is added to the history."""
        if self.mode == "command" and self.value.strip():
            self._past.append(self.value)
        return self.close()

    def fill(self, text: str) -> None:
        self.value = text
        self.cursor_position = len(text)

    def write(self, text: str) -> None:
        """Replace the selection by the printable characters of the text, up to the maximum length."""
        cleaned = clean_text(" ".join(text.replace("\t", " ").splitlines()))
        super().write(cleaned[: _MOST - len(self.value)])

    async def press(self, key: str) -> None:
        if key in _EDITS:
            await self.run_action(_EDITS[key])

    def action_recall(self, by: int) -> None:
        if self.mode == "command":
            self._at = max(-len(self._past), min(self._at + by, 0))
            self.fill(self._past[self._at] if self._at else "")

    @property
    def completion(self) -> str:
        """The first command that begins with the typed text, suggested commands first; or ""."""
        typed = self.value.lstrip().lower() if self.mode == "command" else ""
        others = (each.typed[-1].split()[0] for commands in COMMANDS.values() for each in commands if each.typed)
        words = (*map(word_of, SUGGESTED), *others)
        return next((word for word in words if typed and word.startswith(typed) and word != typed), "")

    def lay_out(self, width: int) -> tuple[str, int, str]:
        """Return the visible text, and the column and text to highlight: the selection, or the character at the caret.

        At the end of the text, the caret is a "_", and nothing is highlighted.
        """
        text = say("room saying", text=self.value) if self.mode == "chat" else f":{self.value}"
        start, end = (len(text) - len(self.value) + at for at in sorted(self.selection))
        if start == len(text):
            return shorten_left(f"{text}_", width), 0, ""
        end = max(end, start + 1)
        rest = text[end:]
        head = shorten_left(text[:end], width - 1 if rest else width)
        return head + shorten(rest, width - measure(head)), measure(head) - measure(text[start:end]), text[start:end]


_EDITS: Final = {
    binding.key: binding.action
    for keys in (Line.BINDINGS, RoomLine.BINDINGS)
    for binding in Binding.make_bindings(keys)
}
