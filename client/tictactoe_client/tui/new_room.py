"""The form for a new room: game, clock and opponent first; the line "more" shows all other terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tictactoe_client.input.rule_options import RULES, describe_room, read_room, read_rules, values_of
from tictactoe_client.settings import Misuse
from tictactoe_client.text.help import Topic
from tictactoe_client.tui.form import Field, FormLine, FormPage
from tictactoe_client.tui.page import Part
from tictactoe_engine import PRESETS
from tictactoe_engine.opening import RULES as OPENINGS
from tictactoe_words.catalogue import say
from tictactoe_words.wording import LEVELS, capitalize, describe_level

_FIRST: Final = ("game", "clock", "with", "begin", "more")
_TITLES: Final = {"board": "does board", "analysis": "analysis open", "chat": "chat players"}
"""The ids of titles that other pages use, too."""
_OF_OTHERS: Final = ("seen", "analysis", "chat")
"""The lines about other people, which the client's own server leaves out."""


def list_lines(*, alone: bool) -> dict[str, Field]:
    """Return the lines by name with their initial values.

    Args:
        alone: Whether the server is our own, so that only the computer can play.
    """
    yes, no = say("key yes"), say("key no")
    opponents = LEVELS if alone else ("friend", *LEVELS)
    lines = {
        "game": ("classic", name_games("custom")),
        "clock": ("", {}),
        "with": (opponents[1 if alone else 0], {_name_opponent(one): one for one in opponents}),
        "begin": (None, {}),
        "more": (False, {no: False, yes: True}),
        "board": ("3x3", {}),
        "win": ("3", {}),
        "marks": ("XO", {}),
        "blocked": ("", {}),
        "misere": (False, {no: False, yes: True}),
        "gravity": (False, {no: False, yes: True}),
        "exact": (False, {no: False, yes: True}),
        "opening": ("none", {say("form none"): "none"} | {opening: opening for opening in OPENINGS}),
        "seat": ("X", {mark: mark for mark in "XO"}),
        "seen": ("private", {say(f"form {seen}"): seen for seen in ("private", "public")}),
        "analysis": (False, {no: False, yes: True}),
        "chat": (False, {no: False, yes: True}),
    }
    return {
        name: Field(capitalize(say(_TITLES.get(name, f"new room {name}"))), value, _explain(name), choices)
        for name, (value, choices) in lines.items()
        if not (alone and name in _OF_OTHERS)
    }


def _name_opponent(who: str) -> str:
    return say("new room with friend") if who == "friend" else say("player computer", level=describe_level(who))


def _explain(name: str) -> str:
    """Return the note of a line, which is the help text of the same command-line option, or ""."""
    return say(f"option {name}") if name in (*RULES, "seat", "clock") else ""


def name_games(*more: str) -> Mapping[str, str]:
    """Return the names of the preset games, and of `more`, by their titles."""
    return {say(f"name of {preset}"): preset for preset in (*PRESETS, *more)}


class NewRoomPage(FormPage):
    """The form for a new room; Enter opens the room from any line."""

    situation = "new"
    heading = "new room title"

    def list_fields(self) -> dict[str, Field]:
        return list_lines(alone=self.program.session.is_own)

    def list_shown(self) -> list[str]:
        return [name for name in self.lines if self.values["more"] or name in _FIRST]

    def describe_note(self) -> str:
        """Return the note of the chosen line, or else the rules of a named game."""
        game = self.values["game"]
        return super().describe_note() or (say(f"rules of {game}") if game in PRESETS else "")

    def describe_sum(self) -> Part:
        try:
            return describe_room(read_room(self.values), alone=self.program.session.is_own), "dim"
        except Misuse as misuse:
            return misuse.message, "bad"

    def took(self, name: str) -> None:
        """Update dependent lines: a preset game sets the rules, and changed rules select the matching game."""
        values = self.values
        if name == "game" and (rules := PRESETS.get(values["game"])) is not None:
            for rule, value in values_of(rules).items():
                self.put(rule, value)
            self._offer_seats(rules.marks)
        elif name == "game":
            self.put("more", True)
        elif name in RULES:
            try:
                rules = read_rules(values)
            except Misuse:
                self.put("game", "custom")
            else:
                self.put("game", rules.preset or "custom")
                self._offer_seats(rules.marks)

    def _offer_seats(self, marks: str) -> None:
        seat = self.values["seat"]
        self.put("seat", seat if seat in marks else marks[0], {mark: mark for mark in marks})

    def list_help(self) -> Sequence[Topic]:
        rows = tuple((field.title, field.note) for field in self.fields.values() if field.note)
        games = tuple((title, say(f"rules of {game}")) for title, game in name_games().items())
        return [(say("section own"), rows), (say("new room games"), games)]

    def action_open(self) -> None:
        self.take()
        try:
            self.program.ways_in.go(read_room(self.values))
        except Misuse as misuse:
            self.program.say(misuse.message, "bad")

    def action_back(self) -> None:
        """Restore the text of an edited line, or leave the form."""
        if isinstance(self.line, FormLine) and self.is_edited and not self.program.ways_in.waits_for:
            self.line.value = self._before
        else:
            self.program.ways_in.give_up()
            super().action_back()
