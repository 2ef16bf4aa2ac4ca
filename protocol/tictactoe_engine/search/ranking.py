"""Iterative deepening over the moves of one position: ever better scores until a result is exact or the budget ends.

It knows no boards: what a move is worth at some depth it asks of a scorer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tictactoe_engine.search.budget import OutOfBudget
from tictactoe_engine.search.duel import INFINITE, WIN, Searcher

Scorer = Callable[[int, int, int, int], int]
"""Called with (move's bit, depth, alpha, beta); answers the move's score for the player who makes it."""


@dataclass(slots=True)
class Ranking:
    """What is known of the moves of one position, by the move's bit.

    `scores` are bounds below the best score, unless every move was asked for. `best` are the equally good moves.
    `exact` are the moves whose score no deeper search would change. `is_solved` tells that `best` is final.
    `earlier` are the scores of the depth before.
    """

    scores: dict[int, int] = field(default_factory=dict)
    best: list[int] = field(default_factory=list)
    exact: set[int] = field(default_factory=set)
    is_solved: bool = False
    earlier: dict[int, int] = field(default_factory=dict)


def deepen(
    searcher: Searcher, score: Scorer, moves: Sequence[int], depths: Iterable[int], *, every: bool, is_full: bool
) -> Ranking:
    """Return the ranking of `moves` (best guess first) after the deepest of `depths` that the budget allowed.

    With `every` each move gets its own score; else only the best moves do. `is_full` says that the search leaves no
    move out, so that a win found at the smallest depth is the quickest. Swallows `OutOfBudget`.
    """
    ranking = Ranking()
    order = list(moves)
    for depth in depths:
        latest = Ranking()
        try:
            _score_all(searcher, score, order, depth, latest, every=every)
        except OutOfBudget:
            return _cut_short(ranking, latest, every=every)
        _settle(latest)
        latest.earlier = ranking.scores
        ranking = latest
        proven = [move for move in order if abs(ranking.scores[move]) >= WIN]
        if is_full:
            ranking.exact.update(proven)
        if len(ranking.exact) == len(order) or (not every and is_full and ranking.scores[ranking.best[0]] >= WIN):
            ranking.is_solved = True
            break
        if len(proven) == len(order) or (not every and ranking.scores[ranking.best[0]] >= WIN):
            break
        order.sort(key=lambda move: -latest.scores[move])
    return ranking


def _score_all(
    searcher: Searcher, score: Scorer, order: Sequence[int], depth: int, latest: Ranking, *, every: bool
) -> None:
    best = 1 - INFINITE
    for move in order:
        hits = searcher.horizon_hits
        value = score(move, depth, -INFINITE if every else best - 1, INFINITE)
        latest.scores[move] = value
        best = max(best, value)
        if hits == searcher.horizon_hits:
            latest.exact.add(move)


def _settle(ranking: Ranking) -> None:
    top = max(ranking.scores.values())
    ranking.best = [move for move, value in ranking.scores.items() if value == top]


def _cut_short(ranking: Ranking, latest: Ranking, *, every: bool) -> Ranking:
    """Return what stands when the budget ends within a depth.

    Its scores compare with each other, not with those of the depth before. It starts with the best move known, so
    its own best is to be trusted; but who wants every score is better served by the last full depth.
    """
    if not latest.scores or (every and ranking.scores):
        return ranking
    _settle(latest)
    latest.earlier = ranking.scores
    latest.scores = ranking.scores | latest.scores
    return latest
