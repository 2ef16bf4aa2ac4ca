"""The conversation with a server over the one connection that there is: what is asked, what comes, and coming back.

Every request gets its answer, or an error; what comes is told to whom it concerns. A connection that is lost is made
anew, where that is wanted. Where a room of ours has gone to another server of the cluster we go there, and are at that
one from then on: it is greeted and the room is entered there before the connection to the last one is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import UNSET, structs

from tictactoe_client.online import errors
from tictactoe_client.online.address import Address, Cluster, find_server, is_same_server
from tictactoe_client.online.arriving import come_back, is_passing
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.connection import GOING_DOWN, Connection, greet
from tictactoe_client.online.events import Closed, ConnectionEvent, Gone, Replaced, RoomMoved, Said, Told
from tictactoe_client.online.inspection import read_message, refusal_of
from tictactoe_client.online.messages import Message, Messages, Subscribers, Work
from tictactoe_client.online.pending import Pending, Unanswered
from tictactoe_client.online.room import Room
from tictactoe_client.online.tournament import Tournament
from tictactoe_protocol import ErrorCode, encode, pushes
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.events import Call, EventRows, EventState, EventWatch
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Join, Leave, Lobby, Request, Watch

_TOLD_IN_ROOMS: Final = (pushes.Notice, pushes.Announcement, Call)
"""What concerns whoever is in a room, whichever it is."""
_FIRST_WAIT_SECONDS: Final = 0.2
_LONGEST_WAIT_SECONDS: Final = 4.0
"""How long to wait before a server is asked again that has sent us on to where the room is not."""
_MOST_REFUSALS: Final = 5
_LEAST_WAIT_SECONDS: Final = 0.05
"""How long to wait at least before a server is asked again that has put us off, at least so often."""
_MOST_MOVES: Final = 3
"""So often in a row a request is taken on to the server that is said to have its room."""
_MOST_BEFORE: Final = 100
"""How many messages may come before the answer to the first request."""


class Conversation:
    """What `Client` stands on.

    `player` is our public id and `name` our name as the server has it, `token` the secret that makes us the same player
    on a later connection, `server` the server's name and version, all as the first `welcome` says; `ca` is as it was
    given to `connect`. `cluster` are the addresses that were given, or that the last welcome has named, beginning with
    the one that we are at.
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
        self.cluster = cluster.seen_from(connection.address, connection.servers)
        self._connection = connection
        self._welcomed_at = connection.began_at
        self._timeout_seconds = timeout_seconds
        self._backoff = backoff
        self._hurry = asyncio.Event()
        self._is_live = asyncio.Event()
        self._is_live.set()
        self._ended: errors.ConnectionLost | None = None
        self._changing = asyncio.Lock()  # held by who puts another connection in the place of this one
        self._work, self._closing = Work(), Work()
        self._subscribing: asyncio.Task[None] | None = None
        self._unanswered = Unanswered()
        self._subscriptions: dict[str, Lobby | EventWatch] = {}
        self._messages: Subscribers[Message] = Subscribers()
        self._rooms: dict[str, Room] = {}
        self._away: dict[Room, Connection] = {}
        self._most_rooms = 0  # as many as we asked to be in
        self._tournaments: dict[str, Tournament] = {}
        self._calls: dict[str, tuple[Call, float]] = {}
        self._note_calls(*(welcome.calls or ()))
        self._reading = asyncio.create_task(self._read(connection), name="tictactoe connection")
        self._keeping = asyncio.create_task(self._keep(), name="tictactoe conversation")

    @property
    def house(self) -> Cluster:
        """The `cluster`, by its name of versions before 1.5."""
        return self.cluster

    @property
    def address(self) -> Address:
        """Where the server is that we are connected to; after a return, or a room that moved, it may be another one."""
        return self.cluster.first

    @property
    def features(self) -> frozenset[str]:
        """What the server says that it can do beyond version 1.0; after a return it may be another server."""
        return frozenset(self._connection.welcome.features)

    @property
    def latency_seconds(self) -> float:
        """How long the server takes now: to answer the last ping, one every few seconds, before that our hello."""
        return self._connection.latency_seconds

    @property
    def is_here(self) -> bool:
        """Whether the server can be told something now."""
        return self._is_live.is_set() and self._ended is None

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
        self._messages.add(stream)
        if self._ended is not None:
            stream.put(self._ended)
        return stream

    def room(self, code: str) -> Room:
        """Return a room that we are in, also one that was entered by `send_text`."""
        room = self._own_room(code)
        if room is None:
            self._rooms = {room.code: room for room in self._own_rooms}
            room = self._rooms[code] = Room(self, code)
        return room

    def tournament(self, code: str) -> Tournament:
        """Return an event that we follow, also one that was asked for by `send_text`."""
        known = self._tournaments.get(code)
        if known is None or known._has_ended:
            known = self._tournaments[code] = Tournament(self, code)
        return known

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls to boards of events to which we have not come and still may; `due_ms` is what is left by now."""
        now, here = asyncio.get_running_loop().time(), {room.code for room in self._own_rooms}
        return tuple(
            structs.replace(call, due_ms=round((due_at - now) * 1000))
            for call, due_at in self._calls.values()
            if due_at > now and call.room not in here
        )

    @property
    def _own_rooms(self) -> list[Room]:
        """Our rooms that have not ended for us; those that are `_away` are still to let us in, again or elsewhere."""
        return [room for room in self._rooms.values() if room.ended is None]

    def _own_room(self, code: str) -> Room | None:
        room = self._rooms.get(code)
        return None if room is None or room.ended is not None else room

    # -- what is asked ----------------------------------------------------------------------------------------------

    async def request(self, request: Request | Mapping[str, object]) -> Ok:
        """Send any request, or an object of JSON with an id, and return the answer; raises `Refused`, `ConnectionLost`.

        A client that reconnects answers late instead; only what must not be sent twice raises `Interrupted`.
        """
        if self._ended is not None:
            raise self._ended
        pending = self._unanswered.expect(request)
        try:
            await self._send_all()
            answer = await pending.answer
        finally:
            self._unanswered.pop(pending.id, None)
        if isinstance(request, Lobby | EventWatch):
            about = request.event if isinstance(request, EventWatch) else ""
            self._subscriptions.pop(about, None)
            if request.on:
                self._subscriptions[about] = request
        return answer

    async def send_text(self, text: str) -> None:
        """Send a message as it stands, after a return where there is no connection; the answer comes in `messages`."""
        await self._is_live.wait()
        if self._ended is not None:
            raise self._ended
        self._most_rooms += 1
        try:
            await self._connection.say(text)
        except errors.ConnectionLost:
            if self._backoff is None:
                raise

    async def _send_all(self) -> None:
        """Send all that is to be sent, in the order in which it was asked for, unless its room is away."""
        for pending in self._unanswered.open:
            room = None if pending.brings_back is not None else self._own_room(pending.room)
            if self.is_here and pending.stands == "unsent" and room not in self._away:
                pending.stands = "sent"
                self._most_rooms += pending.enters
                with contextlib.suppress(errors.ConnectionLost):  # which is found out by who reads, too
                    await self._connection.say(pending.text)

    def _way_into(self, code: str, *, watching: bool) -> Join | Watch:
        """Return the request that leads into a room, perhaps again, with the highest `seq` that was seen of it."""
        known = self._rooms.get(code)
        seq = known._newest_seq if known is not None and known.has_state and "seq" in self.features else UNSET
        return Watch(room=code, seq=seq) if watching else Join(room=code, seq=seq)

    async def close(self) -> None:
        """End the conversation; iterators stop. Seats are not given up by this: see `leave_rooms`."""
        self._keeping.cancel()
        await asyncio.wait([self._keeping])
        self._reading.cancel()
        await self._work.cancel()
        await self._connection.close()
        await self._closing.finish()
        self._finish(None)

    async def leave_rooms(self) -> bool:
        """Give our seats up, so that nobody waits for us in vain; tell whether the server knows.

        One that does not answer is not waited for.
        """
        if not self.is_here:
            return False
        return all(await asyncio.gather(*(room.say_goodbye() for room in self._own_rooms if not room.is_watching)))

    @property
    def plays(self) -> bool:
        """Whether we play a game that is on, so that nothing that we ask for leads us to another server."""
        return any(room.plays for room in self._own_rooms)

    def step_aside(self) -> None:
        """Be in our rooms no more without leaving them, so that the next request may lead to another server.

        Once it does our seats are held as for one who dropped.
        """
        for room in self._own_rooms:
            self._let_go(room)

    # -- what comes -------------------------------------------------------------------------------------------------

    async def _read(self, connection: Connection, heard: Sequence[str] = ()) -> errors.ConnectionLost:
        """Take what was heard and what comes, while nobody who reads lags far behind; return why nothing more will."""
        try:
            for text in heard:
                self._take(text)
            while True:
                self._take(await connection.hear())
                await self._messages.until_read()
                for room in self._own_rooms:
                    await room._subscribers.until_read()
                await asyncio.sleep(0)  # many may be here already, and those who listen are not all there is to do
        except errors.ConnectionLost as lost:
            lost.retry_ms = connection.notice.retry_ms if connection.notice is not None else None
            if isinstance(lost, errors.Expelled) and connection.farewell is not None:
                return errors.Expelled(connection.farewell.code, connection.farewell.message, lost.close_code)
            return lost

    def _take(self, text: str) -> None:
        """Let whom it concerns know what came from the server; raises `ProtocolBroken` for what is no message."""
        message = read_message(text)
        push = message.push
        room = self._rooms.get(getattr(push, "room", ""))
        if room in self._away:
            room = None
        match push:
            case pushes.RoomState() if room is not None:
                room._receive(push)
            case Ok():
                self._take_answer(push)
            case pushes.Error():
                if self._take_refusal(push, message):
                    return
            case pushes.Moved() if room is not None:
                self._enter_soon(room, message)
                return
            case pushes.Closed() | pushes.Replaced() if room is not None:
                room._end(Closed(push.reason) if isinstance(push, pushes.Closed) else Replaced())
            case pushes.ChatLine() if room is not None:
                room._note(Said(push))
            case pushes.Notice():
                self._connection.notice = push
            case EventState() | EventRows() if push.event in self._tournaments:
                self._tournaments[push.event]._receive(push)
            case Call():
                self._note_calls(push)
        if isinstance(push, _TOLD_IN_ROOMS) or (isinstance(push, pushes.Error) and not push.id):
            for each in self._own_rooms:
                each._note(Told(push))
        self._messages.publish(message)

    def _note_calls(self, *calls: Call) -> None:
        """Keep the calls that count by now, one of each event."""
        now = asyncio.get_running_loop().time()
        self._calls |= {call.event: (call, now + call.due_ms / 1000) for call in calls}

    def _take_answer(self, answer: Ok) -> None:
        """Give an answer to whoever waits for it; we are in the room that it lets us into, if we asked for that."""
        may_be_in = len(self._own_rooms) < self._most_rooms or answer.room in self._rooms
        if answer.room and answer.seat is not UNSET and may_be_in:
            self._calls = {event: each for event, each in self._calls.items() if each[0].room != answer.room}
            room = self.room(answer.room)
            if self._away.pop(room, self._connection) is not self._connection:
                self._tell(RoomMoved(room.code, self.address.url))
            room._enter(answer)
            self._work.start(self._send_all())
        pending = self._unanswered.get(answer.id)
        if pending is not None and not pending.answer.done():
            pending.answer.set_result(answer)

    def _take_refusal(self, error: pushes.Error, message: Message) -> bool:
        """Give a refusal to whoever waits for an answer; tell whether the request goes on to another server instead."""
        pending = self._unanswered.get(error.id or "")
        if pending is not None and not pending.answer.done():
            room = self._own_room(pending.room)
            if _sends_on(error) and room is not None and pending.brings_back is None:
                pending.stands = "unsent"
                self._enter_soon(room, message)
                return True
            if _sends_on(error) and (room is not None or (pending.enters and not self.plays)):
                goes = room is None or all(own in self._away for own in self._own_rooms)
                self._work.start(self._ask_elsewhere(pending, message, self._connection, goes=goes))
                return True
            pending.fail(refusal_of(error))
        if error.code in errors.EXPULSIONS:
            self._connection.farewell = error
        return False

    def _tell(self, event: ConnectionEvent) -> None:
        """Let streams and rooms know what has become of the connection; of a room, only who has seen it before."""
        concerned = self._own_rooms
        if isinstance(event, Gone | RoomMoved):
            concerned = [room for room in concerned if room.code == event.room and room.has_state]
        for room in concerned:
            room._note(event)
        self._messages.publish(Message("", None, event))

    # -- the life of the connection ---------------------------------------------------------------------------------

    async def _keep(self) -> None:
        """Come back each time that the connection ends, where that is wanted, else tell all who wait."""
        ended = errors.ConnectionLost(say("lost closed by us"))
        try:
            while True:
                reading = self._reading
                await asyncio.wait([reading])
                if reading is self._reading:
                    self._is_live.clear()
                async with self._changing:
                    if reading is self._reading:  # else a room has led us to another server meanwhile
                        self._be_at(await self._come_back(reading.result()))
        except errors.ConnectionLost as error:
            ended = error
            self._finish(ended)
        finally:
            self._ended = ended
            self._is_live.set()
            for pending in self._unanswered.open:
                pending.fail(ended)

    async def _come_back(self, lost: errors.ConnectionLost) -> Connection:
        """Return a connection in place of the one that was lost; raises `ConnectionLost` where none brings us back."""
        if self._backoff is None or not is_passing(lost):
            raise lost
        before, addresses = self._connection, len(self.cluster.addresses)
        announced_ms: float | None = lost.retry_ms
        if before.notice is not None and before.notice.code == "stopping" and lost.close_code in GOING_DOWN:
            if addresses == 1:
                raise errors.ConnectionLost(say("lost stopped"), lost.close_code)
            announced_ms = math.inf
        self._hurry.clear()
        lasted = asyncio.get_running_loop().time() - before.began_at
        ways = self._backoff.ways(addresses, announced_ms, lasted_seconds=lasted)
        return await come_back(self._greet, self.cluster, ways, self._patience, lost, self._tell, self._hurry)

    @property
    def _patience(self) -> tuple[float, float]:
        """For how many seconds it is tried to be in our rooms again: at a server, and where there is none."""
        hold_ms = self._connection.welcome.hold_ms
        return (self._backoff or Backoff()).patience(None if hold_ms is UNSET else hold_ms)

    async def _greet(self, address: Address) -> Connection:
        """Say hello again as who we are by now."""
        return await greet(address, self.name, self.token, self._timeout_seconds, self.ca)

    def _be_at(self, connection: Connection, heard: Sequence[str] = ()) -> None:
        """Be at another server from now on, and enter our rooms again that were not away already.

        What was `heard` is taken first; what had no answer is sent there, and what we subscribed to.
        """
        self._reading.cancel()
        before, self._connection = self._connection, connection
        self.cluster = self.cluster.seen_from(connection.address, connection.servers)
        self._unanswered.take_back()
        self._note_calls(*(connection.welcome.calls or ()))
        self._messages.publish(connection.message)
        self._reading = asyncio.create_task(self._read(connection, heard), name="tictactoe connection")
        self._is_live.set()
        for room in self._own_rooms:
            self._enter_soon(room, came_from=before if heard else connection)
        if self._subscribing is not None:
            self._subscribing.cancel()
        self._subscribing = self._work.start(self._subscribe_again())

    async def _subscribe_again(self) -> None:
        await self._send_all()
        for request in list(self._subscriptions.values()):
            if isinstance(request, Lobby) and "boards" not in self.features:
                request = structs.replace(request, boards=0)
            with contextlib.suppress(errors.ClientError):
                await self.request(request)

    def _finish(self, lost: errors.ConnectionLost | None) -> None:
        """End rooms and streams, with None as we have closed the conversation ourselves."""
        for room in self._own_rooms:
            room._end(lost or "left")
        for tournament in self._tournaments.values():
            tournament._end(lost)
        self._messages.finish(lost)

    # -- rooms that are to be entered again, or at another server ----------------------------------------------------

    def _enter_soon(self, room: Room, told: Message | None = None, came_from: Connection | None = None) -> None:
        """Begin to enter a room of ours again: here, or where we were `told` that it is; what is asked there waits.

        Where it lets us in elsewhere than it `came_from`, by default from here, it has moved.
        """
        if room not in self._away:
            self._away[room] = came_from or self._connection
            self._work.start(self._enter_again(room, told))

    async def _enter_again(self, room: Room, told: Message | None) -> None:
        """Be in a room of ours again, which is gone where that is refused, or put off too long and five times."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._patience[0]
        for attempt in itertools.count(1):
            if room not in self._away or self._ended is not None:
                return
            way = self._unanswered.expect(self._way_into(room.code, watching=room.is_watching), room)
            try:
                if told is not None and attempt == 1:
                    await self._ask_elsewhere(way, told, self._connection)
                else:
                    await self._send_all()
                await way.answer
                return
            except errors.Refused as refused:
                if refused.retry_ms is None or (attempt >= _MOST_REFUSALS and clock() >= deadline):
                    self._lose(room, refused)
                    return
                await asyncio.sleep(max(_LEAST_WAIT_SECONDS, refused.retry_ms / 1000))
            except (errors.ConnectionLost, errors.Interrupted):  # as all has ended, or this room has
                return
            finally:
                self._unanswered.pop(way.id, None)

    def _let_go(self, room: Room) -> None:
        """Be in a room no more, whatever the server thinks."""
        room._end("left")
        self._away.pop(room, None)
        for way in self._unanswered.open:
            if way.brings_back is room:
                way.fail(errors.Interrupted())

    def _lose(self, room: Room, refused: errors.Refused) -> None:
        """Be in a room no more that could not be entered again; what was asked there is for the server to answer."""
        self._tell(Gone(room.code, refused))
        room._end(Closed(refused.message))
        self._away.pop(room, None)
        self._work.start(self._send_all())

    async def _ask_elsewhere(self, pending: Pending, told: Message, teller: Connection, *, goes: bool = True) -> None:
        """Have a request answered by the server that has its room, and be there; or ask it here again after a wait.

        One of our rooms that only comes along `goes` nowhere else, as we are where the others are.
        """
        pending.stands = "elsewhere"
        async with self._changing:
            if pending.answer.done():
                return
            if goes and self._connection is teller and await self._search(pending, told):
                return
        if self._connection is teller:
            wait = min(pending.waited_seconds + _FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS)
            pending.waited_seconds += wait
            if pending.waited_seconds > (self._timeout_seconds if pending.brings_back is None else self._patience[0]):
                self._refuse(pending, told)
                return
            await asyncio.sleep(wait)
        pending.stands = "unsent"
        await self._send_all()

    async def _search(self, pending: Pending, told: Message) -> bool:
        """Look for the server that has the room, and be there if it lets us in; tell whether there is an answer."""
        teller = self._connection
        for _ in range(_MOST_MOVES):
            address = await self._find_way(told, teller)
            if address is None:  # we were sent to no server of the cluster, which is not gone to
                self._refuse(pending, told)
                return True
            if is_same_server(address, self.address):
                break
            try:
                guest, heard, told = await self._visit(address, pending)
            except errors.ClientError as error:
                if isinstance(error, errors.Interrupted):
                    pending.fail(error)
                break
            if isinstance(told.push, Ok):
                self._follow(pending, told.push, guest, heard)
                return True
            self._closing.start(guest.close())
            if not _sends_on(told.push):
                self._refuse(pending, told)
                return True
            teller = guest
        return pending.answer.done()

    async def _find_way(self, told: Message, teller: Connection) -> Address | None:
        """Return the server of the cluster to which one is sent, None for a stranger; one may have come just now."""
        url = getattr(told.push, "url", None) or ""
        known = (*teller.servers, *(one for one in self.cluster.addresses if teller.address.may_lead_to(one)))
        if find_server(url, known) is None:
            with contextlib.suppress(errors.ClientError):
                newer = await self._greet(teller.address)
                await newer.close()
                known = teller.servers = newer.servers
        return find_server(url, known)

    async def _visit(self, address: Address, pending: Pending) -> tuple[Connection, list[str], Message]:
        """Return a connection to another server, with all that it said up to its answer to a request, and that answer.

        Raises `Interrupted` where that may have been done that must not be done twice, else `ClientError`.
        """
        guest = await self._greet(address)
        heard: list[str] = []
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await guest.say(pending.text)
                while len(heard) < _MOST_BEFORE:
                    heard.append(await guest.hear())
                    message = read_message(heard[-1])
                    if isinstance(message.push, Ok | pushes.Error) and message.push.id == pending.id:
                        return guest, heard, message
            raise TimeoutError
        except BaseException as error:
            guest.transport.abort()
            if isinstance(error, errors.ClientError | TimeoutError):
                why = errors.Unreachable(address.url, "") if pending.may_be_repeated else errors.Interrupted()
                raise why from None
            raise

    def _follow(self, pending: Pending, answer: Ok, guest: Connection, heard: Sequence[str]) -> None:
        """Be at the server that has answered; other rooms come along with one of ours, and are left for a new one."""
        before, code = self._connection, answer.room or pending.room
        left = [] if pending.brings_back is not None else [room for room in self._own_rooms if room.code != code]
        goodbyes = [encode(Leave(room=room.code)).decode() for room in left if not room.plays]
        for room in left:
            self._let_go(room)
        if (entered := self._own_room(code)) is not None:
            self._away[entered] = guest
        self._tell(RoomMoved(code, guest.address.url))
        self._most_rooms += pending.enters
        self._be_at(guest, heard)
        pending.stands = "sent"
        self._closing.start(_part(before, goodbyes))

    def _refuse(self, pending: Pending, told: Message) -> None:
        """Let an answer be a refusal for whoever asked, and for all who hear everything."""
        assert isinstance(told.push, pushes.Error | pushes.Moved)
        self._messages.publish(told)
        pending.fail(refusal_of(told.push))


def _sends_on(push: pushes.Push | None) -> bool:
    """Tell whether an answer says that another server has the room."""
    return isinstance(push, pushes.Error) and push.code == ErrorCode.MOVED and bool(push.url)


async def _part(connection: Connection, goodbyes: Sequence[str]) -> None:
    """Say goodbye to rooms that nobody waits for us in, and close a connection."""
    with contextlib.suppress(errors.ConnectionLost):
        for text in goodbyes:
            await connection.say(text)
    await connection.close()
