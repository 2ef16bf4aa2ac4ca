"""A house under play whose servers, nodes and cables fail: nothing acknowledged is lost, and no room goes back.

The same as `python -m tests.soak cluster`, which does it for longer. All tests share one house.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.house.servers import House
from tests.soak import clocks
from tests.soak.cluster import CABLES, PROCESSES, Found, play

ROOMS = 4
MOVES = 120

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """Three nodes and two servers, with a cable between every two that speak."""
    async with House(tmp_path_factory.mktemp("house"), is_proxied=True) as house:
        yield house


async def play_through(house: House, *kinds: str) -> Found:
    """Let some rooms play with these faults on the way."""
    faults = PROCESSES | CABLES
    return await play(house, [(kind, faults[kind]) for kind in kinds], moves=MOVES, rooms=ROOMS)


async def test_nothing_is_lost_where_a_server_is_killed_or_restarted(house: House) -> None:
    found = await play_through(house, "a server killed", "a server restarted")
    assert found.violations == []


async def test_nobody_is_shown_an_older_state_by_a_server_that_was_frozen(house: House) -> None:
    found = await play_through(house, "a server frozen")
    assert found.violations == []


async def test_nothing_is_lost_where_the_leader_of_the_store_is_killed(house: House) -> None:
    found = await play_through(house, "the leader killed")
    assert found.violations == []


async def test_nothing_is_lost_where_all_nodes_are_killed_at_once(house: House) -> None:
    found = await play_through(house, "all nodes killed")
    assert found.violations == []


async def test_a_server_without_the_store_gives_way_and_comes_back(house: House) -> None:
    found = await play_through(house, "a server cut off", "a server deaf")
    assert found.violations == []


@pytest.mark.parametrize("fault", clocks.FAULTS)
async def test_a_fault_in_the_middle_of_a_turn_is_charged_to_nobody_and_clocks_run_out_once(
    house: House, fault: str
) -> None:
    found = clocks.Clocks()
    await house.nodes.when_whole()
    await clocks.try_once(house, fault, ROOMS, found)
    assert found.violations == []
