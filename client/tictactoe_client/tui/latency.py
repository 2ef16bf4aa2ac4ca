"""How long the server takes, as a figure that stands still while the connection does; pure."""

from __future__ import annotations

from typing import Final

_SMALLEST_CHANGE_MS: Final = 2
_SMALLEST_SHARE: Final = 0.25


class Latency:
    """The figure to show, in whole milliseconds, at least 1."""

    def __init__(self, seconds: float) -> None:
        self.milliseconds = _round(seconds)

    def take(self, seconds: float) -> bool:
        """Take a new measurement; tell whether it differs enough from the figure to take its place.

        >>> figure = Latency(0.012)
        >>> figure.take(0.014), figure.take(0.4), figure.milliseconds
        (False, True, 400)
        """
        measured, shown = _round(seconds), self.milliseconds
        if abs(measured - shown) < max(_SMALLEST_CHANGE_MS, shown * _SMALLEST_SHARE):
            return False
        self.milliseconds = measured
        return True


def _round(seconds: float) -> int:
    return max(1, round(seconds * 1000))
