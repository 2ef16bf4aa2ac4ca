"""Parses rules, clocks and the terms of rooms from the command line or a form."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tictactoe_client.input.ways import Choice
from tictactoe_client.settings import Misuse
from tictactoe_client.text.wording import describe_clock_in_words
from tictactoe_engine import PRESETS, IllegalMove, InvalidRules, Rules, UnknownNotation, format_cell, parse_cell
from tictactoe_protocol.terms import MAX_BANK_DAYS, MAX_CLOCK_MS, MAX_DAYS, MAX_MOVE_MS, ClockFields
from tictactoe_words.catalogue import say
from tictactoe_words.refusals import describe_fault
from tictactoe_words.wording import LEVELS, describe_rules

MARKS: Final = "XOABCD"
_SECONDS = r"([0-9]{1,5}(?:\.[0-9]{1,3})?)"
_CLOCK: Final = re.compile(rf"([0-9]{{1,4}}(?:\.[0-9]{{1,3}})?)\+{_SECONDS}|{_SECONDS}/move", re.ASCII)
_DAYS: Final = re.compile(r"([0-9]{1,2})d(?:\+([0-9]{1,2})d)?", re.ASCII)
_BOARD: Final = re.compile(r"([0-9]{1,4})[xX×]([0-9]{1,4})", re.ASCII)


def parse_rules(
    rules: str | None = None,
    board: str | None = None,
    win: int | None = None,
    marks: str | None = None,
    blocked: str | None = None,
    *,
    misere: bool = False,
    gravity: bool = False,
    exact: bool = False,
    opening: str | None = None,
) -> Rules:
    """Return the rules of a preset, changed by the other options; raises `Misuse`.

    Args:
        rules: The name of the preset, by default classic.
        opening: An opening rule; ``none`` removes the preset's.
    """
    if rules is not None and board is not None:
        raise Misuse(say("choose one", one="--rules", other="--board"))
    base = PRESETS[rules or "classic"]
    rows, columns = base.rows, base.columns
    if board is not None:
        match = _BOARD.fullmatch(board)
        if match is None:
            raise Misuse(say("no board", text=board))
        rows, columns = int(match[1]), int(match[2])
    line = min(base.line, max(rows, columns)) if win is None else win
    marks = base.marks if marks is None else marks.upper()
    try:
        bare = Rules(rows, columns, line, marks, gravity=base.gravity or gravity)
        blocked_cells = base.blocked if blocked is None else _parse_blocked(blocked, bare)
        fair: Any = base.opening if opening is None else None if opening == "none" else opening
        misere, exact = base.misere or misere, base.exact or exact
        return replace(bare, blocked=blocked_cells, misere=misere, exact=exact, opening=fair)
    except InvalidRules as invalid:
        raise Misuse(describe_fault(invalid)) from None


def rules_for_players(
    count: int, *, rules: str | None = None, board: str | None = None, marks: str | None = None, **more: Any
) -> dict[str, Any]:
    """Return options for `parse_rules` that give each player a mark, and three or more players a larger board."""
    if count > len(PRESETS["classic"].marks) and marks is None:
        rules, marks = rules or (None if board else "three-players"), MARKS[:count]
    return {"rules": rules, "board": board, "marks": marks, **more}


def parse_clock(text: str | None) -> ClockFields | None:
    """Parse a clock such as ``3+2``, ``10/move``, ``3d`` or ``3d+2d``; None means no clock. Raises `Misuse`."""
    if text is None:
        return None
    if (match := _DAYS.fullmatch(text)) and 1 <= int(match[1]) <= MAX_DAYS and int(match[2] or 0) <= MAX_BANK_DAYS:
        return ClockFields(days=int(match[1]), bank_days=int(match[2] or 0))
    if match := _CLOCK.fullmatch(text):
        initial_ms, increment_ms = round(float(match[1] or 0) * 60_000), round(float(match[2] or 0) * 1000)
        move_ms = round(float(match[3] or 0) * 1000)
        if 1 <= initial_ms <= MAX_CLOCK_MS and increment_ms <= MAX_MOVE_MS:
            return ClockFields(initial_ms=initial_ms, increment_ms=increment_ms)
        if 1 <= move_ms <= MAX_MOVE_MS:
            return ClockFields(move_ms=move_ms)
    raise Misuse(say("no clock like", text=text))


def parse_seat(text: str | None, rules: Rules, option: str = "--seat") -> str | None:
    """Return the mark of a seat in upper case, or None for None; raises `Misuse` if the rules have no such mark."""
    if text is None:
        return None
    if len(text) == 1 and text.upper() in rules.marks:
        return text.upper()
    raise Misuse(say("no such seat", option=option, text=text, marks=", ".join(rules.marks)))


def choose_seat(first: str, rules: Rules) -> str:
    """Return our mark, depending on who begins: ``me``, ``bot``, or ``random``."""
    if first == "random":
        return random.choice(rules.marks)
    return rules.marks[0 if first == "me" else 1]


def _parse_blocked(text: str, rules: Rules) -> frozenset[int]:
    cells = []
    for word in re.split(r"[,\s]+", text.strip(", ")):
        try:
            if not word[:1].isalpha():
                raise UnknownNotation("")
            cells.append(parse_cell(word, rules))
        except IllegalMove as illegal:
            raise Misuse(say("blocked bad", why=describe_fault(illegal))) from None
        except UnknownNotation:
            raise Misuse(say("blocked no cell", word=word)) from None
    return frozenset(cells)


RULES: Final = ("board", "win", "marks", "blocked", "misere", "gravity", "exact", "opening")
"""The lines of the form that set the rules of the game."""


def read_room(values: Mapping[str, Any]) -> Choice:
    """Return how to create the room that the values of a form describe; raises `Misuse`."""
    rules, opponent = read_rules(values), values["with"]
    return Choice(
        "create",
        rules,
        parse_clock(values["clock"] or None),
        values.get("seen") != "public",
        values.get("seat"),
        (opponent,) * (len(rules.marks) - 1) if opponent in LEVELS else (),
        analysis="open" if values.get("analysis") else "closed",
        chat="players" if values.get("chat") else "all",
    )


def describe_room(wish: Choice, *, alone: bool) -> str:
    """Return the form's summary of a room; `alone` leaves out what concerns other people."""
    summary = say("new room sum", rules=describe_rules(wish.rules), clock=describe_clock_in_words(wish.clock))
    if alone:
        return summary
    visibility = [say("form private" if wish.private else "form public")]
    visibility += [say("analysis open")] if wish.analysis == "open" else []
    visibility += [say("chat players")] if wish.chat == "players" else []
    return f"{summary} {say('new room is', seen=', '.join(visibility))}"


def values_of(rules: Rules) -> dict[str, Any]:
    """Return the values of the form's lines for these rules.

    >>> values_of(Rules())["board"]
    '3x3'
    """
    blocked = ",".join(format_cell(cell, rules).lower() for cell in sorted(rules.blocked))
    size, line = f"{rules.rows}x{rules.columns}", str(rules.line)
    flags = (rules.misere, rules.gravity, rules.exact, rules.opening or "none")
    return dict(zip(RULES, (size, line, rules.marks, blocked, *flags), strict=True))


def read_rules(values: Mapping[str, Any]) -> Rules:
    """Return the rules that the values of a form describe; raises `Misuse`."""
    rules, win = {name: values[name] for name in RULES}, values["win"]
    if not (win.isascii() and win.isdigit() and len(win) <= 3):
        raise Misuse(say("new room no number", typed=win))
    return parse_rules(**{**rules, "win": int(win), "blocked": rules["blocked"] or None})
