"""The strategy of a club player: a few rules that look one move ahead.

It wins at once if it can, otherwise blocks an opponent who could win next, otherwise takes the centre, then corners,
then edges: the last rule orders cells by the number of lines through them, then by their distance from the centre. With
gravity it does not play below a cell where an opponent would win; with misère it avoids completing a line. In an
opening it places marks at random near the middle of the board, and takes the side that a brief search prefers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tictactoe_engine.position import Position
from tictactoe_engine.rules import Rules
from tictactoe_engine.search.analysis import analyse
from tictactoe_engine.search.budget import Budget
from tictactoe_engine.search.grid import Grid, below, bits_of, grid_of
from tictactoe_engine.search.patterns import most_central
from tictactoe_engine.search.task import union_of
from tictactoe_engine.strategies.strategy import check_is_open, options_of

if TYPE_CHECKING:
    from random import Random

_QUICK_LOOK: Final = Budget(nodes=200)


def choose_by_rules(position: Position, rng: Random) -> int:
    """Return a random cell among the cells that the first matching rule prefers.

    Raises ValueError if there is no move to choose.
    """
    check_is_open(position)
    return rng.choice(cells_by_rules(position))


def choose_side_by_rules(position: Position, rng: Random) -> str:
    """Return the option in an opening that a brief search prefers; raises ValueError if there is nothing to choose."""
    options_of(position)
    return rng.choice(analyse(position, _QUICK_LOOK).best_options)


def cells_by_rules(position: Position) -> tuple[int, ...]:
    """Return the cells that the first matching rule prefers, ascending; empty when the game is over."""
    legal = position.legal_cells
    if position.opening is not None or not legal:
        return _cells_of_middle(position.rules, legal)
    grid = grid_of(position.rules)
    own, *others = (grid.pad(position.stones(mark)) for mark in position.marks_from_turn)
    free = grid.cells & ~union_of(grid.pad(position.stones(mark)) for mark in position.rules.marks)
    chosen = _choose(grid, own, others, free)
    return tuple(sorted(map(grid.cell_of, bits_of(chosen))))


def _choose(grid: Grid, own: int, others: Sequence[int], free: int) -> int:
    moves = grid.playable(free)
    if grid.misere:
        safe = moves & ~grid.completing(own)
        return most_central(grid, safe or moves)
    wins = grid.completing(own) & moves
    if wins:
        return wins
    threats = [grid.completing(other) & free for other in others]
    for threat in threats:
        if threat & moves:
            return threat & moves
    dangerous = union_of(below(grid, threat, free) for threat in threats) if grid.column_masks else 0
    return most_central(grid, moves & ~dangerous or moves)


def _cells_of_middle(rules: Rules, legal: Sequence[int]) -> tuple[int, ...]:
    """Return the legal cells that are at least as close to the middle as to an edge, or all legal cells otherwise."""

    def is_central(cell: int) -> bool:
        places = zip(divmod(cell, rules.columns), (rules.rows, rules.columns), strict=True)
        return all(2 * abs(2 * place - length + 1) <= length for place, length in places)

    return tuple(filter(is_central, legal)) or tuple(legal)
