"""A conversation with one server over as many connections as it takes: every request gets its answer, or an error.

It owns the connection's life, in `_keep`; who hears what comes is for `Delivery`, what is asked for the client."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_client.online.address import Address, House
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.connection import GOING_DOWN
from tictactoe_client.online.errors import (
    ClientError,
    ConnectionLost,
    Expelled,
    Interrupted,
    ProtocolBroken,
    Refused,
    Unreachable,
)
from tictactoe_client.online.events import Gone
from tictactoe_client.online.messages import Messages
from tictactoe_client.online.reconnect import Greeting, come_back, greet, is_passing
from tictactoe_client.online.requests import Delivery, Pending
from tictactoe_client.online.room import Room
from tictactoe_protocol import encode
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Create, Join, Lobby, Match, Request, Watch

_ATTEMPTS_TO_ENTER: Final = 5
"""How often a room is entered again at the least, however short the time for it is."""
_LEAST_WAIT_SECONDS: Final = 0.05

Awaited = TypeVar("Awaited")


class Conversation:
    """What `Client` stands on.

    `player` is our public id and `name` our name as the server has it, `token` the secret that makes us the same player
    on a later connection, `server` the server's name and version, all as the first `welcome` says; `ca` is as it was
    given to `connect`, and so is `house`, beginning with the address that we are at.
    """

    def __init__(
        self,
        house: House,
        greeting: Greeting,
        backoff: Backoff | None,
        timeout_seconds: float,
        ca: str | Path | None = None,
    ) -> None:
        self.welcome = greeting.welcome
        self.player = greeting.welcome.player
        self.name = greeting.welcome.name
        self.token = greeting.welcome.token
        self.server = greeting.welcome.server
        self.ca = ca
        self.house = house.led_by(greeting.address)
        self._welcomed_at = greeting.at
        self._greeting = greeting
        self._backoff = backoff
        self._timeout_seconds = timeout_seconds
        self._hurry = asyncio.Event()
        self._is_here = asyncio.Event()
        self._is_here.set()
        self._lobby = Lobby(on=False)
        self._delivery = Delivery(lambda code: Room(self, code))
        self._ended: ConnectionLost | None = None
        self._resuming: asyncio.Task[None] | None = None
        self._keeper = asyncio.create_task(self._keep(), name="tictactoe connection")

    async def request(self, request: Request | Mapping[str, object]) -> Ok:
        """Send any request, or an object of JSON with an id, and return the answer; raises `Refused`, `ConnectionLost`.

        A client that reconnects answers late instead; only what must not be sent twice raises `Interrupted`.
        """
        if self._ended is not None:
            raise self._ended
        pending = self._delivery.add(request)
        try:
            if self._is_here.is_set():
                await self._send_pending(pending)
            answer = await pending.answer
        finally:
            self._delivery.remove(pending)
        if isinstance(request, Lobby):
            self._lobby = request
        return answer

    async def send_text(self, text: str) -> None:
        """Send a message as it stands, after a return where there is no connection; the answer comes in `messages`."""
        await self._is_here.wait()
        if self._ended is not None:
            raise self._ended
        self._delivery.expected += 1
        await self._send(text)

    @property
    def address(self) -> Address:
        """Where the server is that we are connected to; after a return it may be another of the house."""
        return self.house.first

    @property
    def features(self) -> frozenset[str]:
        """What the server says that it can do beyond version 1.0; after a return it may be another server."""
        return frozenset(self._greeting.welcome.features)

    @property
    def latency_seconds(self) -> float:
        """How long the server takes now: to answer the last ping, one every five seconds, before that our hello."""
        return self._greeting.connection.latency_seconds or self._greeting.latency_seconds

    @property
    def was_cut_off(self) -> bool:
        """Whether the connection was lost for good without being asked to."""
        return self._ended is not None

    def retry_now(self) -> None:
        """Try at once to come back, where that is being waited for."""
        self._hurry.set()

    def messages(self) -> Messages:
        """Return a stream of everything that the server says from now on, its welcome first.

        Whoever asks for one must read it, or give it back by `Messages.close` or the end of an ``async with``: while it
        keeps two megabytes that were not read nothing more is read from the server.
        """
        stream = Messages(self._greeting.message)
        self._delivery.audience.seat(stream)
        if self._ended is not None:
            stream.put(self._ended)
        return stream

    def room(self, code: str) -> Room:
        """Return a room that we are in, also one that was entered by `send_text`."""
        return self._delivery.room(code)

    async def _ask(self, request: Request) -> Ok:
        return await self._wait_for(self.request(request), f"answer to {request.__struct_config__.tag}")

    async def _enter(self, request: Create | Match | Join | Watch) -> Room:
        """Return the room that the server lets us into, with its first state; raises `ProtocolBroken` for no room."""
        reply = await self._ask(request if isinstance(request, Create | Match) else self._with_seen(request))
        if not reply.room:
            raise ProtocolBroken("the answer names no room")
        room = self.room(reply.room)
        await self._wait_for(room._wait_for_state(), f"state of room {room.code}")
        return room

    async def _wait_for(self, coming: Coroutine[Any, Any, Awaited], what: str) -> Awaited:
        """Return what comes of it; raises `Unreachable` where nothing comes although we are connected."""
        waiting = asyncio.ensure_future(coming)
        try:
            while not waiting.done():
                connection = self._greeting.connection
                await asyncio.wait({waiting}, timeout=self._timeout_seconds)
                if not waiting.done() and self._is_here.is_set() and self._greeting.connection is connection:
                    raise Unreachable(self.address.url, f"no {what} within {self._timeout_seconds:g} s")
            return waiting.result()
        finally:
            waiting.cancel()

    async def close(self) -> None:
        """End the conversation; iterators stop. Seats are not given up by this: see `leave_rooms`."""
        tasks = [task for task in (self._keeper, self._resuming) if task is not None]
        for task in tasks:
            task.cancel()
        await self._greeting.connection.close()
        await asyncio.wait(tasks)
        self._delivery.finish(None)

    async def leave_rooms(self) -> None:
        """Give our seats up, so that nobody waits for us in vain; a server that does not answer is not waited for."""
        if self._is_here.is_set() and self._ended is None:
            await asyncio.gather(*(room.say_goodbye() for room in self._delivery.rooms if not room.is_watching))

    # -- the life of the connection --------------------------------------------------------------------------------

    async def _keep(self) -> None:
        """Read until the connection ends, come back where that is wanted, else tell all who wait."""
        lost = ConnectionLost("the client was closed")
        try:
            while True:
                await self._come_back(await self._read_to_the_end())
        except ConnectionLost as error:
            lost = error
            self._delivery.finish(lost)
        finally:
            self._ended = lost
            self._is_here.set()
            for pending in self._delivery.waiting.values():
                pending.fail(lost)

    async def _read_to_the_end(self) -> ConnectionLost:
        """Deliver what comes, and return why nothing more will."""
        try:
            while True:
                self._delivery.take(await self._greeting.connection.receive())
                await self._delivery.until_read()
                await asyncio.sleep(0)  # many may be here already, and those who listen are not all there is to do
        except ConnectionLost as lost:
            lost.retry_ms = self._delivery.retry_ms
            farewell = self._delivery.farewell
            if isinstance(lost, Expelled) and farewell is not None:
                return Expelled(farewell.code, farewell.message, lost.close_code)
            return lost

    async def _come_back(self, lost: ConnectionLost) -> None:
        """Have a new connection on which all is as it was; raises `ConnectionLost` where that is not to be had."""
        if self._backoff is None or not is_passing(lost):
            raise lost
        house = self.house
        announced_ms: float | None = lost.retry_ms
        if self._delivery.is_final and lost.close_code in GOING_DOWN:
            if len(house.addresses) == 1:
                raise ConnectionLost("the server has stopped for good", lost.close_code)
            announced_ms = math.inf
        self._is_here.clear()
        self._delivery.retry_ms = None
        if self._resuming is not None:
            self._resuming.cancel()
            await asyncio.wait([self._resuming])
        for pending in self._delivery.waiting.values():
            if pending.sent_over is not None and not pending.is_repeatable:
                pending.fail(Interrupted())
        self._hurry.clear()
        hold_ms = self._greeting.welcome.hold_ms
        patience = self._backoff.patience(None if hold_ms is UNSET else hold_ms)
        lasted = asyncio.get_running_loop().time() - self._greeting.at
        ways = self._backoff.ways(len(house.addresses), announced_ms, lasted_seconds=lasted)

        def greet_again(address: Address) -> Coroutine[Any, Any, Greeting]:
            return greet(address, self.name, self.token, self._timeout_seconds, self.ca)

        greeting = await come_back(greet_again, house, ways, patience, lost, self._delivery.tell, self._hurry)
        if greeting.address != house.first:
            self.house, self._delivery.is_final = house.led_by(greeting.address), False
        self._greeting = greeting
        self._delivery.audience.tell(greeting.message)
        self._resuming = asyncio.create_task(self._resume(patience[0]), name="tictactoe resume")

    async def _resume(self, patience_seconds: float) -> None:
        """Enter our rooms again, then send what had no answer: the server takes them in that order."""
        add, connection = self._delivery.add, self._greeting.connection
        returns = {room: add(self._with_seen(room._way_back())) for room in self._delivery.rooms}
        boards = self._lobby.boards if "boards" in self.features else 0
        lobby = [add(Lobby(on=True, boards=boards))] if self._lobby.on else []
        try:
            for pending in (*returns.values(), *lobby):
                await self._send_pending(pending)
            while unsent := [each for each in self._delivery.waiting.values() if each.sent_over is not connection]:
                for pending in unsent:
                    await self._send_pending(pending)
            self._is_here.set()
            for room, pending in returns.items():
                await self._enter_again(room, pending, patience_seconds)
            for pending in lobby:
                await pending.answer
        except ClientError:
            return
        finally:
            for pending in (*returns.values(), *lobby):
                self._delivery.remove(pending)

    async def _enter_again(self, room: Room, pending: Pending, patience_seconds: float) -> None:
        """Wait for our return to a room, which is gone for us where that is refused, or put off for too long."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience_seconds
        for attempt in itertools.count(1):
            try:
                await pending.answer
                return
            except Refused as refused:
                if refused.retry_ms is None or (attempt >= _ATTEMPTS_TO_ENTER and loop.time() >= deadline):
                    self._delivery.tell(Gone(room.code, refused))
                    room._end("closed", refused.message)
                    return
                await asyncio.sleep(max(_LEAST_WAIT_SECONDS, refused.retry_ms / 1000))
            self._delivery.remove(pending)
            pending = self._delivery.add(self._with_seen(room._way_back()))
            await self._send_pending(pending)

    def _with_seen(self, request: Join | Watch) -> Join | Watch:
        return replace(request, seq=self._delivery.seen(request.room)) if "seq" in self.features else request

    async def _send_pending(self, pending: Pending) -> None:
        pending.sent_over = self._greeting.connection
        if isinstance(pending.request, (Create, Match, Join, Watch, Mapping)):
            self._delivery.expected += 1
        await self._send(encode(pending.request).decode())

    async def _send(self, text: str) -> None:
        """Send a message; a request that finds no connection is sent again by the return."""
        try:
            await self._greeting.connection.send(text)
        except ConnectionLost:
            if self._backoff is None:
                raise
