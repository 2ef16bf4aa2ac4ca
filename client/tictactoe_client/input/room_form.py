"""A new room from the lines of a form, and what it comes to in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tictactoe_client.input.rule_options import parse_clock, parse_rules
from tictactoe_client.online.client import Choice
from tictactoe_client.settings import Misuse
from tictactoe_client.text.wording import describe_clock_in_words
from tictactoe_engine import Rules, format_cell
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.wording import describe_rules

LEVELS: Final = ("easy", "medium", "hard")
"""How well the computer plays."""
RULES: Final = ("board", "win", "marks", "blocked", "misere", "gravity")
"""The lines that are the rules of the game."""


def read_room(values: Mapping[str, Any]) -> Choice:
    """Return the room that these lines describe; raises `Misuse` in the form's words."""
    rules, opponent = read_rules(values), values["with"]
    return Choice(
        "create",
        rules,
        parse_clock(values["clock"] or None),
        values.get("seen") != "public",
        values["seat"],
        (opponent,) * (len(rules.marks) - 1) if opponent in LEVELS else (),
        analysis=values.get("analysis", "closed"),
        chat=values.get("chat", "all"),
    )


def describe_room(wish: Choice, *, alone: bool) -> str:
    """Return what such a room comes to in words."""
    told = say("new room sum", rules=describe_rules(wish.rules), clock=describe_clock_in_words(wish.clock))
    if alone:
        return told
    seen = [say("new room is private" if wish.private else "new room is public")]
    seen += [say("new room is lesson")] if wish.analysis == "open" else []
    seen += [say("new room is quiet")] if wish.chat == "players" else []
    return f"{told} {say('new room is', seen=', '.join(seen))}"


def values_of(rules: Rules) -> dict[str, Any]:
    """Return what the lines of the rules say of these.

    >>> values_of(PRESETS["classic"])["board"]
    '3x3'
    """
    blocked = ",".join(format_cell(cell, rules).lower() for cell in sorted(rules.blocked))
    size, line = f"{rules.rows}x{rules.columns}", str(rules.line)
    return dict(zip(RULES, (size, line, rules.marks, blocked, rules.misere, rules.gravity), strict=True))


def read_rules(values: Mapping[str, Any]) -> Rules:
    """Return the rules that these lines say; raises `Misuse`."""
    rules, win = {name: values[name] for name in RULES}, values["win"]
    if not (win.isascii() and win.isdigit() and len(win) <= 3):
        raise Misuse(say("new room no number", typed=win))
    return parse_rules(**{**rules, "win": int(win), "blocked": rules["blocked"] or None})
