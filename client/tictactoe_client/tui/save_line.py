"""Writing a game's record to a file from any page: at once under a name of its own, else under one that is typed."""

from __future__ import annotations

from tictactoe_client.files.records import STANDARD_STREAM, name_for, write_record
from tictactoe_client.settings import Misuse
from tictactoe_client.tui.editor import LineEditor
from tictactoe_client.tui.page import Desk
from tictactoe_engine.records import GameRecord
from tictactoe_protocol import clean_text


class SaveLine:
    """What is asked about a file's name; nothing is, until a name was taken already."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._record: GameRecord | None = None
        self._name = LineEditor(limit=200)

    @property
    def text(self) -> str:
        """What to show in place of the page's keys while a name is being typed, else ""."""
        return "" if self._record is None else f"save as: {self._name.text}_   Enter save  {self._back} not at all"

    @property
    def _back(self) -> str:
        return self._desk.keymap.show("back")

    def save(self, record: GameRecord) -> None:
        """Write a record under the name that it has by itself."""
        self._write(name_for(record), record)

    def press(self, key: str) -> bool:
        """Take a key while a name is being typed; tell whether that is so."""
        if self._record is None:
            return False
        if self._desk.keymap.does(key, "back"):
            self._record = None
        elif key == "enter":
            self._write(self._name.text.strip(), self._record)
        else:
            self._name.press(key)
        return True

    def paste(self, text: str) -> None:
        """Take pasted text while a name is being typed."""
        if self._record is not None:
            self._name.type(text.strip())

    def _write(self, name: str, record: GameRecord) -> None:
        try:
            if name in ("", STANDARD_STREAM):
                raise Misuse("Save needs the name of a file.")
            write_record(name, record)
        except Misuse as misuse:
            self._record, self._name.text = record, name
            self._desk.say(misuse.message)
        else:
            self._record = None
            self._desk.say(f"The game is saved in {clean_text(name)}", "good")
