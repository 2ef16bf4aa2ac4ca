"""Analyses positions: selects a search, divides the budget, and converts scores to values.

Boards of up to nine cells are looked up in tables, which are cached. Other small boards are solved completely if the
budget allows. On larger boards the search deepens step by step; on wide boards, a search for a win by threats alone
comes first.

In an undecided opening, if a choice is due, a position has the value of the better side. The best move before a choice
leaves both sides as equal as possible. All other positions count as unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final

from tictactoe_engine.opening import MORE, Opening
from tictactoe_engine.position import Position
from tictactoe_engine.rules import Rules
from tictactoe_engine.search.book import is_in_book, look_up
from tictactoe_engine.search.budget import MODEST, Budget, Meter, OutOfBudget
from tictactoe_engine.search.coalition import Coalition
from tictactoe_engine.search.duel import FOREVER, WIN, Duel, Searcher
from tictactoe_engine.search.gravity import is_provable, rank_by_proof
from tictactoe_engine.search.grid import bits_of
from tictactoe_engine.search.patterns import Patterns, most_central, places_by_weight
from tictactoe_engine.search.proof import Memory
from tictactoe_engine.search.ranking import Ranking, Scorer, deepen
from tictactoe_engine.search.table import Table, fits_table, solve
from tictactoe_engine.search.task import WIDE_CELLS, Task, task_of, union_of
from tictactoe_engine.search.threats import ThreatSearch
from tictactoe_engine.search.value import Analysis, Kind, Value

_SOLVABLE_CELLS: Final = 18
_SOLVABLE_CELLS_WITH_GRAVITY: Final = 24
_SHARE_FOR_SOLVING: Final = 0.6

_BRIEF_NODES: Final = 1_000

_QUIET_PLIES: Final = 4
"""In the first plies of connect-four, a lost position is played by the book, as all losing moves are equally good."""

_WIDTH: Final = 12
_WIDTH_AT_ROOT: Final = 20
_SHARE_FOR_THREATS: Final = 0.2
_MAX_THREATS: Final = 12

_EVEN: Final = 150
"""The score that is converted to an estimate of 0.5, halfway to a win."""

_LOST: Final = Value("loss", None, -1.0)
"""The value of an unsearched move if all others lose."""
_UNKNOWN: Final = Value("unknown")


def analyse(
    position: Position, budget: Budget = MODEST, table: Table | None = None, memory: Memory | None = None
) -> Analysis:
    """Return the values of the position and its moves for the player to move, within the budget.

    With three or more active players, the values assume that all others play against the player to move (see
    `tictactoe_engine.search.coalition`). A finished game has no cells; its value is the result for the player who would
    move next. In an undecided opening, the values are for the seat that acts; if a choice is due, the result has
    `options` instead of `cells`.

    Args:
        table: The solution of a small board. By default it is computed and cached.
        memory: The cache of results on boards with gravity, which this search uses and extends.
    """
    opening, plain = position.opening, _without_opening(position)
    if opening is None:
        return _analyse(plain, budget, table, memory)
    if opening.options:
        return _before_choice(_compare_sides(plain, budget, table, memory), opening, plain.turn or "")
    if opening.left > 1:
        return _far_from_choice(position)
    return _before_placing(_analyse(plain, budget, table, memory))


def _analyse(position: Position, budget: Budget, table: Table | None, memory: Memory | None) -> Analysis:
    if position.outcome is not None:
        return Analysis(_value_when_over(position), {}, (), is_solved=True, nodes=0)
    task = task_of(position, budget, every=True)
    ranking = _rank(position, task, table, memory)
    values = _values(task, ranking)
    best = _surest(tuple(sorted(map(task.grid.cell_of, ranking.best))), values)
    value = values[best[0]]
    if value.kind == "loss":
        values = {cell: _LOST if one.kind == "unknown" else one for cell, one in values.items()}
    return Analysis(value, dict(sorted(values.items())), best, ranking.is_solved, task.meter.nodes)


def _compare_sides(position: Position, budget: Budget, table: Table | None, memory: Memory | None) -> Analysis:
    """Return an analysis with the value of the position alone.

    An estimate is the average of two successive depths, because each depth favours the side that moves last in it.
    """
    if position.outcome is not None:
        return _analyse(position, budget, table, memory)
    task = task_of(position, budget, every=False)
    ranking = _rank(position, task, table, memory)
    value = _values(task, ranking)[task.grid.cell_of(ranking.best[0])]
    if value.kind == "unknown" and ranking.earlier:
        score = (ranking.scores[ranking.best[0]] + max(ranking.earlier.values())) // 2
        value = _value_of(score, task.free.bit_count(), is_exact=False)
    return Analysis(value, {}, (), ranking.is_solved, task.meter.nodes)


def best_cells(
    position: Position,
    budget: Budget,
    table: Table | None = None,
    memory: Memory | None = None,
    *,
    is_brief: bool = False,
) -> tuple[int, ...]:
    """Return the cells of the best moves, ascending; empty if the game is over or a choice is due.

    This takes less time than `analyse`, which explains `table` and `memory`. If every move loses, only the moves after
    which a mistake is most likely are returned. The first move on a large board is central.

    Args:
        is_brief: Whether to search boards with gravity only briefly and without the book, unless they have a table.
    """
    opening = position.opening
    if opening is not None:
        return () if opening.options else analyse(position, budget, table, memory).best_cells
    position = _without_opening(position)
    if position.outcome is not None:
        return ()
    known = None if is_brief or not is_in_book(position.rules) else look_up(position)
    if known is not None and (known.value >= 0 or position.ply < _QUIET_PLIES):
        return (known.cell,)
    if known is not None or (is_brief and is_provable(position) and not fits_table(position)):
        return _briefly(position, budget)
    task = task_of(position, budget, every=False)
    if not position.ply and task.free.bit_count() > WIDE_CELLS and not task.grid.misere:
        first = most_central(task.grid, task.grid.playable(task.free))
        return tuple(sorted(map(task.grid.cell_of, bits_of(first))))
    return _stubborn(task, _rank(position, task, table, memory))


def _briefly(position: Position, budget: Budget) -> tuple[int, ...]:
    nodes = _BRIEF_NODES if budget.nodes is None else min(budget.nodes, _BRIEF_NODES)
    task = task_of(position, Budget(nodes, budget.seconds, budget.clock), every=False)
    ranking = _deepen(task)
    return _stubborn(task, ranking) if ranking.best else (task.grid.cell_of(_first_guess(task)[0]),)


@lru_cache(maxsize=64)
def _table_of(rules: Rules) -> Table:
    return solve(rules)


def _rank(position: Position, task: Task, table: Table | None, memory: Memory | None) -> Ranking:
    """Return the ranking of the position's moves, which has a best move even if the budget is 0."""
    if fits_table(position):
        return _look_up(task, table or _table_of(position.rules))
    ranking = _solve(task)
    if not ranking.is_solved:
        if is_provable(position):
            deepened = rank_by_proof(
                position, task, lambda meter: _deepen(replace(task, meter=meter)), memory or Memory()
            )
        else:
            deepened = _deepen(task)
        if deepened.best:
            ranking = deepened
    if not ranking.best:
        ranking.best = _first_guess(task)[:1]
    return ranking


def _look_up(task: Task, table: Table) -> Ranking:
    own, other = task.stones
    scores = {move: table.score_move(own, other, move) for move in bits_of(task.grid.playable(task.free))}
    top = max(scores.values())
    best = [move for move, score in scores.items() if score == top]
    return Ranking(scores, best, set(scores), is_solved=True)


def _solve(task: Task) -> Ranking:
    """Solve the position and return the ranking of its moves, or an empty ranking if it cannot be solved."""
    limit = _SOLVABLE_CELLS_WITH_GRAVITY if task.grid.column_masks else _SOLVABLE_CELLS
    if len(task.stones) > 2 or task.free.bit_count() > limit:
        return Ranking()
    meter = Meter(task.budget.portion(_SHARE_FOR_SOLVING))
    duel = Duel(task.grid, meter)
    ranking = _rank_with(task, duel, partial(duel.score_move, *task.stones), [FOREVER], is_full=True)
    task.meter.charge(meter.nodes)
    return ranking if ranking.is_solved else Ranking()


def _deepen(task: Task) -> Ranking:
    depths = range(1, task.free.bit_count() + 1)
    patterns = Patterns(task.grid)
    width = _WIDTH if task.is_wide else None
    if len(task.stones) > 2:
        coalition = Coalition(task.grid, task.meter, patterns, width=width)
        return _rank_with(task, coalition, partial(coalition.score_move, task.stones, 0), depths, is_full=width is None)
    if width is not None and not task.every:
        ranking = _win_by_threats(task, patterns)
        if ranking.best:
            return ranking
    duel = Duel(task.grid, task.meter, patterns, width=width)
    return _rank_with(task, duel, partial(duel.score_move, *task.stones), depths, is_full=width is None)


def _rank_with(task: Task, searcher: Searcher, score: Scorer, depths: Sequence[int], *, is_full: bool) -> Ranking:
    moves = _first_guess(task)
    ranking = deepen(searcher, score, moves, depths, every=task.every, is_full=is_full)
    if len(moves) < task.grid.playable(task.free).bit_count():
        ranking.is_solved = False
    return ranking


def _win_by_threats(task: Task, patterns: Patterns) -> Ranking:
    own, other = task.stones
    meter = Meter(task.budget.portion(_SHARE_FOR_THREATS))
    ranking = Ranking()
    try:
        found = ThreatSearch(task.grid, patterns, meter).shortest_win(own, other, _MAX_THREATS)
    except OutOfBudget:
        found = None
    task.meter.charge(meter.nodes)
    if found is not None:
        move, plies = found
        ranking.best, ranking.scores = [move], {move: WIN + task.free.bit_count() - plies}
    return ranking


def _first_guess(task: Task) -> list[int]:
    """Return all moves, or on a wide board the best few, in order from the most promising."""
    moves = task.grid.playable(task.free)
    if task.is_wide:
        return Patterns(task.grid).candidates(task.stones[0], task.stones[1:], moves, _WIDTH_AT_ROOT)
    return [bit for bit in places_by_weight(task.grid) if bit & moves]


def _stubborn(task: Task, ranking: Ranking) -> tuple[int, ...]:
    """Return the cells of the best moves; in a lost position, only the moves after which a mistake is most likely.

    A mistake is likely after a move that stops one of several lines. With three or more players, as opponents rarely
    play together, it is also likely after the moves that had the highest scores before the loss was found.
    """
    best = ranking.best
    is_lost = ranking.scores.get(best[0], 0) <= -WIN
    if is_lost and len(task.stones) > 2 and ranking.earlier:
        promise = max(ranking.earlier[move] for move in best)
        best = [move for move in best if ranking.earlier[move] == promise]
    if is_lost and not task.grid.misere:
        threatened = union_of(map(task.grid.completing, task.stones[1:]))
        best = [move for move in best if move & threatened] or best
    return tuple(sorted(map(task.grid.cell_of, best)))


def _values(task: Task, ranking: Ranking) -> dict[int, Value]:
    """Return the value of every legal cell. Moves that were not searched get the lowest estimate among the others."""
    left = task.free.bit_count()
    values = {
        task.grid.cell_of(move): _value_of(score, left, is_exact=move in ranking.exact)
        for move, score in ranking.scores.items()
    }
    guess = Value("unknown", None, min((value.estimate for value in values.values()), default=0.0))
    for move in bits_of(task.grid.playable(task.free)):
        values.setdefault(task.grid.cell_of(move), guess)
    return values


def _surest(best: tuple[int, ...], values: Mapping[int, Value]) -> tuple[int, ...]:
    """Return the cells in `best` with a known value, or all of `best` if every value is unknown."""
    known = tuple(cell for cell in best if values[cell].kind != "unknown")
    return known or best


def _value_of(score: int, left: int, *, is_exact: bool) -> Value:
    if abs(score) >= WIN:
        plies = left - (abs(score) - WIN)
        return Value("win", plies, 1.0) if score > 0 else Value("loss", plies, -1.0)
    if is_exact:
        return Value("draw")
    return Value("unknown", None, round(score / (abs(score) + _EVEN), 4))


def _value_when_over(position: Position) -> Value:
    if position.outcome is None or position.outcome.winner is None:
        return Value("draw")
    # The player who moved last has completed a line, which wins, or loses with misère.
    return Value("win", 0, 1.0) if position.rules.misere else Value("loss", 0, -1.0)


def _without_opening(position: Position) -> Position:
    """Return the same position in a game without an opening; the mark to place next becomes the mark to move."""
    rules = position.rules
    if rules.opening is None:
        return position
    turn = None if position.turn is None else rules.marks[position.mover]
    return position._replace(rules=replace(rules, opening=None), turn=turn, chosen=())


def _before_choice(found: Analysis, opening: Opening, mover: str) -> Analysis:
    """Return the analysis of a position before a choice.

    Args:
        found: The analysis of the same position without the opening.
        opening: The opening, whose options are valued.
        mover: The mark to place next; the values in `found` are for its side.
    """
    values = {mark: found.value if mark == mover else _for_other(found.value) for mark in opening.options}
    if MORE in values:
        values[MORE] = _UNKNOWN  # at best, as the other player chooses next
        found = replace(found, is_solved=False)
    top = max(map(_preference, values.values()))
    best = tuple(mark for mark, value in values.items() if _preference(value) == top)
    return replace(found, value=values[best[0]], cells={}, best_cells=(), options=values, best_options=best)


def _far_from_choice(position: Position) -> Analysis:
    """Return the analysis of a position two or more moves before the next choice: every value is unknown."""
    cells = dict.fromkeys(position.legal_cells, _UNKNOWN)
    return Analysis(_UNKNOWN, cells, tuple(cells), is_solved=False, nodes=0)


def _before_placing(found: Analysis) -> Analysis:
    """Return the analysis of a position one move before the other player's choice.

    `found` is the analysis of the same position without the opening.
    """
    values = {cell: _worse(value) for cell, value in found.cells.items()}
    top = max(map(_preference, values.values()))
    best = tuple(cell for cell, value in values.items() if _preference(value) == top)
    return replace(found, value=values[best[0]], cells=values, best_cells=best)


def _for_other(value: Value) -> Value:
    kinds: dict[str, Kind] = {"win": "loss", "loss": "win"}
    return replace(value, kind=kinds.get(value.kind, value.kind), estimate=0.0 - value.estimate)


def _worse(value: Value) -> Value:
    """Return the value of a position for a player whose opponent chooses the better side."""
    return _for_other(value) if value.estimate > 0 else value


def _preference(value: Value) -> tuple[float, int]:
    """Return a sorting key: losses, quick ones first, then draws, then wins, slow ones first."""
    return value.estimate, -(value.plies or 0) if value.kind == "win" else value.plies or 0
