"""Kinds of trouble, and when they strike. Each seed chooses some kinds, so that rare combinations are tried, too."""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import TYPE_CHECKING, Any, Final

from tests.simulation.network import NEAR_PORTS
from tests.simulation.peer import HARMS
from tests.simulation.world import MACHINE

if TYPE_CHECKING:
    from tests.simulation.run import Host, Site

KINDS: Final = {
    "cuts": (20, 20),
    "kills": (90, 90),
    "power": (60, 0),
    "restarts": (200, 120),
    "silent disk": (120, 0),
    "full disk": (120, 0),
    "freezes": (0, 100),
    "isolation": (0, 100),
    "no leader": (0, 90),
    "lost answers": (0, 60),
    "pauses": (150, 300),
    "wall clock": (150, 0),
}
"""After how many seconds on average each kind of trouble strikes again at one server, and at a cluster; 0 is never."""
NODE_PATIENCE_SECONDS: Final = 12.0  # until a node drops a silent client
SETTLING_SECONDS: Final = 20.0  # how long after trouble two servers or none may have a room


class Trouble:
    """Strikes the servers, their stores and their people until it is told to end."""

    def __init__(self, site: Site) -> None:
        self.site, self.world = site, site.world
        self.storage: Any = site.storage
        self.chance = self.world.chance("trouble")
        possible = [kind for kind, seconds in KINDS.items() if seconds[site.is_cluster]]
        self.kinds = [kind for kind in possible if self.chance.random() < 0.5] or ["cuts", "kills"]
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self.site.loses_answers = "cuts" in self.kinds
        for kind in self.kinds:
            mean = KINDS[kind][self.site.is_cluster] * self.chance.choice((0.3, 1.0, 3.0))
            self._tasks.append(self.world.create_task(self._strike_again(kind, mean)))

    async def end(self) -> None:
        """Stop all trouble, and wait until every server is up."""
        site = self.site
        site.loses_answers = False
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        site.storage.heal()
        site.network.blocked_until.clear()
        if site.is_cluster:
            site.note_trouble(60.0)
        await site.start()
        site.ledger.tell("all trouble is over")

    async def _strike_again(self, kind: str, mean_seconds: float) -> None:
        chance = self.world.chance(f"trouble {kind}")
        strike = getattr(self, f"_strike_{kind.replace(' ', '_')}")
        while True:
            await asyncio.sleep(chance.expovariate(1 / mean_seconds))
            if not self.site.is_cluster:  # where trouble may strike one server while others are down
                await self.site.hosts[0].up.wait()
            self.site.ledger.count(f"trouble {kind}")
            self.site.ledger.tell(f"trouble: {kind}")
            self.world.trace("trouble", kind)
            await strike(chance)

    async def _wait(self, seconds: float, more: float = 10.0) -> None:
        """Wait until trouble is over, which may be felt for some seconds more."""
        self.site.note_trouble(seconds + more)
        await asyncio.sleep(seconds)

    async def _strike_cuts(self, chance: random.Random) -> None:
        peers = [person.peer for person in self.site.people if person.is_connected and hasattr(person.peer, "wire")]
        for peer in chance.sample(peers, min(len(peers), chance.choice((1, 1, 1, 2, 5)))):
            peer.harm(chance.choice(HARMS), chance)

    async def _strike_kills(self, chance: random.Random) -> None:
        host = chance.choice(self.site.hosts)
        host.crash(is_power=False)
        await self._start_again(host, chance)

    async def _strike_power(self, chance: random.Random) -> None:
        """Cut the power around a commit within the next seconds, or at the latest after ten."""
        host, disk = self.site.hosts[0], self.storage
        disk.is_recording = True
        await asyncio.sleep(chance.uniform(0.0, 3.0))
        disk.on_power_loss = lambda: host.crash(is_power=True)
        disk.crash_at = chance.randint(1, 4), chance.choice(("before commit", "after commit"))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(host.stopped.wait(), 10.0)
        host.crash(is_power=True)
        await self._start_again(host, chance)

    async def _strike_restarts(self, chance: random.Random) -> None:
        host = chance.choice(self.site.hosts)
        await host.stop()
        await self._start_again(host, chance)

    async def _strike_silent_disk(self, chance: random.Random) -> None:
        seconds = chance.choice((0.5, 1.5, 3.0, 8.0, 30.0)) * chance.uniform(0.7, 1.3)
        self.storage.silent_until = self.world.time() + seconds
        await self._wait(seconds)

    async def _strike_full_disk(self, chance: random.Random) -> None:
        seconds = chance.choice((0.2, 2.0, 10.0)) * chance.uniform(0.5, 1.5)
        for _ in range(chance.choice((0, 240))):
            await asyncio.sleep(0.25)
            if self.site.hosts[0].is_clock_ending:
                break
        disk = self.storage
        disk.early_refusals, disk.late_refusals = chance.choice(((0.9, 0.0), (0.0, 0.5), (0.3, 0.3)))
        disk.refuses_until = self.world.time() + seconds
        await self._wait(seconds)

    async def _strike_pauses(self, chance: random.Random) -> None:
        self.world.pause(chance.choice((0.05, 0.5, 3.0, 20.0)) * chance.uniform(0.5, 1.5))
        self.site.note_trouble(20.0)

    async def _strike_wall_clock(self, chance: random.Random) -> None:
        MACHINE.wall_offset += chance.choice((-86_400, -3_600, -30, 30, 3_600, 86_400))

    async def _strike_freezes(self, chance: random.Random) -> None:
        host, seconds = chance.choice(self.site.hosts), _draw_seconds(chance)
        if not host.is_down and host.process is not None:
            host.process.frozen_until = self.world.time() + seconds
            await self._wait_without(host, seconds)

    async def _strike_isolation(self, chance: random.Random) -> None:
        """Lose everything between a server and the nodes; its players still reach it."""
        host, seconds = chance.choice(self.site.hosts), _draw_seconds(chance)
        for port in NEAR_PORTS:
            self.site.network.blocked_until[host.address, port] = self.world.time() + seconds
        for transport in self._find_transports(host):
            transport.is_cut = transport.other.is_cut = True
        await self._wait_without(host, seconds)

    async def _strike_no_leader(self, chance: random.Random) -> None:
        seconds = _draw_seconds(chance)
        self.storage.leaderless_until = self.world.time() + seconds
        self.storage.is_refusing = chance.random() < 0.5
        await self._wait(seconds, SETTLING_SECONDS)

    async def _strike_lost_answers(self, chance: random.Random) -> None:
        seconds = chance.choice((0.5, 3.0, 20.0)) * chance.uniform(0.5, 1.5)
        self.storage.faulty_until = self.world.time() + seconds
        self.storage.copied = chance.choice((None, self.storage.sequence))
        await self._wait(seconds, SETTLING_SECONDS)
        self.storage.copied = None

    async def _wait_without(self, host: Host, seconds: float) -> None:
        """Wait while a server cannot serve its players, who count as away until it is settled who has their rooms."""
        cut_off = [(one, one.peer) for one in self.site.people if one.is_connected and one.port == host.port]

        def note_back() -> None:
            for person, peer in cut_off:
                if person.peer is peer and not peer.is_lost:
                    for code in peer.rooms:
                        self.site.ledger.rooms[code].note_back(person.id)

        for person, peer in cut_off:
            person.lose(peer)
        if seconds > NODE_PATIENCE_SECONDS:
            for transport in self._find_transports(host):
                self.world.call_later(NODE_PATIENCE_SECONDS, transport.abort)
        self.world.call_later(seconds + SETTLING_SECONDS, note_back)
        await self._wait(seconds, SETTLING_SECONDS)

    def _find_transports(self, host: Host) -> list[Any]:
        """Return the nodes' ends of a server's connections."""
        transports = [client.transport for client in self.storage.clients]
        return [transport for transport in transports if transport.other.process is host.process]

    async def _start_again(self, host: Host, chance: random.Random) -> None:
        await asyncio.sleep(chance.choice((0.3, 3.0, 40.0)) * chance.uniform(0.5, 1.5))
        await host.start()


def _draw_seconds(chance: random.Random) -> float:
    return chance.choice((0.3, 1.0, 2.0, 5.0, 12.0, 30.0)) * chance.uniform(0.6, 1.4)
