"""Every documented and every exported name can be imported from its package."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import pytest

DOCUMENTED: Final = {
    "tictactoe_engine": """
        BLOCKED FREE MAX_MARKS MAX_SIDE PRESETS Analysis Budget Coordinates GameRecord GameResult IllegalMove
        InvalidRecord InvalidRules Keys Level MoveClock Outcome Perfect Position RecordError Rules SeatClock Strategy
        UnknownNotation Value analyse best_cells choose_at_random choose_by_rules fits_table format_cell format_column
        format_key format_record has_single_keys parse_cell parse_record parse_records strategy_of
    """,
    "tictactoe_protocol": """
        DEFAULT_PORT MAX_CHAT_LENGTH MAX_ERROR_BYTES MAX_LISTED_GAMES MAX_LISTED_ROOMS MAX_MESSAGE_BYTES
        PROTOCOL_VERSION ROOM_CODE_ALPHABET ROOM_CODE_LENGTH SUBPROTOCOL BadMessage BadName BadRoomCode CloseCode
        ErrorCode choice_of clean_text decode_push decode_request encode error_answer escape_text may_reconnect
        parse_name parse_room_code pushes requests rules_of
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


def test_an_unknown_name_of_the_engine_cannot_be_imported() -> None:
    with pytest.raises(ImportError):
        from tictactoe_engine import no_such_name  # noqa: F401
