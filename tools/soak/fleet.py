"""Clients that play for as long as they are let: bare WebSockets, an id on every request, and one ledger for all.

Two players sit in each room, and whoever wants watches. A client that loses its connection comes back with its token,
takes its seat, and sends what was not answered once more, unchanged. It goes to the server of the cluster that has its
room, and tries the others where one is lost. What is refused in an unknown way is a violation.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from tests.faults.harness import Address
from tests.peer import Message
from tictactoe_engine.records import parse_record
from tools.soak.ledger import Ledger

PATIENCE_SECONDS = 60.0
"""How long anything that must happen may take before the run is given up."""

RETRY_SECONDS = 0.02
CLOSE_SECONDS = 0.2


def connect_to(url: str) -> connect:
    """Return the connection to be made by who reads all, however much it is, and goes at once."""
    return connect(url, compression=None, proxy=None, max_queue=None, close_timeout=CLOSE_SECONDS)


"""How long a server that may be dead is given to say farewell."""

PAGE = 100
MOST_MOVES = 3
"""How often in a row a client lets itself be sent to another server before it waits for a moment."""

TRANSIENT = frozenset({"busy", "unavailable"})
GONE = (OSError, ConnectionClosed, InvalidHandshake, InvalidMessage, TimeoutError, EOFError)


class Turned(Exception):
    """The server knows the player, the room or the seat no more."""


class Expelled(OSError):
    """The server says that one is not in the room, on a connection that entered it."""


class Moved(OSError):
    """The room is at another server."""


Games = dict[tuple[str, int], list[tuple[int, ...]]]
"""The moves of games by room and number, once for each copy found."""


class Client:
    """One player, or a watcher where `is_watcher`; `run` lives through any number of connections.

    `address` is awaited before each connection until a server has named the servers of its cluster. With
    `patience_seconds` it gives up a connection that is dead for so long or leaves a request unanswered; `unanswered`
    counts the latter.
    """

    def __init__(
        self,
        name: str,
        address: Address,
        ledger: Ledger,
        choice: random.Random,
        *,
        is_watcher: bool,
        patience_seconds: float | None = None,
        clock: Message | None = None,
        visibility: str = "private",
    ) -> None:
        self.name = name
        self.room = ""
        self.token: str | None = None
        self.state: Message | None = None
        self.is_watcher = is_watcher
        self.mark: str | None = None
        self.is_stopping = False
        self.is_lost = False
        self.connections = 0
        self.news = asyncio.Event()
        self.unanswered = 0
        self._address = address
        self._patience_seconds = patience_seconds
        self._options: Message = {"visibility": visibility} | ({} if clock is None else {"clock": clock})
        self._ledger = ledger
        self._choice = choice
        self._socket: ClientConnection | None = None
        self._pending: Message | None = None
        self._pending_game = 0
        self._effect = (0, 0)
        self._ids = 0
        self._player = ""
        self._asked_at = 0.0
        self._servers: list[str] = []
        self._sent_to: str | None = None
        self._times_sent = 0

    @property
    def is_connected(self) -> bool:
        """Whether the client is in the room."""
        return self._socket is not None

    @property
    def is_idle(self) -> bool:
        """Whether the client is in the room and waits for no answer."""
        return self._socket is not None and self._pending is None

    async def run(self) -> None:
        """Play, or watch, until cancelled, or until the server does not let one in: then `is_lost`."""
        while True:
            url = await self.choose()
            try:
                async with self._connect(url) as socket:
                    await self.enter(socket)
                    self._socket = socket
                    self.news.set()
                    await self._play(socket)
            except Moved:
                await asyncio.sleep(0 if self._sent_to is not None else RETRY_SECONDS)
            except GONE:
                await self._lose(url)
            except Turned as turned:
                self._ledger.lost.append(str(turned))
                self.is_lost = True
                self.news.set()
                return
            finally:
                self._socket = None

    async def choose(self) -> str:
        """Return where to connect next: where the room is said to be, else at the first of the servers."""
        if self._sent_to is not None:
            return self._sent_to
        return self._servers[0] if self._servers else await self._address()

    async def _lose(self, url: str) -> None:
        """Take a server to be gone: try the others first, each after a moment."""
        self._sent_to = None
        if url in self._servers:
            self._servers.remove(url)
            self._servers.append(url)
        await asyncio.sleep(RETRY_SECONDS if self._servers else 0)

    def _hear_moved(self, message: Message) -> None:
        """Go where the room is, if that is a server of the cluster; raises `Moved`."""
        self._times_sent += 1
        self._sent_to = message["url"] if self._times_sent % (MOST_MOVES + 1) else None
        if message["url"] not in self._servers:
            self._ledger.note_refusal(self.name, {"servers": self._servers}, message)
        raise Moved

    def _connect(self, url: str) -> connect:
        """Return the connection to be made: one that notices when the other end is dead, where patience has an end."""
        patience = self._patience_seconds
        if patience is None:
            return connect(url, compression=None, proxy=None, ping_interval=None)
        return connect(
            url,
            compression=None,
            proxy=None,
            open_timeout=patience,
            ping_interval=patience / 4,
            ping_timeout=patience / 2,
            close_timeout=CLOSE_SECONDS,
        )

    async def enter(self, socket: ClientConnection) -> None:
        """Say hello and take the seat, or the place of a watcher; a room is opened where none is known."""
        welcome = await self.greet(socket)
        if not self.room and welcome["rooms"]:
            self.room = welcome["rooms"][0]["room"]
        if self.room:
            seen = {"seq": self.state["seq"]} if self.state is not None else {}
            reply = await self._ask(socket, {"type": "watch" if self.is_watcher else "join", "room": self.room, **seen})
        else:
            reply = await self._ask(socket, {"type": "create", **self._options})
        self.room, self.mark = reply["room"], reply["seat"]
        self._sent_to, self._times_sent = None, 0
        self.connections += 1

    async def greet(self, socket: ClientConnection) -> Message:
        """Say hello and return the welcome, whose servers are known from then on beside those of earlier ones."""
        hello: Message = {"type": "hello", "name": self.name}
        if self.token is not None:
            hello["token"] = self.token
        welcome = await self._ask(socket, hello)
        self.token, self._player = welcome["token"], welcome["player"]
        servers = welcome.get("servers", [])
        self._servers = [*servers, *(server for server in self._servers if server not in servers)]
        return welcome

    async def settle(self) -> Message | None:
        """Ask for the state once everything is answered, through losses of the connection; None where one is lost."""
        while True:
            await self._wait(lambda: self.is_idle or self.is_lost)
            if self.is_lost:
                return None
            await self._sync()
            if self.state is not None:
                return self.state

    async def _sync(self) -> None:
        """Ask for the state, and wait for the one that follows the answer."""
        socket, before = self._socket, self.state
        self._pending = {"type": "sync", "room": self.room, "id": self._next_id()}
        if socket is not None:
            with contextlib.suppress(ConnectionClosed):
                await self._send_pending(socket)
        await self._wait(lambda: self.is_lost or (self._pending is None and self.state is not before))

    async def _wait(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not condition():
                self.news.clear()
                await self.news.wait()

    async def _play(self, socket: ClientConnection) -> None:
        if self._pending is not None:
            await self._send_pending(socket)
        while True:
            message: Message = json.loads(await self._receive(socket))
            self._hear(message)
            if self._pending is not None:
                if message["type"] == "error":
                    await asyncio.sleep(RETRY_SECONDS)
                    await self._send_pending(socket)
            elif not self.is_stopping and (message["type"] in ("room", "error") or self._has_seen_effect()):
                await self._act(socket)
            self.news.set()

    async def _send_pending(self, socket: ClientConnection) -> None:
        self._asked_at = asyncio.get_running_loop().time()
        await socket.send(json.dumps(self._pending))

    async def _receive(self, socket: ClientConnection) -> str | bytes:
        """Return the next message; raises TimeoutError where a request is not answered in time."""
        if self._pending is None or self._patience_seconds is None:
            return await socket.recv()
        try:
            async with asyncio.timeout_at(self._asked_at + self._patience_seconds):
                return await socket.recv()
        except TimeoutError:
            self.unanswered += 1
            raise

    def _hear(self, message: Message) -> None:
        if self._pending is not None and message.get("id") == self._pending["id"]:
            self._note_answer(self._asked_at)
        match message["type"]:
            case "room":
                self._ledger.note_state(self.name, message)
                self.state = message
                self.mark = next(
                    (mark for mark, seat in message["seats"].items() if seat and seat["player"] == self._player), None
                )
            case "ok" if self._pending is not None and message["id"] == self._pending["id"]:
                self._note_done(self._pending)
                self._pending = None
            case "error" if self._pending is not None and message.get("id") == self._pending["id"]:
                self._hear_refusal(self._pending, message)
            case "moved":
                self._hear_moved(message)
            case "error" | "closed" | "replaced":
                self._ledger.note_refusal(self.name, {}, message)
                if message["type"] == "replaced":
                    raise Expelled

    def _note_done(self, command: Message) -> None:
        if command["type"] == "move":
            self._ledger.note_move(self.room, self._pending_game, command["ply"], command["cell"])
        elif command["type"] == "rematch":
            self._ledger.note_rematch(self.room, self._pending_game)

    def _hear_refusal(self, command: Message, error: Message) -> None:
        if error["code"] == "moved":
            self._hear_moved(error)
        if error["code"] in TRANSIENT:
            self._note_transient(error["code"], self._asked_at)
            return
        if not (command["type"] == "rematch" and error["code"] == "not_allowed"):  # the next game is on already
            self._ledger.note_refusal(self.name, command, error)
        self._pending = None
        if error["code"] == "not_in_room":
            raise Expelled

    def _note_answer(self, asked_at: float) -> None:
        seconds = asyncio.get_running_loop().time() - asked_at
        self._ledger.slowest_answer = max(self._ledger.slowest_answer, seconds)

    def _note_transient(self, code: str, asked_at: float) -> None:
        if code == "unavailable":
            self._ledger.unavailable_seconds.append(asyncio.get_running_loop().time() - asked_at)

    async def _act(self, socket: ClientConnection) -> None:
        """Move where it is one's turn, and want another game where one is over."""
        state = self.state
        if state is None or self.is_watcher or self.mark is None:
            return
        if state["status"] == "playing" and state["turn"] == self.mark:
            free = [cell for cell, what in enumerate(state["board"]) if what == "."]
            await self._send(socket, type="move", cell=self._choice.choice(free), ply=state["ply"])
        elif state["status"] == "over" and self.mark not in state["offers"]["rematch"]:
            await self._send(socket, type="rematch", game=state["game"])

    def _has_seen_effect(self) -> bool:
        """Whether the state is what the last command made of it, or newer: the reply comes before the state."""
        return self.state is not None and (self.state["game"], self.state["ply"]) >= self._effect

    async def _send(self, socket: ClientConnection, **command: Any) -> None:
        assert self.state
        self._pending = {**command, "room": self.room, "id": self._next_id()}
        game = self._pending_game = self.state["game"]
        self._effect = (game, command["ply"] + 1) if command["type"] == "move" else (game + 1, 0)
        await self._send_pending(socket)

    async def _ask(self, socket: ClientConnection, request: Message) -> Message:
        """Return the good answer to a request, asked again while the server is in trouble; note states on the way."""
        while True:
            request["id"] = self._next_id()
            asked_at = asyncio.get_running_loop().time()
            await socket.send(json.dumps(request))
            async with asyncio.timeout(self._patience_seconds or PATIENCE_SECONDS):
                while (message := json.loads(await socket.recv())).get("id") != request["id"]:
                    self._hear(message)
            self._note_answer(asked_at)
            if message["type"] != "error":
                return dict(message)
            if message["code"] == "moved":
                self._hear_moved(message)
            if message["code"] not in TRANSIENT:
                raise Turned(f"{self.name} sent {request} and was told {message}")
            self._note_transient(message["code"], asked_at)
            await asyncio.sleep(RETRY_SECONDS)

    def _next_id(self) -> str:
        self._ids += 1
        return f"{self.name}-{self._ids}"


class Fleet:
    """So many rooms with their clients, each of whom awaits one of the `addresses` before each connection.

    Those of a room have different ones, as far as there are any. They play by this `clock`, by default by none, in
    rooms of this `visibility`.
    """

    def __init__(
        self,
        rooms: int,
        *addresses: Address,
        watchers: int = 0,
        seed: int = 0,
        ledger: Ledger | None = None,
        patience_seconds: float | None = None,
        clock: Message | None = None,
        visibility: str = "private",
    ) -> None:
        self.ledger = Ledger() if ledger is None else ledger
        choice = random.Random(seed)
        self.tables = [
            [
                Client(
                    f"{name}-{number}",
                    addresses[(number + index) % len(addresses)],
                    self.ledger,
                    choice,
                    is_watcher=index >= 2,
                    patience_seconds=patience_seconds,
                    clock=clock,
                    visibility=visibility,
                )
                for index, name in enumerate(["ana", "bo", *(f"eve{eve}" for eve in range(watchers))])
            ]
            for number in range(rooms)
        ]
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def clients(self) -> list[Client]:
        """All players and watchers."""
        return [client for table in self.tables for client in table]

    async def start(self) -> None:
        """Seat everybody and let them play."""
        await asyncio.gather(*(self._open(table) for table in self.tables))

    async def stop(self, collect: Callable[[], Awaitable[Games]] | None = None) -> None:
        """Let everybody finish what was sent, compare all that was told with all that is there, and go.

        What is there is what `collect` says, by default what the players are told of their games.
        """
        for client in self.clients:
            client.is_stopping = True
        try:
            await asyncio.gather(*(client.settle() for client in self.clients))
            newest: dict[str, Message] = {}
            for table in self.tables:
                ends = {client.name: state for client in table if (state := await client.settle()) is not None}
                self.ledger.compare_ends(table[0].room, ends)
                newest |= {state["room"]: state for state in ends.values()}
        finally:
            await self.abandon()
        self.ledger.compare_rematches(newest)
        self.ledger.compare_games(await (collect or self.collect)())

    async def abandon(self) -> None:
        """Go without a word."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for the fleet to have come so far, or for every table to have lost somebody.

        Raises what broke a client, and TimeoutError where nothing moves.
        """
        before, since = -1, time.monotonic()
        while not condition() and not all(any(client.is_lost for client in table) for table in self.tables):
            for task in self._tasks:
                if task.done():
                    task.result()
            progress = self.ledger.acknowledged + sum(client.connections for client in self.clients)
            if progress != before:
                before, since = progress, time.monotonic()
            if time.monotonic() - since > PATIENCE_SECONDS:
                raise TimeoutError(f"nothing moves any more: {self.ledger.report()}")
            await asyncio.sleep(0.005)

    async def _open(self, table: list[Client]) -> None:
        """Let the first player open the room, tell the others which, and seat them."""
        host, *others = table
        self._tasks.append(asyncio.create_task(host.run()))
        await host._wait(lambda: host.is_idle)
        for client in others:
            client.room = host.room
            self._tasks.append(asyncio.create_task(client.run()))
        for client in others:
            await client._wait(lambda client=client: client.is_connected)  # type: ignore[misc]

    async def collect(self) -> Games:
        """Ask for the moves of every game that the fleet played."""
        games = await self.collect_finished()
        for client in self._witnesses():
            for key, moves in (await collect_running(client)).items():
                games[key] += moves
        return games

    async def collect_finished(self, url: str | None = None) -> Games:
        """Ask for the moves of every game that is over, at one server or wherever its players are."""
        games: Games = defaultdict(list)
        for client in self._witnesses():
            for key, moves in (await collect_finished(client, url or await client.choose())).items():
                games[key] += moves
        return games

    def _witnesses(self) -> Iterator[Client]:
        """Yield one player of each room."""
        for table in self.tables:
            yield from [client for client in table if not client.is_lost and not client.is_watcher][:1]


async def collect_finished(client: Client, url: str) -> Games:
    """Return the moves of the games of a client that are over, as a server tells; one that is there twice has two."""
    games: Games = defaultdict(list)
    async with client._connect(url) as socket:
        await client.greet(socket)
        before: dict[str, str] = {}
        while page := (await client._ask(socket, {"type": "history", "limit": PAGE, **before}))["games"]:
            for row in page:
                record = await client._ask(socket, {"type": "record", "game_id": row["game_id"]})
                games[row["room"], row["game"]].append(parse_record(record["record"]).moves)
            before = {"before": page[-1]["game_id"]}
    return games


async def collect_running(client: Client) -> Games:
    """Return the moves of the game that is on in the room of a client, empty where none is."""
    while True:
        with contextlib.suppress(Moved):
            async with client._connect(await client.choose()) as socket:
                await client.greet(socket)
                await client._ask(socket, {"type": "watch", "room": client.room})
                state: Message = {}
                reply = await client._ask(socket, {"type": "sync", "room": client.room})
                while state.get("type") != "room":
                    state = json.loads(await socket.recv())
                return {} if state["status"] == "over" else {(client.room, state["game"]): [tuple(reply["moves"])]}
