"""Thousands at two servers ask for a match, one of the servers is killed in the middle: who is paired with whom.

Whoever is sent to the other server goes there; whoever loses the connection comes back at the other one, to the room
that is held, or asks again. In the end
everybody must sit in one room, with one other; only where the number of a kind is odd does somebody wait alone.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.servers import Cluster
from tests.faults.harness import Address
from tictactoe_server.rooms import Room
from tools.bench.asker import Asker, Message
from tools.bench.load import gather_some, open_wire
from tools.bench.processes import allow_many_connections
from tools.soak.figures import times
from tools.soak.fleet import FEATURES, TRANSIENT, Moved
from tools.soak.stream import read_rooms

KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"rules": "misere"},
    {"rules": "four", "clock": {"initial_ms": 3_600_000, "increment_ms": 0}},
    {"rules": "connect-four"},
    {"rules": {"rows": 5, "columns": 5, "line": 4}},
    {"clock": {"move_ms": 3_600_000}},
)
AT_ONCE = 64
AWAY_SECONDS = 1.0
RETRY_SECONDS = 0.2
SETTLE_SECONDS = 60.0


@dataclass
class Matches:
    """What came of it; `seconds` are the times from asking until a room was had, also by those who were cut off."""

    players: int
    paired: int = 0
    alone: int = 0
    cut_off: int = 0
    sent: int = 0
    unavailable: int = 0
    repeated: int = 0
    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def has_failed(self) -> bool:
        return bool(self.wrong)

    def __str__(self) -> str:
        figures = (
            f"{self.players:,} players, {self.sent:,} times sent on, {self.cut_off:,} times cut off, "
            f"{self.unavailable:,} times told to ask again, "
            f"{self.repeated} times answered twice: {self.paired:,} pairs, {self.alone} alone, "
            f"{len(self.wrong)} violations; had a room after {times(self.seconds)}"
        )
        return "\n".join((figures, *self.wrong[:20]))


class Seeker(Asker):
    """One connection, with one question at a time, which says when it is over and counts what comes twice."""

    def __init__(self) -> None:
        super().__init__()
        self.is_over = asyncio.Event()
        self.questions = 0
        self.repeated = 0

    def received(self, payload: bytes) -> None:
        is_answer = payload.startswith((b'{"type":"ok"', b'{"type":"error"', b'{"type":"welcome"'))
        if is_answer and (f'"id":"{self.questions}"'.encode() not in payload or not self._open):
            self.repeated += 1
        else:
            super().received(payload)

    def lost(self) -> None:
        super().lost()
        self.is_over.set()


class Player:
    """Somebody who wants a game of a kind; `has_room` once `room` is where they sit, on the connection that is open."""

    def __init__(self, kind: int, address: Address, entering: asyncio.Semaphore, found: Matches) -> None:
        self.kind = kind
        self.id = ""
        self.room = ""
        self.has_come = asyncio.Event()
        self.may_ask = asyncio.Event()
        self.has_room = asyncio.Event()
        self.asker: Seeker | None = None
        self._address = address
        self._entering = entering
        self._found = found
        self._token: str | None = None
        self._sent_to: str | None = None

    async def run(self) -> None:
        """Have a room through any number of connections, until cancelled."""
        while True:
            try:
                asker = await self.enter()
                self.has_come.set()
                await self.may_ask.wait()
                if not self.room:
                    begun = time.perf_counter()
                    self.room = (await self.ask("match", **KINDS[self.kind]))["room"]
                    self._found.seconds.append(time.perf_counter() - begun)
                self.has_room.set()
                await asker.is_over.wait()
                self._found.cut_off += 1
            except Moved:
                self._found.sent += 1
            except OSError:
                self._found.cut_off += 1
                await asyncio.sleep(RETRY_SECONDS)
            if self.asker is not None:
                self.asker.close()
            self._found.repeated += self.asker.repeated if self.asker is not None else 0
            self.has_room.clear()

    async def enter(self) -> Seeker:
        """Return a new connection, which plays in the room that is held, if there is one."""
        async with self._entering:
            url, self._sent_to = self._sent_to or await self._address(), None
            asker = self.asker = await open_wire(url, Seeker)
            token = {} if self._token is None else {"token": self._token}
            welcome = await self.ask("hello", features=FEATURES, **token)
            self.id, self._token = welcome["player"], welcome["token"]
            held = [seat["room"] for seat in welcome["rooms"]]
            if len(held) > 1:
                self._found.wrong.append(f"{self.id} holds {held}")
            if held:
                self.room = (await self.ask("join", room=held[0]))["room"]
        return asker

    async def ask(self, type: str, **fields: Any) -> Message:
        """Return the good answer; raises `Moved`, and OSError where the connection is lost or the answer is another."""
        assert self.asker is not None
        while not self.asker.is_lost:
            self.asker.questions += 1
            answer: Message = json.loads(await self.asker.ask_soon(type, **fields, id=str(self.asker.questions)))
            if answer["type"] != "error":
                return answer
            if answer["code"] == "moved":
                self._sent_to = answer["url"]
                raise Moved
            if answer["code"] not in TRANSIENT:
                self._found.wrong.append(f"{self.id} asked {type} {fields} and was told {answer}")
                raise OSError
            self._found.unavailable += 1
            await asyncio.sleep(RETRY_SECONDS)
        raise ConnectionError

    async def look(self) -> Message:
        """Return the room as it is shown now."""
        assert self.asker is not None
        await self.ask("sync", room=self.room)
        state: Message = json.loads(await self.asker.until(f'"room":"{self.room}"'.encode()))
        return state


def judge(players: Sequence[Player], rooms: Sequence[Room], shown: Sequence[Message], found: Matches) -> None:
    """Compare what lies in the stream with what everybody believes, and is shown."""
    kind_of = {player.id: player.kind for player in players}
    sits: defaultdict[str, list[str]] = defaultdict(list)
    alone: Counter[int] = Counter()
    for room in rooms:
        seated = [seat.player for seat in room.seats.values() if seat is not None]
        for id in seated:
            sits[id].append(room.code)
        if len(set(seated)) != len(seated):
            found.wrong.append(f"in {room.code} somebody plays against themselves")
        elif len({kind_of[id] for id in seated}) > 1:
            found.wrong.append(f"in {room.code} are two who want different games")
        elif len(seated) == 2:
            found.paired += 1
        elif len(seated) == 1:
            found.alone += 1
            alone[kind_of[seated[0]]] += 1
        else:
            found.wrong.append(f"in {room.code} is nobody")
    for kind, asking in Counter(kind_of.values()).items():
        if alone[kind] != asking % 2:
            found.wrong.append(f"{alone[kind]} of {asking} wait alone for {KINDS[kind]}")
    for player, state in zip(players, shown, strict=True):
        if sits[player.id] != [player.room]:
            found.wrong.append(f"{player.id} believes to sit in {player.room} and sits in {sits[player.id]}")
        elif not any(seat and seat["player"] == player.id and seat["online"] for seat in state["seats"].values()):
            found.wrong.append(f"{player.id} is shown {player.room} without themselves: {state['seats']}")


async def run(folder: Path, *, players: int, kinds: int, rate: int, seed: int = 0) -> Matches:
    """Let so many ask for a match of one of some kinds, so many a second, and kill a server when half of them have."""
    allow_many_connections()
    found, choice, entering = Matches(players), random.Random(seed), asyncio.Semaphore(AT_ONCE)
    kinds = min(kinds, len(KINDS))
    async with Cluster(folder) as cluster:
        everybody = [
            Player(choice.randrange(kinds), cluster.door(number % 2), entering, found) for number in range(players)
        ]
        tasks = [asyncio.create_task(player.run()) for player in everybody]
        try:
            async with asyncio.timeout(SETTLE_SECONDS + players / rate):
                for player in everybody:
                    await player.has_come.wait()
                killed = None
                for number, player in enumerate(choice.sample(everybody, players)):
                    player.may_ask.set()
                    await asyncio.sleep(1 / rate)
                    if number == players // 2:
                        killed = asyncio.create_task(kill(cluster))
                if killed is not None:
                    await killed
                for player in everybody:
                    await player.has_room.wait()
            found.repeated += sum(player.asker.repeated for player in everybody if player.asker is not None)
            shown = await gather_some((player.look() for player in everybody), AT_ONCE)
            judge(everybody, await read_rooms(cluster.nodes), shown, found)
        except TimeoutError:
            without = sum(not player.has_room.is_set() for player in everybody)
            found.wrong.append(f"{without} have no room after {SETTLE_SECONDS} s")
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    return found


async def kill(cluster: Cluster) -> None:
    """Kill the first server, and start it again."""
    await cluster.servers[0].end(signal.SIGKILL)
    print("matches: a server is killed", file=sys.stderr)
    await asyncio.sleep(AWAY_SECONDS)
    await cluster.servers[0].start()
