"""Records: games as text, written and read. `docs/reference/records.md` describes the format."""

from tictactoe_engine.records.faults import InvalidRecord, RecordError
from tictactoe_engine.records.game_record import DayClock, GameRecord, GameResult, MoveClock, SeatClock
from tictactoe_engine.records.reader import parse_record, parse_records
from tictactoe_engine.records.writer import format_record

__all__ = [
    "DayClock",
    "GameRecord",
    "GameResult",
    "InvalidRecord",
    "MoveClock",
    "RecordError",
    "SeatClock",
    "format_record",
    "parse_record",
    "parse_records",
]
