"""The stored tournaments, with a copy of the current ones in memory. Every change is a compare-and-set in the store.

Commands that arrive while a tournament is being stored are applied together, and stored together, afterwards.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any, Final, cast

import msgspec
from msgspec.structs import replace

from tictactoe_protocol import BadRoomCode, ErrorCode, parse_room_code
from tictactoe_server import clock
from tictactoe_server.core.core import Core
from tictactoe_server.features.tournaments.commands import Command, apply
from tictactoe_server.features.tournaments.event import Event, with_stand_in
from tictactoe_server.records.changes import ATTEMPTS, Change, Phase
from tictactoe_server.records.mirror import Mirror
from tictactoe_server.rooms.room import Refused
from tictactoe_server.scheduler import Listeners, Tasks
from tictactoe_server.storage.specs import Persons, TableSpec
from tictactoe_server.storage.store import Conflict, Pending, StoreUnavailable, values_of

REREAD_SECONDS: Final = 3.0  # between reads of unfinished tournaments, because notices between servers may be lost
RELOAD_SECONDS: Final = 30.0  # between reads of all tournaments
OLD_SECONDS: Final = 3_600.0  # between searches for old tournaments, which are deleted
OVER_DAYS: Final = 365  # how long a finished tournament is kept, in days of served time
IDLE_DAYS: Final = 14  # how long an open, paused or void tournament is kept
MAX_OVER: Final = 200  # finished tournaments in memory
MAX_BYTES: Final = 8_000_000  # of an unpacked document; the largest possible tournament is smaller

_DAY_MS: Final = 86_400_000

_decode: Final = msgspec.json.Decoder(Event).decode


def _pack(event: Event) -> bytes:
    return zlib.compress(msgspec.json.encode(event), 1)  # 200 entrants must fit into one message of NATS


def _unpack(document: bytes) -> Event:
    try:
        return _decode(zlib.decompressobj().decompress(document, MAX_BYTES))
    except zlib.error as error:
        raise ValueError(str(error)) from error


EVENTS: Final[TableSpec[Event]] = TableSpec(
    *("events", "event", _pack, _unpack),
    key_of=lambda event: event.code,
    persons=Persons(
        lambda event: {*event.organisers, *(entrant.player for entrant in event.entrants)},
        with_stand_in,
        lambda event: {"event": event.code, "title": event.title},
    ),
)
"""Tournaments by code."""

ORGANISERS: Final[TableSpec[str]] = TableSpec(
    *("organisers", "organiser", msgspec.json.encode, msgspec.json.Decoder(str).decode),
    persons=Persons(lambda player: (player,)),
)
"""The ids of the players who may open tournaments on a server that hides names; key and value are the same."""


class _Commands(Change[Event], kw_only=True, eq=False):
    """Commands that are applied in order and stored together.

    Attributes:
        asked: The id of each command's sender ("" for the server), the command, and the caller's pending result.
        outcomes: For each command, the event after it, or why it was refused.
    """

    events: Any  # the `EventStore`
    asked: list[tuple[str, Command, Pending]]
    outcomes: Sequence[Event | Refused] = ()

    def apply(self, event: Event | None) -> Event:
        if event is None:
            raise no_such_event(self.live.key)
        self.outcomes = outcomes = list[Event | Refused]()
        for actor, command, _ in self.asked:
            try:
                event = apply(event, actor, command, self.events.now())
                outcomes.append(event)
            except Refused as refused:
                if self.events.elsewhere.is_several and not self.attempts:
                    raise Conflict from None  # another server may have changed it just now
                outcomes.append(refused)
        return event

    def stored(self, revision: int) -> None:
        super().stored(revision)
        self.events.elsewhere.broadcast_change(EVENTS.name, self.live.key)

    def settled(self, error: Exception | None) -> None:
        for (_, _, waiter), outcome in zip(self.asked, repeat(error) if error else self.outcomes, strict=False):
            waiter.failed(outcome) if isinstance(outcome, Exception) else waiter.stored(outcome)


class EventStore:
    """All current events and some finished ones.

    Attributes:
        on_change: Called with each new or changed event and its previous value, which is None for a new event.
        restored: Set once all unfinished tournaments are loaded.
    """

    def __init__(self, core: Core, tasks: Tasks) -> None:
        self.now = core.time
        self.elsewhere = core.rooms.elsewhere
        self._new_code = core.indexes.new_code
        self._over: dict[str, None] = {}  # codes of the finished tournaments in memory, the latest last
        self.on_change = Listeners[[Event, Event | None]]()
        self._mirror = Mirror(core.store.table(EVENTS), EVENTS.name, self.elsewhere, tasks, self._is_wanted)
        self._mirror.on_change.add(self._note)
        self.restored = self._mirror.loaded

    @property
    def current(self) -> list[Event]:
        return [event for event in self._mirror if not event.is_over]

    def known(self, code: str) -> Event | None:
        return self._mirror.get(code)

    async def find(self, text: str) -> Event:
        """Return the event with a code in any spelling; raise `Refused` or `StoreUnavailable`."""
        try:
            code = parse_room_code(text)
        except BadRoomCode:
            raise no_such_event(text) from None
        return await self.load(code)

    async def load(self, code: str) -> Event:
        """Return an event, from memory unless it may have changed; raise `Refused` or `StoreUnavailable`."""
        stored = self._mirror.holder(code)
        return await self.read(code) if stored.phase is Phase.UNCERTAIN else stored.value

    async def read(self, code: str) -> Event:
        """Return an event as it is stored now; raise `Refused` or `StoreUnavailable`."""
        event = await self._mirror.read(code)
        if event is None:
            raise no_such_event(code)
        return event

    async def open(self, event: Event) -> Event:
        """Store a new event under a free code, and return it; raise `Refused` or `StoreUnavailable`."""

        def create(old: Event | None) -> Event:
            return old or event

        for _ in range(ATTEMPTS):
            event = replace(event, code=self._new_code())
            if await self._mirror.change(event.code, create) == event:
                return event
        raise Refused(ErrorCode.BUSY, "server", retry_ms=500)

    async def change(self, code: str, actor: str, command: Command) -> Event:
        """Apply a command of the player `actor` ("" for the server), and return the event once it is stored.

        Raise `Refused` or `StoreUnavailable`.
        """
        held = self._mirror.holder(code)
        last = held.waiting[-1] if held.waiting else None
        if not isinstance(last, _Commands):
            last = _Commands(live=held, events=self, asked=[], asked_at=clock.monotonic())
            held.waiting.append(last)
            held.answer_in_time(last)
            asyncio.get_running_loop().call_soon(held.go_on)  # stores this turn's commands together
        waiter = Pending()
        last.asked.append((actor, command, waiter))
        return cast(Event, await waiter.future)

    async def run(self) -> None:
        """Load all events, reload those changed by other servers, and delete old ones, until cancelled."""
        await asyncio.gather(self._mirror.run(RELOAD_SECONDS), self._keep_current(), self._delete_old())

    async def _keep_current(self) -> None:
        while self.elsewhere.is_several:
            await asyncio.sleep(REREAD_SECONDS)
            for event in self.current:
                self._mirror.holder(event.code).read_again()

    async def _delete_old(self) -> None:
        while True:
            with suppress(StoreUnavailable):  # the next search will delete them
                async for code, event, _ in values_of(self._mirror.table):
                    if self._is_old(event):
                        await self._mirror.change(code, lambda old: None if old and self._is_old(old) else old)
            await asyncio.sleep(OLD_SECONDS)

    def _is_wanted(self, code: str, event: Event | None) -> bool:
        return event is None or not event.is_over or self.known(code) is not None

    def _is_old(self, event: Event) -> bool:
        newest = max([event.opened_at, *(pairing.opened_at for pairing in event.pairings)])
        days = OVER_DAYS if event.status == "over" else IDLE_DAYS
        return event.status != "running" and self.now() - newest > days * _DAY_MS

    def _note(self, code: str, before: Event | None, event: Event | None) -> None:
        if event is None:
            return
        if event.is_over:
            self._over.pop(code, None)
            self._over[code] = None
            if len(self._over) > MAX_OVER:
                oldest = next(iter(self._over))
                del self._over[oldest]
                self._mirror.forget(oldest)
        self.on_change(event, before)


def no_such_event(text: str) -> Refused:
    """Return the refusal for a code that no tournament has."""
    return Refused(ErrorCode.NO_SUCH_EVENT, path="event", event=text[:40])
