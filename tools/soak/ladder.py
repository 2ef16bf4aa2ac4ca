"""Rated games at two servers of a cluster that are killed again and again; each game must count exactly once.

Players resign, lose on time, drop out and come back, some of them at the other server. In the end both servers must
have rated every game whose end was shown, once and with the result that was shown, and must have the same digest as
each other and as the export folded by `tictactoe-client verify`. Rooms are distributed over --streams streams.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import signal
import sys
import time
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from websockets.asyncio.client import ClientConnection

from tests.cluster.servers import Cluster
from tests.environment import environment
from tests.faults.harness import COMMAND, Address
from tests.peer import Message
from tools.soak.figures import times
from tools.soak.fleet import GONE, TRANSIENT, connect_to

LADDERS: Final = ("connect-four", "four")
CLOCK: Final = {"move_ms": 4_000}
RATED_ENDS: Final = frozenset({"line", "full", "resigned", "timeout"})
HABITS: Final = ("steady", "drops", "wanders", "resigns", "loses on time")
THINK_SECONDS: Final = 0.05
AWAY_SECONDS: Final = 1.5
RETRY_SECONDS: Final = 0.1
GAME_SECONDS: Final = 120.0
SETTLE_SECONDS: Final = 60.0
MOST_OF_PAIR: Final = 10

Shown = tuple[str, str, frozenset[str], str | None]
"""Rules, reason of the end, players, and winner of a game, None for a draw."""


@dataclass
class Found:
    """The results of a run.

    Attributes:
        shown: Ends of the games that must be rated, as players saw them, by game id.
        unrated: Games that ended before everybody had moved.
        digests: Digests of both servers and of the export.
    """

    streams: int
    kills: int = 0
    played: int = 0
    shown: dict[str, Shown] = field(default_factory=dict)
    unrated: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    deeds: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    lost: int = 0
    doubled: int = 0
    changed: int = 0
    digests: list[str] = field(default_factory=list)
    is_over: bool = False
    newest_at: float = field(default_factory=time.monotonic)
    wrong: list[str] = field(default_factory=list)

    @property
    def has_stopped(self) -> bool:
        """Whether no game will end any more, or none has for so long that none will."""
        return self.is_over or time.monotonic() - self.newest_at > 2 * GAME_SECONDS

    @property
    def has_failed(self) -> bool:
        return bool(self.wrong or self.lost or self.doubled or self.changed)

    def __str__(self) -> str:
        ends = ", ".join(f"{count} {reason}" for reason, count in self.reasons.most_common())
        deeds = ", ".join(f"{count} times {deed}" for deed, count in sorted(self.deeds.items()))
        head = (
            f"{self.kills} kills of two servers, {self.streams} streams, {self.played} games ({ends}), of which "
            f"{len(self.shown)} count and {self.unrated} were over before all had moved; people were {deeds}; "
            f"a game took {times(self.seconds)}; {self.lost} lost, {self.doubled} doubled, {self.changed} changed; "
            f"{len(self.wrong)} other violations; digests {' '.join(digest[:16] for digest in self.digests)}"
        )
        return "\n".join((head, *self.wrong[:20]))

    def note(self, state: Message) -> None:
        """Take notice of the end of a game that somebody is shown: it stays what it was."""
        if state["ply"] < len(state["seats"]):
            return
        players = {mark: seat["player"] for mark, seat in state["seats"].items()}
        winner = players.get(state["result"]["winner"])
        end = (state["rules"]["preset"], state["result"]["reason"], frozenset(players.values()), winner)
        if self.shown.setdefault(state["game_id"], end) != end:
            self.wrong.append(f"{state['game_id']} was shown as {end} and as {self.shown[state['game_id']]}")


class Person:
    """Somebody with a claimed name and a habit, who plays one game at a time."""

    def __init__(self, name: str, habit: str, address: Address, found: Found, choice: random.Random) -> None:
        self.name, self.habit = name, habit
        self.player = ""
        self._address, self._found, self._choice = address, found, choice
        self._token: str | None = None
        self._sent_to: str | None = None
        self._asked = 0

    async def claim(self) -> None:
        """Have the name for good."""
        await self._over_connections(lambda socket: self._ask(socket, type="claim_name", name=self.name))

    async def open(self, rules: str) -> str:
        """Open a rated room, and return its code; one whose answer is lost stays empty."""
        rated = {"type": "create", "rules": rules, "clock": CLOCK, "rated": True}
        return str((await self._over_connections(lambda socket: self._ask(socket, **rated)))["room"])

    async def play(self, room: str) -> Message:
        """Play a game in a room to its end, and return the last state."""
        return await self._over_connections(lambda socket: self._play(socket, room))

    # -- inside -------------------------------------------------------------------------------------------------

    async def _over_connections(self, do: Callable[[ClientConnection], Any]) -> Message:
        """Return what comes of it, over as many connections as it takes."""
        while True:
            url, self._sent_to = self._sent_to or await self._address(), None
            try:
                async with connect_to(url) as it:
                    token = {"name": self.name} if self._token is None else {"token": self._token}
                    welcome = await self._ask(it, type="hello", **token)
                    self._token, self.player = welcome["token"], welcome["player"]
                    return dict(await do(it))
            except GONE:
                if self._sent_to is None:
                    await asyncio.sleep(self._choice.uniform(0, 2 * RETRY_SECONDS))

    async def _ask(self, socket: ClientConnection, **request: Any) -> Message:
        """Return the good answer, asked again while the server is in trouble or wants patience."""
        while True:
            self._asked += 1
            id = f"a{self._asked}"
            await socket.send(json.dumps(request | {"id": id}))
            async with asyncio.timeout(GAME_SECONDS / 4):
                while (message := json.loads(await socket.recv())).get("id") != id:
                    pass
            if message["type"] != "error":
                return dict(message)
            self._leave_if_moved(message)
            if message["code"] not in (*TRANSIENT, "rate_limited"):
                self._found.wrong.append(f"{self.name} asked {request['type']} and was told {message['message']}")
                raise ConnectionError
            await asyncio.sleep(message.get("retry_ms", RETRY_SECONDS * 1000) / 1000)

    def _leave_if_moved(self, message: Message) -> None:
        """Go where the room is, as an answer or a push says."""
        if "moved" in (message["type"], message.get("code")):
            self._sent_to = message["url"]
            self._found.deeds["sent on"] += 1
            raise ConnectionError

    async def _play(self, socket: ClientConnection, room: str) -> Message:
        await socket.send(json.dumps({"type": "join", "room": room}))
        is_sulking = False
        async for text in socket:
            message = json.loads(text)
            self._leave_if_moved(message)
            if message["type"] in ("closed", "replaced"):
                raise ConnectionError
            if message["type"] == "error":
                if message["code"] in TRANSIENT:
                    raise ConnectionError
                if message["code"] not in ("stale", "not_your_turn", "game_over"):
                    self._found.wrong.append(f"{self.name} was told {message['message']}")
                    raise ConnectionError
            if message["type"] != "room" or message["room"] != room:
                continue
            if message["status"] == "over":
                return dict(message)
            turn = message["seats"].get(message["turn"]) if message["turn"] else None
            if message["status"] == "playing" and turn and turn["player"] == self.player and not is_sulking:
                is_sulking = await self._move(socket, message)
        raise ConnectionError

    async def _move(self, socket: ClientConnection, state: Message) -> bool:
        """Make a move or what the habit is; tell whether nothing will come any more."""
        await asyncio.sleep(self._choice.uniform(0, THINK_SECONDS))
        room, have_all_moved = {"room": state["room"]}, state["ply"] >= len(state["seats"])
        if have_all_moved and self._does("resigns"):
            await socket.send(json.dumps({"type": "resign", **room}))
        elif have_all_moved and self._does("loses on time"):
            return True
        elif self._does("drops"):
            socket.transport.abort()
            await asyncio.sleep(self._choice.uniform(0, AWAY_SECONDS))
            raise ConnectionError
        elif self._does("wanders"):
            raise ConnectionError
        else:
            cell = self._choice.choice(list_free(state))
            await socket.send(json.dumps({"type": "move", "cell": cell, "ply": state["ply"], **room}))
        return False

    def _does(self, habit: str) -> bool:
        if self.habit != habit or self._choice.random() > 0.1:
            return False
        self._found.deeds[habit] += 1
        return True


def list_free(state: Message) -> list[int]:
    """Return where a mark may go."""
    board, columns = state["board"], state["rules"]["columns"]
    free = [cell for cell, what in enumerate(board) if what == "."]
    if not state["rules"].get("gravity"):
        return free
    return [cell for cell in free if cell + columns >= len(board) or board[cell + columns] != "."]


async def run(folder: Path, *, games: int, kills: int, streams: int, people: int, tables: int, seed: int = 0) -> Found:
    """Play so many games at so many tables at once, and kill servers so often on the way."""
    choice, found = random.Random(seed), Found(streams)
    options = ("--keep-room", "60", "--log-level", "warning", "--ladders", ",".join(LADDERS))
    async with Cluster(folder, *options, servers=2, streams=streams) as cluster:

        async def choose() -> str:
            return await random.choice(cluster.doors)()

        crowd = [Person(f"p{number}", HABITS[number % len(HABITS)], choose, found, choice) for number in range(people)]
        await asyncio.gather(*(person.claim() for person in crowd))
        print(f"{people} people have names", file=sys.stderr)
        free, left = Tables(crowd, choice), iter(range(games))
        playing = [asyncio.create_task(_play_at_table(free, left, found, choice)) for _ in range(tables)]
        killing = asyncio.create_task(_kill(cluster, found, games, kills, choice))
        try:
            await asyncio.gather(*playing)
            found.is_over = True
            await killing
        finally:
            for task in (*playing, killing):
                task.cancel()
            await asyncio.gather(*playing, killing, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            await _judge(cluster, folder, found)
    return found


class Tables:
    """Who is free, and how often any two have met: no more often than two may in a day."""

    def __init__(self, people: list[Person], choice: random.Random) -> None:
        self._free, self._choice, self._met = people, choice, Counter[frozenset[str]]()

    def take_pair(self) -> list[Person]:
        """Return two free players who may meet again, or nobody if there are none."""
        for _ in range(10_000):
            pair = self._choice.sample(self._free, 2)
            names = frozenset(person.name for person in pair)
            if self._met[names] < MOST_OF_PAIR:
                self._met[names] += 1
                self._free = [person for person in self._free if person not in pair]
                return pair
        return []

    def free(self, people: list[Person]) -> None:
        """Let them play again."""
        self._free += people


async def _play_at_table(tables: Tables, left: Iterator[int], found: Found, choice: random.Random) -> None:
    """Have people who are free play one game after another."""
    for _ in left:
        rules = choice.choice(LADDERS)
        if not (some := tables.take_pair()):
            found.wrong.append("too few people for so many games")
            return
        begun = time.monotonic()
        try:
            async with asyncio.timeout(GAME_SECONDS):
                room = await some[0].open(rules)
                ends = await asyncio.gather(*(person.play(room) for person in some))
        except TimeoutError:
            found.wrong.append(f"a game of {rules} did not end")
        else:
            for state in ends:
                found.note(state)
            found.played, found.newest_at = found.played + 1, time.monotonic()
            found.unrated += ends[0]["game_id"] not in found.shown
            found.reasons[ends[0]["result"]["reason"]] += 1
            if ends[0]["game_id"] in found.shown and ends[0]["result"]["reason"] not in RATED_ENDS:
                found.wrong.append(f"{ends[0]['game_id']} ended by {ends[0]['result']['reason']}")
        found.seconds.append(time.monotonic() - begun)
        tables.free(some)


async def _kill(cluster: Cluster, found: Found, games: int, kills: int, choice: random.Random) -> None:
    """Kill one server or both, in the middle of games and of what is folded of them, and start them again."""
    for kill in range(kills):
        goal = games * (kill + choice.random()) / (kills + 1)
        while found.played < goal:
            if found.has_stopped:
                return
            await asyncio.sleep(0.01)
        await asyncio.sleep(choice.uniform(0, AWAY_SECONDS))
        some = cluster.servers if choice.random() < 0.2 else [cluster.servers[kill % 2]]
        await asyncio.gather(*(server.end(signal.SIGKILL) for server in some))
        await asyncio.sleep(choice.uniform(0, AWAY_SECONDS))
        await asyncio.gather(*(server.start() for server in some))
        found.kills += len(some)
        print(f"kill {kill + 1}: {found.played} games, {len(found.wrong)} violations", file=sys.stderr)


async def _order(folder: Path, *words: str) -> dict[str, Any]:
    """Give the server of a data folder an order about ratings, and return its answer."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "ratings", *words, "--data", str(folder), "--json", stdout=PIPE, stderr=PIPE, env=environment()
    )
    said, why = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"ratings {words[0]}: {why.decode()}")
    return dict(json.loads(said))


async def _judge(cluster: Cluster, folder: Path, found: Found) -> None:
    """Compare the ratings of both servers with each other, with an export, and with the games that people saw."""
    homes = [server.folder for server in cluster.servers]
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        answers = [await _order(home, "verify") for home in homes]
        has_settled = [answer["games"] for answer in answers] == [len(found.shown)] * 2
        if has_settled or time.monotonic() > deadline:
            break
        await asyncio.sleep(1)
    found.digests = [answer["digest"] for answer in answers]
    file = folder / "ratings.jsonl"
    found.digests.append((await _order(homes[0], "export", str(file)))["digest"])
    if len({*found.digests}) > 1:
        found.wrong.append("the digests differ")
    client = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tictactoe_client", "verify", str(file)), stdout=PIPE, env=environment()
    )
    output, _ = await client.communicate()
    if client.returncode:
        found.wrong.append(f"tictactoe-client verify: {output.decode()}")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    compare([line for line in lines if line["type"] == "game"], found)


def compare(games: list[dict[str, Any]], found: Found) -> None:
    """Compare the exported games with the ends that were shown."""
    ids = Counter(game["game_id"] for game in games)
    rooms = Counter(id.rpartition("-")[0] for id in ids)
    found.lost = len(found.shown.keys() - ids.keys())
    found.doubled = sum(count > 1 for count in (*ids.values(), *rooms.values()))
    found.wrong += [f"nobody was shown the end of {id}" for id in ids.keys() - found.shown.keys()]
    for game in games:
        first, second = game["players"]
        rated = (game["rules"], frozenset({first, second}), {1: first, 0.5: None, 0: second}[game["score"]])
        if (shown := found.shown.get(game["game_id"])) is not None and rated != (shown[0], *shown[2:]):
            found.changed += 1
            found.wrong.append(f"{game['game_id']} is rated as {rated} and was shown as {shown}")
