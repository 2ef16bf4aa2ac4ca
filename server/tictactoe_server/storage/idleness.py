"""Who was not here for so long that a server forgets them. Days are counted from 1970 (UTC)."""

from __future__ import annotations

import time
from typing import Final

UNSEATED_DAYS: Final = 1
SEATED_DAYS: Final = 365
"""For how long those are remembered who never took a seat, and those who did."""

FORGOTTEN_AT_ONCE: Final = 100
"""How many players, or games, are looked at in one step: those who save meanwhile hardly wait."""

SECONDS_A_DAY: Final = 86_400


def today() -> int:
    """Return the number of the day."""
    return int(time.time() // SECONDS_A_DAY)


def is_idle(seen: int, today: int, *, is_seated: bool) -> bool:
    """Tell whether somebody who was last seen on that day is to be forgotten.

    >>> is_idle(100, 101, is_seated=False), is_idle(100, 102, is_seated=False), is_idle(100, 466, is_seated=True)
    (False, True, True)
    """
    return today - seen > (SEATED_DAYS if is_seated else UNSEATED_DAYS)
