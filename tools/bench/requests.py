"""The cost to the server of each of the eleven requests of a drawn game: nine moves, and a rematch.

There are no sockets: sessions get the bytes of requests. Work at the end of a turn of the event loop is measured
separately. Each request is listed with the number of our calls, and of their files.
Usage: python -m tools.bench.requests [--rounds 5] [--beside COMMIT]
       python -m tools.bench.requests --walk NUMBER   # the calls of request NUMBER, from 1, in order
"""

import argparse
import asyncio
import contextlib
import functools
import json
import logging
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any

import structlog

from tests.environment import environment
from tests.limits import uncounted
from tictactoe_server import server as parts
from tictactoe_server.http.assets import FOLDER, STYLE
from tictactoe_server.server import Server, kept_by
from tictactoe_server.settings import Settings
from tools.bench.contestants import older_packages
from tools.bench.tables import DRAWN

open_memory = vars(parts).get("open_memory") or vars(parts)["MemoryStore"]  # its name before version 2.0
Session = vars(parts)["Session"]  # wherever an older version had it

OURS = ("tictactoe_server", "tictactoe_words", "tictactoe_protocol", "tictactoe_engine")
MOVE = b'{"type":"move","room":"%b","cell":%d,"ply":%d,"id":"%d"}'
REMATCH = b'{"type":"rematch","room":"%b","game":%d,"id":"r"}'
OFFER, AGREE, LATER = len(DRAWN), len(DRAWN) + 1, len(DRAWN) + 2
QUICK = 0.1  # the reported quantile of the times: other work on the machine makes the rest longer


class Wire:
    """Takes what a session sends."""

    is_open, origin, address, signed_on = True, "", "127.0.0.1", None
    count = 0

    def push_frame(self, *sent: object) -> None:
        self.count += 1

    push_state = push_answer_and_state = push_frame

    def let_in(self, *_: object) -> None:
        """Do nothing, like every other method of a connection."""

    forget_state = pause_reading = resume_reading = let_in


Calls = list[tuple[str, str]]  # each with its file and its name


def note(calls: Calls, frame: FrameType, event: str, argument: object) -> None:
    """Record a call of ours; see `sys.setprofile`."""
    parts = Path(frame.f_code.co_filename).parts
    package = next((name for name in OURS if name in parts), None)
    if event == "call" and package is not None:
        calls.append(("/".join(parts[parts.index(package) :]), frame.f_code.co_name))


async def measure(rooms: int, games: int) -> tuple[list[float], list[Calls]]:
    """Return the cost of each request, and of the work after a game, in us; and the calls."""
    limits = uncounted()
    server = Server(Settings(host="127.0.0.1", port=0), open_memory(kept_by()), limits)
    load_branding = vars(parts).get("load_branding") or vars(parts)["open_place"]  # its name before version 2.0
    vars(server).update(dict.fromkeys(("_branding", "_place"), load_branding(Settings(), FOLDER / STYLE)))
    server._build(open_memory(kept_by()))
    core = server.core
    rooms_here: Any = vars(core).get("registry") or core.rooms  # its name before version 2.0
    rooms_here.knows_all = True
    rooms_here.set_restored()
    for service in server._services:
        for job in getattr(service, "jobs", ()):  # which hello waits for, since version 2.0
            service.tasks.start(job())

    counters = vars(core).get("counters") or vars(core)["tally"]  # its name before version 2.0

    def arrive() -> Any:
        wire: Any = Wire()
        session = Session(wire, server._dispatcher, server._pressure, core.time.__call__, counters)
        core.presence.add(session)
        return session

    async def say(session: Any, **message: object) -> None:
        session.received(json.dumps(message).encode())
        while session.is_busy:  # noqa: ASYNC110  # there is no notification
            await asyncio.sleep(0.001)

    tables: list[tuple[Any, Any, bytes]] = []
    for _ in range(rooms):
        one, other = arrive(), arrive()
        await say(one, type="hello")
        await say(other, type="hello")
        await say(one, type="create")
        *_, text = rooms_here.by_code
        await say(other, type="join", room=text, id="j")
        tables.append((one, other, text.encode()))

    costs: list[list[float]] = [[] for _ in range(LATER + 1)]
    walks: list[Calls] = [[] for _ in range(LATER)]
    for game in range(1, games + 1):
        for one, other, code in tables:
            first, second = (one, other) if game % 2 else (other, one)
            moves = [MOVE % (code, cell, ply, ply) for ply, cell in enumerate(DRAWN)]
            players = (*((first, second) * 5)[: len(moves)], one, other)
            requests = (*moves, REMATCH % (code, game), REMATCH % (code, game))
            for number, (session, request) in enumerate(zip(players, requests, strict=True)):
                sent = session.connection.count
                if game == games and not walks[number]:
                    sys.setprofile(functools.partial(note, walks[number]))
                begun = time.perf_counter()
                session.received(request)
                costs[number].append(time.perf_counter() - begun)
                sys.setprofile(None)
                assert session.connection.count == sent + 1, f"{request!r} was not answered with the state"
        begun = time.perf_counter()
        await asyncio.sleep(0)
        costs[LATER].append((time.perf_counter() - begun) / rooms)
    return [sorted(some)[int(len(some) * QUICK)] * 1e6 for some in costs], walks


def describe(name: str, found: list[list[float]], walks: list[Calls]) -> str:
    """Return the medians of some rounds as a line, and a line with the calls and files of each request."""
    costs = [median(one[number] for one in found) for number in range(LATER + 1)]
    plain, last = median(costs[: len(DRAWN) - 1]), costs[len(DRAWN) - 1]
    counts = ", ".join(f"{len(calls)} in {len({place for place, _ in calls})}" for calls in walks)
    return (
        f"{name:<10} plain move {plain:5.1f}   last one {last:5.1f} ({last / plain:.1f}x)   rematch {costs[OFFER]:5.1f}"
        f"   agreed {costs[AGREE]:5.1f} ({costs[AGREE] / plain:.1f}x)   afterwards {costs[LATER]:4.1f}"
        f"   a game {sum(costs):5.0f} us\n{'':<10} calls and files: {counts}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beside", metavar="COMMIT", help="the same of the server as it was there")
    parser.add_argument("--walk", type=int, metavar="NUMBER", help="print the calls of one request")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child or options.walk:
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
        costs, walks = asyncio.run(measure(rooms=20, games=60))
        for place, name in walks[options.walk - 1] if options.walk else ():
            print(f"{place:<52} {name}")
        if options.child:
            print(json.dumps((costs, walks)))
        return
    with contextlib.ExitStack() as stack:
        versions: dict[str, dict[str, str]] = {"this": {}}
        if options.beside:
            versions[options.beside[:8]] = {"PYTHONPATH": stack.enter_context(older_packages(options.beside))}
        found: dict[str, list[list[float]]] = {name: [] for name in versions}
        calls: dict[str, list[Calls]] = {}
        words = (sys.executable, "-m", "tools.bench.requests", "--child")
        for _ in range(options.rounds):
            for name, variables in versions.items():
                child = subprocess.run(words, check=True, capture_output=True, env=environment(**variables))
                figures, calls[name] = json.loads(child.stdout.splitlines()[-1])
                found[name].append(figures)
        for name in versions:
            print(describe(name, found[name], calls[name]))


if __name__ == "__main__":
    main()
