"""Runs seeds: `python -m tests.simulation --seeds 1-100`."""

# ruff: noqa: E402  # the clocks are replaced before the server is imported
from tests.simulation.world import install

install()

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, fields
from functools import partial
from itertools import count
from multiprocessing import get_context

from tests.simulation.run import Plan, Result, play
from tests.simulation.trouble import KINDS

PARSER = argparse.ArgumentParser(prog="python -m tests.simulation", description="Run the server in virtual time.")
PARSER.add_argument("--seeds", default="1-10", metavar="A-B", help="which seeds to run (default: 1-10)")
PARSER.add_argument("--repeat", action="store_true", help="run each seed twice, and compare the digests")
PARSER.add_argument("--fault", metavar="NAME", help="plant a fault of planted.py in the server first")
PARSER.add_argument("--minutes", type=float, help="go on with further seeds for so long")
PARSER.add_argument("--stop", action="store_true", help="stop at the first seed that breaks a promise")
PARSER.add_argument("--trouble", nargs="*", default=(), choices=KINDS, metavar="KIND")
PARSER.add_argument("--seconds", type=float, default=Plan.seconds, help="how long trouble lasts, in virtual time")
PARSER.add_argument("--servers", type=int, default=0, help="how many servers (default: 1, or by chance 2 or 3)")
PARSER.add_argument("--tables", type=int, default=Plan.tables, help="how many groups of people use the server")
PARSER.add_argument("--games", type=int, default=Plan.games, help="how many games each group plays")
PARSER.add_argument("--json", action="store_true", help="print each result as a line of JSON")


def main() -> int:
    """Run the seeds that the command line names, one per core at a time; return 1 if a promise was broken."""
    options = PARSER.parse_args()
    if options.fault:
        from tests.simulation import planted

        planted.plant(options.fault)
    first, _, last = options.seeds.partition("-")
    seeds: Iterable[int] = count(int(first)) if options.minutes else range(int(first), int(last or first) + 1)
    started = time.perf_counter()
    totals: Counter[str] = Counter()
    with get_context("fork").Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        for result in pool.imap(partial(run, options), seeds):
            report(result, options)
            totals.update({**result.counts, "seeds": 1, "broken": bool(result.violations)})
            seconds = time.perf_counter() - started
            if (totals["broken"] and options.stop) or (options.minutes and seconds > 60 * options.minutes):
                break
    if not options.json:
        print(", ".join(f"{name} {number:,}" for name, number in sorted(totals.items())))
        print(f"{totals['seeds']} seeds in {seconds:.0f} s, {60 * totals['seeds'] / seconds:.0f} a minute")
    return 1 if totals["broken"] else 0


def run(options: argparse.Namespace, seed: int) -> Result:
    """Return the result of a seed; called in a process of its own."""
    result = play(seed, Plan(**{one.name: getattr(options, one.name) for one in fields(Plan)}))
    if options.repeat:  # in a new Python process with another hash seed
        command = [sys.executable, "-m", "tests.simulation", "--json", *repeating_options(seed, options)]
        environment = {**os.environ, "PYTHONHASHSEED": str(seed * 7 + 1)}
        output = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout
        if (digest := json.loads(output)["digest"]) != result.digest:
            result.violations.append(f"Two runs of this seed differ: their digests are {result.digest} and {digest}.")
    return result


def repeating_options(seed: int, options: argparse.Namespace) -> list[str]:
    chosen = ["--seeds", str(seed)]
    for name in ("seconds", "servers", "tables", "games", "fault"):
        if (value := getattr(options, name)) != PARSER.get_default(name):
            chosen += [f"--{name}", str(value)]
    return [*chosen, "--trouble", *options.trouble] if options.trouble else chosen


def report(result: Result, options: argparse.Namespace) -> None:
    """Print a line about a seed, and the story of the first promise that it broke."""
    if options.json:
        print(json.dumps(asdict(result)), flush=True)
        return
    virtual, cpu = result.counts["virtual seconds"], result.counts["cpu ms"] / 1000
    figures = f"{virtual} virtual s in {cpu:.1f} s, digest {result.digest}"
    print(f"seed {result.seed}: {figures}, trouble: {', '.join(result.trouble)}", flush=True)
    if result.violations:
        print(f"\nBroken promise: {result.violations[0]}\n\nWhat happened before:")
        print("\n".join(result.story))
        repeated = shlex.join(repeating_options(result.seed, options))
        print(f"\nRepeat it with: python -m tests.simulation {repeated}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
