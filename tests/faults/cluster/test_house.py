"""A house under play whose servers, nodes and cables fail: nothing acknowledged is lost, and no room goes back.

`python -m tests.soak cluster` and `clocks` do it for longer, with every fault there is, those of nodes among them. All
tests share one house.
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


async def test_nothing_is_lost_or_goes_back_where_servers_are_killed_frozen_and_cut_off(house: House) -> None:
    found = await play_through(house, "a server killed", "a server frozen", "a server cut off")
    assert found.violations == []


async def test_a_server_frozen_in_the_middle_of_a_turn_is_charged_to_nobody_and_clocks_run_out_once(
    house: House,
) -> None:
    found = clocks.Clocks()
    await house.nodes.when_whole()
    await clocks.try_once(house, "a server frozen", ROOMS, found)
    assert found.violations == []
