"""Races two connections of one player for their seat: one has it afterwards, and the other was told.

With two servers the connections come by both, and two players race for one free seat, too: one of them gets it.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.servers import Cluster
from tests.cluster.visitor import Visitor
from tests.faults.harness import Harness
from tests.peer import Peer, open_peer
from tools.soak.figures import times

TOLD_SECONDS = 0.1
"""How soon the older connection has to be told, in 99 of 100 races."""


@dataclass
class Seats:
    """What came of it; `told_seconds` are the times from the newer connection's request to the older one's notice."""

    races: int = 0
    wrong: list[str] = field(default_factory=list)
    told_seconds: list[float] = field(default_factory=list)

    @property
    def has_failed(self) -> bool:
        late = sum(seconds > TOLD_SECONDS for seconds in self.told_seconds)
        return bool(self.wrong) or late * 100 > len(self.told_seconds)

    def __str__(self) -> str:
        figure = f"{self.races:,} races, {len(self.wrong)} with none or two in the seat or nobody told"
        return "\n".join((f"{figure}; told after {times(self.told_seconds)}", *self.wrong[:10]))


async def race(visitors: tuple[Visitor, Visitor], room: str, found: Seats) -> None:
    """Let both join at once, and see who may do something afterwards."""
    begun = time.perf_counter()
    await asyncio.gather(*(visitor.ask("join", room=room) for visitor in visitors))
    racers = [visitor.peer for visitor in visitors]
    told = [asyncio.create_task(racer.next_of("replaced")) for racer in racers]
    await asyncio.wait([*told], return_when=asyncio.FIRST_COMPLETED) if not any(map(_was_told, racers)) else None
    found.told_seconds.append(time.perf_counter() - begun)
    for task in told:
        task.cancel()
    await asyncio.gather(*told, return_exceptions=True)
    answers = [(await racer.ask("sync", room=room))["type"] for racer in racers]
    last_words = [
        [message["type"] for message in racer.seen if message["type"] == "replaced" or message.get("seat")][-1:]
        for racer in racers
    ]
    found.races += 1
    if sorted(answers) != ["error", "ok"] or last_words[answers.index("error")] != ["replaced"]:
        found.wrong.append(f"answers {answers}, last words {last_words}")


def _was_told(racer: Peer) -> bool:
    return any(message["type"] == "replaced" for message in racer.seen)


async def race_for_free(host: Peer, racers: tuple[Visitor, Visitor], found: Seats) -> None:
    """Let two players want the one free seat of a new room at once."""
    room = (await host.ask("create"))["room"]
    answers = await asyncio.gather(*(racer.ask("join", room=room) for racer in racers))
    found.races += 1
    if sorted(str(answer.get("code", answer["type"])) for answer in answers) != ["ok", "room_full"]:
        found.wrong.append(f"a free seat in {room}: {answers}")
        return
    winner = racers[[answer["type"] for answer in answers].index("ok")]
    shown = (await host.state(room=room, status="playing"))["seats"]["O"]["player"]
    if shown != winner.peer.welcome["player"]:
        found.wrong.append(f"{winner.peer.welcome['player']} has the seat in {room}, and {shown} is shown in it")
    for peer in (winner.peer, host):
        await peer.ask("leave", room=room)
        peer.seen.clear()


async def run(folder: Path, *, races: int, servers: int = 1, seed: int = 0) -> Seats:
    """Race so often for each kind of seat; `seed` is of no use here, since chance is the scheduler's."""
    found = Seats()
    async with contextlib.AsyncExitStack() as stack:
        if servers > 1:
            cluster = await stack.enter_async_context(Cluster(folder, servers=servers))
            urls = [server.url for server in cluster.servers]
        else:
            urls = [(await stack.enter_async_context(Harness(folder))).url] * 2
        tokens = [await token_of(url) for url in (urls[0], urls[1])]
        bo = await stack.enter_async_context(open_peer(urls[0], "bo"))
        room = (await bo.ask("create"))["room"]
        for number in range(races):
            by = (urls[number % 2], urls[1 - number % 2])
            async with Visitor(by[0], token=tokens[0]) as one, Visitor(by[1], token=tokens[0]) as other:
                await race((one, other), room, found)
                await bo.ask("sync", room=room)
                if not (await bo.state())["seats"]["O"]["online"]:
                    found.wrong.append("the seat is shown as empty")
            if found.races % 100 == 0:
                print(f"{found.races:,} races", file=sys.stderr)
        if servers > 1:
            hosts = [await stack.enter_async_context(open_peer(url, "cy")) for url in urls]
            for number in range(races):
                by = (urls[number % 2], urls[1 - number % 2])
                async with Visitor(by[0], token=tokens[0]) as one, Visitor(by[1], token=tokens[1]) as other:
                    await race_for_free(hosts[number // 2 % 2], (one, other), found)
    return found


async def token_of(url: str) -> str:
    """Return the token of a new player."""
    async with open_peer(url) as peer:
        return str(peer.welcome["token"])
