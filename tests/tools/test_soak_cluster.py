"""A cluster under play whose servers, nodes and cables fail: nothing acknowledged is lost, and no room goes back.

`python -m tools.soak cluster` and `clocks` do it for longer, with every fault there is, those of nodes among them. All
tests share one cluster.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.cluster.servers import Cluster
from tools.soak import clocks
from tools.soak.cluster import CABLES, PROCESSES, Found, play

ROOMS = 4
MOVES = 60

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180), pytest.mark.long]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    """Three nodes and two servers, with a cable between every two that speak."""
    async with Cluster(tmp_path_factory.mktemp("cluster"), is_proxied=True) as cluster:
        yield cluster


async def play_through(cluster: Cluster, *kinds: str) -> Found:
    """Let some rooms play with these faults on the way."""
    faults = PROCESSES | CABLES
    return await play(cluster, [(kind, faults[kind]) for kind in kinds], moves=MOVES, rooms=ROOMS)


async def test_nothing_is_lost_or_goes_back_where_servers_are_killed_and_cut_off(cluster: Cluster) -> None:
    found = await play_through(cluster, "a server killed", "a server cut off")
    assert found.violations == []


async def test_a_server_frozen_in_the_middle_of_a_turn_costs_the_time_to_find_another_and_clocks_run_out_once(
    cluster: Cluster,
) -> None:
    found = clocks.Clocks()
    await cluster.nodes.when_whole()
    await clocks.try_once(cluster, "a server frozen", ROOMS, found)
    assert found.violations == []
