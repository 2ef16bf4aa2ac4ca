"""The game itself: rules, positions and how cells are written; standard library only, no clock, no randomness.

Source of the field's terms: m,n,k-games, where `rows` x `columns` is the board and `line` is k.

The strategies and the search behind them are loaded when one of their names is first used: most programs only need
the rules.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from tictactoe_engine.errors import IllegalMove, InvalidRules, UnknownNotation
from tictactoe_engine.notation import (
    Coordinates,
    Keys,
    format_cell,
    format_column,
    format_key,
    format_pair,
    has_single_keys,
    parse_cell,
)
from tictactoe_engine.position import BLOCKED, FREE, Outcome, Position
from tictactoe_engine.rules import MAX_MARKS, MAX_SIDE, PRESETS, Rules

if TYPE_CHECKING:
    from tictactoe_engine.search import Analysis, Budget, Value, analyse, best_cells
    from tictactoe_engine.strategies import Level, Perfect, Strategy, choose_at_random, choose_by_rules, strategy_of

__all__ = [
    "BLOCKED",
    "FREE",
    "MAX_MARKS",
    "MAX_SIDE",
    "PRESETS",
    "Analysis",
    "Budget",
    "Coordinates",
    "IllegalMove",
    "InvalidRules",
    "Keys",
    "Level",
    "Outcome",
    "Perfect",
    "Position",
    "Rules",
    "Strategy",
    "UnknownNotation",
    "Value",
    "analyse",
    "best_cells",
    "choose_at_random",
    "choose_by_rules",
    "format_cell",
    "format_column",
    "format_key",
    "format_pair",
    "has_single_keys",
    "parse_cell",
    "strategy_of",
]

_LOADED_ON_USE: Final = {
    "Analysis": "tictactoe_engine.search",
    "Budget": "tictactoe_engine.search",
    "Value": "tictactoe_engine.search",
    "analyse": "tictactoe_engine.search",
    "best_cells": "tictactoe_engine.search",
    "Level": "tictactoe_engine.strategies",
    "Perfect": "tictactoe_engine.strategies",
    "Strategy": "tictactoe_engine.strategies",
    "choose_at_random": "tictactoe_engine.strategies",
    "choose_by_rules": "tictactoe_engine.strategies",
    "strategy_of": "tictactoe_engine.strategies",
}


def __getattr__(name: str) -> object:
    """Load the module that owns a name of the strategies or the search (PEP 562)."""
    module = _LOADED_ON_USE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module), name)
    return value
