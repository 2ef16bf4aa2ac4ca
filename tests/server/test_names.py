import pytest

from tests.peer import open_peer
from tests.server.stored import keep_player
from tests.server.tables import ANA, THREE, Table
from tictactoe_server.records.tables import PLAYERS, KnownPlayer
from tictactoe_server.rooms.room import Player
from tictactoe_server.rooms.seating import drop, enter, free_name
from tictactoe_server.server import Server, kept_by
from tictactoe_server.settings import Settings
from tictactoe_server.storage.memory import MemoryStore

HOUSE = ["easy-bot", "Hard-Bot", "PERFECT-BOT", "rules-bot-2", "random-bot7", "medium-bot 12", "\uff45asy-bot"]
THEIR_OWN = ["my-bot", "easy", "easy-bottle", "easybot", "hard-bot-x", "bot", "uneasy-bot"]


async def test_the_names_of_house_bots_are_refused_and_similar_names_are_not(server: Server) -> None:
    for name in HOUSE:
        async with open_peer(server.url, name) as peer:
            assert (peer.welcome["code"], peer.welcome["path"]) == ("bad_name", "name")
    for name in THEIR_OWN:
        async with open_peer(server.url, name) as peer:
            assert peer.welcome["name"] == name


async def test_names_of_bots_are_reserved_except_for_earlier_owners(server: Server) -> None:
    async with open_peer(server.url, "ana") as ana:
        token = ana.welcome["token"]
    async with open_peer(server.url, "easy-bot", token) as again:
        assert again.welcome["code"] == "bad_name"
    store = MemoryStore(kept_by())
    async with Server(Settings(host="127.0.0.1", port=0), store=store) as other:
        async with open_peer(other.url) as guest:
            token = guest.welcome["token"]
        ((stored,),) = [some async for some in store.table(PLAYERS).load_all()]
        assert isinstance(stored.value, KnownPlayer)
        await keep_player(store, stored.key, Player(stored.value.player.id, "easy-bot"), stored.revision)
        for name in (None, "easy-bot"):
            async with open_peer(other.url, name, token) as old:
                assert old.welcome["name"] == "easy-bot"


def test_players_with_the_same_name_are_numbered() -> None:
    table = Table(ANA, Player("p2", "ana"), Player("p3", "ana"), rules=THREE)
    assert [seat["name"] for seat in table.state["seats"].values()] == ["ana", "ana 2", "ana 3"]


def test_a_numbered_name_survives_a_reconnect_but_not_a_rename() -> None:
    second = Player("p2", "ana")
    table = Table(ANA, second)
    table.do(second, drop)
    table.do(second, enter)
    assert table.room.seat("O").name == "ana 2"
    table.do(second, drop)
    table.do(Player("p2", "bo"), enter)
    assert table.room.seat("O").name == "bo"
    table.do(ANA, drop)
    table.do(Player(ANA.id, "bo"), enter)
    assert table.room.seat("X").name == "bo 2"


@pytest.mark.parametrize(
    ("name", "taken", "free"),
    [
        ("ana", (), "ana"),
        ("ana", ("ana", "ana 2", "ana 4"), "ana 3"),
        ("a" * 24, ("a" * 24,), "a" * 22 + " 2"),
        ("a" * 21 + " bb", ("a" * 21 + " bb",), "a" * 21 + " 2"),
    ],
)
def test_the_first_free_name_fits(name: str, taken: tuple[str, ...], free: str) -> None:
    assert free_name(name, taken) == free
