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
from dataclasses import asdict

from tests.simulation import cluster, trouble
from tests.simulation.cluster import choose_site
from tests.simulation.run import Result, play


def main() -> int:
    """Run the seeds that the command line names; return 1 if a promise was broken."""
    options = parse_options()
    if options.fault:
        from tests.simulation import planted

        planted.plant(options.fault)
    first, _, last = options.seeds.partition("-")
    seeds = list(range(int(first), int(last or first) + 1))
    started = time.perf_counter()
    totals: Counter[str] = Counter()
    done = failed = 0
    running: dict[int, tuple[int, int]] = {}
    number = 0
    while seeds or running or options.minutes:
        is_over = (options.minutes and time.perf_counter() - started > 60 * options.minutes) or (
            failed and options.stop
        )
        while (seeds or options.minutes) and not is_over and len(running) < options.jobs:
            number = seeds.pop(0) if seeds else number + 1
            child, pipe = start_child(number, options)
            running[child] = pipe, number
        if not running:
            break
        child, (pipe, seed) = next(iter(running.items()))
        del running[child]
        result = wait_for_child(child, pipe, seed)
        done += 1
        totals.update(result.counts)
        totals.update({"virtual seconds": round(result.virtual_seconds), "cpu seconds": round(result.cpu_seconds)})
        if options.repeat and (other := repeat(seed, options)) != result.digest:
            result.violations.append(f"Two runs of this seed differ: their digests are {result.digest} and {other}.")
        failed += bool(result.violations)
        report(result, options, f"{done} of {done + len(running) + len(seeds)}")
    if not options.json:
        seconds = time.perf_counter() - started
        print(", ".join(f"{name} {count:,}" for name, count in sorted(totals.items())))
        print(
            f"{done} seeds, {failed} with broken promises, {totals['virtual seconds'] / 3600:.1f} virtual hours in "
            f"{seconds:.0f} s, {60 * done / max(seconds, 0.1):.0f} seeds a minute"
        )
    return 1 if failed else 0


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description="Run the server in virtual time.")
    parser.add_argument("--seeds", default="1-10", metavar="A-B", help="which seeds to run (default: 1-10)")
    parser.add_argument("--repeat", action="store_true", help="run each seed twice, and compare the digests")
    parser.add_argument("--fault", metavar="NAME", help="plant a fault of planted.py in the server first")
    parser.add_argument("--minutes", type=float, help="go on with further seeds for so long")
    parser.add_argument("--stop", action="store_true", help="stop at the first seed that breaks a promise")
    kinds = list(trouble.MEAN_SECONDS | cluster.MEAN_SECONDS)
    parser.add_argument(
        "--trouble",
        nargs="*",
        default=[],
        choices=kinds,
        metavar="KIND",
        help=f"in place of the seed's choice: {', '.join(kinds)}",
    )
    parser.add_argument("--seconds", type=float, default=900.0, help="how long trouble lasts, in virtual time")
    parser.add_argument("--servers", type=int, default=0, help="how many servers (default: 1, or by chance 2 or 3)")
    parser.add_argument("--tables", type=int, default=3, help="how many pairs play")
    parser.add_argument("--games", type=int, default=6, help="how many games each pair plays")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="how many seeds run at once")
    parser.add_argument("--json", action="store_true", help="print each result as a line of JSON")
    return parser.parse_args()


def start_child(seed: int, options: argparse.Namespace) -> tuple[int, int]:
    """Fork a process for a seed; return its id and the pipe that its result comes from."""
    read, write = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    os.close(read)
    result = play(
        seed,
        seconds=options.seconds,
        tables=options.tables,
        games=options.games,
        kinds=tuple(options.trouble),
        make_site=choose_site(seed, options.servers),
    )
    with os.fdopen(write, "w") as pipe:
        json.dump(asdict(result), pipe)
    os._exit(0)


def wait_for_child(child: int, pipe: int, seed: int) -> Result:
    with os.fdopen(pipe) as content:
        text = content.read()
    os.waitpid(child, 0)
    return Result(**json.loads(text)) if text else Result(seed, ["The process of this run died."])


def repeat(seed: int, options: argparse.Namespace) -> str:
    """Return the digest of a seed in a new Python process with another hash seed."""
    command = [sys.executable, "-m", "tests.simulation", "--json", *repeating_options(seed, options)]
    environment = {**os.environ, "PYTHONHASHSEED": str(seed * 7 + 1)}
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout
    return str(json.loads(output)["digest"])


def repeating_options(seed: int, options: argparse.Namespace) -> list[str]:
    """Return the options that repeat a run."""
    chosen = ["--seeds", str(seed)]
    for name, default in (("seconds", 900.0), ("servers", 0), ("tables", 3), ("games", 6)):
        if (value := getattr(options, name)) != default:
            chosen += [f"--{name}", str(value)]
    if options.fault:
        chosen += ["--fault", options.fault]
    if options.trouble:
        chosen += ["--trouble", *options.trouble]
    return chosen


def report(result: Result, options: argparse.Namespace, progress: str) -> None:
    """Print a line about a seed, and the story of the first promise that it broke."""
    if options.json:
        print(json.dumps(asdict(result)), flush=True)
        return
    print(
        f"seed {result.seed} ({progress}): {result.virtual_seconds:.0f} virtual s in {result.cpu_seconds:.1f} s, "
        f"digest {result.digest}, trouble: {', '.join(result.trouble)}",
        flush=True,
    )
    if result.violations:
        print(f"\nBroken promise: {result.violations[0]}\n\nWhat happened before:")
        print("\n".join(result.story))
        repeated = shlex.join(repeating_options(result.seed, options))
        print(f"\nRepeat it with: python -m tests.simulation {repeated}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
