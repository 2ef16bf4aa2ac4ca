"""Kills, freezes and restarts servers and nodes of a real cluster under play, cuts its links, and checks every state.

At most a minority of the nodes is down at a time, except when all of them are killed. The ledger is that of the
simulator: no acknowledged move may be lost, no `seq` may decrease or mean two states, all clients of a room must end
with the same state, and each finished game must be once in the history of every server. All servers must list the same
rooms.

With --rolling N every server and node is restarted in turn N times, as for an upgrade, while the games run on clocks:
no game may be lost on time, and 99 % of the pauses must be shorter than three seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.authority import Authority
from tests.cluster.cables import Cable
from tests.cluster.nodes import Node
from tests.cluster.servers import Cluster
from tests.faults.harness import Harness
from tests.peer import Message, open_peer
from tests.simulation.ledger import Ledger, Violation
from tests.simulation.people import legal_cells
from tools.soak.figures import times
from tools.soak.player import Player

PATIENCE_SECONDS: Final = 60.0
"""How long play may pause before the run is given up."""
AWAY_SECONDS: Final = 1.0
"""How long a killed process stays away."""
FREEZE_SECONDS: Final = (2.0, 5.0)
"""Shorter and longer than it takes to be counted as gone."""
SILENT_SECONDS: Final = 45.0
"""Longer than TLS waits for the other end to say goodbye."""
COPY_SECONDS: Final = 15.0
"""How soon after the end each server must have copied every finished game and list the right rooms."""
FULL_SECONDS: Final = 5.0
SLOW_SECONDS: Final = 0.1
ROLLING_CLOCK: Final = {"move_ms": 5_000}
ROLLING_PAUSE_SECONDS: Final = 3.0


@dataclass
class Found:
    """The results of a run.

    Attributes:
        pauses: By fault, the longest time in seconds between two moves of each room.
        slowest_answer: The longest time in seconds that an answer took.
        wrong: Broken promises that the ledger cannot see.
    """

    ledger: Ledger = field(default_factory=lambda: Ledger(time.monotonic))
    pauses: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    faults: Counter[str] = field(default_factory=Counter)
    slowest_answer: float = 0.0
    wrong: list[str] = field(default_factory=list)

    @property
    def moves(self) -> int:
        return self.ledger.counts["ok move"]

    @property
    def violations(self) -> list[str]:
        late = self.ledger.counts["end timeout"]
        return [
            *(found for found, _ in self.ledger.failures),
            *self.wrong,
            *([f"{late} games were lost on time."] if late else []),
        ]

    @property
    def has_failed(self) -> bool:
        return bool(self.violations)

    def __str__(self) -> str:
        counts = ", ".join(f"{name} {count:,}" for name, count in sorted(self.ledger.counts.items()))
        rows = (f"  {name} ({count}): rooms paused {times(self.pauses[name])}" for name, count in self.faults.items())
        story = self.ledger.story_of(self.ledger.failures[0][1]) if self.ledger.failures else ()
        figures = f"{self.faults.total()} faults, {len(self.violations)} broken promises; {counts}"
        return "\n".join((figures, *rows, *self.violations[:20], *story))


class Opponent(Player):
    """A player who plays at a table until `is_stopping`."""

    def __init__(self, url: str, name: str, table: Table) -> None:
        super().__init__(url, name)
        self.is_stopping = False
        self._table = table
        self._newest_seq = 0

    async def play(self) -> None:
        state, effect = await self.next_state(), (1, 0)
        while not self.is_stopping:
            mark, position = self.mark_in(state), (state["game"], state["ply"])
            if position < effect:  # a state from before the last move, sent again after a return
                pass
            elif state["status"] == "playing" and state["turn"] == mark:
                cell = self._table.choice.choice(legal_cells(state))
                await self._do(state, type="move", cell=cell, ply=state["ply"])
                effect = position[0], position[1] + 1
                self._table.note_move()
            elif state["status"] == "over" and mark not in state["offers"]["rematch"]:
                await self._do(state, type="rematch", game=state["game"])
            state = await self.next_state(state)

    async def _do(self, state: Message, type: str, **fields: Any) -> None:
        ledger, request = self._table.found.ledger, {"type": type, "room": self.room, **fields}
        ledger.note_request(self.id, request, state)
        answer = await self.ask(**request)
        if answer["type"] == "ok":
            ledger.note_accepted(request, state["game"])
        elif type != "rematch" or answer["code"] != "not_allowed":  # the next game has begun
            ledger.fail(f"{self.name} asked {request} and was told {answer}.", self.room)

    def receive_state(self, state: Message) -> None:
        self._table.found.ledger.check_state(self.name, 0, self._newest_seq, state)
        self._newest_seq = state["seq"]

    async def sync(self) -> Message:
        """Return the current state."""
        before = self.read_states()
        await self.ask("sync", room=self.room)
        return await self.next_state(before)


class Table:
    """Two players in a room.

    Attributes:
        moved_at: When the newest move was acknowledged.
        longest_pause: The longest time between two moves, in seconds, since it was set to 0.
    """

    def __init__(self, number: int, urls: Sequence[str], found: Found, choice: random.Random) -> None:
        self.found, self.choice = found, choice
        self.moved_at = time.monotonic()
        self.longest_pause = 0.0
        names = f"ana{number}", f"bo{number}"
        self.players = [Opponent(urls[(number + n) % len(urls)], name, self) for n, name in enumerate(names)]

    @property
    def room(self) -> str:
        return self.players[0].room

    async def open(self, clock: Message | None) -> None:
        host, guest = self.players
        room = (await host.ask("create", visibility="public", clock=clock))["room"]
        await guest.ask("join", room=room)

    def note_move(self) -> None:
        now = time.monotonic()
        self.longest_pause = max(self.longest_pause, now - self.moved_at)
        self.moved_at = now

    async def check_end(self) -> None:
        """Check that both see the same state in the end."""
        seqs = [(await player.sync())["seq"] for player in self.players]
        if len(set(seqs)) > 1:
            self.found.ledger.fail(f"The players end with states {seqs}.", self.room)

    async def check_history(self, url: str) -> None:
        """Check that a server has each finished game once, after some time for copying."""
        ledger, player = self.found.ledger, self.players[0]
        ends = (game.end for game in ledger.rooms[self.room].games.values())
        finished = sum(end is not None and end["result"]["reason"] != "aborted" for end in ends)
        until = time.monotonic() + COPY_SECONDS
        while len(rows := await list_history(url, player.token)) < finished and time.monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        ledger.check_history(self.room, player.id, rows)


async def list_history(url: str, token: str | None) -> list[Message]:
    """Return a player's whole history at a server."""
    rows: list[Message] = []
    async with open_peer(url, token=token) as peer:
        before: dict[str, str] = {}
        while page := (await peer.ask("history", limit=100, **before))["games"]:
            rows += page
            before = {"before": page[-1]["game_id"]}
    return rows


Fault = Callable[[Cluster, random.Random], Awaitable[None]]
"""Damages a cluster, and repairs it."""
Find = Callable[[Cluster, random.Random], Awaitable[Any]]


async def find_serving(cluster: Cluster, choice: random.Random) -> Harness:
    """Return the server that has one of the rooms; a server that was restarted has none for a while."""
    url = cluster.servers[0].url
    async with open_peer(url) as peer, asyncio.timeout(PATIENCE_SECONDS):
        while not (rooms := (await peer.ask("rooms"))["rooms"]):  # noqa: ASYNC110 -- it was away itself just now
            await asyncio.sleep(AWAY_SECONDS)
        room = choice.choice(rooms)["room"]
        at = (await peer.ask("watch", room=room)).get("url", url)
    return next(server for server in cluster.servers if server.url == at)


async def find_leader(cluster: Cluster, choice: random.Random) -> Node:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (names := await cluster.nodes.streams()):  # noqa: ASYNC110 -- the nodes may just have an election
            await asyncio.sleep(AWAY_SECONDS)
    return await cluster.nodes.when_led(choice.choice(names))


async def find_cables(cluster: Cluster, choice: random.Random) -> list[Cable]:
    """Return the cables of a server that has a room."""
    return cluster.cables[cluster.servers.index(await find_serving(cluster, choice))]


async def find_cables_of_leader(cluster: Cluster, choice: random.Random) -> list[Cable]:
    """Return the cables between the leader and the other nodes."""
    number = cluster.nodes.nodes.index(await find_leader(cluster, choice))
    return [cable for ends, cable in cluster.nodes.cables.items() if number in ends]


async def find_cables_of_nodes(cluster: Cluster, choice: random.Random) -> list[Cable]:
    return list(cluster.nodes.cables.values())


async def find_cable_of_nodes(cluster: Cluster, choice: random.Random) -> list[Cable]:
    return [choice.choice(list(cluster.nodes.cables.values()))]


def killing(find: Find) -> Fault:
    """Return the fault that kills the nodes found and starts them again."""

    async def kill(cluster: Cluster, choice: random.Random) -> None:
        found = await find(cluster, choice)
        nodes = found if isinstance(found, list) else [found]
        await asyncio.gather(*(node.kill() for node in nodes))
        await asyncio.sleep(AWAY_SECONDS)
        await asyncio.gather(*(node.start() for node in nodes))

    return kill


def freezing(find: Find) -> Fault:
    """Return the fault that freezes the server or node found for some seconds."""

    async def freeze(cluster: Cluster, choice: random.Random) -> None:
        process = await find(cluster, choice)
        process.freeze()
        await asyncio.sleep(choice.uniform(*FREEZE_SECONDS))
        process.thaw()

    return freeze


def pulling(find: Find, harm: Callable[[Cable], None]) -> Fault:
    """Return the fault that harms the cables found for some seconds."""

    async def pull(cluster: Cluster, choice: random.Random) -> None:
        cables = await find(cluster, choice)
        for cable in cables:
            harm(cable)
        await asyncio.sleep(choice.uniform(*FREEZE_SECONDS))
        for cable in cables:
            cable.heal()

    return pull


def restarting(find: Find, by: signal.Signals = signal.SIGTERM) -> Fault:
    """Return the fault that ends the server or node found, and starts it again; a node hands over first."""

    async def restart(cluster: Cluster, choice: random.Random) -> None:
        process = await find(cluster, choice)
        if isinstance(process, Harness):
            await process.end(by)
            await asyncio.sleep(AWAY_SECONDS if by is signal.SIGKILL else 0)
        else:
            process.leave()
            await asyncio.sleep(AWAY_SECONDS)
            await process.stop()
        await process.start()

    return restart


def always(process: Harness | Node) -> Find:
    async def find(cluster: Cluster, choice: random.Random) -> Harness | Node:
        return process

    return find


async def find_all_nodes(cluster: Cluster, choice: random.Random) -> list[Node]:
    return cluster.nodes.nodes


async def silence_node(cluster: Cluster, choice: random.Random) -> None:
    """Freeze the node of a busy server for a long time."""
    cables = await find_cables(cluster, choice)
    node = next(node for node, cable in zip(cluster.nodes.nodes, cables, strict=True) if cable.is_used)
    node.freeze()
    await asyncio.sleep(SILENT_SECONDS)
    node.thaw()


async def wipe_node(cluster: Cluster, choice: random.Random) -> None:
    """Delete everything that a node keeps, as if a new machine replaced it."""
    node = choice.choice(cluster.nodes.nodes)
    await node.stop()
    node.empty()
    await node.start()


async def fill_disk(cluster: Cluster, choice: random.Random) -> None:
    """Fill the disk of a node, and restart the node afterwards because it may not catch up by itself."""
    node, disk = cluster.nodes.nodes[-1], cluster.nodes.disk
    assert disk
    disk.fill()
    await asyncio.sleep(FULL_SECONDS)
    disk.free()
    await node.kill()
    await node.start()


PROCESSES: dict[str, Fault] = {
    "a server killed": restarting(find_serving, signal.SIGKILL),
    "the leader killed": killing(find_leader),
    "the leader frozen": freezing(find_leader),
    "a node wiped": wipe_node,
    "all nodes killed": killing(find_all_nodes),
}
CABLES: dict[str, Fault] = {
    "a server deaf": pulling(find_cables, lambda cable: cable.cut_one_way(from_a=False)),
    "a server unheard": pulling(find_cables, lambda cable: cable.cut_one_way(from_a=True)),
    "the leader cut off from the nodes": pulling(find_cables_of_leader, Cable.cut),
    "a server cut off": pulling(find_cables, Cable.cut),
    "one way cut between two nodes": pulling(find_cable_of_nodes, lambda cable: cable.cut_one_way(from_a=True)),
    "nodes slow to each other": pulling(find_cables_of_nodes, lambda cable: cable.slow(SLOW_SECONDS)),
}
"""Faults of a cluster that has cables."""
TLS: dict[str, Fault] = {"a node silent for long": silence_node}
"""Faults of a cluster that speaks TLS and has cables; without TLS they are soon over."""
DISKS: dict[str, Fault] = {"the disk of a node full": fill_disk}
"""Faults of a cluster with a small disk at one node."""


async def play(
    cluster: Cluster,
    faults: Sequence[tuple[str, Fault]],
    *,
    moves: int,
    rooms: int,
    seed: int = 0,
    clock: Message | None = None,
) -> Found:
    """Play in `rooms` until `moves` are acknowledged, and cause all faults meanwhile, one after another."""
    choice, found = random.Random(seed), Found()
    found.ledger.served.begin(time.monotonic())
    urls = [server.url for server in cluster.servers]
    tables = [Table(number, urls, found, choice) for number in range(rooms)]
    jobs: list[asyncio.Task[None]] = []
    async with contextlib.AsyncExitStack() as stack:
        for table in tables:
            for player in table.players:
                await stack.enter_async_context(player)
            await table.open(clock)
        try:
            jobs += [asyncio.create_task(player.play()) for table in tables for player in table.players]
            for number, (name, fault) in enumerate(faults):
                goal = moves * (number + 1) / (len(faults) + 1)
                await _until(jobs, found, lambda goal=goal: found.moves >= goal)  # type: ignore[misc]
                for table in tables:
                    table.longest_pause = 0.0
                await fault(cluster, choice)
                repaired = time.monotonic()
                await _until(jobs, found, lambda at=repaired: all(table.moved_at >= at for table in tables))  # type: ignore[misc]
                found.faults[name] += 1
                found.pauses[name] += [table.longest_pause for table in tables]
                print(f"{name}: {found.moves} moves, rooms paused {times(found.pauses[name])}", file=sys.stderr)
                await cluster.nodes.when_whole()
            await _until(jobs, found, lambda: found.moves >= moves)
            await cluster.nodes.when_whole()
            found.wrong += await compare_lists(cluster, {table.room for table in tables})
            for table in tables:
                for player in table.players:
                    player.is_stopping = True
            await asyncio.gather(*jobs)
            for table in tables:
                await table.check_end()
                for url in urls:
                    await table.check_history(url)
        except Violation:
            pass
        except TimeoutError as error:
            found.wrong.append(f"Play came to a stop: {error}")
        finally:
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)
    found.slowest_answer = max(player.slowest_answer for table in tables for player in table.players)
    return found


async def _until(jobs: list[asyncio.Task[None]], found: Found, condition: Callable[[], bool]) -> None:
    """Wait for a condition; raises the error of a player's task, and TimeoutError if play has stopped."""
    before, since = -1, time.monotonic()
    while not condition():
        for job in jobs:
            if job.done():
                job.result()
        if found.moves != before:
            before, since = found.moves, time.monotonic()
        if time.monotonic() - since > PATIENCE_SECONDS:
            raise TimeoutError(f"nobody moved for {PATIENCE_SECONDS:.0f} s")
        await asyncio.sleep(0.005)


async def play_while_rolling(
    cluster: Cluster,
    rounds: int,
    *,
    moves: int,
    rooms: int,
    pause_seconds: float = ROLLING_PAUSE_SECONDS,
    seed: int = 0,
) -> Found:
    """Play on clocks while all servers and nodes are restarted in turn, `rounds` times; report long pauses."""
    processes: list[Harness | Node] = [*cluster.servers, *cluster.nodes.nodes]
    restarts = [(f"process {number} restarted", restarting(always(one))) for number, one in enumerate(processes)]
    found = await play(cluster, restarts * rounds, moves=moves, rooms=rooms, seed=seed, clock=ROLLING_CLOCK)
    pauses = sorted(pause for some in found.pauses.values() for pause in some)
    if not pauses or pauses[len(pauses) * 99 // 100] > pause_seconds:
        found.wrong.append(f"Rooms paused {times(pauses)}.")
    return found


async def compare_lists(cluster: Cluster, rooms: set[str]) -> list[str]:
    """Return the servers that do not list exactly these rooms, after some time for synchronising."""
    until = time.monotonic() + COPY_SECONDS
    while True:
        wrong = list[str]()
        for server in cluster.servers:
            async with open_peer(server.url) as peer:
                listed = {row["room"] for row in (await peer.ask("rooms")).get("rooms", ())}
            if listed != rooms:
                wrong.append(f"{server.url} lists {sorted(listed)} in place of {sorted(rooms)}.")
        if not wrong or time.monotonic() > until:
            return wrong
        await asyncio.sleep(0.2)


async def run(
    folder: Path,
    *,
    moves: int,
    faults: int,
    players: int,
    servers: int = 2,
    cables: int = 1,
    tls: int = 1,
    disk: int = 1,
    rolling: int = 0,
    seed: int = 0,
) -> Found:
    """Run a cluster through `faults` faults in random order, or through `rolling` rounds of restarts."""
    if rolling:
        async with Cluster(folder, servers=servers) as cluster:
            return await play_while_rolling(cluster, rolling, moves=moves, rooms=players // 2, seed=seed)
    choice = random.Random(seed)
    chosen = ((True, PROCESSES), (cables, CABLES), (tls and cables, TLS), (disk, DISKS))
    kinds = [kind for is_wanted, some in chosen if is_wanted for kind in some.items()]
    order = list[tuple[str, Fault]]()
    while len(order) < faults:
        order += choice.sample(kinds, len(kinds))
    authority = None
    if tls:
        authority = Authority(folder)
        authority.issue()
    async with Cluster(
        folder, servers=servers, authority=authority, is_proxied=bool(cables), has_small_disk=bool(disk)
    ) as cluster:
        return await play(cluster, order[:faults], moves=moves, rooms=players // 2, seed=seed)
