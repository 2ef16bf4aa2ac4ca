"""How quick and how quiet the terminal client is: python -m tests.bench.client

Prints each figure beside its goal: the CPU time of --help, the time to the first paint of the full screen and to the
home page, the time to draw a state on 32x32, and the bytes that a cursor move and an opponent's move cost.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import resource
import statistics
import struct
import subprocess
import sys
import termios
import time

from tests.client.states import state
from tests.environment import environment
from tests.peer import Peer, open_peer
from tictactoe_client.board.board import BoardStyle, BoardView
from tictactoe_client.tui.canvas import find_changes
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.room.board_area import fit_board, paint_board
from tictactoe_client.tui.room.panel import paint_panel
from tictactoe_client.tui.room.table import Table
from tictactoe_engine import Rules
from tictactoe_server.log import set_up_logging
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

COMMAND = (sys.executable, "-m", "tictactoe_client")
RUNS = 5
QUIET_SECONDS = 0.4
GAMES = (
    ("15x15", "gomoku", (80, 24)),
    ("15x15, framed", "gomoku", (200, 50)),
    ("3x3, roomy", "classic", (200, 50)),
)
"""Games, by what they show, whose bytes are counted: the rules and the window's size."""


def measure_help() -> float:
    """Return the CPU seconds of --help, the median of some runs."""
    times = []
    for _ in range(RUNS):
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


def measure_drawing() -> tuple[float, float]:
    """Return the seconds to draw a state on 32x32 at 200x50 and to find what changed, medians."""
    rules = Rules(32, 32, 5)
    moves = list(range(0, 1024, 3))
    states = [state(moves[:count], rules) for count in range(100, 100 + RUNS * 2)]
    table, before = Table("K7M4PQ", "p-ana"), Picture(200, 50)
    drawing, comparing = [], []
    for number, shown in enumerate(states):
        table.take(shown, float(number))
        started = time.perf_counter()
        picture = Picture(200, 50)
        fit = fit_board(rules, BoardStyle(), 160, 46, shown.last, None)
        paint_board(picture, 2, 2, BoardView.of(shown, 5), fit)
        paint_panel(picture, fit.width + 6, 2, 44, table, float(number), ascii_only=False)
        drawn = time.perf_counter()
        for old, new in zip(before.rows, picture.rows, strict=True):
            find_changes(old, new)
        comparing.append(time.perf_counter() - drawn)
        drawing.append(drawn - started)
        before = picture
    return statistics.median(drawing), statistics.median(comparing)


class Terminal:
    """The full screen in a pseudo-terminal, and the bytes that it writes."""

    def __init__(self, *arguments: str, size: tuple[int, int] = (80, 24)) -> None:
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            preexec_fn=lambda: os.login_tty(theirs),
            env=environment(TERM="xterm-256color", NO_COLOR=""),
        )
        os.close(theirs)
        os.set_blocking(self.ours, False)
        self._unread = b""

    async def read(self, until: str | None = None) -> tuple[bytes, float]:
        """Return what is written until these words came, else until it is quiet; and when the words came.

        What came after the words is there for the next words, but counts as written before a quiet time.
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


async def measure_terminal() -> dict[str, float]:
    """Return the times to the first paint and to home, and the bytes of a cursor move and of an opponent's move."""
    found: dict[str, float] = {}
    async with Server(Settings(host="127.0.0.1", port=0)) as server, open_peer(server.url, "bo") as bo:
        paints, homes = [], []
        for _ in range(RUNS):
            terminal = Terminal("-s", server.url, "-n", "ana")
            paints.append((await terminal.read("choose"))[1])
            homes.append((await terminal.read("Playing as"))[1])
            terminal.close()
        found["first paint"], found["home page"] = statistics.median(paints), statistics.median(homes)
        for what, rules, size in GAMES:
            cursor, opponent = await measure_game(server, bo, rules, size)
            found[f"a cursor move on {what}"], found[f"an opponent's move on {what}"] = cursor, opponent
    return found


async def measure_game(server: Server, bo: Peer, rules: str, size: tuple[int, int]) -> tuple[int, int]:
    """Return the bytes of the costliest of some cursor moves and of an opponent's move in a window of this size."""
    terminal = Terminal("play", "--rules", rules, "-s", server.url, "-n", "ana", size=size)
    await terminal.read("Waiting for")
    code = (await bo.ask("match", rules=rules))["room"]
    await terminal.read("YOUR MOVE")
    terminal.type(":b2\r")
    await bo.state(ply=1, room=code)
    await terminal.read()
    terminal.type("\x1b[A")
    await terminal.read()
    cursor = 0
    for arrow in ("\x1b[B", "\x1b[B", "\x1b[C"):
        terminal.type(arrow)
        cursor = max(cursor, len((await terminal.read())[0]))
    await bo.ask("move", room=code, cell=0, ply=1)
    opponent = len((await terminal.read())[0])
    terminal.close()
    return cursor, opponent


def report(what: str, figure: float, goal: float, unit: str) -> None:
    """Print a figure beside its goal."""
    verdict = "ok" if figure <= goal else "MISSED"
    print(f"{what:<44} {figure:>8.1f} {unit:<5} goal {goal:>6.0f} {unit:<5} {verdict}")


def main() -> None:
    """Measure and print."""
    set_up_logging("text", "error")
    report("--help, CPU", measure_help() * 1000, 150, "ms")
    found = asyncio.run(measure_terminal())
    report("full screen, first paint", found["first paint"] * 1000, 1200, "ms")
    report("full screen, connected home page", found["home page"] * 1000, 1200, "ms")
    drawing, comparing = measure_drawing()
    report("a state on 32x32 at 200x50: drawn", drawing * 1000, 16, "ms")
    report("a state on 32x32 at 200x50: drawn, compared", (drawing + comparing) * 1000, 16, "ms")
    for what, _, _ in GAMES:
        report(f"a cursor move on {what}", found[f"a cursor move on {what}"], 200, "bytes")
        report(f"an opponent's move on {what}", found[f"an opponent's move on {what}"], 2000, "bytes")
    print("imports that cost most:", ", ".join(f"{name} {cost:.0f} ms" for cost, name in name_costly_imports()))


if __name__ == "__main__":
    main()
