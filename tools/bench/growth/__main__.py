"""What grows with what: each part measures the server at several sizes and fits an exponent to the curve.

An exponent of 0 is flat, 1 is linear, 2 grows with the square. Every part ends by itself, all of them in ten minutes.
Usage: python -m tools.bench.growth [PART ...]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Awaitable, Callable

from tools.bench.growth import bots, churn, coming_back, crowds, lobby, long_games, matching, others, watchers
from tools.bench.load import Spin, run
from tools.bench.processes import allow_many_connections, wait_for_quiet

PATIENCE_SECONDS = 10.0

PARTS: dict[str, Callable[[Spin], Awaitable[None]]] = {
    "watchers": watchers.measure,
    "match": matching.measure,
    "return": coming_back.measure,
    "lobby": lobby.measure,
    "crowds": crowds.measure,
    "games": long_games.measure,
    "tables": bots.measure,
    "churn": churn.measure,
    "others": others.measure,
}
UNPINNED = {"bots": bots.measure_hard_bots}
"""Parts in which the server has helpers, and the load leaves them the cores."""


async def measure(name: str) -> None:
    spin = Spin()
    if name in UNPINNED:
        spin.stop()
    await (PARTS | UNPINNED)[name](spin)
    spin.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [*PARTS, *UNPINNED]
    parser.add_argument("part", nargs="*", help=f"of {', '.join(names)}; default: all")
    options = parser.parse_args()
    if unknown := set(options.part) - set(names):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    allow_many_connections()
    begun = time.perf_counter()
    for name in options.part or names:
        wait_for_quiet(PATIENCE_SECONDS)
        run(measure(name))
    print(f"\n{time.perf_counter() - begun:.0f} s in all")


if __name__ == "__main__":
    main()
