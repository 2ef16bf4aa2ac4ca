"""A sign and a colour for each player, which help to distinguish players with the same name.

Two players may have the same colour, so in a room the sign has the colour of the player's mark. The page's port of this
module is `emblem.js`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

SIGNS: Final = "★◆■✚✦✿❖"
"""Signs that are one column wide in a terminal and do not look like the marks in a game."""
COLOURS: Final = 6


@lru_cache
def emblem_of(player: str) -> tuple[str, int]:
    """Return the sign for a player's public id, and the index of its colour among the colours of marks.

    >>> emblem_of("p-ana") == emblem_of("p-ana"), emblem_of("p-ana") == emblem_of("p-bo")
    (True, False)
    """
    hashed = 0
    for letter in player:
        hashed = (hashed * 31 + ord(letter)) % 2**32
    return SIGNS[hashed % len(SIGNS)], hashed // len(SIGNS) % COLOURS


def list_signs(players: Sequence[str]) -> list[str]:
    """Return a sign for each id of a room's players, "" for "". Players share a sign only if there are too few.

    A sign does not depend on the order of the players, which may change with each game.

    >>> list_signs(["p-ana", "p-ana", ""])
    ['■', '✚', '']
    """
    signs = [""] * len(players)
    for index in sorted(range(len(players)), key=players.__getitem__):
        first = SIGNS.index(emblem_of(players[index])[0])
        free = [sign for sign in SIGNS[first:] + SIGNS[:first] if sign not in signs]
        signs[index] = (free or SIGNS[first])[0] if players[index] else ""
    return signs
