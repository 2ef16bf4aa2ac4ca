"""The rooms that a client is in: at which of its connections each one is, and who is told of what happens."""

from __future__ import annotations

from msgspec import UNSET

from tictactoe_client.online.connection import Connection
from tictactoe_client.online.connections import Connections
from tictactoe_client.online.events import ConnectionEvent, Gone, RoomMoved
from tictactoe_client.online.messages import Message, Subscribers
from tictactoe_client.online.room import Room, RoomRequests
from tictactoe_protocol.requests import Join, Watch


class Rooms:
    """Rooms by their codes; each is at the main connection unless it is known otherwise, or at none: on its way.

    `messages` are told everything that comes.
    """

    def __init__(self, connections: Connections, messages: Subscribers[Message]) -> None:
        self._connections = connections
        self._messages = messages
        self._rooms: dict[str, Room] = {}
        self._places: dict[str, Connection | None] = {}
        self._newest_seq: dict[str, int] = {}

    @property
    def open(self) -> list[Room]:
        """Those that have not ended for us."""
        return [room for room in self._rooms.values() if room.ended is None]

    def find(self, code: str) -> Room | None:
        """Return a room of ours, ended or not, or None."""
        return self._rooms.get(code)

    def find_or_make(self, code: str, client: RoomRequests) -> Room:
        """Return a room that we are in, a new one where we were not."""
        room = self._rooms.get(code)
        if room is None or room.ended is not None:
            self._rooms = {room.code: room for room in self.open}
            self._places.pop(code, None)
            room = self._rooms[code] = Room(client, code)
        return room

    def remove(self, code: str) -> None:
        """Be in a room no more."""
        self._rooms.pop(code, None)

    # -- where they are ---------------------------------------------------------------------------------------------

    def place_of(self, code: str) -> Connection | None:
        """Return the connection at which a room is, or None while it is on its way."""
        return self._places.get(code, self._connections.main)

    def at(self, connection: Connection | None) -> list[Room]:
        """Return our rooms at a connection, or those on their way."""
        return [room for room in self.open if self.place_of(room.code) is connection]

    def move(self, code: str, connection: Connection | None) -> None:
        """Take note where a room is, or with None that it is on its way."""
        self._places.pop(code, None)
        if connection is not self._connections.main:
            self._places[code] = connection

    def settle_at(self, connection: Connection) -> None:
        """Let this connection be the main one."""
        self._connections.settle_at(connection)
        self._places = {code: place for code, place in self._places.items() if place is not connection}

    # -- what they are told -----------------------------------------------------------------------------------------

    def note_seq(self, code: str, seq: int) -> None:
        """Keep the highest `seq` of a room: an older state is refused on the way back."""
        self._newest_seq[code] = max(seq, self._newest_seq.get(code, 0))

    def way_into(self, code: str, *, watching: bool) -> Join | Watch:
        """Return the request that leads into a room, perhaps again."""
        knows_seq = "seq" in self._connections.main.welcome.features
        seq = self._newest_seq.get(code, UNSET) if knows_seq else UNSET
        return Watch(room=code, seq=seq) if watching else Join(room=code, seq=seq)

    def tell(self, event: ConnectionEvent) -> None:
        """Let streams and rooms know what has become of the connection."""
        concerned = [*self.at(self._connections.main), *self.at(None)]
        if isinstance(event, Gone | RoomMoved):  # who enters a room needs no word of where that is
            concerned = [room for room in self.open if room.code == event.room and room.has_state]
        for room in concerned:
            room._note(event)
        self._messages.publish(Message("", None, event))

    async def until_read(self) -> None:
        """Wait while somebody who reads lags far behind, so that no more than that is kept for them."""
        await self._messages.until_read()
        for room in self.open:
            await room._subscribers.until_read()
