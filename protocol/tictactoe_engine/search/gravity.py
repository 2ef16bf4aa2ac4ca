"""Ranks moves on boards with gravity: first by a short search for quick wins, then by proof.

A short search with growing depth finds quick wins and an order of the moves. The rest of the budget goes to `Proof`,
which searches to the end of the game but does not count moves. Moves that cannot be proven keep their estimates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tictactoe_engine.position import Position
from tictactoe_engine.search.book import is_in_book, known_bounds
from tictactoe_engine.search.budget import Meter
from tictactoe_engine.search.columns import EVEN, Bounds, columns_of
from tictactoe_engine.search.duel import INFINITE, WIN
from tictactoe_engine.search.grid import bits_of
from tictactoe_engine.search.outlook import Outlook
from tictactoe_engine.search.proof import Memory, Proof
from tictactoe_engine.search.ranking import Ranking
from tictactoe_engine.search.task import Task

_SHARE_FOR_LENGTHS: Final = 0.1
_SHARE_FOR_LENGTHS_OF_MANY: Final = 0.8
_SHARE_FOR_PROOF: Final = 0.2
"""The share for proofs in connect-four; an `Outlook` then estimates the unproven moves with the rest."""
_MANY_FREE: Final = 42
"""With more free cells, few moves can be proven."""


def is_provable(position: Position) -> bool:
    """Return whether `rank_by_proof` supports the position: gravity, two marks, no blocked cells, no misère."""
    rules = position.rules
    return rules.gravity and len(rules.marks) == 2 and not rules.misere and not rules.blocked


def rank_by_proof(position: Position, task: Task, deepen: Callable[[Meter], Ranking], memory: Memory) -> Ranking:
    """Return the ranking of the moves in an open position.

    `deepen` is called with a meter for a part of the budget and ranks the moves by a short search.
    """
    is_many = task.free.bit_count() > _MANY_FREE
    meter = Meter(task.budget.portion(_SHARE_FOR_LENGTHS_OF_MANY if is_many else _SHARE_FOR_LENGTHS))
    ranking = deepen(meter)
    task.meter.charge(meter.nodes)
    if ranking.is_solved or not ranking.best or (not task.every and ranking.scores[ranking.best[0]] >= WIN):
        return ranking
    columns = columns_of(position.rules)
    mark = position.turn or position.rules.marks[0]
    own, other = (columns.pad(position.stones(each)) for each in sorted(position.rules.marks, key=mark.__ne__))
    meter = Meter(task.budget.portion(_SHARE_FOR_PROOF)) if columns.is_connect_four else task.meter
    proof = Proof(columns, own, other, memory, meter)
    for move, score in ranking.scores.items():
        if abs(score) >= WIN:
            proof.narrow(columns.bit_of(task.grid.cell_of(move)), (1, 1) if score > 0 else (-1, -1))
    for cell, known in known_bounds(position) if is_in_book(position.rules) else ():
        proof.narrow(columns.bit_of(cell), known)
    order = sorted(ranking.scores, key=lambda move: -ranking.scores[move])
    bits = {move: columns.bit_of(task.grid.cell_of(move)) for move in bits_of(task.grid.playable(task.free))}
    proof.run([bits[move] for move in order], every=task.every)
    if meter is not task.meter:
        task.meter.charge(meter.nodes)
    if columns.is_connect_four and not proof.is_decided(every=task.every):
        outlook = Outlook(columns, own, other, memory, task.meter)
        outlook.run(proof.bounds, every=task.every)
        if outlook.scores:
            ranking.scores = {
                move: score if abs(score) >= WIN else outlook.scores.get(bits[move], score)
                for move, score in ranking.scores.items()
            }
    return _merged(task, ranking, {move: proof.bounds[bit] for move, bit in bits.items()})


def _merged(task: Task, ranking: Ranking, bounds: dict[int, Bounds]) -> Ranking:
    merged = Ranking(exact=set(ranking.exact), earlier=ranking.scores)
    for move, known in bounds.items():
        score = ranking.scores.get(move)
        if score is None and known[0] < known[1]:
            continue
        merged.scores[move] = _score_of(score or 0, known, task.free.bit_count())
        if known == EVEN:
            merged.exact.add(move)
    top = max(merged.scores.values())
    merged.best = [move for move, score in merged.scores.items() if score == top]
    if not task.every:
        promises = {move: ranking.scores.get(move, -INFINITE) for move in merged.best}
        merged.best = [move for move in merged.best if promises[move] == max(promises.values())]
    return merged


def _score_of(score: int, known: Bounds, left: int) -> int:
    """Return `score` limited to the known bounds. A win or loss of unknown length counts as one on the last move."""
    low, high = known
    if abs(score) >= WIN:
        return score
    if low > 0:
        return WIN + (left + 1) % 2
    if high < 0:
        return -WIN - left % 2
    if low == 0:
        score = max(score, 0)
    return min(score, 0) if high == 0 else score
