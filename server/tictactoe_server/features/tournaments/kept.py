"""Events in the store: found, opened and changed by compare-and-set, by this server or another one.

Commands that arrive while an event is being stored are applied and stored together afterwards.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence
from contextlib import suppress
from itertools import count, repeat
from typing import Final, cast

import msgspec
import structlog
from msgspec.structs import replace

from tictactoe_protocol import BadRoomCode, ErrorCode, parse_room_code
from tictactoe_server import clock
from tictactoe_server.agenda import Tasks
from tictactoe_server.core.core import Core
from tictactoe_server.features.tournaments.commands import Command, apply
from tictactoe_server.features.tournaments.event import Event, with_stand_in
from tictactoe_server.records.changes import ATTEMPTS, Change, Kept, Phase
from tictactoe_server.rooms import Refused
from tictactoe_server.storage.specs import Persons, TableSpec
from tictactoe_server.storage.store import MISSING, Conflict, Pending, StoreUnavailable, Unreadable, delete, save
from tictactoe_server.watching.topics import Listeners

REREAD_SECONDS: Final = 3.0
_ALL_AGAIN: Final = 10  # in a cluster, which may lose messages, all events are loaded every tenth time
_OLD_AGAIN: Final = 1_200  # the same for a single server, which only deletes old events
AGAIN_SECONDS: Final = 0.5  # until a failed load is retried
OVER_DAYS: Final = 365
IDLE_DAYS: Final = 14  # for events that are not running; both are days of served time
MAX_OVER: Final = 200  # finished events in memory
MAX_BYTES: Final = 8_000_000  # of an unpacked document, more than the largest possible event

_DAY_MS: Final = 86_400_000

log: Final = structlog.get_logger(__name__)

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

    asked: list[tuple[str, Command, Pending]]
    outcomes: Sequence[Event | Refused] = ()

    def apply(self, event: Event) -> Event:
        self.outcomes = outcomes = list[Event | Refused]()
        for actor, command, _ in self.asked:
            try:
                event = apply(event, actor, command, self.live.all.now())
                outcomes.append(event)
            except Refused as refused:
                if self.live.all.elsewhere.is_several and not self.attempts:
                    raise Conflict from None  # another server may have changed it just now
                outcomes.append(refused)
        return event

    def stored(self, revision: int) -> None:
        super().stored(revision)
        self.live.all.elsewhere.tell_changed(EVENTS.name, self.live.key)

    def settled(self, error: Exception | None) -> None:
        for (_, _, waiter), outcome in zip(self.asked, repeat(error) if error else self.outcomes, strict=False):
            waiter.failed(outcome) if isinstance(outcome, Exception) else waiter.stored(outcome)


class _KeptEvent(Kept[Event]):
    """One event; its value is None until it is loaded."""

    def __init__(self, all: KeptEvents, code: str) -> None:
        super().__init__(all.table, code, all.tasks, cast(Event, None))
        self.all = all

    def ask(self, actor: str, command: Command) -> asyncio.Future[Event]:
        last = self.waiting[-1] if self.waiting else None
        if not isinstance(last, _Commands):
            last = _Commands(live=self, asked=[], asked_at=clock.monotonic())
            self.waiting.append(last)
            self.answer_in_time(last)
            asyncio.get_running_loop().call_soon(self.go_on)  # commands of the same turn are stored together
        waiter = Pending()
        last.asked.append((actor, command, waiter))
        return waiter.future

    async def read(self) -> None:
        try:
            await super().read()
        except Unreadable as error:
            log.error("a damaged event is left alone", code=self.key, reason=str(error))
            self.lost()

    def changed(self, before: Event | None) -> None:
        self.all.note(self, before)

    def lost(self) -> None:
        self.enter(Phase.GONE)
        self.all.forget(self)

    def busy(self) -> Refused:
        return Refused(ErrorCode.BUSY, "server", retry_ms=500)

    def why_gone(self) -> Refused:
        return no_such_event(self.key)


class KeptEvents:
    """All current events and some finished ones.

    Attributes:
        on_change: Called with each new or changed event and its former value, None for a new one.
        restored: Set once all current events are loaded.
    """

    def __init__(self, core: Core, tasks: Tasks) -> None:
        self.tasks = tasks
        self.table = core.store.table(EVENTS)
        self.now = core.time
        self.elsewhere = core.registry.elsewhere
        self._new_code = core.lists.new_code
        self._known: dict[str, _KeptEvent] = {}
        self.on_change = Listeners[[Event, Event | None]]()
        self.restored = asyncio.Event()
        self.elsewhere.on_changed.add(self._hear)

    @property
    def current(self) -> list[Event]:
        return [kept.value for kept in self._known.values() if not kept.value.is_over]

    def known(self, code: str) -> Event | None:
        return self._known[code].value if code in self._known else None

    async def find(self, text: str) -> Event:
        """Return an event by its code in any spelling; raises `Refused` and `StoreUnavailable`."""
        try:
            code = parse_room_code(text)
        except BadRoomCode:
            raise no_such_event(text) from None
        kept = self._known.get(code)
        return await self.read(code) if kept is None or kept.phase is Phase.UNCERTAIN else kept.value

    async def read(self, code: str) -> Event:
        await self._get(code).read()
        if code not in self._known:
            raise no_such_event(code)
        return self._known[code].value

    async def open(self, event: Event) -> Event:
        """Store a new event under a free code; raises `StoreUnavailable`."""
        for _ in range(ATTEMPTS):
            event = replace(event, code=self._new_code())
            try:
                self._get(event.code).take(event, await save(self.table, event.code, event, MISSING))
            except Conflict:
                continue
            self.elsewhere.tell_changed(EVENTS.name, event.code)
            return event
        raise Refused(ErrorCode.BUSY, "server", retry_ms=500)

    async def change(self, code: str, actor: str, command: Command) -> Event:
        """Return the event after a command, once it is stored; raises `Refused` and `StoreUnavailable`."""
        return await self._get(code).ask(actor, command)

    async def run(self) -> None:
        """Load all events, and reload what others may have changed, until cancelled."""
        for number in count():
            try:
                again = _ALL_AGAIN if self.elsewhere.is_several else _OLD_AGAIN
                if number % again == 0 or not self.restored.is_set():
                    await self._read_all()
            except StoreUnavailable as unavailable:
                log.warning("the events cannot be read yet", reason=str(unavailable))
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            self.restored.set()
            await asyncio.sleep(REREAD_SECONDS)
            for event in self.current if self.elsewhere.is_several else ():
                self._hear(EVENTS.name, event.code)

    async def _read_all(self) -> None:
        async for some in self.table.load_all():
            for stored in some:
                if isinstance(stored.value, Unreadable):
                    if not self.restored.is_set():
                        log.error("a damaged event is left alone", code=stored.key, reason=str(stored.value))
                elif self._is_old(stored.value):
                    await self._forget(stored.value, stored.revision)
                elif stored.key in self._known or not stored.value.is_over:
                    self._get(stored.key).take(stored.value, stored.revision)

    def _is_old(self, event: Event) -> bool:
        newest = max([event.opened_at, *(pairing.opened_at for pairing in event.pairings)])
        days = OVER_DAYS if event.status == "over" else IDLE_DAYS
        return event.status != "running" and self.now() - newest > days * _DAY_MS

    async def _forget(self, event: Event, revision: int) -> None:
        with suppress(Conflict):  # a changed event is checked again later
            await delete(self.table, event.code, revision)
            self._known.pop(event.code, None)
            self.elsewhere.tell_changed(EVENTS.name, event.code)

    def _hear(self, table: str, key: str) -> None:
        if table == EVENTS.name:
            self._get(key).read_again()

    def _get(self, code: str) -> _KeptEvent:
        return self._known.get(code) or _KeptEvent(self, code)

    def note(self, kept: _KeptEvent, before: Event | None) -> None:
        """Adopt a stored event, and notify listeners of a change."""
        event, known = kept.value, self._known.setdefault(kept.key, kept)
        if known is not kept:  # it was loaded twice at once
            known.take(event, kept.revision)
            return
        if event.is_over:  # the newest last
            self._known[kept.key] = self._known.pop(kept.key)
            over = [code for code, other in self._known.items() if other.value.is_over]
            for code in over[:-MAX_OVER]:
                del self._known[code]
        if event != before:
            self.on_change(event, before)

    def forget(self, kept: _KeptEvent) -> None:
        if self._known.get(kept.key) is kept:
            del self._known[kept.key]


def no_such_event(text: str) -> Refused:
    """Return the refusal for an unknown code."""
    return Refused(ErrorCode.NO_SUCH_EVENT, path="event", event=text[:40])
