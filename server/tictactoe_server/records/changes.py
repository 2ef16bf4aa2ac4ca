"""A value in the store, and the path of every change of it: one at a time, stored by compare-and-set, only then told.

`Kept` is the value under a key of a table as it is stored: a room, an event, an account. A `Change` is applied when its
turn has come and led to the store without a wait; the store calls back, at once where it is memory, at the end of a
batch on disk. Where another was quicker, or an earlier write is still in process, the value is read again and the
change is tried anew. So a change may be applied more than once, and may come again that was stored without word of it:
then it has to change nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Final, Generic, TypeVar, cast

import structlog
from msgspec import Struct

from tictactoe_server import clock
from tictactoe_server.agenda import Tasks
from tictactoe_server.rooms import Refused
from tictactoe_server.storage.store import (
    MISSING,
    Conflict,
    NotStored,
    Pending,
    StoreBusy,
    StoreUnavailable,
    Table,
    Unreadable,
    Unsettled,
)

ATTEMPTS: Final = 8  # how often a change is tried against what others store meanwhile, until the value is busy
FIRST_REST_SECONDS: Final = 0.02
LONGEST_REST_SECONDS: Final = 0.5
UNSETTLED_SECONDS: Final = 2.0
"""How long a change rests until it is tried again, twice as long each time up to the second; and how long an earlier
write may be in process until it is not waited for any more."""

ANSWER_SECONDS: Final = 2.5  # after how long a change is answered that waits for others, or is tried again

Value = TypeVar("Value")

log: Final = structlog.get_logger(__name__)


class Phase(Enum):
    """How what is here stands to the store."""

    OPENING = auto()  # it is about to be stored for the first time
    STORED = auto()  # what is here is what is stored
    UNCERTAIN = auto()  # something newer may be stored: it is read again before the next change
    GONE = auto()  # it has ended, or is not here


STORED: Final = Phase.STORED  # to look a phase up by its name is slow

TRANSITIONS: Final = {
    Phase.OPENING: {Phase.STORED, Phase.GONE},
    Phase.STORED: {Phase.UNCERTAIN, Phase.GONE},
    Phase.UNCERTAIN: {Phase.STORED, Phase.GONE},
    Phase.GONE: set[Phase](),
}


class Change(Struct, Generic[Value], kw_only=True, eq=False):
    """One change of the value that is `live`, a `Kept`: begun by `submit`, then applied, stored, settled.

    `make` returns the next value, which is `after`, and `then` is called at the end, with the error if there was one;
    `finished` is a game that ends with it (see `Table.save`). For a change that has to wait, `asked_at` is when it was
    requested (s, as `clock.monotonic`), `attempts` the number of retries, and `rested` the pauses between them (s).
    """

    live: Any
    make: Callable[[Value], Value | None] | None = None
    then: Callable[[Exception | None], object] = lambda error: None
    after: Value | None = None
    finished: Any = None
    attempts: int = 0
    rested: float = 0.0
    asked_at: float = 0.0
    is_settled: bool = False

    def submit(self) -> None:
        """Carry it out when its turn has come; it is told when it is settled."""
        live = self.live
        if is_next := live.change is None and not live.is_going_on:
            live.change = self
            live.begin(self)
            if self.is_settled:
                return
        self.asked_at = clock.monotonic()
        self.wait()
        if not is_next:
            live.waiting.append(self)
            live.answer_in_time(self)

    async def until_settled(self) -> Value | None:
        """Carry it out for those who can await it, and return what it made; raises why it is not stored."""
        pending, then = Pending(), self.then

        def settled(error: Exception | None) -> None:
            then(error)
            pending.stored(self.after) if error is None else pending.failed(error)

        self.then = settled
        self.submit()
        return cast("Value | None", await pending.future)

    def wait(self) -> None:
        """Take notice that it is not settled at once: others are before it, or the store takes its time."""

    def apply(self, value: Value) -> Value | None:
        """Return the value after the change, this very one for no change, None where it is to go.

        Called anew where the store had something newer. Raises `Refused`, and `Conflict` where it is to be read first.
        """
        return value if self.make is None else self.make(value)

    def settled(self, error: Exception | None) -> Any:
        """Answer, now that it is stored or is known not to be: called exactly once."""
        self.then(error)

    def stored(self, revision: int) -> None:
        """Take what it made for true, as it is stored; see `Waiter`."""
        live = self.live
        if live.change is not self:  # it was given up meanwhile
            live.doubt()
            return
        live.take(self.after, revision)
        live.settle(self, None)

    def failed(self, error: Exception) -> None:
        """Try again on what others stored, or answer why it is not stored; see `Waiter`."""
        live = self.live
        if not isinstance(error, NotStored) or live.change is not self:
            live.doubt()
        if live.change is self and not (isinstance(error, Conflict | Unsettled) and live.try_again(self, error)):
            live.settle(self, live.busy() if isinstance(error, Conflict) else error)


class Kept(Generic[Value]):
    """The `value` under a `key` of a table, stored as `revision` once that is not `MISSING`.

    One `change` is under way at a time, the next ones are `waiting`, and `is_going_on` while these are begun. `tasks`
    are what waits for the store.
    """

    kind = "key"  # the word by which the log names it

    def __init__(self, table: Table[Any], key: str, tasks: Tasks, value: Value, revision: int = MISSING) -> None:
        self.table = table
        self.key = key
        self.tasks = tasks
        self.value = value
        self.revision = revision
        self.phase = Phase.UNCERTAIN
        self.change: Change[Value] | None = None
        self.waiting: deque[Change[Value]] = deque()
        self.is_going_on = False

    def changed(self, before: Value) -> None:
        """Called when another value is stored than was known here before."""

    def lost(self) -> None:
        """Called when none is stored any more; it may be made again, unless this is the end of it."""
        self.value, self.revision = cast(Value, None), MISSING

    def busy(self) -> Exception:
        """Return why a change is not stored that lost against others again and again."""
        return StoreBusy(f"{self.key} changes all the time.")

    def why_gone(self) -> Exception:
        """Return why nothing is changed that has come to its end."""
        return StoreUnavailable(f"{self.key} is gone.")

    def enter(self, phase: Phase) -> None:
        """Be in a phase from now on; raises ValueError where none leads there."""
        if phase is not self.phase:
            if phase not in TRANSITIONS[self.phase]:
                raise ValueError(f"{self.key} is {self.phase.name} and cannot be {phase.name}.")
            self.phase = phase

    def doubt(self) -> None:
        """Have it read again before its next change, if it is stored at all."""
        if self.phase is Phase.STORED:
            self.phase = Phase.UNCERTAIN

    def take(self, value: Value | None, revision: int) -> None:
        """Know what is stored, None where nothing is, unless something newer is known."""
        if self.revision == MISSING:
            self.enter(Phase.STORED)
        if value is None:
            self.lost()
        elif revision > self.revision:
            before, self.value, self.revision = self.value, value, revision
            self.changed(before)

    async def read(self) -> None:
        """Know what is stored now; raises `StoreUnavailable`."""
        self.enter(Phase.STORED)  # what puts it in doubt from here on has it read once more
        try:
            found = await self.table.load(self.key)
        except BaseException:
            self.doubt()
            raise
        self.take(*(found or (None, MISSING)))

    def read_again(self) -> None:
        """Have it read soon: something newer may be stored."""
        self.doubt()
        if self.phase is Phase.UNCERTAIN and not self.waiting:
            Change[Value](live=self).submit()

    def begin(self, change: Change[Value]) -> None:
        """Apply a change whose turn has come, and let it be stored."""
        value = self.value
        try:
            if self.phase is not STORED and not self.is_ready(change):
                return
            change = self.first(change)
            change.after = after = change.apply(value)
            if after is value and self.phase is STORED:
                self.settle(change, None)
            elif after is None:
                self.table.delete(self.key, self.revision, change)
            else:
                self.save(change, after)
        except Conflict as error:
            change.failed(error)
        except Refused as refused:
            self.settle(change, refused)
        except Exception as error:
            command = type(getattr(change, "request", change)).__name__
            log.exception("a change failed", command=command, **{self.kind: self.key})
            self.settle(change, error)

    def first(self, change: Change[Value]) -> Change[Value]:
        """Return what is to come before a change whose turn it is, or that very change."""
        return change

    def save(self, change: Change[Value], after: Value) -> None:
        """Let what a change has made be stored."""
        self.table.save(self.key, after, self.revision, change, change.finished)

    def is_ready(self, change: Change[Value]) -> bool:
        """Tell whether a change may begin now, else it does once what is stored is read; raises where it is gone."""
        if self.phase is Phase.GONE:
            raise self.why_gone()
        if self.phase is Phase.UNCERTAIN:
            self.begin_later(change, 0)
        return self.phase is Phase.OPENING

    def settle(self, change: Change[Value], error: Exception | None) -> None:
        """Let a change be answered, and go on with what waits."""
        change.is_settled = True
        try:
            self.answer(change, error)
        except Exception:
            log.exception("a change could not be answered", **{self.kind: self.key})
        self.change = None
        if self.waiting:
            self.go_on()

    def answer(self, change: Change[Value], error: Exception | None) -> None:
        """Answer a change that is settled."""
        change.settled(error)

    def go_on(self) -> None:
        """Begin what waits, until something has to wait for the store."""
        if self.is_going_on:
            return
        self.is_going_on = True
        while self.waiting and self.change is None:
            self.change = self.waiting.popleft()
            self.begin(self.change)
        self.is_going_on = False

    def try_again(self, change: Change[Value], error: Conflict | Unsettled) -> bool:
        """Try a change again, the first time at once and then after longer and longer rests; tell whether it may be."""
        change.attempts, is_lost = change.attempts + 1, isinstance(error, Conflict)
        if change.attempts >= ATTEMPTS if is_lost else change.rested >= UNSETTLED_SECONDS:
            return False
        rest = min(max(change.rested, FIRST_REST_SECONDS), LONGEST_REST_SECONDS)  # as long as all before: doubling
        rest = 0.0 if is_lost and change.attempts == 1 else rest
        change.rested += rest
        self.begin_later(change, rest)
        return True

    def begin_later(self, change: Change[Value], rest: float) -> None:
        """Begin a change after a rest (s), on what is stored by then."""
        self.answer_in_time(change)
        self.tasks.start(self._begin_later(change, rest))

    async def _begin_later(self, change: Change[Value], rest: float) -> None:
        try:
            await asyncio.sleep(rest)
            if self.change is change and self.phase is Phase.UNCERTAIN:
                await self.read()
        except Exception as error:
            if not isinstance(error, StoreUnavailable) or isinstance(error, Unreadable):
                log.exception("what is to be changed cannot be read", **{self.kind: self.key})
            if self.change is change:
                self.settle(change, error)
        else:
            if self.change is change:
                self.begin(change)

    def answer_in_time(self, change: Change[Value]) -> None:
        """See to it that a change is answered in time whose turn may come late, or more than once."""
        now = clock.monotonic()
        left = (change.asked_at or now) + ANSWER_SECONDS - now
        asyncio.get_running_loop().call_later(max(0.0, left), self._give_up, change)

    def _give_up(self, change: Change[Value]) -> None:
        """Say of a change that is not settled yet that the store is away; what is stored of it is read later."""
        error = StoreUnavailable("It did not answer in time.")
        if self.change is change:
            self.doubt()
            self.settle(change, error)
        elif change in self.waiting:
            self.waiting.remove(change)
            change.is_settled = True
            change.settled(error)


async def change(table: Table[Value], key: str, edit: Callable[[Value | None], Any]) -> Any:
    """Keep what `edit` makes of a value, None for none, and return that; what is equal is not stored again.

    Raises what `edit` raises, and `StoreUnavailable`.
    """

    def make(before: Value | None) -> Value | None:
        after: Value | None = edit(before)
        return before if after == before else after

    kept = Kept[Value | None](table, key, Tasks(), None)
    await kept.read()
    return await Change(live=kept, make=make).until_settled()
