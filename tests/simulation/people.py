"""People who play, watch and come back: random, but with a purpose, and retrying what got no answer."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from tests.simulation.ledger import Ledger, Message
from tests.simulation.peer import SILENCE_SECONDS, ConnectionLost, Peer, RequestRefused
from tests.simulation.world import World

if TYPE_CHECKING:
    from tests.simulation.run import Site

RETRIED: Final = frozenset({"unavailable", "busy", "rate_limited"})
"""Errors that pass: the request is sent again after `retry_ms`."""
GONE_SECONDS: Final = 25.0
"""How long a player may be shown as online after the connection was lost without a word."""
BOT_SECONDS: Final = 30.0
"""How long a bot may take for a move, with the end of trouble before it."""
UNREAD_SECONDS: Final = 12.0
"""How long a connection may stay open that does not read, but asks."""
RULES: Final[tuple[Any, ...]] = (
    *("classic", "classic", "gomoku", "connect-four", "three-players", "four-pie", "misere"),
    {"rows": 5, "columns": 5, "line": 4, "opening": "swap2"},
)
FORGOTTEN_CHANCE: Final = 0.01
"""How often a player lets the clock run out."""
FORGOTTEN_MS: Final = 70_000
"""The most time that a clock may have left for that."""
REFUSED_SECONDS: Final = 20.0
"""How long the server may refuse a request that may be repeated, without trouble."""
STALE_SECONDS: Final = 15.0
"""How long after trouble somebody may still see an old state."""


class Person:
    """Somebody with one token who connects again whenever the connection is lost.

    Attributes:
        peer: The current connection.
        states: The newest state of each room, as far as this connection knows.
        newest_seqs: The largest `seq` that was received, by room.
        chats: The texts of all chats that came over this connection.
        welcome: The last welcome.
        is_done: Whether this person wants nothing more.
    """

    def __init__(self, site: Site, name: str) -> None:
        digest = hashlib.md5(name.encode()).digest()
        self.site = site
        self.name = self.shown_name = name
        self.world: World = site.world
        self.ledger: Ledger = site.ledger
        self.chance = self.world.chance(name)
        self.address = f"10.{digest[0]}.{digest[1]}.{digest[2] % 250 + 1}"
        self.port = site.ports[0]
        self.token = ""
        self.id = name
        self.peer: Peer | None = None
        self.states: dict[str, Message] = {}
        self.newest_seqs: dict[str, int] = {}
        self.chats: set[str] = set()
        self.welcome: Message = {}
        self.is_done = False
        self.has_had_seat = False
        self._news = asyncio.Event()

    async def run(self) -> None:
        """Live until `is_done`."""
        while not self.is_done:
            try:
                await self.connect()
                await self.enter()
                while self.is_connected:
                    await self.act()
                    if self.is_done:
                        return
            except ConnectionLost:
                self.ledger.count("connections lost")
                if self.peer is not None:
                    self.peer.give_up()
                self.port = self.chance.choice(self.site.ports)
            except RequestRefused as refused:
                if refused.code == "moved":
                    self.follow(refused.error["url"])
                elif refused.code not in RETRIED:
                    raise
                if self.peer is not None:
                    self.peer.give_up()
            if not self.is_done:
                await asyncio.sleep(self.chance.choice((1, 1, 1, 1, 15)) * self.chance.uniform(0.2, 6.0))

    async def connect(self) -> None:
        """Open a connection and say hello, as the same player as before."""
        self.peer = peer = Peer(self)
        self.states, self.chats = {}, set()
        try:
            self.welcome = welcome = await peer.open(
                {"name": self.shown_name} | ({"token": self.token} if self.token else {})
            )
        except RequestRefused as refused:
            if refused.code != "bad_token" or self.has_had_seat:
                raise
            self.token, self.id = "", self.name  # who never had a seat is forgotten after some days
            raise ConnectionLost from None
        if self.token and welcome["player"] != self.id:
            self.ledger.fail(f"{self.name} came back as {welcome['player']}, but was {self.id}.")
        self.token, self.id = welcome["token"], welcome["player"]
        self.ledger.rooms[self.room].tried_at[self.id] = self.world.time()
        self.ledger.count("welcomes")

    async def enter(self) -> None:
        """Go where this person wants to be, after each connection."""

    async def act(self) -> None:
        """Do one thing."""
        raise NotImplementedError

    async def ask(self, **request: Any) -> Message:
        """Return the answer to a request, which is repeated as long as an error passes."""
        began_at = self.world.time()
        while True:
            peer = self.peer
            if peer is None:
                raise ConnectionLost
            try:
                return await peer.ask(request)
            except RequestRefused as refused:
                if refused.code not in RETRIED:
                    raise
                since = self.world.time() - REFUSED_SECONDS
                if refused.code != "rate_limited" and began_at < since and self.is_calm_since(peer, since):
                    self.ledger.fail(f"{self.name} has been refused {request} for long: {refused}.", self.room)
                await asyncio.sleep(refused.error.get("retry_ms", 500) / 1000 * self.chance.uniform(1, 1.5))

    async def ask_at_its_server(self, **request: Any) -> None:
        """Ask, and go to another server of the cluster as often as the answer is `moved`."""
        try:
            await self.ask(**request)
        except RequestRefused as refused:
            if refused.code != "moved" or self.peer is None:
                raise
            self.follow(refused.error["url"])
            self.peer.give_up()
            await Person.connect(self)
            await self.ask_at_its_server(**request)

    async def try_once(self, **request: Any) -> Message | None:
        """Return the answer to a request, or None if it was refused."""
        if self.peer is None:
            raise ConnectionLost
        try:
            return await self.peer.ask(request)
        except RequestRefused as refused:
            if refused.code == "moved":
                raise
            return None

    async def wait_for_news(self, seconds: float) -> None:
        """Return when a state arrives, the connection is lost or the time is over."""
        self._news.clear()
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except TimeoutError:
            peer = self.peer
            if peer is not None and not peer.is_lost:
                if self.world.time() - peer.heard_at > SILENCE_SECONDS:
                    peer.give_up()
                else:
                    self._check_nothing_missed(peer)

    async def state_of(self, code: str) -> Message:
        """Return the newest state of a room, once there is one on this connection."""
        while code not in self.states:
            await self.wait_for_news(20.0)
            if not self.is_connected:
                raise ConnectionLost
        return self.states[code]

    @property
    def room(self) -> str:
        """The room whose story this person belongs to, or "-"."""
        return "-"

    @property
    def ids(self) -> list[str]:
        """The ids of everybody who plays over this person's connection."""
        return [self.id]

    @property
    def is_connected(self) -> bool:
        return self.peer is not None and not self.peer.is_lost

    def follow(self, url: str) -> None:
        """Go to another server of the cluster with the next connection."""
        self.port = int(url.rpartition(":")[2])

    def wake(self) -> None:
        self._news.set()

    def receive_state(self, state: Message) -> None:
        self.states[state["room"]] = state
        self._news.set()

    def acknowledge(self, request: Message) -> None:
        """Handle an ok, before any later message of the connection."""

    def receive(self, message: Message) -> None:
        """Handle a message that is neither an answer nor a state."""
        self.ledger.count(message["type"])
        if message["type"] == "moved" and self.peer is not None:
            self.follow(message["url"])
            self.peer.give_up()
        elif message["type"] == "chat":
            if message["text"] in self.chats:
                self.ledger.fail(f"{self.name} received the chat {message['text']!r} twice.", message["room"])
            self.chats.add(message["text"])
        elif message["type"] == "closed":
            self.states.pop(message["room"], None)
            if not self.ledger.rooms[message["room"]].was_left:
                self.ledger.fail(f"{self.name} was told that the room is closed: {message}.", message["room"])

    def lose(self, peer: Peer) -> None:
        """Note that a connection ended."""
        for code in peer.rooms:
            if self.peer is peer or self.peer is None or code not in self.peer.rooms:
                for id in self.ids:
                    self.ledger.rooms[code].away_since.setdefault(id, peer.left_at)
        self.ledger.rooms[self.room].tried_at[self.id] = self.world.time()
        if peer.welcomed_at:
            self.ledger.tell(f"{self.name} is disconnected", self.room)
        self._news.set()

    def is_calm_since(self, peer: Peer, moment: float) -> bool:
        """Return whether nothing has delayed or lost messages of a connection since `moment`."""
        stalled_until = max(peer.wire.stalled_until, peer.wire.other.stalled_until)
        return peer.is_sound and stalled_until <= moment and not self.site.was_troubled_since(moment)

    def _check_nothing_missed(self, peer: Peer) -> None:
        """Check that a sound connection shows every room as others see it."""
        now = self.world.time()
        if peer.welcomed_at > now - STALE_SECONDS or not self.is_calm_since(peer, now - STALE_SECONDS):
            return
        for code, state in self.states.items():
            room = self.ledger.rooms[code]
            if room.was_left:
                continue
            if state["seq"] < room.newest and room.newest_at < now - 10.0:
                self.ledger.fail(f"{self.name} still sees seq {state['seq']}, others {room.newest} for 10 s.", code)
            mover = state["seats"].get(state["turn"] or "")
            if mover and mover["bot"] and room.newest_at < now - BOT_SECONDS:
                self.ledger.fail(f"{self.name} has waited for a move of {mover['name']} for {BOT_SECONDS} s.", code)
            here_since = max(peer.welcomed_at, room.asked_to_join.get(self.id, 0.0))
            for text, said_at in room.chats:
                if here_since + STALE_SECONDS < said_at < now - 5.0 and text not in self.chats:
                    self.ledger.fail(f"{self.name} never received the chat {text!r}.", code)
            for seat in filter(None, state["seats"].values()):
                joined_at = room.asked_to_join.get(seat["player"].partition(".")[0], 0.0)
                if seat["online"] and now - max(joined_at, room.away_since.get(seat["player"], now)) > GONE_SECONDS:
                    self.ledger.fail(f"{self.name} still sees {seat['name']} online, who has been away.", code)


class Table:
    """A few people who play several games in one room, and perhaps a watcher.

    Attributes:
        code: The room; a new one follows when a player has left it.
        former_codes: The rooms before it.
        bots, guests: Who takes the free seats of the host's room.
    """

    def __init__(self, site: Site, number: int, *, games: int) -> None:
        chance = site.world.chance(f"table {number}")
        short, long = {"initial_ms": 60_000, "increment_ms": 2_000}, {"initial_ms": 1_800_000, "increment_ms": 1_000}
        self.code: str | None = None
        self.former_codes: list[str] = []
        self.games = games
        self.rules = chance.choice(RULES)
        self.clock = chance.choice((None, short, long, long, {"move_ms": 20_000}))
        self.mean_thinking_seconds = chance.choice((0.2, 3.0, 10.0))
        self.fuss = chance.choice((0.0, 0.05, 0.2))
        names = ["ana", "bo", "di"][: 3 if self.rules == "three-players" else 2]
        self.bots, self.guests = [], []
        if chance.random() < 0.2:
            names.pop()
            if chance.random() < 0.5:
                self.bots = [chance.choice(("random", "rules", "hard"))]
            else:
                self.guests = ["gus"]
        self.players = [Player(site, self, f"{name}{number}") for name in names]
        self.people: list[Person] = [*self.players]
        if chance.random() < 0.5:
            self.people.append(Watcher(site, self, f"cy{number}"))

    @property
    def host(self) -> Player:
        return self.players[0]

    def hurry(self) -> None:
        """Make everybody play fast and without fuss."""
        self.mean_thinking_seconds, self.fuss = 0.1, 0.0

    def leave_room(self, code: str) -> None:
        """Let the host open another room, because somebody has left this one."""
        if self.code == code:
            self.former_codes.append(code)
            self.code = None

    async def settle(self, site: Site) -> None:
        """Check after everything is over that all agree, and that the history has each game once."""
        code = self.code
        if code is None:
            return
        ends = {}
        visitor = Watcher(site, self, f"{self.host.name}'s visitor")
        for person in (*self.players, visitor):
            await Person.connect(person)
        for player in self.players:
            rows = await player.list_history()
            for room in (*self.former_codes, code):
                site.ledger.check_history(room, player.id, rows, site.world.time())
        if site.ledger.is_closed(code) or site.ledger.rooms[code].was_left:
            return
        for person in (*self.players, visitor):
            await person.ask_at_its_server(type="watch" if person is visitor else "join", room=code)
        for person in (*self.players, visitor):
            await person.ask(type="sync", room=code)
            ends[person.name] = await person.state_of(code)
        site.ledger.check_convergence(code, ends)


class TableMember(Person):
    """Somebody who plays or watches at a table."""

    def __init__(self, site: Site, table: Table, name: str) -> None:
        super().__init__(site, name)
        self.table = table

    @property
    def room(self) -> str:
        return self.table.code or "-"

    async def wait_for_room(self) -> str:
        """Return the code of the table's room, once the host has opened it."""
        while self.table.code is None:
            await asyncio.sleep(1.0)
            if not self.is_connected:
                raise ConnectionLost
        return self.table.code


class Player(TableMember):
    """Plays at a table until its games are over."""

    def __init__(self, site: Site, table: Table, name: str) -> None:
        super().__init__(site, table, name)
        self.has_finished = False
        self._unanswered: tuple[Message, int] | None = None
        self._sent: Counter[str] = Counter()
        self._acknowledged: Message | None = None

    async def enter(self) -> None:
        table = self.table
        if table.code is None and self is table.host:
            company = {"bots": table.bots} if table.bots else {"guests": table.guests} if table.guests else {}
            reply = await self.ask(type="create", visibility="private", rules=table.rules, clock=table.clock, **company)
            table.code = reply["room"]
        code = await self.wait_for_room()
        if code not in self.states:
            await self.ask(type="join", room=code, seq=self.newest_seqs.get(code, 0))
        self.has_had_seat = True
        if self.peer is not None:
            self.peer.rooms.add(code)
        self.ledger.rooms[code].note_back(self.id)
        await self.state_of(code)
        if self._unanswered is not None:
            (request, game), self._unanswered = self._unanswered, None
            if request["room"] == code:
                self.ledger.count("sent again")
                await self.do(request, game)

    @property
    def ids(self) -> list[str]:
        return [self.id, *(f"{self.id}.{guest}" for guest in range(2, 2 + len(self.table.guests)))]

    def acknowledge(self, request: Message) -> None:
        if "game" in request and self._sent[str(request)] == 1:  # else the game may have gone on since the first time
            self._acknowledged = request

    def receive_state(self, state: Message) -> None:
        super().receive_state(state)
        request, self._acknowledged = self._acknowledged, None
        is_due = request is not None and request["room"] == state["room"] and state["game"] <= request["game"]
        if request is not None and is_due and not shows_effect(request, request.get("player", self.id), state):
            self.ledger.fail(
                f"{self.name} got ok to {request}, but state {state['seq']} does not show it.", state["room"]
            )
        if self.site.is_cluster and self.site.was_troubled_since(self.world.time()):
            return  # another server has the room, and this one does not know yet
        for mark in self.marks_in(state):
            if self.peer is not None and state["room"] in self.peer.rooms and not state["seats"][mark]["online"]:
                self.ledger.fail(f"{self.name} is connected but shown as away: {state['seats']}.", state["room"])

    async def act(self) -> None:
        code = self.table.code
        if code is None or code not in self.states:
            await self.enter()
            return
        state = self.states[code]
        marks = self.marks_in(state)
        if not marks:
            self.ledger.fail(f"{self.name} has lost the seat: {state['seats']}.", code)
        mark = state["turn"] if state["turn"] in marks else marks[0]
        if state["status"] == "over":
            await self.finish_or_ask_for_rematch(state, marks)
        elif state["status"] == "waiting":
            await self.wait_for_news(20.0)
        elif (offer := self.open_offer(state, marks)) is not None:
            await self.do(self.answer_offer(state, *offer), state["game"])
        elif state["turn"] == mark:
            await self.take_turn(state, mark)
        else:
            await self.wait_for_turn(state, mark)

    def open_offer(self, state: Message, marks: list[str]) -> tuple[str, str] | None:
        """Return the kind of an offer that this player has to answer, and with which mark."""
        for kind in ("draw", "undo"):
            maker = state["offers"][kind]
            answering = [mark for mark in marks if mark != maker and not state["seats"][mark].get("out")]
            if maker is not None and answering:
                return kind, answering[0]
        return None

    async def finish_or_ask_for_rematch(self, state: Message, marks: list[str]) -> None:
        code, chance, table = state["room"], self.chance, self.table
        if state["game"] >= table.games or self.site.is_closing:
            self.has_finished = True
            self.is_done = all(player.has_finished for player in table.players)
            if not self.is_done:
                await self.wait_for_news(5.0)
            return
        if chance.random() < 0.2:
            await self.check_history()
        if chance.random() < 0.3:
            await self.wait_for_news(chance.expovariate(1 / 8))
            if self.states.get(code) is not state:
                return
        someone_left = any(seat and seat.get("left") for seat in state["seats"].values())
        if someone_left or chance.random() < 0.02:
            await self.leave(state)
            return
        for mark in marks:
            if mark not in state["offers"]["rematch"] or chance.random() < 0.1:
                await self.do(self.request_of(state, mark, type="rematch", game=state["game"]), state["game"])
        await self.wait_for_news(20.0)

    async def leave(self, state: Message) -> None:
        """Leave a room for good; the table goes on in another one."""
        code = state["room"]
        self.ledger.rooms[code].was_left = True
        self.table.leave_room(code)
        if self.peer is not None:
            self.peer.rooms.discard(code)
        with contextlib.suppress(RequestRefused):
            await self.ask(type="leave", room=code)
        self.states.pop(code, None)

    def request_of(self, state: Message, mark: str, **fields: Any) -> Message:
        """Return a request about a room, for the player or a guest who has the mark."""
        id = state["seats"][mark]["player"]
        return {"room": state["room"], **fields} | ({} if id == self.id else {"player": id})

    def answer_offer(self, state: Message, kind: str, mark: str) -> Message:
        action = self.chance.choice(("accept", "decline"))
        return self.request_of(state, mark, type=kind, action=action, game=state["game"], ply=state["ply"])

    async def take_turn(self, state: Message, mark: str) -> None:
        if self._lets_clock_run_out(state, mark):
            await self.wait_for_news(20.0)
            return
        if self.chance.random() < 0.9:
            await self.wait_for_news(self.chance.expovariate(1 / self.table.mean_thinking_seconds))
        if self.states.get(state["room"]) is not state or not self.is_connected:
            return
        if self.chance.random() < self.table.fuss:
            await self.make_fuss(state, mark)
            return
        if options := state.get("opening", {}).get("options"):
            choice = self.request_of(state, mark, type="choose", take=self.chance.choice(options), ply=state["ply"])
            await self.do(choice, state["game"])
            return
        cell = self.chance.choice(legal_cells(state))
        await self.do(self.request_of(state, mark, type="move", cell=cell, ply=state["ply"]), state["game"])

    def _lets_clock_run_out(self, state: Message, mark: str) -> bool:
        """Return whether this player has forgotten a turn, which is the same for each state of it."""
        if state["clock"] is None or state["clock"]["remaining_ms"][mark] > FORGOTTEN_MS or self.site.is_closing:
            return False
        turn = f"{self.name} {state['room']} {state['game']} {state['ply']}"
        return self.world.chance(turn).random() < FORGOTTEN_CHANCE

    async def wait_for_turn(self, state: Message, mark: str) -> None:
        code = state["room"]
        await self.wait_for_news(self.chance.choice((5.0, 20.0)))
        if self.states.get(code) is not state:
            return
        if self.chance.random() < self.table.fuss:
            await self.make_fuss(state, mark)
        absent = [seat for other, seat in state["seats"].items() if other != mark and seat and not seat["online"]]
        if absent and self.chance.random() < 0.3:
            claim = {"as": self.chance.choice(("win", "draw"))}
            await self.try_once(**self.request_of(state, mark, type="claim", **claim))
        if self.is_connected and self.states.get(code) is state and self.chance.random() < 0.3:
            await self.ask(type="sync", room=code)

    async def make_fuss(self, state: Message, mark: str) -> None:
        """Do something other than to move."""
        code, position = state["room"], {"game": state["game"], "ply": state["ply"]}
        kinds = "draw", "undo", "resign", "chat", "chat", "sync", "history", "leave", "second tab", "no reading"
        match self.chance.choice(kinds):
            case "draw" | "undo" as kind:
                offer = self.request_of(state, mark, type=kind, action="offer", **position)
                await self.do(offer, state["game"])
            case "resign" if self.chance.random() < 0.3:
                await self.try_once(**self.request_of(state, mark, type="resign"))
            case "chat":
                text = f"{self.name} at {self.world.time():.3f}"
                if await self.try_once(type="chat", room=code, text=text) is not None:
                    self.ledger.rooms[code].chats.append((text, self.world.time()))
            case "history":
                await self.check_history()
            case "leave" if self.chance.random() < 0.1:
                await self.leave(state)
            case "second tab":
                await self.open_second_tab(self.request_of(state, mark, type="draw", action="offer", **position))
            case "no reading":
                await self.stop_reading(code, self.chance.choice((3.0, 3.0, 60.0)))
            case _:
                await self.ask(type="sync", room=code)

    async def open_second_tab(self, request: Message) -> None:
        """Go on in a second tab, while the first one still sends a request."""
        first, code = self.peer, request["room"]
        if first is None:
            raise ConnectionLost
        if not self.welcome.get("claimed"):  # with another name, the seat changes, and the first tab has to wait
            self.shown_name = self.chance.choice((self.name, f"{self.name}-2"))
        try:
            await self.connect()
            await asyncio.gather(self.enter(), ask_quietly(first, request))
            await ask_quietly(first, {"type": "sync", "room": code})
            if first.is_sound and self.peer is not None and code in first.rooms & self.peer.rooms:
                self.ledger.fail(f"{self.name} has the seat in a second tab, which the first was not told.", code)
        finally:
            first.give_up()

    async def stop_reading(self, code: str, seconds: float) -> None:
        """Ask without reading the answers: the server must end the connection, or send the answers later."""
        peer, began_at = self.peer, self.world.time()
        if peer is None:
            raise ConnectionLost
        peer.stop_reading(seconds)
        asking = []
        while peer.is_served and self.world.time() < began_at + seconds:
            asking.append(self.world.create_task(ask_quietly(peer, {"type": "sync", "room": code})))
            await asyncio.sleep(1.0)
            if self.world.time() > began_at + UNREAD_SECONDS and not self.site.was_troubled_since(began_at):
                self.ledger.fail(f"{self.name} has read nothing for {UNREAD_SECONDS} s, and is not cut off.", code)
        newest = self.ledger.rooms[code].newest
        if peer.is_harmed:
            peer.give_up()
        await asyncio.gather(*asking)
        await asyncio.sleep(1.0)
        is_calm = self.is_calm_since(peer, began_at + seconds + 0.1) and not self.site.was_troubled_since(began_at)
        if is_calm and code in self.states and self.states[code]["seq"] < newest:
            self.ledger.fail(f"{self.name} reads again, but does not get state {newest}.", code)

    async def do(self, request: Message, game: int) -> None:
        """Carry out an idempotent request about `game`; without an answer it is sent again after coming back."""
        state = await self.state_of(request["room"])
        self._unanswered = request, game
        self._sent[str(request)] += 1
        try:
            await self.ask(**request)
        except RequestRefused as refused:
            if refused.code in ("moved", "not_in_room"):
                raise
            self._unanswered = None
            if request["type"] == "move":
                await self._check_refusal(request, state, game, refused)
            elif request["type"] == "rematch" and not self.ledger.rooms[request["room"]].was_left:
                self.ledger.fail(f"{self.name} was refused a rematch: {refused}.", request["room"])
            return
        self._unanswered = None
        self.ledger.note_accepted(request, game)

    async def _check_refusal(self, request: Message, state: Message, game: int, refused: RequestRefused) -> None:
        """Check that a refused move is neither possible now nor played already."""
        code = request["room"]
        await self.ask(type="sync", room=code)
        newest = await self.state_of(code)
        if game != newest["game"] or self.ledger.game(code, game).takebacks:
            return
        id = request.get("player", self.id)
        mark = next((mark for mark, seat in newest["seats"].items() if seat and seat["player"] == id), None)
        if (newest["ply"], newest["turn"]) == (request["ply"], mark) and state["game"] == game:
            self.ledger.fail(f"{self.name} was refused a legal move with {refused}: {request}.", code)
        if newest["board"][request["cell"]] == mark:
            self.ledger.fail(f"{self.name} was refused a move that is played, with {refused}: {request}.", code)
        if refused.code == "occupied":
            self.ledger.fail(f"{self.name} was told of a free cell that it is occupied: {request}.", code)

    async def check_history(self) -> None:
        if self.site.is_cluster or self.table.code is None:
            return
        asked_at, rows = self.world.time(), await self.list_history()
        if len(rows) < 50:
            self.ledger.check_history(self.table.code, self.id, rows, asked_at)

    async def list_history(self) -> list[Message]:
        games: list[Message] = (await self.ask(type="history", limit=50))["games"]
        return games

    def is_own(self, id: str) -> bool:
        """Return whether an id is this player's or that of a guest."""
        return id.partition(".")[0] == self.id

    def marks_in(self, state: Message) -> list[str]:
        """Return the marks of this player and of the guests."""
        return [mark for mark, seat in state["seats"].items() if seat and self.is_own(seat["player"])]


class Watcher(TableMember):
    """Watches a table until it is over, sometimes as a new player."""

    async def connect(self) -> None:
        if self.chance.random() < 0.3:
            self.token, self.id = "", self.name
        await super().connect()

    async def enter(self) -> None:
        code = await self.wait_for_room()
        await self.ask(type="watch", room=code, seq=self.newest_seqs.get(code, 0))

    async def act(self) -> None:
        if all(player.is_done for player in self.table.players):
            self.is_done = True
            return
        if self.table.code not in self.states:
            await self.enter()
        await self.wait_for_news(20.0)
        if self.chance.random() < 0.02 and self.peer is not None:
            self.peer.give_up()


async def ask_quietly(peer: Peer, request: Message) -> None:
    """Send a request whose refusal or loss does not matter."""
    with contextlib.suppress(ConnectionLost, RequestRefused):
        await peer.ask(request)


def legal_cells(state: Message) -> list[int]:
    """Return the cells that may be played; with gravity the lowest free cell of each column."""
    board, rules = state["board"], state["rules"]
    free = [cell for cell, content in enumerate(board) if content == "."]
    if rules["gravity"]:
        columns = rules["columns"]
        free = [cell for cell in free if cell + columns >= len(board) or board[cell + columns] != "."]
    return free


def shows_effect(request: Message, sender: str, state: Message) -> bool:
    """Return whether the first state after an acknowledged request may be its consequence, in the same game."""
    if state["result"] is not None and request["type"] != "rematch":
        return True
    mark = next((mark for mark, seat in state["seats"].items() if seat and seat["player"] == sender), None)
    has_changed: bool = request.get("ply") != state["ply"]
    offers = state["offers"]
    match request["type"], request.get("action"):
        case "rematch", _:
            return mark in offers["rematch"] or any(seat and seat.get("left") for seat in state["seats"].values())
        case "draw", "accept":
            return False
        case ("draw" | "undo") as kind, "offer":
            return has_changed or offers[kind] is not None or kind in offers.get("ended", {})
        case "undo", "accept":
            return has_changed
    return True
