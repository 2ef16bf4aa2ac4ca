"""The club player: a short list of rules of thumb, looking one move ahead.

Win now; else block who would win next; else take the centre, then corners, then edges. On other boards than 3x3 the
last rule goes by the number of lines through a cell, which gives that very order on 3x3, and then by the distance
from the centre. With gravity it does not play right below a cell where an opponent would win; with misère it
completes no line while it can help it. In an opening it places anywhere in the middle of the board, and takes the
side that a quick look prefers.
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
    """Return the cell that the first fitting rule names, any of them where it names several.

    Raises ValueError when the game is over, or a choice of the opening is due.
    """
    check_is_open(position)
    return rng.choice(cells_by_rules(position))


def choose_side_by_rules(position: Position, rng: Random) -> str:
    """Return the side of an opening that a quick look prefers; raises ValueError when there is nothing to choose."""
    options_of(position)
    return rng.choice(analyse(position, _QUICK_LOOK).best_options)


def cells_by_rules(position: Position) -> tuple[int, ...]:
    """Return the cells that the first fitting rule names, ascending; empty when the game is over."""
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
    dangerous = 0
    if grid.column_masks:
        for threat in threats:
            dangerous |= below(grid, threat, free)
    return most_central(grid, moves & ~dangerous or moves)


def _cells_of_middle(rules: Rules, legal: Sequence[int]) -> tuple[int, ...]:
    """Return the cells not nearer to an edge than to the middle, or all where none of those is left."""
    middle = tuple(
        cell
        for cell, (row, column) in ((cell, divmod(cell, rules.columns)) for cell in legal)
        if abs(2 * row - rules.rows + 1) * 2 <= rules.rows and abs(2 * column - rules.columns + 1) * 2 <= rules.columns
    )
    return middle or tuple(legal)
