"""The names that version 1.0 documented can be imported from where it said."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import pytest

NAMES_OF_1_0: Final = {
    "tictactoe_engine": """
        BLOCKED FREE MAX_MARKS MAX_SIDE PRESETS Analysis Budget Coordinates GameRecord GameResult IllegalMove
        InvalidRecord InvalidRules Keys Level MoveClock Outcome Perfect Position RecordError Rules SeatClock Strategy
        UnknownNotation Value analyse best_cells choose_at_random choose_by_rules fits_table format_cell format_column
        format_key format_pair format_record has_single_keys parse_cell parse_record parse_records strategy_of
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


@pytest.mark.parametrize("package", NAMES_OF_1_0)
def test_a_name_that_1_0_documented_can_be_imported(package: str) -> None:
    module = import_module(package)
    assert [name for name in NAMES_OF_1_0[package].split() if not hasattr(module, name)] == []


def test_a_record_is_read_by_the_function_that_1_0_documented() -> None:
    from tictactoe_engine import format_record, parse_record

    record = parse_record("1. b2 a1 2. c3 *")
    assert record.moves == (4, 0, 8)
    assert parse_record(format_record(record)) == record


def test_what_the_engine_does_not_have_is_no_name_of_it() -> None:
    with pytest.raises(ImportError):
        from tictactoe_engine import no_such_name  # noqa: F401
