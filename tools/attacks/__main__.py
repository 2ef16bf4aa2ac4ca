"""Attack a server with its usual limits on the loopback, and report how its neighbours fared.

A flood comes from one address, or stays within every limit and comes from twenty, while twenty pairs from another play,
a move every 100 ms: alone, during the same flood of another server on this machine (the control), and during a flood of
their own server. The goal is a p99 of at most twice the control's, in the median of several rounds. During other
attacks ten pairs play at twenty moves a second. `overload` shows what becomes of far too many moves. All attacks end by
themselves.
Usage: python -m tools.attacks [NAME ...] [--seconds 8] [--rounds 1]
"""

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from statistics import median
from typing import NamedTuple

from tests.environment import environment
from tools.attacks import overload
from tools.attacks.floods import FLOODS
from tools.attacks.strangers import ATTACKS
from tools.bench.load import run
from tools.bench.processes import Measured, allow_many_connections, started
from tools.bench.tables import Figures, Hall, seat_at_server

SERVER = (sys.executable, "-m", "tictactoe_server", "--host", "127.0.0.1", "--port", "0", "--log-level", "error")
FEW_DESCRIPTORS = ("sh", "-c", 'ulimit -n 256; exec "$@"', "sh")
"""The prefix of the command of a server that has to run out of descriptors."""

NAMES = (*FLOODS, *ATTACKS, "overload")
PAIRS, PAIRS_PACE_SECONDS = 20, 0.1
NEIGHBOURS, PACE_SECONDS = 10, 0.05
QUIET_SECONDS = 3.0
LONGER_SECONDS = 0.5
"""How much longer than the measurement a flood lasts."""


async def begin(name: str, server: Measured, seconds: float) -> Process:
    """Begin an attack in a process of its own."""
    command = (sys.executable, "-m", "tools.attacks", "--child", name, server.url, str(seconds))
    return await asyncio.create_subprocess_exec(*command, stdout=PIPE, env=environment())


async def end(stranger: Process) -> str:
    """Wait for an attack to end, and return its output."""
    out, _ = await stranger.communicate()
    return out.decode().strip()


def felt(figures: Figures) -> str:
    return f"{figures.percentile_ms(50):.1f}/{figures.percentile_ms(99):.1f}"


class Round(NamedTuple):
    """The neighbours' times without a flood, during a flood of another server and of their own."""

    alone: Figures
    control: Figures
    attacked: Figures
    did: str
    cost_us: float


async def withstand(name: str, server: Measured, other: Measured, seconds: float) -> Round:
    """Flood the other server and then this one, and compare with no flood."""
    hall = await Hall.open(server, seat_at_server, PAIRS, pace_seconds=PAIRS_PACE_SECONDS)
    alone = await hall.play(seconds)

    async def flood(flooded: Measured) -> tuple[Figures, str]:
        stranger = await begin(name, flooded, seconds + LONGER_SECONDS)
        assert stranger.stdout
        await stranger.stdout.readline()  # when it begins to send
        figures = await hall.play(seconds)
        return figures, await end(stranger)

    used = other.cpu_seconds()
    control, answered = await flood(other)
    used = other.cpu_seconds() - used
    await asyncio.sleep(1)
    attacked, did = await flood(server)
    await hall.close()
    answers = sum(count for what, count in json.loads(answered).items() if what != "said")
    return Round(alone, control, attacked, did, used / max(1, answers) * 1e6)


def describe(name: str, rounds: list[Round]) -> str:
    """Return a line about the rounds of a flood."""
    felt_then = ", ".join(f"{felt(one.control)} -> {felt(one.attacked)}" for one in rounds)
    ratio = median(one.attacked.percentile_ms(99) for one in rounds)
    ratio /= median(one.control.percentile_ms(99) for one in rounds)
    return (
        f"{name:<11} {ratio:5.2f} times the control's p99; p50/p99 in ms: alone {felt(rounds[0].alone)}; "
        f"control -> attacked {felt_then}; {median(one.cost_us for one in rounds):.0f} us of the server's "
        f"processor an answer; {rounds[-1].did}"
    )


async def suffer(name: str, server: Measured, seconds: float) -> str:
    """Return a line about the attack and the neighbours."""
    hall = await Hall.open(server, seat_at_server, NEIGHBOURS, pace_seconds=PACE_SECONDS)
    before, kib = await hall.play(QUIET_SECONDS), server.resident_kib()
    stranger = await begin(name, server, seconds)
    during, most = await hall.play(seconds), server.resident_kib()
    did = await end(stranger)
    after = await hall.play(QUIET_SECONDS)
    felt_then = " -> ".join(f"{one.percentile_ms(99):.1f}" for one in (before, during, after))
    worst = max(during.latencies) * 1e3
    await hall.close()
    return (
        f"{name:<10} neighbours' p99 {felt_then} ms, worst {worst:.0f} ms; memory {(most - kib) / 1024:+.1f} MB; {did}"
    )


def attack(name: str, seconds: float, rounds: int) -> str:
    """Start the attack's server and return the attack's result."""
    with contextlib.ExitStack() as stack:

        def server(*before: str, options: tuple[str, ...] = (), is_pinned: bool = False) -> Measured:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            return stack.enter_context(started((*before, *SERVER, *options, "--data", folder), is_pinned=is_pinned))

        if name in FLOODS:
            return describe(name, [run(withstand(name, server(), server(), seconds)) for _ in range(rounds)])
        if name == "overload":
            return run(overload.suffer(server(options=overload.OPTIONS, is_pinned=True), seconds))
        return run(suffer(name, server(*(FEW_DESCRIPTORS if name == "crowd" else ())), seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--rounds", type=int, default=1, help="how often each flood is measured beside its control")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    allow_many_connections()
    if options.child:
        name, url, seconds = options.child
        print(json.dumps(run((FLOODS | ATTACKS)[name](url, float(seconds)))), flush=True)
        return
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"there is no attack {', '.join(sorted(unknown))}: there are {', '.join(NAMES)}")
    for name in options.names or NAMES:
        try:
            print(attack(name, options.seconds, options.rounds), flush=True)
        except AssertionError as refused:
            print(f"{name:<10} a neighbour was refused: {refused}", flush=True)


if __name__ == "__main__":
    main()
