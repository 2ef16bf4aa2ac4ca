"""A real server process on a real disk is killed; the simulator kills a server at every other moment."""

import asyncio
import contextlib
from itertools import cycle
from pathlib import Path

from websockets.exceptions import ConnectionClosed

from tests.faults.harness import Harness
from tests.peer import Peer, open_peer, two_playing

ROOMS = 4
MOVES = 50


async def play_until_killed(ana: Peer, bo: Peer, room: str, acknowledged: list[int], has_played: asyncio.Event) -> None:
    """Play cell after cell, and record the acknowledged moves until the connection ends."""
    with contextlib.suppress(ConnectionClosed):
        for ply, player in enumerate(cycle((ana, bo))):
            assert (await player.ask("move", room=room, cell=ply, ply=ply))["type"] == "ok"
            acknowledged.append(ply)
            if ply == MOVES:
                has_played.set()


async def test_acknowledged_moves_survive_a_kill_and_an_unanswered_move_can_be_sent_again(tmp_path: Path) -> None:
    async with Harness(tmp_path) as server, contextlib.AsyncExitStack() as stack:
        tables = [await stack.enter_async_context(two_playing(server, rules="gomoku")) for _ in range(ROOMS)]
        moves: list[list[int]] = [[] for _ in tables]
        has_played = asyncio.Event()
        jobs = [
            asyncio.create_task(play_until_killed(*table, some, has_played))
            for table, some in zip(tables, moves, strict=True)
        ]
        await has_played.wait()
        await server.end()
        await asyncio.gather(*jobs)
        await server.start()
        for (ana, bo, room), acknowledged in zip(tables, moves, strict=True):
            ply = len(acknowledged)
            async with open_peer(server.url, token=(ana, bo)[ply % 2].welcome["token"]) as player:
                await player.ask("join", room=room)
                assert (await player.state())["moves"] in (acknowledged, [*acknowledged, ply])
                assert (await player.ask("move", room=room, cell=ply, ply=ply))["type"] == "ok"
                await player.ask("sync", room=room)
                assert (await player.state(ply=ply + 1))["moves"] == [*acknowledged, ply]
