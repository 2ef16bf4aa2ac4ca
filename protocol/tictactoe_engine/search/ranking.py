"""Iterative deepening over the moves in a position, until the result is exact or the budget ends.

The scores of moves come from a `Scorer`; this module does not depend on the board.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tictactoe_engine.search.budget import OutOfBudget
from tictactoe_engine.search.duel import INFINITE, WIN, Searcher

Scorer = Callable[[int, int, int, int], int]
"""Called with (move's bit, depth, alpha, beta); returns the move's score for the moving player."""


@dataclass(slots=True)
class Ranking:
    """The known scores of the moves in a position; moves are bits.

    Attributes:
        scores: The score of each move. A score below the best one is only an upper bound, unless every score was
            requested.
        best: The moves with the best score.
        exact: The moves whose score cannot change with more depth.
        is_solved: Whether `best` cannot change with more depth.
        earlier: The scores at the previous depth.
    """

    scores: dict[int, int] = field(default_factory=dict)
    best: list[int] = field(default_factory=list)
    exact: set[int] = field(default_factory=set)
    is_solved: bool = False
    earlier: dict[int, int] = field(default_factory=dict)


def deepen(
    searcher: Searcher, score: Scorer, moves: Sequence[int], depths: Iterable[int], *, every: bool, is_full: bool
) -> Ranking:
    """Return the ranking of `moves` at the deepest of `depths` that the budget allows.

    Args:
        searcher: The search behind `score`, which counts the results that depended on the horizon.
        score: Returns the score of a move.
        moves: The moves, in the order of the search at the first depth.
        every: Whether each move needs its own score, instead of the best moves only.
        is_full: Whether the search considers every move, so that the first win found is the quickest.
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
    """Return the ranking to use if the budget ends in the middle of a depth.

    Scores at different depths cannot be compared. The interrupted depth (`latest`) started with the best known move, so
    its best move is reliable. If every score is needed, the last complete depth (`ranking`) is used instead.
    """
    if not latest.scores or (every and ranking.scores):
        return ranking
    _settle(latest)
    latest.earlier = ranking.scores
    latest.scores = ranking.scores | latest.scores
    return latest
