"""Long runs against the real server on the loopback, each of which prints its figure and exits 1 on a violation.

Progress goes to stderr. Every run is bounded in count and in time, and ends what it started.
Usage: python -m tools.soak kills --kills 50 --commands 100000   (see --help for the others)
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from tests.cluster.disks import CannotMount
from tools.soak import (
    churn,
    clocks,
    cluster,
    crowd,
    cuts,
    event,
    kills,
    ladder,
    lobby,
    matches,
    restart,
    retries,
    rolling,
    seats,
)


class Finding(Protocol):
    """What a run found; its text is the figure."""

    @property
    def has_failed(self) -> bool:
        """Whether anything happened that must not."""
        ...


Run = Callable[..., Awaitable[Finding]]

RUNS: dict[str, tuple[Run, dict[str, int]]] = {
    "kills": (kills.run, {"kills": 50, "commands": 100_000, "rooms": 60, "watchers": 1}),
    "retries": (retries.run, {"retries": 10_000, "rooms": 8}),
    "cuts": (cuts.run, {"cuts": 5_000, "rooms": 6, "watchers": 1}),
    "restart": (restart.run, {"rooms": 10_000, "pairs": 40}),
    "seats": (seats.run, {"races": 1_000, "servers": 1}),
    "churn": (churn.run, {"connections": 100_000}),
    "cluster": (
        cluster.run,
        {"moves": 20_000, "faults": 45, "players": 40, "watchers": 1, "servers": 2, "cables": 1, "tls": 1, "disk": 1},
    ),
    "lobby": (lobby.run, {"rooms": 500, "servers": 3, "cuts": 10}),
    "clocks": (clocks.run, {"runs": 5, "rooms": 12}),
    "matches": (matches.run, {"players": 2_000, "kinds": 5, "rate": 250}),
    "rolling": (rolling.run, {"rounds": 3, "moves": 10_000, "rooms": 20, "servers": 2, "busy": 0, "slow": 0}),
    "event": (event.run, {"entrants": 16, "bots": 6, "kills": 50, "servers": 1, "swiss": 0}),
    "ladder": (ladder.run, {"games": 2_000, "kills": 50, "streams": 1, "people": 40, "tables": 10}),
    "crowd": (crowd.run, {"idle": 5_000, "playing": 1_000, "seconds": 20}),
}
"""Each run with what can be chosen for it, and the defaults."""


async def bounded(run: Run, folder: Path, minutes: float, **choices: Any) -> Finding:
    async with asyncio.timeout(minutes * 60):
        return await run(folder, **choices)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=15.0, help="when to give up (default 15)")
    parser.add_argument("--folder", type=Path, help="a disk to run on, instead of the temporary one")
    commands = parser.add_subparsers(dest="run", required=True)
    for name, (run, defaults) in RUNS.items():
        words = (sys.modules[run.__module__].__doc__ or "").strip()
        command = commands.add_parser(name, help=words.splitlines()[0], description=words)
        for option, default in defaults.items():
            command.add_argument(f"--{option}", type=int, default=default, help=f"default {default}")
        command.add_argument("--seed", type=int, default=0, help="of what is left to chance")
    options = parser.parse_args()
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of what nats-py's connections over TLS answer
    run, defaults = RUNS[options.run]
    choices = {name: getattr(options, name) for name in (*defaults, "seed")}
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="tictactoe-soak-", dir=options.folder) as folder:
        try:
            finding = asyncio.run(bounded(run, Path(folder), options.minutes, **choices))
        except TimeoutError as error:
            print(f"{options.run}: given up: {str(error) or f'not done in {options.minutes} minutes'}")
            sys.exit(1)
        except CannotMount as error:
            sys.exit(f"{options.run}: {error} With --disk 0 it is left out.")
    print(f"{options.run}: {finding} ({time.perf_counter() - begun:.0f} s)")
    sys.exit(finding.has_failed)


if __name__ == "__main__":
    main()
