"""Guests: further players at one player's keyboard, with neither a connection nor a token of their own.

A guest's id is the player's with a dot and a number behind it, unique within a room. It stays when marks change.
"""

from __future__ import annotations

from typing import Final

MAX_GUESTS: Final = 5
FIRST_GUEST: Final = 2
SEPARATOR: Final = "."
"""Stands between a player's id and the number of a guest."""


def guest_id(player: str, index: int) -> str:
    """Return the id of a player's guest, counted from 0.

    >>> guest_id("p5K2dW8xQnA", 0)
    'p5K2dW8xQnA.2'
    """
    return f"{player}{SEPARATOR}{index + FIRST_GUEST}"


def owner_of(id: str) -> str:
    """Return the id of the player whose connection a player or guest uses.

    >>> owner_of("p5K2dW8xQnA.2"), owner_of("p5K2dW8xQnA")
    ('p5K2dW8xQnA', 'p5K2dW8xQnA')
    """
    return id.partition(SEPARATOR)[0]


def is_guest(id: str) -> bool:
    """Return True for the id of a guest."""
    return SEPARATOR in id


def other_owner(id: str, owner: str, replacement: str) -> str:
    """Return the id with another owner if it is the owner's or a guest's of theirs, else the same id.

    >>> other_owner("p1.2", "p1", "player-3"), other_owner("p2", "p1", "player-3")
    ('player-3.2', 'p2')
    """
    return replacement + id[len(owner) :] if owner_of(id) == owner else id
