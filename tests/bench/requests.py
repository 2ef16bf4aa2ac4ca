"""What each of the eleven requests of a drawn game costs the server: nine moves, and both players agree to another one.

There are no sockets: sessions are told the bytes of requests, and what they would send is taken and counted. What is
brought up to date at the end of a turn of the event loop is measured for itself. Where an older version stands beside
this one, both take turns, each in a process of its own.
Usage: python -m tests.bench.requests [--rooms 20] [--games 60] [--rounds 5] [--beside COMMIT]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import logging
import subprocess
import sys
import time
from statistics import median
from typing import Any

import structlog

from tests.bench.contestants import older_packages
from tests.bench.tables import DRAWN
from tictactoe_server.core.kept import open_memory
from tictactoe_server.core.session import Session
from tictactoe_server.server import Server, kept_by
from tictactoe_server.settings import Limits, Settings

OFFER, AGREE, LATER = len(DRAWN), len(DRAWN) + 1, len(DRAWN) + 2
QUICK = 0.1
"""Which of the times is told: so many were shorter. What else the machine does makes the others longer."""


class Wire:
    """Takes what a session would send."""

    is_open, origin, address = True, "", "127.0.0.1"

    def __init__(self) -> None:
        self.count = 0
        self.codes: list[str] = []

    def push_frame(self, frame: bytes) -> None:
        self.count += 1
        message = json.loads(frame[frame.index(b"{") :])
        if message.get("id") == "c":
            self.codes.append(message["room"])

    def push_state(self, room: str, frame: bytes) -> None:
        self.count += 1

    def push_answer_and_state(self, room: str, answer: bytes, state: bytes) -> None:
        self.count += 1

    def let_in(self) -> None: ...

    def forget_state(self, room: str) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def close(self, code: int, reason: str, *, within: float | None = None) -> None:
        raise AssertionError(f"closed with {code}: {reason}")


def unlimited() -> Limits:
    """Return limits that no load meets."""
    names = [field.name for field in dataclasses.fields(Limits)]
    return Limits(**{name: 0 for name in names if "_per_" in name or name in ("rooms", "turn_milliseconds")})


async def measure(rooms: int, games: int) -> list[float]:
    """Return what each request costs, and what is done after a game in the turn that follows, in us."""
    limits = unlimited()
    server = Server(Settings(host="127.0.0.1", port=0), open_memory(kept_by()), limits)
    server._build(open_memory(kept_by()))
    server.core.registry.knows_all = True
    server.core.registry.set_restored()

    def arrive() -> Session:
        wire: Any = Wire()
        now, ns = server.core.time, time.monotonic_ns
        session = Session(wire, server._dispatcher, server._pressure, limits, now, ns, server.core.tally)
        server.core.presence.add(session)
        return session

    async def say(session: Session, **message: object) -> None:
        session.received(json.dumps(message).encode())
        for _ in range(100):
            if session.is_busy:
                await asyncio.sleep(0.001)

    tables: list[tuple[Session, Session, bytes]] = []
    for _ in range(rooms):
        one, other = arrive(), arrive()
        for session in (one, other):
            await say(session, type="hello", id="h")
        await say(one, type="create", id="c")
        (code,) = one.connection.codes  # type: ignore[attr-defined]  # it is a `Wire`
        await say(other, type="join", room=code, id="j")
        tables.append((one, other, code.encode()))

    costs: list[list[float]] = [[] for _ in range(LATER + 1)]
    for game in range(1, games + 1):
        for one, other, code in tables:
            first, second = (one, other) if game % 2 else (other, one)
            moves = (
                (
                    (first, second)[ply % 2],
                    b'{"type":"move","room":"%b","cell":%d,"ply":%d,"id":"%d"}' % (code, cell, ply, ply),
                )
                for ply, cell in enumerate(DRAWN)
            )
            rematch = b'{"type":"rematch","room":"%b","game":%d,"id":"r"}' % (code, game)
            for number, (session, request) in enumerate([*moves, (one, rematch), (other, rematch)]):
                sent = session.connection.count  # type: ignore[attr-defined]  # it is a `Wire`
                begun = time.perf_counter()
                session.received(request)
                costs[number].append(time.perf_counter() - begun)
                assert session.connection.count == sent + 1, f"{request!r} was not answered with the state"  # type: ignore[attr-defined]
        begun = time.perf_counter()
        await asyncio.sleep(0)
        costs[LATER].append((time.perf_counter() - begun) / rooms)
    return [sorted(some)[int(len(some) * QUICK)] * 1e6 for some in costs]


def describe(name: str, found: list[list[float]]) -> str:
    """Return the medians of some rounds as a line."""
    costs = [median(one[number] for one in found) for number in range(LATER + 1)]
    plain, last = median(costs[: len(DRAWN) - 1]), costs[len(DRAWN) - 1]
    return (
        f"{name:<10} plain move {plain:5.1f}   last one {last:5.1f} ({last / plain:.1f}x)   rematch {costs[OFFER]:5.1f}"
        f"   agreed {costs[AGREE]:5.1f} ({costs[AGREE] / plain:.1f}x)   afterwards {costs[LATER]:4.1f}"
        f"   a game {sum(costs):5.0f} us"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", type=int, default=20)
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beside", metavar="COMMIT", help="the same of the server as it was there")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
        print(json.dumps(asyncio.run(measure(options.rooms, options.games))))
        return
    with contextlib.ExitStack() as stack:
        versions: dict[str, tuple[str, ...]] = {"this": ()}
        if options.beside:
            versions[options.beside[:8]] = ("env", f"PYTHONPATH={stack.enter_context(older_packages(options.beside))}")
        found: dict[str, list[list[float]]] = {name: [] for name in versions}
        words = (sys.executable, "-m", "tests.bench.requests", "--child")
        sizes = ("--rooms", str(options.rooms), "--games", str(options.games))
        for _ in range(options.rounds):
            for name, before in versions.items():
                child = subprocess.run((*before, *words, *sizes), check=True, capture_output=True)
                found[name].append(json.loads(child.stdout.splitlines()[-1]))
        for name, figures in found.items():
            print(describe(name, figures))


if __name__ == "__main__":
    main()
