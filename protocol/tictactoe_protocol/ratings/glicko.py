"""Glicko-2 for single games between two players, with a deviation that grows with time. Pure.

The source is M. Glickman, "Example of the Glicko-2 system", 2022, http://www.glicko.net/glicko/glicko2.pdf; comments
name its steps. A rating period is as long as on lichess. The time since a player's last game is divided into periods,
of which only the last one contains a game, the new one; the earlier ones are empty.

All machines compute the same ratings, down to the last digit. Only ``+ - * /`` and the square root are used, which
IEEE 754 rounds in the same way everywhere. `math.exp` comes from the system's library and can differ in the last digit;
`sum` rounds floats differently since Python 3.12.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import pi, sqrt
from typing import Final, NamedTuple

RATINGS: Final = (400.0, 4000.0)
DEVIATIONS: Final = (45.0, 350.0)
MOST_VOLATILITY: Final = 0.1
SETTLED: Final = 110.0
"""A rating with a lower deviation does not change in a game against a rating with a deviation above `UNKNOWN`."""
UNKNOWN: Final = 160.0
MS_A_PERIOD: Final = 86_400_000 / 0.21436

_SCALE: Final = 173.7178
_TAU_SQUARED: Final = 0.25
_STEPS: Final = 4


class Number(NamedTuple):
    """A rating and its deviation, both on the Elo scale, and its volatility. The defaults are those for a newcomer."""

    rating: float = 1500.0
    deviation: float = DEVIATIONS[1]
    volatility: float = 0.06


class Meeting(NamedTuple):
    """One game against an opponent.

    Attributes:
        opponent: The opponent's rating before the game.
        score: The player's points: 1, 0.5 or 0.
        odds: The factor of the player's odds for having the first or the second move, above 1 for an advantage.
    """

    opponent: Number
    score: float
    odds: float = 1.0


def exp(x: float) -> float:
    """Return e to the power of `x`, correct to 12 digits for `x` from -30 to 30.

    >>> f"{exp(1):.10f} {exp(-20):.6e}"
    '2.7182818285 2.061154e-09'
    """
    x /= 1024
    power = 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6 * (1 + x / 7))))))
    for _ in range(10):
        power *= power
    return power


def expect(own: float, opponent: Number, odds: float = 1.0) -> float:
    """Return the expected score of a player with the rating `own`; for `odds`, see `Meeting`."""
    return _expect(_weight(opponent.deviation), opponent.rating - own, odds)


def rest(own: Number, periods: float) -> Number:
    """Return the rating after `periods` without a game: its deviation grows, up to that for a newcomer.

    >>> rest(Number(1500, 50, 0.06), 100).deviation > 115
    True
    """
    if periods <= 0:
        return own
    growth = own.volatility * _SCALE
    return own._replace(deviation=min(DEVIATIONS[1], sqrt(own.deviation * own.deviation + growth * growth * periods)))


def play(own: Number, meetings: Iterable[Meeting], periods: float = 1.0) -> Number:
    """Return the unbounded rating after a period, or a part of a period, with at least one game.

    The volatility in step 5 is the root of an equation, found by fixed-point iteration. With tau 0.5 and a volatility
    of up to 0.1, each iteration divides the error by more than 100.
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
    """Return the rating after one game in a ladder, within the bounds; settled ratings are protected.

    `periods` is at most 1. For any time before, call `rest` for both players first.
    """
    if own.deviation < SETTLED and opponent.deviation > UNKNOWN:
        return rest(own, periods)
    rating, deviation, volatility = play(own, [Meeting(opponent, score, odds)], periods)
    low, high = RATINGS
    least, most = DEVIATIONS
    return Number(min(max(rating, low), high), min(max(deviation, least), most), min(volatility, MOST_VOLATILITY))


class Advantage(NamedTuple):
    """The advantage of the first move, learned from games. The defaults weigh as much as 20 draws of equal players.

    Attributes:
        edge: The natural logarithm of the odds.
        learnt: The information gathered: the sum of the variances of all expected scores.
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
        """Return the advantage after a game.

        The ratings count, because the share of points alone would underestimate the advantage between unequal players.

        Args:
            first: The first player's rating before the game.
            second: The second player's rating before the game.
            score: The first player's points: 1, 0.5 or 0.
        """
        weight = _weight(sqrt(first.deviation * first.deviation + second.deviation * second.deviation))
        expected = _expect(weight, second.rating - first.rating, self.odds)
        learnt = self.learnt + expected * (1 - expected)
        return Advantage(self.edge + (score - expected) / learnt, learnt)


def _weight(deviation: float) -> float:
    """Return how much a game against a player with this deviation counts, from 0 to 1: g in the source."""
    spread = deviation / (_SCALE * pi)
    return 1 / sqrt(1 + 3 * spread * spread)


def _expect(weight: float, behind: float, odds: float) -> float:
    return 1 / (1 + exp(weight * behind / _SCALE) / odds)
