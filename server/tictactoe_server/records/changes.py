"""A stored value and its changes. Changes are applied one at a time, stored by compare-and-set, and then acknowledged.

After a conflict, or while an earlier write may still take effect, the value is loaded again and the change is retried.
A change may therefore be applied more than once, even after it was stored, so every change must be idempotent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Final, Generic, TypeVar, cast

import structlog
from msgspec import Struct

from tictactoe_server import clock
from tictactoe_server.rooms.room import Refused
from tictactoe_server.scheduler import Tasks
from tictactoe_server.storage import store

ATTEMPTS: Final = 8  # a change fails after this number of conflicts
FIRST_REST_SECONDS: Final = 0.02  # pause before the second retry; doubled for each further retry
LONGEST_REST_SECONDS: Final = 0.5
UNSETTLED_SECONDS: Final = 2.0  # a change fails if an earlier write is still unsettled after this time
ANSWER_SECONDS: Final = 2.5  # a waiting or retried change fails after this time

Value = TypeVar("Value")

log: Final = structlog.get_logger(__name__)


class Phase(Enum):
    """How a cached value relates to the stored value."""

    OPENING = auto()  # not stored yet
    STORED = auto()  # equal to the stored value
    UNCERTAIN = auto()  # the stored value may be newer; it is loaded before the next change
    GONE = auto()  # deleted, or moved to another server


GONE: Final = Phase.GONE  # a constant is faster than the enum's attribute, which matters on every move
STORED: Final = Phase.STORED

TRANSITIONS: Final = {
    Phase.OPENING: {Phase.STORED, Phase.GONE},
    Phase.STORED: {Phase.UNCERTAIN, Phase.GONE},
    Phase.UNCERTAIN: {Phase.STORED, Phase.GONE},
    Phase.GONE: set[Phase](),
}


def _ignore(error: Exception | None) -> None: ...


class Change(Struct, Generic[Value], kw_only=True, eq=False):
    """One change of a `StoredValue`. It is submitted, applied, stored, and finally settled: it succeeded or failed."""

    live: Any  # the `StoredValue`
    make: Callable[[Value], Value | None] | None = None  # see `apply`
    on_settled: Callable[[Exception | None], object] = _ignore  # called once, with the error or None
    after: Value | None = None  # the value after the change
    finished: Any = None  # a game that ends with the change; see `Table.save`
    attempts: int = 0  # the number of retries
    rested: float = 0.0  # the total time between the retries (s)
    asked_at: float = 0.0  # when the change began to wait (s, as `clock.monotonic`)
    is_settled: bool = False

    def submit(self) -> None:
        """Begin the change, or queue it behind the current change."""
        live = self.live
        if is_next := live.change is None:
            live.change = self
            live.begin(self)
            if self.is_settled:
                return
        self.asked_at = clock.monotonic()
        if not is_next:
            live.waiting.append(self)
            live.answer_in_time(self)

    async def until_settled(self) -> Value | None:
        """Submit the change, wait until it is settled, and return the new value. Raise the error of a failed change."""
        on_settled = self.on_settled
        result: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()

        def settled(error: Exception | None) -> None:
            on_settled(error)
            if not result.done():
                result.set_result(error)

        self.on_settled = settled
        self.submit()
        if (error := await result) is not None:
            raise error
        return self.after

    def apply(self, value: Value) -> Value | None:
        """Return the new value: the same object for no change, or None to delete the value. Retries call this again.

        Raises:
            Refused: The change is not allowed.
            Conflict: The value must be loaded first.
        """
        return value if self.make is None else self.make(value)

    def settled(self, error: Exception | None) -> None:
        on_settled = self.on_settled
        self.make = None  # like `on_settled`, it may hold a reference to this change
        self.on_settled = _ignore
        on_settled(error)

    def stored(self, revision: int) -> None:
        """Adopt the new value after it has been stored. Implements `Waiter`."""
        live = self.live
        if live.change is not self:  # this change has timed out
            live.doubt()
            return
        live.adopt(self.after, revision, is_own=True)
        live.settle(self, None)

    def failed(self, error: Exception) -> None:
        """Retry the change with the newest value, or settle it with the error. Implements `Waiter`."""
        live = self.live
        if not isinstance(error, store.NotStored) or live.change is not self:
            live.doubt()
        if live.change is self and not (
            isinstance(error, store.Conflict | store.Unsettled) and live.try_again(self, error)
        ):
            live.settle(self, live.busy_error() if isinstance(error, store.Conflict) else error)


class StoredValue(Generic[Value]):
    """The cached value under a key in a table.

    Attributes:
        waiting: The changes that wait for the current change to be settled.
    """

    kind = "key"  # the field name for the key in log entries

    def __init__(
        self, table: store.Table[Any], key: str, tasks: Tasks, value: Value, revision: int = store.MISSING
    ) -> None:
        self.table = table
        self.key = key
        self.tasks = tasks
        self.value = value
        self.revision = revision
        self.phase = Phase.UNCERTAIN
        self.change: Change[Value] | None = None
        self.waiting: list[Change[Value]] = []  # a deque takes 700 bytes more
        self.is_going_on = False

    def changed(self, before: Value) -> None:
        """Called after the cached value was replaced."""

    def lost(self) -> None:
        """Called after the value was deleted from the store."""
        self.value, self.revision = cast(Value, None), store.MISSING

    def busy_error(self) -> Exception:
        """Return the error for a change that met too many conflicts."""
        return store.StoreBusy(f"{self.key} is being changed too often.")

    def gone_error(self) -> Exception:
        """Return the error for a change of a deleted or moved value."""
        return store.StoreUnavailable(f"{self.key} has been deleted.")

    def enter(self, phase: Phase) -> None:
        """Change the phase. Raise ValueError for a transition that is not in `TRANSITIONS`."""
        if phase is not self.phase:
            if phase not in TRANSITIONS[self.phase]:
                raise ValueError(f"{self.key} is {self.phase.name} and cannot be {phase.name}.")
            self.phase = phase

    def doubt(self) -> None:
        """Mark the cached value as uncertain, so that it is loaded again before the next change."""
        if self.phase is Phase.STORED:
            self.phase = Phase.UNCERTAIN

    def adopt(self, value: Value | None, revision: int, *, is_own: bool = False) -> None:
        """Adopt the stored value unless the cached value is newer.

        Args:
            value: The stored value, or None if it was deleted.
            is_own: Whether this server wrote the value, which is then always adopted.
        """
        if self.revision == store.MISSING:
            self.enter(Phase.STORED)
        if value is None:
            self.lost()
        elif is_own or revision > self.revision:
            before, self.value, self.revision = self.value, value, revision
            self.changed(before)

    async def read(self) -> None:
        """Load the value from the store. May raise `StoreUnavailable`."""
        self.enter(Phase.STORED)  # before the load, so that calls of `doubt` during the load are not lost
        revision = self.revision
        try:
            found = await self.table.load(self.key)
        except BaseException:
            self.doubt()
            raise
        if found is None and self.revision != revision:
            return  # it was stored meanwhile
        if found is None and revision != store.MISSING and await self.table.has_lost(self.key, revision):
            return  # the next change writes it back
        self.adopt(*(found or (None, store.MISSING)))

    def begin(self, change: Change[Value]) -> None:
        """Apply the current change and store the result."""
        value = self.value
        try:
            if self.phase is not STORED and not self.is_ready(change):
                return
            change.after = after = change.apply(value)
            if after is value and self.phase is STORED:
                self.settle(change, None)
            elif after is None:
                self.table.delete(self.key, self.revision, change)
            else:
                self.table.save(self.key, after, self.revision, change, change.finished)
        except store.Conflict as error:
            change.failed(error)
        except Refused as refused:
            self.settle(change, refused)
        except Exception as error:
            command = type(getattr(change, "command", change)).__name__
            log.exception("change failed", command=command, **{self.kind: self.key})
            self.settle(change, error)

    def is_ready(self, change: Change[Value]) -> bool:
        """Return True if the value was never stored. If it is uncertain, reload it and begin the change again.

        Raise `gone_error` if the value was deleted or moved.
        """
        if self.phase is Phase.GONE:
            raise self.gone_error()
        if self.phase is Phase.UNCERTAIN:
            self.begin_later(change, 0)
        return self.phase is Phase.OPENING

    def settle(self, change: Change[Value], error: Exception | None) -> None:
        """Settle a change with its error or None, and begin the next change."""
        change.is_settled = True
        try:
            change.settled(error)
        except Exception:
            log.exception("reply to a change failed", **{self.kind: self.key})
        self.change = None
        if self.waiting:
            self.go_on()

    def go_on(self) -> None:
        """Begin the waiting changes, one after another, until a change waits for the store."""
        if self.is_going_on:
            return
        self.is_going_on = True
        while self.waiting and self.change is None:
            self.change = self.waiting.pop(0)
            self.begin(self.change)
        self.is_going_on = False

    def try_again(self, change: Change[Value], error: store.Conflict | store.Unsettled) -> bool:
        """Schedule a retry with exponential backoff; return False if there were too many.

        The first retry after a conflict is immediate.
        """
        change.attempts, is_lost = change.attempts + 1, isinstance(error, store.Conflict)
        if change.attempts >= ATTEMPTS if is_lost else change.rested >= UNSETTLED_SECONDS:
            return False
        rest = min(max(change.rested, FIRST_REST_SECONDS), LONGEST_REST_SECONDS)  # the sum of all rests: doubled
        rest = 0.0 if is_lost and change.attempts == 1 else rest
        change.rested += rest
        self.begin_later(change, rest)
        return True

    def begin_later(self, change: Change[Value], rest: float) -> None:
        """Begin a change after `rest` seconds."""
        self.answer_in_time(change)
        self.tasks.start(self._begin_later(change, rest))

    async def _begin_later(self, change: Change[Value], rest: float) -> None:
        try:
            await asyncio.sleep(rest)
            if self.change is change and self.phase is Phase.UNCERTAIN:
                await self.read()
        except Exception as error:
            if not isinstance(error, store.StoreUnavailable) or isinstance(error, store.Unreadable):
                log.exception("reading a value before its change failed", **{self.kind: self.key})
            if self.change is change:
                self.settle(change, error)
        else:
            if self.change is change:
                self.begin(change)

    def answer_in_time(self, change: Change[Value]) -> None:
        """Schedule the failure of a change `ANSWER_SECONDS` after it was submitted."""
        now = clock.monotonic()
        left = (change.asked_at or now) + ANSWER_SECONDS - now
        asyncio.get_running_loop().call_later(max(0.0, left), self._give_up, change)

    def _give_up(self, change: Change[Value]) -> None:
        error = store.StoreUnavailable("The store did not respond in time.")
        if self.change is change:
            self.doubt()
            self.settle(change, error)
        elif change in self.waiting:
            self.waiting.remove(change)
            change.is_settled = True
            change.settled(error)


async def change(table: store.Table[Value], key: str, edit: Callable[[Value | None], Any]) -> Any:
    """Replace a value with the result of `edit`, unless the two are equal; return the result.

    Args:
        edit: Called with the value, or None if it is missing. Returns the new value, or None to delete the value.

    Raises:
        StoreUnavailable: The store cannot answer. Errors that `edit` raises are passed on, too.
    """

    def make(before: Value | None) -> Value | None:
        after: Value | None = edit(before)
        return before if after == before else after

    stored = StoredValue[Value | None](table, key, Tasks(), None)
    await stored.read()
    return await Change(live=stored, make=make).until_settled()
