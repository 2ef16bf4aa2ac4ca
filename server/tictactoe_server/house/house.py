"""Several servers that serve one another's players: this one among them.

A room is served by one of them at a time, its owner. The others know all rooms from what is stored, and bring their
players' requests to the owner; what it answers and shows comes back to them. Where servers come or go rooms move, and
the sessions that are in them are led to where these are now.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
import structlog

from tictactoe_protocol.requests import Request
from tictactoe_server.house import matching, members
from tictactoe_server.house.errands import Errands
from tictactoe_server.house.guests import Guest
from tictactoe_server.house.matching import Matching
from tictactoe_server.house.members import BEAT_SECONDS, Members
from tictactoe_server.house.parcels import (
    Answered,
    Asked,
    Done,
    Entered,
    Item,
    Left,
    Lost,
    Met,
    Parted,
    Rejoined,
    Returned,
    Sent,
    decode_parcel,
)
from tictactoe_server.house.reception import Reception
from tictactoe_server.house.ways import Way
from tictactoe_server.rooms import Player
from tictactoe_server.stores import Ban, StoreUnavailable
from tictactoe_server.stores.jetstream import JetStreamStore, LinkError, Message
from tictactoe_server.tables import Agenda, Changes, LiveRoom, Registry, ServedTime, Session, Timers
from tictactoe_server.tables.matchmaking import GameKind

NOTE_SECONDS: Final = 0.2
GRACE_SECONDS: Final = 0.5
"""How often the time is noted, and after how long without an answer it stands still: together with the next look less
than a second, which is what an outage of the store may cost a player."""

_PARCELS: Final = "house.to."
ORDERS: Final = "house.order."
"""To one server, with its id behind it: an order of the operator's."""

_UNHEARD: Final = "house.unheard."
_LISTENING_SECONDS: Final = 2 * BEAT_SECONDS
_NEARLY: Final = 100
"""So many messages behind the stream a server knows enough to be one of the house again."""

log: Final = structlog.get_logger(__name__)


class House:
    """Let `open` begin it and `keep` run beside the server; `leave` is its orderly end.

    `name` is what people call this server; `make_guest` returns the session for one of another server.
    """

    def __init__(
        self,
        store: JetStreamStore,
        name: str,
        registry: Registry,
        changes: Changes,
        timers: Timers,
        agenda: Agenda,
        served: ServedTime,
        make_guest: Callable[[Way, Met], Guest],
    ) -> None:
        self._link = store.link
        self._feed = store.feed
        self._registry = registry
        self._ways: dict[str, Way] = {}
        self.members = Members(secrets.token_hex(6), name, self._send_to_all, served, served.go_on_from)
        self._errands = errands = Errands(self.members, registry, self._way_to)
        self._reception = reception = Reception(registry, changes, timers, served, make_guest)
        self._matching = Matching(self._link, self.members, registry, agenda, served)
        self._counted: set[LiveRoom] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.on_order: Callable[[bytes], Awaitable[bytes]] | None = None
        self.on_ban: Callable[[str, Ban | None], None] = lambda subject, ban: None
        registry.is_shared = True
        registry.is_own = self.members.is_own
        registry.on_moved = errands.moved
        registry.on_present = reception.let_return
        errands.rejoin = reception.rejoin
        self.members.on_change = self._set_apart
        self.members.on_come = self._welcome
        self.members.watched = self._take_watched
        timers.on_counted = self._counted.add
        self.members.on_watched = registry.hear_watched
        self.members.on_gone = self._lose

    async def open(self) -> None:
        """Get to know all rooms and all other servers, and be one of them; raises `StoreUnavailable`."""
        id = self.members.id
        await self._link.subscribe(_PARCELS + id, self._received)
        await self._link.subscribe(f"{_UNHEARD}{id}.*", self._not_heard)
        await self._link.subscribe(matching.SUBJECT + id, self._sought)
        await self._link.subscribe(ORDERS + id, self._ordered)
        await self._link.subscribe(members.SUBJECT, lambda message: self.members.heard(message.data))
        self._link.on_connected.append(self._connected)
        await self._feed.start(self)
        await asyncio.sleep(_LISTENING_SECONDS)
        self.members.come_in()
        self._registry.knows_all = True
        self._registry.set_restored()

    async def keep(self) -> None:
        """Say that this server lives, and see to what waits, until cancelled."""
        await asyncio.gather(self.members.keep(), self._errands.keep(), self._come_back())

    def leave(self) -> bool:
        """Give all rooms to the others, who are told so; tell whether there are any."""
        if all(member.is_leaving for member in self.members.others):
            return False
        self.members.leave()
        return True

    # -- for the desk -------------------------------------------------------------------------------------------

    def ask(self, session: Session, request: Request, code: str, now: int) -> None:
        """Bring a request to the server that serves a room; see `Errands.ask`."""
        self._errands.ask(session, request, code, now)

    def lead_back(self, session: Session, code: str) -> bool:
        """Bring a session into a room of this server in which it was while others served it; tell whether it was."""
        if code in session.elsewhere:
            self._errands.lead_back(session, code)
        return code in session.rooms

    def dismiss(self, session: Session) -> None:
        """Take notice that a session of this server is over."""
        self._errands.dismiss(session)

    async def seek(self, kind: GameKind, player: Player) -> tuple[str, bool]:
        """Return the code of the room for one who asks for a match, and whether to open it; see `Matching.seek`."""
        return await self._matching.seek(kind, player)

    # -- for the operator ---------------------------------------------------------------------------------------

    async def lag(self) -> int | None:
        """Return how many changes of the store have not come to this server yet, None where nobody can say."""
        with contextlib.suppress(StoreUnavailable):
            return await self._feed.lag()
        return None

    async def ask_order(self, id: str, order: bytes) -> bytes:
        """Return what another server's operator's office answers; raises `StoreUnavailable`."""
        try:
            return await self._link.request(ORDERS + id, order)
        except LinkError as error:
            raise StoreUnavailable(str(error)) from error

    # -- for the feed -------------------------------------------------------------------------------------------

    def room_changed(self, code: str, revision: int, document: bytes | None) -> None:
        """Hear of a room that was stored, or of its end."""
        self._registry.room_changed(code, revision, document)

    def ban_changed(self, subject: str, ban: Ban | None) -> None:
        """Hear of a ban, or of its end."""
        self.on_ban(subject, ban)

    # -- inside -------------------------------------------------------------------------------------------------

    async def _come_back(self) -> None:
        """Be in the house again once everything is known that happened without this server."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            if self.members.is_in or self.members.is_leaving or not self._link.is_connected:
                continue
            with contextlib.suppress(StoreUnavailable):
                if await self._feed.lag() <= _NEARLY:
                    self.members.come_in()

    def _set_apart(self) -> None:
        self._registry.set_apart()
        self._errands.settle()

    def _welcome(self, id: str) -> None:
        """Have a server that came say what it has to say to this one, and tell it what it cannot read in the store."""
        self._way_to(id).put(Lost())
        self._counted.update(live for live in self._registry.rooms if live.watchers)

    def _take_watched(self) -> dict[str, int]:
        """Return how many watch each room of this server in which that changed since it was said last."""
        watched = {live.room.code: len(live.watchers) for live in self._counted if not live.is_elsewhere}
        self._counted.clear()
        return watched

    def _lose(self, id: str) -> None:
        self._ways.pop(id, None)
        self._reception.lose(id)
        self._errands.lost(id)

    def _connected(self) -> None:
        """Say everything again: nobody knows what was lost meanwhile."""
        for way in list(self._ways.values()):
            way.put(Lost())
            self._errands.lost(way.to)

    def _way_to(self, id: str) -> Way:
        way = self._ways.get(id)
        if way is None:
            way = self._ways[id] = Way(self.members.id, id, self._send)
        return way

    def _send(self, to: str, parcel: bytes) -> None:
        self._link.publish(_PARCELS + to, parcel, reply=f"{_UNHEARD}{self.members.id}.{to}")

    def _send_to_all(self, beat: bytes) -> None:
        self._link.publish(members.SUBJECT, beat)

    def _not_heard(self, message: Message) -> None:
        """Take notice that nobody takes what is sent to a server: it is gone."""
        self.members.lose(message.subject.rpartition(".")[2])

    def _ordered(self, message: Message) -> None:
        if self.on_order is not None:
            task = asyncio.create_task(self._answer_order(self.on_order(message.data), message.reply))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer_order(self, answer: Awaitable[bytes], reply: str) -> None:
        self._link.publish(reply, await answer)

    def _sought(self, message: Message) -> None:
        self._link.publish(message.reply, self._matching.answer(message.data))

    def _received(self, message: Message) -> None:
        """Take a parcel in."""
        try:
            parcel = decode_parcel(message.data)
        except msgspec.DecodeError as error:
            log.error("a parcel cannot be read", reason=str(error))
            return
        if not self.members.is_living(parcel.sender):  # what it does not know yet is said to it when it is back
            return
        way = self._way_to(parcel.sender)
        before, way.heard = way.heard, parcel.number
        if parcel.number not in (before + 1, 1):
            log.debug("a parcel was lost", server=self.members.name_of(parcel.sender))
            way.put(Lost())
            self._errands.lost(parcel.sender)
        for item in parcel.items:
            try:
                self._take(way, item)
            except Exception:
                log.exception("an item of a parcel failed", item=type(item).__name__)

    def _take(self, way: Way, item: Item) -> None:
        match item:
            case Sent():
                self._errands.sent(way.to, item)
            case Asked():
                self._reception.asked(way, item)
            case Answered():
                self._errands.answered(item)
            case Done():
                self._errands.done(item)
            case Met():
                self._reception.met(way, item)
            case Entered():
                self._errands.entered(way.to, item)
            case Parted():
                self._errands.parted(way.to, item)
            case Rejoined():
                self._reception.rejoined(way, item)
            case Returned():
                self._errands.returned(item)
            case Left():
                self._reception.left(way, item)
            case Lost():
                self._errands.lost(way.to)
