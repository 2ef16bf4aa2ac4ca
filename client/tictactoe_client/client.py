"""A player's or watcher's conversation with one server: requests as methods, states as async iterators.

This is the door for other Python programs, and the commands stand on it. It owns the connection's life in one
place, `Client._keep`; it knows nothing of terminals. A whole bot::

    async with connect("ws://localhost:8765", name="first-free") as client:
        room = await client.match("classic")
        async for state in room:
            if state.status == "over":
                break
            if state.turn == room.seat:
                await room.move(state.board.index("."))
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tictactoe_client.address import DEFAULT_SERVER, Address, parse_address
from tictactoe_client.backoff import Backoff
from tictactoe_client.comeback import come_back
from tictactoe_client.connection import Connection
from tictactoe_client.errors import ClientError, ConnectionLost, Interrupted, ProtocolBroken, Refused, Unreachable
from tictactoe_client.events import Event, Gone
from tictactoe_client.greeting import Greeting, greet
from tictactoe_client.messages import Message, Messages, read_message, refusal_of
from tictactoe_client.room import Room
from tictactoe_engine import Rules
from tictactoe_protocol import MAX_LISTED_GAMES, choice_of, encode, may_reconnect, parse_room_code
from tictactoe_protocol.pushes import (
    Closed,
    Error,
    Notice,
    Ok,
    PastGame,
    Replaced,
    RoomState,
    RoomSummary,
)
from tictactoe_protocol.requests import (
    ClockFields,
    Create,
    Draw,
    History,
    Join,
    Leave,
    Lobby,
    Match,
    Move,
    Ping,
    Record,
    Rematch,
    Request,
    Resign,
    Rooms,
    RulesChoice,
    Sync,
    Watch,
)

DEFAULT_TIMEOUT_SECONDS: Final = 5.0
_OWN_ID_PREFIX: Final = "client-"
_ATTEMPTS_TO_ENTER: Final = 5
_REPEATABLE: Final = (Move, Join, Watch, Leave, Resign, Rematch, Draw, Sync, Rooms, Lobby, Ping, History, Record)
"""What may be sent a second time where the answer to the first was lost: it changes nothing, or is refused, then."""


Awaited = TypeVar("Awaited")


@dataclass(slots=True)
class _Pending:
    """A request without an answer yet, and the connection over which it was sent last, if any."""

    request: Request
    answer: asyncio.Future[Ok]
    sent_over: Connection | None = None

    @property
    def id(self) -> str:
        return str(self.request.id)

    def fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)

    def forget(self) -> None:
        """Let nobody miss the answer."""
        if not self.answer.cancel() and not self.answer.cancelled():
            self.answer.exception()


class Client:
    """A connection on which the server knows who we are; made by `connect`.

    `player` is our public id and `name` our name as the server has it, `token` the secret that makes us the same
    player on a later connection, `server` the server's name and version. `latency_seconds` is how long the answer
    to our hello took.
    """

    def __init__(self, address: Address, greeting: Greeting, backoff: Backoff | None, timeout_seconds: float) -> None:
        self.address = address
        self.latency_seconds = greeting.latency_seconds
        self.welcome = greeting.welcome
        self.player = greeting.welcome.player
        self.name = greeting.welcome.name
        self.token = greeting.welcome.token
        self.server = greeting.welcome.server
        self._welcome_message = greeting.message
        self._connection = greeting.connection
        self._backoff = backoff
        self._timeout_seconds = timeout_seconds
        self._hurry = asyncio.Event()
        self._is_here = asyncio.Event()
        self._is_here.set()
        self._sees_lobby = False
        self._ids = itertools.count(1)
        self._waiting: dict[str, _Pending] = {}
        self._rooms: dict[str, Room] = {}
        self._streams: list[Messages] = []
        self._ended: ConnectionLost | None = None
        self._retry_ms: int | None = None
        self._resuming: asyncio.Task[None] | None = None
        self._keeper = asyncio.get_running_loop().create_task(self._keep(), name="tictactoe connection")

    async def create(
        self,
        rules: Rules | str | None = None,
        *,
        clock: ClockFields | None = None,
        private: bool = False,
        seat: str | None = None,
        bots: Sequence[str] = (),
    ) -> Room:
        """Open a room and take a seat in it, the first where `seat` is None; `rules` may be a preset's name."""
        request = Create(
            rules=_choice(rules),
            clock=clock,
            visibility="private" if private else "public",
            seat=UNSET if seat is None else seat,
            bots=tuple(bots),
        )
        return await self._enter(request)

    async def match(self, rules: Rules | str | None = None, *, clock: ClockFields | None = None) -> Room:
        """Join the oldest open public room with these rules and this clock, or open one."""
        return await self._enter(Match(rules=_choice(rules), clock=clock))

    async def join(self, room: str) -> Room:
        """Take a free seat, or attach to the one that we hold; raises `BadRoomCode` for what is no code."""
        return await self._enter(Join(room=parse_room_code(room)))

    async def watch(self, room: str) -> Room:
        """Spectate; the room's `seat` is None. Raises `BadRoomCode` for what is no code."""
        return await self._enter(Watch(room=parse_room_code(room)))

    async def rooms(self) -> tuple[RoomSummary, ...]:
        """Return the public rooms, newest first."""
        return (await self._ask(Rooms())).rooms or ()

    async def lobby(self, *, on: bool) -> None:
        """Subscribe to changes of the list of public rooms, which `messages` then brings, or end that."""
        await self._ask(Lobby(on=on))
        self._sees_lobby = on

    async def history(self, limit: int = 20, *, before: str | None = None) -> tuple[PastGame, ...]:
        """Return our own finished games, newest first, at most `limit`, with `before` those older than that game.

        The server lists a hundred at a time; more are asked for page by page.
        """
        games: list[PastGame] = []
        while len(games) < limit:
            wanted = min(limit - len(games), MAX_LISTED_GAMES)
            page = await self._ask(History(limit=wanted, before=UNSET if before is None else before))
            games.extend(page.games or ())
            if len(page.games or ()) < wanted:
                break
            before = games[-1].id
        return tuple(games[:limit])

    async def record(self, game: str) -> str:
        """Return one of our finished games as text, which `tictactoe_engine.parse_record` reads; `game` is its id.

        Raises `Refused` with ``not_allowed`` for a game that we did not play.
        """
        return (await self._ask(Record(game=game))).record or ""

    async def ping(self) -> int:
        """Return the server's time in milliseconds since the epoch."""
        return (await self._ask(Ping())).time or 0

    async def request(self, request: Request) -> Ok:
        """Send any request and return the answer; raises `Refused` or `ConnectionLost`.

        The request gets an id of the client's own where it has none. A client that reconnects answers late instead of
        raising `ConnectionLost`; only what must not be sent twice raises `Interrupted`.
        """
        if self._ended is not None:
            raise self._ended
        pending = self._expect(request)
        try:
            if self._is_here.is_set():
                await self._send_pending(pending)
            return await pending.answer
        finally:
            self._waiting.pop(pending.id, None)

    async def _ask(self, request: Request) -> Ok:
        """Send a request that a server answers at once; raises `Unreachable` where it does not."""
        return await self._wait_for(self.request(request), f"answer to {request.__struct_config__.tag}")

    async def _wait_for(self, coming: Coroutine[Any, Any, Awaited], what: str) -> Awaited:
        """Return what comes of it; raises `Unreachable` where we are connected for so long and nothing comes."""
        waiting = asyncio.ensure_future(coming)
        try:
            while not waiting.done():
                connection = self._connection
                await asyncio.wait({waiting}, timeout=self._timeout_seconds)
                if not waiting.done() and self._is_here.is_set() and self._connection is connection:
                    raise Unreachable(self.address.url, f"no {what} within {self._timeout_seconds:g} s")
            return waiting.result()
        finally:
            waiting.cancel()

    async def send_text(self, text: str) -> None:
        """Send a message as it stands, after a return where there is no connection; the answer comes in `messages`."""
        await self._is_here.wait()
        if self._ended is not None:
            raise self._ended
        try:
            await self._connection.send(text)
        except ConnectionLost:
            if self._backoff is None:
                raise

    @property
    def was_cut_off(self) -> bool:
        """Whether the connection was lost for good without being asked to."""
        return self._ended is not None

    def retry_now(self) -> None:
        """Try at once to come back, where that is being waited for."""
        self._hurry.set()

    def messages(self) -> Messages:
        """Return a stream of everything that the server says from now on, its welcome first.

        Whoever asks for one must read it: it keeps what was not read yet.
        """
        stream = Messages(self._welcome_message)
        self._streams.append(stream)
        if self._ended is not None:
            stream.put(self._ended)
        return stream

    async def close(self) -> None:
        """End the conversation; iterators stop. Seats are not given up by this: see `Room.leave`."""
        self._keeper.cancel()
        await self._connection.close()
        tasks = [task for task in (self._keeper, self._resuming) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for room in tuple(self._rooms.values()):
            room._end("left")
        for stream in self._streams:
            stream.put(None)

    async def _keep(self) -> None:
        """Own the connection's life: read until it ends, come back where that is wanted, else tell all who wait."""
        lost = ConnectionLost("the client was closed")
        try:
            while True:
                await self._come_back(await self._read_to_the_end())
        except ConnectionLost as error:
            lost = error
            for room in self._rooms.values():
                room._lose(lost)
            for stream in self._streams:
                stream.put(lost)
        finally:
            self._ended = lost
            self._is_here.set()
            for pending in self._waiting.values():
                pending.fail(lost)

    async def _read_to_the_end(self) -> ConnectionLost:
        """Deliver what comes, and return why nothing more will."""
        try:
            while True:
                self._deliver(await self._connection.receive())
        except ConnectionLost as lost:
            lost.retry_ms = self._retry_ms
            return lost

    async def _come_back(self, lost: ConnectionLost) -> None:
        """Have a new connection on which all is as it was; raises `ConnectionLost` where that is not to be had."""
        if self._backoff is None or isinstance(lost, ProtocolBroken) or not may_reconnect(lost.close_code):
            raise lost
        self._is_here.clear()
        self._retry_ms = None
        if self._resuming is not None:
            self._resuming.cancel()
            await asyncio.wait([self._resuming])
        for pending in self._waiting.values():
            if pending.sent_over is not None and not isinstance(pending.request, _REPEATABLE):
                pending.fail(Interrupted())
        self._hurry.clear()
        greeting = await come_back(self._greet_again, self._backoff, lost, self._tell, self._hurry)
        self._connection = greeting.connection
        self._welcome_message = greeting.message
        self.latency_seconds = greeting.latency_seconds
        for stream in self._streams:
            stream.put(greeting.message)
        self._resuming = asyncio.create_task(self._resume(), name="tictactoe resume")

    def _greet_again(self) -> Coroutine[Any, Any, Greeting]:
        return greet(self.address, self.name, self.token, self._timeout_seconds)

    async def _resume(self) -> None:
        """Enter our rooms again, then send what had no answer: the server takes them in that order."""
        connection = self._connection
        returns = {room: self._expect(room._way_back()) for room in self._rooms.values()}
        others = [self._expect(Lobby(on=True))] if self._sees_lobby else []
        try:
            for pending in (*returns.values(), *others):
                await self._send_pending(pending)
            while unsent := [pending for pending in self._waiting.values() if pending.sent_over is not connection]:
                for pending in unsent:
                    await self._send_pending(pending)
            self._is_here.set()
            for room, pending in returns.items():
                await self._enter_again(room, pending)
            for pending in others:
                await pending.answer
        except ClientError:
            return
        finally:
            for pending in (*returns.values(), *others):
                self._waiting.pop(pending.id, None)
                pending.forget()

    async def _enter_again(self, room: Room, pending: _Pending) -> None:
        """Take note of the answer to our return to a room; where it is refused for good the room is gone for us."""
        for _ in range(_ATTEMPTS_TO_ENTER):
            try:
                room._enter(await pending.answer)
                return
            except Refused as refused:
                if refused.retry_ms is None:
                    room._end("closed", refused.message)
                    self._tell(Gone(room.code, refused))
                    return
                await asyncio.sleep(refused.retry_ms / 1000)
            self._waiting.pop(pending.id, None)
            pending = self._expect(room._way_back())
            await self._send_pending(pending)

    def _expect(self, request: Request) -> _Pending:
        """Return a request that is to be answered, with an id of our own where it has none."""
        if request.id is UNSET:
            request = _with_id(request, f"{_OWN_ID_PREFIX}{next(self._ids)}")
        pending = _Pending(request, asyncio.get_running_loop().create_future())
        self._waiting[pending.id] = pending
        return pending

    async def _send_pending(self, pending: _Pending) -> None:
        """Send a request; one that finds no connection is sent again by the return."""
        pending.sent_over = self._connection
        try:
            await self._connection.send(encode(pending.request).decode())
        except ConnectionLost:
            if self._backoff is None:
                raise

    def _tell(self, event: Event) -> None:
        for stream in self._streams:
            stream.put(Message("", None, event))

    def _deliver(self, text: str) -> None:
        message = read_message(text)
        push = message.push
        if isinstance(push, RoomState):
            self._room(push.room)._take(push)
        elif isinstance(push, Ok):
            self._settle(push)
        elif isinstance(push, Error):
            self._reject(push)
        elif isinstance(push, Closed):
            self._room(push.room)._end("closed", push.reason)
        elif isinstance(push, Replaced):
            self._room(push.room)._end("replaced")
        elif isinstance(push, Notice):
            self._retry_ms = push.retry_ms
        for stream in self._streams:
            stream.put(message)

    def _settle(self, reply: Ok) -> None:
        pending = self._waiting.get(reply.id)
        if pending is None or pending.answer.done():
            return
        if isinstance(pending.request, Move):
            self._room(pending.request.room)._expect_state(pending.request.ply)
        pending.answer.set_result(reply)

    def _reject(self, error: Error) -> None:
        pending = self._waiting.get(error.id or "")
        if pending is not None:
            pending.fail(refusal_of(error))

    def _room(self, code: str) -> Room:
        room = self._rooms.get(code)
        if room is None:
            room = self._rooms[code] = Room(self, code)
        return room

    async def _enter(self, request: Create | Match | Join | Watch) -> Room:
        reply = await self._ask(request)
        if not reply.room:
            raise ProtocolBroken("the answer names no room")
        room = self._room(reply.room)
        room._enter(reply)
        await self._wait_for(room._wait_for_state(), f"state of room {room.code}")
        return room

    def _forget(self, room: Room) -> None:
        if self._rooms.get(room.code) is room:
            del self._rooms[room.code]


@asynccontextmanager
async def connect(
    url: str | Address = DEFAULT_SERVER,
    *,
    name: str | None = None,
    token: str | None = None,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    reconnect: bool | Backoff = False,
) -> AsyncIterator[Client]:
    """Connect to a server, say hello, and close again at the end of the ``async with``.

    `url` is anything that names a server (``ws://host:port``, ``wss://host``, ``host``, or a link to one of its
    rooms). Without a `name` the server chooses one. With `reconnect` a lost connection is made anew for as long as the
    server keeps our seats: iterators then see states late, and requests are answered late. Raises `BadAddress`,
    `Unreachable`, `VersionRefused` or `Refused`.
    """
    address = url if isinstance(url, Address) else parse_address(url)
    backoff = Backoff() if reconnect is True else reconnect or None
    client = Client(address, await greet(address, name, token, timeout_seconds), backoff, timeout_seconds)
    try:
        yield client
    finally:
        await client.close()


def _choice(rules: Rules | str | None) -> RulesChoice | UnsetType:
    if rules is None:
        return UNSET
    return rules if isinstance(rules, str) else choice_of(rules)


def _with_id(request: Request, identity: str) -> Request:
    return replace(request, id=identity)
