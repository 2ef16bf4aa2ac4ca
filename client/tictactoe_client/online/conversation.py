"""The client's single connection to a cluster: requests and their answers, pushes, and reconnecting.

If a room of ours moves to another server, the connection moves with it: we say hello and enter the room there before
the connection to the previous server is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from msgspec import UNSET, UnsetType, structs, to_builtins

from tictactoe_client.online import errors
from tictactoe_client.online.address import Address, Cluster, find_server, is_same_server
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.connection import GOING_DOWN, Connection, come_back, greet, is_passing
from tictactoe_client.online.events import (
    ChallengeEnded,
    Closed,
    ConnectionEvent,
    Gone,
    Replaced,
    RoomMoved,
    RoomUnanswered,
    Said,
    Told,
)
from tictactoe_client.online.inspection import read_message, refusal_of
from tictactoe_client.online.messages import Changed, Message, Messages, Subscribers, Work
from tictactoe_client.online.room import Room
from tictactoe_client.online.tournament import Tournament
from tictactoe_protocol import ErrorCode, encode, pushes
from tictactoe_protocol.challenges import Challenged, ChallengeOver, OpenChallenge
from tictactoe_protocol.events import Call, EventRows, EventState, EventWatch
from tictactoe_protocol.pushes import Ok, Welcome
from tictactoe_protocol.rated import Rated
from tictactoe_protocol.requests import Join, Leave, Lobby, Request, Watch
from tictactoe_words.catalogue import say
from tictactoe_words.scene import Unanswered, describe_unanswered

AnyRequest = Request | Mapping[str, object]
"""A request, or a JSON object with an id."""

_TOLD_IN_ROOMS: Final = (pushes.Notice, pushes.Announcement, Call, Challenged)
_FIRST_WAIT_SECONDS: Final = 0.2
_LONGEST_WAIT_SECONDS: Final = 4.0
"""The waits while servers disagree about a room's owner."""
_MOST_REFUSALS: Final = 5
_LEAST_WAIT_SECONDS: Final = 0.05
_MOST_MOVES: Final = 3
_TAKEOVER_SECONDS: Final = 60.0
"""The least time between two requests to take over the same room."""
_ENTERING: Final = frozenset({"create", "match", "join", "watch"})
_ONCE: Final = frozenset({"hello", "create", "match", "undo", "claim", "chat", "event_open", "challenge", "answer"})
_IDEMPOTENT: Final = frozenset(kind.__struct_config__.tag for kind in get_args(Request)) - _ONCE
"""Requests that may be repeated; so may an undo that names its game and position."""


class Pending:
    """A request that is waiting for its answer.

    Attributes:
        text: The encoded message.
        room: The code of the room that it is about, or "".
        enters: Whether it may lead into a new room.
        brings_back: The room of ours that it enters again.
        waited_seconds: Time spent retrying while servers disagree about the room's owner.
        silent_url: The room's server, if it does not answer.
        there: What was last reported about that server.
    """

    def __init__(self, request: AnyRequest, new_id: str = "", brings_back: Room | None = None) -> None:
        said = self.said = dict(to_builtins(request))
        said.setdefault("id", new_id)
        kind = str(said.get("type"))
        self.text = encode(said).decode()
        self.id, self.room = str(said["id"]), str(said.get("room") or "")
        self.enters = kind in _ENTERING
        self.may_be_repeated = kind in _IDEMPOTENT or (kind == "undo" and {"game", "ply"} <= said.keys())
        self.brings_back = brings_back
        self.waited_seconds = 0.0
        self.silent_url = ""
        self.there: Unanswered | None = None


@dataclass
class Away:
    """A room of ours that we are entering again; None for `came_from` reports the server in any case."""

    came_from: Connection | None
    returning: asyncio.Task[None]


class Conversation:
    """The base of `Client`.

    Attributes:
        player: Our public id.
        token: The secret that makes a later connection the same player.
        server: The server's name and version.
        cluster: The known addresses, the current one first.
        challenges: The open challenges to us and from us by id, the newest last.
        asked: The challenges made or accepted by this client, with the name of the challenged player.
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
        self._is_live = True
        self._changed = Changed()  # when waiting requests may be sent
        self._ended: errors.ConnectionLost | None = None
        self._changing = asyncio.Lock()  # held while the connection is replaced
        self._work, self._closing = Work(), Work()
        self._subscribing: asyncio.Task[None] | None = None
        self._ids = itertools.count(1)
        self._unanswered: dict[str, asyncio.Future[Message]] = {}
        self._asked_at: dict[str, float] = {}  # when we asked to take over a room
        self._looking = 0  # requests on their way to another server
        self._subscriptions: dict[str, Lobby | EventWatch] = {}
        self._messages: Subscribers[Message] = Subscribers()
        self._rooms: dict[str, Room] = {}
        self._away: dict[Room, Away] = {}
        self._most_rooms = 0  # how many we asked to enter
        self._tournaments: dict[str, Tournament] = {}
        self._calls: dict[str, tuple[Call, float]] = {}
        self._note_calls(*(welcome.calls or ()))
        self.challenges: dict[str, OpenChallenge] = {one.challenge: one for one in welcome.challenges or ()}
        self.asked: dict[str, str] = {}
        self._proposed: tuple[OpenChallenge, str] | None = None  # our latest challenge, with the player's name
        self._reading = asyncio.create_task(self._read(connection), name="tictactoe connection")
        self._keeping = asyncio.create_task(self._keep(), name="tictactoe conversation")

    @property
    def address(self) -> Address:
        """The current server, which changes after a reconnection or with a room that moves."""
        return self.cluster.first

    @property
    def latency_seconds(self) -> float:
        """The round-trip time of the latest ping, measured every few seconds; at first that of hello."""
        return self._connection.latency_seconds

    @property
    def is_here(self) -> bool:
        """Whether the server can be reached now."""
        return self._is_live and self._ended is None

    @property
    def was_cut_off(self) -> bool:
        """Whether the connection is lost for good."""
        return self._ended is not None

    def retry_now(self) -> None:
        """End the wait for the next attempt to reconnect."""
        self._hurry.set()

    def messages(self) -> Messages:
        """Return a stream of everything that the server sends from now on, its welcome first.

        Read the stream or close it: while it has two megabytes unread, nothing more is read from the server.
        """
        stream = Messages(self._connection.message)
        self._messages.add(stream)
        if self._ended is not None:
            stream.put(self._ended)
        return stream

    def room(self, code: str) -> Room:
        """Return a room that we are in, perhaps entered by `send_text`."""
        room = self._own_room(code)
        if room is None:
            self._rooms = {room.code: room for room in self._own_rooms}
            room = self._rooms[code] = Room(self, code)
        return room

    def tournament(self, code: str) -> Tournament:
        """Return an event that we follow, perhaps since a `send_text`."""
        known = self._tournaments.get(code)
        if known is None or known._has_ended:
            known = self._tournaments[code] = Tournament(self, code)
        return known

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls to event boards that we can still join; `due_ms` counts from now."""
        now, here = asyncio.get_running_loop().time(), {room.code for room in self._own_rooms}
        return tuple(
            structs.replace(call, due_ms=round((due_at - now) * 1000))
            for call, due_at in self._calls.values()
            if due_at > now and call.room not in here
        )

    @property
    def _own_rooms(self) -> list[Room]:
        """Our rooms that have not ended for us; those in `_away` are being entered again."""
        return [room for room in self._rooms.values() if room.ended is None]

    def _own_room(self, code: str) -> Room | None:
        room = self._rooms.get(code)
        return None if room is None or room.ended is not None else room

    # -- requests ---------------------------------------------------------------------------------------------------

    async def request(self, request: AnyRequest) -> Ok:
        """Send any request, or a JSON object with an id, and return the answer; raises `Refused`, `ConnectionLost`.

        A client that reconnects repeats the request after a loss, or raises `Interrupted` if it is not idempotent.
        """
        answer = await self._obtain(request)
        if isinstance(request, Lobby | EventWatch):
            about = request.event if isinstance(request, EventWatch) else ""
            self._subscriptions.pop(about, None)
            if request.on:
                self._subscriptions[about] = request
        return answer

    async def send_text(self, text: str) -> None:
        """Send a raw message, if necessary after reconnecting; the answer arrives in `messages`."""
        await self._changed.until(lambda: self._is_live)
        if self._ended is not None:
            raise self._ended
        self._most_rooms += 1
        try:
            await self._connection.say(text)
        except errors.ConnectionLost:
            if self._backoff is None:
                raise

    async def _obtain(self, request: AnyRequest, brings_back: Room | None = None, told: Message | None = None) -> Ok:
        """Return the answer of the server that has the request's room, which an earlier message may have `told`."""
        pending = Pending(request, f"client-{next(self._ids)}", brings_back)
        goes = told is not None
        while True:
            teller = self._connection
            if told is None:
                teller, told = await self._ask_here(pending)
            room = self._own_room(pending.room)
            if _sends_on(told.push) and room is not None and brings_back is None:
                self._enter_soon(room, told)  # which the request waits for
                told = None
            elif _sends_on(told.push) and (room is not None or (pending.enters and not self.plays)):
                goes = goes or room is None or all(own in self._away for own in self._own_rooms)
                told = await self._ask_elsewhere(pending, told, teller, goes=goes)
                goes = False
            if told is not None:
                break
        if isinstance(told.push, Ok):
            return told.push
        assert isinstance(told.push, pushes.Error | pushes.Moved)
        self._messages.publish(told)
        if pending.there is not None and _sends_on(told.push):
            silent = describe_unanswered(pending.room, Unanswered(pending.there.url))
            raise errors.Refused(ErrorCode.MOVED, silent, room=pending.room)
        raise refusal_of(told.push)

    async def _ask_here(self, pending: Pending) -> tuple[Connection, Message]:
        """Return the current server's answer and the connection, once the request's room has been entered again."""
        while True:
            await self._changed.until(lambda: self._is_live and not self._has_to_wait(pending))
            if self._ended is not None:
                raise self._ended
            connection = self._connection
            answer = self._unanswered[pending.id] = asyncio.get_running_loop().create_future()
            self._most_rooms += pending.enters
            try:
                with contextlib.suppress(errors.ConnectionLost):  # the reader notices it, too
                    await connection.say(pending.text)
                return connection, await answer
            except errors.Interrupted:
                if not pending.may_be_repeated:
                    raise
            finally:
                self._unanswered.pop(pending.id, None)

    def _has_to_wait(self, pending: Pending) -> bool:
        return self._ended is None and pending.brings_back is None and self._own_room(pending.room) in self._away

    def _way_into(self, code: str, *, watching: bool) -> Join | Watch:
        """Return the request that enters a room, with the highest `seq` that we know."""
        known = self._rooms.get(code)
        seq = known._newest_seq if known is not None and known.has_state else UNSET
        return Watch(room=code, seq=seq) if watching else Join(room=code, seq=seq)

    async def close(self) -> None:
        """Close the connection; iterators stop. Seats are kept: see `leave_rooms`."""
        self._keeping.cancel()
        await asyncio.wait([self._keeping])
        self._reading.cancel()
        await self._work.cancel()
        await self._connection.close()
        await self._closing.finish()
        self._finish(None)

    async def leave_rooms(self) -> bool:
        """Give our seats up, without waiting for a silent server; return True if the server knows."""
        if not self.is_here:
            return False
        return all(await asyncio.gather(*(room.say_goodbye() for room in self._own_rooms if not room.is_watching)))

    @property
    def plays(self) -> bool:
        """Whether we play a running game, so that no request leads to another server."""
        return any(room.plays for room in self._own_rooms)

    def step_aside(self) -> None:
        """Detach from our rooms without leaving them, so that the next request may lead to another server.

        Our seats are then held as after a loss.
        """
        for room in self._own_rooms:
            self._let_go(room)

    # -- messages ---------------------------------------------------------------------------------------------------

    async def _read(self, connection: Connection) -> errors.ConnectionLost:
        """Handle messages until the connection ends; wait for readers that lag far behind."""
        try:
            while True:
                self._take(await connection.hear())
                await self._messages.until_read()
                for room in self._own_rooms:
                    await room._subscribers.until_read()
                await asyncio.sleep(0)  # many messages may have arrived; let other tasks run
        except errors.ConnectionLost as lost:
            lost.retry_ms = connection.notice.retry_ms if connection.notice is not None else None
            if isinstance(lost, errors.Expelled) and connection.farewell is not None:
                return errors.Expelled(connection.farewell.code, connection.farewell.message, lost.close_code)
            return lost

    def _take(self, text: str) -> None:
        message = read_message(text)
        push = message.push
        room = self._rooms.get(getattr(push, "room", ""))
        if room in self._away:
            room = None
        match push:
            case pushes.RoomState() if room is not None:
                room._receive(push)
            case Ok():
                self._take_answer(message, push)
            case pushes.Error():
                if push.code in errors.EXPULSIONS:
                    self._connection.farewell = push
                if self._answer(push.id, message):
                    return  # another server may still answer; `_obtain` publishes the last refusal
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
            case Challenged():
                self.challenges[push.challenge] = push
            case Rated() if room is not None:
                room._note(Told(push))
        if isinstance(push, _TOLD_IN_ROOMS) or (isinstance(push, pushes.Error) and not push.id):
            for each in self._own_rooms:
                each._note(Told(push))
        self._messages.publish(message)
        if isinstance(push, ChallengeOver):
            self._end_challenge(push)

    def _note_calls(self, *calls: Call) -> None:
        now = asyncio.get_running_loop().time()
        self._calls |= {call.event: (call, now + call.due_ms / 1000) for call in calls}

    def _end_challenge(self, over: ChallengeOver) -> None:
        name = self.asked.pop(over.challenge, None)
        if (challenge := self.challenges.pop(over.challenge, None)) is not None:
            self._tell(ChallengeEnded(over, challenge, name or "", leads=name is not None and bool(over.room)))

    def _compare_challenges(self, before: Welcome, now: Welcome) -> None:
        """End the challenges that a welcome does not list; a new seat there belongs to an accepted one."""
        known = {seat.room for seat in before.rooms} | {room.code for room in self._own_rooms}
        seats = [seat.room for seat in now.rooms if seat.room not in known]
        open = {one.challenge: one for one in now.challenges or ()}
        for id in self.challenges.keys() - open.keys():
            room = seats.pop() if seats and id in self.asked else UNSET
            self._end_challenge(ChallengeOver(id, "accepted" if room else "over", room))
        self.challenges |= open

    def _take_answer(self, message: Message, answer: Ok) -> None:
        may_be_in = len(self._own_rooms) < self._most_rooms or answer.room in self._rooms
        if answer.room and answer.seat is not UNSET and may_be_in:
            self._calls = {event: each for event, each in self._calls.items() if each[0].room != answer.room}
            room = self.room(answer.room)
            away = self._away.pop(room, None)
            if away is not None and away.came_from is not self._connection:
                self._tell(RoomMoved(room.code, self.address.url))
            room._enter(answer)
            self._changed.note()
        if answer.challenge and self._proposed is not None:  # the next message may be its end
            own, self.asked[answer.challenge] = self._proposed
            self.challenges[answer.challenge] = structs.replace(own, challenge=answer.challenge)
        self._answer(answer.id, message)

    def _answer(self, request: str | UnsetType, message: Message) -> bool:
        """Deliver an answer; return False if no request waits for it."""
        answer = self._unanswered.get(request or "")
        if answer is None or answer.done():
            return False
        answer.set_result(message)
        return True

    def _tell(self, event: ConnectionEvent) -> None:
        """Publish an event to streams and rooms; an event of a room goes only to that room, once it has a state."""
        concerned = self._own_rooms
        if isinstance(event, Gone | RoomMoved | RoomUnanswered):
            concerned = [room for room in concerned if room.code == event.room and room.has_state]
        for room in concerned:
            room._note(event)
        self._messages.publish(Message("", None, event))

    # -- the life of the connection ---------------------------------------------------------------------------------

    async def _keep(self) -> None:
        """Reconnect each time the connection ends, or end all waiting requests."""
        ended = errors.ConnectionLost(say("lost closed by us"))
        try:
            while True:
                reading = self._reading
                await asyncio.wait([reading])
                if reading is self._reading:
                    self._is_live = False
                async with self._changing:
                    if reading is self._reading:  # else the connection has moved with a room
                        connection = await self._come_back(reading.result())
                        self._be_at(connection, came_from=connection)
        except errors.ConnectionLost as error:
            ended = error
            self._finish(ended)
        finally:
            self._ended = ended
            self._be_live(ended)

    async def _come_back(self, lost: errors.ConnectionLost) -> Connection:
        """Return a new connection; raises `ConnectionLost` if reconnecting is not wanted or fails."""
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
        return (self._backoff or Backoff()).patience(self._connection.welcome.hold_ms)

    async def _greet(self, address: Address) -> Connection:
        is_bot = self._connection.is_bot
        return await greet(address, self.name, self.token, self._timeout_seconds, self.ca, bot=is_bot)

    def _be_live(self, why: errors.ClientError) -> None:
        """Wake requests that wait for a connection, and fail those that wait for answers."""
        self._is_live = True
        for answer in self._unanswered.values():
            if not answer.done():
                answer.set_exception(why)
        self._changed.note()

    def _be_at(self, connection: Connection, came_from: Connection) -> None:
        """Replace the connection, enter our rooms again, and renew subscriptions."""
        self._reading.cancel()
        before, self._connection = self._connection, connection
        self.cluster = self.cluster.seen_from(connection.address, connection.servers)
        self._note_calls(*(connection.welcome.calls or ()))
        self._messages.publish(connection.message)
        self._reading = asyncio.create_task(self._read(connection), name="tictactoe connection")
        self._compare_challenges(before.welcome, connection.welcome)
        for room in self._own_rooms:
            self._enter_soon(room, came_from=came_from)
        self._be_live(errors.Interrupted())
        if self._subscribing is not None:
            self._subscribing.cancel()
        self._subscribing = self._work.start(self._subscribe_again())

    async def _subscribe_again(self) -> None:
        for request in list(self._subscriptions.values()):
            with contextlib.suppress(errors.ClientError):
                await self.request(request)

    def _finish(self, lost: errors.ConnectionLost | None) -> None:
        """End rooms and streams; None means that we have closed the connection."""
        for room in self._own_rooms:
            room._end(lost or "left")
        for tournament in self._tournaments.values():
            tournament._end(lost)
        self._messages.finish(lost)

    # -- entering rooms again, here or at another server --------------------------------------------------------------

    def _enter_soon(self, room: Room, told: Message | None = None, came_from: Connection | None = None) -> None:
        """Start to enter a room of ours again, here or where a message `told`; its requests wait.

        If another server than `came_from`, by default the current one, lets us in, the room has moved.
        """
        if room not in self._away:
            came_from = came_from or self._connection
            self._away[room] = Away(came_from, self._work.start(self._enter_again(room, told)))

    async def _enter_again(self, room: Room, told: Message | None) -> None:
        """Enter a room of ours again; it is gone if that is refused, or deferred too long and too often."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._patience[0]
        for attempt in itertools.count(1):
            try:
                await self._obtain(self._way_into(room.code, watching=room.is_watching), room, told)
                return
            except errors.Refused as refused:
                if refused.retry_ms is None or (attempt >= _MOST_REFUSALS and clock() >= deadline):
                    self._tell(Gone(room.code, refused))
                    del self._away[room]
                    self._let_go(room, Closed(refused.message))  # the server answers the waiting requests
                    return
                told = None
                await asyncio.sleep(max(_LEAST_WAIT_SECONDS, refused.retry_ms / 1000))
            except errors.ConnectionLost:
                return

    def _let_go(self, room: Room, why: Literal["left"] | Closed = "left") -> None:
        room._end(why)
        away = self._away.pop(room, None)
        if away is not None:
            away.returning.cancel()
        self._changed.note()

    async def _ask_elsewhere(
        self, pending: Pending, told: Message, teller: Connection, *, goes: bool
    ) -> Message | None:
        """Move to the server that has the room and return its answer; None, after a wait, to ask here again.

        Without `goes` we stay: a room of ours that only comes along must not lead away from the others.
        """
        self._looking += 1
        try:
            async with self._changing:
                found = await self._search(pending, told) if goes and self._connection is teller else None
            if found is None and pending.silent_url and self._connection is teller:
                found = await self._ask_for(pending, pending.silent_url)
            if found is not None or self._connection is not teller:
                return found
            wait = min(pending.waited_seconds + _FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS)
            pending.waited_seconds += wait
            if pending.waited_seconds > (self._timeout_seconds if pending.brings_back is None else self._patience[0]):
                return told
            await asyncio.sleep(wait)
            return None
        finally:
            self._looking -= 1

    async def _search(self, pending: Pending, told: Message) -> Message | None:
        """Find the server that has the room and return its answer, or None; move there if it lets us in."""
        teller, pending.silent_url = self._connection, ""
        for _ in range(_MOST_MOVES):
            address = await self._find_way(told, teller)
            if address is None:  # not a server of the cluster
                return told
            if is_same_server(address, self.address):
                return None
            try:
                teller, told = await self._visit(address, pending)
            except errors.Interrupted:
                raise
            except errors.ClientError as error:
                if isinstance(error, errors.Unreachable):
                    pending.silent_url = getattr(told.push, "url", "")
                return None
            if isinstance(told.push, Ok):
                self._follow(pending, told.push, teller)
                return told
            self._closing.start(teller.close())
            if not _sends_on(told.push):
                return told
        return None

    async def _ask_for(self, pending: Pending, url: str) -> Message | None:
        """Ask the current server to take over a room of a silent one; only for a seat of ours, once a minute."""
        now, room, own = asyncio.get_running_loop().time(), pending.room, pending.brings_back
        has_seat = not own.is_watching if own else any(seat.room == room for seat in self._connection.welcome.rooms)
        may_ask = has_seat and pending.said["type"] == "join"
        if not may_ask or now - self._asked_at.get(room, -math.inf) < _TAKEOVER_SECONDS:
            if pending.there is None or pending.there.url != url:
                self._tell_silent(pending, Unanswered(url))
            return None
        self._asked_at[room] = now
        self._tell_silent(pending, Unanswered(url, "asked"))
        if own in self._away:
            self._away[own].came_from = None
        _, told = await self._ask_here(Pending(pending.said | {"unreachable": url}, brings_back=own))
        if isinstance(told.push, Ok):
            return told
        self._tell_silent(pending, Unanswered(url, "refused", getattr(told.push, "message", "")))
        return None

    def _tell_silent(self, pending: Pending, there: Unanswered) -> None:
        pending.there = there
        self._tell(RoomUnanswered(pending.room, there))

    async def _find_way(self, told: Message, teller: Connection) -> Address | None:
        """Return the server of the cluster that a message names, or None; a new server is looked up."""
        url = getattr(told.push, "url", None) or ""
        known = (*teller.servers, *(one for one in self.cluster.addresses if teller.address.may_lead_to(one)))
        if find_server(url, known) is None:
            with contextlib.suppress(errors.ClientError):
                newer = await self._greet(teller.address)
                await newer.close()
                known = teller.servers = newer.servers
        return find_server(url, known)

    async def _visit(self, address: Address, pending: Pending) -> tuple[Connection, Message]:
        """Return a connection to another server and its answer; `Interrupted` if the request must not be repeated."""
        guest = await self._greet(address)
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return guest, await guest.ask(pending.text, pending.id)
        except BaseException as error:
            guest.transport.abort()
            if isinstance(error, errors.ClientError | TimeoutError):
                why = errors.Unreachable(address.url, "") if pending.may_be_repeated else errors.Interrupted()
                raise why from None
            raise

    def _follow(self, pending: Pending, answer: Ok, guest: Connection) -> None:
        """Move to the server that has answered; other rooms come along with one of ours, but are left for a new one."""
        before, code = self._connection, answer.room or pending.room
        left = [] if pending.brings_back is not None else [room for room in self._own_rooms if room.code != code]
        goodbyes = [encode(Leave(room=room.code)).decode() for room in left if not room.plays]
        for room in left:
            self._let_go(room)
        if (entered := self._own_room(code)) in self._away:
            self._away[entered].came_from = guest
        self._tell(RoomMoved(code, guest.address.url))
        self._most_rooms += pending.enters
        self._be_at(guest, came_from=before)
        self._closing.start(_part(before, goodbyes))


def _sends_on(push: pushes.Push | None) -> bool:
    if isinstance(push, pushes.Error):
        return push.code == ErrorCode.MOVED and bool(push.url)
    return isinstance(push, pushes.Moved)


async def _part(connection: Connection, goodbyes: Sequence[str]) -> None:
    with contextlib.suppress(errors.ConnectionLost):
        for text in goodbyes:
            await connection.say(text)
    await connection.close()
