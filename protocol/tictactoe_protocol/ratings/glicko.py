"""Glicko-2 for single games of two players, with a deviation that grows with time. Pure.

Source: M. Glickman, "Example of the Glicko-2 system", 2022, http://www.glicko.net/glicko/glicko2.pdf; the steps are
named in comments. The length of a rating period is the one of lichess. Of the time since a player's last game, the last
period is the period of the new game, as in the source, and all earlier periods have no game.

All machines fold ratings to the same digest: only ``+ - * /`` and the square root are used, which IEEE 754 rounds alike
everywhere. `math.exp` is the system's own and differs in the last digit; `sum` of floats changed in Python 3.12.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import pi, sqrt
from typing import Final, NamedTuple

RATINGS: Final = (400.0, 4000.0)
DEVIATIONS: Final = (45.0, 350.0)
MOST_VOLATILITY: Final = 0.1
SETTLED: Final = 110.0
"""A rating with a lower deviation does not move against a rating with a deviation above `UNKNOWN`."""
UNKNOWN: Final = 160.0
MS_A_PERIOD: Final = 86_400_000 / 0.21436

_SCALE: Final = 173.7178
_TAU_SQUARED: Final = 0.25
_STEPS: Final = 4


class Number(NamedTuple):
    """A rating with its deviation, both on the Elo scale, and its volatility; the defaults are a newcomer's."""

    rating: float = 1500.0
    deviation: float = DEVIATIONS[1]
    volatility: float = 0.06


class Meeting(NamedTuple):
    """One game against an opponent.

    Attributes:
        score: 1, 0.5 or 0 points.
        odds: Factor of the player's odds, above 1 with the first move.
    """

    opponent: Number
    score: float
    odds: float = 1.0


def exp(x: float) -> float:
    """Return e to the power of `x`, exact to 12 digits for `x` from -30 to 30.

    >>> f"{exp(1):.10f} {exp(-20):.6e}"
    '2.7182818285 2.061154e-09'
    """
    x /= 1024
    power = 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6 * (1 + x / 7))))))
    for _ in range(10):
        power *= power
    return power


def expect(own: float, opponent: Number, odds: float = 1.0) -> float:
    """Return the expected score of a rating against an opponent."""
    return _expect(_weight(opponent.deviation), opponent.rating - own, odds)


def rest(own: Number, periods: float) -> Number:
    """Return the number after some periods without a game: the deviation grows, up to a newcomer's.

    >>> rest(Number(1500, 50, 0.06), 100).deviation > 115
    True
    """
    if periods <= 0:
        return own
    growth = own.volatility * _SCALE
    return own._replace(deviation=min(DEVIATIONS[1], sqrt(own.deviation * own.deviation + growth * growth * periods)))


def play(own: Number, meetings: Iterable[Meeting], periods: float = 1.0) -> Number:
    """Return the number after a period, or a part of a period, with at least one game; without any bounds.

    The volatility of step 5 is the root of an equation, found as a fixed point: with tau 0.5 and a volatility up to
    0.1, each iteration divides the error by more than 100.
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
    """Return the number after one game of a ladder, which bounds numbers and protects settled ratings.

    `periods` is at most 1; call `rest` for both players first for the time before.
    """
    if own.deviation < SETTLED and opponent.deviation > UNKNOWN:
        return rest(own, periods)
    rating, deviation, volatility = play(own, [Meeting(opponent, score, odds)], periods)
    low, high = RATINGS
    least, most = DEVIATIONS
    return Number(min(max(rating, low), high), min(max(deviation, least), most), min(volatility, MOST_VOLATILITY))


class Advantage(NamedTuple):
    """The learned advantage of the first move; the defaults weigh as much as 20 draws of equal players.

    Attributes:
        edge: Logarithm of the odds.
        learnt: Information gathered, the sum of the variances of all expected scores.
    """

    edge: float = 0.0
    learnt: float = 5.0

    @property
    def points(self) -> float:
        return _SCALE * self.edge

    @property
    def odds(self) -> float:
        return exp(self.edge)

    def learn(self, first: Number, second: Number, score: float) -> Advantage:
        """Return the advantage after a game with this score of the first player, given both numbers before the game.

        Ratings count, because the share of points alone would underestimate the advantage between unequal players.
        """
        weight = _weight(sqrt(first.deviation * first.deviation + second.deviation * second.deviation))
        expected = _expect(weight, second.rating - first.rating, self.odds)
        learnt = self.learnt + expected * (1 - expected)
        return Advantage(self.edge + (score - expected) / learnt, learnt)


def _weight(deviation: float) -> float:
    """Return the information in a game against a player with this deviation, from 0 to 1: g in the source."""
    spread = deviation / (_SCALE * pi)
    return 1 / sqrt(1 + 3 * spread * spread)


def _expect(weight: float, behind: float, odds: float) -> float:
    return 1 / (1 + exp(weight * behind / _SCALE) / odds)
