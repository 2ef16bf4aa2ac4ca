"""The requests without an answer yet: over which connection each goes, and which may be sent once more after a loss."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Final, get_args

from msgspec import UNSET, to_builtins
from msgspec.structs import replace

from tictactoe_client.online.connection import Connection
from tictactoe_client.online.connections import Connections
from tictactoe_client.online.errors import ConnectionLost, Interrupted
from tictactoe_client.online.room import Room
from tictactoe_protocol import encode
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Request

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
                pending.fail(Interrupted())

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
        except ConnectionLost:
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
        with contextlib.suppress(ConnectionLost):
            await self.send_all()

    def _route(self, pending: Pending) -> Connection:
        place = self._connections.place_of(pending.room)
        return place if place is not None and self._connections.is_live(place) else self._connections.main

    def _waits(self, pending: Pending) -> bool:
        """Tell whether its room is on its way, or somebody is with the request."""
        is_at_none = self._connections.place_of(pending.room) is None and not pending.enters
        return is_at_none or pending.is_followed or pending.answer.done()
