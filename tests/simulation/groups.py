"""Groups of people: friends at one table, a crowd that is matched, rivals with rated games, and tournaments."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from tests.simulation.ledger import Message
from tests.simulation.peer import ConnectionLost, RequestRefused
from tests.simulation.people import GAMES, Person, Player, Table, Watcher
from tictactoe_server.features.ratings.service import Ladders
from tictactoe_server.features.tournaments.running import event_of
from tictactoe_server.features.tournaments.service import Tournaments
from tictactoe_server.features.tournaments.table import rows

if TYPE_CHECKING:
    from tests.simulation.run import Site

PATIENCE_SECONDS: Final = 40.0
LOBBY_SECONDS: Final = 2.5  # the delay of lobby changes
RULES: Final[tuple[Any, ...]] = (
    *("classic", "classic", "gomoku", "connect-four", "three-players", "four-pie", "misere"),
    {"rows": 5, "columns": 5, "line": 4, "opening": "swap2"},
)
SHORT: Final = {"initial_ms": 60_000, "increment_ms": 2_000}
LONG: Final = {"initial_ms": 1_800_000, "increment_ms": 1_000}


class Group:
    """People who use the server together: players, and others who watch."""

    def __init__(self, site: Site, number: int) -> None:
        self.site, self.ledger, self.number = site, site.ledger, number
        self.chance = site.world.chance(f"group {number}")
        self.players: list[Any] = []
        self.others: list[Person] = []

    async def settle(self) -> None:
        """Check after everything is over that the history has each game of each player once."""
        for player in self.players:
            await player.run()
            rows = await player.list_history()
            for code in filter(None, (*player.table.former_codes, player.table.code)):
                self.ledger.check_history(code, player.id, rows)


class Friends(Group):
    """Two or three people, bots or guests who play several games in one room, and perhaps a watcher."""

    def __init__(self, site: Site, number: int) -> None:
        super().__init__(site, number)
        chance = self.chance
        rules, clock = chance.choice(RULES), chance.choice((None, SHORT, LONG, LONG, {"move_ms": 20_000}))
        thinking_seconds, fuss = chance.choice((0.2, 3.0, 10.0)), chance.choice((0.0, 0.05, 0.2))
        self.table = Table(rules, clock, mean_thinking_seconds=thinking_seconds, fuss=fuss)
        names = ["ana", "bo", "di"][: 3 if rules == "three-players" else 2]
        if chance.random() < 0.2:
            names.pop()
            bots = {"bots": [chance.choice(("random", "rules", "hard"))]}
            self.table.company = chance.choice((bots, {"guests": ["gus"]}))
        self.players = [Player(self.site, self.table, f"{name}{self.number}") for name in names]
        if chance.random() < 0.5:
            self.others = [Watcher(self.site, self.table, f"cy{self.number}")]


class Crowd(Group):
    """Five people who want to be matched, each for a few games, and a lobby visitor."""

    def __init__(self, site: Site, number: int) -> None:
        super().__init__(site, number)
        self.players = [Seeker(self, f"eli{self.number}-{place}") for place in range(5)]
        self.others = [LobbyVisitor(self, f"fay{self.number}")]


class Wanderer(Player):
    """Plays one game after another, each in a room of its own.

    Attributes:
        rooms: The rooms where this person has had a seat.
    """

    def __init__(self, group: Group, name: str, clock: Message | None = None) -> None:
        super().__init__(group.site, Table(clock=clock), name)
        self.rooms: dict[str, None] = {}

    async def connect(self) -> None:
        await super().connect()
        self.rooms |= dict.fromkeys(row["room"] for row in self.welcome["rooms"])

    @property
    def next_room(self) -> str | None:
        return self.table.code or next((code for code in self.rooms if code not in self.table.former_codes), None)

    @property
    def is_finished(self) -> bool:
        return self.site.is_closing or len(self.table.former_codes) >= GAMES

    async def find_room(self) -> str | None:
        return self.next_room

    async def act(self) -> None:
        if self.next_room is not None:
            await super().act()
        elif self.is_finished:
            self.is_done = True
        else:
            await self.seek()

    async def seek(self) -> None:
        """Look for a game."""

    async def finish_or_ask_for_rematch(self, state: Message, marks: list[str]) -> None:
        await self.leave(state)


class Seeker(Wanderer):
    async def seek(self) -> None:
        reply = await self.try_once(type="match", rules="classic")
        if reply is None:  # it may have been stored nevertheless, which the next welcome shows
            raise ConnectionLost
        self.table.code = reply["room"]  # perhaps a room that this person has left before
        await self.enter()

    async def act(self) -> None:
        await super().act()
        state = self.states.get(self.table.code or "")
        if state is not None and state["status"] == "waiting":
            await self.wait_for_news(PATIENCE_SECONDS)
            if self.is_connected and self.states.get(state["room"]) is state:
                await self.leave(state)


class LobbyVisitor(Person):
    """Keeps a copy of the list of rooms by its changes, and compares it with the list."""

    def __init__(self, group: Group, name: str) -> None:
        super().__init__(group.site, Table(players=group.players), name)
        self.rows: dict[str, Message] = {}

    async def enter(self) -> None:
        self.rows = {}
        rows = (await self.ask(type="lobby", on=True))["rooms"]
        self.rows = {row["room"]: row for row in rows} | self.rows

    def receive(self, message: Message) -> None:
        super().receive(message)
        if message["type"] == "lobby":
            self.rows.update({row["room"]: row for row in message.get("changed", ())})
            for code in message.get("closed", ()):
                self.rows.pop(code, None)

    async def act(self) -> None:
        await self.wait_for_news(self.chance.uniform(5, 30))
        self.is_done = all(player.is_done for player in self.table.players)
        if before := await self._find_differences():
            await asyncio.sleep(LOBBY_SECONDS)
            lasting = before & await self._find_differences()
            if lasting and self.peer.is_calm_since(self.world.time() - 2 * LOBBY_SECONDS):
                self.ledger.fail(f"The lobby of {self.name} and the list of rooms differ for long: {sorted(lasting)}.")

    async def _find_differences(self) -> set[tuple[str, ...]]:
        """Return what only the lobby or only the list of rooms has."""
        listed = (await self.ask(type="rooms"))["rooms"]
        return {_essence(row) for row in listed} ^ {_essence(row) for row in self.rows.values()}


def _essence(row: Message) -> tuple[str, ...]:
    """Return what a change of a lobby row reports."""
    seats = [f"{mark} {seat and (seat['player'], seat['online'])}" for mark, seat in row["seats"].items()]
    return row["room"], row["status"], *seats


class League(Group):
    """Three people with claimed names and their rated games.

    Attributes:
        challenges: The ids of all challenges.
        interrupted: The number of acceptances without a definite answer; each may have left a room.
        ends: How each challenge ended, and its room or "".
        rooms: The rooms where a challenge or a welcome gave a player a seat.
    """

    def __init__(self, site: Site, number: int) -> None:
        super().__init__(site, number)
        self.challenges: set[str] = set()
        self.interrupted = 0
        self.ends: dict[str, tuple[str, str]] = {}
        self.rooms: set[str] = set()
        self.players = [Rival(self, f"ivo{self.number}{place}") for place in range(3)]

    def note_room(self, room: str) -> None:
        if room not in self.rooms:
            self.rooms.add(room)
            self.ledger.game(room, 1).began_at = 0.0  # at some moment before
            self.ledger.rooms[room].away_since = {rival.id: self.ledger.now() for rival in self.players}

    async def settle(self) -> None:
        """Check that each challenge ended and opened at most one room, and each server's ladder against a fold."""
        await super().settle()
        accepted = [room for _, room in self.ends.values() if room]
        unexplained = self.rooms.difference(accepted)  # a disk may report an error after it has stored a room
        uncertain = self.challenges - self.ends.keys()
        lasting = [id for rival in self.players for id in rival.open]
        explained = len(uncertain) + self.interrupted
        if lasting or len(unexplained) > explained or len(set(accepted)) < len(accepted):
            found = f"{accepted} and perhaps {explained} more, but there are {self.rooms}, and {lasting} have not ended"
            self.ledger.fail(f"Challenges opened {found}.")
        await asyncio.sleep(10.0)  # after a start the games are rated in the background
        rated = {row["game_id"] for rival in self.players for row in await rival.list_history() if row["moves"] >= 2}
        servers = [host.server for host in self.site.hosts if host.server is not None]
        digests = {server.service(Ladders).folding.state.digest for server in servers}
        exported = [json.loads(line) for line in (await servers[0].service(Ladders).export())[1].splitlines()[:-1]]
        ids = {rival.id for rival in self.players}
        counted = [line["game_id"] for line in exported if ids.intersection(line["players"])]
        if Counter(counted) != Counter(rated) or len(digests) > 1:
            self.ledger.fail(f"The ladders {digests} count {sorted(counted)}, the histories have {sorted(rated)}.")


class Rival(Wanderer):
    def __init__(self, league: League, name: str) -> None:
        super().__init__(league, name, SHORT)
        self.league = league
        self.open: dict[str, Message] = {}

    async def connect(self) -> None:
        await super().connect()
        for row in self.welcome["rooms"]:
            self.league.note_room(row["room"])
        self.open = {row["challenge"]: row for row in self.welcome["challenges"]}
        self.league.challenges.update(self.open)
        if not self.welcome.get("claimed"):
            await self.ask(type="claim_name", name=self.name)
            self.has_had_seat = True

    def receive(self, message: Message) -> None:
        super().receive(message)
        if message["type"] == "challenge":
            self.open[message["challenge"]] = message
            self.league.challenges.add(message["challenge"])
        elif message["type"] == "challenge_over":
            self.open.pop(message["challenge"], None)
            self.note_end(message["challenge"], message["how"], message.get("room", ""))
        self.news.set()

    def note_end(self, challenge: str, how: str, room: str) -> None:
        if (known := self.league.ends.setdefault(challenge, (how, room))) != (how, room):
            self.ledger.fail(f"Challenge {challenge} ended with {known}, and now with {(how, room)}.")
        if room:
            self.rooms[room] = None
            self.league.note_room(room)

    async def seek(self) -> None:
        if incoming := [row for row in self.open.values() if row["to"] == self.id]:
            await self.answer(incoming[0])
        elif self.open:
            (id, *_) = self.open
            await self.wait_for_news(self.chance.expovariate(1 / 20))
            if self.chance.random() < 0.2:
                await self.try_once(type="answer", challenge=id, accept=False)
        else:
            await self.wait_for_news(self.chance.expovariate(1 / 10))
            opponent = self.chance.choice([rival.id for rival in self.league.players if rival is not self])
            await self.try_once(type="challenge", player=opponent, rules="connect-four", clock=SHORT, rated=True)

    async def answer(self, row: Message) -> None:
        """Accept or decline a challenge, at once or late."""
        await asyncio.sleep(self.chance.choice((0.3, 0.3, 3.0, row["expires_ms"] / 1000 - 0.5)))
        is_accepted = self.chance.random() < 0.9
        self.league.interrupted += is_accepted  # until the answer: a crash may leave a room
        try:
            answer = await self.peer.ask({"type": "answer", "challenge": row["challenge"], "accept": is_accepted})
        except RequestRefused as refused:
            self.league.interrupted -= is_accepted and refused.code not in ("unavailable", "busy", "internal")
            if refused.code == "moved":
                raise
        else:
            if is_accepted:
                self.league.interrupted -= 1
                self.note_end(row["challenge"], "accepted", answer["room"])
        self.open.pop(row["challenge"], None)


class Cup(Group):
    """A tournament of three or four people and up to two bots, which the first person opens and begins.

    Attributes:
        code: The event, once it is open.
    """

    def __init__(self, site: Site, number: int) -> None:
        super().__init__(site, number)
        chance, self.code = self.chance, ""
        self.players = [Entrant(self, f"jo{self.number}{place}") for place in range(chance.choice((3, 4)))]
        self.terms: Message = {
            "title": f"cup {self.number}",
            "kind": chance.choice(("round_robin", "swiss", "knock_out")),
            "clock": chance.choice(({"move_ms": 20_000}, SHORT)),
            "bots": ["random", "rules"][: chance.choice((0, 1, 2))],
            "break_ms": chance.choice((0, 5_000)),
        }

    async def settle(self) -> None:
        """Check the pairings, the kept games and the table of the finished event."""
        await super().settle()
        assert (server := self.site.hosts[0].server) is not None  # noqa: RUF018
        event = await server.service(Tournaments).events.find(self.code)
        kept = [game.id async for _, _, game in server.core.store.games.after("", 2**62) if event_of(game) == self.code]
        pairings, table = event.pairings, rows(event)
        if sorted(filter(None, (one.game_id for one in pairings))) != sorted(kept):
            self.ledger.fail(f"The pairings are {pairings}, but these games are kept: {kept}.")
        points = Counter({player.id: 0 for player in self.players if player.is_entered})
        for pairing in pairings:
            for mark, player in pairing.players.items():
                points[player] += 2 if pairing.result == mark else pairing.result == "draw"
        if {row.player: 2 * row.points for row in table} != points:
            self.ledger.fail(f"The table is {table}, but these half points follow: {points}.")


class Entrant(Wanderer):
    """Enters an event, and plays where it is called to until the event is over."""

    def __init__(self, cup: Cup, name: str) -> None:
        super().__init__(cup, name)
        self.cup = cup
        self.event: Message = {}
        self.is_entered = False

    async def enter(self) -> None:
        cup = self.cup
        if not cup.code and self is cup.players[0]:
            events = (await self.ask(type="events"))["events"]
            codes = [row["event"] for row in events if row["title"] == cup.terms["title"]]
            cup.code = codes[0] if codes else (await self.ask(type="event_open", **cup.terms))["event"]
        if cup.code:
            try:
                await self.ask(type="event_join", event=cup.code)
                self.is_entered = self.has_had_seat = True
            except RequestRefused as refused:
                if refused.code != "event_begun":
                    raise
                self.is_done = True
        await super().enter()

    def forget_closed(self, code: str) -> None:
        """Forget a room of the event, which also ends when its pairing is scored."""
        self.table.leave(code)

    def receive(self, message: Message) -> None:
        if message["type"] == "closed":  # as its pairing is scored
            self.ledger.rooms[message["room"]].was_left = True
        super().receive(message)
        if message["type"] == "call":
            self.rooms[message["room"]] = None
        elif message["type"] in ("event", "event_rows"):
            self.event |= message
        self.news.set()

    async def seek(self) -> None:
        status, cup = self.event.get("status"), self.cup
        if status is None:
            await asyncio.sleep(1.0)
            await self.enter()
        elif status == "open" and self is cup.players[0]:
            await self.wait_for_news(self.chance.uniform(1.0, 10.0))
            is_full = len(self.event["table"]) == len(cup.players) + len(cup.terms["bots"])
            if is_full or self.chance.random() < 0.05:
                await self.try_once(type="event_run", event=cup.code, seq=self.event["seq"], action="begin")
        else:
            await self.wait_for_news(20.0)

    @property
    def is_finished(self) -> bool:
        return self.event.get("status") == "over"
