"""A new room: its form, what all of it comes to, and the way into the room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from textual.binding import BindingType

from tictactoe_client.input.rule_options import parse_clock, parse_rules, parse_seat
from tictactoe_client.online.client import Choice as Wish
from tictactoe_client.settings import Misuse
from tictactoe_client.text.help import FORM, Topic
from tictactoe_client.text.wording import describe_clock_in_words
from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.form import Field, FormScreen
from tictactoe_engine import PRESETS, Rules, format_cell
from tictactoe_protocol.wording import describe_rules

LEVELS: Final = ("easy", "medium", "hard")
_NO_YES: Final = ("no", "yes")
_RULES: Final = ("board", "win", "marks", "blocked", "misere", "gravity")

FIELDS: Final[tuple[tuple[str, str, str, tuple[str, ...], str], ...]] = (
    ("game", "Game", "classic", (*PRESETS, "custom"), "a game with a name, or your own"),
    ("board", "Board", "3x3", (), "rows x columns, up to 32x32"),
    ("win", "In a row to win", "3", (), ""),
    ("marks", "Marks", "XO", (), "in turn order; one for each player"),
    ("blocked", "Blocked cells", "", (), "such as b2,c3"),
    ("misere", "Misère", "no", _NO_YES, "whoever completes a line loses"),
    ("gravity", "Gravity", "no", _NO_YES, "marks fall down their column"),
    ("clock", "Clock", "", (), "3+2, 10/move (seconds), or empty"),
    ("seen", "Who may see it", "public", ("public", "private"), "private: with the code only"),
    ("analysis", "Analysis", "closed", ("closed", "open"), "open: of the running game, a lesson"),
    ("chat", "Chat", "all", ("all", "players"), "players: who watches only reads"),
    ("seat", "Your mark", "X", (), "the first begins"),
    ("bots", "The computer", "no", ("no", *LEVELS), "in the other seats"),
)
"""The lines: a name, a title, what it says at first, what it may say where it is a choice, and a note."""

_COMPANY: Final = ("seen", "analysis", "chat", "bots")
"""Lines that mean nothing to one who is alone on a server, but for the computer, which then plays."""


class NewRoomScreen(FormScreen):
    """The form; Enter opens the room from any line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("open", "enter_room", "open the room"),
        bind("back", label="cancel"),
        bind("help", label="help"),
    ]
    heading = "New room"
    foot_first = ("open the room", "cancel", "undo")

    @property
    def foot_renames(self) -> Mapping[str, str]:  # type: ignore[override]
        """What Esc does first where a text was changed."""
        return {"cancel": "undo"} if self.is_edited else {}

    @property
    def is_alone(self) -> bool:
        """Whether nobody but the computer can come."""
        return self.desk.link.is_own

    def opened(self) -> None:
        """Make the lines, unless one comes back to them."""
        if self.fields:
            return
        ascii_only = self.desk.settings.ascii
        for name, title, value, values, note in FIELDS:
            if not (self.is_alone and name in _COMPANY):
                shown = title.replace("è", "e") if ascii_only else title
                self.fields[name] = Field(shown, value, note, [(one, one) for one in values])
        if self.is_alone:
            levels = [(level, level) for level in LEVELS]
            self.fields["bots"] = Field("The computer", "medium", "nobody else can come here", levels)

    def describe_sum(self) -> tuple[str, str]:
        """Return what the room comes to, or what is wrong with it."""
        try:
            return describe_room(self.read(), alone=self.is_alone), "dim"
        except Misuse as misuse:
            return misuse.message, "bad"

    def read(self) -> Wish:
        """Return the room that the form describes; raises `Misuse` in the form's words."""
        return read_room(self._values())

    def _values(self) -> dict[str, str]:
        return {name: field.value.strip() for name, field in self.fields.items()}

    def took(self, name: str) -> None:
        """Show what a named game means, or that the rules are no longer those of one."""
        fields = self.fields
        if name in _RULES:
            try:
                fields["game"].value = _read_rules(self._values()).preset or "custom"
            except Misuse:
                fields["game"].value = "custom"
        elif name == "game" and (rules := PRESETS.get(fields["game"].value)) is not None:
            for rule, value in values_of(rules).items():
                fields[rule].value = value
            if fields["seat"].value not in rules.marks:
                fields["seat"].value = rules.marks[0]

    def list_help(self) -> Sequence[Topic]:
        """Return the help for this form."""
        titles = [title for name, title, *_ in FIELDS if name in self.fields]
        return [("The lines", tuple(row for row in FORM if row[0] in titles))]

    def on_input_submitted(self) -> None:
        """Open the room from a line of text, too."""
        self.action_enter_room()

    def action_enter_room(self) -> None:
        """Open the room, unless something is wrong with it, or one is on the way already."""
        try:
            wish = self.read()
        except Misuse as misuse:
            self.desk.say(misuse.message, "bad")
            return
        self.desk.errands.enter(wish)

    def action_back(self) -> None:
        """Take back what is typed in the line, else want no room any more."""
        if self.is_edited and not self.desk.errands.errand:
            self.take_back()
            return
        self.desk.errands.give_up()
        super().action_back()


def read_room(values: Mapping[str, str]) -> Wish:
    """Return the room that these lines describe; raises `Misuse` in the form's words.

    Of one who is alone there is no line that says who may see it.
    """
    try:
        rules = _read_rules(values)
        bots = () if values["bots"] == "no" else (values["bots"],) * (len(rules.marks) - 1)
        return Wish(
            "create",
            rules,
            parse_clock(values["clock"] or None),
            values.get("seen") != "public",
            parse_seat(values["seat"] or None, rules),
            bots,
            analysis="open" if values.get("analysis") == "open" else "closed",
            chat="players" if values.get("chat") == "players" else "all",
        )
    except Misuse as misuse:
        raise Misuse(_without_dashes(misuse.message)) from None


def describe_room(wish: Wish, *, alone: bool) -> str:
    """Return what such a room comes to in words."""
    manners = [
        "private" if wish.private else "public",
        *(["analysis open"] if wish.analysis == "open" else []),
        *(["chat for players"] if wish.chat == "players" else []),
    ]
    seen = "" if alone else f" The room is {', '.join(manners)}."
    return f"{describe_rules(wish.rules)}; {describe_clock_in_words(wish.clock)}.{seen}"


def values_of(rules: Rules) -> dict[str, str]:
    """Return what the lines of the rules say of these.

    >>> values_of(PRESETS["classic"])["board"]
    '3x3'
    """
    blocked = ",".join(format_cell(cell, rules).lower() for cell in sorted(rules.blocked))
    yes = (_NO_YES[rules.misere], _NO_YES[rules.gravity])
    return dict(
        zip(_RULES, (f"{rules.rows}x{rules.columns}", str(rules.line), rules.marks, blocked, *yes), strict=True)
    )


def _read_rules(values: Mapping[str, str]) -> Rules:
    win = values["win"]
    if not (win.isascii() and win.isdigit() and len(win) <= 3):
        raise Misuse(f'"{win}" is no number of marks in a row.')
    return parse_rules(
        board=values["board"],
        win=int(win),
        marks=values["marks"],
        blocked=values["blocked"] or None,
        misere=values["misere"] == "yes",
        gravity=values["gravity"] == "yes",
    )


def _without_dashes(message: str) -> str:
    """Return a refusal of the command line's options as one of this form's lines."""
    return message.replace("--blocked: ", "Blocked: ").replace("--seat ", "Your mark ")
