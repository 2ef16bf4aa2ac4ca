"""Kills, freezes and restarts servers and nodes of a house under play, pulls its cables, and looks for every move.

No more than a minority of the nodes is ever away, but where all of them are killed. Afterwards every acknowledged move
must lie in the stream, once; nobody may have seen a room go back; and all in a room must end with the same state.
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

from tests.faults.fleet import Fleet
from tests.faults.ledger import Ledger
from tests.house.cables import Cable
from tests.house.nodes import Node
from tests.house.servers import House
from tests.house.stream import Witness, read_games
from tests.peer import Message
from tests.soak.figures import times

PATIENCE_SECONDS = 6.0
"""How long a client waits for an answer: an owner that is away is noticed, and a store that is away told of, before."""

AWAY_SECONDS = 1.0
"""How long what was killed stays away."""

FREEZE_SECONDS = (2.0, 5.0)
"""Shorter and longer than it takes to be counted as gone."""

COPY_SECONDS = 15.0
"""How soon after the end the servers must have copied every finished game."""

SLOW_SECONDS = 0.1


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
    """What came of it: what the ledger has, the pauses of rooms by the fault that made them, and the rest."""

    ledger: TimedLedger = field(default_factory=TimedLedger)
    pauses: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
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
        rows = (f"  {name} ({self.faults[name]}): rooms paused {times(self.pauses[name])}" for name in self.faults)
        figures = (
            f"{self.faults.total()} faults, {self.ledger.report()}; {len(self.ledger.moves):,} moves, "
            f"{self.stored:,} states seen in the stream, {self.unanswered} requests without an answer in time, "
            f"{len(self.forks)} moves replaced, {len(self.wrong)} other violations"
        )
        return "\n".join((figures, *rows, *self.violations[:20]))


Fault = Callable[[House, random.Random], Awaitable[None]]
"""Does harm to a house, and mends it."""


async def end_server(house: House, choice: random.Random, by: signal.Signals) -> None:
    server = choice.choice(house.servers)
    await server.end(by)
    if by is signal.SIGKILL:
        await asyncio.sleep(AWAY_SECONDS)
    await server.start()


async def kill_server(house: House, choice: random.Random) -> None:
    await end_server(house, choice, signal.SIGKILL)


async def restart_server(house: House, choice: random.Random) -> None:
    await end_server(house, choice, signal.SIGTERM)


async def freeze_server(house: House, choice: random.Random) -> None:
    server = choice.choice(house.servers)
    server.freeze()
    await asyncio.sleep(choice.uniform(*FREEZE_SECONDS))
    server.thaw()


async def find_follower(house: House, choice: random.Random) -> Node:
    leader = await house.nodes.when_led()
    return choice.choice([node for node in house.nodes.nodes if node is not leader])


async def kill_node(node: Node) -> None:
    await node.kill()
    await asyncio.sleep(AWAY_SECONDS)
    await node.start()


async def freeze_node(node: Node, choice: random.Random) -> None:
    node.freeze()
    await asyncio.sleep(choice.uniform(*FREEZE_SECONDS))
    node.thaw()


async def kill_leader(house: House, choice: random.Random) -> None:
    await kill_node(await house.nodes.when_led())


async def kill_follower(house: House, choice: random.Random) -> None:
    await kill_node(await find_follower(house, choice))


async def freeze_leader(house: House, choice: random.Random) -> None:
    await freeze_node(await house.nodes.when_led(), choice)


async def freeze_follower(house: House, choice: random.Random) -> None:
    await freeze_node(await find_follower(house, choice), choice)


async def restart_node(house: House, choice: random.Random) -> None:
    await hand_over(choice.choice(house.nodes.nodes))


async def hand_over(node: Node) -> None:
    """Restart a node as an operator does: have it hand over, end it, and start it again."""
    node.leave()
    await asyncio.sleep(AWAY_SECONDS)
    await node.stop()
    await node.start()


async def kill_all_nodes(house: House, choice: random.Random) -> None:
    await asyncio.gather(*(node.kill() for node in house.nodes.nodes))
    await asyncio.sleep(AWAY_SECONDS)
    await asyncio.gather(*(node.start() for node in house.nodes.nodes))


async def mend(cables: Sequence[Cable], choice: random.Random) -> None:
    await asyncio.sleep(choice.uniform(*FREEZE_SECONDS))
    for cable in cables:
        cable.heal()


async def cut_off_leader(house: House, choice: random.Random) -> None:
    """Pull the cables between the leader and the other nodes: it must give up, while servers still reach it."""
    number = house.nodes.nodes.index(await house.nodes.when_led())
    cables = [cable for ends, cable in house.nodes.cables.items() if number in ends]
    for cable in cables:
        cable.cut()
    await mend(cables, choice)


async def cut_off_server(house: House, choice: random.Random) -> None:
    """Pull the cables between a server and all nodes, while its players still reach it."""
    cables = choice.choice(house.cables)
    for cable in cables:
        cable.cut()
    await mend(cables, choice)


async def deafen_server(house: House, choice: random.Random) -> None:
    """Lose all that nodes say to a server: it is heard, and hears nothing."""
    cables = choice.choice(house.cables)
    for cable in cables:
        cable.cut_one_way(from_a=False)
    await mend(cables, choice)


async def silence_server(house: House, choice: random.Random) -> None:
    """Lose all that a server says to nodes: it hears, and is not heard."""
    cables = choice.choice(house.cables)
    for cable in cables:
        cable.cut_one_way(from_a=True)
    await mend(cables, choice)


async def cut_one_way_between_nodes(house: House, choice: random.Random) -> None:
    cable = choice.choice(list(house.nodes.cables.values()))
    cable.cut_one_way(from_a=choice.random() < 0.5)
    await mend([cable], choice)


async def slow_nodes(house: House, choice: random.Random) -> None:
    cables = list(house.nodes.cables.values())
    for cable in cables:
        cable.slow(SLOW_SECONDS)
    await mend(cables, choice)


PROCESSES: dict[str, Fault] = {
    "a server killed": kill_server,
    "a server restarted": restart_server,
    "a server frozen": freeze_server,
    "the leader killed": kill_leader,
    "a follower killed": kill_follower,
    "the leader frozen": freeze_leader,
    "a follower frozen": freeze_follower,
    "a node restarted": restart_node,
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
"""Faults of a house that has cables."""


async def play(
    house: House,
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
        *house.doors,
        watchers=watchers,
        seed=seed,
        ledger=ledger,
        patience_seconds=PATIENCE_SECONDS,
        clock=clock,
    )
    async with witness.looking_on(house.nodes):
        try:
            await fleet.start()
            for number, (name, fault) in enumerate(faults):
                goal = moves * (number + 1) / (len(faults) + 1)
                await fleet.until(lambda goal=goal: len(ledger.moves) >= goal)  # type: ignore[misc]
                ledger.begin()
                await fault(house, choice)
                mended = time.perf_counter()
                await fleet.until(lambda mended=mended: ledger.have_all_moved_since(mended))  # type: ignore[misc]
                found.faults[name] += 1
                found.pauses[name] += ledger.pauses()
                print(f"{name}: rooms paused {times(ledger.pauses())}; {ledger.report()}", file=sys.stderr)
                await house.nodes.when_whole()
            await fleet.until(lambda: len(ledger.moves) >= moves)
            await fleet.stop(lambda: read_games(house.nodes))
            found.wrong += await compare_copies(house, fleet)
        except TimeoutError as error:
            found.wrong.append(f"play came to a stop: {error}")
        finally:
            await fleet.abandon()
    found.forks = witness.forks
    found.stored = witness.seen
    found.unanswered = sum(client.unanswered for client in fleet.clients)
    return found


async def compare_copies(house: House, fleet: Fleet) -> list[str]:
    """Say which games of the stream the servers do not tell the players of, once they had time to copy them."""
    stored = await read_games(house.nodes)
    rooms = {table[0].room for table in fleet.tables}
    until = time.monotonic() + COPY_SECONDS
    while True:
        told = await fleet.collect()
        missing = [key for key in stored if key[0] in rooms and told.get(key) != stored[key]]
        if not missing or time.monotonic() > until:
            return [f"game {game} of {room} is not told of as it is stored" for room, game in missing]
        await asyncio.sleep(0.2)


async def run(
    folder: Path,
    *,
    moves: int,
    faults: int,
    rooms: int,
    watchers: int = 1,
    servers: int = 2,
    cables: int = 1,
    seed: int = 0,
) -> Found:
    """Run a house and do to it every fault in turn, in an order left to chance, `faults` in all."""
    choice = random.Random(seed)
    kinds = list((PROCESSES | CABLES if cables else PROCESSES).items())
    order = list[tuple[str, Fault]]()
    while len(order) < faults:
        order += choice.sample(kinds, len(kinds))
    async with House(folder, servers=servers, is_proxied=bool(cables)) as house:
        return await play(house, order[:faults], moves=moves, rooms=rooms, watchers=watchers, seed=seed)
