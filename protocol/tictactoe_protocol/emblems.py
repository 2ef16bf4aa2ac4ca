"""A sign and a colour for each player, which distinguish players of the same name; `emblem.js` is the page's port.

In a room, where two players may have the same colour, the sign has the colour of the player's mark.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

SIGNS: Final = "★◆■✚✦✿❖"
"""Signs that are one column wide in a terminal and look like no mark of the game."""
COLOURS: Final = 6


@lru_cache
def emblem_of(player: str) -> tuple[str, int]:
    """Return the sign of a player, by their public id, and the number of its colour among the colours of marks.

    >>> emblem_of("p-ana") == emblem_of("p-ana"), emblem_of("p-ana") == emblem_of("p-bo")
    (True, False)
    """
    hashed = 0
    for letter in player:
        hashed = (hashed * 31 + ord(letter)) % 2**32
    return SIGNS[hashed % len(SIGNS)], hashed // len(SIGNS) % COLOURS
