"""Runs seeds: `python -m tests.simulation --seeds 1-100`."""

# ruff: noqa: E402  # the clocks are replaced before the server is imported
from tests.simulation.world import install

install()

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context

from tests.simulation.run import Result, play


def parse_seeds(text: str) -> range:
    """Return the seeds in a text such as ``7`` or ``1-100``; raises ValueError if there are none."""
    first, _, last = text.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    if not seeds:
        raise ValueError(text)
    return seeds


PARSER = argparse.ArgumentParser(prog="python -m tests.simulation", description="Run the server in virtual time.")
PARSER.add_argument(
    "--seeds", type=parse_seeds, default="1-10", metavar="A-B", help="which seeds to run (default: 1-10)"
)
PARSER.add_argument("--repeat", action="store_true", help="run each seed twice, and compare the digests")
PARSER.add_argument("--fault", metavar="NAME", help="plant a fault of planted.py in the server first")
PARSER.add_argument("--stop", action="store_true", help="stop at the first seed that breaks a promise")
PARSER.add_argument("--json", action="store_true", help="print each result as a line of JSON")


def main() -> int:
    """Run the seeds that the command line names, one per core at a time; return 1 if a promise was broken."""
    options = PARSER.parse_args()
    if options.fault:
        from tests.simulation import planted

        planted.plant(options.fault)
    started = time.perf_counter()
    totals: Counter[str] = Counter()
    with get_context("fork").Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        for result in pool.imap(partial(run, options), options.seeds):
            report(result, options)
            totals.update({**result.counts, "seeds": 1, "broken": bool(result.violations)})
            if totals["broken"] and options.stop:
                break
    if not options.json:
        seconds = time.perf_counter() - started
        print(", ".join(f"{name} {number:,}" for name, number in sorted(totals.items())))
        print(f"{totals['seeds']} seeds in {seconds:.0f} s, {60 * totals['seeds'] / seconds:.0f} a minute")
    return 1 if totals["broken"] else 0


def run(options: argparse.Namespace, seed: int) -> Result:
    """Return the result of a seed; called in a process of its own."""
    result = play(seed)
    if options.repeat:  # in a new Python process with another hash seed
        command = [sys.executable, "-m", "tests.simulation", "--json", *repeating_options(seed, options)]
        environment = {**os.environ, "PYTHONHASHSEED": str(seed * 7 + 1)}
        output = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout
        if (digest := json.loads(output)["digest"]) != result.digest:
            result.violations.append(f"Two runs of this seed differ: their digests are {result.digest} and {digest}.")
    return result


def repeating_options(seed: int, options: argparse.Namespace) -> list[str]:
    return ["--seeds", str(seed), *(("--fault", options.fault) if options.fault else ())]


def report(result: Result, options: argparse.Namespace) -> None:
    """Print a line about a seed, and the story of the first promise that it broke."""
    if options.json:
        print(json.dumps(asdict(result)), flush=True)
        return
    virtual, cpu = result.counts["virtual seconds"], result.counts["cpu ms"] / 1000
    print(f"seed {result.seed}: {virtual} virtual s in {cpu:.1f} s, digest {result.digest}", flush=True)
    if result.violations:
        print(f"\nBroken promise: {result.violations[0]}\n\nWhat happened before:")
        print("\n".join(result.story))
        repeated = " ".join(repeating_options(result.seed, options))
        print(f"\nRepeat it with: python -m tests.simulation {repeated}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
