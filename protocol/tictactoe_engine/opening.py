"""Openings that even out the advantage of the first move: who acts before the game proper, and what there is to choose.

An opening is decided by placing marks and choosing sides. While it is not, the seat that acts may place any mark; the
marks on the board alternate all the same. Sources: swap2 as the Renju International Federation's gomoku championships
play it, the pie rule as it is common for Hex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

OpeningRule = Literal["pie", "swap2"]

RULES: Final[tuple[OpeningRule, ...]] = ("pie", "swap2")

MORE: Final = "more"
"""The third choice of swap2: to place two more marks and leave the choice to the other."""

SWAP2_MARKS: Final = 5
"""So many marks an opening by swap2 may lay down."""


@dataclass(frozen=True, slots=True)
class Opening:
    """An opening that is not decided.

    `turn` is the mark of the seat that acts. At the step ``place`` it places `left` more marks, `places` the next one.
    At ``choose`` it takes one of `options`: a mark, whose side it plays from then on, or ``more``.
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
"""The stages of each rule: the seat that places, how many marks lie there then, who chooses, and among what.

A game without an opening has none of them.
"""


def opening_of(rule: OpeningRule | None, marks: str, ply: int, chosen: Sequence[str]) -> Opening | None:
    """Return where an opening stands after so many moves and these choices, None once it is decided or without one.

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
    """What was chosen in an opening: after how many moves, by the seat of which mark, and what it took."""

    ply: int
    mark: str
    take: str


def choices_of(rule: OpeningRule | None, marks: str, chosen: Sequence[str]) -> tuple[Choice, ...]:
    """Return the choices that were made, in order."""
    stages = zip(_STAGES[rule], chosen, strict=False)
    return tuple(Choice(ply, marks[chooser], take) for (_, ply, chooser, _), take in stages)


def sits_now(rule: OpeningRule | None, marks: str, chosen: Sequence[str], mark: str) -> str:
    """Return where somebody sits after these choices who sat at a mark when the game began."""
    choices = choices_of(rule, marks, chosen)
    is_swapped = bool(choices) and choices[-1].take not in (MORE, choices[-1].mark)
    return marks.replace(mark, "") if is_swapped else mark


def placer_of(rule: OpeningRule | None, marks: str, ply: int, chosen: Sequence[str]) -> str | None:
    """Return where the player sits now who made a move of the opening, None for moves of the game proper."""
    before = [choice.take for choice in choices_of(rule, marks, chosen) if choice.ply <= ply]
    opening = opening_of(rule, marks, ply, before)
    return None if opening is None else sits_now(rule, marks, chosen, opening.turn)


def plies_of_choices(rule: OpeningRule | None) -> tuple[int, ...]:
    """Return after how many moves each choice of a rule is due."""
    return tuple(ply for _, ply, _, _ in _STAGES[rule])
