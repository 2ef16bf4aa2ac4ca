"""Measures the difference in strength of two players: Elo with its error, and a sequential probability ratio test.

Results are counts of each score, from no points to all of them: of pairs of games with one opening (the pentanomial
model), or of single games.

Sources:
    Elo and its error: fastchess, https://github.com/Disservin/fastchess, ``elo_pentanomial.cpp``.
    The test, the GSPRT of logistic Elo: fishtest, https://github.com/official-stockfish/fishtest, ``LLRcalc.py``, after
    M. Van den Bergh, https://www.cantate.be/Fishtest/support_MLE_multinomial.pdf, proposition 1.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

LIMIT: Final = math.log(0.95 / 0.05)
"""The test ends when the log-likelihood ratio reaches ±`LIMIT`; each kind of error has a probability of 5 %."""
_DEVIATIONS: Final = 1.959963984540054  # standard deviations around the mean that hold 95 % of a normal distribution
_NEVER: Final = 1e-3  # the count used for a score that never occurred


def measure_elo(counts: Sequence[float]) -> tuple[float, float]:
    """Return the Elo difference and its 95 % error; infinite if a score of 0 or 1 is reached or within the error.

    >>> measure_elo((0, 0, 1, 0, 0)), measure_elo((0, 1))
    ((0.0, 0.0), (inf, inf))
    """
    shares = _shares_of(counts)
    score = sum(share * part for part, share in shares)
    deviation = math.sqrt(sum(share * (part - score) ** 2 for part, share in shares) / sum(counts))
    low, high = (_elo_of(score + sign * _DEVIATIONS * deviation) for sign in (-1, 1))
    return _elo_of(score), (high - low) / 2 if deviation or score == 0.5 else math.inf


def measure_ratio(counts: Sequence[float], elo0: float, elo1: float) -> float:
    """Return the log-likelihood ratio of an Elo difference of `elo1` against one of `elo0`.

    >>> round(measure_ratio((223, 9863, 21279, 10037, 246), 0.5, 2.5), 2)
    -3.07
    """
    if not any(counts):
        return 0.0
    shares = _shares_of([count or _NEVER for count in counts])
    likely0, likely1 = (_fit_distribution(shares, 1 / (1 + 10 ** (-elo / 400))) for elo in (elo0, elo1))
    jumps = zip(shares, likely0, likely1, strict=True)
    return sum(counts) * sum(share * math.log(one / zero) for (_, share), zero, one in jumps)


def _shares_of(counts: Sequence[float]) -> list[tuple[float, float]]:
    """Return each score, from 0 to 1, with its relative frequency."""
    return [(index / (len(counts) - 1), count / sum(counts)) for index, count in enumerate(counts)]


def _elo_of(score: float) -> float:
    return 400 * math.log10(score / (1 - score)) if 0 < score < 1 else math.copysign(math.inf, score - 0.5)


def _fit_distribution(shares: Sequence[tuple[float, float]], score: float) -> list[float]:
    """Return the maximum-likelihood distribution with mean `score`, given these frequencies; found by bisection."""
    low, high = -1 / (1 - score), 1 / score
    for _ in range(100):
        middle = (low + high) / 2
        is_low = sum(share * (part - score) / (1 + middle * (part - score)) for part, share in shares) > 0
        low, high = (middle, high) if is_low else (low, middle)
    return [share / (1 + low * (part - score)) for part, share in shares]
