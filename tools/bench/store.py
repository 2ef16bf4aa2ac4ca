"""Durable saves a second, and what one costs the whole process, for rooms that all save at once.

Every room saves its document, waits until that is on disk, and saves again. The cost of asking without any store
(one future made and resolved a save) is printed beside it.
Usage: python -m tools.bench.store [--rooms 200] [--seconds 3] [--resident 10000] [--folder DIR]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from pathlib import Path

import uvloop

from tests.server.stored import keep, room_of
from tictactoe_protocol import ROOM_CODE_ALPHABET
from tictactoe_server.records.tables import ROOMS, open_folder, open_memory
from tictactoe_server.rooms import FinishedGame, Room
from tictactoe_server.storage.memory import MemoryTable
from tictactoe_server.storage.specs import Storage
from tictactoe_server.storage.store import MISSING, Waiter

SLICE = 500


class NoRooms(MemoryTable[Room]):
    """Answers a save in the next round of the event loop: the cost of the harness itself."""

    def save(
        self, key: str, value: Room, expected_revision: int | None, waiter: Waiter, finished: FinishedGame | None = None
    ) -> None:
        asyncio.get_running_loop().call_soon(waiter.stored, (expected_revision or 0) + 1)


def open_store(name: str, folder: Path) -> Storage:
    if name == "sqlite":
        return open_folder(folder)
    store = open_memory()
    if name == "nothing":
        store.tables[ROOMS.name] = NoRooms(ROOMS, store.games)
    return store


async def fill(store: Storage, resident: int) -> list[tuple[Room, int]]:
    """Save so many rooms with random codes; return them with their revisions in the order of saving."""
    codes = random.Random(1)
    rooms = [room_of("".join(codes.choices(ROOM_CODE_ALPHABET, k=6))) for _ in range(resident)]
    revisions: list[int] = []
    for begin in range(0, resident, SLICE):
        revisions += await asyncio.gather(*(keep(store, room, MISSING) for room in rooms[begin : begin + SLICE]))
    return list(zip(rooms, revisions, strict=True))


async def measure(name: str, store: Storage, rooms: int, resident: int, seconds: float) -> None:
    filled = await fill(store, max(resident, rooms))
    latencies = list[float]()
    until = time.perf_counter() + seconds

    async def keep_saving(room: Room, revision: int) -> None:
        while (begun := time.perf_counter()) < until:
            revision = await keep(store, room, revision)
            latencies.append(time.perf_counter() - begun)

    begun, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(keep_saving(*room) for room in filled[-rooms:]))
    elapsed, cpu = time.perf_counter() - begun, time.process_time() - cpu
    await store.close()
    cuts = statistics.quantiles(latencies, n=100)
    saves = len(latencies)
    print(
        f"{name:<8} {rooms:>5} rooms {saves / elapsed:>10,.0f} saves/s {cpu / saves * 1e6:>7.2f} µs CPU/save"
        f"   p50 {cuts[49] * 1e3:>6.2f} ms   p99 {cuts[98] * 1e3:>6.2f} ms",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", type=int, nargs="+", default=[200])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--resident", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="a disk to measure on, instead of the temporary one")
    options = parser.parse_args()
    for rooms in options.rooms:
        for name in ("nothing", "memory", "sqlite"):
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                store = open_store(name, Path(folder))
                uvloop.run(measure(name, store, rooms, options.resident, options.seconds))


if __name__ == "__main__":
    main()
