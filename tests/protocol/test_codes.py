import pytest

from tictactoe_protocol import MAX_MESSAGE_BYTES, PROTOCOL_VERSION, SUBPROTOCOL, CloseCode, ErrorCode
from tictactoe_protocol.codes import DEFAULT_PORT, may_reconnect


def test_the_numbers_of_version_1_do_not_change() -> None:
    assert (PROTOCOL_VERSION, SUBPROTOCOL, DEFAULT_PORT, MAX_MESSAGE_BYTES) == (2, "tictactoe.v2", 8765, 16384)


def test_the_error_codes_match_the_table() -> None:
    table = """
        bad_json bad_message unknown_type too_long
        hello_required already_hello bad_name bad_token
        bad_rules bad_clock no_such_room room_full moved not_in_room not_seated not_allowed
        not_started game_over not_your_turn off_board occupied blocked floating stale choose_first
        no_offer
        no_such_event event_full event_begun not_entered not_organiser
        rate_limited busy server_full unavailable internal
        banned kicked
    """
    assert [str(code) for code in ErrorCode] == table.split()


@pytest.mark.parametrize("close_code", [None, 1000, 1001, 1006, 1009, 1011, 1012, 4000, 4499, 5000])
def test_a_client_comes_back_after_a_loss_or_a_restart(close_code: int | None) -> None:
    assert may_reconnect(close_code)


@pytest.mark.parametrize(
    "close_code", [1008, CloseCode.POLICY_VIOLATION, CloseCode.BANNED, CloseCode.KICKED, 4750, 4999]
)
def test_a_client_stays_away_when_it_was_sent_away(close_code: int) -> None:
    assert not may_reconnect(close_code)
