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
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tictactoe_client.address import DEFAULT_SERVER, Address, parse_address
from tictactoe_client.connection import Connection, open_connection
from tictactoe_client.errors import ConnectionLost, Unreachable, VersionRefused
from tictactoe_client.messages import Message, Messages, read_message, refusal_of
from tictactoe_client.room import Room
from tictactoe_client.version import PROTOCOL_VERSIONS, client_version, describe_mismatch
from tictactoe_engine import Rules
from tictactoe_protocol import choice_of, encode, parse_room_code
from tictactoe_protocol.pushes import (
    Closed,
    Error,
    Notice,
    Ok,
    Replaced,
    RoomState,
    RoomSummary,
    Welcome,
)
from tictactoe_protocol.requests import (
    ClockFields,
    Create,
    Hello,
    Join,
    Lobby,
    Match,
    Move,
    Ping,
    Request,
    Rooms,
    RulesChoice,
    Watch,
)

DEFAULT_TIMEOUT_SECONDS: Final = 5.0
_OWN_ID_PREFIX: Final = "client-"


class Client:
    """A connection on which the server knows who we are; made by `connect`.

    `player` is our public id and `name` our name as the server has it, `token` the secret that makes us the same
    player on a later connection, `server` the server's name and version. `latency_seconds` is how long the answer
    to our hello took.
    """

    def __init__(self, address: Address, connection: Connection, welcome: Message, latency_seconds: float) -> None:
        assert isinstance(welcome.push, Welcome)
        self.address = address
        self.latency_seconds = latency_seconds
        self.welcome = welcome.push
        self.player = welcome.push.player
        self.name = welcome.push.name
        self.token = welcome.push.token
        self.server = welcome.push.server
        self._welcome_message = welcome
        self._connection = connection
        self._ids = itertools.count(1)
        self._waiting: dict[str, tuple[asyncio.Future[Ok], Request]] = {}
        self._rooms: dict[str, Room] = {}
        self._streams: list[Messages] = []
        self._ended: ConnectionLost | None = None
        self._retry_ms: int | None = None
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
        return self._enter(await self.request(request))

    async def match(self, rules: Rules | str | None = None, *, clock: ClockFields | None = None) -> Room:
        """Join the oldest open public room with these rules and this clock, or open one."""
        return self._enter(await self.request(Match(rules=_choice(rules), clock=clock)))

    async def join(self, room: str) -> Room:
        """Take a free seat, or attach to the one that we hold; raises `BadRoomCode` for what is no code."""
        return self._enter(await self.request(Join(room=parse_room_code(room))))

    async def watch(self, room: str) -> Room:
        """Spectate; the room's `seat` is None. Raises `BadRoomCode` for what is no code."""
        return self._enter(await self.request(Watch(room=parse_room_code(room))))

    async def rooms(self) -> tuple[RoomSummary, ...]:
        """Return the public rooms, newest first."""
        return (await self.request(Rooms())).rooms or ()

    async def lobby(self, *, on: bool) -> None:
        """Subscribe to changes of the list of public rooms, which `messages` then brings, or end that."""
        await self.request(Lobby(on=on))

    async def ping(self) -> int:
        """Return the server's time in milliseconds since the epoch."""
        return (await self.request(Ping())).time or 0

    async def request(self, request: Request) -> Ok:
        """Send any request and return the answer; raises `Refused` or `ConnectionLost`.

        The request gets an id of the client's own where it has none.
        """
        if self._ended is not None:
            raise self._ended
        if request.id is UNSET:
            request = _with_id(request, f"{_OWN_ID_PREFIX}{next(self._ids)}")
        identity = str(request.id)
        answer: asyncio.Future[Ok] = asyncio.get_running_loop().create_future()
        self._waiting[identity] = (answer, request)
        try:
            await self._connection.send(encode(request).decode())
            return await answer
        finally:
            self._waiting.pop(identity, None)

    async def send_text(self, text: str) -> None:
        """Send a message as it stands; the answer comes through `messages` alone."""
        if self._ended is not None:
            raise self._ended
        await self._connection.send(text)

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
        await asyncio.wait([self._keeper])
        for room in tuple(self._rooms.values()):
            room._end("left")
        for stream in self._streams:
            stream.put(None)

    async def _keep(self) -> None:
        """Own the connection's life: read until it ends, then tell everybody who waits.

        Coming back after a loss belongs here and nowhere else: what stands above only sees states and answers.
        """
        lost = ConnectionLost("the client was closed")
        try:
            while True:
                self._deliver(await self._connection.receive())
        except ConnectionLost as error:
            lost = error
            lost.retry_ms = self._retry_ms
            for room in self._rooms.values():
                room._lose(lost)
            for stream in self._streams:
                stream.put(lost)
        finally:
            self._ended = lost
            for answer, _ in self._waiting.values():
                if not answer.done():
                    answer.set_exception(lost)

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
        answer, request = self._waiting.get(reply.id, (None, None))
        if answer is None or answer.done():
            return
        if isinstance(request, Move):
            self._room(request.room)._expect_state()
        answer.set_result(reply)

    def _reject(self, error: Error) -> None:
        answer, _ = self._waiting.get(error.id or "", (None, None))
        if answer is not None and not answer.done():
            answer.set_exception(refusal_of(error))

    def _room(self, code: str) -> Room:
        room = self._rooms.get(code)
        if room is None:
            room = self._rooms[code] = Room(self, code)
        return room

    def _enter(self, reply: Ok) -> Room:
        room = self._room(reply.room or "")
        room._enter(reply)
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
) -> AsyncIterator[Client]:
    """Connect to a server, say hello, and close again at the end of the ``async with``.

    `url` is anything that names a server (``ws://host:port``, ``wss://host``, ``host``, or a link to one of its
    rooms). Without a `name` the server chooses one. Raises `BadAddress`, `Unreachable`, `VersionRefused` or `Refused`.
    """
    address = url if isinstance(url, Address) else parse_address(url)
    loop = asyncio.get_running_loop()
    connection = await open_connection(address, timeout_seconds=timeout_seconds)
    try:
        started = loop.time()
        welcome = await _say_hello(connection, address, name, token, timeout_seconds)
        client = Client(address, connection, welcome, loop.time() - started)
    except BaseException:
        await connection.close()
        raise
    try:
        yield client
    finally:
        await client.close()


async def _say_hello(
    connection: Connection, address: Address, name: str | None, token: str | None, timeout_seconds: float
) -> Message:
    hello = Hello(name=name or UNSET, token=token or UNSET, client=f"tictactoe-client/{client_version()}")
    try:
        async with asyncio.timeout(timeout_seconds):
            await connection.send(encode(hello).decode())
            while True:
                message = read_message(await connection.receive())
                if isinstance(message.push, Error):
                    raise refusal_of(message.push)
                if isinstance(message.push, Welcome):
                    break
    except TimeoutError:
        raise Unreachable(address.url, f"no answer to hello within {timeout_seconds:g} s") from None
    spoken = message.push.protocol
    if spoken not in PROTOCOL_VERSIONS:
        raise VersionRefused(describe_mismatch((spoken,)), (spoken,))
    return message


def _choice(rules: Rules | str | None) -> RulesChoice | UnsetType:
    if rules is None:
        return UNSET
    return rules if isinstance(rules, str) else choice_of(rules)


def _with_id(request: Request, identity: str) -> Request:
    return replace(request, id=identity)
