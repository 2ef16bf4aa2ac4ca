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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.cluster.servers import Cluster
from tests.environment import environment
from tests.faults.harness import COMMAND
from tests.peer import Message
from tests.simulation.people import legal_cells
from tools.soak.figures import times
from tools.soak.player import Player

LADDERS: Final = ("connect-four", "four")
CLOCK: Final = {"move_ms": 4_000}
RATED_ENDS: Final = frozenset({"line", "full", "resigned", "timeout"})
HABITS: Final = ("steady", "drops", "wanders", "resigns", "loses on time")
THINK_SECONDS: Final = 0.05
AWAY_SECONDS: Final = 1.5
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
        unrated: Games that ended before both players had moved.
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
        """Whether all games are over, or none has ended for too long."""
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
        """Check the end of a game that a player saw: it never changes."""
        if state["ply"] < len(state["seats"]):
            return
        players = {mark: seat["player"] for mark, seat in state["seats"].items()}
        winner = players.get(state["result"]["winner"])
        end = (state["rules"]["preset"], state["result"]["reason"], frozenset(players.values()), winner)
        if self.shown.setdefault(state["game_id"], end) != end:
            self.wrong.append(f"{state['game_id']} was shown as {end} and as {self.shown[state['game_id']]}")


class Person(Player):
    """A player with a claimed name and a habit, in one game at a time."""

    def __init__(self, name: str, habit: str, url: str, found: Found, choice: random.Random) -> None:
        super().__init__(url, name)
        self.habit = habit
        self._found, self._choice = found, choice

    async def succeed(self, type: str, **fields: Any) -> Message:
        """Return the answer to a request that must not be refused."""
        answer = await self.ask(type, **fields)
        if answer["type"] == "error":
            self._found.wrong.append(f"{self.name} asked {type} and was told {answer['message']}")
        return answer

    async def play(self, room: str) -> Message:
        """Play a game in a room to its end, and return the last state."""
        self.enter(room)
        await self.succeed("join", room=room)
        state, is_sulking = await self.next_state(), False
        while state["status"] != "over":
            if state["status"] == "playing" and state["turn"] == self.mark_in(state) and not is_sulking:
                is_sulking = await self._move(state)
            state = await self.next_state(state)
        self.enter("")
        return state

    async def _move(self, state: Message) -> bool:
        """Move or follow the habit; return True if the player will let the time run out."""
        await asyncio.sleep(self._choice.uniform(0, THINK_SECONDS))
        room, have_all_moved = {"room": state["room"]}, state["ply"] >= len(state["seats"])
        if have_all_moved and self._does("resigns"):
            await self.ask("resign", **room)
        elif have_all_moved and self._does("loses on time"):
            return True
        elif self._does("drops"):
            self.peer.socket.transport.abort()
            await asyncio.sleep(self._choice.uniform(0, AWAY_SECONDS))
        elif self._does("wanders"):
            await self.wander()
        else:
            answer = await self.ask("move", cell=self._choice.choice(legal_cells(state)), ply=state["ply"], **room)
            if answer.get("code") not in (None, "stale", "not_your_turn", "game_over"):
                self._found.wrong.append(f"{self.name} was told {answer['message']}")
        return False

    def _does(self, habit: str) -> bool:
        if self.habit != habit or self._choice.random() > 0.1:
            return False
        self._found.deeds[habit] += 1
        return True


async def run(folder: Path, *, games: int, kills: int, streams: int, people: int, tables: int, seed: int = 0) -> Found:
    """Play `games` at `tables` in parallel, and kill servers `kills` times meanwhile."""
    choice, found = random.Random(seed), Found(streams)
    options = ("--keep-room", "60", "--log-level", "warning", "--ladders", ",".join(LADDERS))
    async with (
        Cluster(folder, *options, servers=2, streams=streams) as cluster,
        contextlib.AsyncExitStack() as stack,
    ):
        urls = [server.url for server in cluster.servers]
        crowd = [
            Person(f"p{number}", HABITS[number % len(HABITS)], choice.choice(urls), found, choice)
            for number in range(people)
        ]
        for person in crowd:
            await stack.enter_async_context(person)
        await asyncio.gather(*(person.succeed("claim_name", name=person.name) for person in crowd))
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
    """The free players, and how often each pair has met; a pair may play ten rated games a day."""

    def __init__(self, people: list[Person], choice: random.Random) -> None:
        self._free, self._choice, self._met = people, choice, Counter[frozenset[str]]()

    def take_pair(self) -> list[Person]:
        """Return two free players who may meet again, or an empty list."""
        for _ in range(10_000):
            pair = self._choice.sample(self._free, 2)
            names = frozenset(person.name for person in pair)
            if self._met[names] < MOST_OF_PAIR:
                self._met[names] += 1
                self._free = [person for person in self._free if person not in pair]
                return pair
        return []

    def free(self, people: list[Person]) -> None:
        """Make players available again."""
        self._free += people


async def _play_at_table(tables: Tables, left: Iterator[int], found: Found, choice: random.Random) -> None:
    """Pair free players for one game after another."""
    for _ in left:
        rules = choice.choice(LADDERS)
        if not (some := tables.take_pair()):
            found.wrong.append("too few people for so many games")
            return
        begun = time.monotonic()
        try:
            async with asyncio.timeout(GAME_SECONDS):
                room = (await some[0].succeed("create", rules=rules, clock=CLOCK, rated=True))["room"]
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
    """Kill one server or both during games and while ratings are folded, and start them again."""
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
