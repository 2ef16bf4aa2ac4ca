"""The computers' game for visitors of the first page while no other game is running, over real sockets."""

from collections.abc import AsyncIterator

import pytest

from tests.peer import Message, Peer, open_peer, play_out, two_playing
from tictactoe_engine import PRESETS, Position
from tictactoe_server.features.boards.demo import GAMES
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

pytestmark = pytest.mark.features


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server(Settings(host="127.0.0.1", port=0)) as running:
        yield running


@pytest.fixture
async def eve(server: Server) -> AsyncIterator[Peer]:
    """A visitor of the first page."""
    async with open_peer(server.url, "eve") as eve:
        await eve.ask("lobby", on=True, boards=3, demo=True)
        yield eve


async def test_demonstration_games_follow_one_another(eve: Peer) -> None:
    for number, (preset, cells) in enumerate(GAMES.items(), 1):
        game = Position.replay(PRESETS[preset], cells)
        demo: Message = {}
        while "result" not in demo:
            message = await eve.until(lambda message: message.get("demo"))
            assert message["boards"] == []
            demo = message["demo"]
            assert (demo["room"], demo["game"], demo["preset"]) == ("", number, preset)
            assert {*demo["names"].values()} == {"hard-bot", "medium-bot"}
            assert demo["ply"] >= game.ply // 2, "it is shown in mid-game"
            assert demo["board"] == game.at(demo["ply"]).board
        assert demo["result"]["reason"] == "line"


async def test_it_ends_for_a_game_of_people_and_comes_back_after_it(server: Server, eve: Peer) -> None:
    await eve.until(lambda message: message.get("demo"))
    async with two_playing(server) as (ana, bo, room):
        shown = await eve.until(lambda message: message["type"] == "boards" and message["boards"])
        assert "demo" not in shown
        await play_out({"X": ana, "O": bo}, room, [0, 3])
        await ana.ask("leave", room=room)
        await bo.ask("leave", room=room)
    await eve.until(lambda message: message.get("demo"))


async def test_an_operator_turns_it_off() -> None:
    async with (
        Server(Settings(host="127.0.0.1", port=0, features=(BotOptions(demo=False),))) as server,
        open_peer(server.url, "eve") as eve,
    ):
        await eve.ask("lobby", on=True, boards=3, demo=True)
        assert await eve.next_of("boards") == {"type": "boards", "boards": []}
        await eve.ask("ping")
        assert [message["type"] for message in eve.seen].count("boards") == 1
