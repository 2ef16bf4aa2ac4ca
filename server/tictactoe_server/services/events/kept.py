"""Events as they are kept: found, opened, and changed by compare-and-set, here or at another server of the cluster.

What is asked of an event while it is being stored waits, and is then applied and stored together.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import defaultdict
from contextlib import suppress
from itertools import count
from typing import Final, NamedTuple

import msgspec
import structlog
from msgspec.structs import replace

from tictactoe_protocol import BadRoomCode, ErrorCode, parse_room_code
from tictactoe_server.core.agenda import Tasks
from tictactoe_server.core.core import Core
from tictactoe_server.core.rooms import Refused
from tictactoe_server.core.topics import Listeners
from tictactoe_server.services.events.commands import Command, apply
from tictactoe_server.services.events.event import Event
from tictactoe_server.storage.specs import TableSpec
from tictactoe_server.storage.store import (
    MISSING,
    Conflict,
    NotStored,
    Pending,
    StoreUnavailable,
    Unreadable,
    Unsettled,
    delete,
    save,
)

ATTEMPTS: Final = 8
FIRST_REST_SECONDS: Final = 0.02  # how long a change rests that lost against another, twice as long each time
REREAD_SECONDS: Final = 3.0
_ALL_AGAIN: Final = 10
_OLD_AGAIN: Final = 1_200
"""How often the events that are not over are read again in a cluster, and how many times as seldom all there are: word
of a change may have been lost. A server on its own looks so many times as seldom for those that are to be forgotten."""

AGAIN_SECONDS: Final = 0.5  # when what the store refused is read again
OVER_DAYS: Final = 365
IDLE_DAYS: Final = 14
"""For how long an event is kept that is over, and one that was not begun or gone on with; days of served time."""

MAX_OVER: Final = 200  # how many events that are over are remembered
MAX_BYTES: Final = 8_000_000  # of a document when it is unpacked; the largest event that there can be has less

_DAY_MS: Final = 86_400_000

log: Final = structlog.get_logger(__name__)

_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(Event).decode


def _pack(event: Event) -> bytes:
    """Return the document of an event, packed: a round of two hundred is one message of the cluster's store."""
    return zlib.compress(_encode(event), 1)


def _unpack(document: bytes) -> Event:
    try:
        return _decode(zlib.decompressobj().decompress(document, MAX_BYTES))
    except zlib.error as error:
        raise ValueError(str(error)) from error


EVENTS: Final[TableSpec[Event]] = TableSpec(
    "events", "event", _pack, _unpack, label="Event {key}", keys="[0-9A-Z]{6}", key_of=lambda event: event.code
)
"""By their codes."""


class _Asked(NamedTuple):
    """What somebody asked of an event, and who waits for it to be stored."""

    actor: str
    command: Command
    waiter: Pending


class KeptEvents:
    """All events that are not over, and some that are. Listeners of `on_change` hear of each that is new here or has
    changed, here or elsewhere, and what it was before, None for one that is new here.

    `restored` is set once all that are not over are known here. Let `keep` run beside the server.
    """

    def __init__(self, core: Core, tasks: Tasks) -> None:
        self._run = tasks.start
        self._table = core.store.table(EVENTS)
        self._now = core.time
        self._elsewhere = core.registry.elsewhere
        self._new_code = core.registry.new_code
        self._known: dict[str, tuple[Event, int]] = {}
        self._doubted: set[str] = set()
        self._asked: defaultdict[str, list[_Asked]] = defaultdict(list)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.on_change = Listeners[[Event, Event | None]]()
        self.restored = asyncio.Event()
        self._elsewhere.on_changed.add(self._hear)

    @property
    def current(self) -> list[Event]:
        """The events that are not over, the newest last."""
        return [event for event, _ in self._known.values() if not event.is_over]

    def known(self, code: str) -> Event | None:
        """Return an event as it is known here, None where it is not."""
        return self._known[code][0] if code in self._known else None

    async def find(self, text: str) -> Event:
        """Return an event by its code in any spelling; raises `Refused` and `StoreUnavailable`."""
        try:
            code = parse_room_code(text)
        except BadRoomCode:
            raise no_such_event(text) from None
        if code not in self._known or code in self._doubted:
            await self.read(code)
        return self._known[code][0]

    async def read(self, code: str) -> Event:
        """Return an event as it is stored now; raises `Refused` and `StoreUnavailable`."""
        self._doubted.discard(code)
        try:
            found = await self._table.load(code)
        except StoreUnavailable as error:
            if not isinstance(error, Unreadable):
                self._doubted |= self._known.keys() & {code}
                raise
            log.error("a damaged event is left alone", code=code, reason=str(error))
            found = None
        if found is None:
            self._known.pop(code, None)
            raise no_such_event(code)
        self._take(*found)
        return self._known[code][0]

    async def open(self, event: Event) -> Event:
        """Keep a new event under a code that no other has; raises `StoreUnavailable`."""
        for _ in range(ATTEMPTS):
            event = replace(event, code=self._new_code())
            try:
                self._take(event, await save(self._table, event.code, event, MISSING))
            except Conflict:
                continue
            self._elsewhere.tell_changed(EVENTS.name, event.code)
            return event
        raise Refused(ErrorCode.BUSY, "server", retry_ms=500)

    async def carry_out(self, code: str, actor: str, command: Command) -> Event:
        """Return the event after a command, once that is stored; raises `Refused` and `StoreUnavailable`.

        Where it is not known whether it was stored it may be sent again: a command that comes twice changes nothing.
        """
        waiter = Pending()
        self._asked[code].append(_Asked(actor, command, waiter))
        self._begin(code)
        changed: Event = await waiter.future
        return changed

    async def keep(self) -> None:
        """Get to know all events, and read again what others may have changed, until cancelled."""
        for number in count():
            try:
                again = _ALL_AGAIN if self._elsewhere.is_several else _OLD_AGAIN
                if number % again == 0 or not self.restored.is_set():
                    await self._read_all()
            except StoreUnavailable as unavailable:
                log.warning("the events cannot be read yet", reason=str(unavailable))
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            self.restored.set()
            await asyncio.sleep(REREAD_SECONDS)
            for event in self.current if self._elsewhere.is_several else ():
                self._hear(EVENTS.name, event.code)

    # -- inside -------------------------------------------------------------------------------------------------

    async def _read_all(self) -> None:
        async for some in self._table.load_all():
            for stored in some:
                if isinstance(stored.value, Unreadable):
                    if not self.restored.is_set():
                        log.error("a damaged event is left alone", code=stored.key, reason=str(stored.value))
                elif self._is_old(stored.value):
                    await self._forget(stored.value, stored.revision)
                elif stored.key in self._known or not stored.value.is_over:
                    self._take(stored.value, stored.revision)

    def _is_old(self, event: Event) -> bool:
        """Tell whether an event is over for so long, or was never gone on with, that it is forgotten."""
        newest = max([event.opened_at, *(pairing.opened_at for pairing in event.pairings)])
        days = OVER_DAYS if event.status == "over" else IDLE_DAYS
        return event.status != "running" and self._now() - newest > days * _DAY_MS

    async def _forget(self, event: Event, revision: int) -> None:
        with suppress(Conflict):  # it has changed, and is looked at again later
            await delete(self._table, event.code, revision)
            self._known.pop(event.code, None)
            self._elsewhere.tell_changed(EVENTS.name, event.code)

    def _hear(self, table: str, key: str) -> None:
        """Read an event again that another server may have changed."""
        if table == EVENTS.name:
            self._doubted.add(key)
            self._begin(key)

    def _begin(self, code: str) -> None:
        if code not in self._tasks:
            self._tasks[code] = self._run(self._work(code))

    async def _work(self, code: str) -> None:
        """Carry out what is asked of an event, all at a time that has come meanwhile, and read it where in doubt."""
        has_failed = False
        try:
            while code in self._asked or (code in self._doubted and not has_failed):
                waiting = self._asked.pop(code, [])
                try:
                    await self._carry_out(code, waiting)
                except Exception as error:
                    has_failed = True
                    if not isinstance(error, Refused | StoreUnavailable):
                        log.exception("an event could not be changed", code=code)
                    for asked in waiting:
                        asked.waiter.failed(error)
        finally:
            del self._tasks[code]

    async def _carry_out(self, code: str, waiting: list[_Asked]) -> None:
        rest, is_fresh = FIRST_REST_SECONDS, not self._elsewhere.is_several
        for _ in range(ATTEMPTS):
            if code not in self._known or code in self._doubted:
                await self.read(code)
                is_fresh = True
            before, revision = self._known[code]
            after, outcomes = _apply_all(before, waiting, self._now())
            if not is_fresh and any(isinstance(outcome, Refused) for outcome in outcomes):
                self._doubted.add(code)  # another server may have changed it just now
                continue
            if after is not before:
                try:
                    self._take(after, await save(self._table, code, after, revision))
                except (Conflict, Unsettled):
                    self._doubted.add(code)
                    await asyncio.sleep(rest)
                    rest *= 2
                    continue
                except StoreUnavailable as error:
                    if not isinstance(error, NotStored):
                        self._doubted.add(code)
                    raise
                self._elsewhere.tell_changed(EVENTS.name, code)
            for asked, outcome in zip(waiting, outcomes, strict=True):
                if isinstance(outcome, Refused):
                    asked.waiter.failed(outcome)
                else:
                    asked.waiter.stored(outcome)
            return
        raise Refused(ErrorCode.BUSY, "server", retry_ms=500)

    def _take(self, event: Event, revision: int) -> None:
        """Know an event as it is stored, unless something newer is known, and tell of it where it has changed."""
        before, known = self._known.get(event.code, (None, MISSING))
        if known > revision:
            return
        if event.is_over:
            self._known.pop(event.code, None)  # to its place among those that are over, the newest last
            over = [code for code, (other, _) in self._known.items() if other.is_over]
            for code in over[: max(0, len(over) + 1 - MAX_OVER)]:
                del self._known[code]
        self._known[event.code] = event, revision
        if event != before:
            self.on_change(event, before)


def _apply_all(event: Event, waiting: list[_Asked], now: int) -> tuple[Event, list[Event | Refused]]:
    """Return the event after all that was asked, one after another, and what came of each of them."""
    outcomes: list[Event | Refused] = []
    for asked in waiting:
        try:
            event = apply(event, asked.actor, asked.command, now)
            outcomes.append(event)
        except Refused as refused:
            outcomes.append(refused)
    return event, outcomes


def no_such_event(text: str) -> Refused:
    """Return the refusal for a code that no event has."""
    return Refused(ErrorCode.NO_SUCH_EVENT, path="event", event=text[:40])
