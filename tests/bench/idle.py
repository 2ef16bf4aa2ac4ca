"""What a connection costs that says nothing: memory and processor time, beside the bare library's.

Usage: python -m tests.bench.idle [--connections 1000] [--seconds 10]
"""

from __future__ import annotations

import argparse
import asyncio
import resource

import uvloop
from websockets.asyncio.client import ClientConnection, connect

from tests.bench.processes import IN_MEMORY, RELAY, SERVER, Measured, started


async def open_idle(server: Measured, number: int, *, bare: bool) -> ClientConnection:
    url = f"{server.url}/{number}" if bare else server.url
    connection = await connect(url, compression=None, ping_interval=None, proxy=None)
    if not bare:
        await connection.send('{"type":"hello"}')
        await connection.recv()
    return connection


async def measure(server: Measured, connections: int, seconds: float, *, bare: bool) -> tuple[float, float]:
    """Return KiB held and µs of processor time a second for each idle connection."""
    few = [await open_idle(server, number, bare=bare) for number in range(50)]
    before = server.resident_kib()
    many = [await open_idle(server, number, bare=bare) for number in range(50, 50 + connections)]
    await asyncio.sleep(1)
    held = (server.resident_kib() - before) / connections
    cpu = server.cpu_seconds()
    await asyncio.sleep(seconds)
    used = (server.cpu_seconds() - cpu) / seconds / (connections + len(few))
    await asyncio.gather(*(connection.close() for connection in few + many))
    return held, used * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for name, command in (("library", RELAY), ("server", (*SERVER, *IN_MEMORY))):
        with started(command) as server:
            held, used = uvloop.run(measure(server, options.connections, options.seconds, bare=name == "library"))
        print(f"{name:<10} {held:6.1f} KiB and {used:6.1f} µs CPU a second for an idle connection", flush=True)


if __name__ == "__main__":
    main()
