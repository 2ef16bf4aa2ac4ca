"""Connections that come and go by the thousand: the longest that another waits, as when garbage is collected."""

from __future__ import annotations

import time

from tools.bench.asker import open_asker, open_askers
from tools.bench.growth.curve import Curve
from tools.bench.growth.probe import Probe
from tools.bench.load import Spin, gather_some
from tools.bench.processes import IN_MEMORY, SERVER, started

SIZES = (1000, 3000, 10_000)
RESIDENT = 2000


async def measure(spin: Spin) -> None:
    curve = Curve(
        f"connections that come, open a room and go, beside {RESIDENT} that stay",
        "connections",
        ("longest ms", "- its work", "CPU ms for each", "seconds"),
        ("longest ms",),
    )
    for count in SIZES:
        with started((*SERVER, *IN_MEMORY, "--keep-room", "1")) as server:
            residents = await open_askers(server.url, RESIDENT)
            probe = await Probe.open(server, spin)

            async def come_and_go(url: str = server.url) -> None:
                asker = await open_asker(url)
                await asker.ask("create")
                asker.close()

            probe.begin()
            cpu, begun = server.cpu_seconds(), time.perf_counter()
            await gather_some((come_and_go() for _ in range(count)), 16)
            used, seconds = server.cpu_seconds() - cpu, time.perf_counter() - begun
            curve.add(count, *probe.longest(), used / count * 1e3, seconds, remark=probe.remark())
            await probe.close()
            for resident in residents:
                resident.close()
    curve.end()
