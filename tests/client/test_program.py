import errno
import os

from tictactoe_client.exits import describe_failure
from tictactoe_client.online.address import parse_address
from tictactoe_client.online.errors import Refused, describe_system_error
from tictactoe_client.settings import Settings
from tictactoe_client.text.programs import own_command, server_command


def test_unknown_system_errors_keep_the_systems_text() -> None:
    assert describe_system_error(errno.EPIPE) == os.strerror(errno.EPIPE).lower()


def test_a_command_keeps_the_server_unless_it_is_the_default_one() -> None:
    assert own_command("rooms", server=parse_address("localhost")) == "tictactoe-client rooms"
    assert own_command("rooms", server=parse_address("host:9")) == "tictactoe-client rooms --server ws://host:9"
    assert server_command() == "tictactoe-server"


def test_a_code_that_the_default_server_lacks_is_answered_with_how_to_name_the_right_one() -> None:
    refused = Refused("no_such_room", "There is none.", room="K7M4PQ")
    text = describe_failure(refused, Settings())
    assert "There is no room K7M4PQ at ws://localhost:8765." in text
    assert "tictactoe-client join K7M4PQ --server HOST" in text
    assert "tictactoe-client servers" in text
