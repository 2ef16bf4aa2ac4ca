"""Moves a second, and the processor time of one, beside a bare relay in the same run.

Both get the same load: rooms of two that play drawn games of nine moves with a rematch after each, every state awaited
by both players. Our server is measured in memory, and with every move on disk before it is shown. The last column is
its processor time as a multiple of the relay's.
Usage: python -m tests.bench.moves [--seconds 10] [--rooms 100] [--rounds 1]

With --with-bots: how long people wait for a move, at ten moves a second in each of 100 rooms, while 50 rooms of bots
think about gomoku without a pause, beside the same without the bots.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from dataclasses import dataclass, field

import uvloop
from websockets.asyncio.client import ClientConnection, connect

from tests.bench.processes import IN_MEMORY, RELAY, SERVER, Measured, started

DRAWN = (0, 1, 2, 4, 3, 5, 7, 6, 8)


@dataclass
class Figures:
    """What one server did under the load."""

    moves: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)

    @property
    def cpu_us(self) -> float:
        return self.cpu_seconds / self.moves * 1e6

    def row(self, name: str) -> str:
        cuts = statistics.quantiles(self.latencies, n=100)
        return (
            f"{name:<12} {self.moves / self.seconds:>9,.0f} moves/s {self.cpu_us:>8.1f} µs CPU/move"
            f"   p50 {cuts[49] * 1e3:>6.2f} ms   p99 {cuts[98] * 1e3:>6.2f} ms"
        )


class Table:
    """Two connections in one room."""

    def __init__(self, players: tuple[ClientConnection, ClientConnection], code: str) -> None:
        self.players = players
        self.code = code

    async def play(self, first: int, figures: Figures, pace_seconds: float = 0.0) -> None:
        """Play one game and agree on the next; `first` is who moves first, `pace_seconds` how long people ponder."""
        for ply, cell in enumerate(DRAWN):
            if pace_seconds:
                await asyncio.sleep(pace_seconds)
            mover = self.players[(first + ply) % 2]
            begun = time.perf_counter()
            await mover.send(f'{{"type":"move","room":"{self.code}","cell":{cell},"ply":{ply}}}')
            await self._both()
            figures.latencies.append(time.perf_counter() - begun)
            figures.moves += 1
        for player in self.players:
            await player.send(f'{{"type":"rematch","room":"{self.code}"}}')
            await self._both()

    async def _both(self) -> None:
        for player in self.players:
            text = await player.recv(decode=False)
            assert b'"error"' not in text, text


async def seat_at_relay(url: str, number: int) -> Table:
    first = await connect(f"{url}/{number}", compression=None, ping_interval=None, proxy=None)
    second = await connect(f"{url}/{number}", compression=None, ping_interval=None, proxy=None)
    return Table((first, second), "K7M4PQ")


async def seat_at_server(url: str, number: int) -> Table:
    first = await connect(url, compression=None, ping_interval=None, proxy=None)
    second = await connect(url, compression=None, ping_interval=None, proxy=None)
    for player in (first, second):
        await player.send('{"type":"hello"}')
        await player.recv()
    await first.send('{"type":"create","id":"c"}')
    code = json.loads(await first.recv())["room"]
    await first.recv()
    await second.send(json.dumps({"type": "join", "room": code}))
    await first.recv()
    await second.recv()
    return Table((first, second), code)


async def load(server: Measured, rooms: int, seconds: float, *, bare: bool, pace_seconds: float = 0.0) -> Figures:
    """Seat everybody, warm up for a second, then measure."""
    seat = seat_at_relay if bare else seat_at_server
    tables = [await seat(server.url, number) for number in range(rooms)]
    firsts = dict.fromkeys(range(rooms), 0)

    async def keep_playing(number: int, until: float, figures: Figures) -> None:
        while time.perf_counter() < until:
            await tables[number].play(firsts[number], figures, pace_seconds)
            firsts[number] = 1 - firsts[number]

    async def everybody(duration: float, figures: Figures) -> None:
        until = time.perf_counter() + duration
        await asyncio.gather(*(keep_playing(number, until, figures) for number in range(rooms)))

    await everybody(1.0, Figures())
    figures = Figures()
    cpu, begun = server.cpu_seconds(), time.perf_counter()
    await everybody(seconds, figures)
    figures.seconds = time.perf_counter() - begun
    figures.cpu_seconds = server.cpu_seconds() - cpu
    await asyncio.gather(*(player.close() for table in tables for player in table.players))
    return figures


def measure(command: tuple[str, ...], rooms: int, seconds: float, *, bare: bool) -> Figures:
    with started(command) as server:
        return uvloop.run(load(server, rooms, seconds, bare=bare))


async def keep_bots_thinking(url: str, rooms: int) -> None:
    """Have so many games of gomoku between bots going, until cancelled."""
    async with connect(url, compression=None, proxy=None) as watcher:
        await watcher.send('{"type":"hello"}')
        create = '{"type":"create","rules":"gomoku","bots":["perfect","perfect"]}'
        for _ in range(rooms):
            await watcher.send(create)
        async for text in watcher:
            if b'"status":"over"' in (text.encode() if isinstance(text, str) else text):
                await watcher.send(create)


async def load_beside_bots(server: Measured, rooms: int, seconds: float, bot_rooms: int) -> Figures:
    thinking = asyncio.create_task(keep_bots_thinking(server.url, bot_rooms))
    try:
        return await load(server, rooms, seconds, bare=False, pace_seconds=0.1)
    finally:
        thinking.cancel()


def compare_with_bots(rooms: int, seconds: float) -> None:
    """Print the figures without and with thinking bots; server, workers and load share all cores."""
    p99 = []
    for bot_rooms in (0, 50):
        with started((*SERVER, *IN_MEMORY, "--bot-pause", "0"), is_pinned=False) as server:
            figures = uvloop.run(load_beside_bots(server, rooms, seconds, bot_rooms))
        print(figures.row(f"{bot_rooms} bot rooms"), flush=True)
        p99.append(statistics.quantiles(figures.latencies, n=100)[98])
    print(f"ratio      {p99[1] / p99[0]:.2f}x the p99 without bots", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--with-bots", action="store_true")
    options = parser.parse_args()
    if options.with_bots:
        compare_with_bots(options.rooms, options.seconds)
        return
    for _ in range(options.rounds):
        relay = measure(RELAY, options.rooms, options.seconds, bare=True)
        print(relay.row("relay"), flush=True)
        with tempfile.TemporaryDirectory(prefix="tictactoe-bench-") as folder:
            for name, kept in (("in memory", IN_MEMORY), ("durable", ("--data", folder))):
                ours = measure((*SERVER, *kept), options.rooms, options.seconds, bare=False)
                print(f"{ours.row(name)}   {ours.cpu_us / relay.cpu_us:.2f}x", flush=True)


if __name__ == "__main__":
    main()
