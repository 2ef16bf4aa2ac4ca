"""Does to a server on the loopback what strangers do, with its limits as they are, and says how its neighbours fared.

Ten pairs play at twenty moves a second each, before, during and after. Every attack ends by itself.
Usage: python -m tests.attacks [NAME ...] [--seconds 10]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from asyncio.subprocess import PIPE

from tests.attacks import overload
from tests.attacks.strangers import ATTACKS
from tests.bench.load import run
from tests.bench.processes import IN_MEMORY, Measured, allow_many_connections, started
from tests.bench.tables import Hall, seat_at_server
from tests.environment import environment
from tests.limits import UNCOUNTED

SERVER = (sys.executable, "-m", "tictactoe_server", "--host", "127.0.0.1", "--port", "0", "--log-level", "error")
OPTIONS = {"crowd": ("sh", "-c", 'ulimit -n 256; exec "$@"', "sh")}
"""What a server is started by, where an attack is about more than the server itself."""

LIMITS = {"overload": (*UNCOUNTED, "--limit", "turn-milliseconds=80")}
"""What else a server is told: all players of the overload come from one address."""

NAMES = (*ATTACKS, "overload")
NEIGHBOURS = 10
PACE_SECONDS = 0.05
QUIET_SECONDS = 3.0


async def suffer(name: str, server: Measured, seconds: float) -> str:
    """Return what the attack did and what the neighbours felt, as a line."""
    hall = await Hall.open(server, seat_at_server, NEIGHBOURS, pace_seconds=PACE_SECONDS)
    before, kib = await hall.play(QUIET_SECONDS), server.resident_kib()
    command = (sys.executable, "-m", "tests.attacks", "--child", name, server.url, str(seconds))
    stranger = await asyncio.create_subprocess_exec(*command, stdout=PIPE, env=environment())
    during, most = await hall.play(seconds), server.resident_kib()
    out, _ = await stranger.communicate()
    after = await hall.play(QUIET_SECONDS)
    felt = " -> ".join(f"{one.percentile_ms(99):.1f}" for one in (before, during, after))
    worst = max(during.latencies) * 1e3
    await hall.close()
    return (
        f"{name:<8} neighbours' p99 {felt} ms, worst {worst:.0f} ms; memory {(most - kib) / 1024:+.1f} MB; "
        f"{out.decode().strip()}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, url, seconds = options.child
        print(json.dumps(asyncio.run(ATTACKS[name](url, float(seconds)))))
        return
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"there is no attack {', '.join(sorted(unknown))}: there are {', '.join(NAMES)}")
    allow_many_connections()
    for name in options.names or NAMES:
        command = (
            *OPTIONS.get(name, ()),
            *SERVER,
            *((*UNCOUNTED, "--limit", "turn-milliseconds=80") if name == "overload" else ()),
            *IN_MEMORY,
        )
        with started(command, is_pinned=name == "overload") as server:
            attack = (
                overload.suffer(server, options.seconds)
                if name == "overload"
                else suffer(name, server, options.seconds)
            )
            print(run(attack), flush=True)


if __name__ == "__main__":
    main()
