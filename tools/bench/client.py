"""The speed, output and call depth of the terminal client: python -m tools.bench.client

Prints each figure with its goal, for the installed program in a terminal: the processor time of --help, the time to
the first paint and to the connected home page, the cost of a state on 32x32, the bytes written for moves, and how many
calls, functions and files of ours lie between a key and the socket, and between a state and the screen. With
--deepest: the functions called most often for a move.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import pty
import resource
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.environment import environment
from tests.limits import uncounted
from tests.peer import Peer, open_peer
from tictactoe_server.operator.log import set_up_logging
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tools.bench.traced_client import HEARD, SENT, SHOWN

COMMAND = (sys.executable, "-m", "tictactoe_client")
TRACED = (sys.executable, "-m", "tools.bench.traced_client")
HELP_RUNS = 20
PAINT_RUNS = 9
QUIET_SECONDS = 0.4
ENTERED = "\x1b[?1049h"
PICTURE_BYTES = 400
"""More than a program writes to query the terminal, and less than any first picture."""

MOVES = 4
GAMES = (
    ("15x15", "gomoku", (80, 24), 290),
    ("15x15, framed", "gomoku", (200, 50), 290),
    ("3x3, roomy", "classic", (200, 50), 600),
)
"""Games whose bytes are counted, by title: the rules, the window's size, and the goal for an opponent's move."""

LARGEST = {"rows": 32, "columns": 32, "line": 32}
STATES = range(950, 970)
"""The moves on 32x32 whose states are timed."""

REDRAWS = ("ClientScreen._draw",)
"""The functions that draw the whole window."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A client's work between two points in time: its processor time, and each call of ours in order."""

    seconds: float
    calls: list[str]

    def until(self, mark: str) -> list[str]:
        """Return the calls until this one; all calls if it never happened."""
        end = self.calls.index(mark) if mark in self.calls else len(self.calls)
        return _ours(self.calls[:end])

    def after(self, mark: str, last: str) -> list[str]:
        """Return the calls from the first call of a function to the last of another."""
        ends = [place for place, call in enumerate(self.calls) if call == last]
        return _ours(self.calls[self.calls.index(mark) : ends[-1]])


def _ours(calls: Sequence[str]) -> list[str]:
    return [call for call in calls if call not in (SENT, HEARD, SHOWN)]


def count(calls: Sequence[str]) -> tuple[int, int, int]:
    return len(calls), len(set(calls)), len({call.split(" ")[0] for call in calls})


def measure_help() -> float:
    times = []
    for _ in range(HELP_RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*COMMAND, "--help"], stdout=subprocess.DEVNULL, check=True, env=environment())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times)


def name_costly_imports(count: int = 6) -> list[tuple[float, str]]:
    """Return the imports of the full screen that cost most by themselves, in ms."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import tictactoe_client.tui.app"],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    rows = [line.removeprefix("import time:").split("|") for line in done.stderr.splitlines() if "|" in line]
    packages: dict[str, int] = {}
    for own, _, name in rows[1:]:
        top = name.strip().split(".")[0]
        packages[top] = packages.get(top, 0) + int(own)
    return sorted(((cost / 1000, name) for name, cost in packages.items()), reverse=True)[:count]


class Terminal:
    """The full screen in a pseudo-terminal, and its output."""

    def __init__(self, command: Sequence[str], home: Path, size: tuple[int, int] = (80, 24)) -> None:
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            preexec_fn=lambda: os.login_tty(theirs),
            env=environment(TERM="xterm-256color", NO_COLOR="", HOME=str(home)),
        )
        os.close(theirs)
        os.set_blocking(self.ours, False)
        self._unread = b""

    async def paint(self) -> float:
        """Return when the first picture was written, after the terminal was set up and queried."""
        await self.read(ENTERED)
        while len(self._unread) < PICTURE_BYTES:
            await asyncio.sleep(0.001)
            with contextlib.suppress(BlockingIOError):
                self._unread += os.read(self.ours, 65536)
        return time.perf_counter() - self.started

    async def read(self, until: str | None = None) -> tuple[bytes, float]:
        """Return the output until these words, else until it is quiet, and when the words came.

        Output after the words is kept for the next call, but counts as written before a quiet time.
        """
        written, quiet_since = self._unread if until is not None else b"", time.perf_counter()
        self._unread = b""
        while True:
            try:
                data = os.read(self.ours, 65536)
            except BlockingIOError:
                data = b""
            now = time.perf_counter()
            if data:
                written, quiet_since = written + data, now
            if until is not None and until.encode() in written:
                before, _, self._unread = written.partition(until.encode())
                return before, now - self.started
            if until is None and now - quiet_since > QUIET_SECONDS:
                return written, now - self.started
            await asyncio.sleep(0.002)

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.ours)


class Traced(Terminal):
    """A terminal whose client reports its calls and their time."""

    def __init__(self, home: Path, *arguments: str, calls: bool, size: tuple[int, int] = (80, 24)) -> None:
        self._folder = Path(tempfile.mkdtemp(dir=home))
        self._number = 0
        super().__init__((*TRACED, str(self._folder), *(("--calls",) if calls else ()), *arguments), home, size)

    def begin(self) -> None:
        self.process.send_signal(signal.SIGUSR1)
        time.sleep(0.05)

    async def end(self) -> Stretch:
        """Return the stretch, once the terminal is quiet."""
        await self.read()
        self.process.send_signal(signal.SIGUSR2)
        self._number += 1
        path = self._folder / f"{self._number}.json"
        while not path.exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        return Stretch(**json.loads(path.read_bytes()))


@contextlib.asynccontextmanager
async def closing(terminal: Traced) -> AsyncIterator[Traced]:
    try:
        yield terminal
    finally:
        terminal.close()


async def measure_starts(server: Server, home: Path) -> tuple[float, float]:
    """Return the seconds to the first paint and to the connected home page, medians."""
    paints, homes = [], []
    for _ in range(PAINT_RUNS):
        terminal = Terminal((*COMMAND, "-s", server.url, "-n", "ana"), home)
        paints.append(await terminal.paint())
        homes.append((await terminal.read("ana"))[1])
        terminal.close()
    return statistics.median(paints), statistics.median(homes)


async def measure_bytes(
    server: Server, home: Path, bo: Peer, rules: str, size: tuple[int, int]
) -> tuple[int, int, int]:
    """Return the bytes of the costliest of some cursor moves, of an opponent's move and of an own move by Enter."""
    terminal = Terminal((*COMMAND, "play", "--rules", rules, "-s", server.url, "-n", "ana"), home, size)
    await terminal.read("Waiting for")
    code = (await bo.ask("match", rules=rules))["room"]
    await terminal.read("Your move")
    terminal.type(":b2\r")
    await bo.state(ply=1, room=code)
    await terminal.read()
    terminal.type("\x1b[A")
    await terminal.read()
    cursor = 0
    for arrow in ("\x1b[B", "\x1b[C", "\x1b[A"):
        terminal.type(arrow)
        cursor = max(cursor, len((await terminal.read())[0]))
    await bo.ask("move", room=code, cell=0, ply=1)
    opponent = len((await terminal.read())[0])
    terminal.type("\r")
    own = len((await terminal.read())[0])
    terminal.close()
    return cursor, opponent, own


async def measure_depth(server: Server, home: Path, bo: Peer) -> tuple[list[Stretch], list[Stretch]]:
    """Return the calls for some own moves on 15x15, by Enter on the cursor, and for some of the opponent."""
    own, others = [], []
    arguments = ("play", "--rules", "gomoku", "-s", server.url, "-n", "ana")
    async with closing(Traced(home, *arguments, calls=True)) as terminal:
        await terminal.read("Waiting for")
        code = (await bo.ask("match", rules="gomoku"))["room"]
        await terminal.read("Your move")
        for number in range(MOVES):
            terminal.type("\x1b[B")
            await terminal.read()
            terminal.begin()
            terminal.type("\r")
            await bo.state(ply=2 * number + 1, room=code)
            own.append(await terminal.end())
            terminal.begin()
            await bo.ask("move", room=code, cell=2 * number, ply=2 * number + 1)
            others.append(await terminal.end())
    return own, others


async def measure_largest(server: Server, home: Path, size: tuple[int, int]) -> float:
    """Return the processor seconds of a state late in a watched game on 32x32; a median."""
    async with open_peer(server.url, "bo") as bo, open_peer(server.url, "cy") as cy:
        code = (await bo.ask("create", rules=LARGEST))["room"]
        await cy.ask("join", room=code)
        players, times = (bo, cy), []
        for ply in range(STATES.start):
            await players[ply % 2].ask("move", room=code, cell=ply, ply=ply)
        async with closing(Traced(home, "watch", code, "-s", server.url, "-n", "dee", calls=False, size=size)) as dee:
            await dee.read("bo")
            await dee.read()
            for ply in STATES:
                dee.begin()
                await players[ply % 2].ask("move", room=code, cell=ply, ply=ply)
                times.append((await dee.end()).seconds)
    return statistics.median(times)


def report(what: str, figure: float, goal: float | None, unit: str) -> None:
    verdict = "" if goal is None else f"goal {goal:>6.0f} {unit:<9} {'ok' if figure <= goal else 'MISSED'}"
    print(f"{what:<58} {figure:>8.1f} {unit:<9} {verdict}", flush=True)


def report_depth(what: str, stretches: Sequence[list[str]], most_calls: int, most_files: int) -> None:
    """Print the depth of the shortest stretch, which contains nothing accidental."""
    calls, functions, files = min(count(stretch) for stretch in stretches)
    report(f"{what}: calls", calls, most_calls, "calls")
    report(f"{what}: functions", functions, None, "functions")
    report(f"{what}: files", files, most_files, "files")


async def measure(home: Path, *, deepest: bool) -> None:
    async with (
        Server(Settings(host="127.0.0.1", port=0), limits=uncounted()) as server,
        open_peer(server.url, "bo") as bo,
    ):
        paint, connected = await measure_starts(server, home)
        report("full screen, first paint", paint * 1000, 1200, "ms")
        report("full screen, connected home page", connected * 1000, 1200, "ms")
        for what, rules, size, most in GAMES:
            cursor, opponent, own_bytes = await measure_bytes(server, home, bo, rules, size)
            report(f"a cursor move on {what}", cursor, 200, "bytes")
            report(f"an opponent's move on {what}", opponent, most, "bytes")
            report(f"an own move on {what}", own_bytes, 600, "bytes")
        own, others = await measure_depth(server, home, bo)
        report_depth("from a key to the socket", [stretch.until(SENT) for stretch in own], 45, 14)
        report_depth(
            "from the opponent's state to the screen", [stretch.after(HEARD, SHOWN) for stretch in others], 260, 22
        )
        redraws = [sum(call.split(" ")[1] in REDRAWS for call in _ours(stretch.calls)) for stretch in own]
        report("an own move, from the key to the end", min(redraws), 2, "redraws")
        redraws = [sum(call.split(" ")[1] in REDRAWS for call in _ours(stretch.calls)) for stretch in others]
        report("an opponent's move", min(redraws), 1, "redraws")
        if deepest:
            for call, times in Counter(_ours(own[0].calls)).most_common(40):
                print(f"{times:>6} {call}")
        for size in ((80, 24), (200, 50)):
            seconds = await measure_largest(server, home, size)
            report(f"a watched state on 32x32 at move 960, {size[0]}x{size[1]}", seconds * 1000, 5, "ms")


def main() -> None:
    set_up_logging("text", "error")
    report("--help, processor time", measure_help() * 1000, 150, "ms")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), deepest="--deepest" in sys.argv[1:]))
    print("imports that cost most:", ", ".join(f"{name} {cost:.0f} ms" for cost, name in name_costly_imports()))


if __name__ == "__main__":
    main()
