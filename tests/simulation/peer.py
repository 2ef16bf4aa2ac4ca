"""One WebSocket connection of a person, on a simulated wire, with the public protocol and nothing else."""

from __future__ import annotations

import asyncio
import json
import random
from typing import TYPE_CHECKING, Any, Final

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from tests.simulation.ledger import Message
from tests.simulation.network import Wire

if TYPE_CHECKING:
    from tests.simulation.people import Person

CONNECT_SECONDS: Final = 8.0
ANSWER_SECONDS: Final = 14.0
SILENCE_SECONDS: Final = 16.0
"""A connection without a message or ping for so long is given up."""
CAUGHT_UP_SECONDS: Final = 4.0
"""Who reads nothing for longer may be cut off."""
HARMS: Final = ("reset", "silence", "answers lost", "requests lost", "stall")

_URI: Final = parse_uri("ws://127.0.0.1/")


class ConnectionLost(Exception):
    """The connection ended before the answer came."""


class RequestRefused(Exception):
    """The server answered with an error."""

    def __init__(self, error: Message) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.error = error
        self.code: str = error["code"]


class Peer(asyncio.Protocol):
    """A connection.

    Attributes:
        life: The life of the server that it is connected to.
        heard_at: When it last received anything.
        rooms, replaced: Where it has a seat, and where another connection took it over.
        is_harmed: Whether trouble struck it; nothing is promised on it any more.
    """

    wire: Wire

    def __init__(self, person: Person) -> None:
        self.person = person
        self.world = person.world
        self.life = person.site.life
        self.heard_at = self.world.time()
        self.welcomed_at = 0.0
        self.rooms: set[str] = set()
        self.replaced: set[str] = set()
        self.is_lost = False
        self.is_harmed = False
        self._protocol = ClientProtocol(_URI, max_size=None)
        self._opened: asyncio.Future[None] = self.world.create_future()
        self._welcomed: asyncio.Future[Message] = self.world.create_future()
        self._replies: dict[str, asyncio.Future[Message]] = {}
        self._sent: dict[str, Message] = {}
        self._answered: set[str] = set()
        self._requests = 0

    async def open(self, hello: Message) -> Message:
        """Connect and say hello; return the welcome. Raises `ConnectionLost` or `RequestRefused`."""
        person = self.person
        try:
            self.wire = await person.site.network.connect(person.port, self, person.name, person.address)
        except ConnectionError:
            raise ConnectionLost from None
        self.life = person.site.life
        self._protocol.send_request(self._protocol.connect())
        self._flush()
        await self._wait(CONNECT_SECONDS, self._opened)
        self._send({"type": "hello", "client": "simulated", **hello})
        welcome: Message = await self._wait(CONNECT_SECONDS, self._welcomed)
        if welcome["type"] == "error":
            raise RequestRefused(welcome)
        return welcome

    async def ask(self, request: Message) -> Message:
        """Return the answer to a request; raises `ConnectionLost` or `RequestRefused`."""
        if self.is_lost:
            raise ConnectionLost
        person, ledger, site = self.person, self.person.ledger, self.person.site
        self._requests += 1
        id = str(self._requests)
        reply: asyncio.Future[Message] = self.world.create_future()
        self._replies[id] = reply
        self._sent[id] = request
        ledger.note_request(person.id, request, person.states.get(request.get("room", "")))
        room = request.get("room", person.room)
        ledger.tell(f"{person.name} asks {_describe_request(request)}", room)
        sent_at = self.world.time()
        self._send({**request, "id": id})
        if site.loses_answers and person.chance.random() < 0.02:
            self.harm("answers lost", person.chance)
        try:
            answer = await asyncio.wait_for(reply, ANSWER_SECONDS)
        except TimeoutError:
            if self.is_sound and not site.was_troubled_since(sent_at):
                ledger.fail(f"{person.name} got no answer to {request} on a sound connection.", room)
            self.give_up()
            raise ConnectionLost from None
        if answer["type"] == "error":
            ledger.count(f"refused {answer['code']}")
            ledger.tell(f"{person.name} is refused {request['type']}: {answer['code']} {answer['message']}", room)
            raise RequestRefused(answer)
        ledger.tell(f"{person.name} gets ok to {request['type']}", room)
        return answer

    @property
    def left_at(self) -> float:
        """When the server ended the connection, or now."""
        return min(self.world.time(), self.wire.other.closed_at)

    @property
    def is_served(self) -> bool:
        """Whether this end and the server's are open."""
        far = self.wire.other
        return not self.is_lost and far.process is not None and not far.process.is_dead and far.is_open

    @property
    def is_sound(self) -> bool:
        """Whether everything sent in either direction arrives."""
        far = self.wire.other
        is_stalled = max(self.wire.stalled_until, far.stalled_until) > self.world.time() - 2.0
        return self.is_served and not (self.is_lost or self.is_harmed or self.wire.is_cut or is_stalled)

    def give_up(self) -> None:
        """Close the connection without a word."""
        if not self.is_lost:
            self._end()
            if hasattr(self, "wire"):
                self.wire.abort()

    def harm(self, how: str, chance: random.Random) -> None:
        """Strike the connection with one of `HARMS`."""
        self.person.ledger.tell(f"the network harms {self.person.name}: {how}", self.person.room)
        self.is_harmed = self.is_harmed or how != "stall"
        wire = self.wire
        seconds = {"silence": (1, 25), "answers lost": (0.1, 10), "requests lost": (0.1, 10)}.get(how)
        if how == "stall":
            wire.stall(chance.uniform(0.1, 12))
            wire.other.stall(chance.uniform(0.1, 12))
        if how in ("reset", "silence", "requests lost"):
            wire.cut()
        if how in ("reset", "silence", "answers lost"):
            wire.other.cut()
        if how == "reset":
            wire.break_off()
            wire.other.break_off()
        if seconds is not None:
            self.world.call_later(chance.uniform(*seconds), self.give_up, context=self.world.outside)

    def stop_reading(self, seconds: float) -> None:
        """Read nothing for a while; after a few seconds the server ends the connection."""
        self.person.ledger.tell(f"{self.person.name} reads nothing for {seconds} s", self.person.room)
        self.is_harmed = self.is_harmed or seconds > CAUGHT_UP_SECONDS
        self.wire.other.stall(seconds)

    # -- asyncio.Protocol ------------------------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        self.wire = transport

    def data_received(self, data: bytes) -> None:
        if self.is_lost:
            return
        self.heard_at = self.world.time()
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Response):
                _settle(self._opened, None)
            elif isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                self._receive(json.loads(bytes(event.data)))
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    # -- messages --------------------------------------------------------------------------------------------------

    def _receive(self, message: Message) -> None:
        person, ledger = self.person, self.person.ledger
        kind, id, code = message["type"], message.get("id"), message.get("room", "")
        if kind == "welcome" or (kind == "error" and not self._welcomed.done()):
            self.welcomed_at = self.world.time()
            _settle(self._welcomed, message)
        elif id is not None and kind in ("ok", "error"):
            if id in self._answered or id not in self._replies:
                ledger.fail(f"{person.name} got a second answer to request {id}: {message}.", code)
            self._answered.add(id)
            if kind == "ok" and self._sent[id].get("room") in self.replaced:
                ledger.fail(f"{person.name} got ok to {self._sent[id]} where another connection has the seat.", code)
            if kind == "ok" and self is person.peer:
                person.acknowledge(self._sent[id])
            _settle(self._replies.pop(id), message)
        elif kind == "room":
            is_current = self is person.peer
            ledger.check_state(person.name, self.life, person.newest_seqs.get(code, 0) if is_current else 0, message)
            if is_current:
                person.newest_seqs[code] = message["seq"]
                person.receive_state(message)
        elif kind == "replaced":
            self.rooms.discard(code)
            self.replaced.add(code)
        elif self is person.peer:
            person.receive(message)
        if kind == "error" and message["code"] in ("internal", "bad_message", "unknown_type"):
            ledger.fail(f"{person.name} was told {message}.", code)

    def _send(self, message: Message) -> None:
        if self._protocol.state is not State.OPEN:
            self.give_up()
            raise ConnectionLost
        self._protocol.send_text(json.dumps(message).encode())
        self._flush()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self.wire.write(data)

    def _end(self) -> None:
        if self.is_lost:
            return
        self.is_lost = True
        waiting: tuple[asyncio.Future[Any], ...] = (self._opened, self._welcomed, *self._replies.values())
        for future in waiting:
            if not future.done():
                future.set_exception(ConnectionLost())
                future.exception()
        self.person.lose(self)

    async def _wait(self, seconds: float, future: asyncio.Future[Any]) -> Any:
        try:
            return await asyncio.wait_for(future, seconds)
        except TimeoutError:
            self.give_up()
            raise ConnectionLost from None


def _settle(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _describe_request(request: Message) -> str:
    details = ", ".join(f"{key} {value}" for key, value in request.items() if key not in ("type", "room"))
    return f"{request['type']}({details})"
