"""Servers with ladders, players with claimed names, and short rated games."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from tests.limits import uncounted
from tests.peer import Listening, Message, Peer, open_peer, until
from tictactoe_client import Client, connect
from tictactoe_protocol.names import ClaimName
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.features.ratings.service import Ladders
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

HERE = Settings(host="127.0.0.1", port=0, features=(BotOptions(pause_seconds=0),))
CLOCK = {"initial_ms": 600_000, "increment_ms": 0}
RULES = "connect-four"
RATED: dict[str, Any] = {"rules": RULES, "clock": CLOCK, "rated": True}


def a_server(settings: Settings = HERE, **changes: Any) -> Server:
    return Server(replace(settings, **changes), limits=uncounted())


@pytest.fixture
async def rating() -> AsyncIterator[Server]:
    async with a_server() as server:
        yield server


@contextlib.asynccontextmanager
async def claimed(server: Server, name: str) -> AsyncIterator[Client]:
    """Yield a client whose player has claimed this name."""
    async with connect(server.url, name=name) as client:
        await client.ask(ClaimName(name=name))
        yield client


@contextlib.asynccontextmanager
async def people(*urls: Listening, names: tuple[str, ...] = ("ana", "bo"), **fields: Any) -> AsyncIterator[list[Peer]]:
    """Yield players with claimed names, at these servers in turn; `fields` are sent with hello."""
    async with contextlib.AsyncExitStack() as leaving:
        found = []
        for index, name in enumerate(names):
            peer = await leaving.enter_async_context(open_peer(urls[index % len(urls)].url, name, **fields))
            assert (await peer.ask("claim_name", name=name))["type"] == "ok"
            found.append(peer)
        yield found


async def begin(first: Peer, second: Peer, **terms: Any) -> str:
    """Open a rated room where the first player moves first, and return its code."""
    opened = await first.ask("create", **RATED | terms)
    room: str = opened["room"]
    assert (await second.ask("join", room=room))["type"] == "ok"
    return room


async def play_each(server: Server, winner: Peer, loser: Peer, games: int) -> list[Message]:
    """Play rated games, each an entry of its own, and return their last states."""
    overs: list[Message] = []
    before, kept = server.service(Ladders).folding.games, server.service(Ladders).folding
    while len(overs) < games:
        overs.append(await play_rated(winner, loser))
        await until(lambda: kept.games == before + len(overs))
    return overs


async def play_rated(winner: Peer, loser: Peer, **terms: Any) -> Message:
    """Play a rated game that the loser resigns after a move of each, and return its last state."""
    room = await begin(winner, loser, **terms)
    assert (await winner.ask("move", room=room, cell=35, ply=0))["type"] == "ok"
    assert (await loser.ask("move", room=room, cell=36, ply=1))["type"] == "ok"
    assert (await loser.ask("resign", room=room))["type"] == "ok"
    over = await winner.until(lambda told: told["type"] == "room" and told["room"] == room and told["status"] == "over")
    assert over["rated"] is True
    return over
