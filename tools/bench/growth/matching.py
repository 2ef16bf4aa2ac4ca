"""Quick match: beside rooms that wait with nobody in them, and many pairs at once."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
import time
from typing import Any

from tools.bench.asker import Asker, open_asker, open_askers, open_rooms, read_all
from tools.bench.growth.curve import Curve
from tools.bench.load import Spin
from tools.bench.processes import IN_MEMORY, SERVER, Measured, started

SIZES = (0, 1000, 5000, 19_000)
OPENERS = 20
MATCHES = 200
PAIRS = (20, 100, 500)


async def measure(_spin: Spin) -> None:
    await _beside_waiting_rooms()
    await _at_once()


async def _beside_waiting_rooms() -> None:
    curve = Curve(
        "quick match beside rooms that wait with nobody in them",
        "rooms",
        ("CPU ms a match", "ms a match", "longest ms"),
        ("CPU ms a match",),
    )
    for count in SIZES:
        with started((*SERVER, *IN_MEMORY, "--keep-room", "86400")) as server:
            await _open_and_drop(server, count)
            first, second = await open_askers(server.url, 2)
            cpu, latencies = server.cpu_seconds(), list[float]()
            for _ in range(MATCHES // 2):
                await _pair(first, second, latencies)
            used = (server.cpu_seconds() - cpu) / MATCHES
            curve.add(count, used * 1e3, sum(latencies) / len(latencies) * 1e3, max(latencies) * 1e3)
    curve.end()


async def _open_and_drop(server: Measured, count: int) -> None:
    """Leave so many rooms behind, and wait until the server has come to rest."""
    openers = await open_askers(server.url, OPENERS)
    await asyncio.gather(*(open_rooms(opener, count // OPENERS) for opener in openers))
    for opener in openers:
        opener.close()
    await asyncio.sleep(0.5)
    (await open_asker(server.url)).close()
    before = -1.0
    while server.cpu_seconds() - before > 0.02:
        before = server.cpu_seconds()
        await asyncio.sleep(0.5)


async def _pair(first: Asker, second: Asker, latencies: list[float]) -> None:
    """Match two with each other, and have them leave again."""
    rooms = []
    for asker in (first, second):
        begun = time.perf_counter()
        answer = await asker.ask("match")
        latencies.append(time.perf_counter() - begun)
        rooms.append(answer["room"])
    assert rooms[0] == rooms[1], "the two were not matched with each other"
    for asker in (first, second):
        await asker.ask("leave", room=rooms[0])


def _kinds() -> list[dict[str, Any]]:
    """Return rules that differ from each other."""
    sizes = itertools.product(range(3, 33), range(3, 33))
    return [{"rows": rows, "columns": columns, "line": 3} for rows, columns in sizes]


async def _at_once() -> None:
    for title, kinds in (("of one kind", _kinds()[:1]), ("each of a kind of its own", _kinds())):
        curve = Curve(
            f"pairs asking for a match at once, on disk, {title}",
            "pairs",
            ("s for all", "CPU ms a match"),
            ("s for all",),
        )
        for count in PAIRS:
            with tempfile.TemporaryDirectory() as folder, started((*SERVER, "--data", folder)) as server:
                askers = await open_askers(server.url, count * 2)
                cpu, begun = server.cpu_seconds(), time.perf_counter()
                answers = await read_all(
                    [
                        asker.ask_soon("match", rules=kinds[place // 2 % len(kinds)])
                        for place, asker in enumerate(askers)
                    ]
                )
                seconds, used = time.perf_counter() - begun, server.cpu_seconds() - cpu
                assert len({answer["room"] for answer in answers}) == count, "not everybody was matched"
                curve.add(count, seconds, used / count / 2 * 1e3)
        curve.end()
