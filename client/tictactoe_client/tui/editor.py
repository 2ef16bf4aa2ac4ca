"""One line of text being typed; pure."""

from __future__ import annotations

from tictactoe_protocol import clean_text


class LineEditor:
    """A line with its end as the only place to edit: type, Backspace, Esc.

    While it is `selected`, what is typed takes the place of what stands there; any other edit keeps it.
    """

    def __init__(self, text: str = "", *, limit: int = 2000, selected: bool = False) -> None:
        self.text = text
        self.selected = selected
        self._limit = limit

    def type(self, text: str) -> None:
        """Add text, without what cannot be printed, up to the limit; or put it in the place of what is selected."""
        before = "" if self.selected else self.text
        self.text = (before + clean_text(text.replace("\n", " ").replace("\t", " ")))[: self._limit]
        self.selected = False

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
        self.selected = False
        return True

    def clear(self) -> str:
        """Empty the line and return what it held."""
        text, self.text, self.selected = self.text, "", False
        return text
