"""A conversation with one server over as many connections as it takes: every request gets its answer, or an error.

It owns the connection's life, in `_keep`, and tells rooms and streams what comes, in `_take`."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Awaitable, Mapping
from functools import partial
from pathlib import Path
from typing import Final, TypeVar, get_args

from msgspec import UNSET, to_builtins
from msgspec.structs import replace

from tictactoe_client.online import errors
from tictactoe_client.online.address import Address, House
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.connection import Connection, greet
from tictactoe_client.online.events import Closed, ConnectionEvent, Gone, Replaced, Said, Told
from tictactoe_client.online.failures import GOING_DOWN
from tictactoe_client.online.messages import Message, Messages, read_message, refusal_of
from tictactoe_client.online.reconnect import come_back, is_passing
from tictactoe_client.online.room import Room
from tictactoe_client.online.stream import Audience
from tictactoe_protocol import encode, pushes
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Create, Join, Lobby, Match, Request, Watch

_REPEATABLE: Final = frozenset(kind.__struct_config__.tag for kind in get_args(Request)) - {
    *("hello", "create", "match", "undo", "claim", "chat")
}
"""What may be sent a second time where the answer to the first was lost: it changes nothing, or is refused, then."""

Awaited = TypeVar("Awaited")


class Pending:
    """A request without an answer yet, and the connection over which it was sent last, if any."""

    def __init__(self, request: Request | Mapping[str, object]) -> None:
        self.request = request
        self.id = str(request["id"] if isinstance(request, Mapping) else request.id)
        self.sent_over: Connection | None = None
        self.answer: asyncio.Future[Ok] = asyncio.get_running_loop().create_future()
        # Where nobody waits any more, nobody misses an answer that is an error.
        self.answer.add_done_callback(lambda answer: answer.cancelled() or answer.exception())

    def fail(self, error: Exception) -> None:
        """Let an error be the answer, where there is none yet."""
        if not self.answer.done():
            self.answer.set_exception(error)


def may_be_repeated(request: Request | Mapping[str, object]) -> bool:
    """Tell whether a request may be sent a second time; an undo that names its game and position may be, too."""
    said = to_builtins(request)
    return str(said.get("type")) in _REPEATABLE or (said.get("type") == "undo" and {"game", "ply"} <= said.keys())


class Conversation:
    """What `Client` stands on.

    `player` is our public id and `name` our name as the server has it, `token` the secret that makes us the same player
    on a later connection, `server` the server's name and version, all as the first `welcome` says; `ca` is as it was
    given to `connect`, and so is `house`, beginning with the address that we are at.
    """

    def __init__(
        self,
        house: House,
        connection: Connection,
        backoff: Backoff | None,
        timeout_seconds: float,
        ca: str | Path | None = None,
    ) -> None:
        welcome = self.welcome = connection.welcome
        self.player, self.name, self.token, self.server = welcome.player, welcome.name, welcome.token, welcome.server
        self.ca = ca
        self.house = house.led_by(connection.address)
        self._welcomed_at = connection.began_at
        self._connection = connection
        self._backoff = backoff
        self._timeout_seconds = timeout_seconds
        self._hurry = asyncio.Event()
        self._is_here = asyncio.Event()
        self._is_here.set()
        self._audience: Audience[Message] = Audience()
        self._rooms: dict[str, Room] = {}
        self._most_rooms = 0  # as many as we asked to be in
        self._seen: dict[str, int] = {}  # the highest `seq` of each room
        self._ids = itertools.count(1)
        self._unanswered: dict[str, Pending] = {}  # by their ids, in the order in which they were asked
        self._lobby = Lobby(on=False)
        self._notice: pushes.Notice | None = None
        self._farewell: pushes.Error | None = None
        self._ended: errors.ConnectionLost | None = None
        self._resuming: asyncio.Task[None] | None = None
        self._keeper = asyncio.create_task(self._keep(), name="tictactoe connection")

    @property
    def address(self) -> Address:
        """Where the server is that we are connected to; after a return it may be another of the house."""
        return self.house.first

    @property
    def features(self) -> frozenset[str]:
        """What the server says that it can do beyond version 1.0; after a return it may be another server."""
        return frozenset(self._connection.welcome.features)

    @property
    def latency_seconds(self) -> float:
        """How long the server takes now: to answer the last ping, one every five seconds, before that our hello."""
        return self._connection.latency_seconds

    @property
    def is_here(self) -> bool:
        """Whether the server can be told something now."""
        return self._is_here.is_set() and self._ended is None

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
        stream = Messages(self._connection.message)
        self._audience.seat(stream)
        if self._ended is not None:
            stream.put(self._ended)
        return stream

    def room(self, code: str) -> Room:
        """Return a room that we are in, also one that was entered by `send_text`."""
        room = self._rooms.get(code)
        if room is None or room.ended is not None:
            self._rooms = {room.code: room for room in self._open_rooms}
            room = self._rooms[code] = Room(self, code)
        return room

    @property
    def _open_rooms(self) -> list[Room]:
        return [room for room in self._rooms.values() if room.ended is None]

    # -- what is asked ----------------------------------------------------------------------------------------------

    async def request(self, request: Request | Mapping[str, object]) -> Ok:
        """Send any request, or an object of JSON with an id, and return the answer; raises `Refused`, `ConnectionLost`.

        A client that reconnects answers late instead; only what must not be sent twice raises `Interrupted`.
        """
        if self._ended is not None:
            raise self._ended
        pending = self._expect(request)
        try:
            if self._is_here.is_set():
                await self._send_pending(pending)
            answer = await pending.answer
        finally:
            self._unanswered.pop(pending.id, None)
        if isinstance(request, Lobby):
            self._lobby = request
        return answer

    async def send_text(self, text: str) -> None:
        """Send a message as it stands, after a return where there is no connection; the answer comes in `messages`."""
        await self._is_here.wait()
        if self._ended is not None:
            raise self._ended
        self._most_rooms += 1
        await self._send(text)

    async def close(self) -> None:
        """End the conversation; iterators stop. Seats are not given up by this: see `leave_rooms`."""
        tasks = [task for task in (self._keeper, self._resuming) if task is not None]
        for task in tasks:
            task.cancel()
        await self._connection.close()
        await asyncio.wait(tasks)
        self._finish(None)

    async def leave_rooms(self) -> bool:
        """Give our seats up, so that nobody waits for us in vain; tell whether the server knows.

        One that does not answer is not waited for.
        """
        if not self.is_here:
            return False
        return all(await asyncio.gather(*(room.say_goodbye() for room in self._open_rooms if not room.is_watching)))

    async def _ask(self, request: Request) -> Ok:
        return await self._wait_for(self.request(request), f"answer to {request.__struct_config__.tag}")

    async def _enter(self, request: Create | Match | Join | Watch) -> Room:
        """Return the room that the server lets us into, with its first state; raises `ProtocolBroken` for no room."""
        reply = await self._ask(request)
        if not reply.room:
            raise errors.ProtocolBroken("the answer names no room")
        room = self.room(reply.room)
        await self._wait_for(room._wait_for_state(), f"state of room {room.code}")
        return room

    async def _wait_for(self, coming: Awaitable[Awaited], what: str) -> Awaited:
        """Return what comes of it; raises `Unreachable` where nothing comes although we are connected."""
        waiting = asyncio.ensure_future(coming)
        try:
            while not waiting.done():
                connection = self._connection
                await asyncio.wait({waiting}, timeout=self._timeout_seconds)
                if not waiting.done() and self._is_here.is_set() and self._connection is connection:
                    raise errors.Unreachable(self.address.url, f"no {what} within {self._timeout_seconds:g} s")
            return waiting.result()
        finally:
            waiting.cancel()

    def _expect(self, request: Request | Mapping[str, object]) -> Pending:
        """Expect an answer to a request, which gets an id of our own where it is none of JSON and has none."""
        if not isinstance(request, Mapping) and request.id is UNSET:
            request = replace(request, id=f"client-{next(self._ids)}")
        pending = Pending(request)
        self._unanswered[pending.id] = pending
        return pending

    def _way_into(self, code: str, *, watching: bool) -> Join | Watch:
        seq = self._seen.get(code, UNSET) if "seq" in self.features else UNSET
        return Watch(room=code, seq=seq) if watching else Join(room=code, seq=seq)

    def _way_back(self, room: Room) -> Join | Watch:
        return self._way_into(room.code, watching=room.is_watching)

    async def _send_pending(self, pending: Pending) -> None:
        pending.sent_over = self._connection
        if isinstance(pending.request, (Create, Match, Join, Watch, Mapping)):
            self._most_rooms += 1
        await self._send(encode(pending.request).decode())

    async def _send(self, text: str) -> None:
        """Send a message; a request that finds no connection is sent again by the return."""
        try:
            await self._connection.say(text)
        except errors.ConnectionLost:
            if self._backoff is None:
                raise

    # -- what comes -------------------------------------------------------------------------------------------------

    def _take(self, text: str) -> None:
        """Let whom it concerns know what came from the server; raises `ProtocolBroken` for what is no message."""
        message = read_message(text)
        push = message.push
        room = self._rooms.get(getattr(push, "room", ""))
        match push:
            case pushes.RoomState() if room is not None:
                self._seen[push.room] = max(push.seq, self._seen.get(push.room, 0))
                room._take(push)
            case Ok():
                may_be_in = push.room in self._rooms or len(self._open_rooms) < self._most_rooms
                if push.room and push.seat is not UNSET and may_be_in:
                    self.room(push.room)._enter(push)
                if (pending := self._unanswered.get(push.id)) is not None and not pending.answer.done():
                    pending.answer.set_result(push)
            case pushes.Error():
                if (pending := self._unanswered.get(push.id or "")) is not None:
                    pending.fail(refusal_of(push))
                if push.code in errors.EXPULSIONS:
                    self._farewell = push
            case pushes.Closed() if room is not None:
                room._end(Closed(push.reason))
            case pushes.Replaced() if room is not None:
                room._end(Replaced())
            case pushes.ChatLine() if room is not None:
                room._hear(Said(push))
            case pushes.Notice():
                self._notice = push
        if isinstance(push, pushes.Notice | pushes.Announcement) or (isinstance(push, pushes.Error) and not push.id):
            for each in self._open_rooms:
                each._hear(Told(push))
        self._audience.tell(message)

    def _tell(self, event: ConnectionEvent) -> None:
        """Let streams and rooms know what has become of the connection."""
        for room in self._open_rooms:
            if not isinstance(event, Gone) or event.room == room.code:
                room._hear(event)
        self._audience.tell(Message("", None, event))

    def _finish(self, lost: errors.ConnectionLost | None) -> None:
        """End rooms and streams, with None as we have closed the conversation ourselves."""
        for room in self._open_rooms:
            room._end(lost or "left")
        self._audience.finish(lost)

    # -- the life of the connection ---------------------------------------------------------------------------------

    async def _keep(self) -> None:
        """Read until the connection ends, come back where that is wanted, else tell all who wait."""
        lost = errors.ConnectionLost("the client was closed")
        try:
            while True:
                await self._come_back(await self._read_to_the_end())
        except errors.ConnectionLost as error:
            lost = error
            self._finish(lost)
        finally:
            self._ended = lost
            self._is_here.set()
            for pending in self._unanswered.values():
                pending.fail(lost)

    async def _read_to_the_end(self) -> errors.ConnectionLost:
        """Take what comes, while nobody who reads lags far behind, and return why nothing more will."""
        try:
            while True:
                self._take(await self._connection.hear())
                await self._audience.until_read()
                for room in self._open_rooms:
                    await room._audience.until_read()
                await asyncio.sleep(0)  # many may be here already, and those who listen are not all there is to do
        except errors.ConnectionLost as lost:
            lost.retry_ms = self._notice.retry_ms if self._notice is not None else None
            if isinstance(lost, errors.Expelled) and self._farewell is not None:
                return errors.Expelled(self._farewell.code, self._farewell.message, lost.close_code)
            return lost

    async def _come_back(self, lost: errors.ConnectionLost) -> None:
        """Have a new connection on which all is as it was; raises `ConnectionLost` where that is not to be had."""
        if self._backoff is None or not is_passing(lost):
            raise lost
        house, welcome = self.house, self._connection.welcome
        announced_ms: float | None = lost.retry_ms
        if self._notice is not None and self._notice.code == "stopping" and lost.close_code in GOING_DOWN:
            if len(house.addresses) == 1:
                raise errors.ConnectionLost("the server has stopped for good", lost.close_code)
            announced_ms = math.inf
        self._is_here.clear()
        if self._resuming is not None:
            self._resuming.cancel()
            await asyncio.wait([self._resuming])
        for pending in self._unanswered.values():
            if pending.sent_over is not None and not may_be_repeated(pending.request):
                pending.fail(errors.Interrupted())
        self._hurry.clear()
        patience = self._backoff.patience(None if welcome.hold_ms is UNSET else welcome.hold_ms)
        lasted = asyncio.get_running_loop().time() - self._connection.began_at
        ways = self._backoff.ways(len(house.addresses), announced_ms, lasted_seconds=lasted)
        call = partial(greet, name=self.name, token=self.token, timeout_seconds=self._timeout_seconds, ca=self.ca)
        self._connection = await come_back(call, house, ways, patience, lost, self._tell, self._hurry)
        self.house = house.led_by(self._connection.address)
        self._notice = None
        self._audience.tell(self._connection.message)
        self._resuming = asyncio.create_task(self._resume(patience[0]), name="tictactoe resume")

    async def _resume(self, patience_seconds: float) -> None:
        """Enter our rooms again, then send what had no answer: the server takes them in that order."""
        rooms, boards = self._open_rooms, self._lobby.boards if "boards" in self.features else 0
        lobby = [Lobby(on=True, boards=boards)] if self._lobby.on else []
        first = [self._expect(request) for request in (*map(self._way_back, rooms), *lobby)]
        try:
            for pending in first:
                await self._send_pending(pending)
            while unsent := [each for each in self._unanswered.values() if each.sent_over is not self._connection]:
                for pending in unsent:
                    await self._send_pending(pending)
            self._is_here.set()
            for room, pending in zip(rooms, first, strict=False):
                await self._enter_again(room, pending, patience_seconds)
        except errors.ClientError:
            return
        finally:
            for pending in first:
                self._unanswered.pop(pending.id, None)

    async def _enter_again(self, room: Room, pending: Pending, patience_seconds: float) -> None:
        """Wait for our return to a room, which is gone where that is refused, or put off too long and five times."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + patience_seconds
        for attempt in itertools.count(1):
            try:
                await pending.answer
                return
            except errors.Refused as refused:
                if refused.retry_ms is None or (attempt >= 5 and clock() >= deadline):
                    self._tell(Gone(room.code, refused))
                    room._end(Closed(refused.message))
                    return
                await asyncio.sleep(max(0.05, refused.retry_ms / 1000))
            finally:
                self._unanswered.pop(pending.id, None)
            pending = self._expect(self._way_back(room))
            await self._send_pending(pending)
