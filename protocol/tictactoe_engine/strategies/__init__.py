"""Strategies for computer players at four levels of strength, for all rules."""

from __future__ import annotations

from enum import StrEnum

from tictactoe_engine.search.budget import MODEST, Budget
from tictactoe_engine.strategies.opening_book import opening_cells
from tictactoe_engine.strategies.perfect import Perfect
from tictactoe_engine.strategies.rule_based import choose_by_rules, choose_side_by_rules
from tictactoe_engine.strategies.strategy import SideChooser, Strategy, choose_at_random, choose_side_at_random

__all__ = [
    "Level",
    "Perfect",
    "SideChooser",
    "Strategy",
    "choose_at_random",
    "choose_by_rules",
    "choose_side_at_random",
    "choose_side_by_rules",
    "opening_cells",
    "side_chooser_of",
    "strategy_of",
]


class Level(StrEnum):
    """The names of the strategies, weakest first."""

    RANDOM = "random"
    RULES = "rules"
    HARD = "hard"
    PERFECT = "perfect"


def strategy_of(level: Level | str, budget: Budget = MODEST) -> Strategy:
    """Return the strategy with the name `level`; ``hard`` and ``perfect`` search within `budget`.

    Raises ValueError if there is no such level.

    >>> from random import Random
    >>> from tictactoe_engine import Position, Rules
    >>> strategy_of(Level.PERFECT)(Position.replay(Rules(), (0, 3, 1, 4)), Random())
    2
    """
    match Level(level):
        case Level.RANDOM:
            return choose_at_random
        case Level.RULES:
            return choose_by_rules
        case Level.HARD:
            return Perfect(budget, is_brief=True)
        case Level.PERFECT:
            return Perfect(budget)


def side_chooser_of(level: Level | str, budget: Budget = MODEST) -> SideChooser:
    """Return the function that chooses in openings at `level`; ``hard`` and ``perfect`` search within `budget`.

    Raises ValueError if there is no such level.

    >>> from random import Random
    >>> from tictactoe_engine import Position, Rules
    >>> side_chooser_of(Level.PERFECT)(Position.replay(Rules(3, 4, 3, opening="pie"), (5,)), Random())
    'X'
    """
    match Level(level):
        case Level.RANDOM:
            return choose_side_at_random
        case Level.RULES:
            return choose_side_by_rules
        case Level.HARD | Level.PERFECT:
            return Perfect(budget).choose_side
