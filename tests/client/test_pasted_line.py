import pytest

from tictactoe_client.online.address import Address, parse_room
from tictactoe_client.online.errors import BadAddress
from tictactoe_protocol import BadRoomCode

HOST = Address("ws", "host", 9000)


@pytest.mark.parametrize(
    "line",
    [
        "tictactoe-client join ws://host:9000/K7M4PQ",
        "  .venv/bin/tictactoe-client  join  ws://host:9000/k7m-4pq  ",
        "$ ./tictactoe-client join ws://host:9000/K7M4PQ",
        "/opt/games/bin/tictactoe-client --name 'ana b' --plain join ws://host:9000/K7M4PQ",
        "tictactoe-client --server ws://host:9000 join K7M4PQ",
        "tictactoe-client join K7M 4PQ -s host:9000",
        "tictactoe-client watch K7M4PQ --server=host:9000 --theme night",
        r"C:\games\tictactoe-client.exe join ws://host:9000/K7M4PQ",
        "python3 -m tictactoe_client join ws://host:9000/K7M4PQ",
        "Or    tictactoe-client join ws://host:9000/K7M4PQ",
        "Link  ws://host:9000/K7M4PQ",
    ],
)
def test_the_whole_line_that_invites_leads_to_its_room(line: str) -> None:
    assert parse_room(line) == ("K7M4PQ", HOST)


@pytest.mark.parametrize("line", ["tictactoe-client join K7M4PQ", "Code   K7M4PQ", "code: k7m-4pq"])
def test_a_line_without_a_server_names_the_room_alone(line: str) -> None:
    assert parse_room(line) == ("K7M4PQ", None)


@pytest.mark.parametrize("line", ["tictactoe-client", "tictactoe-client join", "tictactoe-client join 'K7M", "Link "])
def test_a_line_without_a_room_is_refused_in_words(line: str) -> None:
    with pytest.raises(BadRoomCode, match="A room code has 6 letters and digits"):
        parse_room(line)


def test_the_server_of_a_line_is_checked() -> None:
    with pytest.raises(BadAddress, match='"ho st" is no server address'):
        parse_room("tictactoe-client --server 'ho st' join K7M4PQ")
