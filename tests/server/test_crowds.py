import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest

from tests.limits import uncounted
from tests.peer import Message, Peer, open_peer, play_out, two_playing
from tictactoe_server.server import Server
from tictactoe_server.settings import Limits, Settings

HERE = Settings(host="127.0.0.1", port=0)


def states(peer: Peer, **expected: object) -> list[Message]:
    return [
        message
        for message in peer.seen
        if message["type"] == "room" and all(message[key] == value for key, value in expected.items())
    ]


def news_after(peer: Peer, seq: int) -> list[Message]:
    """Return the events that a peer was sent after the state `seq`, and check that it missed none."""
    heard, seen = [], seq
    for state in states(peer):
        if state["seq"] > seen:
            assert state.get("since", state["seq"] - 1) == seen
            heard += state["news"]
            seen = state["seq"]
    return heard


@contextlib.asynccontextmanager
async def two_before_a_crowd(
    server: Server, count: int, **options: str
) -> AsyncIterator[tuple[Peer, Peer, str, list[Peer]]]:
    """Yield two players, the code of their room, and its watchers."""
    async with contextlib.AsyncExitStack() as stack:
        ana, bo, room = await stack.enter_async_context(two_playing(server, **options))
        crowd = [await stack.enter_async_context(open_peer(server.url)) for _ in range(count)]
        for watcher in crowd:
            await watcher.ask("watch", room=room)
        yield ana, bo, room, crowd


@pytest.fixture
def slow_for_watchers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send watchers one state, and the next after an hour."""
    monkeypatch.setattr("tictactoe_server.core.live_room.WATCHED_SECONDS", 3600)


@pytest.fixture
def told_singly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat two watchers as a crowd, and notify one per turn of the event loop."""
    monkeypatch.setattr("tictactoe_server.core.live_room.CROWD", 1)
    monkeypatch.setattr("tictactoe_server.core.live_room.CROWD_A_TURN", 1)


async def test_watchers_are_limited_by_room() -> None:
    async with Server(HERE, limits=uncounted(watchers_per_room=2)) as server, contextlib.AsyncExitStack() as stack:
        ana, bo, cy, dan, eve = [await stack.enter_async_context(open_peer(server.url)) for _ in range(5)]
        room = (await ana.ask("create"))["room"]
        for watcher in (cy, dan, cy):
            assert (await watcher.ask("watch", room=room))["type"] == "ok"
        refused = await eve.ask("watch", room=room)
        assert (refused["code"], refused["message"]) == (
            "room_full",
            f"Room {room} has 2 watchers already, which is the limit.",
        )
        assert (await eve.ask("watch", room=room, seq=99))["code"] == "room_full"
        assert (await bo.ask("join", room=room))["type"] == "ok"
        await cy.ask("leave", room=room)
        assert (await eve.ask("watch", room=room))["type"] == "ok"


@pytest.mark.parametrize("pace", ["usual", "told_singly"])
async def test_watchers_hear_every_event_of_fast_games_once(
    server: Server, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, pace: str
) -> None:
    monkeypatch.setattr("tictactoe_server.core.live_room.WATCHED_SECONDS", 0.3)
    if pace != "usual":
        request.getfixturevalue(pace)
    async with two_before_a_crowd(server, 12) as (ana, bo, room, crowd), open_peer(server.url) as late:

        async def look_often() -> None:
            while not states(crowd[0], game=9):
                await crowd[0].ask("sync", room=room)

        looking = asyncio.create_task(look_often())
        players = {"X": ana, "O": bo}
        for game in range(1, 9):
            await play_out(players, room, [0, 3, 1])
            await ana.ask("draw", room=room, action="offer")
            await bo.ask("undo", room=room, action="offer")
            if game == 5:
                await late.ask("watch", room=room)
            await play_out(players, room, [4, 2] if game % 2 else [4, 6, 2, 5, 7, 8], first_ply=3)
            for player in (ana, bo):
                await player.ask("rematch", room=room)
            await ana.state(game=game + 1)
            players = {"X": players["O"], "O": players["X"]}
            if game % 2:
                await ana.ask("chat", room=room, text=f"game {game}")
        await looking
        await ana.ask("leave", room=room)
        for peer in (bo, *crowd, late):
            await peer.state(game=9, status="over")
        for watcher in (*crowd, late):
            first = states(watcher)[0]
            heard = news_after(watcher, first["seq"])
            assert heard == news_after(bo, first["seq"])
            assert sum(event["type"] == "ended" for event in heard) == 10 - first["game"]
            lines = [message["text"] for message in watcher.seen if message["type"] == "chat"]
            assert lines == [f"game {game}" for game in range(first["game"], 9) if game % 2]
        assert len(states(crowd[1])) < len(states(bo))


async def test_after_too_many_states_a_watcher_has_a_gap(
    server: Server, slow_for_watchers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tictactoe_server.core.live_room.MOST_UNSENT", 2)
    async with two_before_a_crowd(server, 1) as (ana, bo, room, (watcher,)):
        await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4])
        await watcher.ask("sync", room=room)
        newest = await watcher.state(ply=4)
        assert newest["seq"] > states(watcher)[0]["seq"] + 1
        assert ("since" not in newest, newest["news"]) == (True, [{"type": "moved", "mark": "O", "cell": 4}])


async def test_watchers_are_throttled_unless_they_ask_or_just_came(server: Server, slow_for_watchers: None) -> None:
    async with two_before_a_crowd(server, 1) as (ana, bo, room, (watcher,)), open_peer(server.url) as late:
        await play_out({"X": ana, "O": bo}, room, [0, 3, 1])
        await watcher.ask("sync", room=room)
        await watcher.state(ply=3)
        assert not states(watcher, ply=2)
        await late.ask("watch", room=room)
        await late.state(ply=3)


async def test_in_a_crowd_a_watcher_speaks_now_and_then_and_players_as_ever(clocked: Server, told_singly: None) -> None:
    async with (
        two_playing(clocked) as (ana, _, room),
        open_peer(clocked.url) as cy,
        open_peer(clocked.url, token=cy.welcome["token"]) as cy_again,
        open_peer(clocked.url) as dan,
    ):
        await cy.ask("watch", room=room)
        for _ in range(2):
            assert (await cy.ask("chat", room=room, text="hi"))["type"] == "ok"
        await dan.ask("watch", room=room)
        await cy_again.ask("watch", room=room)
        assert (await cy.ask("chat", room=room, text="hi"))["type"] == "ok"
        refused = await cy_again.ask("chat", room=room, text="hi")
        assert refused["code"] == "rate_limited"
        assert 0 < refused["retry_ms"] <= 3_001
        assert (await dan.ask("chat", room=room, text="hi"))["type"] == "ok"
        for _ in range(3):
            assert (await ana.ask("chat", room=room, text="hi"))["type"] == "ok"


async def offered(peer: Peer, times: int, room: str, verb: str) -> list[str | None]:
    """Make an offer and withdraw it several times; return the error code of each offer, or None."""
    codes = []
    for _ in range(times):
        codes.append((await peer.ask(verb, room=room, action="offer")).get("code"))
        await peer.ask(verb, room=room, action="decline")
    return codes


async def test_offers_are_limited_by_player_across_rooms() -> None:
    now = time.monotonic_ns()
    server = Server(HERE, limits=Limits(), monotonic_ns=lambda: now)
    async with server, two_playing(server) as (ana, bo, room):
        await play_out({"X": ana, "O": bo}, room, [0, 3])
        assert await offered(ana, 3, room, "draw") == [None] * 3
        assert await offered(ana, 4, room, "undo") == [None] * 2 + ["rate_limited"] * 2
        assert 0 < (await ana.ask("draw", room=room, action="offer"))["retry_ms"] <= 2_001
        assert await offered(bo, 5, room, "draw") == [None] * 5
        now += 10_000_000_000
        assert await offered(ana, 6, room, "draw") == [None] * 5 + ["rate_limited"]


async def test_rematches_of_unplayed_games_are_limited() -> None:
    now = time.monotonic_ns()
    server = Server(HERE, limits=Limits(), monotonic_ns=lambda: now)
    async with server, two_playing(server) as (ana, bo, room):
        players = {"X": ana, "O": bo}
        for _ in range(8):
            await play_out(players, room, [0, 3, 1, 4, 2])
            assert (await ana.ask("rematch", room=room))["type"] == (await bo.ask("rematch", room=room))["type"] == "ok"
            players = {"X": players["O"], "O": players["X"]}
        heard = []
        for _ in range(6):
            await ana.ask("resign", room=room)
            heard.append((await ana.ask("rematch", room=room)).get("code"))
            await bo.ask("rematch", room=room)
        assert heard == [None] * 5 + ["rate_limited"]
