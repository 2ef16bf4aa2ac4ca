"""The form of a new room: its lines, the chosen one and what is typed there, and what all of it comes to. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from tictactoe_client.input.rule_options import RuleOptions, parse_clock, parse_rules, parse_seat
from tictactoe_client.online.choice import Choice
from tictactoe_client.settings import Misuse
from tictactoe_client.text.wording import describe_clock_in_words, describe_rules
from tictactoe_client.tui.editor import LineEditor
from tictactoe_client.tui.home_menu import LEVELS
from tictactoe_engine import PRESETS, Rules, format_cell


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
        Field("analysis", "Analysis", "open: of the running game, a lesson", "closed", ("closed", "open")),
        Field("chat", "Chat", "players: who watches only reads", "all", ("all", "players")),
        Field("seat", "Your mark", "the first begins", "X"),
        Field("bots", "The computer", "in the other seats", "no", ("no", *LEVELS)),
    ]
    if not alone:
        return fields
    company = Field("bots", "The computer", "nobody else can come here", "medium", LEVELS)
    return [*(field for field in fields if field.name not in ("seen", "analysis", "chat", "bots")), company]


class RoomForm:
    """The lines, one of them chosen; with `alone` nobody but the computer can come."""

    def __init__(self, *, alone: bool) -> None:
        self.fields = _fields(alone=alone)
        self.row = 0
        self._alone = alone
        self._before = ""
        self._editor = LineEditor()
        self.choose(0)

    @property
    def field(self) -> Field:
        """The chosen line."""
        return self.fields[self.row]

    @property
    def is_edited(self) -> bool:
        """Whether something is typed that could be taken back."""
        return not self.field.values and self.field.value != self._before

    @property
    def is_selected(self) -> bool:
        """Whether what is typed next takes the place of what stands on the line."""
        return self._editor.selected

    def choose(self, row: int) -> None:
        """Go to a line, round and round; what is typed first takes the place of what stands there."""
        self.row = row % len(self.fields)
        self._before = self.field.value
        self._editor = LineEditor(self._before, limit=60, selected=True)

    def press(self, key: str) -> None:
        """Take a key that edits, on a line with a text."""
        if not self.field.values and self._editor.press(key):
            self._take(self._editor.text)

    def paste(self, text: str) -> None:
        """Paste, on a line with a text."""
        if not self.field.values:
            self._editor.type(text.strip())
            self._take(self._editor.text)

    def put_back(self) -> None:
        """Let the line say again what it did before one typed."""
        self._take(self._before)
        self.choose(self.row)

    def change(self, by: int) -> None:
        """Go to another of the line's values, where it has a choice of them."""
        field = self.field
        if not field.values:
            return
        field.value = field.values[(field.values.index(field.value) + by) % len(field.values)]
        if field.name == "game" and field.value in PRESETS:
            self._show_preset(PRESETS[field.value])
        else:
            self._is_custom(field.name)

    def read(self) -> Choice:
        """Return the room that the form describes; raises `Misuse` in the form's words."""
        try:
            return self._read()
        except Misuse as misuse:
            raise Misuse(_without_dashes(misuse.message)) from None

    def describe(self, choice: Choice) -> tuple[str, str]:
        """Return what such a room comes to in words, whole, and its rules alone for where there is little room."""
        rules = describe_rules(choice.rules)
        seen = "" if self._alone else f" The room is {', '.join(_describe_manners(choice))}."
        return f"{rules}; {describe_clock_in_words(choice.clock)}.{seen}", f"{rules}."

    def _read(self) -> Choice:
        rules = self._rules()
        bots = () if self._get("bots") == "no" else (self._get("bots"),) * (len(rules.marks) - 1)
        return Choice(
            "create",
            rules,
            parse_clock(self._get("clock") or None),
            self._alone or self._get("seen") == "private",
            parse_seat(self._get("seat") or None, rules),
            bots,
            analysis="open" if not self._alone and self._get("analysis") == "open" else "closed",
            chat="players" if not self._alone and self._get("chat") == "players" else "all",
        )

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

    def _take(self, text: str) -> None:
        self.field.value = text
        self._is_custom(self.field.name)

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
        return next(field.value for field in self.fields if field.name == name).strip()

    def _set(self, name: str, value: str) -> None:
        next(field for field in self.fields if field.name == name).value = value


def _describe_manners(choice: Choice) -> list[str]:
    """Return who may see the room, and what is unusual about it."""
    return [
        "private" if choice.private else "public",
        *(["analysis open"] if choice.analysis == "open" else []),
        *(["chat for players"] if choice.chat == "players" else []),
    ]


def _without_dashes(message: str) -> str:
    """Return a refusal of the command line's options as one of this form's lines."""
    return (
        message.replace("--win ", "In a row: ")
        .replace("--board ", "Board ")
        .replace("--blocked: ", "Blocked: ")
        .replace("--seat ", "Your mark ")
    )
