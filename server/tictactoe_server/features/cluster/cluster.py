"""This server's part in a cluster, in which several servers share players and rooms.

Theory of operation. A room stays at the server that opened it, and its players connect to that server. Ownership is a
belief, not a lock: two servers may both believe that they own a room, for instance after a partition. But every save is
a compare-and-set, so that only one of them can change the room, and no acknowledged move is lost. Seen from this
server, a room is in one of these states:

- here: its value is in memory, and its players are connected to this server;
- elsewhere: another live server announced it (`rooms`), and requests for it are refused with that server's URL;
- unowned: its server left, died, or lost it. The live servers divide such rooms among themselves without messages, by a
  hash of the room's code (`_is_ours`), and each server adopts its share from the store.

If two servers own a room, the server that took it later keeps it, and the other one hands its players over.
Heartbeats (`members`) show which servers are alive. Game messages are never forwarded between servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import math
import random
import socket
from collections.abc import Callable, Collection, Iterable
from functools import partial
from hashlib import blake2b
from itertools import repeat
from typing import Final

import msgspec
import structlog

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.terms import RulesFields
from tictactoe_server.core.change import RoomChange
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.remote import ClusterStatus, RemoteServers, RoomAt
from tictactoe_server.core.rooms import log_damaged_room
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.features.cluster import messages
from tictactoe_server.features.cluster.members import HEARTBEAT_SECONDS, Members
from tictactoe_server.features.cluster.rooms import YOUNG_MS, OtherRoom, OtherRooms, OwnRooms
from tictactoe_server.features.feature import Node
from tictactoe_server.features.jetstream.copies import Copies
from tictactoe_server.features.jetstream.link import Link, Message
from tictactoe_server.features.jetstream.store import JetStreamStore
from tictactoe_server.features.jetstream.stream import Stream
from tictactoe_server.records.tables import ROOMS
from tictactoe_server.rooms.room import Player, Refused, Room
from tictactoe_server.rooms.seating import open_room
from tictactoe_server.rooms.view import GameKind, RoomListing, kind_of
from tictactoe_server.scheduler import wait_for, wait_until
from tictactoe_server.storage.store import CannotOpenStore, StoreUnavailable, Unreadable
from tictactoe_server.transport.rate_limit import RateLimits

NOTE_SECONDS: Final = 0.2  # how often served time is stored
GRACE_SECONDS: Final = 0.5  # how long the store may be silent before served time stops
# The sum of both is less than the second that an outage may cost a player.
MISSING_SECONDS: Final = 3.0  # how long players may take to follow a room to another server
LEAVING_SECONDS: Final = 3.0  # how long a leaving server waits for others to take its rooms
_GOING_SECONDS: Final = 0.5  # how long players have to follow their rooms before a leaving server stops
_LISTENING_SECONDS: Final = 2 * HEARTBEAT_SECONDS
_AGAIN_SECONDS: Final = 5.0  # between the loss of a server and the search for its unannounced rooms
_SEEK_SECONDS: Final = 600.0  # between two such searches while no server is lost
_COMPARE_SECONDS: Final = 60.0  # between two comparisons of the nodes' copies
_PAUSE_SECONDS: Final = 0.5  # until a failed take-over is retried
_UNREACHED_SECONDS: Final = 5.0  # how long a room's players must not reach its server before another server takes over
_ASK_SECONDS: Final = 1.0
_ASKED_MS: Final = 60_000  # at least between two requests by a server to take over the same room
_LOADED_AT_ONCE: Final = 50
_DROPPED_A_SECOND: Final = 200
RESERVED_SECONDS: Final = 3.0  # how long a seat is reserved for a player, or a room expected from its opener
_ANSWER_SECONDS: Final = 0.4  # how long to wait for the server that matches players
_ATTEMPTS: Final = 2  # to match a player
_MOST_NS: Final = 1_000_000_000  # a longer time between two readings of the clock means that the process was suspended
_MATCH_PAUSE_SECONDS: Final = 0.1

log: Final = structlog.get_logger(__name__)


class Cluster(RemoteServers, Service):
    """The cluster as seen by this server. Call `start`, `prepare` and `run` in this order, and `leave` at the end.

    The constructor raises `CannotOpenStore` if the store is not on JetStream.

    Args:
        url: This server's address for players.
    """

    is_several = True

    def __init__(self, node: Node, url: str) -> None:
        super().__init__()
        if not isinstance(node.store, JetStreamStore):
            raise CannotOpenStore("The store does not support clusters.")
        self._store = store = node.store
        clock = Uninterrupted(node.monotonic_ns)
        self.time = time = ServedTime(store, clock, note_seconds=NOTE_SECONDS, grace_seconds=GRACE_SECONDS)
        self._on_order = node.answer_order
        self._link = store.link
        name = f"{socket.gethostname()}:{node.port}"
        self.members = Members(store.link, name, url, time, lambda: node.drain.is_on)
        self.members.on_gone.add(lambda id: self._missing_a_server.set())
        self._id, self._secret = "", b""
        self._faulty_nodes: set[str] = set()
        self._missing_a_server = asyncio.Event()
        self._copies = Copies(store.link)

    def start(self, core: Core) -> Iterable[Service]:
        link, members = self._link, self.members
        self._core = core
        self.own_rooms = OwnRooms(link, members, core)
        self.other_rooms = OtherRooms(link, members, self.own_rooms, core)
        self._matching = Matching(link, members, self.other_rooms, core)
        self._asked_for = RateLimits(1, _ASKED_MS, core.monotonic_ns)
        for stream in self._store.streams.all:
            stream.on_set_back.append(lambda stream: link.run(self._write_back(stream)))
        return [self]

    @property
    def cluster_status(self) -> ClusterStatus:
        members = self.members
        names = {members.id: members.name, **{id: other.name for id, other in members.others.items()}}
        lost_writes = {stream.name: stream.lost_writes for stream in self._store.streams.all}
        return ClusterStatus(self._id, members.urls, names, members.is_in, self._faulty_nodes, lost_writes)

    async def prepare(self) -> None:
        """Discover the other servers and their rooms, then adopt this server's share of the unowned rooms.

        May raise `StoreUnavailable`.
        """
        self._id, self._secret = await self._store.identity()
        await self._listen()
        await asyncio.sleep(_LISTENING_SECONDS)
        await self.other_rooms.until_read()
        self.members.come_in()
        await self._take_unclaimed(with_unnamed=True)
        self._missing_a_server.set()  # to check again for rooms that a dead server opened just now
        self._core.rooms.knows_all = True
        self._core.rooms.set_restored()

    async def run(self) -> None:
        """Send heartbeats, take over unowned rooms and compare the copies on the NATS nodes, until cancelled."""
        await asyncio.gather(self.members.run(), self._keep_taking(), self._keep_comparing())

    async def leave(self) -> bool:
        if len(self.members.urls) == 1:
            return False
        self.members.leave()
        await wait_until(lambda: not self.own_rooms.rooms, LEAVING_SECONDS)
        await asyncio.sleep(_GOING_SECONDS)
        return True

    def server_of(self, code: str) -> str:
        return self.other_rooms.server_of(code) or self.members.id

    async def ask_order(self, id: str, order: bytes) -> bytes:
        return await self._link.request(messages.ORDERS + id, order)

    async def _listen(self) -> None:
        link, id, members = self._link, self.members.id, self.members
        await messages.listen(link, messages.HEARTBEATS, messages.Heartbeat, self._on_heartbeat)
        await messages.listen(link, messages.NEWS, messages.News, self.other_rooms.on_news)
        await messages.listen(link, messages.CHANGED, tuple[str, str, str], self._on_changed)
        await messages.listen(link, messages.HANDED_OVER + id, tuple[str, int], self.other_rooms.read_again)
        await messages.listen(link, messages.BOARDS + id, list[str], self.own_rooms.boards_of)
        await messages.listen(link, messages.REACHED + id, str, self._is_reached)
        await messages.listen(link, messages.MATCHES + id, messages.MatchRequest, self._matching.find)
        await link.subscribe(messages.HERE + id, lambda message: None)
        await link.subscribe(f"{messages.NOT_THERE}{id}.*", members.on_not_there)
        await link.subscribe(messages.PAGES + id, self.own_rooms.answer_page)
        await link.subscribe(messages.ORDERS + id, lambda order: link.run(self._answer_order(order)))
        await self._copies.open()
        link.on_connected.append(members.listen_anew)

    async def _answer_order(self, order: Message) -> None:
        self._link.publish(order.reply, await self._on_order(order.data))

    @property
    def count(self) -> int:
        return len(self.other_rooms.rooms)

    def find(self, code: str) -> str | None:
        return self.other_rooms.find(code)

    def suits(self, code: str) -> bool:
        return self._store.streams.is_next(code)

    def source_of(self, address: str) -> str:
        """Return a hash of `address` that only the servers of this cluster can compute."""
        return blake2b(address.encode(), key=self._secret, digest_size=12).hexdigest() if address else ""

    async def adopt(self, room: Room, revision: int) -> bool:
        if await self.other_rooms.is_unowned(room):
            self._adopt(room, revision)
        return True

    async def find_match(self, kind: GameKind, player: Player, excluded: Collection[str] = ()) -> RoomAt:
        return await self._matching.find_match(kind, player, excluded)

    def is_chosen(self, key: str) -> bool:
        return self.members.is_chosen_to_begin(key)

    def broadcast_change(self, table: str, key: str) -> None:
        self._link.publish(messages.CHANGED, messages.encode((self.members.id, table, key)))

    def _on_changed(self, change: tuple[str, str, str]) -> None:
        sender, table, key = change
        if sender != self.members.id:
            self.on_changed[table](key)

    async def look_at(self, rooms: Iterable[RoomListing]) -> None:
        await self.other_rooms.look_at(rooms)

    async def ask_for(self, code: str, player: str, url: str) -> None:
        if url not in self.members.urls:
            await super().ask_for(code, player, url)
        other = self.other_rooms.rooms.get(code)
        if other is None or self.find(code) != url:
            return
        if other.room.mark_of(player) is None:
            raise Refused(ErrorCode.NOT_ALLOWED, "not yours", room=code)
        if wait_ms := self._asked_for[code].consume():
            raise Refused(ErrorCode.RATE_LIMITED, "unreachable", retry_ms=wait_ms)
        server, is_reached = other.server, True
        try:
            for pause in (0.0, *repeat(_ASK_SECONDS, math.ceil(_UNREACHED_SECONDS / _ASK_SECONDS))):
                await asyncio.sleep(pause)
                is_reached = await messages.ask(self._link, messages.REACHED + server, messages.encode(code), bool)
        except StoreUnavailable as unavailable:  # heartbeats soon show whether the server is dead
            log.debug("server did not report whether players reach it", reason=str(unavailable))
            return
        if is_reached:
            raise Refused(ErrorCode.NOT_ALLOWED, "reached", retry_ms=_ASKED_MS, room=code, at=url)
        found = await self._store.table(ROOMS).load(code)
        if found is not None and self.other_rooms.rooms.get(code) is other and other.server == server:
            log.info("taking over a room because no player reaches its server", room=code, url=url)
            self._adopt(*found)

    def _is_reached(self, code: str) -> bool:
        """Return whether any player in the room `code` has sent something lately, and ping all players in it."""
        own = self.own_rooms.rooms.get(code)
        connections = [] if own is None else [session.connection for session in own.live.sessions]
        for connection in connections:
            connection.ping()
        return not all(connection.is_silent for connection in connections)

    def _on_heartbeat(self, heartbeat: messages.Heartbeat) -> None:
        if heartbeat.sender != self.members.id:
            if self.members.on_heartbeat(heartbeat):
                self._missing_a_server.set()
            self.other_rooms.follow(heartbeat.sender, heartbeat.number)

    async def _keep_taking(self) -> None:
        """Take over unowned rooms, until cancelled.

        When a server leaves or dies, its announced rooms are taken over at once. A few seconds later, and then
        periodically, the store is searched for rooms that no server has announced.
        """
        is_again = False
        while True:
            seconds = random.uniform(1, 1.2) * (_AGAIN_SECONDS if is_again else _SEEK_SECONDS)
            is_missing = await wait_for(self._missing_a_server, seconds)
            self._missing_a_server.clear()
            try:
                await self._take_unclaimed(with_unnamed=not is_missing)
                if is_again and not is_missing:
                    self.other_rooms.drop_unclaimed()
                is_again = is_missing
            except StoreUnavailable as unavailable:
                log.warning("rooms without a server not loaded yet; retrying", reason=str(unavailable))
                await asyncio.sleep(_PAUSE_SECONDS)
                self._missing_a_server.set()

    async def _keep_comparing(self) -> None:
        """Look for faulty nodes of the store, until cancelled. Each node is logged once until it has recovered."""
        while True:
            with contextlib.suppress(StoreUnavailable):
                found = await self._copies.find_faults(self._store.streams.all)
                for node in found.keys() - self._faulty_nodes:
                    log.error("store node is faulty", reason=" ".join(found[node]))
                self._faulty_nodes = {*found}
            await asyncio.sleep(_COMPARE_SECONDS)

    async def _take_unclaimed(self, *, with_unnamed: bool) -> None:
        """Adopt this server's share of the unowned rooms; `with_unnamed` includes stored, unannounced rooms."""
        await self.other_rooms.until_read()
        await self._take(self.other_rooms.unclaimed())
        if with_unnamed:
            async for codes in self._store.table(ROOMS).all_keys():
                asleep, others = self._core.rooms.asleep, self.other_rooms.rooms
                await self._take([code for code in codes if code not in others and code not in asleep])

    async def _take(self, codes: list[str]) -> None:
        rooms, owned, taken = self._store.table(ROOMS), [*filter(self._is_ours, codes)], 0
        for first in range(0, len(owned), _LOADED_AT_ONCE):
            some = owned[first : first + _LOADED_AT_ONCE]
            loads = await asyncio.gather(*map(rooms.load, some), return_exceptions=True)
            for code, found in zip(some, loads, strict=True):
                if isinstance(found, Unreadable):
                    log_damaged_room(code, found)
                elif isinstance(found, BaseException):
                    raise found
                elif found is not None and self._is_ours(code):
                    is_awake = code in self.other_rooms.rooms
                    if not is_awake and any(sleeps(found[0]) for sleeps in self._core.rooms.leaving_asleep):
                        continue
                    is_old = is_awake or self._core.time() - found[0].opened_at >= YOUNG_MS
                    taken += is_old and self._adopt(*found, taken)
        if taken:
            log.info("rooms taken over", rooms=taken)

    def _is_ours(self, code: str) -> bool:
        return self.other_rooms.is_free(code) and self.members.chosen_for(code) == self.members.id

    async def _write_back(self, stream: Stream) -> None:
        """Store this server's rooms in `stream` again from memory, because the stream has lost writes."""
        rooms, now = self._store.table(ROOMS), self._core.time()
        lives = [own.live for own in self.own_rooms.rooms.values()]
        wanted = [live for live in lives if self._store.streams.of(rooms.subject_of(live.room.code)) is stream]
        for first in range(0, len(wanted), _LOADED_AT_ONCE):
            some = (RoomChange(live, now, make=copy.copy) for live in wanted[first : first + _LOADED_AT_ONCE])
            await asyncio.gather(*(change.until_settled() for change in some), return_exceptions=True)

    def _adopt(self, room: Room, revision: int, number: int = 0) -> bool:
        """Adopt a stored room and return True, or return False if this server has it already.

        If players have not followed a few seconds later, their seats are held. In a batch of adopted rooms, `number` is
        the position of the room and spreads these timers.
        """
        other = self.other_rooms.drop(room.code)
        owner, source = ("", "") if other is None else (other.owner, other.source)
        live = self._core.rooms.adopt(room, revision, owner=owner, source=source)
        if live is None:
            return False
        if other is not None:
            self.own_rooms.claim_since(room.code, other.since)
        later = MISSING_SECONDS + random.uniform(0, number / _DROPPED_A_SECOND)
        self._core.scheduler.after(later, partial(self._core.timers.drop_missing, live))
        return True


class Matching:
    """Finds opponents for players: for each kind of game, one server keeps track of the waiting rooms."""

    def __init__(self, link: Link, members: Members, rooms: OtherRooms, core: Core) -> None:
        self._link = link
        self._members = members
        self._rooms = rooms
        self._indexes = core.indexes
        self._find_here = core.rooms.find_here
        self._scheduler = core.scheduler
        self._policies = core.hooks.policies
        self._kept: dict[str, RoomListing] = {}

    async def find_match(self, kind: GameKind, player: Player, excluded: Collection[str] = ()) -> RoomAt:
        """Return the room for a player and the URL of its server; see `RemoteServers.find_match`."""
        rules, clock, name = kind
        own, code, fields = self._members.id, self._indexes.new_code(), RulesFields.of(rules)
        purpose = self._policies[name].purpose
        request = messages.MatchRequest(own, player.id, player.name, fields, clock, code, purpose, tuple(excluded))
        key = "match/" + msgspec.json.encode((request.rules, clock)).decode()
        for _ in range(_ATTEMPTS):
            chosen = self._members.chosen_for(key)
            if chosen == own:
                found = self.find(request)
            else:
                subject, question = messages.MATCHES + chosen, messages.encode(request)
                try:
                    found = await messages.ask(self._link, subject, question, messages.Found, _ANSWER_SECONDS)
                except StoreUnavailable:
                    log.debug("match request not answered; retrying", server=chosen)
                    await asyncio.sleep(_MATCH_PAUSE_SECONDS)
                    continue
            url = self._members.url_of(found.server)
            is_here = found.server == own and self._find_here(found.code) is not None
            if url is not None or not found.server or is_here:
                return found.code, url
            await asyncio.sleep(_MATCH_PAUSE_SECONDS)  # the room has just been closed
        raise StoreUnavailable("no server answers requests for a match")

    def find(self, request: messages.MatchRequest) -> messages.Found:
        """Return the room for the player in `request`, and reserve the seat for a while; may raise `InvalidRules`."""
        kind = request.rules.to_rules(), request.clock, request.purpose.name
        player = Player(request.player, request.name)
        matchmaker = self._indexes.matchmaker
        if player.id in self._kept:
            self._release_seat(self._kept[player.id], player)
        own = [listed for listed in self._indexes.seats.rooms_of(player.id) if kind_of(listed.room) == kind]
        waiting = (one for one in own if one.room.status == "waiting" and one.room.visibility == "public")
        listed: RoomListing | None = next(waiting, None) or matchmaker.find(kind, player.id, request.excluded)
        if listed is None:
            if request.sender != self._members.id:  # the next player will be sent to the room that the sender opens
                room = open_room(request.code, kind[0], player, 0, clock=request.clock, purpose=request.purpose)
                expected = self._rooms.expect(request.sender, room)
                matchmaker.offer(expected)
                self._scheduler.after(RESERVED_SECONDS, partial(self._rooms.stop_expecting, expected))
            return messages.Found(request.code)
        if listed.room.mark_of(player.id) is None:
            listed.entering |= {player.id}
            self._kept[player.id] = listed
            self._scheduler.after(RESERVED_SECONDS, partial(self._release_seat, listed, player))
        return messages.Found(listed.room.code, listed.server if isinstance(listed, OtherRoom) else self._members.id)

    def _release_seat(self, listed: RoomListing, player: Player) -> None:
        if self._kept.get(player.id) is listed:
            del self._kept[player.id]
            listed.entering -= {player.id}
            self._indexes.matchmaker.offer(listed)


class Uninterrupted:
    """A monotonic clock in ns that stands still while this process is suspended; the other servers go on meanwhile."""

    def __init__(self, monotonic_ns: Callable[[], int]) -> None:
        self._monotonic_ns = monotonic_ns
        self._seen_ns = monotonic_ns()
        self._missed_ns = 0

    def __call__(self) -> int:
        now = self._monotonic_ns()
        if now - self._seen_ns > _MOST_NS:
            self._missed_ns += now - self._seen_ns
        self._seen_ns = now
        return now - self._missed_ns
