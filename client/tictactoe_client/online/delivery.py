"""Who hears what the server says: a state its room, an answer whoever asked, and the streams everything.

It outlives connections, and owns none of them; what is told of a connection itself comes from `conversation`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

from msgspec import UNSET, UnsetType

from tictactoe_client.online.errors import EXPULSIONS, ConnectionLost
from tictactoe_client.online.events import Event, Gone, Said, Told
from tictactoe_client.online.messages import Message, Messages, read_message
from tictactoe_client.online.pending import PendingRequests
from tictactoe_client.online.room import Room
from tictactoe_protocol.pushes import Announcement, ChatLine, Closed, Error, Notice, Ok, Replaced, RoomState
from tictactoe_protocol.requests import Move


class Delivery:
    """Our rooms, the requests that wait for an answer, and the streams; `make_room` makes a room for a code.

    `retry_ms` is when a server that is about to go down said it would be back, or None; with `is_final` it said that it
    will not. `farewell` is what it said last of why we are sent away. `expected` is in how many
    rooms we asked to be: more than so many are not kept, whatever a server shows.
    """

    def __init__(self, make_room: Callable[[str], Room]) -> None:
        self.pending = PendingRequests()
        self.retry_ms: int | None = None
        self.expected = 0
        self.is_final = False
        self.farewell: Error | None = None
        self._make_room = make_room
        self._rooms: dict[str, Room] = {}
        self._seen: dict[str, int] = {}
        self._streams: weakref.WeakSet[Messages] = weakref.WeakSet()

    @property
    def rooms(self) -> tuple[Room, ...]:
        """The rooms that we are in."""
        return tuple(self._rooms.values())

    def room(self, code: str) -> Room:
        """Return the room with this code, a new one where it is not known yet."""
        room = self._rooms.get(code)
        if room is None:
            room = self._rooms[code] = self._make_room(code)
        return room

    def forget(self, room: Room) -> None:
        """Let go of a room that has ended for us."""
        if self._rooms.get(room.code) is room:
            seen = self.seen(room.code)
            del self._rooms[room.code]
            if seen is not UNSET:
                self._seen[room.code] = seen

    def seen(self, code: str) -> int | UnsetType:
        """Return the highest `seq` that came of the room with this code, if any."""
        room = self._rooms.get(code)
        return self._seen.get(code, UNSET) if room is None or room.state is None else room.state.seq

    def open_stream(self, welcome: Message) -> Messages:
        """Return a new stream of everything, beginning with a welcome."""
        stream = Messages(welcome)
        self._streams.add(stream)
        return stream

    def take(self, text: str) -> None:
        """Hand on what came from the server; raises `ProtocolBroken` for what is no message."""
        message = read_message(text)
        push = message.push
        if isinstance(push, RoomState):
            if self._may_keep(push.room):
                self.room(push.room)._take(push)
        elif isinstance(push, Ok):
            self._settle(push)
        elif isinstance(push, Error):
            self.pending.reject(push)
            if push.code in EXPULSIONS:
                self.farewell = push
        elif isinstance(push, Closed):
            self.room(push.room)._end("closed", push.reason)
        elif isinstance(push, Replaced):
            self.room(push.room)._end("replaced")
        elif isinstance(push, ChatLine) and push.room in self._rooms:
            self._rooms[push.room]._hear(Said(push))
        if isinstance(push, Notice):
            self.retry_ms, self.is_final = push.retry_ms, push.code == "stopping"
        if isinstance(push, Notice | Announcement) or (isinstance(push, Error) and push.id is UNSET):
            for room in self.rooms:
                room._hear(Told(push))
        self.pass_on(message)

    async def until_read(self) -> None:
        """Wait while somebody who listens lags far behind, so that no more than that is kept for them."""
        for wait in [stream.until_read for stream in self._streams]:
            await wait()
        for room in self.rooms:
            await room._until_read()

    def tell(self, event: Event) -> None:
        """Tell the streams and rooms what has become of the connection."""
        for room in self.rooms:
            if not isinstance(event, Gone) or event.room == room.code:
                room._hear(event)
        self.pass_on(Message("", None, event))

    def pass_on(self, message: Message) -> None:
        """Put a message into every stream."""
        for stream in self._streams:
            stream.put(message)

    def lose(self, lost: ConnectionLost) -> None:
        """Tell rooms and streams that nothing more will come."""
        for room in self._rooms.values():
            room._lose(lost)
        for stream in self._streams:
            stream.put(lost)

    def close(self) -> None:
        """End rooms and streams, as we have closed the conversation ourselves."""
        for room in self.rooms:
            room._end("left")
        for stream in self._streams:
            stream.put(None)

    def _settle(self, reply: Ok) -> None:
        if reply.room and reply.seat is not UNSET and self._may_keep(reply.room):
            self.room(reply.room)._enter(reply)
        request = self.pending.settle(reply)
        if isinstance(request, Move):
            self.room(request.room)._expect_state(request.ply)

    def _may_keep(self, code: str) -> bool:
        """Tell whether a room is one that we asked for."""
        return code in self._rooms or len(self._rooms) < self.expected
