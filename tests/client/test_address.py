import pytest

from tictactoe_client.online.address import Address, is_event_link, parse_address, parse_event, parse_room
from tictactoe_client.online.errors import BadAddress
from tictactoe_client.settings import OPTIONS
from tictactoe_protocol import BadRoomCode


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("localhost", "ws://localhost:8765"),
        ("host:9000", "ws://host:9000"),
        ("ws://host", "ws://host:8765"),
        ("ws://host:80/", "ws://host:80"),
        ("wss://host", "wss://host"),
        ("wss://host:8443", "wss://host:8443"),
        ("http://host:9000", "ws://host:9000"),
        ("https://host/", "wss://host"),
        (" WS://Host:9000 ", "ws://host:9000"),
        ("::1", "ws://[::1]:8765"),
        ("[::1]:9000", "ws://[::1]:9000"),
        ("ws://[fe80::1]:9000", "ws://[fe80::1]:9000"),
        ("wss://host/games/ws", "wss://host/games/ws"),
        ("ws://host:9000/K7M4PQ", "ws://host:9000"),
        ("wss://host/games/k7m-4pq/", "wss://host/games"),
        ("host/K7M4PQ", "ws://host:8765"),
    ],
)
def test_an_address_is_read_as_people_write_it(text: str, url: str) -> None:
    assert parse_address(text).url == url


def test_a_server_under_a_path_is_reached_with_the_slash_that_proxies_insist_on() -> None:
    for text in ("https://host/games/", "https://host/games//", "https://host/games/K7M4PQ", "host/games/K7M4PQ/"):
        assert parse_address(text).socket_url.endswith("/games/")
    for text in ("https://host/games/k7m-4pq.", "https://host/games/E/K7M4PQ/wall", "https://host/games/e/K7M4PQ#ana"):
        _, _, address = parse_event(text)
        assert address == Address("wss", "host", None, "/games/")
        assert address.link_to("K7M4PQ") == "https://host/games/K7M4PQ"
    assert parse_address("wss://host/s1").socket_url == "wss://host/s1"


def test_event_links_are_distinguished_from_room_links() -> None:
    assert is_event_link("Come: http://host:8765/E/k7m-4pq/wall.")
    assert not is_event_link("http://host:8765/K7M4PQ")
    assert not is_event_link("K7M4PQ")


@pytest.mark.parametrize(
    "text",
    ["", "ws://", "ftp://host", "host:99999", "host:0", "ho st", "ws://user:secret@host", "ws://host?x=1", "ws://[::1"],
)
def test_text_that_names_no_server_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadAddress, match=r"It looks like ws://host:8765"):
        parse_address(text)


VALUED = [option for option in OPTIONS.values() if option.kind is not bool]


@pytest.mark.parametrize("name", [f"--{one.name}" for one in VALUED] + [f"-{one.short}" for one in VALUED if one.short])
def test_the_value_of_an_option_is_no_part_of_the_room_in_a_pasted_command(name: str) -> None:
    code, _ = parse_room(f"tictactoe-client {name} word join K7M4PQ {name} word")
    assert code == "K7M4PQ"


def test_a_link_made_for_others_leads_back() -> None:
    address = parse_address("ws://192.0.2.7:9000")
    assert parse_room(address.link_to("K7M4PQ")) == ("K7M4PQ", address)


@pytest.mark.parametrize(
    ("text", "is_loopback"), [("localhost", True), ("127.0.0.1", True), ("::1", True), ("h", False)]
)
def test_the_loopback_is_known(text: str, is_loopback: bool) -> None:
    assert parse_address(text).is_loopback is is_loopback


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
        "Play with me (ws://host:9000/K7M4PQ?fbclid=IwABCD).",
    ],
)
def test_the_whole_line_that_invites_leads_to_its_room(line: str) -> None:
    assert parse_room(line) == ("K7M4PQ", HOST)


@pytest.mark.parametrize("line", ["tictactoe-client join K7M4PQ", "Code   K7M4PQ", "code: k7m-4pq", " k7M 4PQ "])
def test_a_line_without_a_server_names_the_room_alone(line: str) -> None:
    assert parse_room(line) == ("K7M4PQ", None)


@pytest.mark.parametrize(
    "line",
    ["K7M4P", "ws://host/K7M4P", "tictactoe-client", "tictactoe-client join", "tictactoe-client join 'K7M", "Link "],
)
def test_a_line_without_a_room_code_is_refused(line: str) -> None:
    with pytest.raises(BadRoomCode, match="A room code has 6 letters and digits"):
        parse_room(line)


def test_the_server_of_a_line_is_checked() -> None:
    with pytest.raises(BadAddress, match='"ho st" is not a server address'):
        parse_room("tictactoe-client --server 'ho st' join K7M4PQ")
