from collections.abc import AsyncIterator

import pytest

from tests.fakes import FakeClock, TroubledStore
from tests.limits import uncounted
from tests.peer import Message, Peer, open_peer
from tictactoe_protocol import ErrorCode
from tictactoe_server.features.bots.service import BotOptions, Bots
from tictactoe_server.rooms.room import Refused
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.store import StoreUnavailable

pytestmark = pytest.mark.features


@pytest.fixture
async def quick_bots() -> AsyncIterator[Server]:
    """A server whose bots do not pause, with little time to think."""
    settings = Settings("127.0.0.1", 0, features=(BotOptions(pause_seconds=0, deadline_seconds=0.2, workers=1),))
    async with Server(settings, limits=uncounted()) as running:
        yield running


async def play_first_legal(peer: Peer, room: str, mark: str) -> Message:
    """Play the first free cell on every turn; return the last state."""
    while True:
        state = await peer.until(lambda message: message["type"] == "room" and message["turn"] in (mark, None))
        if state["status"] == "over":
            return state
        await peer.send("move", room=room, cell=state["board"].index("."), ply=state["ply"])


@pytest.mark.parametrize("level", ["random", "rules", "perfect", "easy", "medium", "hard"])
async def test_a_bot_of_every_level_plays_a_whole_game(quick_bots: Server, level: str) -> None:
    async with open_peer(quick_bots.url, "ana") as ana:
        opened = await ana.ask("create", bots=[level])
        assert opened["seat"] == "X"
        last = await play_first_legal(ana, opened["room"], "X")
        assert last["seats"]["O"]["bot"] == level
        assert last["result"]["reason"] in ("line", "full")


async def test_a_bot_allows_an_undo(quick_bots: Server) -> None:
    async with open_peer(quick_bots.url) as ana:
        room = (await ana.ask("create", bots=["rules"]))["room"]
        await ana.ask("move", room=room, cell=4, ply=0)
        await ana.state(ply=2)
        await ana.ask("undo", room=room, action="offer")
        await ana.state(ply=0)


async def test_a_bot_on_turn_answers_a_draw_offer_before_it_moves(quick_bots: Server) -> None:
    async with open_peer(quick_bots.url) as ana:
        room = (await ana.ask("create", bots=["perfect"]))["room"]
        await ana.send("move", room=room, cell=4, ply=0)
        await ana.send("draw", room=room, action="offer")
        over = await ana.state(status="over")
        assert (over["result"]["reason"], over["ply"]) == ("agreed", 1)


async def test_a_bot_plays_a_rematch(quick_bots: Server) -> None:
    async with open_peer(quick_bots.url) as ana:
        room = (await ana.ask("create", bots=["rules"]))["room"]
        await ana.ask("resign", room=room)
        await ana.ask("rematch", room=room)
        await ana.state(game=2)


@pytest.mark.parametrize(
    "failure",
    [StoreUnavailable("down"), Refused(ErrorCode.BUSY, "room"), RuntimeError("a bug")],
    ids=["unavailable", "busy", "bug"],
)
async def test_a_bot_repeats_a_move_that_failed(troubled: Server, store: TroubledStore, failure: Exception) -> None:
    async with open_peer(troubled.url) as ana:
        room = (await ana.ask("create", bots=["rules"]))["room"]
        store.trouble.hold()
        await ana.send("move", room=room, cell=4, ply=0)
        await store.trouble.until_held(1)
        store.trouble.fail("save", failure, times=2)
        store.trouble.release()
        await ana.state(ply=2)


# Three rows of four, three in a row: the first player wins from a cell in the middle.
SMALL_WIN = {"rows": 3, "columns": 4, "line": 3}


async def test_a_bot_that_is_winning_declines_a_draw_and_plays_on() -> None:
    settings = Settings("127.0.0.1", 0, features=(BotOptions(pause_seconds=0, deadline_seconds=5.0, workers=1),))
    async with Server(settings) as server, open_peer(server.url) as ana:
        room = (await ana.ask("create", rules=SMALL_WIN, bots=["perfect"], seat="O"))["room"]
        state = await ana.state(ply=1)
        await ana.ask("draw", room=room, action="offer")
        assert (await ana.state())["offers"]["draw"] == "O"
        declined = await ana.state()
        assert (declined["offers"]["draw"], declined["status"], declined["ply"]) == (None, "playing", 1)
        await ana.send("move", room=room, cell=state["board"].index("."), ply=1)
        await ana.state(ply=3)


async def test_a_bot_moves_in_time_even_if_its_pause_exceeds_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings("127.0.0.1", 0, features=(BotOptions(pause_seconds=0, workers=1),))
    async with Server(settings, monotonic_ns=FakeClock()) as server, open_peer(server.url) as ana:
        room = (await ana.ask("create", rules="four", bots=["rules"], clock={"move_ms": 800}))["room"]
        await ana.send("move", room=room, cell=0, ply=0)
        board = (await ana.state(ply=2))["board"]  # the first moves are not timed
        monkeypatch.setattr(server.service(Bots), "_pause", 3_600.0)
        await ana.send("move", room=room, cell=board.index("."), ply=2)
        assert (await ana.state(ply=4))["status"] == "playing"
