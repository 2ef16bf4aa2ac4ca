"""Hundreds of rooms opened crosswise at several servers, while some hear nothing of each other: do all list the same?

The second player of each room comes by another server than the one at which it was opened. Some games are played out,
some rooms are left. All lists are compared every second; in the end each must have the rooms in which somebody is, as
they lie in the stream, and none once everybody has gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.servers import Cluster
from tests.cluster.visitor import Visitor
from tests.peer import Message, Peer, open_peer
from tictactoe_protocol import MAX_LISTED_ROOMS
from tools.bench.processes import allow_many_connections
from tools.soak.fleet import TRANSIENT
from tools.soak.stream import read_rooms

ROOMS_A_SECOND = 25
AT_ONCE = 16
COMPARE_SECONDS = 1.0
DEAF_SECONDS = (0.3, 1.0)
"""Shorter than it takes to be counted as gone."""

BETWEEN_SECONDS = 1.0
DIFFER_SECONDS = 10.0
"""For how long lists may differ in a room."""

SETTLE_SECONDS = 20.0
RETRY_SECONDS = 0.1
GONE = ("not_in_room", "no_such_room")
"""What one is told who has left already, and was not told so."""

PLAYED_OUT = (0, 3, 1, 4, 2)

Row = tuple[str, tuple[tuple[str, str, bool], ...]]
"""What must be the same of a room in each list: its status, and by mark who has the seat and whether they are here."""


@dataclass
class Lists:
    """What came of it; `longest` is for how many seconds lists differed in one room, `most` in how many at once."""

    rooms: int
    compared: int = 0
    most: int = 0
    longest: float = 0.0
    cuts: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def has_failed(self) -> bool:
        return bool(self.wrong) or self.longest > DIFFER_SECONDS

    def __str__(self) -> str:
        figures = (
            f"{self.rooms:,} rooms, {self.cuts} times a server heard nothing; lists compared {self.compared} times, at "
            f"most {self.most} rooms differed, the longest for {self.longest:.0f} s; {len(self.wrong)} wrong in the end"
        )
        return "\n".join((figures, *self.wrong[:20]))


class View:
    """The list of one server, as one is told who follows its changes."""

    def __init__(self, peer: Peer) -> None:
        self.rows: dict[str, Row] = {}
        self.peer = peer

    async def follow(self) -> None:
        """Hear of changes until cancelled."""
        for row in (await self.peer.ask("lobby", on=True))["rooms"]:
            self.rows[row["room"]] = row_of(row["status"], row["seats"])
        while True:
            change = await self.hear()
            for row in change["changed"]:
                self.rows[row["room"]] = row_of(row["status"], row["seats"])
            for code in change["closed"]:
                self.rows.pop(code, None)

    async def hear(self) -> Message:
        """Return the next change, however long that takes."""
        while True:
            with contextlib.suppress(TimeoutError):
                return await self.peer.next_of("lobby")


def row_of(status: str, seats: dict[str, Any]) -> Row:
    return status, tuple((mark, seat["player"], seat["online"]) for mark, seat in sorted(seats.items()) if seat)


async def ask(visitor: Visitor, type: str, **fields: Any) -> Message:
    """Return the good answer, asked for again while the server is in trouble."""
    while (answer := await visitor.ask(type, **fields))["type"] == "error":
        if type == "leave" and answer["code"] in GONE:
            break
        if answer["code"] not in TRANSIENT:
            raise AssertionError(f"{type} {fields} was answered {answer}")
        await asyncio.sleep(RETRY_SECONDS)
    return answer


async def use_room(number: int, one: Visitor, other: Visitor) -> str:
    """Open a room, have another player come, and play it out or leave it, or let it be; return its code."""
    room = str((await ask(one, "create"))["room"])
    await ask(other, "join", room=room)
    await one.state(status="playing")
    match number % 4:
        case 0:
            for ply, cell in enumerate(PLAYED_OUT):
                mover = (one, other)[ply % 2]
                await mover.state(ply=ply) if ply else None
                await ask(mover, "move", room=room, cell=cell, ply=ply)
        case 1:
            for visitor in (one, other):
                await ask(visitor, "leave", room=room)
                visitor.room = ""
    return room


async def deafen(cluster: Cluster, choice: random.Random) -> None:
    """Lose what one server should hear of the others, for a moment."""
    cables = choice.choice(cluster.cables)
    for cable in cables:
        cable.cut_one_way(from_a=False)
    await asyncio.sleep(choice.uniform(*DEAF_SECONDS))
    for cable in cables:
        cable.heal()


async def compare(views: Sequence[View], found: Lists) -> None:
    """Compare all lists every second, until cancelled."""
    differing: dict[str, float] = {}
    while True:
        await asyncio.sleep(COMPARE_SECONDS)
        now = time.monotonic()
        codes = {code for view in views for code in view.rows}
        differ = {code for code in codes if len({view.rows.get(code) for view in views}) > 1}
        differing = {code: differing.get(code, now) for code in differ}
        found.compared += 1
        found.most = max(found.most, len(differ))
        found.longest = max([found.longest, *(now - since for since in differing.values())])


async def truth(cluster: Cluster, opened: set[str]) -> dict[str, Row]:
    """Return the rooms in which somebody is, as they lie in the stream, of those that somebody was told they opened.

    A room may lie there of which its server could not know, and said that it was not opened; nobody knows its code.
    """
    return {
        room.code: (
            room.status,
            tuple((mark, seat.player, seat.online) for mark, seat in sorted(room.seats.items()) if seat is not None),
        )
        for room in await read_rooms(cluster.nodes)
        if room.code in opened and room.has_somebody
    }


async def judge(cluster: Cluster, views: Sequence[View], opened: set[str], *, is_empty: bool = False) -> list[str]:
    """Say what is wrong with the lists, once they had time to become right."""
    until = time.monotonic() + SETTLE_SECONDS
    while True:
        stored = await truth(cluster, opened)
        wrong = [f"{code} has somebody in it" for code in stored] if is_empty else []
        for server, view in zip(cluster.servers, views, strict=True):
            codes = view.rows.keys() | stored.keys()
            odd = {code: (view.rows.get(code), stored.get(code)) for code in codes}
            wrong += [
                f"{server.url} lists {code} as {row}, not {true}" for code, (row, true) in odd.items() if row != true
            ]
            async with open_peer(server.url) as peer:
                listed = {row["room"] for row in (await peer.ask("rooms"))["rooms"]}
            if not listed <= stored.keys() or len(listed) < min(MAX_LISTED_ROOMS, len(stored)):
                wrong.append(f"{server.url} has {len(listed)} in its list of {len(stored)}")
        if not wrong or time.monotonic() > until:
            return wrong
        await asyncio.sleep(RETRY_SECONDS)


async def open_rooms(
    cluster: Cluster, people: contextlib.AsyncExitStack, *, rooms: int, cuts: int, seed: int, found: Lists
) -> set[str]:
    """Open so many rooms, a server being deaf so often meanwhile, and return their codes.

    Those in them stay as long as `people`.
    """
    few, choice = asyncio.Semaphore(AT_ONCE), random.Random(seed)
    urls = [server.url for server in cluster.servers]

    async def open_one(number: int) -> str:
        await asyncio.sleep(number / ROOMS_A_SECOND)
        async with few:
            pair = [
                await people.enter_async_context(Visitor(urls[(number + place) % len(urls)], f"{name}-{number}"))
                for place, name in enumerate(("ana", "bo"))
            ]
            return await use_room(number, *pair)

    opening = asyncio.gather(*map(open_one, range(rooms)))
    try:
        while found.cuts < cuts:
            await asyncio.sleep(BETWEEN_SECONDS)
            await deafen(cluster, choice)
            found.cuts += 1
        return set(await opening)
    finally:
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)


async def play(cluster: Cluster, *, rooms: int, cuts: int, seed: int = 0) -> Lists:
    """Open rooms, have everybody go again, and compare all lists meanwhile."""
    found = Lists(rooms)
    async with contextlib.AsyncExitStack() as stack:
        views = [View(await stack.enter_async_context(open_peer(server.url))) for server in cluster.servers]
        chores = [asyncio.create_task(work) for work in (*(view.follow() for view in views), compare(views, found))]
        try:
            async with contextlib.AsyncExitStack() as people:
                opened = await open_rooms(cluster, people, rooms=rooms, cuts=cuts, seed=seed, found=found)
                print(f"lobby: {rooms} rooms were opened", file=sys.stderr)
                found.wrong += await judge(cluster, views, opened)
            found.wrong += await judge(cluster, views, opened, is_empty=True)
        finally:
            for chore in chores:
                chore.cancel()
            ends = await asyncio.gather(*chores, return_exceptions=True)
        found.wrong += [f"a list was lost: {end!r}" for end in ends if not isinstance(end, asyncio.CancelledError)]
    return found


async def run(folder: Path, *, rooms: int, servers: int, cuts: int, seed: int = 0) -> Lists:
    """Run so many servers and open rooms at them."""
    allow_many_connections()
    async with Cluster(folder, servers=servers, is_proxied=True) as cluster:
        return await play(cluster, rooms=rooms, cuts=cuts, seed=seed)
