"""The page of a new room's form: its keys, its picture, and the way into the room."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from tictactoe_client.online.choice import Choice
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Misuse
from tictactoe_client.tui.entering import describe_errand
from tictactoe_client.tui.form_help import list_form_help
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.page import Desk, Page, describe_wait, draw_frame, draw_status
from tictactoe_client.tui.picture import Picture, measure, shorten_left
from tictactoe_client.tui.room.screen import RoomScreen
from tictactoe_client.tui.room_form import Field, RoomForm

_TOP = 3
_WIDE = 44
"""From this width on the values stand in a column; in a narrower window each follows its title."""
_NOTES_AT = 42


class NewRoomPage(Page):
    """The form; Enter opens the room."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._form = RoomForm(alone=desk.link.is_own)
        self._first = 0

    # -- keys -----------------------------------------------------------------------------------------------------

    def press(self, key: str) -> None:
        """Choose a line, change it, open the room."""
        does, form = self._keymap.does, self._form
        if does(key, "back"):
            self._go_back()
        elif does(key, "open"):
            self._open()
        elif does(key, "help"):
            self.open_help()
        elif does(key, "up") or does(key, "down") or key == "tab":
            self.scroll(-1 if does(key, "up") else 1)
        elif form.field.values and (does(key, "left") or does(key, "right") or key == "space"):
            form.change(-1 if does(key, "left") else 1)
        else:
            form.press(key)

    @property
    def _keymap(self) -> Keymap:
        """The keys that count on the chosen line: on one with a text its characters are none."""
        return self.desk.keymap if self._form.field.values else self.desk.keymap.typing

    def paste(self, text: str) -> None:
        """Paste into the line."""
        self._form.paste(text)

    def scroll(self, lines: int) -> None:
        """Move the choice."""
        self._form.choose(self._form.row + lines)

    def click(self, x: int, y: int) -> None:
        """A click chooses a line, a second one changes it."""
        number = y - _TOP + self._first
        if not (y >= _TOP and number < len(self._form.fields)):
            return
        if number == self._form.row:
            self._form.change(1)
        else:
            self._form.choose(number)

    def _go_back(self) -> None:
        """Put back what the line had before one typed; else leave the form, at once while the room is being opened."""
        if self._form.is_edited and not self.desk.entering.errand:
            self._form.put_back()
        else:
            self.desk.close_page()

    def list_help(self) -> list[str]:
        """Return what the lines of the form mean."""
        return list_form_help(self.desk.keymap, self.desk.settings, alone=self.desk.link.is_own)

    # -- the room -------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Ask for the room, unless it is being opened already."""
        try:
            choice = self._form.read()
        except Misuse as misuse:
            self.desk.say(misuse.message)
            return
        if not self.desk.entering.errand:
            coming = self.desk.entering.enter(describe_errand(choice), choice.enter)
            self.desk.start(self._arrive(coming, choice))

    async def _arrive(self, coming: Coroutine[Any, Any, Room | None], choice: Choice) -> None:
        """Open the page of the room when we are in, in the place of the form and of what lies on it."""
        room = await coming
        if room is not None:
            while self in self.desk.pages:
                self.desk.close_page()
            self.desk.open(RoomScreen(self.desk, room, choice))

    def closed(self) -> None:
        """Whoever went back wants no room."""
        self.desk.entering.give_up()

    # -- drawing --------------------------------------------------------------------------------------------------

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the form, and what its rules come to."""
        ascii_only, fields, row = self.desk.settings.ascii, self._form.fields, self._form.row
        draw_frame(picture, (("New room", "title"),), ("", ""), self._hints(picture.width - 2), ascii_only=ascii_only)
        space = picture.height - 3 - _TOP
        self._first = max(0, min(len(fields) - space, row - space // 2))
        for y, field in enumerate(fields[self._first : self._first + space], _TOP):
            self._draw_field(picture, y, field, is_chosen=field is fields[row])
        lines = 2 if space > len(fields) else 1
        told = status or describe_wait(self.desk, self._keymap)
        draw_status(picture, told or self._describe_room((picture.width - 4) * lines), x=1 if told else 3, most=lines)

    def _hints(self, width: int) -> str:
        """Return the keys that count on the chosen line; where room is short, those that one guesses go first."""
        ascii_only, show, signs = self.desk.settings.ascii, self._keymap.show, self._keymap.show_signs
        choose = f"{signs('up/down' if ascii_only else '↑↓', 'up', 'down')} choose"
        change = f"{signs('<>' if ascii_only else '←→', 'left', 'right')} change"
        if not self._form.field.values:
            change = "type to replace  Backspace edits" if self._form.is_selected else "Ctrl+U clears"
        back = f"{show('back')} {'undo' if self._form.is_edited else 'cancel'}"
        way, guide = f"{show('open')} open the room", f"{show('help')} help"
        ways = ((way, choose, change, back, guide), (way, change, back, guide), (way, choose, change, back))
        lines = ["  ".join(items) for items in ways]
        return next((line for line in lines if measure(line) <= width), lines[-1])

    def _describe_room(self, space: int) -> tuple[str, str]:
        """Return what the form's room comes to, its rules alone in a small space, or what is wrong; and the role."""
        try:
            whole, rules = self._form.describe(self._form.read())
        except Misuse as misuse:
            return misuse.message, "bad"
        return (whole if measure(whole) <= space else rules), "dim"

    def _draw_field(self, picture: Picture, y: int, field: Field, *, is_chosen: bool) -> None:
        picture.put(3, y, ">" if is_chosen else " ", "key")
        x = picture.put(5, y, field.title, "title" if is_chosen else "")
        x = 22 if picture.width >= _WIDE else x + 1
        left, right = ("<", ">") if self.desk.settings.ascii else ("‹", "›")
        if field.values:
            value = f"{left} {field.value} {right}" if is_chosen else f"  {field.value}"
        else:
            cursor = "_" if is_chosen and not (self._form.is_selected and field.value) else ""
            value = f"  {shorten_left(field.value, picture.width - x - 4)}{cursor}"
        end = picture.put(x, y, value, "title" if is_chosen else "")
        at = max(_NOTES_AT, end + 2)
        if picture.width >= _WIDE and picture.width > at + measure(field.note):
            picture.put(at, y, field.note, "dim")
