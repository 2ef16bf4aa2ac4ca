"""Ratings of three to six players by their places: Plackett-Luce, on Elo's scale. Pure.

Source: R. Weng and C.-J. Lin, "A Bayesian approximation method for online ranking", JMLR 12, 2011, algorithm 4, with
the constants of openskill, https://github.com/vivekjoshy/openskill.py, whose mu is shown and kept as
1500 + 347.4 (mu - 25) / 8.33.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def play_places(numbers: Sequence[Number], places: Sequence[int]) -> list[Number]:
    """Return the numbers after a game, in the same order; the lowest place is the best, and several may share one."""
    spreads = [one.deviation * one.deviation + _GROWTH for one in numbers]
    total = 0.0
    for spread in spreads:
        total += spread + _NOISE
    scale = sqrt(total)
    strengths = [exp((one.rating - START.rating) / scale) for one in numbers]
    rivals, shared = [], [places.count(place) for place in places]
    for place in places:
        rival = 0.0
        for strength, other in zip(strengths, places, strict=True):
            rival += strength if other >= place else 0.0
        rivals.append(rival)
    return [
        _move(
            one,
            spread,
            scale,
            [
                (strength / rival, shares, of == me)
                for of, (rival, shares, other) in enumerate(zip(rivals, shared, places, strict=True))
                if other <= place
            ],
        )
        for me, (one, spread, strength, place) in enumerate(zip(numbers, spreads, strengths, places, strict=True))
    ]


def _move(own: Number, spread: float, scale: float, chances: list[tuple[float, int, bool]]) -> Number:
    """Return a number after a game, from the chances one had at each place that was given away, one's own the last."""
    gain = certainty = 0.0
    for chance, shares, is_own in chances:
        gain += (is_own - chance) / shares
        certainty += chance * (1 - chance) / shares
    certainty *= sqrt(spread) / scale * spread / (scale * scale)
    left = max(1 - certainty, _LEAST_SHARE)
    return own._replace(rating=own.rating + spread / scale * gain, deviation=sqrt(spread * left))
