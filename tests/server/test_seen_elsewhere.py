"""A player has seen a newer state of a room than this server: the server reloads the room before it sends it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.fakes import FakeClock, TroubledStore
from tests.peer import Peer, open_peer
from tictactoe_protocol.requests import Move
from tictactoe_server.play.joining import RELOAD_MS
from tictactoe_server.rooms.play import apply
from tictactoe_server.rooms.room import Player, Room
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


@pytest.fixture
async def server(store: TroubledStore, clock: FakeClock) -> AsyncIterator[Server]:
    async with Server(Settings(host="127.0.0.1", port=0), store, monotonic_ns=clock) as running:
        yield running


@pytest.fixture
async def room(ana: Peer, bo: Peer) -> str:
    code: str = (await ana.ask("create"))["room"]
    await bo.ask("join", room=code)
    await ana.state(status="playing")
    await bo.state(status="playing")
    return code


def play_elsewhere(store: TroubledStore, room: str, ana: Peer) -> Room:
    """Store a move as another server would, bypassing this one, and return the room."""
    player = Player(ana.welcome["player"], ana.welcome["name"])
    after = apply(store.rooms.now(room), player, Move(room=room, cell=4, ply=0), 0)
    store.rooms.put(after)
    return after


@pytest.mark.parametrize("verb", ["join", "watch"])
async def test_the_stored_state_is_shown_if_it_is_older(server: Server, bo: Peer, room: str, verb: str) -> None:
    async with open_peer(server.url, token=bo.welcome["token"] if verb == "join" else None) as again:
        await again.ask(verb, room=room, seq=2**31 - 1)
        assert (await again.state())["moves"] == []


async def test_watching_twice_shows_the_state_once(
    store: TroubledStore, server: Server, ana: Peer, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tictactoe_server.core.change.COUNT_SECONDS", 60.0)
    async with open_peer(server.url) as watcher:
        await watcher.ask("watch", room=room)
        await watcher.state(ply=0)
        after = play_elsewhere(store, room, ana)
        await watcher.ask("watch", room=room, seq=after.seq)
        assert (await watcher.receive())["moves"] == [4]
        await watcher.send("ping", id="last")
        assert (await watcher.receive())["id"] == "last"


async def test_a_seated_player_cannot_watch_the_room(ana: Peer, room: str) -> None:
    assert await ana.refusal("watch", room=room, seq=99) == "not_allowed"


async def test_a_room_that_was_closed_elsewhere_is_closed_for_everybody(
    store: TroubledStore, server: Server, ana: Peer, bo: Peer, room: str
) -> None:
    store.rooms.put(None, room)
    async with open_peer(server.url) as watcher:
        assert await watcher.refusal("watch", room=room, seq=99) == "no_such_room"
    for peer in (ana, bo):
        assert (await peer.next_of("closed"))["room"] == room


async def test_claims_of_seen_states_reload_a_room_at_most_once_a_second(
    server: Server, clock: FakeClock, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, loads = server.core.rooms.table, list[str]()
    load = table.load

    async def counted(key: str) -> Any:
        loads.append(key)
        return await load(key)

    monkeypatch.setattr(table, "load", counted)
    async with open_peer(server.url) as liar:
        for times in (1, 2):
            answers = [await liar.ask("watch", room=room, seq=1_000) for _ in range(12)]
            assert {answer["type"] for answer in answers} == {"ok"}
            assert loads == [room] * times
            clock.advance(RELOAD_MS)
