"""Watchers who join and leave one room, all at once."""

from __future__ import annotations

import asyncio
import time

from tools.bench.asker import Asker, open_askers, open_rooms, read_all
from tools.bench.growth.curve import Curve
from tools.bench.load import Spin
from tools.bench.processes import IN_MEMORY, SERVER, Measured, started

SIZES = (250, 500, 1000, 2000, 5000)
BOUND_SECONDS = 30.0


async def measure(_spin: Spin) -> None:
    curve = Curve(
        "watchers joining and leaving one room, all at once",
        "watchers",
        ("join CPU s", "leave CPU s", "join s", "leave s", "states sent"),
        ("join CPU s", "leave CPU s"),
    )
    for count in SIZES:
        with started((*SERVER, *IN_MEMORY)) as server:
            host, guest, *watchers = await open_askers(server.url, count + 2)
            (code,) = await open_rooms(host, 1)
            await guest.ask("join", room=code)
            try:
                async with asyncio.timeout(BOUND_SECONDS):
                    join = await _have_all(server, host, watchers, "watch", code, count)
                    leave = await _have_all(server, host, watchers, "leave", code, 0)
            except TimeoutError:
                curve.add(count, *[None] * 5, remark=f"given up after {BOUND_SECONDS:.0f} s; larger ones are left out")
                server.kill()
                break
            states = sum(asker.pushes for asker in (host, guest, *watchers))
            curve.add(count, join[0], leave[0], join[1], leave[1], states)
            for asker in (host, guest, *watchers):
                asker.close()
    curve.end()


async def _have_all(
    server: Measured, host: Asker, watchers: list[Asker], request: str, code: str, result: int
) -> tuple[float, float]:
    """Have all send this; return CPU and wall seconds until the host is shown so many watchers."""
    cpu, begun = server.cpu_seconds(), time.perf_counter()
    await read_all([watcher.ask_soon(request, room=code) for watcher in watchers])
    await host.until(b'"watchers":%d,' % result)
    return server.cpu_seconds() - cpu, time.perf_counter() - begun
