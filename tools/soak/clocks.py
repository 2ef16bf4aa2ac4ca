"""Kills the leader of the store, and freezes a server, in the middle of turns: what that costs, and how clocks end.

In each run somebody tries to move all the time in half of the rooms, and nobody moves in the others, whose clocks run
out soon afterwards: once each, on time.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.servers import Cluster
from tests.cluster.visitor import Visitor
from tests.peer import Message, play_out
from tools.soak.cluster import COPY_SECONDS
from tools.soak.figures import times
from tools.soak.fleet import TRANSIENT
from tools.soak.stream import read_games

LONG_MS = 60_000
SHORT_MS = 5_000
"""What is on clocks at first: more than any fault takes, and less than that and what comes after it."""

LATE_SECONDS = 1.0
"""How much later than what it showed after the fault a clock may run out."""

EARLY_SECONDS = 0.1
RETRY_SECONDS = 0.05
MEND_SECONDS = 5.0
PLAYED = [4, 0, 8]
"""Both have moved, so that O has a clock that runs."""

CELL = 2


Mend = Callable[[], Awaitable[None]]


async def kill_leader(cluster: Cluster) -> Mend:
    """Have the nodes elect another one."""
    leader = await cluster.nodes.when_led()
    await leader.kill()
    return leader.start


async def freeze_server(cluster: Cluster) -> Mend:
    """Freeze the server of the rooms, where everybody is."""
    server = cluster.servers[0]
    server.freeze()

    async def thaw() -> None:
        server.thaw()

    return thaw


FAULTS: dict[str, tuple[Callable[[Cluster], Awaitable[Mend]], float]] = {
    "the leader killed": (kill_leader, 1.0),
    "a server frozen": (freeze_server, 3.0),
}
"""Each with the most, in seconds, that it may cost a player whose turn it is: where the server is frozen, the second
after which one leaves it, and the time until another one has its rooms.
"""


@dataclass
class Clocks:
    """What came of it, in seconds by the fault: what turns were charged, how long moves took, how late clocks ended."""

    charged: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    moved: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    late: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    wrong: list[str] = field(default_factory=list)

    @property
    def violations(self) -> list[str]:
        """Everything that must not be."""
        overcharged = (
            f"{name}: a turn was charged {seconds:.2f} s"
            for name, (_, most) in FAULTS.items()
            for seconds in self.charged[name]
            if seconds > most
        )
        untimely = (
            f"{name}: a clock ran out {seconds:+.2f} s after its time"
            for name in FAULTS
            for seconds in self.late[name]
            if not -EARLY_SECONDS <= seconds <= LATE_SECONDS
        )
        return [*overcharged, *untimely, *self.wrong]

    @property
    def has_failed(self) -> bool:
        return bool(self.violations)

    def __str__(self) -> str:
        rows = (
            f"  {name}: turns charged {times(self.charged[name])}; moves took {times(self.moved[name])}; "
            f"{len(self.late[name])} clocks ran out late by {times(self.late[name])}"
            for name in FAULTS
        )
        return "\n".join((f"{len(self.violations)} violations", *rows, *self.violations[:20]))


@dataclass
class Turn:
    """A room in which the clock of `bo`, O, runs."""

    ana: Visitor
    bo: Visitor
    room: str

    async def state(self) -> Message:
        """Return the room as it is."""
        await self._ask("sync")
        return await self.bo.state()

    async def left(self) -> float:
        """Return what O has left, in seconds."""
        return remaining(await self.state())

    async def move(self) -> tuple[float, float]:
        """Move as soon as that is possible; return what O has left then, and how long that took, in seconds."""
        begun = time.perf_counter()
        await self._ask("move", cell=CELL, ply=len(PLAYED))
        took = time.perf_counter() - begun
        return remaining(await self.bo.state(ply=len(PLAYED) + 1)), took

    async def run_out(self) -> float:
        """Let the clock run out; return how late it did, in seconds, by what it shows now."""
        state = await self.state()
        due = time.perf_counter() + remaining(state)
        if state["status"] != "over":
            await self.bo.state(status="over")
        return time.perf_counter() - due

    async def look_back(self, cluster: Cluster) -> str | None:
        """Say what is wrong with the end of a game that ran out, None where it ended once for everybody."""
        state = await self.state()
        score = state["score"][self.ana.peer.welcome["player"]]
        if state["result"] != {"winner": "X", "reason": "timeout", "line": []} or score != 1:
            return f"{self.room} ended with {state['result']}, a score of {score}"
        copies = (await read_games(cluster.nodes)).get((self.room, 1))
        if copies != [tuple(PLAYED)]:
            return f"the stream has the game of {self.room} as {copies}"
        told = [await history(peer, self.room) for peer in (self.ana, self.bo)]
        return f"the histories of {self.room} are {told}" if told != [["timeout"], ["timeout"]] else None

    async def _ask(self, type: str, **fields: int) -> None:
        """Ask until it is done, while that cannot be."""
        while (reply := await self.bo.ask(type, room=self.room, **fields))["type"] != "ok":
            assert reply["code"] in TRANSIENT, reply
            await asyncio.sleep(RETRY_SECONDS)


def remaining(state: Message) -> float:
    """Return what O has left, in seconds."""
    return float(state["clock"]["remaining_ms"]["O"] / 1000)


async def history(peer: Visitor, room: str) -> list[str]:
    """Return how a player's games in a room ended, once its server had time to copy one."""
    until = time.monotonic() + COPY_SECONDS
    while True:
        games = (await peer.ask("history"))["games"]
        found = [game["result"]["reason"] for game in games if game["room"] == room]
        if found or time.monotonic() > until:
            return found
        await asyncio.sleep(RETRY_SECONDS)


@contextlib.asynccontextmanager
async def open_turn(cluster: Cluster, initial_ms: int) -> AsyncIterator[Turn]:
    """Begin a game of the first server, which serves what is opened there; O comes by the second."""
    async with Visitor(cluster.servers[0].url, "ana") as ana, Visitor(cluster.servers[1].url, "bo") as bo:
        room = str((await ana.ask("create", clock={"initial_ms": initial_ms, "increment_ms": 0}))["room"])
        await bo.ask("join", room=room)
        for visitor in (ana, bo):
            await visitor.state(status="playing")
        await play_out({"X": ana.peer, "O": bo.peer}, room, PLAYED)
        yield Turn(ana, bo, room)


async def mend_later(mend: Mend) -> None:
    await asyncio.sleep(MEND_SECONDS)
    await mend()


async def try_once(cluster: Cluster, name: str, rooms: int, found: Clocks) -> None:
    """Do harm in the middle of turns in so many rooms, and look at their clocks."""
    harm, _ = FAULTS[name]
    async with contextlib.AsyncExitStack() as stack:
        moving = [await stack.enter_async_context(open_turn(cluster, LONG_MS)) for _ in range(rooms - rooms // 2)]
        running = [await stack.enter_async_context(open_turn(cluster, SHORT_MS)) for _ in range(rooms // 2)]
        before = await asyncio.gather(*(turn.left() for turn in moving))
        mended = asyncio.create_task(mend_later(await harm(cluster)))
        after = await asyncio.gather(*(turn.move() for turn in moving))
        found.charged[name] += [had - has for had, (has, _) in zip(before, after, strict=True)]
        found.moved[name] += [took for _, took in after]
        found.late[name] += await asyncio.gather(*(turn.run_out() for turn in running))
        await mended
        found.wrong += [wrong for turn in running if (wrong := await turn.look_back(cluster)) is not None]
    print(f"{name}: turns charged {times(found.charged[name])}", file=sys.stderr)


async def run(folder: Path, *, runs: int, rooms: int, seed: int = 0) -> Clocks:
    """Do so much harm of each kind to a cluster; `seed` is of no use here, since chance is the nodes' and servers'."""
    found = Clocks()
    async with Cluster(folder) as cluster:
        for _ in range(runs):
            for name in FAULTS:
                await cluster.nodes.when_whole()
                await try_once(cluster, name, rooms, found)
    return found
