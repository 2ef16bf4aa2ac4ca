"""What the levels are called: by strategy, and in plain words."""

from __future__ import annotations

from typing import Final

from tictactoe_engine.strategies import Level

_PLAIN_WORDS: Final = {"easy": Level.RANDOM, "medium": Level.RULES, "hard": Level.PERFECT}

LEVEL_NAMES: Final = (*(level.value for level in Level), *_PLAIN_WORDS)  # every name that a request may give


def level_of(name: str) -> Level:
    """Return the level of that name; raises ValueError for another word.

    >>> level_of("hard"), level_of("rules")
    (<Level.PERFECT: 'perfect'>, <Level.RULES: 'rules'>)
    """
    return _PLAIN_WORDS.get(name) or Level(name)
