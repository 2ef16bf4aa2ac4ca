from pathlib import Path

import pytest

from tests.cluster.servers import Cluster
from tools.soak.cluster import CABLES, PROCESSES, play, play_while_rolling

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


async def test_a_rolling_restart_pauses_no_room_for_long_even_with_slow_nodes(tmp_path: Path) -> None:
    async with Cluster(tmp_path, servers=3, is_proxied=True) as cluster:
        for cable in (cable for cables in cluster.cables for cable in cables):
            cable.slow_at_first(SLOW_SECONDS)
        found = await play_while_rolling(cluster, 1, moves=60, rooms=2, pause_seconds=PAUSE_SECONDS)
    assert found.violations == []
    assert found.slowest_answer < LONGEST_ANSWER_SECONDS
