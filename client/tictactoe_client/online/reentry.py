"""The requests without an answer yet, and the ways into rooms that we are in, again.

That is after a loss, where some may be sent once more, and where another server of the cluster has the room now. A
request about such a room is sent on to the server that has it; into rooms of ours we go first."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Final, get_args

from msgspec import UNSET, to_builtins
from msgspec.structs import replace

from tictactoe_client.online import errors
from tictactoe_client.online.cluster import find_server
from tictactoe_client.online.connection import Connection
from tictactoe_client.online.connections import Connections, is_passing
from tictactoe_client.online.events import Closed, Gone, RoomMoved
from tictactoe_client.online.inspection import refusal_of
from tictactoe_client.online.messages import Message
from tictactoe_client.online.room import Room
from tictactoe_client.online.work import Work
from tictactoe_protocol import encode, pushes
from tictactoe_protocol.events import EventWatch
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Lobby, Request

_MOST_MOVES: Final = 3
"""So often in a row a request is sent on to the server that is said to have its room."""
_FIRST_WAIT_SECONDS: Final = 0.2
_LONGEST_WAIT_SECONDS: Final = 4.0
"""How long to wait then, before the first server is asked again."""
_MOST_REFUSALS: Final = 5
_LEAST_WAIT_SECONDS: Final = 0.05
"""How long to wait at least before a server is asked again that has put us off, at least so often."""
_ENTERING: Final = frozenset({"create", "match", "join", "watch"})
_ONCE: Final = frozenset({"hello", "create", "match", "undo", "claim", "chat", "event_open"})
_REPEATABLE: Final = frozenset(kind.__struct_config__.tag for kind in get_args(Request)) - _ONCE
"""What may be sent a second time; so may an undo that names its game and position."""


class Pending:
    """A request without an answer yet, and the connection over which it was sent last, None while it is to be sent.

    `text` is what is sent, and `room` the code of the room that it is about, if any; one that `enters` may lead into a
    room that we are not in. What `may_be_repeated` changes nothing, or is refused, when it is sent a second time.
    `brings_back` is the room of ours into which it leads us again. While it `is_followed` somebody is on the way to the
    server that has the room: `moves` is how often in a row it was sent on so, `waited_seconds` how long was waited
    before it was sent to the first server again.
    """

    def __init__(self, request: Request | Mapping[str, object], brings_back: Room | None = None) -> None:
        said = to_builtins(request)
        kind = str(said.get("type"))
        self.text = encode(said).decode()
        self.id, self.room = str(said["id"]), str(said.get("room") or "")
        self.enters = kind in _ENTERING
        self.may_be_repeated = kind in _REPEATABLE or (kind == "undo" and {"game", "ply"} <= said.keys())
        self.brings_back = brings_back
        self.sent_over: Connection | None = None
        self.is_followed = False
        self.moves = 0
        self.waited_seconds = 0.0
        self.answer: asyncio.Future[Ok] = asyncio.get_running_loop().create_future()
        # Where nobody waits any more, nobody misses an answer that is an error.
        self.answer.add_done_callback(lambda answer: answer.cancelled() or answer.exception())

    def fail(self, error: Exception) -> None:
        """Let an error be the answer, where there is none yet."""
        if not self.answer.done():
            self.answer.set_exception(error)


class Unanswered:
    """All requests without an answer, in the order in which they were asked.

    While `is_here` is not set nothing goes to the server that we are at. What finds no connection is left for the
    return, where we come back.
    """

    def __init__(self, connections: Connections) -> None:
        self.is_here = asyncio.Event()
        self.is_here.set()
        self.most_rooms = 0  # as many as we asked to be in
        self._connections = connections
        self._ids = itertools.count(1)
        self._by_id: dict[str, Pending] = {}

    def __iter__(self) -> Iterator[Pending]:
        return iter(list(self._by_id.values()))

    def get(self, id: str) -> Pending | None:
        """Return the one with this id, or None."""
        return self._by_id.get(id)

    def expect(self, request: Request | Mapping[str, object], brings_back: Room | None = None) -> Pending:
        """Expect an answer to a request, which gets an id of our own where it is none of JSON and has none."""
        if not isinstance(request, Mapping) and request.id is UNSET:
            request = replace(request, id=f"client-{next(self._ids)}")
        pending = Pending(request, brings_back)
        self._by_id[pending.id] = pending
        return pending

    def expect_return(self, room: Room) -> Pending:
        """Expect an answer to the request that leads us into a room of ours again."""
        return self.expect(self._connections.way_into(room.code, watching=room.is_watching), room)

    def forget(self, pending: Pending) -> None:
        """Expect no answer to it any more."""
        self._by_id.pop(pending.id, None)

    def way_back(self, room: Room) -> Pending | None:
        """Return the request that leads us into a room of ours again, if there is one."""
        found = (each for each in self._by_id.values() if each.brings_back is room and not each.answer.done())
        return next(found, None)

    @property
    def follows_any(self) -> bool:
        """Whether somebody is on the way to another server with one of them."""
        return any(pending.is_followed for pending in self._by_id.values())

    def take_back(self, concerns: Callable[[Pending], bool]) -> None:
        """Let these be sent once more, whose answers will not come; what must not be sent twice fails."""
        for pending in filter(concerns, self):
            if pending.may_be_repeated:
                pending.sent_over = None
            else:
                pending.fail(errors.Interrupted())

    # -- sending ----------------------------------------------------------------------------------------------------

    async def ask(self, request: Request | Mapping[str, object]) -> Ok:
        """Send a request, now or as soon as it can be, and return its answer; raises what that is."""
        pending = self.expect(request)
        try:
            await self.send_soon(pending)
            return await pending.answer
        finally:
            self.forget(pending)

    async def send(self, pending: Pending, over: Connection | None = None) -> None:
        """Send a request over this connection, by default over the one at which its room is."""
        pending.sent_over = over or self._route(pending)
        pending.is_followed = False
        self.most_rooms += pending.enters
        await self.send_text(pending.text, pending.sent_over)

    async def send_text(self, text: str, over: Connection) -> None:
        """Send a message; raises `ConnectionLost` where what finds no connection is not sent again."""
        try:
            await over.say(text)
        except errors.ConnectionLost:
            if self._connections.backoff is None:
                raise

    async def send_soon(self, pending: Pending) -> None:
        """Send a request now, or leave it to what it has to wait for."""
        is_open = self.is_here.is_set() or self._route(pending) is not self._connections.main
        if is_open and not self._waits(pending):
            await self.send(pending)

    async def send_all(self) -> None:
        """Send what was not sent, or over connections that are lost, and has not to wait for its room."""
        connections = self._connections
        while connections.is_live(connections.main):
            found = [pending for pending in self if not connections.is_live(pending.sent_over)]
            if not (unsent := [pending for pending in found if not self._waits(pending)]):
                return
            for pending in unsent:
                await self.send(pending)

    async def catch_up(self) -> None:
        """Do so as soon as something may go to the server that we are at."""
        await self.is_here.wait()
        with contextlib.suppress(errors.ConnectionLost):
            await self.send_all()

    def _route(self, pending: Pending) -> Connection:
        place = self._connections.place_of(pending.room)
        return place if place is not None and self._connections.is_live(place) else self._connections.main

    def _waits(self, pending: Pending) -> bool:
        """Tell whether its room is on its way, or somebody is with the request."""
        is_at_none = self._connections.place_of(pending.room) is None and not pending.enters
        return is_at_none or pending.is_followed or pending.answer.done()


class Reentry:
    """Keeps us in our rooms, at whichever server each is, and has the server tell us what we subscribed to."""

    def __init__(self, connections: Connections, unanswered: Unanswered, work: Work, timeout_seconds: float) -> None:
        self._subscriptions: dict[str, Lobby | EventWatch] = {}
        self._connections, self._unanswered = connections, unanswered
        self._work, self._timeout_seconds = work, timeout_seconds

    def enter(self, room: Room, reply: Ok, connection: Connection) -> None:
        """Be in a room at the server of this connection, which has answered so."""
        before = self._connections.place_of(room.code)
        self._connections.move_room(room.code, connection)
        if before is not connection:
            self._connections.tell(RoomMoved(room.code, connection.address.url))
            self._unanswered.take_back(lambda each: each.room == room.code and each.sent_over not in (None, connection))
            self._work.start(self._unanswered.catch_up())
            self.tidy()
        room._enter(reply)

    # -- to another server ------------------------------------------------------------------------------------------

    def follow(self, pending: Pending, message: Message, teller: Connection) -> None:
        """Send a request on to the server that has its room, as `teller` says; into rooms of ours we go first."""
        pending.sent_over = None
        room = self._connections.find_room(pending.room)
        if pending.enters or room is None or room.ended is not None:
            if pending.brings_back is not None:
                self._connections.move_room(pending.room, None)
            pending.is_followed = True
            self._work.start(self._go_after(pending, message, teller))
        elif self._connections.place_of(room.code) is teller:
            self.follow_room(room, message, teller)
        else:
            self._work.start(self._unanswered.catch_up())

    def follow_room(self, room: Room, message: Message, teller: Connection) -> None:
        """Go into a room of ours at the server that has it now, as `teller` says."""
        self.follow(self._set_out(room), message, teller)

    async def _go_after(self, pending: Pending, message: Message, teller: Connection) -> None:
        """Send a request to the server that has its room, or to the first one after a wait; or let it be refused."""
        moved = message.push
        assert isinstance(moved, pushes.Error | pushes.Moved)
        url = moved.url or ""
        address = find_server(url, self._connections.known_from(teller))
        if address is None:
            await self._connections.ask_for_servers(teller)
            address = find_server(url, teller.servers)
        pending.moves += 1
        over = None
        if address is not None and pending.moves <= _MOST_MOVES:
            with contextlib.suppress(errors.ClientError):
                over = await self._connections.reach(address)
        if over is None:
            wait = min(pending.waited_seconds + _FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS)
            is_return = pending.brings_back is not None
            patience = self._connections.patience[0] if is_return else self._timeout_seconds
            if address is None or pending.waited_seconds + wait > patience:
                self._connections.messages.publish(message)
                pending.fail(refusal_of(moved))
            pending.moves = 0
            pending.waited_seconds += wait
            await asyncio.sleep(0 if pending.answer.done() else wait)
            await self._unanswered.is_here.wait()
        if pending.answer.done():
            pending.is_followed = False
            self.tidy()
            return
        try:
            await self._unanswered.send(pending, over)
        except errors.ConnectionLost as lost:
            pending.fail(lost)

    # -- after a loss -----------------------------------------------------------------------------------------------

    def leave_server(self, connection: Connection, lost: errors.ConnectionLost) -> None:
        """Go into the rooms again that were at another server, by what the server knows of them that we are at."""
        self._connections.give_up(connection)
        if self._connections.backoff is None or not is_passing(lost):
            for pending in self._unanswered:
                if pending.sent_over is connection:
                    pending.fail(lost)
            for room in self._connections.rooms_at(connection):
                self._connections.cut_off(room, lost)
            return
        self._unanswered.take_back(lambda pending: pending.sent_over is connection)
        for room in self._connections.rooms_at(connection):
            self._set_out(room)
        self._work.start(self._unanswered.catch_up())

    async def resume(self, rooms: list[Room]) -> None:
        """Enter these rooms again, then send what had no answer: the server takes them in that order."""
        try:
            for way in [self._way_back(room) for room in rooms]:
                await self._unanswered.send(way)
            await self._unanswered.send_all()
        except errors.ConnectionLost:
            return
        self._unanswered.is_here.set()
        await self._subscribe_again()

    def _set_out(self, room: Room) -> Pending:
        """Let a room of ours be on its way, and return the request that leads us into it again, which is to be sent."""
        self._connections.move_room(room.code, None)
        return self._way_back(room)

    def _way_back(self, room: Room) -> Pending:
        """Return the request that leads us into a room of ours again, which is to be sent, and wait for its answer."""
        way = self._unanswered.way_back(room)
        if way is None:
            way = self._unanswered.expect_return(room)
            self._work.start(self._enter_again(room, way))
        return way

    async def _enter_again(self, room: Room, way: Pending) -> None:
        """Wait for our return to a room, which is gone where that is refused, or put off too long and five times."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._connections.patience[0]
        for attempt in itertools.count(1):
            try:
                await way.answer
                return
            except errors.Refused as refused:
                if refused.retry_ms is None or (attempt >= _MOST_REFUSALS and clock() >= deadline):
                    self._lose_room(room, refused)
                    return
                await asyncio.sleep(max(_LEAST_WAIT_SECONDS, refused.retry_ms / 1000))
            except errors.ConnectionLost as lost:
                self._connections.cut_off(room, lost)
                return
            finally:
                self._unanswered.forget(way)
            if room.ended is not None or self._unanswered.way_back(room) is not None:
                return
            way = self._unanswered.expect_return(room)
            await self._unanswered.send_soon(way)

    def _lose_room(self, room: Room, refused: errors.Refused) -> None:
        """Be in a room no more that could not be entered again; what was asked there is for the server to answer."""
        self._connections.tell(Gone(room.code, refused))
        room._end(Closed(refused.message))
        self._connections.move_room(room.code, self._connections.main)
        self._work.start(self._unanswered.catch_up())
        self.tidy_soon()

    # -- where we are -----------------------------------------------------------------------------------------------

    def tidy_soon(self) -> None:
        """Tidy up when all is done that goes with what happens now."""
        if self._connections.others:
            asyncio.get_running_loop().call_soon(self.tidy)

    def tidy(self) -> None:
        """Be at a server in whose rooms we are, if we are in any, and have no other connection that nobody needs."""
        connections, main = self._connections, self._connections.main
        if self._unanswered.follows_any or not connections.is_live(main):
            return
        places = {connections.place_of(room.code) for room in connections.rooms}
        needed = places | {pending.sent_over for pending in self._unanswered}
        with_rooms = [other for other in connections.others if other in places]
        if main not in needed and with_rooms:
            connections.settle_at(with_rooms[0])
            self._work.start(self._subscribe_again())
        for other in connections.others:
            if other not in needed:
                connections.give_up(other)

    # -- what we want to hear ---------------------------------------------------------------------------------------

    def note_subscription(self, request: Lobby | EventWatch) -> None:
        """Want to hear of the list of rooms or of an event, again after each return, or no more."""
        about = request.event if isinstance(request, EventWatch) else ""
        self._subscriptions.pop(about, None)
        if request.on:
            self._subscriptions[about] = request

    async def _subscribe_again(self) -> None:
        features = self._connections.main.welcome.features
        for request in list(self._subscriptions.values()):
            if isinstance(request, Lobby) and "boards" not in features:
                request = replace(request, boards=0)
            with contextlib.suppress(errors.ClientError):
                await self._unanswered.ask(request)
