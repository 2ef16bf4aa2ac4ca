"""Events in the store: found, opened and changed by compare-and-set, by this server or another one.

Commands that arrive while an event is being stored are applied and stored together afterwards.
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

REREAD_SECONDS: Final = 3.0  # between reads of current events, as a cluster may lose notices
RELOAD_SECONDS: Final = 30.0  # the same for all events
OLD_SECONDS: Final = 3_600.0  # between searches for old events
OVER_DAYS: Final = 365
IDLE_DAYS: Final = 14  # for events that are not running; both are days of served time
MAX_OVER: Final = 200  # finished events in memory
MAX_BYTES: Final = 8_000_000  # of an unpacked document, more than the largest possible event

_DAY_MS: Final = 86_400_000

_decode: Final = msgspec.json.Decoder(Event).decode


def _pack(event: Event) -> bytes:
    return zlib.compress(msgspec.json.encode(event), 1)  # so that an event of 200 fits into one message of the store


def _unpack(document: bytes) -> Event:
    try:
        return _decode(zlib.decompressobj().decompress(document, MAX_BYTES))
    except zlib.error as error:
        raise ValueError(str(error)) from error


EVENTS: Final[TableSpec[Event]] = TableSpec(
    *("events", "event", _pack, _unpack),
    label="Event {key}",
    key_of=lambda event: event.code,
    persons=Persons(
        lambda event: {*event.organisers, *(one.player for one in event.entrants)},
        with_stand_in,
        lambda event: {"event": event.code, "title": event.title},
    ),
)
"""By their codes."""

ORGANISERS: Final[TableSpec[str]] = TableSpec(
    *("organisers", "organiser", msgspec.json.encode, msgspec.json.Decoder(str).decode),
    persons=Persons(lambda player: (player,)),
)
"""The ids of the players who may open events although the server hides names."""


class _Commands(Change[Event], kw_only=True, eq=False):
    """Commands that are applied in order and stored together, each with its actor and a waiter."""

    events: Any  # the `KeptEvents`
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


class KeptEvents:
    """All current events and some finished ones.

    Attributes:
        on_change: Called with each new or changed event and its former value, None for a new one.
        restored: Set once all current events are loaded.
    """

    def __init__(self, core: Core, tasks: Tasks) -> None:
        self.now = core.time
        self.elsewhere = core.rooms.elsewhere
        self._new_code = core.indexes.new_code
        self._over: dict[str, None] = {}  # finished events in memory, by code, the newest last
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
        """Return an event by its code in any spelling; raises `Refused` or `StoreUnavailable`."""
        try:
            code = parse_room_code(text)
        except BadRoomCode:
            raise no_such_event(text) from None
        kept = self._mirror.holder(code)
        return await self.read(code) if kept.phase is Phase.UNCERTAIN else kept.value

    async def read(self, code: str) -> Event:
        event = await self._mirror.read(code)
        if event is None:
            raise no_such_event(code)
        return event

    async def open(self, event: Event) -> Event:
        """Store a new event under a free code; raises `StoreUnavailable`."""

        def create(old: Event | None) -> Event:
            return old or event

        for _ in range(ATTEMPTS):
            event = replace(event, code=self._new_code())
            if await self._mirror.change(event.code, create) == event:
                return event
        raise Refused(ErrorCode.BUSY, "server", retry_ms=500)

    async def change(self, code: str, actor: str, command: Command) -> Event:
        """Apply a command; return the event once it is stored. Raises `Refused` or `StoreUnavailable`."""
        held = self._mirror.holder(code)
        last = held.waiting[-1] if held.waiting else None
        if not isinstance(last, _Commands):
            last = _Commands(live=held, events=self, asked=[], asked_at=clock.monotonic())
            held.waiting.append(last)
            held.answer_in_time(last)
            asyncio.get_running_loop().call_soon(held.go_on)  # commands of the same turn are stored together
        waiter = Pending()
        last.asked.append((actor, command, waiter))
        return cast(Event, await waiter.future)

    async def run(self) -> None:
        """Load all events, and reload events that other servers may have changed, until cancelled."""
        await asyncio.gather(self._mirror.run(RELOAD_SECONDS), self._keep_current(), self._delete_old())

    async def _keep_current(self) -> None:
        while self.elsewhere.is_several:
            await asyncio.sleep(REREAD_SECONDS)
            for event in self.current:
                self._mirror.holder(event.code).read_again()

    async def _delete_old(self) -> None:
        while True:
            with suppress(StoreUnavailable):  # the next round deletes them
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
    """Return the refusal for an unknown code."""
    return Refused(ErrorCode.NO_SUCH_EVENT, path="event", event=text[:40])
