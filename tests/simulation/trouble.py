"""Bad weather: what goes wrong, and when. Each seed chooses some kinds, so that rare combinations are tried, too."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, ClassVar, Final

from tests.simulation.peer import HARMS

if TYPE_CHECKING:
    from tests.simulation.host import Host
    from tests.simulation.run import Site

MEAN_SECONDS: Final = {
    "cuts": 20,
    "kills": 90,
    "power": 60,
    "restarts": 200,
    "silent disk": 120,
    "full disk": 120,
    "pauses": 150,
    "wall clock": 150,
}
"""The kinds of trouble, and how long it takes on average until each strikes again; a seed varies it threefold."""


class Trouble:
    """Strikes one server and its people until it is told to end."""

    means: ClassVar[dict[str, int]] = MEAN_SECONDS

    def __init__(self, site: Site, kinds: tuple[str, ...] = ()) -> None:
        self.site = site
        self.chance = site.world.chance("trouble")
        chosen = [kind for kind in self.means if self.chance.random() < 0.5] or ["cuts", "kills"]
        self.kinds = list(kinds) or chosen
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self.site.loses_answers = "cuts" in self.kinds
        for kind in self.kinds:
            mean = self.means[kind] * self.chance.choice((0.3, 1.0, 3.0))
            self._tasks.append(self.site.world.create_task(self._strike_again(kind, mean)))

    async def end(self) -> None:
        """Stop all trouble, and wait until every server is up."""
        self.site.loses_answers = False
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.site.heal()
        await self.site.start()
        self.site.ledger.tell("all trouble is over")

    async def _strike_again(self, kind: str, mean_seconds: float) -> None:
        chance = self.site.world.chance(f"trouble {kind}")
        strike = getattr(self, f"_strike_{kind.replace(' ', '_')}")
        while True:
            await asyncio.sleep(chance.expovariate(1 / mean_seconds))
            await self.site.wait_until_up()
            self.site.ledger.count(f"trouble {kind}")
            self.site.ledger.tell(f"trouble: {kind}")
            self.site.world.trace("trouble", kind)
            await strike(chance)

    async def _strike_cuts(self, chance: random.Random) -> None:
        connected = [person.peer for person in self.site.people if person.peer and hasattr(person.peer, "wire")]
        peers = [peer for peer in connected if not peer.is_lost]
        for peer in chance.sample(peers, min(len(peers), chance.choice((1, 1, 1, 2, 5)))):
            peer.harm(chance.choice(HARMS), chance)

    async def _strike_kills(self, chance: random.Random) -> None:
        host = chance.choice(self.site.hosts)
        host.crash(is_power=False, resets=True)
        await self._start_again(host, chance)

    async def _strike_power(self, chance: random.Random) -> None:
        """Let the power fail around a commit within the next seconds, or at the latest after ten."""
        host = self.site.hosts[0]
        disk, life = self.site.disk, host.life
        disk.is_recording = True
        await asyncio.sleep(chance.uniform(0.0, 3.0))
        disk.on_power_loss = lambda: host.crash(is_power=True, resets=chance.random() < 0.7)
        disk.crash_at = chance.randint(1, 4), chance.choice(("before commit", "after commit"))
        for _ in range(200):
            await asyncio.sleep(0.05)
            if host.is_down or host.life != life:
                break
        if host.life != life:
            return
        if not host.is_down:
            disk.crash_at = None
            host.crash(is_power=True, resets=True)
        await self._start_again(host, chance)

    async def _strike_restarts(self, chance: random.Random) -> None:
        host = chance.choice(self.site.hosts)
        await host.stop()
        await asyncio.sleep(chance.uniform(0.1, 5.0))
        await self._start_until_up(host)

    async def _strike_silent_disk(self, chance: random.Random) -> None:
        seconds = chance.choice((0.5, 1.5, 3.0, 8.0, 30.0)) * chance.uniform(0.7, 1.3)
        self.site.disk.silent_until = self.site.world.time() + seconds
        self.site.note_trouble(seconds + 10)
        await asyncio.sleep(seconds)

    async def _strike_full_disk(self, chance: random.Random) -> None:
        seconds = chance.choice((0.2, 2.0, 10.0)) * chance.uniform(0.5, 1.5)
        if chance.random() < 0.5:
            await self._wait_for_end_of_clock()
        disk = self.site.disk
        disk.early_refusals, disk.late_refusals = chance.choice(((0.9, 0.0), (0.0, 0.5), (0.3, 0.3)))
        disk.refuses_until = self.site.world.time() + seconds
        self.site.note_trouble(seconds + 10)
        await asyncio.sleep(seconds)

    async def _wait_for_end_of_clock(self) -> None:
        """Wait until a clock is about to run out, for a minute at most."""
        for _ in range(240):
            await asyncio.sleep(0.25)
            if any(host.is_clock_ending for host in self.site.hosts):
                return

    async def _strike_pauses(self, chance: random.Random) -> None:
        self.site.world.pause(chance.choice((0.05, 0.5, 3.0, 20.0)) * chance.uniform(0.5, 1.5))
        self.site.note_trouble(20.0)

    async def _strike_wall_clock(self, chance: random.Random) -> None:
        self.site.set_wall_clock(chance.choice((-86_400, -3_600, -30, 30, 3_600, 86_400)))

    async def _start_again(self, host: Host, chance: random.Random) -> None:
        await asyncio.sleep(chance.choice((0.3, 3.0, 40.0)) * chance.uniform(0.5, 1.5))
        await self._start_until_up(host)

    async def _start_until_up(self, host: Host) -> None:
        """Start a server, again and again if its store fails."""
        await host.start()
        while host.is_down:
            await asyncio.sleep(1.0)
            await host.start()
