"""What an opening makes of a position's worth: whoever may choose a side takes the better one.

So a position before a choice is worth to the chooser what the better side of it is, and a move that leads to one is
the better the nearer it comes to even. What lies further ahead counts as even.
"""

from __future__ import annotations

from dataclasses import replace

from tictactoe_engine.opening import MORE, Opening
from tictactoe_engine.position import Position
from tictactoe_engine.search.value import Analysis, Kind, Value

_EVEN = Value("unknown")


def without_opening(position: Position) -> Position:
    """Return the same board in a game without an opening, the mark that lies down next to move."""
    rules = position.rules
    if rules.opening is None:
        return position
    turn = None if position.turn is None else rules.marks[position.mover]
    return position._replace(rules=replace(rules, opening=None), turn=turn, chosen=())


def before_choice(found: Analysis, opening: Opening, mover: str) -> Analysis:
    """Return what a choice is worth where the `mover`, whose mark lies down next, would have `found` this."""
    values = {mark: found.value if mark == mover else _for_other(found.value) for mark in opening.options}
    if MORE in values:
        values[MORE] = _EVEN  # at best, as the other chooses then
        found = replace(found, is_solved=False)
    top = max(map(_preference, values.values()))
    best = tuple(mark for mark, value in values.items() if _preference(value) == top)
    return replace(found, value=values[best[0]], cells={}, best_cells=(), options=values, best_options=best)


def far_from_choice(position: Position) -> Analysis:
    """Return what is known of a position in which more than one mark is placed before the next choice: nothing."""
    cells = dict.fromkeys(position.legal_cells, _EVEN)
    return Analysis(_EVEN, cells, tuple(cells), is_solved=False, nodes=0)


def before_placing(found: Analysis) -> Analysis:
    """Return what moves are worth after which the other player has the choice, from what they are worth without it."""
    values = {cell: _worse(value) for cell, value in found.cells.items()}
    top = max(map(_preference, values.values()))
    best = tuple(cell for cell, value in values.items() if _preference(value) == top)
    return replace(found, value=values[best[0]], cells=values, best_cells=best)


def _for_other(value: Value) -> Value:
    kinds: dict[str, Kind] = {"win": "loss", "loss": "win"}
    return replace(value, kind=kinds.get(value.kind, value.kind), estimate=0.0 - value.estimate)


def _worse(value: Value) -> Value:
    """Return what it is worth to one whose opponent chooses between both sides."""
    return _for_other(value) if value.estimate > 0 else value


def _preference(value: Value) -> tuple[float, int]:
    """Sort losses before draws before wins, and among them quick losses and slow wins first."""
    return value.estimate, -(value.plies or 0) if value.kind == "win" else value.plies or 0
