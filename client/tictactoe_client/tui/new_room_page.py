"""A form for every rule, the clock, who may see the room, the seat, and the computer."""

from __future__ import annotations

from dataclasses import dataclass

from tictactoe_client.settings import ExitCode, Misuse
from tictactoe_client.tui.editor import LineEditor
from tictactoe_client.tui.game_page import GamePage
from tictactoe_client.tui.home_menu import LEVELS
from tictactoe_client.tui.page import Desk, Page, draw_frame, draw_status
from tictactoe_client.tui.picture import Picture, measure, shorten_left
from tictactoe_client.typed.rule_options import RuleOptions, parse_clock, parse_rules, parse_seat
from tictactoe_client.wire.choosing import Choice
from tictactoe_client.words.wording import describe_clock_in_words, describe_rules
from tictactoe_engine import PRESETS, Rules, format_cell

_TOP = 3
_WIDE = 44
"""From this width on the values stand in a column; in a narrower window each follows its title."""
_NOTES_AT = 42


@dataclass(slots=True)
class Field:
    """One line: a choice among values, or a text where there are none."""

    name: str
    title: str
    note: str
    value: str
    values: tuple[str, ...] = ()


def _fields(*, alone: bool) -> list[Field]:
    """Return the lines; one who is alone on a server plays the computer, and nobody is there to see the room."""
    fields = [
        Field("game", "Game", "a game with a name, or your own", "classic", (*PRESETS, "custom")),
        Field("board", "Board", "rows x columns, up to 32x32", "3x3"),
        Field("win", "In a row to win", "", "3"),
        Field("marks", "Marks", "in turn order; one for each player", "XO"),
        Field("blocked", "Blocked cells", "such as b2,c3", ""),
        Field("misere", "Misère", "whoever completes a line loses", "no", ("no", "yes")),
        Field("gravity", "Gravity", "marks fall down their column", "no", ("no", "yes")),
        Field("clock", "Clock", "3+2, 10/move (seconds), or empty", ""),
        Field(
            "seen",
            "Who may see it",
            "private: with the code only",
            "public",
            ("public", "private"),
        ),
        Field("seat", "Your mark", "the first begins", "X"),
        Field("bots", "The computer", "in the other seats", "no", ("no", *LEVELS)),
    ]
    if not alone:
        return fields
    company = Field("bots", "The computer", "nobody else can come here", "medium", LEVELS)
    return [*(field for field in fields if field.name not in ("seen", "bots")), company]


class NewRoomPage(Page):
    """The form; Enter opens the room."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._fields = _fields(alone=desk.link.is_own)
        self._row = 0
        self._first = 0
        self._before = ""
        self._editor = LineEditor()
        self._choose(0)

    # -- keys -----------------------------------------------------------------------------------------------------

    def press(self, key: str) -> None:
        """Choose a line, change it, open the room."""
        does = self.desk.keymap.does
        field = self._fields[self._row]
        if does(key, "leave"):
            self.desk.leave(ExitCode.INTERRUPTED)
        elif does(key, "back"):
            self._go_back()
        elif key == "enter":
            self._open()
        elif does(key, "up") or does(key, "down") or key == "tab":
            self.scroll(-1 if does(key, "up") else 1)
        elif field.values and (does(key, "left") or does(key, "right") or key == "space"):
            self._change(field, -1 if does(key, "left") else 1)
        elif not field.values and self._editor.press(key):
            self._take(self._editor.text)

    def paste(self, text: str) -> None:
        """Paste into the line."""
        field = self._fields[self._row]
        if not field.values:
            self._editor.type(text.strip())
            self._take(self._editor.text)

    def scroll(self, lines: int) -> None:
        """Move the choice."""
        self._choose((self._row + lines) % len(self._fields))

    def click(self, x: int, y: int) -> None:
        """A click chooses a line, a second one changes it."""
        number = y - _TOP + self._first
        if y >= _TOP and number < len(self._fields):
            field = self._fields[number]
            if number == self._row and field.values:
                self._change(field, 1)
            if number != self._row:
                self._choose(number)

    def _choose(self, row: int) -> None:
        """Go to a line; what is typed first takes the place of what stands there."""
        self._row, self._before = row, self._fields[row].value
        self._editor = LineEditor(self._before, limit=60, selected=True)

    def _take(self, text: str) -> None:
        field = self._fields[self._row]
        field.value = text
        self._is_custom(field.name)

    def _go_back(self) -> None:
        """Put back what the line had before one typed; else leave the form."""
        if self._is_edited():
            self._take(self._before)
            self._choose(self._row)
        else:
            self.desk.close_page()

    def _is_edited(self) -> bool:
        field = self._fields[self._row]
        return not field.values and field.value != self._before

    def _change(self, field: Field, by: int) -> None:
        here = field.values.index(field.value)
        field.value = field.values[(here + by) % len(field.values)]
        if field.name == "game" and field.value in PRESETS:
            self._show_preset(PRESETS[field.value])
        else:
            self._is_custom(field.name)

    def _show_preset(self, rules: Rules) -> None:
        """Fill the lines in with what the preset means."""
        self._set("board", f"{rules.rows}x{rules.columns}")
        self._set("win", str(rules.line))
        self._set("marks", rules.marks)
        self._set("blocked", ",".join(format_cell(cell, rules).lower() for cell in sorted(rules.blocked)))
        self._set("misere", "yes" if rules.misere else "no")
        self._set("gravity", "yes" if rules.gravity else "no")
        if self._get("seat") not in rules.marks:
            self._set("seat", rules.marks[0])

    def _is_custom(self, changed: str) -> None:
        """Say that the rules are no longer those of a preset, unless they still are."""
        if changed in ("board", "win", "marks", "blocked", "misere", "gravity"):
            try:
                self._set("game", self._rules().preset or "custom")
            except Misuse:
                self._set("game", "custom")

    def _get(self, name: str) -> str:
        return next(field.value for field in self._fields if field.name == name).strip()

    def _set(self, name: str, value: str) -> None:
        next(field for field in self._fields if field.name == name).value = value

    # -- the room -------------------------------------------------------------------------------------------------

    def _rules(self) -> Rules:
        win = self._get("win")
        if not (win.isascii() and win.isdigit() and len(win) <= 3):
            raise Misuse(f'"{win}" is no number of marks in a row.')
        return parse_rules(
            RuleOptions(
                board=self._get("board"),
                win=int(win),
                marks=self._get("marks"),
                blocked=self._get("blocked") or None,
                misere=self._get("misere") == "yes",
                gravity=self._get("gravity") == "yes",
            )
        )

    def _choice(self) -> Choice:
        """Return what the form says; raises `Misuse`."""
        rules = self._rules()
        bots = () if self._get("bots") == "no" else (self._get("bots"),) * (len(rules.marks) - 1)
        return Choice(
            "create",
            rules,
            parse_clock(self._get("clock") or None),
            self.desk.link.is_own or self._get("seen") == "private",
            parse_seat(self._get("seat") or None, rules),
            bots,
        )

    def _open(self) -> None:
        try:
            choice = self._choice()
        except Misuse as misuse:
            self.desk.say(_without_dashes(misuse.message))
            return
        self.desk.run(self._enter(choice))

    async def _enter(self, choice: Choice) -> None:
        client = self.desk.link.client
        if client is not None and self.desk.pages[-1] is self:
            room = await choice.enter(client)
            self.desk.close_page()
            self.desk.open(GamePage(self.desk, room, choice))

    # -- drawing --------------------------------------------------------------------------------------------------

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the form, and what its rules come to."""
        settings = self.desk.settings
        hints = self._hints()
        draw_frame(picture, (("New room", "title"),), ("", ""), hints, ascii_only=settings.ascii)
        space = picture.height - 3 - _TOP
        self._first = max(0, min(len(self._fields) - space, self._row - space // 2))
        for y, field in enumerate(self._fields[self._first : self._first + space], _TOP):
            self._draw_field(picture, y, field, is_chosen=field is self._fields[self._row])
        lines = 2 if space > len(self._fields) else 1
        draw_status(
            picture, status or self._describe_room((picture.width - 4) * lines), x=1 if status else 3, most=lines
        )

    def _hints(self) -> str:
        """Return the keys that count on the chosen line."""
        ascii_only, back = self.desk.settings.ascii, self.desk.keymap.show("back")
        choose, change = ("up/down choose", "<> change") if ascii_only else ("↑↓ choose", "←→ change")
        if not self._fields[self._row].values:
            change = "type to replace  Backspace edits" if self._editor.selected else "Ctrl+U clears"
        return f"Enter open the room  {choose}  {change}  {back} {'undo' if self._is_edited() else 'cancel'}"

    def _describe_room(self, space: int) -> tuple[str, str]:
        """Return what the form's room comes to, its rules alone in a small space, or what is wrong; and the role."""
        try:
            choice = self._choice()
        except Misuse as misuse:
            return _without_dashes(misuse.message), "bad"
        clock = describe_clock_in_words(choice.clock)
        seen = "private" if choice.private else "public"
        seen = "" if self.desk.link.is_own else f" The room is {seen}."
        rules = describe_rules(choice.rules)
        whole = f"{rules}; {clock}.{seen}"
        return (whole if measure(whole) <= space else f"{rules}."), "dim"

    def _draw_field(self, picture: Picture, y: int, field: Field, *, is_chosen: bool) -> None:
        picture.put(3, y, ">" if is_chosen else " ", "key")
        x = picture.put(5, y, field.title, "title" if is_chosen else "")
        x = 22 if picture.width >= _WIDE else x + 1
        left, right = ("<", ">") if self.desk.settings.ascii else ("‹", "›")
        if field.values:
            value = f"{left} {field.value} {right}" if is_chosen else f"  {field.value}"
        else:
            cursor = "_" if is_chosen and not (self._editor.selected and field.value) else ""
            value = f"  {shorten_left(field.value, picture.width - x - 4)}{cursor}"
        end = picture.put(x, y, value, "title" if is_chosen else "")
        at = max(_NOTES_AT, end + 2)
        if picture.width >= _WIDE and picture.width > at + measure(field.note):
            picture.put(at, y, field.note, "dim")


def _without_dashes(message: str) -> str:
    """Return a refusal of the command line's options as one of this form's lines."""
    return (
        message.replace("--win ", "In a row: ")
        .replace("--board ", "Board ")
        .replace("--blocked: ", "Blocked: ")
        .replace("--seat ", "Your mark ")
    )
