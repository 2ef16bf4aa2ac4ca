"""Several servers that share their players and rooms: this one among them.

A room is served where it was opened, and its players go there; when its server goes, the others take its rooms over.
Each knows outlines of the rooms of all. Two that believe a moment long that a room is theirs cannot both change it,
because every save is a compare-and-set.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from hashlib import blake2b
from typing import Final

import structlog

from tictactoe_server.cluster import matching, members, outlines
from tictactoe_server.cluster.jetstream.link import Message
from tictactoe_server.cluster.jetstream.store import JetStreamStore
from tictactoe_server.cluster.matching import Matching
from tictactoe_server.cluster.members import BEAT_SECONDS, Members
from tictactoe_server.cluster.messages import Beat
from tictactoe_server.cluster.outlines import Outlines
from tictactoe_server.core.agenda import Agenda
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.matchmaking import GameKind
from tictactoe_server.core.registry import Registry
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.core.timers import Timers
from tictactoe_server.rooms import Player, Room
from tictactoe_server.storage.store import Ban, StoreUnavailable, Unreadable

NOTE_SECONDS: Final = 0.2
GRACE_SECONDS: Final = 0.5
"""How often the time is noted, and after how long without an answer it stands still: together with the next look less
than a second, which is what an outage of the store may cost a player."""

ORDERS: Final = "house.order."
"""To one server, with its id behind it: an order of the operator's."""

MISSING_SECONDS: Final = 3.0
"""How long after a room came from another server its players may take to come."""

LEAVING_SECONDS: Final = 3.0
"""How long a server that leaves waits for others to take its rooms."""

_HERE: Final = "house.here."
_NOT_THERE: Final = "house.not."
_GOING_SECONDS: Final = 0.5
"""How long players have to go to where their rooms are, before they hear that this server goes."""

_LISTENING_SECONDS: Final = 2 * BEAT_SECONDS
_AGAIN_SECONDS: Final = 5.0
_SEEK_SECONDS: Final = 600.0
_PAUSE_SECONDS: Final = 0.5
_LOADED_AT_ONCE: Final = 50
_DROPPED_A_SECOND: Final = 200

log: Final = structlog.get_logger(__name__)


class Cluster:
    """Let `open` begin it and `keep` run beside the server; `leave` is its orderly end.

    `id` is what the cluster is known by to players, `name` what people call this server, `url` where it is reached.
    """

    def __init__(
        self,
        store: JetStreamStore,
        name: str,
        url: str,
        registry: Registry,
        timers: Timers,
        agenda: Agenda,
        served: ServedTime,
    ) -> None:
        self.id = ""
        self._store = store
        self._link = link = store.link
        self._registry = registry
        self._timers = timers
        self._agenda = agenda
        self.members = Members(
            name,
            url,
            secrets.token_hex(6),
            self._send_beat,
            lambda: link.is_connected,
            served,
            served.go_on_from,
        )
        self.outlines = Outlines(link, self.members, registry, served)
        self._matching = Matching(link, self.members, self.outlines, registry, agenda)
        self._served = served
        self._secret = b""
        self._leaving: set[str] = set()
        self._missing_a_server = asyncio.Event()
        self.on_order: Callable[[bytes], Awaitable[bytes]] | None = None
        self.members.on_beat = self._heard
        self.members.on_gone = self._lost
        timers.on_counted.add(self.outlines.tell)
        self.outlines.matching = self._matching.seek
        registry.elsewhere = self.outlines
        registry.take_found = self._take_in
        registry.source_of = self._source_of

    @property
    def urls(self) -> tuple[str, ...]:
        """Where the living servers are reached, this one first."""
        return self.members.urls

    async def open(self, on_ban: Callable[[str, Ban | None], None]) -> None:
        """Get to know all other servers and their rooms, and take those of nobody; raises `StoreUnavailable`.

        `on_ban` is called with each ban that any of them keeps, or forgets.
        """
        self.id, self._secret = await self._store.identity()
        self.outlines.id = self.id
        id, subscribe = self.members.id, self._link.subscribe
        await subscribe(members.SUBJECT, lambda message: self.members.heard(message.data))
        self._link.on_connected.append(self.members.listen_anew)
        await subscribe(_HERE + id, lambda message: None)
        await subscribe(f"{_NOT_THERE}{id}.*", self._not_there)
        await subscribe(outlines.NEWS, lambda message: self.outlines.hear_news(message.data))
        await subscribe(outlines.PAGES + id, partial(self._answer, self.outlines.answer_page))
        await subscribe(outlines.BOARDS + id, partial(self._answer, self.outlines.answer_boards))
        await subscribe(outlines.GAVE + id, lambda message: self.outlines.hear_gave(message.data))
        await subscribe(matching.SUBJECT + id, partial(self._answer, self._matching.answer))
        await subscribe(ORDERS + id, self._ordered)
        await self._store.follow_bans(on_ban)
        await asyncio.sleep(_LISTENING_SECONDS)
        await self.outlines.until_read()
        self.members.come_in()
        await self._take_those_of_nobody()
        self._missing_a_server.set()  # to look again for what was just opened by one who is gone
        self._registry.knows_all = True
        self._registry.set_restored()

    async def keep(self) -> None:
        """Say that this server lives, and take over what nobody has, until cancelled."""
        await asyncio.gather(self.members.keep(), self._keep_taking())

    async def leave(self) -> bool:
        """Give all rooms to the others and return when they have them; tell whether there are any."""
        if len(self.members.urls) == 1:
            return False
        self.members.leave()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEAVING_SECONDS):
                while self.outlines.own:  # noqa: ASYNC110  # each of them goes by itself
                    await asyncio.sleep(0.01)
        await asyncio.sleep(_GOING_SECONDS)
        return True

    async def seek(self, kind: GameKind, player: Player) -> tuple[str, str | None]:
        """Return the room for one who asks for a match, and where it is; see `Matching.seek`."""
        return await self._matching.seek(kind, player)

    def server_of(self, code: str) -> str:
        """Return the id of the server that has a room, this one's where no other has it."""
        url = self.outlines.find(code)
        return next((beat.sender for beat in self.members.others if beat.url == url), self.members.id)

    async def ask_order(self, id: str, order: bytes) -> bytes:
        """Return what another server answers to an operator's order; raises `StoreUnavailable`."""
        return await self._link.request(ORDERS + id, order)

    # -- rooms that come here -----------------------------------------------------------------------------------

    def _send_beat(self, beat: bytes) -> None:
        """Say that this server lives, and send each of the others what only comes back where that one is not there."""
        self._link.publish(members.SUBJECT, beat)
        for other in self.members.others:
            self._link.publish(_HERE + other.sender, reply=f"{_NOT_THERE}{self.members.id}.{other.sender}")

    def _not_there(self, message: Message) -> None:
        self.members.not_there(message.subject.rpartition(".")[2])

    def _heard(self, beat: Beat) -> None:
        self.outlines.follow(beat.sender, beat.number)
        if beat.is_leaving and beat.sender not in self._leaving:
            self._leaving.add(beat.sender)
            self._missing_a_server.set()

    def _lost(self, id: str) -> None:
        self._leaving.discard(id)
        self.outlines.forget_server(id)
        self._missing_a_server.set()

    async def _keep_taking(self) -> None:
        """Take over the rooms of servers that leave or are gone, and again when all must have told what they have.

        Now and then there is one that was stored though its opener was told that it could not be.
        """
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SEEK_SECONDS):
                    await self._missing_a_server.wait()
            self._missing_a_server.clear()
            try:
                await self._take_those_of_nobody()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_AGAIN_SECONDS):
                        await self._missing_a_server.wait()
                        continue
                await self._take_those_of_nobody()
                self.outlines.drop_those_of_nobody()
            except StoreUnavailable as unavailable:
                log.warning("rooms of nobody cannot be read yet", reason=str(unavailable))
                await asyncio.sleep(_PAUSE_SECONDS)
                self._missing_a_server.set()

    async def _take_those_of_nobody(self) -> None:
        """Serve the stored rooms that no server has and for which this one is chosen; raises `StoreUnavailable`."""
        taken = 0
        async for some in self._store.rooms.load_all(self._is_for_this):
            for stored in some:
                if isinstance(stored.value, Unreadable):
                    log.error("a damaged room is left alone", room=stored.key, reason=str(stored.value))
                elif self.outlines.is_known(stored.key) or not self._is_young(stored.value):
                    taken += self._take_in(stored.value, stored.revision, taken)
                if taken % _LOADED_AT_ONCE == 0:
                    await asyncio.sleep(0)
        missed = list(filter(self._is_for_this, self.outlines.known))  # they were written while the others were read
        for first in range(0, len(missed), _LOADED_AT_ONCE):
            loads = map(self._store.rooms.load, missed[first : first + _LOADED_AT_ONCE])
            for found in await asyncio.gather(*loads, return_exceptions=True):
                if isinstance(found, tuple):
                    taken += self._take_in(*found, taken)
        if taken:
            log.info("rooms taken over", rooms=taken)

    def _is_for_this(self, code: str) -> bool:
        return self.outlines.is_free(code) and self.members.chosen_for(code) == self.members.id

    def _is_young(self, room: Room) -> bool:
        return self._served() - room.opened_at < outlines.YOUNG_MS

    def _take_in(self, room: Room, revision: int, number: int = 0) -> bool:
        """Serve a room, one of a `number` that come at once; tell whether it is new here."""
        other = self.outlines.drop(room.code)
        owner, source = ("", "") if other is None else (other.owner, other.source)
        live = self._registry.take_in(room, revision, owner=owner, source=source)
        if live is None:
            return False
        if other is not None:
            self.outlines.take_since(room.code, other.since)
        later = MISSING_SECONDS + random.uniform(0, number / _DROPPED_A_SECOND)
        self._agenda.at(asyncio.get_running_loop().time() + later, partial(self._drop_missing, live))
        return True

    def _drop_missing(self, live: LiveRoom) -> None:
        """Hold the seats of those who were here when the room came, and did not come since."""
        for seat in () if live.is_gone else live.room.seats.values():
            if seat is not None and seat.online and not seat.bot and seat.player not in live.players:
                self._timers.drop(live, Player(seat.player, seat.name))

    # -- inside -------------------------------------------------------------------------------------------------

    def _source_of(self, address: str) -> str:
        """Return what the servers know an address by, which tells it to nobody else."""
        return blake2b(address.encode(), key=self._secret, digest_size=12).hexdigest() if address else ""

    def _answer(self, answer: Callable[[bytes], bytes], message: Message) -> None:
        self._link.publish(message.reply, answer(message.data))

    def _ordered(self, message: Message) -> None:
        if self.on_order is not None:
            self._link.run(self._answer_order(self.on_order(message.data), message.reply))

    async def _answer_order(self, answer: Awaitable[bytes], reply: str) -> None:
        self._link.publish(reply, await answer)
