"""The game: rules, positions and notation of cells; standard library only, no clock, no randomness.

The games are m,n,k-games, where `rows` x `columns` is the board and `line` is k. The subpackages
`tictactoe_engine.records`, `tictactoe_engine.search` and `tictactoe_engine.strategies` are imported separately.
"""

from __future__ import annotations

from tictactoe_engine.errors import IllegalMove, InvalidRules, UnknownNotation
from tictactoe_engine.notation import (
    Coordinates,
    Keys,
    format_cell,
    format_column,
    format_key,
    has_single_keys,
    number_row,
    parse_cell,
)
from tictactoe_engine.position import BLOCKED, FREE, Outcome, Position
from tictactoe_engine.rules import MAX_SIDE, PRESETS, Rules

__all__ = [
    "BLOCKED",
    "FREE",
    "MAX_SIDE",
    "PRESETS",
    "Coordinates",
    "IllegalMove",
    "InvalidRules",
    "Keys",
    "Outcome",
    "Position",
    "Rules",
    "UnknownNotation",
    "format_cell",
    "format_column",
    "format_key",
    "has_single_keys",
    "number_row",
    "parse_cell",
]
