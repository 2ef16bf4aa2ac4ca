"""A conversation with one server, or with several of one cluster, over as many connections as it takes.

Every request gets its answer, or an error. It owns the life of its connections: of the one that it is at, which `_keep`
has made anew when it is lost, and of one to each other server in whose rooms we are. It tells rooms and streams what
comes, in `_take`, and goes after rooms that are at another server, in `_follow`."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
from collections.abc import Awaitable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec import UNSET

from tictactoe_client.online import errors
from tictactoe_client.online.address import Address, House, find_server
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.connection import Connection, greet
from tictactoe_client.online.connections import Connections
from tictactoe_client.online.events import Closed, ConnectionEvent, Gone, Replaced, RoomMoved, Said, Told
from tictactoe_client.online.failures import GOING_DOWN
from tictactoe_client.online.inspection import read_message, refusal_of
from tictactoe_client.online.messages import Message, Messages, Subscribers
from tictactoe_client.online.pending import Pending, Unanswered
from tictactoe_client.online.reconnect import come_back, is_passing
from tictactoe_client.online.room import Room
from tictactoe_protocol import ErrorCode, pushes
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Create, Join, Lobby, Match, Request, Watch

_MOST_MOVES: Final = 3
"""So often in a row a request is sent on to the server that is said to have its room."""
_FIRST_WAIT_SECONDS: Final = 0.2
_LONGEST_WAIT_SECONDS: Final = 4.0
"""How long to wait then, before the first server is asked again."""

Awaited = TypeVar("Awaited")


class Conversation:
    """What `Client` stands on.

    `player` is our public id and `name` our name as the server has it, `token` the secret that makes us the same player
    on a later connection, `server` the server's name and version, all as the first `welcome` says; `ca` is as it was
    given to `connect`, and so is `house`, beginning with the address that we are at, and with the servers that the last
    welcome has named.
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
        self.house = house.joined_by(connection.address, connection.servers)
        self._welcomed_at = connection.began_at
        self._backoff = backoff
        self._timeout_seconds = timeout_seconds
        self._hurry = asyncio.Event()
        self._subscribers: Subscribers[Message] = Subscribers()
        self._rooms: dict[str, Room] = {}
        self._seen: dict[str, int] = {}  # the highest `seq` of each room
        self._lobby = Lobby(on=False)
        self._ended: errors.ConnectionLost | None = None
        self._resuming: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._loss: asyncio.Future[errors.ConnectionLost] = asyncio.get_running_loop().create_future()
        self._greet = partial(greet, name=self.name, token=self.token, timeout_seconds=timeout_seconds, ca=ca)
        self._connections = Connections(connection, self._greet, self._read_to_the_end, self._note_end)
        self._unanswered = Unanswered(self._connections, sends_again=backoff is not None)
        self._keeper = asyncio.create_task(self._keep(), name="tictactoe conversation")

    @property
    def address(self) -> Address:
        """Where the server is that we are connected to; after a return, or a room that moved, it may be another one."""
        return self.house.first

    @property
    def features(self) -> frozenset[str]:
        """What the server says that it can do beyond version 1.0; after a return it may be another server."""
        return frozenset(self._connections.main.welcome.features)

    @property
    def latency_seconds(self) -> float:
        """How long the server takes now: to answer the last ping, one every few seconds, before that our hello."""
        return self._connections.main.latency_seconds

    @property
    def is_here(self) -> bool:
        """Whether the server can be told something now."""
        return self._unanswered.is_here.is_set() and self._ended is None

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
        stream = Messages(self._connections.main.message)
        self._subscribers.add(stream)
        if self._ended is not None:
            stream.put(self._ended)
        return stream

    def room(self, code: str) -> Room:
        """Return a room that we are in, also one that was entered by `send_text`."""
        room = self._rooms.get(code)
        if room is None or room.ended is not None:
            self._rooms = {room.code: room for room in self._open_rooms}
            self._connections.forget(code)
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
        pending = self._unanswered.expect(request)
        try:
            await self._unanswered.send_soon(pending)
            answer = await pending.answer
        finally:
            self._unanswered.forget(pending)
            self._tidy_soon()
        if isinstance(request, Lobby):
            self._lobby = request
        return answer

    async def send_text(self, text: str) -> None:
        """Send a message as it stands, after a return where there is no connection; the answer comes in `messages`."""
        await self._unanswered.is_here.wait()
        if self._ended is not None:
            raise self._ended
        self._unanswered.most_rooms += 1
        await self._unanswered.send_text(text, self._connections.main)

    async def close(self) -> None:
        """End the conversation; iterators stop. Seats are not given up by this: see `leave_rooms`."""
        tasks = [self._keeper, *self._tasks]
        for task in tasks:
            task.cancel()
        await self._connections.close()
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
        if not room.has_state:
            why = room.closed_reason or "The room was closed."
            raise self._ended or errors.Refused(ErrorCode.NO_SUCH_ROOM, why, room=room.code)
        return room

    async def _wait_for(self, coming: Awaitable[Awaited], what: str) -> Awaited:
        """Return what comes of it; raises `Unreachable` where nothing comes although we are connected."""
        waiting = asyncio.ensure_future(coming)
        try:
            while not waiting.done():
                main = self._connections.main
                await asyncio.wait({waiting}, timeout=self._timeout_seconds)
                is_steady = self.is_here and self._connections.main is main and not self._unanswered.follows_any
                if not waiting.done() and is_steady:
                    raise errors.Unreachable(self.address.url, f"no {what} within {self._timeout_seconds:g} s")
            return waiting.result()
        finally:
            waiting.cancel()

    def _way_into(self, code: str, *, watching: bool) -> Join | Watch:
        seq = self._seen.get(code, UNSET) if "seq" in self.features else UNSET
        return Watch(room=code, seq=seq) if watching else Join(room=code, seq=seq)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something beside everything else, until the conversation is closed."""
        task = asyncio.create_task(work, name="tictactoe work")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # -- what comes -------------------------------------------------------------------------------------------------

    def _take(self, text: str, connection: Connection) -> None:
        """Let whom it concerns know what came from the server; raises `ProtocolBroken` for what is no message."""
        message = read_message(text)
        push = message.push
        room = self._rooms.get(getattr(push, "room", ""))
        if room is not None and self._connections.place_of(room.code) is not connection:
            room = None
        match push:
            case pushes.RoomState() if room is not None:
                self._seen[push.room] = max(push.seq, self._seen.get(push.room, 0))
                room._receive(push)
            case Ok():
                may_be_in = push.room in self._rooms or len(self._open_rooms) < self._unanswered.most_rooms
                if push.room and push.seat is not UNSET and may_be_in:
                    self._enter_over(connection, self.room(push.room), push)
                if (pending := self._unanswered.get(push.id)) is not None and not pending.answer.done():
                    pending.answer.set_result(push)
            case pushes.Error():
                pending = self._unanswered.get(push.id or "")
                if pending is not None and pending.sent_over is connection:
                    if push.code == ErrorCode.MOVED and push.url:
                        self._follow(pending, message, connection)
                        return
                    pending.fail(refusal_of(push))
                if push.code in errors.EXPULSIONS:
                    connection.farewell = push
            case pushes.Moved() if room is not None:
                self._follow(self._bring(room), message, connection)
                return
            case pushes.Closed() | pushes.Replaced() if room is not None:
                room._end(Closed(push.reason) if isinstance(push, pushes.Closed) else Replaced())
                self._tidy_soon()
            case pushes.ChatLine() if room is not None:
                room._note(Said(push))
            case pushes.Notice():
                connection.notice = push
        if isinstance(push, pushes.Notice | pushes.Announcement) or (isinstance(push, pushes.Error) and not push.id):
            for each in self._rooms_at(connection):
                each._note(Told(push))
        self._subscribers.publish(message)

    def _enter_over(self, connection: Connection, room: Room, reply: Ok) -> None:
        """Be in a room at the server of this connection."""
        before = self._connections.place_of(room.code)
        self._connections.arrive(room.code, connection)
        if before is not connection:
            self._tell(RoomMoved(room.code, connection.address.url))
            self._unanswered.take_back(lambda each: each.room == room.code and each.sent_over not in (None, connection))
            self._start(self._unanswered.catch_up())
            self._tidy()
        room._enter(reply)

    def _rooms_at(self, connection: Connection | None) -> list[Room]:
        """Return our rooms at a connection, or those on their way."""
        return [room for room in self._open_rooms if self._connections.place_of(room.code) is connection]

    def _tell(self, event: ConnectionEvent) -> None:
        """Let streams and rooms know what has become of the connection."""
        concerned = [*self._rooms_at(self._connections.main), *self._rooms_at(None)]
        if isinstance(event, Gone | RoomMoved):  # who enters a room needs no word of where that is
            concerned = [room for room in self._open_rooms if room.code == event.room and room.has_state]
        for room in concerned:
            room._note(event)
        self._subscribers.publish(Message("", None, event))

    def _finish(self, lost: errors.ConnectionLost | None) -> None:
        """End rooms and streams, with None as we have closed the conversation ourselves."""
        for room in self._open_rooms:
            room._end(lost or "left")
        self._subscribers.finish(lost)

    # -- rooms at other servers -------------------------------------------------------------------------------------

    def _follow(self, pending: Pending, message: Message, teller: Connection) -> None:
        """Send a request on to the server that has its room, as `teller` says; into rooms of ours we go first."""
        pending.sent_over = None
        room = self._rooms.get(pending.room)
        if pending.enters or room is None or room.ended is not None:
            if pending.brings_back is not None:
                self._connections.set_out(pending.room)
            pending.is_followed = True
            self._start(self._go_after(pending, message, teller))
        elif self._connections.place_of(room.code) is teller:
            self._follow(self._bring(room), message, teller)
        else:
            self._start(self._unanswered.catch_up())

    def _bring(self, room: Room) -> Pending:
        """Let a room of ours be on its way, and return the request that leads us into it again, which is to be sent."""
        self._connections.set_out(room.code)
        return self._way_back(room)

    def _way_back(self, room: Room) -> Pending:
        """Return the request that leads us into a room of ours again, which is to be sent, and wait for its answer."""
        way = self._unanswered.way_back(room)
        if way is None:
            way = self._unanswered.expect(self._way_into(room.code, watching=room.is_watching), room)
            self._start(self._enter_again(room, way))
        return way

    async def _go_after(self, pending: Pending, message: Message, teller: Connection) -> None:
        """Send a request to the server that has its room, or to the first one after a wait; or let it be refused."""
        moved = message.push
        assert isinstance(moved, (pushes.Error, pushes.Moved))
        url = moved.url or ""
        address = find_server(url, (*teller.servers, *self._known_from(teller)))
        if address is None:
            teller.servers = await self._connections.servers_now(teller)
            address = find_server(url, teller.servers)
        pending.moves += 1
        over = None
        if address is not None and pending.moves <= _MOST_MOVES:
            with contextlib.suppress(errors.ClientError):
                over = await self._connections.reach(address)
        if over is None:
            wait = min(pending.waited_seconds + _FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS)
            patience = self._patience[0] if pending.brings_back is not None else self._timeout_seconds
            if address is None or pending.waited_seconds + wait > patience:
                self._subscribers.publish(message)
                pending.fail(_refusal_of(moved))
            pending.moves = 0
            pending.waited_seconds += wait
            await asyncio.sleep(0 if pending.answer.done() else wait)
            await self._unanswered.is_here.wait()
        if pending.answer.done():
            pending.is_followed = False
            self._tidy()
            return
        try:
            await self._unanswered.send(pending, over)
        except errors.ConnectionLost as lost:
            pending.fail(lost)

    def _known_from(self, teller: Connection) -> tuple[Address, ...]:
        """Return the servers that were given or named before, to which one may go from this one: not away from TLS."""
        return tuple(one for one in self.house.addresses if teller.address.may_lead_to(one))

    @property
    def _patience(self) -> tuple[float, float]:
        """For how many seconds it is tried to be in our rooms again: at a server, and where there is none."""
        hold_ms = self._connections.main.welcome.hold_ms
        return (self._backoff or Backoff()).patience(None if hold_ms is UNSET else hold_ms)

    def _lose_other(self, connection: Connection, lost: errors.ConnectionLost) -> None:
        """Go into the rooms again that were at another server, by what the server knows of them that we are at."""
        self._connections.give_up(connection)
        if self._backoff is None or not is_passing(lost):
            for pending in self._unanswered:
                if pending.sent_over is connection:
                    pending.fail(lost)
            for room in self._rooms_at(connection):
                self._cut_off(room, lost)
            return
        self._unanswered.take_back(lambda pending: pending.sent_over is connection)
        for room in self._rooms_at(connection):
            self._bring(room)
        self._start(self._unanswered.catch_up())

    def _cut_off(self, room: Room, lost: errors.ConnectionLost) -> None:
        self._rooms.pop(room.code, None)
        room._end(lost)

    def _tidy_soon(self) -> None:
        """Tidy up when all is done that goes with what happens now."""
        if self._connections.others:
            asyncio.get_running_loop().call_soon(self._tidy)

    def _tidy(self) -> None:
        """Be at a server in whose rooms we are, if we are in any, and have no other connection that nobody needs."""
        connections, main = self._connections, self._connections.main
        if self._unanswered.follows_any or not connections.is_live(main):
            return
        places = {connections.place_of(room.code) for room in self._open_rooms}
        needed = places | {pending.sent_over for pending in self._unanswered}
        with_rooms = [other for other in connections.others if other in places]
        if main not in needed and with_rooms:
            self._settle_at(with_rooms[0])
            self._start(self._subscribe_again())
        for other in connections.others:
            if other not in needed:
                connections.give_up(other)

    def _settle_at(self, connection: Connection) -> None:
        """Let the server of this connection be the one that we are at."""
        self._connections.use(connection)
        self.house = self.house.joined_by(connection.address, connection.servers)
        self._subscribers.publish(connection.message)

    async def _subscribe_again(self) -> None:
        if self._lobby.on:
            boards = self._lobby.boards if "boards" in self.features else 0
            with contextlib.suppress(errors.ClientError):
                await self.request(Lobby(on=True, boards=boards))

    # -- the life of the connection ---------------------------------------------------------------------------------

    def _note_end(self, connection: Connection, reader: asyncio.Task[errors.ConnectionLost]) -> None:
        """Take note that a connection has ended without being asked to."""
        if self._ended is not None:
            return
        if connection is not self._connections.main:
            self._lose_other(connection, reader.result())
        elif (fault := reader.exception()) is not None:
            self._loss.set_exception(fault)
        else:
            self._loss.set_result(reader.result())

    async def _keep(self) -> None:
        """Come back each time that the connection ends, where that is wanted, else tell all who wait."""
        lost = errors.ConnectionLost("the client was closed")
        try:
            while True:
                latest = await self._loss
                self._loss = asyncio.get_running_loop().create_future()
                await self._come_back(latest)
        except errors.ConnectionLost as error:
            lost = error
            self._finish(lost)
        finally:
            self._ended = lost
            self._unanswered.is_here.set()
            for pending in self._unanswered:
                pending.fail(lost)

    async def _read_to_the_end(self, connection: Connection) -> errors.ConnectionLost:
        """Take what comes, while nobody who reads lags far behind, and return why nothing more will."""
        try:
            while True:
                self._take(await connection.hear(), connection)
                await self._subscribers.until_read()
                for room in self._open_rooms:
                    await room._subscribers.until_read()
                await asyncio.sleep(0)  # many may be here already, and those who listen are not all there is to do
        except errors.ConnectionLost as lost:
            lost.retry_ms = connection.notice.retry_ms if connection.notice is not None else None
            if isinstance(lost, errors.Expelled) and connection.farewell is not None:
                return errors.Expelled(connection.farewell.code, connection.farewell.message, lost.close_code)
            return lost

    async def _come_back(self, lost: errors.ConnectionLost) -> None:
        """Have a connection again on which all is as it was; raises `ConnectionLost` where that is not to be had.

        Where rooms of ours are at another server, or on their way there, we are there already.
        """
        if not is_passing(lost):
            raise lost
        await self._connections.until_reached()
        main, others = self._connections.main, self._connections.others
        if self._backoff is None and not others:
            raise lost
        announced_ms: float | None = lost.retry_ms
        if main.notice is not None and main.notice.code == "stopping" and lost.close_code in GOING_DOWN:
            if len(self.house.addresses) == 1:
                raise errors.ConnectionLost("the server has stopped for good", lost.close_code)
            announced_ms = math.inf
        self._unanswered.is_here.clear()
        if self._resuming is not None:
            self._resuming.cancel()
            await asyncio.wait([self._resuming])
        self._unanswered.take_back(lambda pending: pending.sent_over is main)
        found = others[0] if others else await self._find_connection(lost, announced_ms)
        rooms = self._rooms_at(main)
        self._settle_at(found)
        self._resuming = self._start(self._resume(rooms))

    async def _find_connection(self, lost: errors.ConnectionLost, announced_ms: float | None) -> Connection:
        """Return a new connection to one of the servers; raises `ConnectionLost` where none lets us in in time."""
        self._hurry.clear()
        backoff, main = self._backoff or Backoff(), self._connections.main
        lasted = asyncio.get_running_loop().time() - main.began_at
        ways = backoff.ways(len(self.house.addresses), announced_ms, lasted_seconds=lasted)
        return await come_back(self._greet, self.house, ways, self._patience, lost, self._tell, self._hurry)

    async def _resume(self, rooms: list[Room]) -> None:
        """Enter these rooms again, then send what had no answer: the server takes them in that order."""
        try:
            for way in [self._way_back(room) for room in rooms]:
                await self._unanswered.send(way)
            await self._unanswered.send_all()
        except errors.ConnectionLost:
            return
        self._unanswered.is_here.set()
        await self._subscribe_again()

    async def _enter_again(self, room: Room, way: Pending) -> None:
        """Wait for our return to a room, which is gone where that is refused, or put off too long and five times."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._patience[0]
        for attempt in itertools.count(1):
            try:
                await way.answer
                return
            except errors.Refused as refused:
                if refused.retry_ms is None or (attempt >= 5 and clock() >= deadline):
                    self._lose_room(room, refused)
                    return
                await asyncio.sleep(max(0.05, refused.retry_ms / 1000))
            except errors.ConnectionLost as lost:
                if self._ended is None:
                    self._cut_off(room, lost)
                return
            finally:
                self._unanswered.forget(way)
            if room.ended is not None or self._unanswered.way_back(room) is not None:
                return
            way = self._unanswered.expect(self._way_into(room.code, watching=room.is_watching), room)
            await self._unanswered.send_soon(way)

    def _lose_room(self, room: Room, refused: errors.Refused) -> None:
        """Be in a room no more that could not be entered again; what was asked there is for the server to answer."""
        self._tell(Gone(room.code, refused))
        room._end(Closed(refused.message))
        self._connections.forget(room.code)
        self._start(self._unanswered.catch_up())
        self._tidy_soon()


def _refusal_of(moved: pushes.Error | pushes.Moved) -> errors.Refused:
    """Return that a room is at another server, in the words of the one that says so if it has any."""
    if isinstance(moved, pushes.Error):
        return refusal_of(moved)
    return errors.Refused(ErrorCode.MOVED, f"Room {moved.room} is at {moved.url} now.", room=moved.room)
