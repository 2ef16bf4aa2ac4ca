"""Guests: further players at a player's keyboard, without a connection or a token of their own.

A guest's id is the player's id followed by a dot and a number. It is unique within a room, and stays the same if marks
change.
"""

from __future__ import annotations

from typing import Final

MAX_GUESTS: Final = 5
FIRST_GUEST: Final = 2
SEPARATOR: Final = "."
"""Separates the player's id from the number in a guest's id."""


def guest_id(player: str, index: int) -> str:
    """Return the id of the guest with this `index`, from 0, of a player.

    >>> guest_id("p5K2dW8xQnA", 0)
    'p5K2dW8xQnA.2'
    """
    return f"{player}{SEPARATOR}{index + FIRST_GUEST}"


def owner_of(id: str) -> str:
    """Return the id of the player whose connection the player or guest with `id` uses.

    >>> owner_of("p5K2dW8xQnA.2"), owner_of("p5K2dW8xQnA")
    ('p5K2dW8xQnA', 'p5K2dW8xQnA')
    """
    return id.partition(SEPARATOR)[0]


def is_guest(id: str) -> bool:
    """Return whether an id is that of a guest."""
    return SEPARATOR in id


def other_owner(id: str, owner: str, replacement: str) -> str:
    """Replace the owner in an id: return `id` with `replacement` if it belongs to `owner` or a guest of `owner`.

    Any other id is returned unchanged.

    >>> other_owner("p1.2", "p1", "player-3"), other_owner("p2", "p1", "player-3")
    ('player-3.2', 'p2')
    """
    return replacement + id[len(owner) :] if owner_of(id) == owner else id
