"""Long runs against real server processes. Each prints its figures and exits with 1 if a promise was broken.

Progress is written to stderr. Every run is bounded in work and in time, and stops every process it started.
Usage: python -m tools.soak cluster --faults 45   (--help lists the others)
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
from tools.soak import cluster, event, ladder


class Finding(Protocol):
    """The result of a run; its text holds the figures."""

    @property
    def has_failed(self) -> bool:
        """Whether a promise was broken."""
        ...


Run = Callable[..., Awaitable[Finding]]

RUNS: dict[str, tuple[Run, dict[str, int]]] = {
    "cluster": (
        cluster.run,
        {
            "moves": 20_000,
            "faults": 45,
            "players": 40,
            "servers": 2,
            "cables": 1,
            "tls": 1,
            "disk": 1,
            "rolling": 0,
        },
    ),
    "event": (event.run, {"entrants": 16, "bots": 6, "kills": 50, "servers": 1, "swiss": 0}),
    "ladder": (ladder.run, {"games": 2_000, "kills": 50, "streams": 1, "people": 40, "tables": 10}),
}
"""Each run with its options and their defaults."""


async def run_bounded(run: Run, folder: Path, minutes: float, **choices: Any) -> Finding:
    async with asyncio.timeout(minutes * 60):
        return await run(folder, **choices)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=15.0, help="give up after this time (default 15)")
    parser.add_argument("--folder", type=Path, help="directory to work in (default: the system's temporary directory)")
    commands = parser.add_subparsers(dest="run", required=True)
    for name, (run, defaults) in RUNS.items():
        description = (sys.modules[run.__module__].__doc__ or "").strip()
        command = commands.add_parser(name, help=description.splitlines()[0], description=description)
        for option, default in defaults.items():
            command.add_argument(f"--{option}", type=int, default=default, help=f"default {default}")
        command.add_argument("--seed", type=int, default=0, help="seed of the random choices")
    options = parser.parse_args()
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # nats-py's TLS connections cause warnings
    run, defaults = RUNS[options.run]
    choices = {name: getattr(options, name) for name in (*defaults, "seed")}
    started_at = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="tictactoe-soak-", dir=options.folder) as folder:
        try:
            finding = asyncio.run(run_bounded(run, Path(folder), options.minutes, **choices))
        except TimeoutError as error:
            print(f"{options.run}: gave up: {str(error) or f'not finished in {options.minutes} minutes'}")
            sys.exit(1)
        except CannotMount as error:
            sys.exit(f"{options.run}: {error} Use --disk 0 to skip the full disk.")
    print(f"{options.run}: {finding} ({time.perf_counter() - started_at:.0f} s)")
    sys.exit(finding.has_failed)


if __name__ == "__main__":
    main()
