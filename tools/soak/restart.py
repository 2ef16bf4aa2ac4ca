"""Kills a server that holds many rooms, starts it again, and measures how soon every one of them is back."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.harness import Harness
from tests.peer import Peer, open_peer

BACK_SECONDS = 2.0
"""Within how long of listening every room has to be back."""

CELLS = (4, 0, 8)

Seats = dict[str, str]
"""The mark that somebody plays in each of their rooms."""


@dataclass
class Restart:
    """What came of it: seconds from listening to the first and the last welcome, and until all seats were taken."""

    rooms: int
    listening_at: float = 0.0
    first_seconds: float = 0.0
    back_seconds: float = 0.0
    seated_seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)

    @property
    def has_failed(self) -> bool:
        return bool(self.wrong) or self.back_seconds > BACK_SECONDS

    def __str__(self) -> str:
        figure = (
            f"{self.rooms:,} rooms, {len(self.wrong)} wrong; first player welcomed {self.first_seconds:.2f} s after "
            f"listening, the last one, every room being back, after {self.back_seconds:.2f} s, and all "
            f"{2 * self.rooms:,} seats taken again after {self.seated_seconds:.2f} s"
        )
        return "\n".join((figure, *self.wrong[:10]))


@dataclass
class Pair:
    """Two players with many rooms between them, each with the number of moves that lie in it."""

    tokens: tuple[str, str]
    rooms: dict[str, int] = field(default_factory=dict)


async def open_rooms(stack: contextlib.AsyncExitStack, url: str, number: int, rooms: int) -> Pair:
    """Have a pair open rooms, and play none to three moves in each; they stay connected as long as the stack."""
    ana = await stack.enter_async_context(open_peer(url, f"ana-{number}"))
    bo = await stack.enter_async_context(open_peer(url, f"bo-{number}"))
    pair = Pair((ana.welcome["token"], bo.welcome["token"]))
    for room in range(rooms):
        code = (await ana.ask("create"))["room"]
        await bo.ask("join", room=code)
        pair.rooms[code] = room % (len(CELLS) + 1)
        for ply in range(pair.rooms[code]):
            await (ana, bo)[ply % 2].ask("move", room=code, cell=CELLS[ply], ply=ply)
        for peer in (ana, bo):
            peer.seen.clear()
    return pair


async def greet(stack: contextlib.AsyncExitStack, url: str, token: str, seats: Seats, found: Restart) -> Peer:
    """Say hello, and note when one was welcomed with all seats."""
    peer = await stack.enter_async_context(open_peer(url, token=token))
    stack.callback(peer.socket.transport.abort)  # in the end it has states that nobody reads
    seconds = time.perf_counter() - found.listening_at
    found.first_seconds = min(found.first_seconds or seconds, seconds)
    found.back_seconds = max(found.back_seconds, seconds)
    held = {seat["room"]: seat["seat"] for seat in peer.welcome["rooms"]}
    if held != seats:
        found.wrong.append(f"{len(held)} seats are held, not {len(seats)}")
    return peer


async def take_seats(peer: Peer, rooms: dict[str, int], seats: Seats, found: Restart) -> None:
    """Join every room, and compare its moves and the seat with what they were."""
    for code, plies in rooms.items():
        reply = await peer.ask("join", room=code)
        if reply.get("moves") != list(CELLS[:plies]) or reply.get("seat") != seats[code]:
            found.wrong.append(f"{code} came back as {reply}")
        peer.seen.clear()
    found.seated_seconds = max(found.seated_seconds, time.perf_counter() - found.listening_at)


async def run(folder: Path, *, rooms: int, pairs: int, seed: int = 0) -> Restart:
    """Fill the server, kill it while everybody is connected, and let everybody come back at once."""
    found = Restart(rooms)
    async with Harness(folder) as server, contextlib.AsyncExitStack() as stack:
        shares = [rooms // pairs + (number < rooms % pairs) for number in range(pairs)]
        held = await asyncio.gather(
            *(open_rooms(stack, server.url, number, share) for number, share in enumerate(shares))
        )
        print(f"{rooms:,} rooms are there", file=sys.stderr)
        await server.end()
        await stack.aclose()
        await server.start()
        found.listening_at = time.perf_counter()
        players = [
            (token, pair.rooms, dict.fromkeys(pair.rooms, mark))
            for pair in held
            for mark, token in zip("XO", pair.tokens, strict=True)
        ]
        async with contextlib.AsyncExitStack() as stack:
            peers = await asyncio.gather(
                *(greet(stack, server.url, token, seats, found) for token, _, seats in players)
            )
            await asyncio.gather(
                *(take_seats(peer, rooms, seats, found) for peer, (_, rooms, seats) in zip(peers, players, strict=True))
            )
    return found
