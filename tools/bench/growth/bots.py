"""Bots: tables of small boards that nobody has asked for yet, and hard bots in many rooms with one worker."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from typing import Any

from tools.bench.asker import open_asker, open_rooms
from tools.bench.growth.curve import Curve
from tools.bench.growth.probe import Probe
from tools.bench.load import Spin, Wire, open_wire
from tools.bench.processes import IN_MEMORY, SERVER, started

FREE_CELLS = (6, 7, 8, 9)
BOARDS = 30
ROOMS = (10, 26, 60, 100)
WATCHED_SECONDS = 15.0
_ROOM = b'{"type":"room","room":"'


async def measure(spin: Spin) -> None:
    await _small_boards(spin)


async def _small_boards(spin: Spin) -> None:
    curve = Curve(
        f"{BOARDS} misère boards of 3x4 with a bot, no two alike: the longest wait of another table's move",
        "free cells",
        ("longest ms", "- its work", "CPU ms a board"),
    )
    for free in FREE_CELLS:
        with started((*SERVER, *IN_MEMORY, "--bot-pause", "0")) as server:
            host = await open_asker(server.url)
            probe = await Probe.open(server, spin)
            probe.begin()
            cpu = server.cpu_seconds()
            for rules in _small_rules(free):
                await open_rooms(host, 1, rules=rules, bots=["perfect"], seat="O")
                await host.until(b'"ply":1,')
                host.newest = b""
                await asyncio.sleep(0.02)
            used = (server.cpu_seconds() - cpu) / BOARDS * 1e3
            curve.add(free, *probe.longest(), used, remark=probe.remark())
            await probe.close()
    curve.end()


def _small_rules(free: int) -> list[dict[str, Any]]:
    """Return rules that differ in the cells that are blocked, the left column never."""
    ways = list(itertools.combinations([cell for cell in range(12) if cell % 4], 12 - free))
    chosen = random.Random(1).sample(ways, min(BOARDS, len(ways)))
    return [{"rows": 3, "columns": 4, "line": 3, "misere": True, "blocked": list(blocked)} for blocked in chosen]


class Stopwatch(Wire):
    """Watches rooms of bots and notes how long each move took."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []
        self._since: dict[bytes, float] = {}

    def received(self, payload: bytes) -> None:
        if payload.startswith(_ROOM):
            now, room = time.perf_counter(), payload[: len(_ROOM) + 6]
            if room in self._since:
                self.waits.append(now - self._since[room])
            self._since[room] = now
            if b'"status":"over"' in payload:
                del self._since[room]

    def longest_open(self) -> float:
        """Return for how long the slowest room has waited for its next move."""
        return time.perf_counter() - min(self._since.values(), default=time.perf_counter())


async def measure_hard_bots(_spin: Spin | None) -> None:
    curve = Curve(
        "rooms of two hard bots at gomoku, one worker: seconds a move",
        "rooms",
        ("half of all", "the worst", "moves"),
        ("half of all", "the worst"),
    )
    for count in ROOMS:
        command = (*SERVER, *IN_MEMORY, "--bot-pause", "0", "--bot-workers", "1")
        with started(command, is_pinned=False) as server:
            watch = await open_wire(server.url, Stopwatch)
            watch.send('{"type":"hello"}')
            for _ in range(count):
                watch.send('{"type":"create","rules":"gomoku","bots":["perfect","perfect"]}')
            await asyncio.sleep(2)
            watch.waits.clear()
            await asyncio.sleep(WATCHED_SECONDS)
            waits = sorted([*watch.waits, watch.longest_open()])
            curve.add(count, waits[len(waits) // 2], waits[-1], len(watch.waits))
    curve.end()
