"""A sign and a colour of each player's own, by which two of the same name are told apart; `emblem.js` has the same."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

SIGNS: Final = "★◆■✚✦✿❖"
"""None of them looks like a mark of the game; each takes one column of a terminal."""
COLOURS: Final = 6


@lru_cache
def emblem_of(player: str) -> tuple[str, int]:
    """Return the sign of a player, by their public id, and the number of its colour among those of the marks.

    >>> emblem_of("p-ana") == emblem_of("p-ana"), emblem_of("p-ana") == emblem_of("p-bo")
    (True, False)
    """
    hashed = 0
    for letter in player:
        hashed = (hashed * 31 + ord(letter)) % 2**32
    return SIGNS[hashed % len(SIGNS)], hashed // len(SIGNS) % COLOURS
