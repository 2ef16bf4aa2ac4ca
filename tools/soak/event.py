"""A round robin of bots and wilful people while the server, or each server of a cluster, is killed again and again.

People drop out and come back, some at another server, stay away from games, resign, and let their time run out. In the
end every pairing must have one result, which never changed, and one game in the log, and the table must follow from
the logged games.

With --swiss N, N people play nine rounds instead; they always come, and games may only be decided on the board. The run
reports how long after a round's last result the calls of the next round came; five seconds of that are the break.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.servers import Cluster
from tests.cluster.visitor import GONE
from tests.faults.harness import Harness
from tests.peer import Message, Peer, open_peer
from tests.simulation.people import legal_cells
from tictactoe_protocol.events import round_of
from tictactoe_protocol.standings import ROUND_ROBIN, SWISS, Game, standings
from tictactoe_server.events.kept import EVENTS
from tictactoe_server.records.tables import open_folder
from tictactoe_server.rooms import FinishedGame
from tictactoe_server.server import kept_by
from tictactoe_server.storage.specs import Storage
from tools.soak.figures import times
from tools.soak.player import RETRY_SECONDS, TRANSIENT

READY_MS = 3_000
MOVE_MS = 3_000
THINK_SECONDS = 0.25
AWAY_SECONDS = 1.5
PATIENCE_SECONDS = 90.0
"""How long the event may pause before the run is given up."""

SWISS_ROUNDS = 9
SWISS_READY_MS = 20_000
SWISS_CLOCK = {"initial_ms": 300_000, "increment_ms": 0}
SHOWN_ROWS = 10
"""The number of rows that every viewer of a table receives, however large it is."""

LEVELS = ("easy", "medium")
HABITS = ("steady", "drops", "sulks", "resigns", "wanders", "loses on time")


@dataclass
class Found:
    """The results of a run.

    Attributes:
        results: Result of each pairing as players saw it, by pairing id.
        pauses: Seconds between two results.
        ended_at: When a player last saw a game of the round end, by round.
        called_at: When the last player was called to a game of the round, by round.
    """

    servers: int
    kills: int = 0
    results: dict[str, tuple[str, ...]] = field(default_factory=dict)
    pauses: list[float] = field(default_factory=list)
    ended_at: dict[int, float] = field(default_factory=dict)
    called_at: dict[int, float] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    newest_at: float = field(default_factory=time.monotonic)
    records: int = 0
    shown: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def has_failed(self) -> bool:
        return bool(self.wrong)

    def __str__(self) -> str:
        deeds = ", ".join(f"{count} times {deed}" for deed, count in sorted(self.done.items()))
        endings = ", ".join(f"{count} {reason}" for reason, count in self.reasons.most_common())
        breaks = [
            self.called_at[round + 1] - self.ended_at[round]
            for round in sorted(self.ended_at)
            if round + 1 in self.called_at
        ]
        figures = (
            f"{self.kills} kills of {self.servers} servers, {len(self.results)} pairings with a result ({endings}), "
            f"{self.records} games in the log, {self.shown:,} times shown, {sum(self.calls.values())} calls; "
            f"people were {deeds}; "
            f"a result after {times(self.pauses)}; "
            f"calls after {' '.join(f'{seconds:.2f}' for seconds in breaks)} s; {len(self.wrong)} violations"
        )
        return "\n".join((figures, *self.wrong[:20]))

    def note(self, who: str, pairing: Message) -> None:
        """Check a pairing that a player received: its result never changes."""
        self.shown += 1
        if pairing["state"] != "scored":
            return
        result = (pairing["result"], pairing["by"], pairing.get("reason") or "", pairing.get("game_id") or "")
        if pairing["id"] not in self.results:
            self.pauses.append(time.monotonic() - self.newest_at)
            self.newest_at = time.monotonic()
        before = self.results.setdefault(pairing["id"], result)
        if before != result:
            self.wrong.append(f"{who} was shown {result} for {pairing['id']}, which was {before}")


class Person:
    """Somebody who plays in the event by their own habits, through any number of connections."""

    def __init__(self, name: str, habit: str, servers: list[Harness], found: Found, choice: random.Random) -> None:
        self.name = name
        self.habit = habit
        self.event = ""
        self.state: Message | None = None
        self.peer: Peer | None = None
        self._servers = servers
        self._found = found
        self._choice = choice
        self._token: str | None = None
        self._player = ""
        self._sent_to: str | None = None
        self._seq = 0
        self._is_in = False
        self._sulks_at: set[str] = set()

    async def run(self) -> None:
        """Play until cancelled."""
        while True:
            url, self._sent_to = self._sent_to or self._choose_url(), None
            try:
                async with self._connect(url) as peer:
                    await self._enter(peer)
                    self.peer = peer
                    while True:
                        await self._hear(peer, await peer.receive())
            except GONE:
                pass
            self.peer = None
            if self._sent_to is None:
                await asyncio.sleep(self._choice.uniform(0, 0.2))

    async def ask(self, type: str, **fields: Any) -> Message:
        """Return the good answer of a request, over as many connections as it takes."""
        while True:
            with contextlib.suppress(*GONE):
                async with self._connect(self._choose_url()) as peer:
                    return await self._ask(peer, type, **fields)
            await asyncio.sleep(RETRY_SECONDS)

    # -- inside -------------------------------------------------------------------------------------------------

    def _choose_url(self) -> str:
        """Return the address of a server that runs, if any does."""
        return random.choice([server for server in self._servers if server.is_awake] or self._servers).url

    @contextlib.asynccontextmanager
    async def _connect(self, url: str) -> AsyncIterator[Peer]:
        """Connect as the same player as before."""
        async with open_peer(url, None if self._token else self.name, self._token) as peer:
            if peer.welcome["type"] != "welcome":
                raise ConnectionError
            self._token, self._player = peer.welcome["token"], peer.welcome["player"]
            try:
                yield peer
            finally:
                peer.socket.transport.abort()  # the server may be dead

    async def _enter(self, peer: Peer) -> None:
        self._seq = 0
        if not self._is_in:
            await self._ask(peer, "event_join", event=self.event)
            self._is_in = True
        await self._ask(peer, "event_watch", event=self.event, on=True)
        for call in peer.welcome.get("calls", []):
            await self._hear(peer, call)

    async def _ask(self, peer: Peer, type: str, **fields: Any) -> Message:
        """Return the good answer; the request is repeated while the server is in trouble."""
        while True:
            start = len(peer.seen)
            answer = await peer.ask(type, **fields)
            for message in peer.seen[start:-1]:
                await self._hear(peer, message)
            if answer["type"] != "error":
                return answer
            if answer["code"] not in TRANSIENT:
                self._found.wrong.append(f"{self.name} asked {type} and was told {answer['message']}")
                raise ConnectionError
            await asyncio.sleep(RETRY_SECONDS)

    async def _hear(self, peer: Peer, message: Message) -> None:
        match message["type"]:
            case "call":
                await self._come(peer, message)
            case "room" if message["status"] == "playing":
                await self._play(peer, message)
            case "room":
                self._found.ended_at[_round_of(message)] = time.monotonic()
            case "event" | "event_rows":
                self._look(message)
            case "error":
                self._hear_error(message)

    def _look(self, message: Message) -> None:
        if message["event"] != self.event or message["seq"] < self._seq:
            self._found.wrong.append(f"{self.name} was shown {message['seq']} of {message['event']} after {self._seq}")
        self._seq = message["seq"]
        for pairing in message["pairings"]:
            self._found.note(self.name, pairing)
        if message["type"] == "event":
            self.state = message
        elif self.state is not None:
            self.state |= {name: message[name] for name in ("seq", "status", "round", "due_ms")}

    def _hear_error(self, error: Message) -> None:
        if error["code"] == "moved":
            self._sent_to = error["url"]
            self._found.done["sent on"] += 1
            raise ConnectionError
        if error["code"] not in (*TRANSIENT, "no_such_room", "game_over", "not_in_room", "stale", "not_your_turn"):
            self._found.wrong.append(f"{self.name} was told {error['message']}")

    async def _come(self, peer: Peer, call: Message) -> None:
        """Join the game, unless the player stays away from it."""
        pairing = call["pairing"]
        if pairing not in self._found.calls and self._does("sulks"):
            self._sulks_at.add(pairing)
        if self._found.calls[pairing] < 2:  # later calls repeat the first two
            self._found.called_at[_round_of(call)] = time.monotonic()
        self._found.calls[pairing] += 1
        if pairing not in self._sulks_at:
            await peer.send("join", room=call["room"])

    async def _play(self, peer: Peer, state: Message) -> None:
        seat = state["seats"][state["turn"]]
        if seat["player"] != self._player or state["pairing"] in self._sulks_at:
            return
        room = {"room": state["room"]}
        await asyncio.sleep(self._choice.uniform(0, THINK_SECONDS))
        if self._does("resigns"):
            await peer.send("resign", **room)
        elif state["ply"] > 1 and self._does("loses on time"):
            self._sulks_at.add(state["pairing"])
        elif self._does("drops") or self._does("wanders"):
            if self.habit == "drops":
                peer.socket.transport.abort()
                await asyncio.sleep(self._choice.uniform(0, AWAY_SECONDS))
            raise ConnectionError
        else:
            cell = self._choice.choice(legal_cells(state))
            await peer.send("move", cell=cell, ply=state["ply"], **room)

    def _does(self, habit: str) -> bool:
        """Return True if the player follows this habit now."""
        does = self.habit == habit and self._choice.random() < 1 / 3
        if does:
            self._found.done[habit] += 1
        return does


@contextlib.asynccontextmanager
async def _serving(folder: Path, servers: int) -> AsyncIterator[tuple[list[Harness], Callable[[], Awaitable[Storage]]]]:
    """Yield the servers, and what opens their store after they have ended."""
    options = ("--bot-pause", "0.2", "--bot-workers", "1", "--keep-room", "5", "--log-level", "warning")
    if servers == 1:
        async with Harness(folder, *options) as server:

            async def open_store() -> Storage:
                return open_folder(folder, kept_by())

            yield [server], open_store
        return
    from tictactoe_server.cluster.jetstream.store import JetStreamStore

    async with Cluster(folder, *options, servers=servers) as cluster:
        yield cluster.servers, lambda: JetStreamStore.open(cluster.nodes.url, kept_by())


async def run(
    folder: Path, *, entrants: int = 16, bots: int = 6, kills: int = 50, servers: int = 1, swiss: int = 0, seed: int = 0
) -> Found:
    """Play a round robin of `entrants`, some of them bots, or a Swiss of `swiss` people, and kill servers meanwhile."""
    choice, found = random.Random(seed), Found(servers)
    pairings = swiss // 2 * SWISS_ROUNDS if swiss else entrants * (entrants - 1) // 2
    terms: dict[str, Any] = {"kind": "round_robin", "clock": {"move_ms": MOVE_MS}, "ready_ms": READY_MS}
    if swiss:
        terms = {"kind": "swiss", "rounds": SWISS_ROUNDS, "clock": SWISS_CLOCK, "ready_ms": SWISS_READY_MS}
        entrants, bots = swiss, 0
    async with _serving(folder, servers) as (running, open_store):
        organiser = Person("organiser", "steady", running, found, choice)
        answer = await organiser.ask(
            "event_open",
            **terms,
            title="Soak",
            start="full",
            size=entrants,
            bots=[choice.choice(LEVELS) for _ in range(bots)],
        )
        people = [
            Person(f"p{number}", "steady" if swiss else HABITS[number % len(HABITS)], running, found, choice)
            for number in range(entrants - bots)
        ]
        for person in people:
            person.event = answer["event"]
        tasks = [asyncio.create_task(person.run()) for person in people]
        try:
            await _kill(running, found, pairings, kills, choice, tasks)
            await _until(found, tasks, lambda: any(_is_over(person) for person in people))
            table = await _table_of(people, found, tasks)
        except TimeoutError:
            seen = Counter("nothing" if person.state is None else person.state["status"] for person in people)
            found.wrong.append(f"it came to a stop with {len(found.results)} results; people see {dict(seen)}")
            return found
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for server in running:
            await server.end(signal.SIGTERM)
        store = await open_store()
        try:
            await judge(store, answer["event"], table, pairings, found)
        finally:
            await store.close()
        for server in running:
            await server.start()
    return found


def _round_of(message: Message) -> int:
    return int(round_of(message["pairing"]).partition(".")[0])


def _is_over(person: Person) -> bool:
    return person.state is not None and person.state["status"] == "over"


async def _until(found: Found, tasks: list[asyncio.Task[None]], condition: Callable[[], bool]) -> None:
    """Wait for a condition; raises TimeoutError if results stop coming."""
    while not condition():
        for task in tasks:
            if task.done():
                task.result()
        if time.monotonic() - found.newest_at > PATIENCE_SECONDS:
            raise TimeoutError
        await asyncio.sleep(0.01)


async def _kill(
    running: list[Harness],
    found: Found,
    pairings: int,
    kills: int,
    choice: random.Random,
    tasks: list[asyncio.Task[None]],
) -> None:
    """Kill one server after another, or all of them, some time after a result, and start them again."""
    for kill in range(kills):
        goal = pairings * (kill + choice.random()) / (kills + 1)
        await _until(found, tasks, lambda goal=goal: len(found.results) >= goal)  # type: ignore[misc]
        await asyncio.sleep(choice.uniform(0, 2 * AWAY_SECONDS))
        some = running if choice.random() < 0.2 else [running[kill % len(running)]]
        await asyncio.gather(*(server.end(signal.SIGKILL) for server in some))
        await asyncio.sleep(choice.uniform(0, AWAY_SECONDS) if len(running) > 1 else 0)
        await asyncio.gather(*(server.start() for server in some))
        found.kills += len(some)
        print(f"kill {kill + 1}: {len(found.results)} results, {len(found.wrong)} violations", file=sys.stderr)


async def _table_of(people: list[Person], found: Found, tasks: list[asyncio.Task[None]]) -> list[Message]:
    """Return the final table, and check that all players receive the same."""
    found.newest_at = time.monotonic()  # kills may have gone on long after the last result
    for person in people:
        person.state = None
        if person.peer is not None:
            person.peer.socket.transport.abort()
    await _until(found, tasks, lambda: all(_is_over(person) for person in people))
    tables: list[list[Message]] = [person.state["table"][:SHOWN_ROWS] for person in people if person.state is not None]
    found.wrong += [
        f"{person.name} is shown another table" for person, one in zip(people, tables, strict=True) if one != tables[0]
    ]
    return tables[0]


async def judge(store: Storage, code: str, table: list[Message], pairings: int, found: Found) -> None:
    """Compare the results that players saw with the stored event, and both with the games in the log."""
    stored = await store.table(EVENTS).load(code)
    assert stored is not None
    event, wrong = stored[0], found.wrong
    games: dict[str, list[tuple[int, FinishedGame]]] = {}
    async for _, id, game in store.games.after("", 1_000_000):
        if game.event == code:
            games.setdefault(game.pairing, []).append((id, game))
    found.records = sum(map(len, games.values()))
    found.reasons.update(one.reason for one in event.pairings)
    if event.kind == "swiss":
        wrong += [f"{one.id} ended by {one.reason}" for one in event.pairings if one.reason not in ("line", "full")]
    if len(event.pairings) != pairings or len({one.id for one in event.pairings}) != pairings:
        wrong.append(f"there are {len(event.pairings)} pairings")
    if len({frozenset(one.players.values()) for one in event.pairings}) != pairings:
        wrong.append("somebody met somebody twice")
    counted = []
    for one in event.pairings:
        result = (one.result, one.by, one.reason, one.game_id)
        if one.state != "scored" or found.results.get(one.id, result) != result:
            wrong.append(f"{one.id} is {one.state} with {result}, and {found.results.get(one.id)} was shown")
        kept = games.get(one.id, [])
        if len(kept) != 1:
            wrong.append(f"{one.id} has {len(kept)} games in the log")
            continue
        _, game = kept[0]
        winner = None if game.result.winner is None else game.players[game.result.winner].player
        said = one.players.get(one.result or "")
        if game.id != one.game_id or winner != said or game.room != one.room:
            wrong.append(f"{one.id} says {said} by game {one.game_id} and the log {winner} by game {game.id}")
        is_draw = winner is None and game.result.reason != "forfeit"
        first, second = one.players.values()
        got = {player: 1 if is_draw else 2 * (winner == player) for player in (first, second)}
        counted.append(Game(first, second, got[first], got[second], game.result.reason != "forfeit"))
    players = [entrant.player for entrant in event.entrants]
    reckoned = [
        (row.place, row.player, row.points, row.played, [[tie.name, tie.value, tie.sum] for tie in row.tie])
        for row in standings(players, counted, SWISS if event.kind == "swiss" else ROUND_ROBIN)
    ]
    told = [(row["place"], row["player"], row["points"], row["played"], row["tie"]) for row in table]
    if told != reckoned[:SHOWN_ROWS]:
        wrong.append(f"the table shown is {told}, and that of the games {reckoned}")
