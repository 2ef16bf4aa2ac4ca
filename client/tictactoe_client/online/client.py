"""The client's single connection to a cluster: requests and their answers, pushes, and reconnecting.

If a room of ours moves to another server, the client follows: it says hello and enters the room there before it
closes the connection to the previous server.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import math
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from msgspec import UNSET, UnsetType, structs, to_builtins

from tictactoe_client.online import errors, events
from tictactoe_client.online.address import DEFAULT_SERVER, Address, Cluster, find_server, is_same_server, parse_cluster
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.challenges import Challenges
from tictactoe_client.online.connection import GOING_DOWN, Connection, arrive, greet, is_passing
from tictactoe_client.online.inspection import read_message, refusal_of
from tictactoe_client.online.messages import Changed, Message, Messages, Subscribers, Work
from tictactoe_client.online.part import Awaited
from tictactoe_client.online.room import Room
from tictactoe_client.online.rooms import Games, Rooms
from tictactoe_client.online.tournament import Tournaments
from tictactoe_protocol import ErrorCode, encode, parse_name, pushes
from tictactoe_protocol.challenges import Challenged, ChallengeOver
from tictactoe_protocol.days import Turns
from tictactoe_protocol.events import Call, EventRows, EventState, EventWatch
from tictactoe_protocol.names import ClaimName
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.rated import Rated
from tictactoe_protocol.requests import Join, Leave, Lobby, Ping, Request, Watch
from tictactoe_words.catalogue import say
from tictactoe_words.scene import Unanswered, describe_unanswered

AnyRequest = Request | Mapping[str, object]
"""A request, or a request as a JSON object with its own id."""

_PUBLISHED_IN_ROOMS: Final = (pushes.Notice, pushes.Announcement, Call, Challenged, Turns)
_FIRST_WAIT_SECONDS: Final = 0.2
_LONGEST_WAIT_SECONDS: Final = 4.0
"""The shortest and the longest wait between attempts while servers disagree about a room's owner."""
_MOST_REFUSALS: Final = 5
_LEAST_WAIT_SECONDS: Final = 0.05
_MOST_MOVES: Final = 3
_TAKEOVER_SECONDS: Final = 60.0
"""The shortest time between two requests that the server take over the same room."""
_ENTERING: Final = frozenset({"create", "match", "join", "watch"})
_ONCE: Final = frozenset({"hello", "create", "match", "undo", "claim", "chat", "event_open", "challenge", "answer"})
_IDEMPOTENT: Final = frozenset(kind.__struct_config__.tag for kind in get_args(Request)) - _ONCE
"""Requests that may be sent again after a lost answer; so may an undo that names its game and position."""
_NOT_OFFERED: Final = {
    **dict.fromkeys(("ratings", "profile"), "refused not_allowed ladders off"),
    **dict.fromkeys(("challenge", "answer", "block"), "why no challenges"),
    **dict.fromkeys(("notify", "plan"), "no days"),
}
"""The ids of the sentences for requests that the server does not know because it lacks their feature."""


class Pending:
    """A request that is waiting for its answer.

    Attributes:
        text: The encoded message.
        room: Code of the room the request is about, or "".
        enters: Whether the request may take us into a new room.
        brings_back: Our room that the request enters again, or None for any other request.
        waited_seconds: Time spent retrying while servers disagree about the room's owner.
        unanswered_url: URL of the room's server if that server does not answer, or "".
        there: What was last published about that server, or None.
    """

    def __init__(self, request: AnyRequest, new_id: str = "", brings_back: Room | None = None) -> None:
        said = self.said = dict(to_builtins(request))
        said.setdefault("id", new_id)
        kind = str(said.get("type"))
        self.text = encode(said).decode()
        self.id, self.room = str(said["id"]), str(said.get("room") or "")
        self.kind = kind
        self.enters = kind in _ENTERING
        self.may_be_repeated = kind in _IDEMPOTENT or (kind == "undo" and {"game", "ply"} <= said.keys())
        self.brings_back = brings_back
        self.waited_seconds = 0.0
        self.unanswered_url = ""
        self.there: Unanswered | None = None


@dataclass
class Away:
    """A room of ours that we are entering again.

    Attributes:
        came_from: `RoomMoved` is published if another connection enters the room; None publishes it in any case.
        returning: The task that enters the room.
    """

    came_from: Connection | None
    returning: asyncio.Task[None]


class Client:
    """A connection to a server or cluster, returned by `connect` after hello.

    Attributes:
        player: Our public id.
        token: The secret that identifies us as the same player in later connections.
        server: The server's name and version.
        cluster: The known addresses, the current one first.
        turns: The games over days that await our move, the longest wait first. The event `Told` reports changes.
        challenges: Challenges between players.
        games: Our finished games.
        rooms: Entering and listing rooms, and the rooms that we are in.
        tournaments: The server's tournaments.
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
        self._searches = 0  # requests on their way to another server
        self._subscriptions: dict[str, Lobby | EventWatch] = {}
        self._messages: Subscribers[Message] = Subscribers()
        self._away: dict[Room, Away] = {}
        self._most_rooms = 0  # the number of requests sent that may take us into a new room
        self.rooms = Rooms(self)
        self.challenges, self.tournaments = Challenges(self, self.rooms), Tournaments(self, self.rooms)
        self.games = Games(self)
        self.turns = welcome.turns or ()
        self._reading = asyncio.create_task(self._read(connection), name="tictactoe connection")
        self._keeping = asyncio.create_task(self._keep_connected(), name="tictactoe conversation")

    @property
    def address(self) -> Address:
        """The current server; reconnecting, or following a room that moves, may change it."""
        return self.cluster.first

    @property
    def latency_seconds(self) -> float:
        """The round-trip time of the latest ping, sent every few seconds; before the first ping, that of hello."""
        return self._connection.latency_seconds

    @property
    def is_here(self) -> bool:
        """Whether there is a connection now."""
        return self._is_live and self._ended is None

    @property
    def was_cut_off(self) -> bool:
        """Whether the connection is lost for good."""
        return self._ended is not None

    def retry_now(self) -> None:
        """Make the next attempt to reconnect now."""
        self._hurry.set()

    def messages(self) -> Messages:
        """Return a stream of every message from now on, beginning with the server's welcome.

        Read the stream or close it: while two megabytes of it are unread, nothing more is read from the server.
        """
        stream = Messages(self._connection.message)
        self._messages.add(stream)
        if self._ended is not None:
            stream.put(self._ended)
        return stream

    # -- requests ---------------------------------------------------------------------------------------------------

    async def request(self, request: AnyRequest) -> Ok:
        """Send any request and return the answer; raises `Refused` or `ConnectionLost`.

        After a reconnection, an idempotent request is sent again; any other request raises `Interrupted`.
        """
        answer = await self._obtain(request)
        if isinstance(request, Lobby | EventWatch):
            about = request.event if isinstance(request, EventWatch) else ""
            self._subscriptions.pop(about, None)
            if request.on:
                self._subscriptions[about] = request
        elif isinstance(request, ClaimName):
            self.name, self.welcome = parse_name(request.name), structs.replace(self.welcome, claimed=True)
        return answer

    async def ask(self, request: Request) -> Ok:
        """Send a request like `request`, but also raise `Unreachable` if there is no answer within the timeout."""
        return await self._wait_for(self.request(request), request)

    async def _obtain(self, request: AnyRequest, brings_back: Room | None = None, told: Message | None = None) -> Ok:
        """Send a request to the server that has its room, and return the answer.

        Args:
            brings_back: Our room that the request enters again, if any.
            told: A message that already names another server of the room.
        """
        pending = Pending(request, f"client-{next(self._ids)}", brings_back)
        may_move = told is not None
        while True:
            source = self._connection
            if told is None:
                source, told = await self._ask_here(pending)
            room = self.rooms._find(pending.room)
            if _is_redirect(told.push) and room is not None and brings_back is None:
                self._enter_soon(room, told)  # `_ask_here` waits until the room is entered
                told = None
            elif _is_redirect(told.push) and (room is not None or (pending.enters and not self.rooms.plays)):
                may_move = may_move or room is None or all(own in self._away for own in self.rooms._own)
                told = await self._ask_elsewhere(pending, told, source, may_move=may_move)
                may_move = False
            if told is not None:
                break
        if isinstance(told.push, Ok):
            return told.push
        assert isinstance(told.push, pushes.Error | pushes.Moved)
        self._messages.publish(told)
        if pending.there is not None and _is_redirect(told.push):
            silent = describe_unanswered(pending.room, Unanswered(pending.there.url))
            raise errors.Refused(ErrorCode.MOVED, silent, room=pending.room)
        refused = refusal_of(told.push)
        if refused.code == ErrorCode.UNKNOWN_TYPE and pending.kind in _NOT_OFFERED:
            raise errors.Refused("unsupported", say(_NOT_OFFERED[pending.kind]))
        raise refused

    async def _ask_here(self, pending: Pending) -> tuple[Connection, Message]:
        """Wait until the request's room has been entered again, then ask the server; return connection and answer."""
        while True:
            while not self._is_live or self._has_to_wait(pending):
                await self._changed.wait()
            if self._ended is not None:
                raise self._ended
            connection = self._connection
            answer = self._unanswered[pending.id] = asyncio.get_running_loop().create_future()
            self._most_rooms += pending.enters
            try:
                with contextlib.suppress(errors.ConnectionLost):  # `_read` handles the loss
                    await connection.say(pending.text)
                return connection, await answer
            except errors.Interrupted:
                if not pending.may_be_repeated:
                    raise
            finally:
                self._unanswered.pop(pending.id, None)

    async def _wait_for(self, coming: Awaitable[Awaited], request: Request) -> Awaited:
        """Return the result of a request; raises `Unreachable` after the timeout, except while we reconnect or move."""
        waiting = asyncio.ensure_future(coming)
        try:
            while not waiting.done():
                before = self._connection
                await asyncio.wait({waiting}, timeout=self._timeout_seconds)
                if not waiting.done() and self.is_here and self._connection is before and not self._searches:
                    tag, seconds = request.__struct_config__.tag, f"{self._timeout_seconds:g}"
                    why = say("failure no answer within", request=tag, seconds=seconds)
                    raise errors.Unreachable(self.address.url, why)
            return waiting.result()
        finally:
            waiting.cancel()

    def _has_to_wait(self, pending: Pending) -> bool:
        return self._ended is None and pending.brings_back is None and self.rooms._find(pending.room) in self._away

    async def ping(self) -> int:
        """Return the server's time in milliseconds since the epoch."""
        return (await self.ask(Ping())).time or 0

    async def close(self) -> None:
        """Close the connection and end all streams. Seats are kept; `rooms.leave` gives them up."""
        self._keeping.cancel()
        await asyncio.wait([self._keeping])
        self._reading.cancel()
        await self._work.cancel()
        await self._connection.close()
        await self._closing.finish()
        self._finish(None)

    # -- messages ---------------------------------------------------------------------------------------------------

    async def _read(self, connection: Connection) -> errors.ConnectionLost:
        """Handle messages until the connection ends, and return the error; pause while a subscriber lags far behind."""
        try:
            while True:
                self._take(await connection.hear())
                await self._messages.until_read()
                for room in self.rooms._own:
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
        room = self.rooms._known.get(getattr(push, "room", ""))
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
                room._end(
                    events.Closed(push.reason) if isinstance(push, pushes.Closed) else events.Replaced(push.by_card)
                )
            case pushes.ChatLine() if room is not None:
                room._hear(push)
            case pushes.Notice():
                self._connection.notice = push
            case EventState() | EventRows():
                self.tournaments._take(push)
            case Call():
                self.tournaments._take_calls(push)
            case Challenged():
                self.challenges.open[push.challenge] = push
            case Turns():
                self.turns = push.turns
            case Rated() if room is not None:
                room._tell(events.Told(push))
        if isinstance(push, _PUBLISHED_IN_ROOMS) or (isinstance(push, pushes.Error) and not push.id):
            for each in self.rooms._own:
                each._tell(events.Told(push))
        self._messages.publish(message)
        if isinstance(push, ChallengeOver):
            self.challenges._end(push)

    def _take_answer(self, message: Message, answer: Ok) -> None:
        may_be_in = len(self.rooms._own) < self._most_rooms or answer.room in self.rooms._known
        if answer.room and answer.seat is not UNSET and may_be_in:
            self.tournaments._drop_calls(answer.room)
            room = self.rooms.get(answer.room)
            away = self._away.pop(room, None)
            if away is not None and away.came_from is not self._connection:
                self._publish(events.RoomMoved(room.code, self.address.url))
            room._enter(answer)
            self._changed.note()
        if answer.challenge:
            self.challenges._take_id(answer.challenge)
        self._answer(answer.id, message)

    def _answer(self, request: str | UnsetType, message: Message) -> bool:
        """Pass an answer to the request that waits for it; return False if there is none."""
        answer = self._unanswered.get(request or "")
        if answer is None or answer.done():
            return False
        answer.set_result(message)
        return True

    def _publish(self, event: events.ConnectionEvent) -> None:
        """Publish an event to the streams and to our rooms, or only to the room that it concerns."""
        concerned = self.rooms._own
        if isinstance(event, events.Gone | events.RoomMoved | events.RoomUnanswered):
            concerned = [room for room in concerned if room.code == event.room and room.has_state]
        for room in concerned:
            room._tell(event)
        self._messages.publish(Message("", None, event))

    # -- the life of the connection ---------------------------------------------------------------------------------

    async def _keep_connected(self) -> None:
        """Reconnect after each loss; if that fails, fail all waiting requests."""
        ended = errors.ConnectionLost(say("lost closed by us"))
        try:
            while True:
                reading = self._reading
                await asyncio.wait([reading])
                if reading is self._reading:
                    self._is_live = False
                async with self._changing:
                    if reading is self._reading:  # else the client has followed a room to another server
                        connection = await self._come_back(reading.result())
                        self._switch_to(connection, came_from=connection)
        except errors.ConnectionLost as error:
            ended = error
            self._finish(ended)
        finally:
            self._ended = ended
            self._resume(ended)

    async def _come_back(self, lost: errors.ConnectionLost) -> Connection:
        """Reconnect and return the connection; raises `ConnectionLost` if that is not wanted or fails for too long.

        Each address is tried at least once. The server's hold of our seat is paused while no server runs, so only the
        time before an answer counts against the hold.
        """
        ways, addresses, clock = self._ways_back(lost), self.cluster.addresses, asyncio.get_running_loop().time
        self._hurry.clear()
        started = tried = clock()
        hold_seconds, absent_seconds = self._patience
        is_answered = False
        self._publish(events.Lost(lost.reason, lost.close_code, hold_seconds, absent_seconds))
        for attempt, (step, wait) in enumerate(ways, 1):
            is_let_go = hold_seconds <= 0 and is_answered
            left = 0.0 if is_let_go else max(0.0, started + absent_seconds - clock())
            if left == 0 and attempt > len(addresses):
                break
            self._publish(events.Retrying(attempt, min(wait, left), left, addresses[step].url))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(wait, left)):
                    await self._hurry.wait()
            self._hurry.clear()
            try:
                connection = await self._greet(addresses[step])
            except errors.ClientError as error:
                if isinstance(error, errors.Refused) and error.code in errors.EXPULSIONS:
                    raise errors.Expelled(error.code, error.message) from error
                if not is_passing(error):
                    raise _give_up(lost, error.message) from error
                is_answered = not isinstance(error, errors.Unreachable)
                hold_seconds -= clock() - tried if is_answered else 0
                tried = clock()
                continue
            self._publish(events.Back(attempt, clock() - started, connection.latency_seconds))
            return connection
        raise _give_up(lost, say("lost too long"))

    def _ways_back(self, lost: errors.ConnectionLost) -> Iterator[tuple[int, float]]:
        if self._backoff is None or not is_passing(lost):
            raise lost
        before, addresses = self._connection, len(self.cluster.addresses)
        announced_ms: float | None = lost.retry_ms
        if before.notice is not None and before.notice.code == "stopping" and lost.close_code in GOING_DOWN:
            if addresses == 1:
                raise errors.ConnectionLost(say("lost stopped"), lost.close_code)
            announced_ms = math.inf
        lasted = asyncio.get_running_loop().time() - before.began_at
        return self._backoff.ways(addresses, announced_ms, lasted_seconds=lasted)

    @property
    def _patience(self) -> tuple[float, float]:
        return (self._backoff or Backoff()).patience(self._connection.welcome.hold_ms)

    async def _greet(self, address: Address) -> Connection:
        is_bot = self._connection.is_bot
        return await greet(address, self.name, self.token, self._timeout_seconds, self.ca, bot=is_bot)

    def _resume(self, why: errors.ClientError) -> None:
        """Wake the requests that wait for a connection, and raise `why` in the requests that wait for an answer."""
        self._is_live = True
        for answer in self._unanswered.values():
            if not answer.done():
                answer.set_exception(why)
        self._changed.note()

    def _switch_to(self, connection: Connection, came_from: Connection) -> None:
        """Replace the connection, enter our rooms again, and renew subscriptions."""
        self._reading.cancel()
        before, self._connection = self._connection, connection
        self.cluster = self.cluster.seen_from(connection.address, connection.servers)
        self.tournaments._take_calls(*(connection.welcome.calls or ()))
        self.turns = connection.welcome.turns or ()
        self._messages.publish(connection.message)
        self._reading = asyncio.create_task(self._read(connection), name="tictactoe connection")
        self.challenges._compare(before.welcome, connection.welcome, self.rooms._own_codes)
        for room in self.rooms._own:
            self._enter_soon(room, came_from=came_from)
        self._resume(errors.Interrupted())
        if self._subscribing is not None:
            self._subscribing.cancel()
        self._subscribing = self._work.start(self._subscribe_again())

    async def _subscribe_again(self) -> None:
        for request in list(self._subscriptions.values()):
            with contextlib.suppress(errors.ClientError):
                await self.request(request)

    def _finish(self, lost: errors.ConnectionLost | None) -> None:
        """End all rooms and streams with the error, or without one if we closed the connection."""
        for room in self.rooms._own:
            room._end(lost or "left")
        self.tournaments._end(lost)
        self._messages.finish(lost)

    # -- entering rooms again, here or at another server --------------------------------------------------------------

    def _enter_soon(self, room: Room, told: Message | None = None, came_from: Connection | None = None) -> None:
        """Start to enter a room of ours again; requests about the room wait until we are in it.

        Args:
            told: A message that names the room's new server; by default the current server is asked.
            came_from: The connection to the room's previous server, by default the current one. If the room is entered
                by another connection, it has moved.
        """
        if room not in self._away:
            came_from = came_from or self._connection
            self._away[room] = Away(came_from, self._work.start(self._enter_again(room, told)))

    async def _enter_again(self, room: Room, told: Message | None) -> None:
        """Enter a room of ours again; publish `Gone` if we are refused, or are put off too often and too long."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._patience[0]
        for attempt in itertools.count(1):
            try:
                kind = Watch if room.is_watching else Join
                await self._obtain(kind(room=room.code, seq=self.rooms._newest_seq(room.code)), room, told)
                return
            except errors.Refused as refused:
                if refused.retry_ms is None or (attempt >= _MOST_REFUSALS and clock() >= deadline):
                    self._publish(events.Gone(room.code, refused))
                    del self._away[room]
                    self._detach(room, events.Closed(refused.message))  # waiting requests are now sent, and refused
                    return
                told = None
                await asyncio.sleep(max(_LEAST_WAIT_SECONDS, refused.retry_ms / 1000))
            except errors.ConnectionLost:
                return

    def _detach(self, room: Room, why: Literal["left"] | events.Closed = "left") -> None:
        room._end(why)
        away = self._away.pop(room, None)
        if away is not None:
            away.returning.cancel()
        self._changed.note()

    async def _ask_elsewhere(
        self, pending: Pending, told: Message, source: Connection, *, may_move: bool
    ) -> Message | None:
        """Move to the server that has the room and return its answer; or wait, and return None to ask again.

        Without `may_move` we stay: of several rooms that are entered again, only the first may change the server.
        """
        self._searches += 1
        try:
            async with self._changing:
                found = await self._search(pending, told) if may_move and self._connection is source else None
            if found is None and pending.unanswered_url and self._connection is source:
                found = await self._ask_for(pending, pending.unanswered_url)
            if found is not None or self._connection is not source:
                return found
            wait = min(pending.waited_seconds + _FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS)
            pending.waited_seconds += wait
            if pending.waited_seconds > (self._timeout_seconds if pending.brings_back is None else self._patience[0]):
                return told
            await asyncio.sleep(wait)
            return None
        finally:
            self._searches -= 1

    async def _search(self, pending: Pending, told: Message) -> Message | None:
        """Follow redirects to the server that has the room, and return its answer; move there if it lets us in.

        Returns None if the room's owner is still unclear, so that the current server has to be asked again.
        """
        source, pending.unanswered_url = self._connection, ""
        for _ in range(_MOST_MOVES):
            address = await self._find_named(told, source)
            if address is None:  # the named server is not in the cluster
                return told
            if is_same_server(address, self.address):
                return None
            try:
                source, told = await self._visit(address, pending)
            except errors.Interrupted:
                raise
            except errors.ClientError as error:
                if isinstance(error, errors.Unreachable):
                    pending.unanswered_url = getattr(told.push, "url", "")
                return None
            if isinstance(told.push, Ok):
                self._follow(pending, told.push, source)
                return told
            self._closing.start(source.close())
            if not _is_redirect(told.push):
                return told
        return None

    async def _ask_for(self, pending: Pending, url: str) -> Message | None:
        """Ask the current server to take over a room where we have a seat, since the room's server does not answer.

        Returns the server's answer if it accepts, otherwise None. The server is asked at most once a minute.
        """
        now, room, own = asyncio.get_running_loop().time(), pending.room, pending.brings_back
        has_seat = not own.is_watching if own else any(seat.room == room for seat in self._connection.welcome.rooms)
        may_ask = has_seat and pending.said["type"] == "join"
        if not may_ask or now - self._asked_at.get(room, -math.inf) < _TAKEOVER_SECONDS:
            if pending.there is None or pending.there.url != url:
                self._publish_unanswered(pending, Unanswered(url))
            return None
        self._asked_at[room] = now
        self._publish_unanswered(pending, Unanswered(url, "asked"))
        if own in self._away:
            self._away[own].came_from = None
        _, told = await self._ask_here(Pending(pending.said | {"unreachable": url}, brings_back=own))
        if isinstance(told.push, Ok):
            return told
        self._publish_unanswered(pending, Unanswered(url, "refused", getattr(told.push, "message", "")))
        return None

    def _publish_unanswered(self, pending: Pending, there: Unanswered) -> None:
        pending.there = there
        self._publish(events.RoomUnanswered(pending.room, there))

    async def _find_named(self, told: Message, source: Connection) -> Address | None:
        """Return the server that a message names, or None if it is not in the cluster, even after a new hello."""
        url = getattr(told.push, "url", None) or ""
        known = (*source.servers, *(one for one in self.cluster.addresses if source.address.may_lead_to(one)))
        if find_server(url, known) is None:
            with contextlib.suppress(errors.ClientError):
                newer = await self._greet(source.address)
                await newer.close()
                known = source.servers = newer.servers
        return find_server(url, known)

    async def _visit(self, address: Address, pending: Pending) -> tuple[Connection, Message]:
        """Send a request to another server; return the connection and the answer.

        Raises `Interrupted` if there is no answer to a request that must not be repeated, otherwise `Unreachable`.
        """
        candidate = await self._greet(address)
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return candidate, await candidate.ask(pending.text, pending.id)
        except BaseException as error:
            candidate.transport.abort()
            if isinstance(error, errors.ClientError | TimeoutError):
                why = errors.Unreachable(address.url, "") if pending.may_be_repeated else errors.Interrupted()
                raise why from None
            raise

    def _follow(self, pending: Pending, answer: Ok, candidate: Connection) -> None:
        """Replace the connection by the `candidate`, whose server has answered.

        If the request enters one of our rooms again, our other rooms move along; for a new room, we leave them.
        """
        before, code = self._connection, answer.room or pending.room
        left = [] if pending.brings_back is not None else [room for room in self.rooms._own if room.code != code]
        goodbyes = [encode(Leave(room=room.code)).decode() for room in left if not room.plays]
        for room in left:
            self._detach(room)
        if (entered := self.rooms._find(code)) in self._away:
            self._away[entered].came_from = candidate
        self._publish(events.RoomMoved(code, candidate.address.url))
        self._most_rooms += pending.enters
        self._switch_to(candidate, came_from=before)
        self._closing.start(_leave_server(before, goodbyes))


def _give_up(lost: errors.ConnectionLost, reason: str) -> errors.ConnectionLost:
    return errors.ConnectionLost(reason.rstrip("."), lost.close_code, lost.retry_ms, gave_up=True)


def _is_redirect(push: pushes.Push | None) -> bool:
    if isinstance(push, pushes.Error):
        return push.code == ErrorCode.MOVED and bool(push.url)
    return isinstance(push, pushes.Moved)


async def _leave_server(connection: Connection, goodbyes: Sequence[str]) -> None:
    with contextlib.suppress(errors.ConnectionLost):
        for text in goodbyes:
            await connection.say(text)
    await connection.close()


@contextlib.asynccontextmanager
async def connect(
    url: str | Address | Cluster | Sequence[str | Address] = DEFAULT_SERVER,
    *,
    name: str | None = None,
    token: str | None = None,
    link: str | None = None,
    rescue: str | None = None,
    timeout_seconds: float = 5.0,
    reconnect: bool | Backoff = False,
    ca: str | Path | None = None,
    keep_seats: bool = False,
    bot: bool = False,
) -> AsyncIterator[Client]:
    """Connect to a server and say hello; leaving the ``async with`` gives our seats up and closes the connection.

    Seats in games over days are kept.

    Args:
        url: A server (``ws://host:port``, ``wss://host``, ``host``, or a link to one of its rooms), or the
            servers of a cluster, tried in this order.
        name: The player's name; by default the server chooses one.
        token: The `Client.token` of an earlier connection, to be the same player again.
        link: A code from another of our devices, to be the same player on both.
        rescue: The code that was issued when `name` was claimed, to get the name back.
        reconnect: Whether to reconnect after a loss, for as long as the server holds our seats; or how.
        ca: A PEM file with further certificates to trust.
        keep_seats: Whether to keep our seats at the end.
        bot: Whether to be shown as a program.

    Raises `BadAddress`, `Unreachable`, `VersionRefused` or `Refused`.
    """
    cluster = parse_cluster([url] if isinstance(url, str) else url)
    backoff = Backoff() if reconnect is True else reconnect or None
    codes = {key: code for key, code in (("link", link), ("rescue", rescue)) if code}
    who: dict[str, Any] = {"name": name, "token": token, "bot": bot, **codes}
    connection = await arrive(cluster, functools.partial(greet, timeout_seconds=timeout_seconds, ca=ca, **who))
    client = Client(cluster, connection, backoff, timeout_seconds, ca)
    try:
        yield client
    finally:
        try:
            if not keep_seats:
                await client.rooms.leave()
        finally:
            await client.close()
