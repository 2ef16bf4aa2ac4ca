import pytest

from tictactoe_protocol import MAX_MESSAGE_BYTES, PROTOCOL_VERSION, SUBPROTOCOL, CloseCode
from tictactoe_protocol.codes import DEFAULT_PORT, may_reconnect


def test_the_numbers_of_version_1_do_not_change() -> None:
    assert (PROTOCOL_VERSION, SUBPROTOCOL, DEFAULT_PORT, MAX_MESSAGE_BYTES) == (2, "tictactoe.v2", 8765, 16384)


@pytest.mark.parametrize("close_code", [None, 1000, 1001, 1006, 1009, 1011, 1012, 4000, 4499, 5000])
def test_a_client_comes_back_after_a_loss_or_a_restart(close_code: int | None) -> None:
    assert may_reconnect(close_code)


@pytest.mark.parametrize(
    "close_code", [1008, CloseCode.POLICY_VIOLATION, CloseCode.BANNED, CloseCode.KICKED, 4750, 4999]
)
def test_a_client_stays_away_when_it_was_sent_away(close_code: int) -> None:
    assert not may_reconnect(close_code)
