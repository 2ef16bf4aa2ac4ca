"""The memory and processor time of an idle connection, compared with the bare library's.

Usage: python -m tools.bench.idle [--connections 1000,5000] [--seconds 20]
"""

import argparse
import asyncio

from tools.bench.asker import Asker, open_asker
from tools.bench.load import Spin, gather_some, open_wire, run
from tools.bench.processes import IN_MEMORY, RELAY, SERVER, Measured, allow_many_connections, started

WARM_UP_CONNECTIONS = 50


async def open_idle(server: Measured, number: int, *, is_bare: bool) -> Asker:
    """Return a greeted connection, or one in a room of its own at the relay."""
    return await open_wire(f"{server.url}/{number}", Asker) if is_bare else await open_asker(server.url)


async def measure(server: Measured, connections: int, seconds: float, *, is_bare: bool) -> tuple[float, float]:
    """Return KiB and µs of processor time a second for each idle connection."""

    async def open_some(begin: int, end: int) -> list[Asker]:
        return await gather_some(open_idle(server, number, is_bare=is_bare) for number in range(begin, end))

    few = await open_some(0, WARM_UP_CONNECTIONS)
    before = server.resident_kib()
    many = await open_some(WARM_UP_CONNECTIONS, WARM_UP_CONNECTIONS + connections)
    spin = Spin()
    await asyncio.sleep(1)
    held = (server.resident_kib() - before) / connections
    cpu = server.cpu_seconds()
    await asyncio.sleep(seconds)
    used = (server.cpu_seconds() - cpu) / seconds / (connections + len(few))
    spin.stop()
    assert not any(connection.is_lost for connection in few + many), "connections were lost"
    for connection in few + many:
        connection.close()
    return held, used * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=lambda text: [int(one) for one in text.split(",")], default=[1000, 5000])
    parser.add_argument("--seconds", type=float, default=20.0, help="the library pings every 20, our server every 5")
    options = parser.parse_args()
    allow_many_connections()
    for connections in options.connections:
        for name, command in (("library", RELAY), ("server", (*SERVER, *IN_MEMORY))):
            with started(command) as server:
                held, used = run(measure(server, connections, options.seconds, is_bare=name == "library"))
            print(f"{connections:>6,} {name:<8} {held:6.1f} KiB and {used:6.1f} µs CPU a second for each", flush=True)


if __name__ == "__main__":
    main()
