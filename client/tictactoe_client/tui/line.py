"""Lines of text to type, and the one below a board, in which one says something to the room or types a command."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from tictactoe_client.tui.picture import measure, shorten, shorten_left
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.commands import COMMANDS

_MOST: Final = 2000


def hand_on(event: events.Event, screen: Screen[Any]) -> bool:
    """Give a key to the screen on top that came before it and was read after it; tell whether it is such a key."""
    if screen.is_active or not isinstance(event, events.Key):
        return False
    screen.app.post_message(events.Key(event.key, event.character))
    return True


class Line(Input, inherit_bindings=False):
    """A line of text to type or paste; it scrolls nowhere, and takes no keys for that."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(one for one in Binding.make_bindings(Input.BINDINGS) if one.action not in ("delete_right_word", "submit")),
        Binding("ctrl+backspace,alt+backspace", "delete_left_word"),
    ]

    async def on_event(self, event: events.Event) -> None:
        if not hand_on(event, self.screen):
            await super().on_event(event)

    def on_key(self, event: events.Key) -> None:
        """Leave what is typed to those who do what the keys before it are for: it comes to `write` after that."""
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Take a pasted line without what stands around it."""
        event.prevent_default()
        event.stop()
        self.write(event.text.strip())

    def write(self, text: str) -> None:
        """Put text in the place of what is selected."""
        self.replace(text, *sorted(self.selection))


class RoomLine(Line, can_focus=False):
    """The library's line as an editor alone: it is handed its keys one by one, in order, and the foot draws it.

    `mode` is what is typed there, "" while it is closed; `unsaid` is what was not said and may be taken up again.
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
        """Open it to say something, or leave it for the board with what is typed kept; complete a command in it."""
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
        """Close it, and return what it held."""
        text, self.value, self.mode = self.value, "", ""
        return text

    def submit(self) -> str:
        """Close it, remember a command, and return what it held."""
        if self.mode == "command" and self.value.strip():
            self._past.append(self.value)
        return self.close()

    def fill(self, text: str) -> None:
        """Let it hold this, with the caret behind it."""
        self.value = text
        self.cursor_position = len(text)

    def write(self, text: str) -> None:
        """Put text in the place of what is selected, without what cannot be printed, as much as there is room for."""
        cleaned = clean_text(" ".join(text.replace("\t", " ").splitlines()))
        super().write(cleaned[: _MOST - len(self.value)])

    async def press(self, key: str) -> None:
        """Edit by a key as every line of the library does; any other key does nothing."""
        if key in _EDITS:
            await self.run_action(_EDITS[key])

    def action_recall(self, by: int) -> None:
        if self.mode == "command":
            self._at = max(-len(self._past), min(self._at + by, 0))
            self.fill(self._past[self._at] if self._at else "")

    @property
    def completion(self) -> str:
        """The command that begins with what is typed, "" where none does."""
        typed = self.value.lstrip().lower() if self.mode == "command" else ""
        words = (one.typed[-1].split()[0] for commands in COMMANDS.values() for one in commands if one.typed)
        return next((word for word in words if typed and word.startswith(typed) and word != typed), "")

    def lay_out(self, width: int) -> tuple[str, int, str]:
        """Return as much of it as there is room for, and what is marked there: from which cell on, and the text.

        That is what is selected, or what the caret stands on; at the end the caret is a sign of its own.
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
"""What the keys do that edit a line."""
