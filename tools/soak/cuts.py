"""Cuts connections at a random byte, either way, in mid-game, and measures how soon the seats are had again."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.harness import Harness
from tests.proxy import Link, Proxy
from tools.soak.figures import times
from tools.soak.fleet import Fleet
from tools.soak.ledger import Ledger

LONGEST_BYTES = 4_000
BACK_SECONDS = 10.0
"""After how long somebody counts as not having come back."""


@dataclass
class Cuts:
    """What came of it; `away_seconds` are the times from the loss of a connection to the seat."""

    ledger: Ledger
    cuts: int = 0
    away_seconds: list[float] = field(default_factory=list)

    @property
    def too_late(self) -> int:
        return sum(seconds > BACK_SECONDS for seconds in self.away_seconds)

    @property
    def has_failed(self) -> bool:
        return bool(self.ledger.violations) or self.too_late * 1000 > len(self.away_seconds)

    def __str__(self) -> str:
        returns = len(self.away_seconds)
        figure = f"{self.cuts:,} cuts, {returns - self.too_late:,} of {returns:,} back in their seats"
        return "\n".join(
            (f"{figure}, {times(self.away_seconds)}; {self.ledger.report()}", *self.ledger.violations[:20])
        )


async def run(folder: Path, *, cuts: int, rooms: int, watchers: int = 0, seed: int = 0) -> Cuts:
    """Let `rooms` play through a proxy that cuts each connection somewhere, until somebody was away `cuts` times."""
    choice = random.Random(seed)
    links: list[Link] = []

    def doom(link: Link) -> None:
        links.append(link)
        way = choice.choice((link.up, link.down))
        way.cut_after = choice.randrange(1, LONGEST_BYTES)

    async with Harness(folder) as server, Proxy(server.port) as proxy:

        async def address() -> str:
            return proxy.url

        fleet = Fleet(rooms, address, watchers=watchers, seed=seed)
        found = Cuts(fleet.ledger)

        def returns() -> int:
            return sum(len(client.away_seconds) for client in fleet.clients)

        try:
            await fleet.start()
            proxy.on_link = doom
            for link in list(proxy.links):
                doom(link)
            for tenth in range(1, 11):
                await fleet.until(lambda goal=cuts * tenth / 10: returns() >= goal)  # type: ignore[misc]
                print(f"{returns():,} times back: {fleet.ledger.report()}", file=sys.stderr)
            proxy.on_link = lambda link: None
            for link in proxy.links:
                link.up.cut_after = link.down.cut_after = None
            await fleet.stop()
        finally:
            await fleet.abandon()
    found.cuts = sum(link.is_cut for link in links)
    found.away_seconds = [seconds for client in fleet.clients for seconds in client.away_seconds]
    return found
