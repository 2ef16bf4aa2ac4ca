"""People who play, watch and come back: random, but with a purpose, and retrying unanswered requests."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tests.simulation.ledger import Message
from tests.simulation.peer import SILENCE_SECONDS, ConnectionLost, Peer, RequestRefused
from tictactoe_protocol.guests import owner_of

if TYPE_CHECKING:
    from tests.simulation.run import Site

PASSING: Final = ("unavailable", "busy", "rate_limited")
"""Errors after which a request is sent again."""
GAMES: Final = 6  # of each table
GONE_SECONDS: Final = 25.0  # until a player is shown as offline whose connection was lost silently
BOT_SECONDS: Final = 30.0
FORGOTTEN_CHANCE: Final = 0.01  # that a player forgets a turn when the clock has less than `FORGOTTEN_MS` left
FORGOTTEN_MS: Final = 70_000
REFUSED_SECONDS: Final = 20.0  # until a repeated request succeeds, without trouble
CAUGHT_UP_SECONDS: Final = 4.0  # a client that reads nothing for longer may be cut off
UNREAD_SECONDS: Final = 12.0  # until a connection is closed that sends requests, but reads no answers
STALE_SECONDS: Final = 15.0  # how long after trouble an old state may be seen


@dataclass
class Table:
    """A room, and others before it that a player left, where some people play games, perhaps with bots or guests.

    Attributes:
        company: The bots or guests.
        fuss: The chance of `Player.make_fuss` at each turn.
    """

    rules: Any = "classic"
    clock: Any = None
    company: Message = field(default_factory=dict)
    mean_thinking_seconds: float = 3.0
    fuss: float = 0.05
    players: list[Player] = field(default_factory=list)
    code: str | None = None
    former_codes: list[str] = field(default_factory=list)

    def leave(self, code: str) -> None:
        if self.code == code:
            self.former_codes.append(code)
            self.code = None


class Person:
    """A person with a token who connects again whenever the connection is lost.

    Attributes:
        peer: The current connection.
        states, chats: The newest state of each room, and the texts of all chats, that came over this connection.
        newest_seqs: The largest `seq` that was received, by room.
        is_done: Whether this person wants nothing more.
    """

    def __init__(self, site: Site, table: Table, name: str) -> None:
        digest = hashlib.md5(name.encode()).digest()
        self.site, self.world, self.ledger, self.table = site, site.world, site.ledger, table
        self.name = self.shown_name = self.id = name
        self.token = ""
        self.chance = self.world.chance(name)
        self.address = f"10.{digest[0]}.{digest[1]}.{digest[2] % 250 + 1}"
        self.port = site.ports[0]
        self.peer = Peer(self)
        self.peer.is_lost = True
        self.states: dict[str, Message] = {}
        self.newest_seqs: dict[str, int] = {}
        self.chats: set[str] = set()
        self.welcome: Message = {}
        self.is_done = self.has_had_seat = False
        self.news = asyncio.Event()

    async def run(self) -> None:
        """Use the server until there is no more to do; ends with a connection."""
        while True:
            try:
                await self.connect()
                await self.enter()
                while self.is_connected and not self.is_done:
                    await self.act()
                if self.is_done:
                    return
            except ConnectionLost:
                self.port = self.chance.choice(self.site.ports)
            except RequestRefused as refused:
                if refused.code not in (*PASSING, "moved"):
                    raise
            self.peer.give_up()
            await asyncio.sleep(self.chance.choice((1, 1, 1, 1, 15)) * self.chance.uniform(0.2, 6.0))

    async def connect(self) -> None:
        """Open a connection and say hello, as the same player as before."""
        self.peer, self.states, self.chats = Peer(self), {}, set()
        try:
            self.welcome = await self.peer.open(
                {"name": self.shown_name} | ({"token": self.token} if self.token else {})
            )
        except RequestRefused as refused:
            if refused.code != "bad_token" or self.has_had_seat:
                raise
            self.token, self.id = "", self.name  # a player who never had a seat is forgotten after some days
            raise ConnectionLost from None
        if self.token and self.welcome["player"] != self.id:
            self.ledger.fail(f"{self.name} came back as {self.welcome['player']}, but was {self.id}.")
        self.token, self.id = self.welcome["token"], self.welcome["player"]
        self.ledger.rooms[self.room].tried_at[self.id] = self.world.time()

    async def enter(self) -> None:
        """Go where this person wants to be, after each connection."""

    async def act(self) -> None:
        """Do one thing."""

    async def ask(self, **request: Any) -> Message:
        """Return the answer to a request, which is repeated as long as an error passes."""
        began_at = self.world.time()
        while True:
            try:
                return await self.peer.ask(request)
            except RequestRefused as refused:
                if refused.code not in PASSING:
                    raise
                since = self.world.time() - REFUSED_SECONDS
                if refused.code != "rate_limited" and began_at < since and self.peer.is_calm_since(since):
                    self.ledger.fail(f"{self.name} has been refused {request} for long: {refused}.", self.room)
                await asyncio.sleep(refused.error.get("retry_ms", 500) / 1000 * self.chance.uniform(1, 1.5))

    async def try_once(self, **request: Any) -> Message | None:
        """Return the answer to a request, or None if it was refused."""
        try:
            return await self.peer.ask(request)
        except RequestRefused as refused:
            if refused.code == "moved":
                raise
            return None

    async def wait_for_news(self, seconds: float) -> None:
        """Return when a state arrives, the connection is lost or the time is over."""
        self.news.clear()
        try:
            await asyncio.wait_for(self.news.wait(), seconds)
        except TimeoutError:
            if self.is_connected and self.world.time() - self.peer.heard_at > SILENCE_SECONDS:
                self.peer.give_up()
            elif self.is_connected:
                self._check_nothing_missed()

    async def state_of(self, code: str) -> Message:
        while code not in self.states:
            await self.wait_for_news(20.0)
            if not self.is_connected:
                raise ConnectionLost
        return self.states[code]

    @property
    def room(self) -> str:
        return self.table.code or "-"

    @property
    def is_connected(self) -> bool:
        return not self.peer.is_lost

    def receive_state(self, state: Message) -> None:
        self.states[state["room"]] = state
        self.news.set()

    def receive(self, message: Message) -> None:
        self.ledger.count(message["type"])
        if message["type"] == "moved":
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
        for code in peer.rooms if self.peer is peer else peer.rooms - self.peer.rooms:
            closed_at = min(self.world.time(), peer.wire.other.closed_at)
            self.ledger.rooms[code].away_since.setdefault(self.id, closed_at)
        self.ledger.rooms[self.room].tried_at[self.id] = self.world.time()
        if peer.welcomed_at:
            self.ledger.tell(f"{self.name} is disconnected", self.room)
        self.news.set()

    def _check_nothing_missed(self) -> None:
        """Check that a sound connection shows every room as others see it."""
        now, peer = self.world.time(), self.peer
        if peer.welcomed_at > now - STALE_SECONDS or not peer.is_calm_since(now - STALE_SECONDS):
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
                owner = owner_of(seat["player"])
                since = max(room.asked_to_join.get(owner, 0.0), room.away_since.get(owner, now))
                if seat["online"] and now - since > GONE_SECONDS:
                    self.ledger.fail(f"{self.name} still sees {seat['name']} online, who has been away.", code)


class Player(Person):
    def __init__(self, site: Site, table: Table, name: str) -> None:
        super().__init__(site, table, name)
        table.players.append(self)
        self.has_finished = False
        self._unanswered: tuple[Message, int] | None = None

    async def find_room(self) -> str | None:
        """Return the room to enter, once there is one, or None to do something else first."""
        table = self.table
        if table.code is None and self is table.players[0]:
            room = {"rules": table.rules, "clock": table.clock, **table.company}
            table.code = (await self.ask(type="create", visibility="private", **room))["room"]
            if table.company:
                self.ledger.game(table.code, 1)  # it begins at once, perhaps long before it is first seen
        return await wait_for_room(self)

    async def enter(self) -> None:
        code = self.table.code = await self.find_room()
        if code is None:
            return
        if code not in self.states:
            try:
                await self.ask(type="join", room=code, seq=self.newest_seqs.get(code, 0))
            except RequestRefused as refused:
                if refused.code != "no_such_room":
                    raise
                self.forget_closed(code)
                return
        self.has_had_seat = True
        self.peer.rooms.add(code)
        self.ledger.rooms[code].note_back(self.id)
        await self.state_of(code)
        if self._unanswered is not None:
            (request, game), self._unanswered = self._unanswered, None
            if request["room"] == code:
                await self.do(request, game)

    def forget_closed(self, code: str) -> None:
        """Check that a room is gone because all its players were away for long, and forget it."""
        if not self.ledger.rooms[code].was_left and not self.ledger.is_closed(code):
            self.ledger.fail(f"The room of {self.name} is gone.", code)
        self.table.leave(code)

    def receive_state(self, state: Message) -> None:
        super().receive_state(state)
        if self.site.is_cluster and self.site.troubled_until >= self.world.time():
            return  # another server has the room, and this one does not know yet
        code = state["room"]
        for mark in self.marks_in(state):
            if code in self.peer.rooms and not state["seats"][mark]["online"]:
                self.ledger.fail(f"{self.name} is connected but shown as away: {state['seats']}.", code)

    async def act(self) -> None:
        state = self.states.get(self.table.code or "")
        if state is None:
            await self.enter()
            return
        marks = self.marks_in(state)
        if not marks:
            self.ledger.fail(f"{self.name} has lost the seat: {state['seats']}.", state["room"])
        mark = state["turn"] if state["turn"] in marks else marks[0]
        if state["status"] == "over":
            await self.finish_or_ask_for_rematch(state, marks)
        elif state["status"] == "waiting":
            await self.wait_for_news(20.0)
        elif (offer := self.open_offer(state, marks)) is not None:
            await self.do(offer, state["game"])
        elif state["turn"] == mark:
            await self.take_turn(state, mark)
        else:
            await self.wait_for_turn(state, mark)

    def open_offer(self, state: Message, marks: list[str]) -> Message | None:
        for kind in ("draw", "undo"):
            maker = state["offers"][kind]
            for mark in marks:
                if maker is not None and mark != maker and not state["seats"][mark].get("out"):
                    answer = self.chance.choice(("accept", "decline"))
                    return self.request_of(state, mark, type=kind, action=answer, game=state["game"], ply=state["ply"])
        return None

    async def finish_or_ask_for_rematch(self, state: Message, marks: list[str]) -> None:
        chance, table = self.chance, self.table
        if state["game"] >= GAMES or self.site.is_closing:
            self.has_finished = True
            self.is_done = all(player.has_finished for player in table.players)
            if not self.is_done:
                await self.wait_for_news(5.0)
            return
        if chance.random() < 0.3:
            await self.wait_for_news(chance.expovariate(1 / 8))
            if self.states.get(state["room"]) is not state:
                return
        if chance.random() < 0.02 or any(seat and seat.get("left") for seat in state["seats"].values()):
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
        self.table.leave(code)
        self.peer.rooms.discard(code)
        with contextlib.suppress(RequestRefused):
            await self.ask(type="leave", room=code)
        self.states.pop(code, None)

    def request_of(self, state: Message, mark: str, **fields: Any) -> Message:
        """Return a request about a room, for the player or a guest who has the mark."""
        id = state["seats"][mark]["player"]
        return {"room": state["room"], **fields} | ({} if id == self.id else {"player": id})

    async def take_turn(self, state: Message, mark: str) -> None:
        left = 0 if state["clock"] is None else state["clock"]["remaining_ms"][mark]
        turn = self.world.chance(f"{self.name} {state['room']} {state['game']} {state['ply']}")  # not of each state
        if 0 < left <= FORGOTTEN_MS and turn.random() < FORGOTTEN_CHANCE and not self.site.is_closing:
            await self.wait_for_news(20.0)
            return
        if self.chance.random() < 0.9:
            seconds = 0.1 if self.site.is_closing else self.table.mean_thinking_seconds
            await self.wait_for_news(self.chance.expovariate(1 / seconds))
        if self.states.get(state["room"]) is not state or not self.is_connected:
            return
        if self.chance.random() < self.table.fuss and not self.site.is_closing:
            await self.make_fuss(state, mark)
        elif options := state.get("opening", {}).get("options"):
            choice = self.request_of(state, mark, type="choose", take=self.chance.choice(options), ply=state["ply"])
            await self.do(choice, state["game"])
        else:
            cell = self.chance.choice(legal_cells(state))
            await self.do(self.request_of(state, mark, type="move", cell=cell, ply=state["ply"]), state["game"])

    async def wait_for_turn(self, state: Message, mark: str) -> None:
        code = state["room"]
        await self.wait_for_news(self.chance.choice((5.0, 20.0)))
        if self.states.get(code) is not state:
            return
        if self.chance.random() < self.table.fuss and not self.site.is_closing:
            await self.make_fuss(state, mark)
        absent = [seat for other, seat in state["seats"].items() if other != mark and seat and not seat["online"]]
        if absent and self.chance.random() < 0.3:
            claim = {"type": "claim", "as": self.chance.choice(("win", "draw"))}
            await self.try_once(**self.request_of(state, mark, **claim))
        if self.is_connected and self.states.get(code) is state and self.chance.random() < 0.3:
            await self.ask(type="sync", room=code)

    async def make_fuss(self, state: Message, mark: str) -> None:
        """Do something other than to move."""
        code, position = state["room"], {"game": state["game"], "ply": state["ply"]}
        kinds = "draw", "undo", "resign", "chat", "chat", "sync", "leave", "second tab", "no reading"
        match self.chance.choice(kinds):
            case "draw" | "undo" as kind:
                await self.do(self.request_of(state, mark, type=kind, action="offer", **position), state["game"])
            case "resign" if self.chance.random() < 0.3:
                await self.try_once(**self.request_of(state, mark, type="resign"))
            case "chat":
                text = f"{self.name} at {self.world.time():.3f}"
                if await self.try_once(type="chat", room=code, text=text) is not None:
                    self.ledger.rooms[code].chats.append((text, self.world.time()))
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
        if not self.welcome.get("claimed"):  # with another name, the seat changes, and the first tab has to wait
            self.shown_name = self.chance.choice((self.name, f"{self.name}-2"))
        try:
            await self.connect()
            await asyncio.gather(self.enter(), ask_quietly(first, request))
            await ask_quietly(first, {"type": "sync", "room": code})
            if first.is_calm_since(self.world.time() - 2.0) and code in first.rooms & self.peer.rooms:
                self.ledger.fail(f"{self.name} has the seat in a second tab, which the first was not told.", code)
        finally:
            first.give_up()

    async def stop_reading(self, code: str, seconds: float) -> None:
        """Ask without reading the answers: the server must end the connection, or send the answers later."""
        peer, began_at = self.peer, self.world.time()
        self.ledger.tell(f"{self.name} reads nothing for {seconds} s", code)
        peer.is_harmed |= seconds > CAUGHT_UP_SECONDS
        peer.wire.other.stall(seconds)
        asking = []
        while peer.is_served and self.world.time() < began_at + seconds:
            asking.append(self.world.create_task(ask_quietly(peer, {"type": "sync", "room": code})))
            await asyncio.sleep(1.0)
            is_due = self.world.time() > began_at + UNREAD_SECONDS and self.site.troubled_until < began_at
            if is_due and not (peer.wire.is_cut or peer.wire.other.is_cut):
                self.ledger.fail(f"{self.name} has read nothing for {UNREAD_SECONDS} s, and is not cut off.", code)
        if peer.is_harmed:
            peer.give_up()
        await asyncio.gather(*asking)

    async def do(self, request: Message, game: int) -> None:
        """Carry out an idempotent request about `game`; without an answer it is sent again after coming back."""
        state = await self.state_of(request["room"])
        self._unanswered = request, game
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
        mark = mark_of(newest, request.get("player", self.id))
        is_legal = (newest["ply"], newest["turn"]) == (request["ply"], mark) and state["game"] == game
        if is_legal or newest["board"][request["cell"]] == mark or refused.code == "occupied":
            self.ledger.fail(f"{self.name} was refused a legal move, or a repeated one: {request}, {refused}.", code)

    async def list_history(self) -> list[Message]:
        games: list[Message] = (await self.ask(type="history", limit=50))["games"]
        return games

    def marks_in(self, state: Message) -> list[str]:
        return [mark for mark, seat in state["seats"].items() if seat and owner_of(seat["player"]) == self.id]


class Watcher(Person):
    """Watches a table until it is over."""

    async def enter(self) -> None:
        code = await wait_for_room(self)
        await self.ask(type="watch", room=code, seq=self.newest_seqs.get(code, 0))

    async def act(self) -> None:
        if self.table.code not in self.states:
            await self.enter()
        await self.wait_for_news(20.0)
        self.is_done = all(player.is_done for player in self.table.players)


async def wait_for_room(person: Person) -> str:
    """Return the code of the table's room, once its first player has opened it."""
    while person.table.code is None:
        await asyncio.sleep(1.0)
        if not person.is_connected:
            raise ConnectionLost
    return person.table.code


async def ask_quietly(peer: Peer, request: Message) -> None:
    """Send a request whose refusal or loss does not matter."""
    with contextlib.suppress(ConnectionLost, RequestRefused):
        await peer.ask(request)


def mark_of(state: Message, id: str) -> str | None:
    return next((mark for mark, seat in state["seats"].items() if seat and seat["player"] == id), None)


def legal_cells(state: Message) -> list[int]:
    """Return the cells that may be played; with gravity the lowest free cell of each column."""
    board, rules = state["board"], state["rules"]
    step = rules["columns"] if rules["gravity"] else len(board)
    return [cell for cell, content in enumerate(board) if content == "." != board[cell + step : cell + step + 1]]
