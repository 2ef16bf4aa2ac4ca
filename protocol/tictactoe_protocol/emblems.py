"""A sign and a colour of each player's own, by which two of the same name are told apart; `emblem.js` has the same."""

from __future__ import annotations

from functools import reduce
from typing import Final

SIGNS: Final = "★◆■✚✦✿❖"
"""None of them looks like a mark of the game; each takes one column of a terminal."""
COLOURS: Final = 6


def emblem_of(player: str) -> tuple[str, int]:
    """Return the sign of a player, by their public id, and the number of its colour among those of the marks.

    >>> emblem_of("p-ana") == emblem_of("p-ana"), emblem_of("p-ana") == emblem_of("p-bo")
    (True, False)
    """
    hashed = reduce(lambda hash, letter: (hash * 31 + ord(letter)) % 2**32, player, 0)
    return SIGNS[hashed % len(SIGNS)], hashed // len(SIGNS) % COLOURS
