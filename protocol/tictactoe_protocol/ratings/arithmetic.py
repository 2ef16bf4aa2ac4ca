"""An exponential function of sums and products only, so that all machines fold ratings to the same digest.

IEEE 754 rounds ``+ - * /`` and the square root alike everywhere; `math.exp` comes from the system and differs in the
last digit. For the same reason no floats are added up with `sum`, which has changed in Python 3.12.
"""

from __future__ import annotations


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
