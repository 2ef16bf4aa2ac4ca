"""The game itself: rules, positions and how cells are written; standard library only, no clock, no randomness.

Source of the field's terms: m,n,k-games, where `rows` x `columns` is the board and `line` is k.

Most programs need the rules alone; `tictactoe_engine.records`, `tictactoe_engine.search` and
`tictactoe_engine.strategies` are imported by those names.
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
    "parse_cell",
]
