"""Rules, clocks and rooms from the words of the command line; pure, and every refusal is one clear sentence."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tictactoe_client.settings import Misuse
from tictactoe_engine import PRESETS, IllegalMove, InvalidRules, Rules, UnknownNotation, parse_cell
from tictactoe_protocol.requests import MAX_CLOCK_MS, ClockFields


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """The rule options as typed, None where not given."""

    rules: str | None = None
    board: str | None = None
    win: int | None = None
    marks: str | None = None
    blocked: str | None = None
    misere: bool = False
    gravity: bool = False


_SECONDS = r"([0-9]{1,5}(?:\.[0-9]{1,3})?)"
_CLOCK: Final = re.compile(rf"([0-9]{{1,4}}(?:\.[0-9]{{1,3}})?)\+{_SECONDS}|{_SECONDS}/move", re.ASCII)
_BOARD: Final = re.compile(r"([0-9]{1,4})[xX×]([0-9]{1,4})", re.ASCII)


def parse_rules(options: RuleOptions) -> Rules:
    """Return the rules; what is not given is as in the preset, `classic` by default. Raises `Misuse`."""
    if options.rules is not None and options.board is not None:
        raise Misuse("Choose one of --rules and --board.")
    base = PRESETS[options.rules or "classic"]
    rows, columns = (base.rows, base.columns) if options.board is None else _parse_board(options.board)
    line = min(base.line, max(rows, columns)) if options.win is None else options.win
    marks = base.marks if options.marks is None else options.marks.upper()
    try:
        bare = Rules(rows, columns, line, marks, gravity=base.gravity or options.gravity)
        blocked = base.blocked if options.blocked is None else _parse_blocked(options.blocked, bare)
        return replace(bare, blocked=blocked, misere=base.misere or options.misere)
    except InvalidRules as invalid:
        raise Misuse(invalid.message) from None


def parse_clock(text: str | None) -> ClockFields | None:
    """Return the clock, ``3+2`` or ``10/move``, None for none; raises `Misuse`."""
    if text is None:
        return None
    if match := _CLOCK.fullmatch(text):
        initial_ms, increment_ms = round(float(match[1] or 0) * 60_000), round(float(match[2] or 0) * 1000)
        move_ms = round(float(match[3] or 0) * 1000)
        if 1 <= initial_ms <= MAX_CLOCK_MS and increment_ms <= MAX_CLOCK_MS:
            return ClockFields(initial_ms=initial_ms, increment_ms=increment_ms)
        if 1 <= move_ms <= MAX_CLOCK_MS:
            return ClockFields(move_ms=move_ms)
    raise Misuse(
        f'"{text}" is no clock. Write 3+2 (3 minutes, 2 seconds more a move) or 10/move (10 seconds a move), '
        "up to 24 hours."
    )


def parse_seat(text: str | None, rules: Rules) -> str | None:
    """Return the mark to play, None for the first; raises `Misuse`."""
    if text is None:
        return None
    if len(text) == 1 and text.upper() in rules.marks:
        return text.upper()
    raise Misuse(f"--seat {text}: the marks are {', '.join(rules.marks)}.")


def check_bots(bots: Sequence[str], rules: Rules) -> None:
    """Raise `Misuse` where there are more bots than seats."""
    if len(bots) > len(rules.marks):
        raise Misuse(f"--bot was given {len(bots)} times: the marks are {', '.join(rules.marks)}.")


def choose_seat(first: str, rules: Rules) -> str:
    """Return the mark for who wants to begin (``me``), to let others begin (``bot``), or leaves it to ``random``."""
    if first == "random":
        return random.choice(rules.marks)
    return rules.marks[0 if first == "me" else 1]


def _parse_board(text: str) -> tuple[int, int]:
    match = _BOARD.fullmatch(text)
    if match is None:
        raise Misuse(f'"{text}" is no board. Write rows and columns, such as 15x15.')
    return int(match[1]), int(match[2])


def _parse_blocked(text: str, rules: Rules) -> frozenset[int]:
    cells = []
    for word in re.split(r"[,\s]+", text.strip(", ")):
        try:
            if not word[:1].isalpha():
                raise UnknownNotation("")
            cells.append(parse_cell(word, rules))
        except IllegalMove as illegal:
            raise Misuse(f"--blocked: {illegal.message}") from None
        except UnknownNotation:
            raise Misuse(f'--blocked: "{word}" is no cell. Write cells such as b2,c3.') from None
    return frozenset(cells)
