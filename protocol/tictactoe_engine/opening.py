"""Openings that balance the advantage of the first move: one seat places marks, the other chooses a side.

Until an opening is decided, one seat places the marks of both sides, which alternate as usual. ``swap2`` is the rule
of the gomoku championships of the Renju International Federation, ``pie`` the pie rule of Hex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

OpeningRule = Literal["pie", "swap2"]

RULES: Final[tuple[OpeningRule, ...]] = ("pie", "swap2")

MORE: Final = "more"
"""The third option in swap2: place two more marks and leave the choice to the other player."""

SWAP2_MARKS: Final = 5
"""The largest number of marks in a swap2 opening."""


@dataclass(frozen=True, slots=True)
class Opening:
    """An undecided opening.

    Attributes:
        step: Whether marks are placed or an option is chosen next.
        turn: The mark of the seat that acts next.
        places: In the step ``place``, the mark to place next.
        left: In the step ``place``, the number of marks to place before the next choice.
        options: In the step ``choose``, the marks that the seat may take, and possibly ``more``.
    """

    rule: OpeningRule
    step: Literal["place", "choose"]
    turn: str
    places: str | None = None
    left: int = 0
    options: tuple[str, ...] = ()


_STAGES: Final[dict[OpeningRule | None, tuple[tuple[int, int, int, tuple[int | str, ...]], ...]]] = {
    None: (),
    "pie": ((0, 1, 1, (0, 1)),),
    "swap2": ((0, 3, 1, (0, 1, MORE)), (1, 5, 0, (0, 1))),
}
"""The stages of each rule.

A stage has the index of the seat that places marks, the number of marks on the board afterwards, the index of the seat
that then chooses, and the options of the choice: indices of marks, and `MORE`.
"""


def opening_of(rule: OpeningRule | None, marks: str, ply: int, chosen: Sequence[str]) -> Opening | None:
    """Return the undecided opening after `ply` moves and the choices `chosen`, or None if there is none.

    >>> opening_of("swap2", "XO", 3, ()).options
    ('X', 'O', 'more')
    """
    stages = _STAGES[rule]
    if rule is None or len(chosen) == len(stages) or (chosen and chosen[-1] != MORE):
        return None
    placer, full, chooser, options = stages[len(chosen)]
    if ply < full:
        return Opening(rule, "place", marks[placer], places=marks[ply % 2], left=full - ply)
    named = tuple(marks[option] if isinstance(option, int) else option for option in options)
    return Opening(rule, "choose", marks[chooser], options=named)


class Choice(NamedTuple):
    """A choice in an opening.

    Attributes:
        ply: The number of moves before the choice.
        mark: The mark of the seat that chose, before the choice.
        take: The option that was chosen: a mark, or ``more``.
    """

    ply: int
    mark: str
    take: str


def choices_of(rule: OpeningRule | None, marks: str, chosen: Sequence[str]) -> tuple[Choice, ...]:
    """Return the options in `chosen` as `Choice` values, in order."""
    stages = zip(_STAGES[rule], chosen, strict=False)
    return tuple(Choice(ply, marks[chooser], take) for (_, ply, chooser, _), take in stages)


def sits_now(rule: OpeningRule | None, marks: str, chosen: Sequence[str], mark: str) -> str:
    """Return the mark that the player who began the game with `mark` has after the choices `chosen`."""
    choices = choices_of(rule, marks, chosen)
    is_swapped = bool(choices) and choices[-1].take not in (MORE, choices[-1].mark)
    return marks.replace(mark, "") if is_swapped else mark


def placer_of(rule: OpeningRule | None, marks: str, ply: int, chosen: Sequence[str]) -> str | None:
    """Return the current mark of the player who made move `ply` (from 0), or None if the opening ended before it."""
    before = [choice.take for choice in choices_of(rule, marks, chosen) if choice.ply <= ply]
    opening = opening_of(rule, marks, ply, before)
    return None if opening is None else sits_now(rule, marks, chosen, opening.turn)


def plies_of_choices(rule: OpeningRule | None) -> tuple[int, ...]:
    """Return the number of moves before each choice that a rule provides for."""
    return tuple(ply for _, ply, _, _ in _STAGES[rule])
