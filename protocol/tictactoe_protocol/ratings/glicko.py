"""Glicko-2 for two players, one game after the other, where the deviation grows with time alone. Pure.

Source: M. Glickman, "Example of the Glicko-2 system", 2022, http://www.glicko.net/glicko/glicko2.pdf, whose steps are
named below; how much time makes a period is lichess's. Of the time since somebody's last game the last period is that
of this game, as in the source, and all before it was spent without one.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import pi, sqrt
from typing import Final, NamedTuple

from tictactoe_protocol.ratings.arithmetic import exp

RATINGS: Final = (400.0, 4000.0)
DEVIATIONS: Final = (45.0, 350.0)
MOST_VOLATILITY: Final = 0.1
SETTLED: Final = 110.0
"""A rating whose deviation is below this does not move against one whose deviation is above `UNKNOWN`."""
UNKNOWN: Final = 160.0
MS_A_PERIOD: Final = 86_400_000 / 0.21436

_SCALE: Final = 173.7178
_TAU_SQUARED: Final = 0.25
_STEPS: Final = 4


class Number(NamedTuple):
    """What is known of how strong somebody is, at first of a newcomer; rating and deviation on Elo's scale."""

    rating: float = 1500.0
    deviation: float = DEVIATIONS[1]
    volatility: float = 0.06


class Meeting(NamedTuple):
    """One game against somebody: 1, 0.5 or 0 points; `odds` is by how much they rise as one has the first move."""

    opponent: Number
    score: float
    odds: float = 1.0


def expect(own: float, opponent: Number, odds: float = 1.0) -> float:
    """Return the points that this rating is expected to get against an opponent."""
    return _expect(_weight(opponent.deviation), opponent.rating - own, odds)


def rest(own: Number, periods: float) -> Number:
    """Return the number after so many periods without a game; its deviation grows, but not beyond that of a newcomer.

    >>> rest(Number(1500, 50, 0.06), 100).deviation > 115
    True
    """
    if periods <= 0:
        return own
    growth = own.volatility * _SCALE
    return own._replace(deviation=min(DEVIATIONS[1], sqrt(own.deviation * own.deviation + growth * growth * periods)))


def play(own: Number, meetings: Iterable[Meeting], periods: float = 1.0) -> Number:
    """Return the number after a period, or a part of one, with these games (at least one); without any bounds.

    The volatility of step 5 is the root of an equation, found as a fixed point: with tau 0.5 and a volatility up to 0.1
    each step leaves less than a hundredth of the error.
    """
    inverse = gain = 0.0
    for opponent, score, odds in meetings:
        weight = _weight(opponent.deviation)
        expected = _expect(weight, opponent.rating - own.rating, odds)
        inverse += weight * weight * expected * (1 - expected)  # step 3
        gain += weight * (score - expected)
    variance, delta = 1 / inverse, gain / inverse  # step 4
    spread = own.deviation / _SCALE
    spread *= spread
    before = after = own.volatility * own.volatility
    for _ in range(_STEPS):  # step 5
        total = spread + variance + after
        after = before * exp(_TAU_SQUARED * after * (delta * delta - total) / (2 * total * total))
    spread = 1 / (1 / (spread + after * periods) + inverse)  # steps 6 and 7
    return Number(own.rating + _SCALE * spread * gain, _SCALE * sqrt(spread), sqrt(after))


def play_rated(own: Number, opponent: Number, score: float, odds: float, periods: float) -> Number:
    """Return the number after one game against an opponent by the rules of a ladder: bounds, and what stays as it is.

    `periods` is at most 1: what was before that is for `rest`, for both of them.
    """
    if own.deviation < SETTLED and opponent.deviation > UNKNOWN:
        return rest(own, periods)
    rating, deviation, volatility = play(own, [Meeting(opponent, score, odds)], periods)
    low, high = RATINGS
    least, most = DEVIATIONS
    return Number(min(max(rating, low), high), min(max(deviation, least), most), min(volatility, MOST_VOLATILITY))


class Advantage(NamedTuple):
    """What is known of the first move's worth: the logarithm of its odds, and how much was learnt of that.

    Without a game there is as much as of 20 that were drawn between equals.
    """

    edge: float = 0.0
    learnt: float = 5.0

    @property
    def points(self) -> float:
        """The same in points of a rating."""
        return _SCALE * self.edge

    @property
    def odds(self) -> float:
        """By how much the chances of who moves first are better."""
        return exp(self.edge)

    def learn(self, first: Number, second: Number, score: float) -> Advantage:
        """Return what is known after a game in which the first got so many points, going by both as they were before.

        Strengths count, as the share of points alone would come out too small where they differ much.
        """
        weight = _weight(sqrt(first.deviation * first.deviation + second.deviation * second.deviation))
        expected = _expect(weight, second.rating - first.rating, self.odds)
        learnt = self.learnt + expected * (1 - expected)
        return Advantage(self.edge + (score - expected) / learnt, learnt)


def _weight(deviation: float) -> float:
    """Return how much a game against somebody with this deviation tells, from 0 to 1: the g of the source."""
    spread = deviation / (_SCALE * pi)
    return 1 / sqrt(1 + 3 * spread * spread)


def _expect(weight: float, behind: float, odds: float) -> float:
    return 1 / (1 + exp(weight * behind / _SCALE) / odds)
