"""A conversation with one server, or with several of one cluster, over as many connections as it takes.

Every request gets its answer, or an error; what comes is told to whom it concerns. A connection that is lost is made
anew, where that is wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import UNSET, structs

from tictactoe_client.online import errors
from tictactoe_client.online.address import Address
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.cluster import Cluster
from tictactoe_client.online.connection import Connection, greet
from tictactoe_client.online.connections import Connections, is_passing
from tictactoe_client.online.events import Closed, Replaced, Said, Told
from tictactoe_client.online.inspection import read_message, refusal_of
from tictactoe_client.online.messages import Message, Messages
from tictactoe_client.online.reentry import Reentry, Unanswered
from tictactoe_client.online.room import Room
from tictactoe_client.online.tournament import Tournament
from tictactoe_client.online.work import Work
from tictactoe_protocol import ErrorCode, pushes
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.events import Call, EventRows, EventState, EventWatch
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Lobby, Request

_TOLD_IN_ROOMS: Final = (pushes.Notice, pushes.Announcement, Call)
"""What concerns whoever is in a room, whichever it is."""


class Conversation:
    """What `Client` stands on.

    `player` is our public id and `name` our name as the server has it, `token` the secret that makes us the same player
    on a later connection, `server` the server's name and version, all as the first `welcome` says; `ca` is as it was
    given to `connect`.
    """

    def __init__(
        self,
        cluster: Cluster,
        connection: Connection,
        backoff: Backoff | None,
        timeout_seconds: float,
        ca: str | Path | None = None,
    ) -> None:
        welcome = self.welcome = connection.welcome
        self.player, self.name, self.token, self.server = welcome.player, welcome.name, welcome.token, welcome.server
        self.ca = ca
        self._welcomed_at = connection.began_at
        self._timeout_seconds = timeout_seconds
        self._connections = Connections(connection, cluster, self._greet, backoff, self._read, self._note_end)
        self._unanswered = Unanswered(self._connections)
        self._work = Work()
        self._reentry = Reentry(self._connections, self._unanswered, self._work, timeout_seconds)
        self._loss: asyncio.Future[errors.ConnectionLost] = asyncio.get_running_loop().create_future()
        self._ended: errors.ConnectionLost | None = None
        self._tournaments: dict[str, Tournament] = {}
        self._calls: dict[str, tuple[Call, float]] = {}
        self._note_calls(*(welcome.calls or ()))
        self._returning = asyncio.create_task(self._return_always(), name="tictactoe conversation")

    @property
    def cluster(self) -> Cluster:
        """The addresses that were given, or that the last welcome has named, beginning with the one that we are at."""
        return self._connections.cluster

    async def _greet(self, address: Address) -> Connection:
        """Say hello again as who we are by now."""
        return await greet(address, self.name, self.token, self._timeout_seconds, self.ca)

    @property
    def house(self) -> Cluster:
        """The `cluster`, by its name of versions before 1.5."""
        return self._connections.cluster

    @property
    def address(self) -> Address:
        """Where the server is that we are connected to; after a return, or a room that moved, it may be another one."""
        return self._connections.cluster.first

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
        self._connections.hurry.set()

    def messages(self) -> Messages:
        """Return a stream of everything that the server says from now on, its welcome first.

        Whoever asks for one must read it, or give it back by `Messages.close` or the end of an ``async with``: while it
        keeps two megabytes that were not read nothing more is read from the server.
        """
        stream = Messages(self._connections.main.message)
        self._connections.messages.add(stream)
        if self._ended is not None:
            stream.put(self._ended)
        return stream

    def room(self, code: str) -> Room:
        """Return a room that we are in, also one that was entered by `send_text`."""
        return self._connections.open_room(code, self)

    def tournament(self, code: str) -> Tournament:
        """Return an event that we follow, also one that was asked for by `send_text`."""
        known = self._tournaments.get(code)
        if known is None or known._has_ended:
            known = self._tournaments[code] = Tournament(self, code)
        return known

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls to boards of events to which we have not come and still may; `due_ms` is what is left by now."""
        now, here = asyncio.get_running_loop().time(), {room.code for room in self._connections.rooms}
        return tuple(
            structs.replace(call, due_ms=round((due_at - now) * 1000))
            for call, due_at in self._calls.values()
            if due_at > now and call.room not in here
        )

    # -- what is asked ----------------------------------------------------------------------------------------------

    async def request(self, request: Request | Mapping[str, object]) -> Ok:
        """Send any request, or an object of JSON with an id, and return the answer; raises `Refused`, `ConnectionLost`.

        A client that reconnects answers late instead; only what must not be sent twice raises `Interrupted`.
        """
        if self._ended is not None:
            raise self._ended
        try:
            answer = await self._unanswered.ask(request)
        finally:
            self._reentry.tidy_soon()
        if isinstance(request, Lobby | EventWatch):
            self._reentry.note_subscription(request)
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
        self._returning.cancel()
        await self._work.cancel()
        await self._connections.close()
        await asyncio.wait([self._returning])
        self._finish(None)

    async def leave_rooms(self) -> bool:
        """Give our seats up, so that nobody waits for us in vain; tell whether the server knows.

        One that does not answer is not waited for.
        """
        if not self.is_here:
            return False
        return all(
            await asyncio.gather(*(room.say_goodbye() for room in self._connections.rooms if not room.is_watching))
        )

    # -- what comes -------------------------------------------------------------------------------------------------

    async def _read(self, connection: Connection) -> errors.ConnectionLost:
        """Take what comes, while nobody who reads lags far behind, and return why nothing more will."""
        try:
            while True:
                self._take(await connection.hear(), connection)
                await self._connections.until_read()
                await asyncio.sleep(0)  # many may be here already, and those who listen are not all there is to do
        except errors.ConnectionLost as lost:
            lost.retry_ms = connection.notice.retry_ms if connection.notice is not None else None
            if isinstance(lost, errors.Expelled) and connection.farewell is not None:
                return errors.Expelled(connection.farewell.code, connection.farewell.message, lost.close_code)
            return lost

    def _take(self, text: str, connection: Connection) -> None:
        """Let whom it concerns know what came from the server; raises `ProtocolBroken` for what is no message."""
        message = read_message(text)
        push = message.push
        room = self._connections.find_room(getattr(push, "room", ""))
        if room is not None and self._connections.place_of(room.code) is not connection:
            room = None
        match push:
            case pushes.RoomState() if room is not None:
                self._connections.note_seq(push.room, push.seq)
                room._receive(push)
            case Ok():
                self._take_answer(push, connection)
            case pushes.Error():
                if self._take_refusal(push, message, connection):
                    return
            case pushes.Moved() if room is not None:
                self._reentry.follow_room(room, message, connection)
                return
            case pushes.Closed() | pushes.Replaced() if room is not None:
                room._end(Closed(push.reason) if isinstance(push, pushes.Closed) else Replaced())
                self._reentry.tidy_soon()
            case pushes.ChatLine() if room is not None:
                room._note(Said(push))
            case pushes.Notice():
                connection.notice = push
            case EventState() | EventRows() if push.event in self._tournaments:
                self._tournaments[push.event]._receive(push)
            case Call():
                self._note_calls(push)
        if isinstance(push, _TOLD_IN_ROOMS) or (isinstance(push, pushes.Error) and not push.id):
            for each in self._connections.rooms_at(connection):
                each._note(Told(push))
        self._connections.messages.publish(message)

    def _note_calls(self, *calls: Call) -> None:
        """Keep the calls that count by now, one of each event."""
        now = asyncio.get_running_loop().time()
        self._calls |= {call.event: (call, now + call.due_ms / 1000) for call in calls}

    def _take_answer(self, answer: Ok, connection: Connection) -> None:
        """Give an answer to whoever waits for it; we are in the room that it lets us into, if we asked for that."""
        has_place = len(self._connections.rooms) < self._unanswered.most_rooms
        may_be_in = has_place or self._connections.find_room(answer.room or "") is not None
        if answer.room and answer.seat is not UNSET and may_be_in:
            self._calls = {event: each for event, each in self._calls.items() if each[0].room != answer.room}
            self._reentry.enter(self.room(answer.room), answer, connection)
        pending = self._unanswered.get(answer.id)
        if pending is not None and not pending.answer.done():
            pending.answer.set_result(answer)

    def _take_refusal(self, error: pushes.Error, message: Message, connection: Connection) -> bool:
        """Give a refusal to whoever waits for an answer; tell whether the request goes on to another server instead."""
        pending = self._unanswered.get(error.id or "")
        if pending is not None and pending.sent_over is connection:
            if error.code == ErrorCode.MOVED and error.url:
                self._reentry.follow(pending, message, connection)
                return True
            pending.fail(refusal_of(error))
        if error.code in errors.EXPULSIONS:
            connection.farewell = error
        return False

    # -- the life of the connection ---------------------------------------------------------------------------------

    def _note_end(self, connection: Connection, reader: asyncio.Task[errors.ConnectionLost]) -> None:
        """Take note that a connection has ended without being asked to."""
        if self._ended is not None:
            return
        if connection is not self._connections.main:
            self._reentry.leave_server(connection, reader.result())
        elif (fault := reader.exception()) is not None:
            self._loss.set_exception(fault)
        else:
            self._loss.set_result(reader.result())

    async def _return_always(self) -> None:
        """Come back each time that the connection ends, where that is wanted, else tell all who wait."""
        ended = errors.ConnectionLost(say("lost closed by us"))
        resuming: asyncio.Task[None] | None = None
        try:
            while True:
                lost = await self._loss
                self._loss = asyncio.get_running_loop().create_future()
                resuming = await self._come_back(lost, resuming)
        except errors.ConnectionLost as error:
            ended = error
            self._finish(ended)
        finally:
            self._ended = ended
            self._unanswered.is_here.set()
            for pending in self._unanswered:
                pending.fail(ended)

    async def _come_back(self, lost: errors.ConnectionLost, resuming: asyncio.Task[None] | None) -> asyncio.Task[None]:
        """Have a connection again, and return what makes all on it as it was; raises `ConnectionLost` where none is."""
        if not is_passing(lost):
            raise lost
        announced_ms = await self._connections.find_return(lost)
        main = self._connections.main
        self._unanswered.is_here.clear()
        if resuming is not None:
            resuming.cancel()
            await asyncio.wait([resuming])
        self._unanswered.take_back(lambda pending: pending.sent_over is main)
        found = await self._connections.replace_main(lost, announced_ms)
        rooms = self._connections.rooms_at(main)
        self._note_calls(*(found.welcome.calls or ()))
        self._connections.settle_at(found)
        return self._work.start(self._reentry.resume(rooms))

    def _finish(self, lost: errors.ConnectionLost | None) -> None:
        """End rooms and streams, with None as we have closed the conversation ourselves."""
        for room in self._connections.rooms:
            room._end(lost or "left")
        for tournament in self._tournaments.values():
            tournament._end(lost)
        self._connections.messages.finish(lost)
