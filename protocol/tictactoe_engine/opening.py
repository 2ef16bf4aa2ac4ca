"""Openings that balance the advantage of the first move by placing marks and choosing sides.

In an undecided opening the seat that acts may place any mark, but the marks on the board alternate. Sources: swap2 as
in the gomoku championships of the Renju International Federation, the pie rule as in Hex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

OpeningRule = Literal["pie", "swap2"]

RULES: Final[tuple[OpeningRule, ...]] = ("pie", "swap2")

MORE: Final = "more"
"""The third choice of swap2: place two more marks and leave the choice to the other player."""

SWAP2_MARKS: Final = 5
"""The most marks that are placed in an opening by swap2."""


@dataclass(frozen=True, slots=True)
class Opening:
    """An undecided opening.

    Attributes:
        turn: The mark of the seat that acts.
        places: At ``place``, the next mark of the `left` ones to place.
        options: At ``choose``, the marks whose side may be taken, and perhaps ``more``.
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
"""The stages of each rule: the placing seat, the number of marks after it, the choosing seat, and its options."""


def opening_of(rule: OpeningRule | None, marks: str, ply: int, chosen: Sequence[str]) -> Opening | None:
    """Return the opening after `ply` moves and these choices, or None if it is decided or there is none.

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
    """A choice in an opening: the number of moves before it, the mark of the choosing seat, and the option."""

    ply: int
    mark: str
    take: str


def choices_of(rule: OpeningRule | None, marks: str, chosen: Sequence[str]) -> tuple[Choice, ...]:
    """Return the choices in order."""
    stages = zip(_STAGES[rule], chosen, strict=False)
    return tuple(Choice(ply, marks[chooser], take) for (_, ply, chooser, _), take in stages)


def sits_now(rule: OpeningRule | None, marks: str, chosen: Sequence[str], mark: str) -> str:
    """Return the mark after these choices of the player who began the game with `mark`."""
    choices = choices_of(rule, marks, chosen)
    is_swapped = bool(choices) and choices[-1].take not in (MORE, choices[-1].mark)
    return marks.replace(mark, "") if is_swapped else mark


def placer_of(rule: OpeningRule | None, marks: str, ply: int, chosen: Sequence[str]) -> str | None:
    """Return the current mark of the player who made a move of the opening, or None for later moves."""
    before = [choice.take for choice in choices_of(rule, marks, chosen) if choice.ply <= ply]
    opening = opening_of(rule, marks, ply, before)
    return None if opening is None else sits_now(rule, marks, chosen, opening.turn)


def plies_of_choices(rule: OpeningRule | None) -> tuple[int, ...]:
    """Return the number of moves before each choice of a rule."""
    return tuple(ply for _, ply, _, _ in _STAGES[rule])
