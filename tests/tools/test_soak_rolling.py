"""A rolling restart where the nodes are slow to let a server in, as `python -m tools.soak rolling --slow` has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.soak.rolling import run

SLOW_MS = 1_200

pytestmark = [pytest.mark.timeout(120), pytest.mark.long]


async def test_slow_nodes_pause_no_room_for_five_seconds_and_let_nobody_wait_three_for_an_answer(
    tmp_path: Path,
) -> None:
    rolled = await run(tmp_path, rounds=1, moves=60, rooms=2, servers=3, nodes=1, slow=SLOW_MS)
    assert not rolled.has_failed, str(rolled)
