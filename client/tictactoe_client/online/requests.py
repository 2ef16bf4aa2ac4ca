"""What we asked, and who hears what comes. All of it outlives connections."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, get_args

from msgspec import UNSET, UnsetType, to_builtins
from msgspec.structs import replace

from tictactoe_client.online.connection import Connection
from tictactoe_client.online.errors import EXPULSIONS, ConnectionLost
from tictactoe_client.online.events import ConnectionEvent, Gone, Said, Told
from tictactoe_client.online.messages import Message, read_message, refusal_of
from tictactoe_client.online.room import Room
from tictactoe_client.online.stream import Audience
from tictactoe_protocol.pushes import Announcement, ChatLine, Closed, Error, Notice, Ok, Replaced, RoomState
from tictactoe_protocol.requests import Move, Request

_OWN_ID_PREFIX: Final = "client-"
_REPEATABLE: Final = frozenset(kind.__struct_config__.tag for kind in get_args(Request)) - {
    *("hello", "create", "match", "undo", "claim", "chat")
}
"""What may be sent a second time where the answer to the first was lost: it changes nothing, or is refused, then."""


def is_repeatable_line(line: Mapping[str, object]) -> bool:
    """Tell whether a request may be sent a second time; an undo that names its game and position may be, too."""
    kind = line.get("type")
    return kind in _REPEATABLE or (kind == "undo" and {"game", "ply"} <= line.keys())


@dataclass(slots=True, eq=False)
class Pending:
    """A request without an answer yet, and the connection over which it was sent last, if any."""

    id: str
    request: Request | Mapping[str, object]
    answer: asyncio.Future[Ok]
    sent_over: Connection | None = None

    def fail(self, error: Exception) -> None:
        """Let an error be the answer, where there is none yet."""
        if not self.answer.done():
            self.answer.set_exception(error)

    @property
    def is_repeatable(self) -> bool:
        """Whether it may be sent a second time."""
        return is_repeatable_line(to_builtins(self.request))


class Delivery:
    """Who hears what comes: an answer whoever asked, a state its room, and the streams of the `audience` everything.

    `waiting` is what has no answer yet by its id, in the order in which it was asked. `expected` is in how many rooms
    we asked to be: no more are kept. `retry_ms` is when a server that goes down said it would be back, or None; with
    `is_final` it will not. `farewell` is what it said last of why we are sent away.
    """

    def __init__(self, make_room: Callable[[str], Room]) -> None:
        self.waiting: dict[str, Pending] = {}
        self.audience: Audience[Message] = Audience()
        self.expected = 0
        self.retry_ms: int | None = None
        self.is_final = False
        self.farewell: Error | None = None
        self._ids = itertools.count(1)
        self._make_room = make_room
        self._rooms: dict[str, Room] = {}
        self._seen: dict[str, int] = {}

    def add(self, request: Request | Mapping[str, object]) -> Pending:
        """Expect an answer to a request, which gets an id of our own where it is none of JSON and has none."""
        if not isinstance(request, Mapping) and request.id is UNSET:
            request = replace(request, id=f"{_OWN_ID_PREFIX}{next(self._ids)}")
        id = str(request["id"] if isinstance(request, Mapping) else request.id)
        pending = self.waiting[id] = Pending(id, request, asyncio.get_running_loop().create_future())
        # Where nobody waits any more, nobody misses an answer that is an error.
        pending.answer.add_done_callback(lambda answer: answer.cancelled() or answer.exception())
        return pending

    def remove(self, pending: Pending) -> None:
        """Expect no answer any more."""
        self.waiting.pop(pending.id, None)

    @property
    def rooms(self) -> tuple[Room, ...]:
        """The rooms that we are in."""
        return tuple(room for room in self._rooms.values() if room.ended is None)

    def room(self, code: str) -> Room:
        """Return the room with this code, a new one where it is not known yet, or has ended for us."""
        if code not in self._rooms or self._rooms[code].ended is not None:
            self._seen.update((room.code, room.state.seq) for room in self._rooms.values() if room.state is not None)
            self._rooms = {room.code: room for room in self.rooms}
            self._rooms[code] = self._make_room(code)
        return self._rooms[code]

    def seen(self, code: str) -> int | UnsetType:
        """Return the highest `seq` that came of the room with this code, if any."""
        room = self._rooms.get(code)
        return self._seen.get(code, UNSET) if room is None or room.state is None else room.state.seq

    def take(self, text: str) -> None:
        """Hand on what came from the server; raises `ProtocolBroken` for what is no message."""
        message = read_message(text)
        push = message.push
        room = self._rooms.get(getattr(push, "room", ""))
        if isinstance(push, RoomState) and self._may_keep(push.room):
            (room or self.room(push.room))._take(push)
        elif isinstance(push, Ok):
            self._settle(push)
        elif isinstance(push, Error):
            if (pending := self.waiting.get(push.id or "")) is not None:
                pending.fail(refusal_of(push))
            if push.code in EXPULSIONS:
                self.farewell = push
        elif isinstance(push, Closed) and room is not None:
            room._end("closed", push.reason)
        elif isinstance(push, Replaced) and room is not None:
            room._end("replaced")
        elif isinstance(push, ChatLine) and room is not None:
            room._hear(Said(push))
        elif isinstance(push, Notice):
            self.retry_ms, self.is_final = push.retry_ms, push.code == "stopping"
        if isinstance(push, Notice | Announcement) or (isinstance(push, Error) and push.id is UNSET):
            for each in self.rooms:
                each._hear(Told(push))
        self.audience.tell(message)

    async def until_read(self) -> None:
        """Wait while somebody who listens lags far behind."""
        await self.audience.until_read()
        for room in self.rooms:
            await room._audience.until_read()

    def tell(self, event: ConnectionEvent) -> None:
        """Tell the streams and rooms what has become of the connection."""
        for room in self.rooms:
            if not isinstance(event, Gone) or event.room == room.code:
                room._hear(event)
        self.audience.tell(Message("", None, event))

    def finish(self, lost: ConnectionLost | None) -> None:
        """End rooms and streams, with None as we have closed the conversation ourselves."""
        for room in self.rooms:
            room._end("left") if lost is None else room._lose(lost)
        self.audience.finish(lost)

    def _settle(self, reply: Ok) -> None:
        if reply.room and reply.seat is not UNSET and self._may_keep(reply.room):
            self.room(reply.room)._enter(reply)
        pending = self.waiting.get(reply.id)
        if pending is not None and not pending.answer.done():
            pending.answer.set_result(reply)
            if isinstance(pending.request, Move):
                self.room(pending.request.room)._expect_state(pending.request.ply)

    def _may_keep(self, code: str) -> bool:
        return code in self._rooms or len(self.rooms) < self.expected
