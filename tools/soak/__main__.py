"""Play at a cluster of real servers and NATS nodes that fail. Prints its figures; exits with 1 if a promise was broken.

Progress is written to stderr. The run is bounded in work and in time, and stops every process it started.
Usage: python -m tools.soak --faults 45
"""

import argparse
import asyncio
import logging
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.cluster.disks import CannotMount
from tools.soak import cluster

DEFAULTS: Final = {
    "moves": 20_000,
    "faults": 45,
    "players": 40,
    "servers": 2,
    "cables": 1,
    "tls": 1,
    "disk": 1,
    "rolling": 0,
    "seed": 0,
}
"""The options of a run."""


async def run_bounded(folder: Path, minutes: float, **choices: int) -> cluster.Found:
    async with asyncio.timeout(minutes * 60):
        return await cluster.run(folder, **choices)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.soak",
        description=f"{__doc__}\n{cluster.__doc__}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=15.0, help="give up after this time (default 15)")
    parser.add_argument("--folder", type=Path, help="directory to work in (default: the system's temporary directory)")
    for option, default in DEFAULTS.items():
        parser.add_argument(f"--{option}", type=int, default=default, help=f"default {default}")
    options = parser.parse_args()
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # nats-py's TLS connections cause warnings
    choices = {name: getattr(options, name) for name in DEFAULTS}
    started_at = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="tictactoe-soak-", dir=options.folder) as folder:
        try:
            finding = asyncio.run(run_bounded(Path(folder), options.minutes, **choices))
        except TimeoutError as error:
            print(f"Gave up: {str(error) or f'not finished in {options.minutes} minutes'}")
            sys.exit(1)
        except CannotMount as error:
            sys.exit(f"{error} Use --disk 0 to skip the full disk.")
    print(f"{finding} ({time.perf_counter() - started_at:.0f} s)")
    sys.exit(finding.has_failed)


if __name__ == "__main__":
    main()
