"""Kills, freezes and restarts servers and nodes of a cluster under play, cuts its links, and looks for every move.

At most a minority of the nodes is down at a time, except when all of them are killed. Afterwards every acknowledged
move must be in the stream exactly once. No client may have seen a room's `seq` decrease or have lost a seat without
notice, all clients of a room must end with the same state, and all servers must list the same rooms.

With --rolling N every server and node is restarted in turn N times, as for an upgrade, while the games run on clocks:
no game may be lost on time, and 99 % of the pauses must be shorter than three seconds.
"""

from __future__ import annotations

import asyncio
import random
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.authority import Authority
from tests.cluster.cables import Cable
from tests.cluster.nodes import Node
from tests.cluster.servers import Cluster
from tests.faults.harness import Harness
from tests.peer import Message, open_peer
from tools.soak.figures import times
from tools.soak.fleet import Fleet
from tools.soak.ledger import Ledger
from tools.soak.stream import Witness, read_finished, read_games

PATIENCE_SECONDS = 6.0
"""How long a client waits for an answer: an owner that is away is noticed, and a store that is away told of, before."""

AWAY_SECONDS = 1.0
"""How long what was killed stays away."""

FREEZE_SECONDS = (2.0, 5.0)
"""Shorter and longer than it takes to be counted as gone."""

COPY_SECONDS = 15.0
"""How soon after the end the servers must have copied every finished game."""

BRIEF_SECONDS = (0.8, 1.6)
"""About as long as it takes to be counted as gone."""

SILENT_SECONDS = 45.0
"""Longer than TLS waits for the other end to say goodbye."""

FULL_SECONDS = 5.0
SLOW_SECONDS = 0.1
ROLLING_CLOCK = {"move_ms": 5_000}
ROLLING_PAUSE_SECONDS = 3.0


@dataclass
class TimedLedger(Ledger):
    """Knows in addition the longest pause of every room since `begin`, and the games that were lost on time."""

    late: set[tuple[str, int]] = field(default_factory=set)
    _last: dict[str, float] = field(default_factory=dict)
    _longest: dict[str, float] = field(default_factory=dict)

    def note_move(self, room: str, game: int, ply: int, cell: int) -> None:
        """Take notice of a move that was answered `ok`."""
        super().note_move(room, game, ply, cell)
        now = time.perf_counter()
        self._longest[room] = max(self._longest.get(room, 0.0), now - self._last.get(room, now))
        self._last[room] = now

    def note_state(self, client: str, state: Message) -> None:
        """Take notice of a state that a client was sent."""
        super().note_state(client, state)
        if state["result"] is not None and state["result"]["reason"] == "timeout":
            self.late.add((state["room"], state["game"]))

    def begin(self) -> None:
        """Forget all pauses up to now."""
        self._longest.clear()

    def pauses(self) -> list[float]:
        """Return the longest time between two moves of each room, in seconds."""
        return list(self._longest.values())

    def have_all_moved_since(self, when: float) -> bool:
        """Tell whether there was a move in every room since then."""
        return all(last >= when for last in self._last.values())


@dataclass
class Found:
    """What came of it: what the ledger has, and the rest.

    By the fault that made them, in seconds: the pauses of rooms, and how long each `unavailable` took to come.
    """

    ledger: TimedLedger = field(default_factory=TimedLedger)
    pauses: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    unavailable: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    faults: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0
    stored: int = 0
    forks: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def broken(self) -> list[str]:
        """What was acknowledged and is not so: lost or played twice, gone back, or replaced."""
        return [*self.ledger.lost, *self.ledger.doubled, *self.ledger.seq_violations, *self.forks]

    @property
    def violations(self) -> list[str]:
        """Everything that must not be."""
        late = (f"game {game} of {room} was lost on time" for room, game in self.ledger.late)
        return [*self.forks, *self.wrong, *late, *self.ledger.violations]

    @property
    def has_failed(self) -> bool:
        return bool(self.violations)

    def __str__(self) -> str:
        rows = (f"  {name} ({self.faults[name]}): {self.cost(name)}" for name in self.faults)
        figures = (
            f"{self.faults.total()} faults, {self.ledger.report()}; {len(self.ledger.moves):,} moves, "
            f"{self.stored:,} states seen in the stream, {self.unanswered} requests without an answer in time, "
            f"{slowest(self.ledger.unavailable_seconds)}, "
            f"{len(self.forks)} moves replaced, {len(self.wrong)} other violations"
        )
        return "\n".join((figures, *rows, *self.violations[:20]))

    def cost(self, name: str) -> str:
        """Say what a fault cost the players."""
        return f"rooms paused {times(self.pauses[name])}; {slowest(self.unavailable[name])}"


def slowest(seconds: Sequence[float]) -> str:
    """Say how often `unavailable` was answered, and how late at most.

    >>> slowest([0.5, 2.0])
    'unavailable 2 times, the slowest after 2.00 s'
    """
    return f"unavailable {len(seconds):,} times" + (f", the slowest after {max(seconds):.2f} s" if seconds else "")


Fault = Callable[[Cluster, random.Random], Awaitable[None]]
"""Does harm to a cluster, and mends it."""


async def find_serving(cluster: Cluster, choice: random.Random) -> Harness:
    """Return the server that has one of the rooms; a server that was restarted has none for a while."""
    url = cluster.servers[0].url
    async with open_peer(url) as peer, asyncio.timeout(PATIENCE_SECONDS):
        while not (rooms := (await peer.ask("rooms"))["rooms"]):  # noqa: ASYNC110 -- it was away itself just now
            await asyncio.sleep(AWAY_SECONDS)
        room = choice.choice(rooms)["room"]
        at = (await peer.ask("watch", room=room)).get("url", url)
    return next(server for server in cluster.servers if server.url == at)


async def find_cables(cluster: Cluster, choice: random.Random) -> list[Cable]:
    """Return the cables of the server that has one of the rooms."""
    return cluster.cables[cluster.servers.index(await find_serving(cluster, choice))]


async def end_server(cluster: Cluster, choice: random.Random, by: signal.Signals) -> None:
    server = await find_serving(cluster, choice)
    await server.end(by)
    if by is signal.SIGKILL:
        await asyncio.sleep(AWAY_SECONDS)
    await server.start()


async def kill_server(cluster: Cluster, choice: random.Random) -> None:
    await end_server(cluster, choice, signal.SIGKILL)


async def restart_server(cluster: Cluster, choice: random.Random) -> None:
    await end_server(cluster, choice, signal.SIGTERM)


async def freeze_server(cluster: Cluster, choice: random.Random) -> None:
    server = await find_serving(cluster, choice)
    server.freeze()
    await asyncio.sleep(choice.uniform(*FREEZE_SECONDS))
    server.thaw()


async def freeze_servers_briefly(cluster: Cluster, choice: random.Random) -> None:
    """Freeze one after another, each for so long that the others are about to take its rooms, or just have."""
    for server in cluster.servers * 2:
        server.freeze()
        await asyncio.sleep(choice.uniform(*BRIEF_SECONDS))
        server.thaw()
        await asyncio.sleep(AWAY_SECONDS)


async def find_leader(cluster: Cluster, choice: random.Random) -> Node:
    """Return the node that leads one of the streams."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (names := await cluster.nodes.streams()):  # noqa: ASYNC110 -- the nodes may just have an election
            await asyncio.sleep(AWAY_SECONDS)
    return await cluster.nodes.when_led(choice.choice(names))


async def find_follower(cluster: Cluster, choice: random.Random) -> Node:
    leader = await find_leader(cluster, choice)
    return choice.choice([node for node in cluster.nodes.nodes if node is not leader])


async def kill_node(node: Node) -> None:
    await node.kill()
    await asyncio.sleep(AWAY_SECONDS)
    await node.start()


async def freeze_node(node: Node, choice: random.Random) -> None:
    node.freeze()
    await asyncio.sleep(choice.uniform(*FREEZE_SECONDS))
    node.thaw()


async def silence_node(cluster: Cluster, choice: random.Random) -> None:
    """Freeze, for long, the node to which the server of some rooms is connected."""
    cables = await find_cables(cluster, choice)
    node = next(node for node, cable in zip(cluster.nodes.nodes, cables, strict=True) if cable.is_used)
    node.freeze()
    await asyncio.sleep(SILENT_SECONDS)
    node.thaw()


async def wipe_node(cluster: Cluster, choice: random.Random) -> None:
    """Have a node lose all that it kept, as on a new machine in the place of one."""
    node = choice.choice(cluster.nodes.nodes)
    await node.stop()
    node.empty()
    await node.start()


async def fill_disk(cluster: Cluster, choice: random.Random) -> None:
    """Leave a node no room; afterwards it is restarted, for it may not catch up by itself."""
    node, disk = cluster.nodes.nodes[-1], cluster.nodes.disk
    assert disk
    disk.fill()
    await asyncio.sleep(FULL_SECONDS)
    disk.free()
    await node.kill()
    await node.start()


async def kill_leader(cluster: Cluster, choice: random.Random) -> None:
    await kill_node(await find_leader(cluster, choice))


async def kill_follower(cluster: Cluster, choice: random.Random) -> None:
    await kill_node(await find_follower(cluster, choice))


async def freeze_leader(cluster: Cluster, choice: random.Random) -> None:
    await freeze_node(await find_leader(cluster, choice), choice)


async def freeze_follower(cluster: Cluster, choice: random.Random) -> None:
    await freeze_node(await find_follower(cluster, choice), choice)


async def restart_node(cluster: Cluster, choice: random.Random) -> None:
    await hand_over(choice.choice(cluster.nodes.nodes))


async def hand_over(node: Node) -> None:
    """Restart a node as an operator does: have it hand over, end it, and start it again."""
    node.leave()
    await asyncio.sleep(AWAY_SECONDS)
    await node.stop()
    await node.start()


async def kill_all_nodes(cluster: Cluster, choice: random.Random) -> None:
    await asyncio.gather(*(node.kill() for node in cluster.nodes.nodes))
    await asyncio.sleep(AWAY_SECONDS)
    await asyncio.gather(*(node.start() for node in cluster.nodes.nodes))


async def mend(cables: Sequence[Cable], choice: random.Random) -> None:
    await asyncio.sleep(choice.uniform(*FREEZE_SECONDS))
    for cable in cables:
        cable.heal()


async def cut_off_leader(cluster: Cluster, choice: random.Random) -> None:
    """Pull the cables between the leader and the other nodes: it must give up, while servers still reach it."""
    number = cluster.nodes.nodes.index(await find_leader(cluster, choice))
    cables = [cable for ends, cable in cluster.nodes.cables.items() if number in ends]
    for cable in cables:
        cable.cut()
    await mend(cables, choice)


async def cut_off_server(cluster: Cluster, choice: random.Random) -> None:
    """Pull the cables between a server and all nodes, while its players still reach it."""
    cables = await find_cables(cluster, choice)
    for cable in cables:
        cable.cut()
    await mend(cables, choice)


async def deafen_server(cluster: Cluster, choice: random.Random) -> None:
    """Lose all that nodes say to a server: it is heard, and hears nothing."""
    cables = await find_cables(cluster, choice)
    for cable in cables:
        cable.cut_one_way(from_a=False)
    await mend(cables, choice)


async def silence_server(cluster: Cluster, choice: random.Random) -> None:
    """Lose all that a server says to nodes: it hears, and is not heard."""
    cables = await find_cables(cluster, choice)
    for cable in cables:
        cable.cut_one_way(from_a=True)
    await mend(cables, choice)


async def cut_one_way_between_nodes(cluster: Cluster, choice: random.Random) -> None:
    cable = choice.choice(list(cluster.nodes.cables.values()))
    cable.cut_one_way(from_a=choice.random() < 0.5)
    await mend([cable], choice)


async def slow_nodes(cluster: Cluster, choice: random.Random) -> None:
    cables = list(cluster.nodes.cables.values())
    for cable in cables:
        cable.slow(SLOW_SECONDS)
    await mend(cables, choice)


PROCESSES: dict[str, Fault] = {
    "a server killed": kill_server,
    "a server restarted": restart_server,
    "a server frozen": freeze_server,
    "servers frozen for a moment": freeze_servers_briefly,
    "the leader killed": kill_leader,
    "a follower killed": kill_follower,
    "the leader frozen": freeze_leader,
    "a follower frozen": freeze_follower,
    "a node restarted": restart_node,
    "a node wiped": wipe_node,
    "all nodes killed": kill_all_nodes,
}
CABLES: dict[str, Fault] = {
    "the leader cut off from the nodes": cut_off_leader,
    "a server cut off": cut_off_server,
    "a server deaf": deafen_server,
    "a server unheard": silence_server,
    "one way cut between two nodes": cut_one_way_between_nodes,
    "nodes slow to each other": slow_nodes,
}
"""Faults of a cluster that has cables."""

TLS: dict[str, Fault] = {"a node silent for long": silence_node}
"""Faults of a cluster that speaks TLS and has cables; without TLS they are soon over."""

DISKS: dict[str, Fault] = {"the disk of a node full": fill_disk}
"""Faults of a cluster of which a node has a small disk."""


async def play(
    cluster: Cluster,
    faults: Sequence[tuple[str, Fault]],
    *,
    moves: int,
    rooms: int,
    watchers: int = 1,
    seed: int = 0,
    clock: Message | None = None,
) -> Found:
    """Let `rooms` play until so many moves are acknowledged, with all faults on the way, one after another."""
    choice = random.Random(seed)
    found, witness = Found(), Witness()
    ledger = found.ledger
    fleet = Fleet(
        rooms,
        *cluster.doors,
        watchers=watchers,
        seed=seed,
        ledger=ledger,
        patience_seconds=PATIENCE_SECONDS,
        clock=clock,
        visibility="public",
    )
    async with witness.looking_on(cluster.nodes):
        try:
            await fleet.start()
            for number, (name, fault) in enumerate(faults):
                goal = moves * (number + 1) / (len(faults) + 1)
                await fleet.until(lambda goal=goal: len(ledger.moves) >= goal)  # type: ignore[misc]
                ledger.begin()
                told = len(ledger.unavailable_seconds)
                await fault(cluster, choice)
                mended = time.perf_counter()
                await fleet.until(lambda mended=mended: ledger.have_all_moved_since(mended))  # type: ignore[misc]
                found.faults[name] += 1
                found.pauses[name] += ledger.pauses()
                found.unavailable[name] += ledger.unavailable_seconds[told:]
                print(f"{name}: {found.cost(name)}; {ledger.report()}", file=sys.stderr)
                await cluster.nodes.when_whole()
            await fleet.until(lambda: len(ledger.moves) >= moves)
            await cluster.nodes.when_whole()
            found.wrong += await compare_lists(cluster, {table[0].room for table in fleet.tables})
            await fleet.stop(lambda: read_games(cluster.nodes))
            found.wrong += await compare_lists(cluster, set())
            found.wrong += await compare_copies(cluster, fleet)
        except TimeoutError as error:
            found.wrong.append(f"play came to a stop: {error}")
        finally:
            await fleet.abandon()
    found.forks = witness.forks
    found.stored = witness.seen
    found.unanswered = sum(client.unanswered for client in fleet.clients)
    return found


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
    restarts = [
        *((f"server {number} restarted", restarting_server(server)) for number, server in enumerate(cluster.servers)),
        *((f"node {number} restarted", restarting_node(node)) for number, node in enumerate(cluster.nodes.nodes)),
    ]
    found = await play(cluster, restarts * rounds, moves=moves, rooms=rooms, seed=seed, clock=ROLLING_CLOCK)
    pauses = sorted(pause for some in found.pauses.values() for pause in some)
    if not pauses or pauses[len(pauses) * 99 // 100] > pause_seconds:
        found.wrong.append(f"rooms paused {times(pauses)}")
    return found


def restarting_server(server: Harness) -> Fault:
    async def restart(cluster: Cluster, choice: random.Random) -> None:
        await server.end(signal.SIGTERM)
        await server.start()

    return restart


def restarting_node(node: Node) -> Fault:
    async def restart(cluster: Cluster, choice: random.Random) -> None:
        await hand_over(node)

    return restart


async def compare_lists(cluster: Cluster, rooms: set[str]) -> list[str]:
    """Say which servers do not list just these rooms, once they had time to hear of them."""
    until = time.monotonic() + COPY_SECONDS
    while True:
        wrong = list[str]()
        for server in cluster.servers:
            async with open_peer(server.url) as peer:
                listed = {row["room"] for row in (await peer.ask("rooms")).get("rooms", ())}
            if listed != rooms:
                ghosts, missing = sorted(listed - rooms), sorted(rooms - listed)
                wrong.append(f"{server.url} lists {ghosts} where nobody is, and leaves {missing} out")
        if not wrong or time.monotonic() > until:
            return wrong
        await asyncio.sleep(0.2)


async def compare_copies(cluster: Cluster, fleet: Fleet) -> list[str]:
    """Say which games of the stream the servers do not tell the players of, once they had time to copy them."""
    stored = await read_finished(cluster.nodes)
    rooms = {table[0].room for table in fleet.tables}
    until = time.monotonic() + COPY_SECONDS
    while True:
        wrong = list[str]()
        for server in cluster.servers:
            told = await fleet.collect_finished(server.url)
            missing = [key for key in stored if key[0] in rooms and told.get(key) != stored[key]]
            wrong += [f"{server.url} does not tell of game {game} of {room} as stored" for room, game in missing]
        if not wrong or time.monotonic() > until:
            return wrong
        await asyncio.sleep(0.2)


async def run(
    folder: Path,
    *,
    moves: int,
    faults: int,
    players: int,
    watchers: int = 1,
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
        return await play(cluster, order[:faults], moves=moves, rooms=players // 2, watchers=watchers, seed=seed)
