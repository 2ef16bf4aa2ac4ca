"""Ratings of three to six players by their places: Plackett-Luce, on Elo's scale. Pure.

Source: R. Weng and C.-J. Lin, "A Bayesian approximation method for online ranking", JMLR 12, 2011, algorithm 4, with
the constants of openskill, https://github.com/vivekjoshy/openskill.py, whose mu is shown and kept as
1500 + 347.4 (mu - 25) / 8.33.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Final

from tictactoe_protocol.ratings.arithmetic import exp
from tictactoe_protocol.ratings.glicko import Number

SCALE: Final = 347.4 / 8.33
START: Final = Number(deviation=SCALE * 25 / 3, volatility=0.0)
"""A newcomer's; without a volatility nothing grows with time."""
_NOISE: Final = (SCALE * 25 / 6) * (SCALE * 25 / 6)
_GROWTH: Final = (SCALE * 25 / 300) * (SCALE * 25 / 300)
_LEAST_SHARE: Final = 0.0001


def expect_points(numbers: Sequence[Number]) -> list[float]:
    """Return the share of the others, from 0 to 1, whom each is expected to leave behind; their mean is a half."""
    *_, strengths = _weigh(numbers, range(len(numbers)))
    ahead = [[own / (own + other) for other in strengths] for own in strengths]  # each ahead of oneself by half a point
    return [(sum(chances) - 0.5) / (len(numbers) - 1) for chances in ahead]


def play_places(numbers: Sequence[Number], places: Sequence[int]) -> list[Number]:
    """Return the numbers after a game, in the same order; the lowest place is the best, and several may share one."""
    order = sorted(range(len(numbers)), key=lambda me: (places[me], numbers[me]))  # sums depend on it, if hardly
    spreads, scale, strengths = _weigh(numbers, order)
    rivals = [0.0] * len(numbers)
    for me in order:
        for other in order:
            if places[other] >= places[me]:
                rivals[me] += strengths[other]
    after = list(numbers)
    for me, own in enumerate(numbers):
        gain = told = 0.0
        for other in order:
            if places[other] <= places[me]:
                chance, shared = strengths[me] / rivals[other], places.count(places[other])
                gain += ((other == me) - chance) / shared
                told += chance * (1 - chance) / shared
        left = 1 - told * sqrt(spreads[me]) / scale * spreads[me] / (scale * scale)
        rating = own.rating + spreads[me] / scale * gain
        after[me] = own._replace(rating=rating, deviation=sqrt(spreads[me] * max(left, _LEAST_SHARE)))
    return after


def _weigh(numbers: Sequence[Number], order: Iterable[int]) -> tuple[list[float], float, list[float]]:
    """Return the squares of all deviations, the scale of this game, and how strong each is on it."""
    spreads = [one.deviation * one.deviation + _GROWTH for one in numbers]
    total = 0.0
    for me in order:
        total += spreads[me] + _NOISE
    scale = sqrt(total)
    return spreads, scale, [exp((one.rating - START.rating) / scale) for one in numbers]
