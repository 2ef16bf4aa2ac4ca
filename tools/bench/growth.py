"""Checks that no cost grows with the square of a number: watchers, lobby, waiting rooms, seats, servers.

Each part measures the server's processor time at several sizes, fits an exponent to the curve, and fails if it exceeds
1.3: 0 is constant, 1 linear, 2 quadratic. All parts take about three minutes.
Usage: python -m tools.bench.growth [PART ...]
"""

import argparse
import asyncio
import itertools
import math
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from tests.cluster.servers import Cluster
from tools.bench.asker import Asker, open_asker, open_askers, open_rooms, read_all
from tools.bench.load import run
from tools.bench.processes import (
    IN_MEMORY,
    SERVER,
    Measured,
    allow_many_connections,
    cpu_seconds_of,
    started,
    wait_for_quiet,
)

HIGHEST_EXPONENT = 1.3
QUIET_SECONDS = 10.0
LOBBY_CHANGES = 200
CHANGE_SECONDS = 0.005
REST_SECONDS = 0.5
WATCHED_SECONDS = 6.0


async def measure_watchers() -> AsyncIterator[tuple[int, float]]:
    """All watchers of a room join and leave at once."""
    for count in (500, 1000, 2000, 4000):
        with started((*SERVER, *IN_MEMORY)) as server:
            host, guest, *watchers = await open_askers(server.url, count + 2)
            (code,) = await open_rooms(host, 1)
            await guest.ask("join", room=code)
            cpu = server.cpu_seconds()
            await read_all([watcher.ask_soon("watch", room=code) for watcher in watchers])
            await read_all([watcher.ask_soon("leave", room=code) for watcher in watchers])
            await host.until(b'"watchers":0,')
            yield count, server.cpu_seconds() - cpu


async def measure_lobby() -> AsyncIterator[tuple[int, float]]:
    """Rooms open and close while many clients listen to the lobby. The cost without listeners is subtracted."""
    base = 0.0
    for count in (0, 100, 300, 1000):
        with started((*SERVER, *IN_MEMORY)) as server:
            host, *listeners = await open_askers(server.url, count + 1)
            await read_all([listener.ask_soon("lobby", on=True) for listener in listeners])
            cpu = server.cpu_seconds()
            for _ in range(LOBBY_CHANGES // 2):
                (code,) = await open_rooms(host, 1)
                await asyncio.sleep(CHANGE_SECONDS)
                await host.ask("leave", room=code)
                await asyncio.sleep(CHANGE_SECONDS)
            await rest(server)
            used = server.cpu_seconds() - cpu
        if count:
            yield count, used - base
        base = base or used


async def measure_waiting_rooms() -> AsyncIterator[tuple[int, float]]:
    """Pairs of players ask for a match at once; the rules differ between pairs, so that many rooms wait."""
    rules = {"rows": 4, "columns": 4, "line": 3}
    kinds = [{**rules, "blocked": list(cells)} for cells in itertools.combinations(range(16), 4)]
    for count in (100, 200, 400, 800):
        with started((*SERVER, *IN_MEMORY)) as server:
            askers = await open_askers(server.url, count * 2)
            cpu = server.cpu_seconds()
            for some in (askers[::2], askers[1::2]):
                await read_all([asker.ask_soon("match", rules=kind) for asker, kind in zip(some, kinds, strict=False)])
            yield count, server.cpu_seconds() - cpu


async def measure_seats() -> AsyncIterator[tuple[int, float]]:
    """One player opens many rooms and drops the connection; then the rooms expire."""
    for count in (1000, 3000, 9000):
        with started((*SERVER, *IN_MEMORY, "--keep-room", "1")) as server:
            host, observer = await open_askers(server.url, 2)
            cpu = server.cpu_seconds()
            await open_rooms(host, count)
            host.close()
            while (await observer.ask("rooms"))["rooms"]:  # noqa: ASYNC110 -- no message announces the last
                await asyncio.sleep(REST_SECONDS)
            yield count, server.cpu_seconds() - cpu


async def measure_servers() -> AsyncIterator[tuple[int, float]]:
    """One server of a cluster idles while others open and close rooms. The cost of idling alone is subtracted."""
    base = 0.0
    for count in (0, 2, 4, 8):
        with tempfile.TemporaryDirectory() as folder:
            async with Cluster(Path(folder), servers=count + 1, nodes=1) as cluster:
                idle, *others = cluster.servers
                hosts = [await open_asker(server.url) for server in others]
                busy = [asyncio.create_task(open_and_close(host)) for host in hosts]
                cpu = cpu_seconds_of(idle.pid)
                await asyncio.sleep(WATCHED_SECONDS)
                used = cpu_seconds_of(idle.pid) - cpu
                for task in busy:
                    task.cancel()
                await asyncio.gather(*busy, return_exceptions=True)
        if count:
            yield count, used - base
        base = base or used


async def open_and_close(host: Asker) -> None:
    while True:
        (code,) = await open_rooms(host, 1)
        await host.ask("leave", room=code)
        await asyncio.sleep(0.1)


async def rest(server: Measured) -> None:
    before = -1.0
    while server.cpu_seconds() - before > 0.02:
        before = server.cpu_seconds()
        await asyncio.sleep(REST_SECONDS)


Part = Callable[[], AsyncIterator[tuple[int, float]]]
PARTS: dict[str, Part] = {
    "watchers": measure_watchers,
    "lobby": measure_lobby,
    "waiting": measure_waiting_rooms,
    "seats": measure_seats,
    "servers": measure_servers,
}


def fit_exponent(points: Sequence[tuple[float, float]]) -> float:
    """Return the slope of the least squares line through the logarithms of the points.

    >>> round(fit_exponent([(10, 300), (20, 1200), (40, 4800)]), 6)
    2.0
    """
    logs = [(math.log(size), math.log(max(cost, 1e-3))) for size, cost in points]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    slope: float = sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)
    return slope


async def measure(name: str) -> bool:
    """Print the curve of a part; return True if it grows too fast."""
    description = (PARTS[name].__doc__ or "").splitlines()[0]
    print(f"\n{name}: {description}", flush=True)
    points = []
    async for size, seconds in PARTS[name]():
        points.append((size, seconds))
        print(f"{size:>10,}{seconds * 1e3:>12,.1f} ms{seconds / size * 1e6:>12,.0f} µs each", flush=True)
    exponent = fit_exponent(points)
    print(f"{'':>10} grows as n^{exponent:.2f}", flush=True)
    return exponent > HIGHEST_EXPONENT


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}; default: all")
    options = parser.parse_args()
    if unknown := set(options.part) - PARTS.keys():
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    allow_many_connections()
    too_fast = []
    for name in options.part or PARTS:
        wait_for_quiet(QUIET_SECONDS)
        if run(measure(name)):
            too_fast.append(name)
    sys.exit(f"These grow faster than n^{HIGHEST_EXPONENT}: {', '.join(too_fast)}" if too_fast else 0)


if __name__ == "__main__":
    main()
