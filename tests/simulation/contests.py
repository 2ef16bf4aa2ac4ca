"""Contests: rivals who challenge one another to rated games, and tournaments."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import TYPE_CHECKING

from tests.simulation.crowd import Crowd, Wanderer
from tests.simulation.ledger import Message
from tests.simulation.peer import RequestRefused
from tests.simulation.people import Person
from tictactoe_protocol import encode
from tictactoe_protocol.ratings.ladder import Ladder, Player
from tictactoe_protocol.ratings.log import RatedGame
from tictactoe_server.events.running import DESERTED_SECONDS
from tictactoe_server.events.table import whole_of

if TYPE_CHECKING:
    from tests.simulation.run import Site


class League(Crowd):
    """Three people with claimed names and their rated games.

    Attributes:
        challenges: The ids of all challenges.
        ends: How each challenge ended, and its room or "".
        rooms: The rooms where a challenge or a welcome gave a player a seat.
        changes: The ratings of both players before and after each rated game, by room.
    """

    def __init__(self, site: Site, number: int, *, games: int) -> None:
        self.ledger = site.ledger
        self.challenges: set[str] = set()
        self.ends: dict[str, tuple[str, str]] = {}
        self.rooms: set[str] = set()
        self.changes: dict[str, dict[str, Message]] = {}
        self.rivals = [Rival(site, self, f"ivo{number}{place}", games) for place in range(3)]
        self.seekers = self.rivals
        self.people: list[Person] = [*self.rivals]

    def note_room(self, room: str) -> None:
        """Note a room that no player has entered yet."""
        if room not in self.rooms:
            self.rooms.add(room)
            self.ledger.game(room, 1).began_at = 0.0  # at some moment before
            self.ledger.rooms[room].away_since = {rival.id: self.ledger.now() for rival in self.rivals}

    async def settle(self, site: Site) -> None:
        """Check that each challenge ended and opened at most one room, and each server's ladder against a fold."""
        await super().settle(site)
        if lasting := {id for rival in self.rivals for id in rival.open}:
            self.ledger.fail(f"The challenges {lasting} have not ended, although their time is over.")
        accepted = [room for _, room in self.ends.values() if room]
        unexplained = self.rooms.difference(accepted)  # a disk may report an error after it has stored a room
        uncertain = self.challenges - {id for id, (how, _) in self.ends.items() if how != "failed"}
        if len(unexplained) > len(uncertain) or len(set(accepted)) < len(accepted):
            self.ledger.fail(f"Challenges opened {accepted} and perhaps {uncertain}, but there are {self.rooms}.")
        await asyncio.sleep(10.0)  # after a start the games are rated in the background
        rated = {game_id for rival in self.rivals for game_id in await rival.check_profile(is_final=True)}
        servers = [host.server for host in site.hosts if host.server is not None]
        server, digests = servers[0], [one.ladders.folding.state.digest for one in servers]
        if len(set(digests)) > 1:
            self.ledger.fail(f"The servers have folded the same games to {digests}.")
        exported = [json.loads(line) for line in (await server.ladders.export())[1].splitlines()[:-1]]
        ids, ladder = {rival.id for rival in self.rivals}, Ladder()  # a second Glicko-2 would be long
        counted = [line["game_id"] for line in exported if ids.intersection(line["players"])]
        if Counter(counted) != Counter(rated):
            self.ledger.fail(f"The ladder counts {sorted(counted)}, but the histories have {sorted(rated)}.")
        for line in exported:
            before = {id: ladder.players.get(id, Player()).number.rating for id in line["players"]}
            ladder.add(RatedGame(line["game_id"], line["at"], line["rules"], tuple(line["players"]), line["score"]))
            room = line["game_id"].partition("-")[0]
            for id, change in self.changes.get(room, {}).items():
                expected = before[id], ladder.players[id].number.rating
                if (change["before"], change["after"]) != expected:
                    self.ledger.fail(f"A game was rated with {change}, but {expected} follows.", room)
        self.ledger.count("rated games checked", len(counted))


class Rival(Wanderer):
    """Challenges others and answers their challenges, with one game after another."""

    def __init__(self, site: Site, league: League, name: str, games: int) -> None:
        super().__init__(site, name, games)
        self.table.clock = {"initial_ms": 60_000, "increment_ms": 2_000}
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
        if message["type"] == "rated":
            self.ledger.check_same(self.league.changes, message["room"], message["players"], "The game of room")
        elif message["type"] == "challenge":
            self.open[message["challenge"]] = message
            self.league.challenges.add(message["challenge"])
        elif message["type"] == "challenge_over":
            self.open.pop(message["challenge"], None)
            self.note_end(message["challenge"], message["how"], message.get("room", ""))
        self.wake()

    def note_end(self, challenge: str, how: str, room: str) -> None:
        self.ledger.check_same(self.league.ends, challenge, (how, room), "The end of challenge")
        if room:
            self.rooms[room] = None
            self.league.note_room(room)

    async def act(self) -> None:
        if self.next_room:
            await super().act()
        elif self.is_finished:
            self.is_done = True
        elif incoming := [row for row in self.open.values() if row["to"] == self.id]:
            await self.answer(incoming[0])
        elif self.open:
            (id, *_) = self.open
            await self.wait_for_news(self.chance.expovariate(1 / 20))
            if self.chance.random() < 0.2:
                await self.try_once(type="answer", challenge=id, accept=False)
        else:
            if self.chance.random() < 0.3:
                await self.check_profile()
            await self.wait_for_news(self.chance.expovariate(1 / 10))
            opponent = self.chance.choice([rival.id for rival in self.league.rivals if rival is not self])
            terms = {"rules": "connect-four", "clock": self.table.clock, "rated": True}
            await self.try_once(type="challenge", player=opponent, **terms)

    async def answer(self, row: Message) -> None:
        """Accept or decline a challenge, at once, late or twice."""
        await asyncio.sleep(self.chance.choice((0.3, 0.3, 3.0, row["expires_ms"] / 1000 - 0.5)))
        id, accept = row["challenge"], self.chance.random() < 0.9
        times = range(self.chance.choice((1, 1, 2)))
        answers = await asyncio.gather(*(self.try_once(type="answer", challenge=id, accept=accept) for _ in times))
        self.open.pop(id, None)
        taken = [answer for answer in answers if answer is not None]
        if len(taken) > 1:
            self.ledger.fail(f"{self.name} answered challenge {id} twice: {taken}.")
        if taken and accept:
            self.note_end(id, "accepted", taken[0]["room"])

    async def check_profile(self, *, is_final: bool = False) -> list[str]:
        """Check that the shown record has each rated game once; return the ids of the rated games."""
        least = sum(self.id in players for players in self.league.changes.values())
        profile = (await self.ask(type="profile", player=self.id))["profile"]
        rows = [row for row in await self.list_history() if row["moves"] >= 2]
        winners = [row["result"]["winner"] and row["players"][row["result"]["winner"]]["player"] for row in rows]
        won = Counter("draws" if id is None else "wins" if id == self.id else "losses" for id in winners)
        shown = Counter({kind: row[kind] for row in profile["ladders"] for kind in ("wins", "draws", "losses")})
        if not least <= shown.total() or not shown <= won or (is_final and shown != won):
            self.ledger.fail(f"{self.name} is shown {shown}, after {least} games were rated; the history has {won}.")
        return [row["game_id"] for row in rows]


class Cup(Crowd):
    """A tournament of three or four people and up to two bots, which the first person opens and begins.

    Attributes:
        code: The event, once it is open.
        results: The results that were shown, by pairing.
        entered: The ids of the people whose entry was acknowledged.
        heard_at: When any of them last got a message.
    """

    def __init__(self, site: Site, number: int, *, games: int) -> None:
        chance = site.world.chance(f"cup {number}")
        self.ledger = site.ledger
        self.code: str | None = None
        self.results: dict[str, Message] = {}
        self.entered: set[str] = set()
        self.heard_at = 0.0
        self.seekers = [Entrant(site, self, f"jo{number}{place}") for place in range(chance.choice((3, 4)))]
        self.people: list[Person] = [*self.seekers]
        self.terms: Message = {
            "title": f"cup {number}",
            "kind": chance.choice(("round_robin", "swiss", "knock_out")),
            "clock": chance.choice(({"move_ms": 20_000}, {"initial_ms": 60_000, "increment_ms": 2_000})),
            "bots": ["random", "rules"][: chance.choice((0, 1, 2))],
            "double": chance.random() < 0.3,
            "break_ms": chance.choice((0, 5_000)),
        }
        self.ledger.has_unseen_games |= len(self.terms["bots"]) > 1

    def check_results(self, pairings: list[Message]) -> None:
        """Check that no result changes that was shown before."""
        for pairing in pairings:
            if pairing["state"] == "scored":
                result = {key: pairing.get(key) for key in ("players", "result", "by", "reason", "game_id")}
                self.ledger.check_same(self.results, pairing["id"], result, "Pairing")

    async def settle(self, site: Site) -> None:
        """Check the pairings, the kept games and the table of the finished event."""
        await super().settle(site)
        assert (server := site.hosts[0].server) is not None  # noqa: RUF018
        event = json.loads(encode(whole_of(await server._tournaments.kept.find(self.code or ""))))
        kept = [game.id async for _, _, game in server.core.store.games.after("", 2**62) if game.event == self.code]
        pairings, table = event["pairings"], event["table"]
        self.check_results(pairings)
        if not self.entered <= {row["player"] for row in table}:
            self.ledger.fail(f"These people were entered: {self.entered}, but the table is {table}.")
        if sorted(one["id"] for one in pairings if one["result"]) != sorted({one["id"] for one in pairings}):
            self.ledger.fail(f"A pairing has no result, or is there twice: {pairings}.")
        if sorted(filter(None, (one["game_id"] for one in pairings))) != sorted(kept):
            self.ledger.fail(f"The pairings are {pairings}, but these games are kept: {kept}.")
        seats = [(one, mark, player) for one in pairings for mark, player in one["players"].items()]
        points = Counter({player: 0 for _, _, player in seats})
        for one, mark, player in seats:
            points[player] += 2 if one["result"] == mark else one["result"] == "draw"
        if {row["player"]: 2 * row["points"] for row in table} != points:
            self.ledger.fail(f"The table is {table}, but these half points follow: {points}.")
        matches = {(one["round"], one["id"].split("-")[1], player) for one, _, player in seats}
        met = Counter(frozenset(one["players"].values()) for one in pairings if len(one["players"]) > 1)
        times = {"round_robin": 1 + self.terms["double"], "swiss": 1, "knock_out": 6}[event["kind"]]
        if len({(round, player) for round, _, player in matches}) < len(matches) or max(met.values()) > times:
            self.ledger.fail(f"Somebody is paired twice in {pairings}.")
        if event["kind"] == "round_robin" and 2 * met.total() != times * len(table) * (len(table) - 1):
            self.ledger.fail(f"Not everybody has met: {met}.")
        self.ledger.count(f"events {event['kind']}")


class Entrant(Wanderer):
    """Enters an event, and plays where it is called to until the event is over."""

    def __init__(self, site: Site, cup: Cup, name: str) -> None:
        super().__init__(site, name, games=1)
        self.cup = cup
        self.event: Message = {}

    async def enter(self) -> None:
        cup = self.cup
        if cup.code is None and self is cup.seekers[0]:
            events = (await self.ask(type="events"))["events"]
            codes = [row["event"] for row in events if row["title"] == cup.terms["title"]]
            cup.code = codes[0] if codes else (await self.ask(type="event_open", **cup.terms))["event"]
        if cup.code is not None:
            try:
                await self.ask(type="event_join", event=cup.code)
                cup.entered.add(self.id)
            except RequestRefused as refused:
                if refused.code != "event_begun":
                    raise
                self.is_done = True
        await super().enter()

    def check_closed(self, code: str) -> None:
        """Forget a room of the event, which also ends when its pairing is scored."""
        self.table.leave_room(code)

    def receive(self, message: Message) -> None:
        cup, now = self.cup, self.ledger.now()
        if "needed" in self.event or now - cup.heard_at > DESERTED_SECONDS / 2:  # its games may have stood still
            for code in {code for person in cup.seekers for code in person.rooms}:
                self.ledger.note_standstill(code)
        cup.heard_at = now
        if message["type"] == "closed":  # as its pairing is scored
            self.ledger.rooms[message["room"]].was_left = True
        super().receive(message)
        if message["type"] == "call":
            self.rooms[message["room"]] = None
        elif message["type"] in ("event", "event_rows"):
            cup.check_results(message["pairings"])
            self.event.pop("needed", None)
            self.event |= message
        self.wake()

    async def act(self) -> None:
        status = self.event.get("status")
        if self.next_room:
            await super().act()
        elif status is None:
            await asyncio.sleep(1.0)
            await self.enter()
        elif status == "open" and self is self.cup.seekers[0]:
            await self.wait_for_news(self.chance.uniform(1.0, 10.0))
            is_full = len(self.event["table"]) == len(self.cup.seekers) + len(self.cup.terms["bots"])
            if is_full or self.chance.random() < 0.05:
                await self.try_once(type="event_run", event=self.cup.code, seq=self.event["seq"], action="begin")
        else:
            await self.wait_for_news(20.0)
            self.is_done = status == "over"
