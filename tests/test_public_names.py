"""Every documented and every exported name can be imported from its package."""

from importlib import import_module
from typing import Final

import pytest

DOCUMENTED: Final = {
    "tictactoe_engine": """
        BLOCKED FREE MAX_SIDE PRESETS Coordinates IllegalMove InvalidRules Keys Outcome Position Rules UnknownNotation
        format_cell format_column format_key has_single_keys parse_cell
    """,
    "tictactoe_engine.records": """
        GameRecord GameResult InvalidRecord MoveClock RecordError SeatClock format_record parse_record parse_records
    """,
    "tictactoe_engine.search": "Analysis Budget Value analyse best_cells fits_table",
    "tictactoe_engine.strategies": "Level Perfect Strategy choose_at_random choose_by_rules strategy_of",
    "tictactoe_protocol": """
        MAX_CHAT_LENGTH MAX_ERROR_BYTES MAX_LISTED_GAMES MAX_LISTED_ROOMS MAX_MESSAGE_BYTES PROTOCOL_VERSION
        ROOM_CODE_ALPHABET ROOM_CODE_LENGTH SUBPROTOCOL BadMessage BadName BadRoomCode CloseCode ErrorCode clean_text
        decode_push encode error_answer escape_text parse_name parse_room_code pushes requests
    """,
    "tictactoe_client": """
        Address Backoff BadAddress Client ClientError ConnectionLost Interrupted Message Messages ProtocolBroken Refused
        Room Unreachable VersionRefused connect parse_address parse_room
    """,
    "tictactoe_server": "SERVER_NAME __version__",
}
ENGINE_PARTS: Final = ("records", "search", "strategies")


@pytest.mark.parametrize("package", DOCUMENTED)
def test_a_documented_name_can_be_imported(package: str) -> None:
    module = import_module(package)
    assert [name for name in DOCUMENTED[package].split() if not hasattr(module, name)] == []


@pytest.mark.parametrize("package", ["tictactoe_engine", *(f"tictactoe_engine.{name}" for name in ENGINE_PARTS)])
def test_an_exported_name_of_the_engine_can_be_imported(package: str) -> None:
    module = import_module(package)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
