"""Which of several refusals is sent: the order of `docs/reference/protocol/sentences.md`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.client import connect

from tests.peer import Peer, open_peer, two_playing
from tests.server.cases import cases
from tictactoe_server.server import Server


@asynccontextmanager
async def three_with_a_watcher(server: Server) -> AsyncIterator[tuple[Peer, Peer, Peer, str]]:
    """Yield X, O, a watcher and the code of their room after a move of each player."""
    async with two_playing(server) as (ana, bo, room), open_peer(server.url, "eve") as eve:
        await ana.ask("move", room=room, cell=4, ply=0)
        await bo.ask("move", room=room, cell=0, ply=1)
        await eve.ask("watch", room=room)
        yield ana, bo, eve, room


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"type":"rooms","more":1', "bad_json"),
        ('{"type":"room","more":1}', "unknown_type"),
        ('{"type":"rooms","more":1}', "bad_message"),
        ('{"type":"rooms"}', "hello_required"),
    ],
)
async def test_the_message_comes_before_hello(server: Server, text: str, code: str) -> None:
    async with connect(server.url, proxy=None) as socket:
        await socket.send(text)
        assert (await Peer(socket).receive())["code"] == code


async def test_a_second_hello_is_refused(ana: Peer) -> None:
    assert await ana.refusal("hello") == "already_hello"


async def test_during_a_game(server: Server) -> None:
    async with three_with_a_watcher(server) as (ana, bo, eve, room), open_peer(server.url) as stranger:
        peers = {"X": ana, "O": bo, "watcher": eve, "stranger": stranger}
        for who, type, fields, code in cases("refusals while a game is on"):
            assert await peers[who].refusal(type, room=room, **fields) == code, (who, type, fields)


async def test_after_a_game(server: Server) -> None:
    async with three_with_a_watcher(server) as (ana, bo, eve, room):
        await ana.ask("resign", room=room)
        for who, type, fields, code in cases("refusals after a game"):
            peer = {"X": ana, "O": bo, "watcher": eve}[who]
            assert await peer.refusal(type, room=room, **fields) == code, (who, type, fields)


async def test_before_a_game(ana: Peer) -> None:
    room = (await ana.ask("create"))["room"]
    for type, fields, code in cases("refusals before a game"):
        assert await ana.refusal(type, room=room, **fields) == code, (type, fields)


@pytest.mark.parametrize("type", ["draw", "undo"])
async def test_the_situation_comes_before_the_ply(ana: Peer, bo: Peer, cy: Peer, type: str) -> None:
    room = (await ana.ask("create", rules="three-players"))["room"]
    for peer in (bo, cy):
        await peer.ask("join", room=room)
    assert await ana.refusal(type, room=room, action="accept", game=1, ply=9) == "not_allowed"
