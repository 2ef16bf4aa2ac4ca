"""The connections of one client, and its rooms: at which connection each is, and who is told of what happens.

It knows the servers of the cluster, the way to one of them the first time and after each loss, and nothing of what is
said."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from typing import Any, Final

from msgspec import UNSET

from tictactoe_client.online import errors
from tictactoe_client.online.address import Address, is_same_server
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.cluster import Cluster
from tictactoe_client.online.connection import GOING_DOWN, Connection
from tictactoe_client.online.events import Back, ConnectionEvent, Gone, Lost, Retrying, RoomMoved
from tictactoe_client.online.feed import RoomRequests
from tictactoe_client.online.messages import Message, Subscribers
from tictactoe_client.online.room import Room
from tictactoe_client.online.work import Work
from tictactoe_protocol import may_reconnect
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.requests import Join, Watch

_FOR_A_WHILE: Final = frozenset({"rate_limited", "busy", "server_full", "unavailable", "internal"})


class Connections:
    """Connections that are read by tasks; `main` is the one to the server that we are at, and may be lost.

    `cluster` begins with the server that we are at. Setting `hurry` ends a wait for the next attempt to come back. Each
    room is at the main connection unless it is known otherwise, or at none: on its way. `messages` hear everything.
    """

    def __init__(
        self,
        main: Connection,
        cluster: Cluster,
        greet: Callable[[Address], Awaitable[Connection]],
        backoff: Backoff | None,
        read: Callable[[Connection], Coroutine[Any, Any, errors.ConnectionLost]],
        ended: Callable[[Connection, asyncio.Task[errors.ConnectionLost]], object],
    ) -> None:
        """Read the main one with `read` until that says why it ended, then call `ended`; `greet` makes others."""
        self.main = main
        self.cluster = cluster.seen_from(main.address, main.servers)
        self.hurry = asyncio.Event()
        self.backoff = backoff
        self.messages: Subscribers[Message] = Subscribers()
        self._greet, self._read, self._ended = greet, read, ended
        self._readers: dict[Connection, asyncio.Task[errors.ConnectionLost]] = {}
        self._greetings: dict[Address, asyncio.Task[Connection]] = {}
        self._closing = Work()
        self._rooms: dict[str, Room] = {}
        self._places: dict[str, Connection | None] = {}
        self._newest_seq: dict[str, int] = {}
        self._listen(main)

    def is_live(self, connection: Connection | None) -> bool:
        """Tell whether it is not lost, as far as is known, and not given up."""
        return connection in self._readers

    @property
    def others(self) -> list[Connection]:
        """Those that live beside the main one."""
        return [connection for connection in self._readers if connection is not self.main]

    @property
    def patience(self) -> tuple[float, float]:
        """For how many seconds it is tried to be in our rooms again: at a server, and where there is none."""
        hold_ms = self.main.welcome.hold_ms
        return (self.backoff or Backoff()).patience(None if hold_ms is UNSET else hold_ms)

    def known_from(self, teller: Connection) -> tuple[Address, ...]:
        """Return the servers to which one may go from this one: none without TLS from one with it."""
        return (*teller.servers, *(one for one in self.cluster.addresses if teller.address.may_lead_to(one)))

    # -- making and ending them -------------------------------------------------------------------------------------

    def settle_at(self, connection: Connection) -> None:
        """Let this be the main one; where it is new, read it."""
        self.main = connection
        self.cluster = self.cluster.seen_from(connection.address, connection.servers)
        self._places = {code: place for code, place in self._places.items() if place is not connection}
        if connection not in self._readers:
            self._listen(connection)
        self.messages.publish(connection.message)

    async def reach(self, address: Address) -> Connection:
        """Return our connection to a server, made now where there is none; raises what making one raises."""
        for connection in self._readers:
            if is_same_server(connection.address, address):
                return connection
        greeting = self._greetings.get(address)
        if greeting is None:
            greeting = self._greetings[address] = asyncio.create_task(self._make(address), name="tictactoe greeting")
            greeting.add_done_callback(lambda _: self._greetings.pop(address, None))
        return await asyncio.shield(greeting)

    async def ask_for_servers(self, connection: Connection) -> None:
        """Have a server name its cluster anew, as to whoever comes now: one may have started since it welcomed us."""
        try:
            newer = await self._greet(connection.address)
        except errors.ClientError:
            return
        await newer.close()
        connection.servers = newer.servers

    async def find_return(self, lost: errors.ConnectionLost) -> float | None:
        """Return in how many ms the lost server said to be back, infinite for never, None where it did not say.

        Raises `ConnectionLost` where nothing brings us back. Waits for connections that are being made.
        """
        while self._greetings:
            await asyncio.wait(list(self._greetings.values()))
        if self.backoff is None and not self.others:
            raise lost
        notice = self.main.notice
        if notice is None or notice.code != "stopping" or lost.close_code not in GOING_DOWN:
            return lost.retry_ms
        if len(self.cluster.addresses) == 1:
            raise errors.ConnectionLost(say("lost stopped"), lost.close_code)
        return math.inf

    async def replace_main(self, lost: errors.ConnectionLost, announced_ms: float | None) -> Connection:
        """Return a live connection in place of the main one; raises `ConnectionLost` where none is to be had in time.

        Where rooms of ours are at another server, or on their way there, we are there already.
        """
        if others := self.others:
            return others[0]
        self.hurry.clear()
        lasted = asyncio.get_running_loop().time() - self.main.began_at
        ways = (self.backoff or Backoff()).ways(len(self.cluster.addresses), announced_ms, lasted_seconds=lasted)
        return await come_back(self._greet, self.cluster, ways, self.patience, lost, self.tell, self.hurry)

    async def _make(self, address: Address) -> Connection:
        connection = await self._greet(address)
        self._listen(connection)
        return connection

    def _listen(self, connection: Connection) -> None:
        reader = asyncio.create_task(self._read(connection), name="tictactoe connection")
        self._readers[connection] = reader
        reader.add_done_callback(partial(self._note_end, connection))

    def _note_end(self, connection: Connection, reader: asyncio.Task[errors.ConnectionLost]) -> None:
        if self._readers.pop(connection, None) is not None and not reader.cancelled():
            self._ended(connection, reader)

    def give_up(self, connection: Connection) -> None:
        """Close one that nobody needs any more; its end is not told."""
        if (reader := self._readers.pop(connection, None)) is not None:
            reader.cancel()
        self._closing.start(connection.close())

    async def close(self) -> None:
        """Close all."""
        for greeting in self._greetings.values():
            greeting.cancel()
        for connection in {self.main, *self._readers}:
            self.give_up(connection)
        await asyncio.gather(*self._greetings.values(), return_exceptions=True)
        await self._closing.finish()

    # -- rooms ------------------------------------------------------------------------------------------------------

    @property
    def rooms(self) -> list[Room]:
        """Our rooms that have not ended for us."""
        return [room for room in self._rooms.values() if room.ended is None]

    def find_room(self, code: str) -> Room | None:
        """Return a room of ours, ended or not, or None."""
        return self._rooms.get(code)

    def open_room(self, code: str, client: RoomRequests) -> Room:
        """Return a room that we are in, a new one where we were not."""
        room = self._rooms.get(code)
        if room is None or room.ended is not None:
            self._rooms = {room.code: room for room in self.rooms}
            self._places.pop(code, None)
            room = self._rooms[code] = Room(client, code)
        return room

    def cut_off(self, room: Room, lost: errors.ConnectionLost) -> None:
        """Be in a room no more, as its connection is lost for good."""
        self._rooms.pop(room.code, None)
        room._end(lost)

    def place_of(self, code: str) -> Connection | None:
        """Return the connection at which a room is, or None while it is on its way."""
        return self._places.get(code, self.main)

    def rooms_at(self, connection: Connection | None) -> list[Room]:
        """Return our rooms at a connection, or those on their way."""
        return [room for room in self.rooms if self.place_of(room.code) is connection]

    def move_room(self, code: str, connection: Connection | None) -> None:
        """Take note where a room is, or with None that it is on its way."""
        self._places.pop(code, None)
        if connection is not self.main:
            self._places[code] = connection

    def note_seq(self, code: str, seq: int) -> None:
        """Keep the highest `seq` of a room: an older state is refused on the way back."""
        self._newest_seq[code] = max(seq, self._newest_seq.get(code, 0))

    def way_into(self, code: str, *, watching: bool) -> Join | Watch:
        """Return the request that leads into a room, perhaps again."""
        seq = self._newest_seq.get(code, UNSET) if "seq" in self.main.welcome.features else UNSET
        return Watch(room=code, seq=seq) if watching else Join(room=code, seq=seq)

    def tell(self, event: ConnectionEvent) -> None:
        """Let streams and rooms know what has become of the connection."""
        concerned = [*self.rooms_at(self.main), *self.rooms_at(None)]
        if isinstance(event, Gone | RoomMoved):  # who enters a room needs no word of where that is
            concerned = [room for room in self.rooms if room.code == event.room and room.has_state]
        for room in concerned:
            room._note(event)
        self.messages.publish(Message("", None, event))

    async def until_read(self) -> None:
        """Wait while somebody who reads lags far behind, so that no more than that is kept for them."""
        await self.messages.until_read()
        for room in self.rooms:
            await room._subscribers.until_read()


async def arrive(cluster: Cluster, greet: Callable[[Address], Awaitable[Connection]]) -> Connection:
    """Return a connection to the first address of a cluster that lets us in; raises at once what no other mends."""
    silent: list[errors.Unreachable] = []
    put_off: list[errors.ClientError] = []
    for address in cluster.addresses:
        try:
            return await greet(address)
        except errors.Unreachable as error:
            silent.append(error)
        except errors.ClientError as error:
            if not is_passing(error):
                raise
            put_off.append(error)
    if put_off:
        raise put_off[0]
    raise errors.Unreachable(silent[0].url, silent[0].reason, others=silent[1:])


async def come_back(
    greet: Callable[[Address], Awaitable[Connection]],
    cluster: Cluster,
    ways: Iterable[tuple[int, float]],
    patience: tuple[float, float],
    lost: errors.ConnectionLost,
    tell: Callable[[ConnectionEvent], None],
    hurry: asyncio.Event,
) -> Connection:
    """Return the new connection; raises `ConnectionLost` with `gave_up` when there is none in time.

    `cluster` begins with the address that was lost; `ways` and `patience` are a `Backoff`'s. Each address is tried once
    however short the time is. The hold of a seat does not run out while no server runs, so only the time before answers
    counts against it. `tell` hears of the loss, of each attempt and of the success; setting `hurry` ends a wait.
    """
    loop = asyncio.get_running_loop()
    started = before = loop.time()
    hold_seconds, absent_seconds = patience
    is_answered = False
    tell(Lost(lost.reason, lost.close_code, hold_seconds, absent_seconds))
    for attempt, (step, wait) in enumerate(ways, 1):
        is_let_go = hold_seconds <= 0 and is_answered
        left = 0.0 if is_let_go else max(0.0, started + absent_seconds - loop.time())
        if left == 0 and attempt > len(cluster.addresses):
            break
        address = cluster.addresses[step]
        tell(Retrying(attempt, min(wait, left), left, address.url))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(wait, left)):
                await hurry.wait()
        hurry.clear()
        try:
            connection = await greet(address)
        except errors.ClientError as error:
            if isinstance(error, errors.Refused) and error.code in errors.EXPULSIONS:
                raise errors.Expelled(error.code, error.message) from error
            if not is_passing(error):
                raise _give_up(lost, error.message) from error
            is_answered = not isinstance(error, errors.Unreachable)
            hold_seconds -= loop.time() - before if is_answered else 0
            before = loop.time()
            continue
        tell(Back(attempt, loop.time() - started, connection.latency_seconds))
        return connection
    raise _give_up(lost, say("lost too long"))


def is_passing(error: errors.ClientError) -> bool:
    """Tell whether another attempt may fare better."""
    if isinstance(error, errors.ProtocolBroken):
        return False
    if isinstance(error, errors.ConnectionLost):
        return may_reconnect(error.close_code)
    return isinstance(error, errors.Unreachable) or (isinstance(error, errors.Refused) and error.code in _FOR_A_WHILE)


def _give_up(lost: errors.ConnectionLost, reason: str) -> errors.ConnectionLost:
    return errors.ConnectionLost(reason.rstrip("."), lost.close_code, lost.retry_ms, gave_up=True)
