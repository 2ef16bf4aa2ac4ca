"""A new room: its form, what all of it comes to, and the way into the room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from textual.binding import BindingType

from tictactoe_client.input.rule_options import parse_clock, parse_rules, parse_seat
from tictactoe_client.online.client import Choice as Wish
from tictactoe_client.settings import Misuse
from tictactoe_client.text.help import Topic, list_form
from tictactoe_client.text.wording import describe_clock_in_words
from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.form import Field, FormScreen
from tictactoe_client.tui.picture import ASCII
from tictactoe_engine import PRESETS, Rules, format_cell
from tictactoe_protocol.wording import describe_rules

LEVELS: Final = ("easy", "medium", "hard")
_NO_YES: Final = {"no": False, "yes": True}
_RULES: Final = ("board", "win", "marks", "blocked", "misere", "gravity")


def list_lines(*, alone: bool) -> dict[str, Field]:
    """Return the lines by their names, as they are at first; who is `alone` plays the computer, unseen by anybody."""
    lines = {
        "game": Field("Game", "classic", "a game with a name, or your own", _words(*PRESETS, "custom")),
        "board": Field("Board", "3x3", "rows x columns, up to 32x32"),
        "win": Field("In a row to win", "3"),
        "marks": Field("Marks", "XO", "in turn order; one for each player"),
        "blocked": Field("Blocked cells", "", "such as b2,c3"),
        "misere": Field("Misère", False, "whoever completes a line loses", _NO_YES),
        "gravity": Field("Gravity", False, "marks fall down their column", _NO_YES),
        "clock": Field("Clock", "", "3+2, 10/move (seconds), or empty"),
        "seen": Field("Who may see it", "public", "private: with the code only", _words("public", "private")),
        "analysis": Field("Analysis", "closed", "open: of the running game, a lesson", _words("closed", "open")),
        "chat": Field("Chat", "all", "players: who watches only reads", _words("all", "players")),
        "seat": Field("Your mark", "X", "the first begins"),
        "bots": Field("The computer", "no", "in the other seats", _words("no", *LEVELS)),
    }
    if alone:
        lines = {name: line for name, line in lines.items() if name not in ("seen", "analysis", "chat")}
        lines["bots"] = Field("The computer", "medium", "nobody else can come here", _words(*LEVELS))
    return lines


def _words(*values: str) -> Mapping[str, str]:
    return dict(zip(values, values, strict=True))


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

    def list_fields(self) -> dict[str, Field]:
        """Return the lines, which stay as they are when one comes back to them."""
        return self.fields or list_lines(alone=self.desk.link.is_own)

    def describe_sum(self) -> tuple[str, str]:
        try:
            return describe_room(read_room(self._values), alone=self.desk.link.is_own), "dim"
        except Misuse as misuse:
            return misuse.message, "bad"

    @property
    def _values(self) -> dict[str, Any]:
        return {name: field.value for name, field in self.fields.items()}

    def took(self, name: str) -> None:
        """Show what a named game means, or that the rules are no longer those of one."""
        game, seat = self.fields["game"], self.fields["seat"]
        if name == "game" and (rules := PRESETS.get(game.value)) is not None:
            for rule, value in values_of(rules).items():
                self.fields[rule].value = value
            if seat.value not in rules.marks:
                seat.value = rules.marks[0]
        elif name in _RULES:
            try:
                game.value = _read_rules(self._values).preset or "custom"
            except Misuse:
                game.value = "custom"

    def list_help(self) -> Sequence[Topic]:
        titles = [field.title for field in self.fields.values()]
        spell = ASCII if self.desk.settings.ascii else {}
        return [("The lines", tuple((title.translate(spell), does) for title, does in list_form() if title in titles))]

    def action_enter_room(self) -> None:
        self.take()
        try:
            self.desk.errands.enter(read_room(self._values))
        except Misuse as misuse:
            self.desk.say(misuse.message, "bad")

    def action_back(self) -> None:
        """Take back what is typed in the line, else want no room any more."""
        if self.is_edited and not self.desk.errands.errand:
            self.line.value = self._before
        else:
            self.desk.errands.give_up()
            super().action_back()


def read_room(values: Mapping[str, Any]) -> Wish:
    """Return the room that these lines describe; raises `Misuse` in the form's words."""
    try:
        rules = _read_rules(values)
        return Wish(
            "create",
            rules,
            parse_clock(values["clock"] or None),
            values.get("seen") != "public",
            parse_seat(values["seat"] or None, rules),
            () if values["bots"] == "no" else (values["bots"],) * (len(rules.marks) - 1),
            analysis=values.get("analysis", "closed"),
            chat=values.get("chat", "all"),
        )
    except Misuse as misuse:
        told = misuse.message.replace("--blocked: ", "Blocked: ").replace("--seat ", "Your mark ")
        raise Misuse(told) from None


def describe_room(wish: Wish, *, alone: bool) -> str:
    """Return what such a room comes to in words."""
    told = ["private" if wish.private else "public"]
    told += ["analysis open"] if wish.analysis == "open" else []
    told += ["chat for players"] if wish.chat == "players" else []
    seen = "" if alone else f" The room is {', '.join(told)}."
    return f"{describe_rules(wish.rules)}; {describe_clock_in_words(wish.clock)}.{seen}"


def values_of(rules: Rules) -> dict[str, Any]:
    """Return what the lines of the rules say of these.

    >>> values_of(PRESETS["classic"])["board"]
    '3x3'
    """
    blocked = ",".join(format_cell(cell, rules).lower() for cell in sorted(rules.blocked))
    size, line = f"{rules.rows}x{rules.columns}", str(rules.line)
    return dict(zip(_RULES, (size, line, rules.marks, blocked, rules.misere, rules.gravity), strict=True))


def _read_rules(values: Mapping[str, Any]) -> Rules:
    rules, win = {name: values[name] for name in _RULES}, values["win"]
    if not (win.isascii() and win.isdigit() and len(win) <= 3):
        raise Misuse(f'"{win}" is no number of marks in a row.')
    return parse_rules(**{**rules, "win": int(win), "blocked": rules["blocked"] or None})
