"""One player with very many rooms: the longest that others wait when that player drops, leaves, or the rooms expire."""

from __future__ import annotations

import asyncio
import tempfile
import time

from tools.bench.asker import Asker, open_asker, open_rooms
from tools.bench.growth.curve import Curve
from tools.bench.growth.probe import Probe, Wait
from tools.bench.load import Spin
from tools.bench.processes import SERVER, started

SIZES = (1000, 5000, 19_000)
BOUND_SECONDS = 40.0


async def measure(spin: Spin) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, data in (("in memory", ":memory:"), ("on disk", folder)):
            await _crowds(spin, name, data)


async def _crowds(spin: Spin, name: str, data: str) -> None:
    curve = Curve(
        f"a player with many waiting rooms, {name}: the longest wait of another table's move, ms",
        "rooms",
        ("on dropping", "- its work", "on expiring", "- its work ", "on leaving", "- its work  ", "s to leave"),
        ("on dropping", "on expiring", "on leaving"),
    )
    for count in SIZES:
        keep_seconds = 2.0 + count / 4000
        with started((*SERVER, "--data", data, "--keep-room", str(keep_seconds))) as server:
            host = await open_asker(server.url)
            await open_rooms(host, count)
            probe = await Probe.open(server, spin)
            await asyncio.sleep(0.5)
            dropping, expiring = await _drop(host, probe, keep_seconds)
            host = await open_asker(server.url)
            codes = await open_rooms(host, count)
            await asyncio.sleep(0.5)
            leaving, seconds = await _leave(host, codes, probe)
            curve.add(count, *dropping, *expiring, *leaving, seconds, remark=probe.remark())
            await probe.close()
    curve.end()


async def _drop(host: Asker, probe: Probe, keep_seconds: float) -> tuple[Wait, Wait]:
    """Return the longest waits after the drop, and when the time of the rooms is over."""
    probe.begin()
    host.close()
    await asyncio.sleep(keep_seconds - 0.2)
    dropping = probe.longest()
    probe.begin()
    await asyncio.sleep(keep_seconds + 2)
    return dropping, probe.longest()


async def _leave(host: Asker, codes: list[str], probe: Probe) -> tuple[Wait, float]:
    """Return the longest wait while all rooms are left one upon the other, and how long that takes."""
    probe.begin()
    begun = time.perf_counter()
    for code in codes:
        last = host.ask_soon("leave", room=code)
        await asyncio.sleep(0)
    await asyncio.wait([last], timeout=BOUND_SECONDS)
    return probe.longest(), time.perf_counter() - begun
