"""Several servers that share the simulated store, their kinds of trouble, and their common invariants."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import ClassVar, Final

from tests.simulation.host import PORT, Host
from tests.simulation.ledger import CLUSTER_MS, HOLD_SECONDS, ServedTime
from tests.simulation.network import NEAR_PORTS
from tests.simulation.run import Site
from tests.simulation.store import NodeClient, Store
from tests.simulation.trouble import Trouble
from tests.simulation.world import Queue, Thread, World
from tictactoe_server.cluster.jetstream.store import JetStreamStore
from tictactoe_server.server import kept_by
from tictactoe_server.settings import Settings
from tictactoe_server.storage.database import Database
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.writer import Writer

MEAN_SECONDS: Final = {
    "cuts": 20,
    "kills": 90,
    "restarts": 120,
    "freezes": 100,
    "isolation": 100,
    "frozen node": 120,
    "no leader": 90,
    "lost answers": 60,
    "pauses": 300,
}
"""The kinds of trouble of a cluster, as in `trouble.MEAN_SECONDS`."""
SETTLING_SECONDS: Final = 20.0
"""How long after trouble two servers may have the same room, or none has it."""
STORE: Final = "nats://" + ",".join(f"127.0.0.1:{port}" for port in NEAR_PORTS)


class ClusterHost(Host):
    """A server of a cluster."""

    def __init__(self, site: Site, number: int) -> None:
        super().__init__(site, ServedTime(), f"server {number + 1}", PORT + number)

    def begin_life(self, *, after_power_loss: bool) -> Settings:
        return Settings(
            host="127.0.0.1", port=self.port, store=STORE, demo=False, page=False, hold_seconds=HOLD_SECONDS
        )

    async def open_store(self) -> JetStreamStore:
        specs = kept_by(())
        copy = SqliteStore(Writer(Database(None, specs), thread=Thread, queue=Queue), specs)  # type: ignore[arg-type]
        return await JetStreamStore.open(STORE, specs, copy=copy)


class ClusterTrouble(Trouble):
    """Strikes the servers of a cluster, their store, and the links between them."""

    means: ClassVar[dict[str, int]] = MEAN_SECONDS
    site: ClusterSite

    async def _strike_freezes(self, chance: random.Random) -> None:
        """Stop the process of a server for a while, as with SIGSTOP."""
        host, seconds = chance.choice(self.site.hosts), _draw_seconds(chance)
        if not host.is_down and host.process is not None:
            host.process.freeze(seconds)
            await self._wait_without(host, seconds)

    async def _strike_isolation(self, chance: random.Random) -> None:
        """Lose everything between a server and the nodes; its players still reach it."""
        host, seconds = chance.choice(self.site.hosts), _draw_seconds(chance)
        for port in NEAR_PORTS:
            self.site.network.blocked[host.address, port] = self.site.world.time() + seconds
        for client in [one for one in self.site.store.clients if one.transport.other.process is host.process]:
            client.transport.cut()
            client.transport.other.cut()
        await self._wait_without(host, seconds)

    async def _strike_frozen_node(self, chance: random.Random) -> None:
        """Stop a node, or kill it and start it again."""
        store, port, seconds = self.site.store, chance.choice(NEAR_PORTS), _draw_seconds(chance)
        store.frozen_until[port] = self.site.world.time() + seconds
        is_killed = chance.random() < 0.5
        for client in [one for one in store.clients if isinstance(one, NodeClient) and one.port == port]:
            for wire in (client.transport, client.transport.other):
                if is_killed:
                    wire.break_off()
                else:
                    wire.stall(seconds)
        self.site.note_trouble(seconds + SETTLING_SECONDS)
        await asyncio.sleep(seconds)

    async def _strike_no_leader(self, chance: random.Random) -> None:
        """Leave the stream without a leader."""
        seconds = _draw_seconds(chance)
        self.site.store.leaderless_until = self.site.world.time() + seconds
        self.site.store.is_refusing = chance.random() < 0.5
        self.site.note_trouble(seconds + SETTLING_SECONDS)
        await asyncio.sleep(seconds)

    async def _strike_lost_answers(self, chance: random.Random) -> None:
        """Let writes meet a fault for a while."""
        seconds = chance.choice((0.5, 3.0, 20.0)) * chance.uniform(0.5, 1.5)
        store = self.site.store
        store.faulty_until = self.site.world.time() + seconds
        store.copied = chance.choice((None, store.sequence))
        self.site.note_trouble(seconds + SETTLING_SECONDS)
        await asyncio.sleep(seconds)
        store.copied = None

    async def _wait_without(self, host: Host, seconds: float) -> None:
        """Wait while a server cannot serve its players, who count as away until it is settled who has their rooms."""
        site = self.site
        site.note_trouble(seconds + SETTLING_SECONDS)
        cut_off = [(one, one.peer) for one in site.people if one.is_connected and one.port == host.port]

        def note_back() -> None:
            for person, peer in cut_off:
                if peer is not None and person.peer is peer and not peer.is_lost:
                    for code in peer.rooms:
                        site.ledger.rooms[code].note_back(person.id)

        for person, peer in cut_off:
            if peer is not None:
                person.lose(peer)
        site.world.call_later(seconds + SETTLING_SECONDS, note_back)
        await asyncio.sleep(seconds)


class ClusterSite(Site):
    """Several servers, the store that they share, and everybody who uses them.

    A room is at most at one server, and at one if its players are connected, except for a while after trouble.
    """

    def __init__(self, world: World, kinds: tuple[str, ...] = (), *, servers: int, tables: int, games: int) -> None:
        self._servers = servers
        super().__init__(world, kinds, tables=tables, games=games)

    def _make_hosts(self) -> list[Host]:
        self.is_cluster = True
        self.ledger.slack_ms = CLUSTER_MS
        self.store = Store(self.world, self.network)
        self.ledger.served.begin(self.world.time())
        return [ClusterHost(self, number) for number in range(self._servers)]

    def _make_trouble(self, kinds: tuple[str, ...]) -> Trouble:
        self.world.create_task(self._keep_checking())
        return ClusterTrouble(self, kinds)

    @property
    def life(self) -> int:
        return 0

    async def run(self, seconds: float) -> None:
        """Take a third of the time: each second costs more than with one server."""
        await super().run(seconds / 3)

    async def wait_until_up(self) -> None:
        """Return at once: trouble may strike one server while others are down."""

    async def start(self) -> None:
        while any(host.is_down for host in self.hosts):
            await asyncio.gather(*(host.start() for host in self.hosts))

    def heal(self) -> None:
        self.store.heal()
        self.network.blocked.clear()
        self.note_trouble(60.0)

    def count(self) -> dict[str, int]:
        return {**self.store.counts, "lives": sum(host.life for host in self.hosts)}

    def remove(self) -> None:
        """Do nothing: a cluster has no files."""

    async def _keep_checking(self) -> None:
        while True:
            await asyncio.sleep(2.0)
            if not self.was_troubled_since(self.world.time()):
                self._check_owners()

    def _check_owners(self) -> None:
        """Check that each room is at one server."""
        owners = defaultdict(list)
        for host in self.hosts:
            for code in sorted(host.rooms):
                owners[code].append(host.name)
        for code, names in owners.items():
            if len(names) > 1:
                self.ledger.fail(f"{' and '.join(names)} both have the room {code}.", code)
        for person in self.people:
            for code in sorted(person.peer.rooms) if person.is_connected and person.peer is not None else ():
                if code not in owners:
                    self.ledger.fail(f"No server has the room of {person.name}, who is connected.", code)
        self.ledger.count("owners checked")


def choose_site(seed: int, servers: int) -> Callable[..., Site]:
    """Return what makes the site of a seed, with the given number of servers, or with the seed's choice if it is 0."""
    servers = servers or random.Random(f"{seed}:servers").choice((1, 1, 1, 1, 1, 1, 1, 1, 2, 3))
    return Site if servers == 1 else partial(ClusterSite, servers=servers)


def _draw_seconds(chance: random.Random) -> float:
    return chance.choice((0.3, 1.0, 2.0, 5.0, 12.0, 30.0)) * chance.uniform(0.6, 1.4)
