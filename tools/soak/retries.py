"""Loses the answer to a move, or the move itself, and sends it once more on a new connection: it is played once."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.harness import Harness
from tests.peer import Peer, open_peer
from tests.proxy import Proxy
from tools.soak.ledger import Ledger

RULES = {"rows": 15, "columns": 15, "line": 15}
MOVES_A_ROOM = 200
"""Before anybody can have a line of 15 on that board, with cells taken in their order."""

REQUESTS_LOST = 0.2
"""How often it is the request that is swallowed, and not the answer."""


@dataclass
class Retries:
    """What came of it; `answers_lost` counts the moves that had been played when they were sent again."""

    ledger: Ledger = field(default_factory=Ledger)
    retries: int = 0
    answers_lost: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def has_failed(self) -> bool:
        return bool(self.wrong or self.ledger.violations)

    def __str__(self) -> str:
        figure = (
            f"{self.retries:,} retries ({self.answers_lost:,} of moves that were played already), "
            f"{len(self.wrong)} doubled, lost or refused; {self.ledger.states:,} states, "
            f"{len(self.ledger.seq_violations)} seq violations"
        )
        return "\n".join((figure, *self.wrong[:10], *self.ledger.violations[:10]))


class Player:
    """A seat behind a proxy of its own, whose connection can be given up for a new one."""

    def __init__(self, proxy: Proxy, name: str, found: Retries) -> None:
        self.proxy = proxy
        self.name = name
        self.found = found
        self.token: str | None = None
        self.peer: Peer
        self._stack = contextlib.AsyncExitStack()

    async def connect(self) -> None:
        """Say hello on a new connection."""
        self.peer = await self._stack.enter_async_context(open_peer(self.proxy.url, self.name, self.token))
        self.token = self.peer.welcome["token"]

    async def lose(self) -> None:
        """Cut the connection, having noted what came through it."""
        for message in self.peer.seen:
            if message["type"] == "room":
                self.found.ledger.note_state(self.name, message)
        for link in self.proxy.links:
            link.cut()
        await self._stack.aclose()


class Table:
    """Two players in one room after another."""

    def __init__(self, players: tuple[Player, Player], found: Retries, choice: random.Random) -> None:
        self.players = players
        self.found = found
        self.choice = choice
        self.room = ""
        self.ply = MOVES_A_ROOM

    async def retry(self) -> None:
        """Play one move whose answer or request is lost."""
        if self.ply == MOVES_A_ROOM:
            await self._open()
        mover, other = self.players if self.ply % 2 == 0 else self.players[::-1]
        (link,) = mover.proxy.links
        move = {"room": self.room, "cell": self.ply, "ply": self.ply, "id": f"move-{self.ply}"}
        if self.choice.random() < REQUESTS_LOST:
            link.up.is_swallowing = True
            await mover.peer.send("move", **move)
            await link.up.has_swallowed.wait()
        else:
            link.down.is_swallowing = True
            await mover.peer.send("move", **move)
            await other.peer.state(room=self.room, ply=self.ply + 1)
            self.found.answers_lost += 1
        await mover.lose()
        await mover.connect()
        await mover.peer.ask("join", room=self.room)
        await mover.peer.send("move", **move)
        reply = await mover.peer.until(lambda message: message.get("id") == move["id"])
        moves = (await mover.peer.ask("sync", room=self.room))["moves"]
        self.found.retries += 1
        if reply["type"] != "ok" or moves != list(range(self.ply + 1)):
            self.found.wrong.append(f"{move} sent again was answered {reply}: {moves}")
        self.ply += 1

    async def _open(self) -> None:
        self.ply = 0
        self.room = (await self.players[0].peer.ask("create", rules=RULES, visibility="private"))["room"]
        await self.players[1].peer.ask("join", room=self.room)


async def run(folder: Path, *, retries: int, rooms: int, seed: int = 0) -> Retries:
    """Retry so often, in so many rooms at once."""
    choice, found = random.Random(seed), Retries()
    step = max(1, retries // 10)

    async def play(server: Harness, number: int) -> None:
        async with Proxy(server.port) as first, Proxy(server.port) as second:
            players = (Player(first, f"ana-{number}", found), Player(second, f"bo-{number}", found))
            for player in players:
                await player.connect()
            table = Table(players, found, choice)
            while found.retries < retries:
                await table.retry()
                if found.retries % step == 0:
                    print(f"{found.retries:,} retries", file=sys.stderr)
            for player in players:
                await player.lose()

    async with Harness(folder) as server, asyncio.TaskGroup() as group:
        for number in range(rooms):
            group.create_task(play(server, number))
    return found
