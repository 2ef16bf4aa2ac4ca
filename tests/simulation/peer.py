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
SILENCE_SECONDS: Final = 16.0  # until a person gives up a connection without messages or pings
HARMS: Final = ("reset", "silence", "answers lost", "requests lost", "stall")

_URI: Final = parse_uri("ws://127.0.0.1/")


class ConnectionLost(Exception):
    """The connection ended before the answer came."""


class RequestRefused(Exception):
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
        self.person, self.world, self.ledger = person, person.world, person.ledger
        self.life = person.site.life
        self.heard_at = self.world.time()
        self.welcomed_at = 0.0
        self.rooms: set[str] = set()
        self.replaced: set[str] = set()
        self.is_lost = self.is_harmed = False
        self._protocol = ClientProtocol(_URI, max_size=None)
        self._replies: dict[str, asyncio.Future[Message | Exception]] = {}
        self._sent: list[Message] = []

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
        await self._wait_for("opened", CONNECT_SECONDS, hello)
        welcome = await self._send({"type": "hello", "client": "simulated", **hello}, CONNECT_SECONDS)
        self.welcomed_at = self.world.time()
        return welcome

    async def ask(self, request: Message) -> Message:
        """Return the answer to a request; raises `ConnectionLost` or `RequestRefused`."""
        if self.is_lost:
            raise ConnectionLost
        person, ledger, kind = self.person, self.ledger, request["type"]
        ledger.note_request(person.id, request, person.states.get(request.get("room", "")))
        room = request.get("room", person.room)
        details = {key: value for key, value in request.items() if key not in ("type", "room")}
        ledger.tell(f"{person.name} asks {kind} {details or ''}", room)
        if person.site.loses_answers and person.chance.random() < 0.02:
            self.world.call_soon(self.harm, "answers lost", person.chance)
        try:
            answer = await self._send(request, ANSWER_SECONDS)
        except RequestRefused as refused:
            ledger.count(f"refused {refused.code}")
            ledger.tell(f"{person.name} is refused {kind}: {refused}", room)
            raise
        ledger.tell(f"{person.name} gets ok to {kind}", room)
        return answer

    @property
    def is_served(self) -> bool:
        far = self.wire.other
        return not self.is_lost and far.process is not None and not far.process.is_dead and far.is_open

    def is_calm_since(self, moment: float) -> bool:
        """Return whether nothing has delayed or lost messages since `moment`."""
        troubled_until = max(self.wire.stalled_until, self.wire.other.stalled_until, self.person.site.troubled_until)
        return self.is_served and not (self.is_harmed or self.wire.is_cut) and troubled_until <= moment

    def give_up(self) -> None:
        """Close the connection without a word."""
        if not self.is_lost:
            self.connection_lost(None)
            if hasattr(self, "wire"):
                self.wire.abort()

    def harm(self, how: str, chance: random.Random) -> None:
        self.ledger.tell(f"the network harms {self.person.name}: {how}", self.person.room)
        self.is_harmed = self.is_harmed or how != "stall"
        near, far = self.wire, self.wire.other
        near.is_cut |= how in ("reset", "silence", "requests lost")
        far.is_cut |= how in ("reset", "silence", "answers lost")
        if how == "stall":
            near.stall(chance.uniform(0.1, 12))
            far.stall(chance.uniform(0.1, 12))
        elif how == "reset":
            near.break_off()
            far.break_off()
        else:
            seconds = chance.uniform(1, 25) if how == "silence" else chance.uniform(0.1, 10)
            self.world.call_later(seconds, self.give_up, context=self.world.outside)

    def connection_made(self, transport: Any) -> None:
        self.wire = transport

    def data_received(self, data: bytes) -> None:
        if self.is_lost:
            return
        self.heard_at = self.world.time()
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Response):
                self._settle("opened", {"type": "opened"})
            elif isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                self._receive(json.loads(bytes(event.data)))
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.is_lost:
            self.is_lost = True
            for id in list(self._replies):
                self._settle(id, ConnectionLost())
            self.person.lose(self)

    def _receive(self, message: Message) -> None:
        person, ledger, is_current = self.person, self.ledger, self is self.person.peer
        kind, code, error = message["type"], message.get("room", ""), message.get("code")
        id = message.get("id", "0" if kind == "error" and not self.welcomed_at else None)
        if "moved" in (kind, error):
            person.port = int(message["url"].rpartition(":")[2])
        if id is not None and kind in ("ok", "error", "welcome"):
            if id not in self._replies:
                ledger.fail(f"{person.name} got a second answer to request {id}: {message}.", code)
            request = self._sent[int(id)]
            if kind == "ok" and request.get("room") in self.replaced:
                ledger.fail(f"{person.name} got ok to {request} where another connection has the seat.", code)
            self._settle(id, RequestRefused(message) if kind == "error" else message)
        elif kind == "room":
            ledger.check_state(person.name, self.life, person.newest_seqs.get(code, 0) if is_current else 0, message)
            if is_current:
                person.newest_seqs[code] = message["seq"]
                person.receive_state(message)
        elif kind == "replaced":
            self.rooms.discard(code)
            self.replaced.add(code)
        elif is_current:
            person.receive(message)
        if error in ("internal", "bad_message", "unknown_type"):
            ledger.fail(f"{person.name} was told {message}.", code)

    async def _send(self, request: Message, seconds: float) -> Message:
        id = str(len(self._sent))
        self._sent.append(request)
        if self._protocol.state is not State.OPEN:
            self.give_up()
            raise ConnectionLost
        self._protocol.send_text(json.dumps({**request, "id": id}).encode())
        self._flush()
        return await self._wait_for(id, seconds, request)

    async def _wait_for(self, id: str, seconds: float, request: Message) -> Message:
        """Return what `_settle` gets; on a sound connection it comes in time."""
        started_at, self._replies[id] = self.world.time(), self.world.create_future()
        try:
            reply = await asyncio.wait_for(self._replies[id], seconds)
        except TimeoutError:
            if self.is_calm_since(started_at):
                self.ledger.fail(f"{self.person.name} got no answer to {request} on a sound connection.")
            self.give_up()
            raise ConnectionLost from None
        if isinstance(reply, Exception):
            raise reply
        return reply

    def _settle(self, id: str, reply: Message | Exception) -> None:
        future = self._replies.pop(id)
        if not future.done():
            future.set_result(reply)

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self.wire.write(data)
