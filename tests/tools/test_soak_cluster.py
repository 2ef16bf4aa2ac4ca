"""Play at a real cluster whose servers, nodes and links fail; `python -m tools.soak cluster` runs longer."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from tests.cluster.servers import Cluster
from tests.cluster.visitor import Visitor
from tests.peer import open_peer
from tools.soak.cluster import CABLES, COPY_SECONDS, PROCESSES, play, play_while_rolling

SLOW_SECONDS = 1.2
PAUSE_SECONDS = 5.0
LONGEST_ANSWER_SECONDS = 3.0

pytestmark = [pytest.mark.timeout(180), pytest.mark.long]


async def test_no_acknowledged_move_is_lost_when_servers_are_killed_and_cut_off(tmp_path: Path) -> None:
    faults = PROCESSES | CABLES
    async with Cluster(tmp_path, is_proxied=True) as cluster:
        kinds = ("a server killed", "a server cut off")
        found = await play(cluster, [(kind, faults[kind]) for kind in kinds], moves=60, rooms=4)
    assert found.violations == []


async def test_a_clock_runs_out_once_when_its_server_is_frozen_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    async with Cluster(tmp_path) as cluster, contextlib.AsyncExitStack() as stack:
        url = cluster.servers[0].url
        ana, bo = [await stack.enter_async_context(Visitor(url, name)) for name in ("ana", "bo")]
        room = (await ana.ask("create", clock={"move_ms": 5_000}))["room"]
        await bo.ask("join", room=room)
        for ply, (player, cell) in enumerate(((ana, 4), (bo, 0), (ana, 8))):  # a clock starts with its second move
            await player.ask("move", room=room, cell=cell, ply=ply)
        cluster.servers[0].freeze()
        over, _ = await asyncio.gather(ana.state(status="over"), bo.state(status="over"))
        cluster.servers[0].thaw()
        assert over["result"]["reason"] == "timeout"
        for server in cluster.servers:
            async with open_peer(server.url, token=ana.token) as peer, asyncio.timeout(COPY_SECONDS):
                while not (games := (await peer.ask("history"))["games"]):  # noqa: ASYNC110 -- is copied soon
                    await asyncio.sleep(0.1)
                assert [(game["room"], game["moves"], game["result"]["reason"]) for game in games] == [
                    (room, 3, "timeout")
                ]


async def test_a_rolling_restart_pauses_no_room_for_long_though_nodes_are_slow_to_accept_servers(
    tmp_path: Path,
) -> None:
    async with Cluster(tmp_path, servers=3, is_proxied=True) as cluster:
        for cable in (cable for cables in cluster.cables for cable in cables):
            cable.slow_at_first(SLOW_SECONDS)
        found = await play_while_rolling(cluster, 1, moves=60, rooms=2, pause_seconds=PAUSE_SECONDS)
    assert found.violations == []
    assert found.slowest_answer < LONGEST_ANSWER_SECONDS
