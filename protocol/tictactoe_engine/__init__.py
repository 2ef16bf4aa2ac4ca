"""The game itself: rules, positions and how cells are written; standard library only, no clock, no randomness.

Source of the field's terms: m,n,k-games, where `rows` x `columns` is the board and `line` is k.

The names of `tictactoe_engine.records`, `tictactoe_engine.search` and `tictactoe_engine.strategies` load on first use:
most programs need the rules alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from tictactoe_engine.rules import MAX_MARKS, MAX_SIDE, PRESETS, Rules

if TYPE_CHECKING:
    from tictactoe_engine.records import (
        GameRecord,
        GameResult,
        InvalidRecord,
        MoveClock,
        RecordError,
        SeatClock,
        format_record,
        parse_record,
        parse_records,
    )
    from tictactoe_engine.search import Analysis, Budget, Value, analyse, best_cells, fits_table
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
    "GameRecord",
    "GameResult",
    "IllegalMove",
    "InvalidRecord",
    "InvalidRules",
    "Keys",
    "Level",
    "MoveClock",
    "Outcome",
    "Perfect",
    "Position",
    "RecordError",
    "Rules",
    "SeatClock",
    "Strategy",
    "UnknownNotation",
    "Value",
    "analyse",
    "best_cells",
    "choose_at_random",
    "choose_by_rules",
    "fits_table",
    "format_cell",
    "format_column",
    "format_key",
    "format_record",
    "has_single_keys",
    "parse_cell",
    "parse_record",
    "parse_records",
    "strategy_of",
]


def __getattr__(name: str) -> Any:
    """Return a name that loads on first use (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tictactoe_engine import records, search, strategies

    return next(getattr(module, name) for module in (records, search, strategies) if hasattr(module, name))
