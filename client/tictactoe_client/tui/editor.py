"""One line of text being typed; pure."""

from __future__ import annotations

from tictactoe_protocol import clean_text


class LineEditor:
    """A line with its end as the only place to edit: type, Backspace, Esc."""

    def __init__(self, text: str = "", *, limit: int = 2000) -> None:
        self.text = text
        self._limit = limit

    def type(self, text: str) -> None:
        """Add text, without what cannot be printed, up to the limit."""
        self.text = (self.text + clean_text(text.replace("\n", " ").replace("\t", " ")))[: self._limit]

    def press(self, key: str) -> bool:
        """Take a key that edits; tell whether it was one."""
        if key == "backspace":
            self.text = self.text[:-1]
        elif key in ("ctrl+w", "ctrl+backspace"):
            self.text = self.text.rstrip().rpartition(" ")[0]
        elif key == "ctrl+u":
            self.text = ""
        elif key == "space":
            self.type(" ")
        elif len(key) == 1:
            self.type(key)
        else:
            return False
        return True

    def clear(self) -> str:
        """Empty the line and return what it held."""
        text, self.text = self.text, ""
        return text
