"""A cluster that grows: what one server pays for the rooms and for the life of the others, whose rooms are made up.

The server is a real one without players, in this process, on one real node; the others are tellers, which say of rooms
what servers say. Its processor time is that of this process while the tellers do next to nothing, or are elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import secrets
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from tests.cluster.tied import tied
from tests.environment import environment
from tests.limits import uncounted
from tests.server.nats_node import Node, empty_store, node_in
from tests.server.stored import keep
from tictactoe_engine import Rules
from tictactoe_server.agenda import wait_until
from tictactoe_server.cluster import messages
from tictactoe_server.cluster.cluster import Cluster
from tictactoe_server.cluster.jetstream.link import Link
from tictactoe_server.cluster.jetstream.store import JetStreamStore
from tictactoe_server.cluster.members import Members
from tictactoe_server.cluster.rooms import OwnRooms
from tictactoe_server.core.core import Core
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.records.tables import KEPT, open_memory
from tictactoe_server.rooms import Enter, Player, Room, apply, open_room
from tictactoe_server.server import kept_by
from tictactoe_server.storage.store import MISSING
from tools.bench.growth.curve import Curve
from tools.bench.load import Spin
from tools.bench.processes import cpu_seconds_of

SIZES = (2_000, 10_000, 50_000, 100_000)
GONE_SHARE = 0.02
"""Which part of the rooms is of the server that goes; two servers stay, so one takes half of these."""

OTHERS = (0, 1, 5, 10, 20)
TOLD_A_SECOND = 20
WATCHED_SECONDS = 6.0
LOOK_SECONDS = 600
TAKING_SECONDS = 20
KEPT_AT_ONCE = 1_000
IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # where there is such a folder: no disk is waited for
ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"


class Teller:
    """Says of rooms that nobody plays in what a server says of its own."""

    def __init__(self, link: Link, core: Core) -> None:
        self.members = Members(link, "teller", f"ws://{secrets.token_hex(4)}", core.time)
        self.own = OwnRooms(link, self.members, core)
        self.rooms: list[Any] = []
        self._link = link

    @classmethod
    @contextlib.asynccontextmanager
    async def started(cls, url: str, rooms: list[Room]) -> AsyncIterator[Teller]:
        link, store = await Link.open(url), open_memory(kept_by())
        core = Core(store, ServedTime(store, time.monotonic_ns), uncounted(), 60_000, time.monotonic_ns)
        teller = cls(link, core)
        for number, room in enumerate(rooms, 1):
            about = {"room": room, "watchers": (), "owner": secrets.token_hex(8), "source": "", "is_gone": False}
            teller.rooms.append(SimpleNamespace(**about))
            teller.own.tell(cast(LiveRoom, teller.rooms[-1]))
            if number % KEPT_AT_ONCE == 0:
                await asyncio.sleep(0)
                await link.flush()  # its news are said, to nobody
        await link.subscribe(messages.HERE + teller.members.id, lambda message: None)
        await link.subscribe(messages.PAGES + teller.members.id, teller.own.answer_page)
        await asyncio.sleep(0.1)
        await link.flush()
        teller.members.come_in()
        living = asyncio.create_task(teller.members.run())
        try:
            yield teller
        finally:
            living.cancel()
            core.agenda.stop()
            await link.close()

    async def tell_all(self) -> float:
        """Tell all rooms page by page to itself, which takes none in; return the seconds of work that it took."""
        begun, after, is_last = time.process_time(), "", False
        while not is_last:
            subject = messages.PAGES + self.members.id
            page = await messages.ask(self._link, subject, after.encode(), messages.Page)
            after, is_last = page.after, not page.after
        return time.process_time() - begun


class Watched:
    """A server whose work is measured."""

    def __init__(self, store: JetStreamStore) -> None:
        served = ServedTime(store, time.monotonic_ns)
        self.cluster = Cluster(store, "watched", "ws://watched", served, bool)
        self.core = Core(store, served, uncounted(), 60_000, time.monotonic_ns, self.cluster)
        self.cluster.start(self.core)

    @classmethod
    @contextlib.asynccontextmanager
    async def opened(cls, node: Node) -> AsyncIterator[Watched]:
        """Let it come into the cluster: it has heard of all rooms then, and has looked for others."""

        async def refuse(order: bytes) -> bytes:
            return b""

        store = await JetStreamStore.open(node.url, KEPT, unsafe=True)
        watched = cls(store)
        await watched.cluster.open(lambda *ban: None, refuse)
        living = asyncio.create_task(watched.cluster.run())
        try:
            yield watched
        finally:
            living.cancel()
            watched.core.agenda.stop()
            await store.close()


async def measure(spin: Spin) -> None:
    spin.stop()  # it is this process that is measured
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder, node_in(Path(folder)) as node:
        await _rooms(node)
        await _others(node)


async def _rooms(node: Node) -> None:
    curve = Curve(
        "rooms that others have; a fiftieth is of a server that goes, of which one takes half, and another none",
        "rooms",
        ("told us each", "heard us each", "bytes each", "take ms", "no take ms", "look ms", "look % core", "node ms"),
        ("told us each", "heard us each", "no take ms"),
    )
    for size in SIZES:
        rooms = list({room.code: room for room in (_made_up_room() for _ in range(size))}.values())
        store = await empty_store(node)
        for first in range(0, size, KEPT_AT_ONCE):
            await asyncio.gather(*(keep(store, room, MISSING) for room in rooms[first : first + KEPT_AT_ONCE]))
        await store.close()
        going, staying = rooms[: round(size * GONE_SHARE)], rooms[round(size * GONE_SHARE) :]
        del rooms
        async with Teller.started(node.url, staying) as teller:
            told = await teller.tell_all()
            figures = [await _lose(node, going, takes=takes) for takes in (True, False)]
            heard, space, taking, look, at_node = figures[0]
            times = told / size * 1e6, (heard - told) / size * 1e6, space / size, taking * 1e3, figures[1][2] * 1e3
            curve.add(size, *times, look * 1e3, look / LOOK_SECONDS * 100, at_node * 1e3)
    curve.end()


async def _lose(node: Node, going: list[Room], *, takes: bool) -> tuple[float, float, float, float, float]:
    """Let the teller of these rooms go; return what hearing all, their space, the take-over and a look cost."""
    async with Teller.started(node.url, going) as gone:
        gc.collect()
        space, begun = _resident_bytes(), time.process_time()
        async with Watched.opened(node) as watched:
            heard = time.process_time() - begun
            cluster = watched.cluster
            gc.collect()
            space = _resident_bytes() - space
            begun, node_begun = time.process_time(), cpu_seconds_of(node.pid)
            await cluster._take_unclaimed(with_unnamed=True)
            look, at_node = time.process_time() - begun, cpu_seconds_of(node.pid) - node_begun
            cluster.members.is_leaving = not takes
            gone.members.is_in = False
            begun = time.process_time()
            cluster.members.lose(gone.members.id)
            mine = {
                code for code in (room.code for room in going) if cluster.members.chosen_for(code) == cluster.members.id
            }
            if not await wait_until(lambda: mine <= cluster.own_rooms.rooms.keys(), TAKING_SECONDS):
                raise TimeoutError("the rooms were not taken over")
            await asyncio.sleep(0.2)
            return heard, space, time.process_time() - begun, look, at_node


async def _others(node: Node) -> None:
    """Print what a server pays a second for so many others, whose signs of life and outlines it hears."""
    curve = Curve(
        f"other servers, each of which tells of {TOLD_A_SECOND} rooms a second",
        "others",
        ("signs ms a s", "outlines ms a s", "of one other"),
        ("outlines ms a s",),
    )
    base = 0.0
    for count in OTHERS:
        await (await empty_store(node)).close()
        quiet, busy = [await _live(node, count, told) for told in (0, TOLD_A_SECOND)]
        base = quiet if not count else base
        curve.add(count, quiet - base, busy - quiet, (busy - base) / count if count else None)
    curve.end()


async def _live(node: Node, count: int, told: int) -> float:
    """Return how many ms of work a second a server has beside so many others in a process of their own."""
    command = tied(sys.executable, "-m", "tools.bench.growth.others", node.url, str(count), str(told))
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, env=environment())
    try:
        assert process.stdout
        await process.stdout.readline()
        async with Watched.opened(node):
            begun, at = time.process_time(), time.perf_counter()
            await asyncio.sleep(WATCHED_SECONDS)
            return (time.process_time() - begun) / (time.perf_counter() - at) * 1e3
    finally:
        process.terminate()
        await process.wait()


async def _tell(url: str, count: int, told: int) -> None:
    """Be so many servers, each of which tells of so many rooms a second; each of its rooms at most every other one."""
    async with contextlib.AsyncExitStack() as stack:
        rooms = [[_made_up_room() for _ in range(max(1, 3 * told))] for _ in range(count)]
        tellers = [await stack.enter_async_context(Teller.started(url, some)) for some in rooms]
        print("here", flush=True)
        while True:
            for number in range(max(1, 3 * told)):
                await asyncio.sleep(1 / max(1, told))
                for teller in tellers if told else ():
                    teller.own.tell(teller.rooms[number], at_once=True)


def _made_up_room() -> Room:
    """Return a room of two people."""
    code = "".join(random.choices(ALPHABET, k=6))
    one, other = (Player(secrets.token_hex(8), f"Player {secrets.token_hex(2)}") for _ in range(2))
    return apply(open_room(code, Rules(), one, 0), other, Enter(), 0)


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


if __name__ == "__main__":
    asyncio.run(_tell(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
