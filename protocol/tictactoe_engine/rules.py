"""The rules of a game, validated when they are built, and the named presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from tictactoe_engine.errors import InvalidRules, quote
from tictactoe_engine.geometry import geometry_of
from tictactoe_engine.opening import RULES as OPENINGS
from tictactoe_engine.opening import SWAP2_MARKS, OpeningRule

MAX_SIDE: Final = 32
MIN_LINE: Final = 2
MIN_MARKS: Final = 2
MAX_MARKS: Final = 6
_SWAP2_LINE: Final = 4


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a game, in which `line` marks in a row, column or diagonal win.

    The constructor raises `InvalidRules` if the rules cannot be played.

    Attributes:
        marks: The players' marks in turn order, upper-case letters.
        blocked: The cells, row-major from 0, that cannot be taken.
        misere: Whether completing a line loses.
        gravity: Whether only the lowest free cell of a column may be taken.
        exact: Whether lines longer than `line` do not count.
        opening: The rule of the opening, if there is one; see `tictactoe_engine.opening`.

    >>> Rules(rows=6, columns=7, line=4, gravity=True) == PRESETS["connect-four"]
    True
    """

    rows: int = 3
    columns: int = 3
    line: int = 3
    marks: str = "XO"
    blocked: frozenset[int] = frozenset()
    misere: bool = False
    gravity: bool = False
    exact: bool = False
    opening: OpeningRule | None = None
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_side("rows", self.rows)
        _check_side("columns", self.columns)
        _check_line(self.line, self.rows, self.columns)
        _check_marks(self.marks)
        _check_flag("misere", self.misere)
        _check_flag("gravity", self.gravity)
        if self.misere and len(self.marks) != MIN_MARKS:
            words = "Misère is for two marks, not for the {length} of {value}."
            raise _invalid("misere", "misere", words, length=len(self.marks), value=quote(self.marks))
        object.__setattr__(self, "blocked", _checked_blocked(self.blocked, self.size))
        _check_winnable(self)
        _check_flag("exact", self.exact)
        if self.exact and self.gravity:
            raise _invalid("exact", "exact gravity", "Exact lines are for boards without gravity.")
        _check_opening(self)
        object.__setattr__(self, "_hash", hash(self._content()))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return (Rules, self._content())  # without the hash, as string hashes differ between processes

    def _content(self) -> tuple[object, ...]:
        shape = (self.rows, self.columns, self.line, self.marks, self.blocked)
        return (*shape, self.misere, self.gravity, self.exact, self.opening)

    @property
    def size(self) -> int:
        """The number of cells, including blocked ones."""
        return self.rows * self.columns

    @property
    def preset(self) -> str | None:
        """The name of the preset with these rules, or None."""
        return _PRESET_NAMES.get(self)


def _invalid(field: str, why: str, words: str, **data: Any) -> InvalidRules:
    return InvalidRules("bad_rules", words.format_map(data), field, {"why": why, **data})


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_side(name: str, value: int) -> None:
    if not _is_whole(value) or not 1 <= value <= MAX_SIDE:
        raise _invalid(
            name, name, f"A board has 1 to {{most}} {name}, not {{value}}.", most=MAX_SIDE, value=quote(value)
        )


def _check_line(line: int, rows: int, columns: int) -> None:
    if not _is_whole(line) or not MIN_LINE <= line <= MAX_SIDE:
        words = "A line has {least} to {most} marks, not {value}."
        raise _invalid("line", "line", words, least=MIN_LINE, most=MAX_SIDE, value=quote(line))
    if line > max(rows, columns):
        words = "A line of {line} can't fit a {rows}x{columns} board (at most {most})."
        most = max(rows, columns)
        raise _invalid("line", "long line", words, line=line, rows=rows, columns=columns, most=most)


def _check_marks(marks: object) -> None:
    if not isinstance(marks, str) or not MIN_MARKS <= len(marks) <= MAX_MARKS:
        words = "A game has {least} to {most} marks, not {value}."
        raise _invalid("marks", "marks", words, least=MIN_MARKS, most=MAX_MARKS, value=quote(marks))
    if any(not ("A" <= mark <= "Z") for mark in marks):
        raise _invalid("marks", "letters", "Marks are upper-case letters A to Z, not {value}.", value=quote(marks))
    if len(set(marks)) != len(marks):
        words = "Every player needs a mark of their own, but {value} repeats one."
        raise _invalid("marks", "repeated mark", words, value=quote(marks))


def _check_flag(name: str, value: bool) -> None:
    if not isinstance(value, bool):
        raise _invalid(name, "flag", "{name} is true or false, not {value}.", name=name, value=quote(value))


def _checked_blocked(blocked: frozenset[int], size: int) -> frozenset[int]:
    try:
        cells = frozenset(blocked)
    except TypeError:
        words = "blocked is a set of cells, not {value}."
        raise _invalid("blocked", "cells", words, value=quote(blocked)) from None
    for cell in cells:
        if not _is_whole(cell) or not 0 <= cell < size:
            words = "The blocked cell {value} is off the board: cells are 0 to {last}."
            raise _invalid("blocked", "blocked cell", words, value=quote(cell), last=size - 1)
    return cells


def _check_winnable(rules: Rules) -> None:
    if not rules.blocked:
        return
    if len(rules.blocked) == rules.size:
        raise _invalid("blocked", "all blocked", "Every cell is blocked.")
    blocked = sum(1 << cell for cell in rules.blocked)
    if all(line & blocked for line in geometry_of(rules.rows, rules.columns, rules.line).lines):
        words = "The blocked cells leave no room for a line of {line}: nobody could win."
        raise _invalid("blocked", "no room", words, line=rules.line)


def _check_opening(rules: Rules) -> None:
    opening = rules.opening
    if opening is None:
        return
    if opening not in OPENINGS:
        words = "An opening is one of {openings}, not {value}."
        raise _invalid("opening", "opening", words, openings=", ".join(OPENINGS), value=quote(opening))
    if len(rules.marks) != MIN_MARKS:
        words = "The opening {opening} is for two marks, not for the {length} of {value}."
        raise _invalid(
            "opening", "opening marks", words, opening=opening, length=len(rules.marks), value=quote(rules.marks)
        )
    if opening != "swap2":
        return
    if rules.gravity or rules.misere:
        words = "The opening swap2 is for games without gravity and misère."
        raise _invalid("opening", "swap2 kind", words)
    if rules.line < _SWAP2_LINE:
        words = "The opening swap2 is for lines of {least} or more marks, not of {line}."
        raise _invalid("opening", "swap2 line", words, least=_SWAP2_LINE, line=rules.line)
    if rules.size - len(rules.blocked) <= SWAP2_MARKS:
        words = "The opening swap2 needs more than {marks} free cells."
        raise _invalid("opening", "swap2 cells", words, marks=SWAP2_MARKS)


PRESETS: Final[Mapping[str, Rules]] = MappingProxyType(
    {
        "classic": Rules(),
        "blocker": Rules(blocked=frozenset({4})),
        "misere": Rules(misere=True),
        "four": Rules(rows=4, columns=4, line=4),
        "three-players": Rules(rows=5, columns=5, line=4, marks="XOA"),
        "connect-four": Rules(rows=6, columns=7, line=4, gravity=True),
        "gomoku": Rules(rows=15, columns=15, line=5),
        "gomoku-standard": Rules(rows=15, columns=15, line=5, exact=True, opening="swap2"),
        "four-pie": Rules(rows=4, columns=4, line=4, opening="pie"),
    }
)
"""The named rules, in display order."""

_PRESET_NAMES: Final[Mapping[Rules, str]] = {rules: name for name, rules in PRESETS.items()}
