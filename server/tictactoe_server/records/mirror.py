"""Copies in memory of tables that several servers change.

A mirror guarantees:
- A value is visible only once it is stored. Every change is a compare-and-set and is retried after a conflict.
- A value never returns to an earlier revision, and a deleted value does not reappear, even if reads and notices from
  other servers arrive late.
- A change by another server is visible soon after the server's notice. Notices may be lost, so `run` reloads the table
  regularly in a cluster, and on every server after a failure of the store.
- `on_change` is called after a change is settled. Changes in quick succession may be reported as one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Generic, Protocol, cast

import structlog

from tictactoe_server.records.changes import Change, Phase, StoredValue, Value
from tictactoe_server.scheduler import Listeners, Tasks, wait_for
from tictactoe_server.storage.store import MISSING, StoreUnavailable, Table, Unreadable

RELOAD_SECONDS: Final = 10.0
AGAIN_SECONDS: Final = 0.5  # the pause before a reload

log: Final = structlog.get_logger(__name__)


class Peers(Protocol):
    """The other servers in the cluster. Servers send each other notices of changed values.

    Attributes:
        is_several: Whether this server belongs to a cluster.
        on_changed: The listeners for notices, by the name of a table; they are called with a key.
    """

    is_several: bool

    @property
    def on_changed(self) -> Mapping[str, Listeners[[str]]]: ...

    def broadcast_change(self, table: str, key: str) -> None: ...


class MirroredValue(StoredValue[Value]):
    """The value under a key in a mirror, or None if nothing is stored."""

    def __init__(self, mirror: Mirror[Value], key: str) -> None:
        super().__init__(mirror.table, key, mirror.tasks, cast(Value, None))
        self.mirror = mirror
        self._deleted_at = MISSING  # the last revision before the deletion

    def adopt(self, value: Value | None, revision: int, *, is_own: bool = False) -> None:
        if value is None or revision > self._deleted_at:
            super().adopt(value, revision, is_own=is_own)

    async def read(self) -> None:
        try:
            await super().read()
        except Unreadable as error:
            self.mirror.log_damage(self.key, error)
            self.lost()

    def changed(self, before: Value) -> None:
        self.mirror.adopt(self)

    def lost(self) -> None:
        self._deleted_at = max(self._deleted_at, self.revision)
        super().lost()
        self.mirror.adopt(self)

    def settle(self, change: Change[Value], error: Exception | None) -> None:
        super().settle(change, error)
        self.mirror.report(self.key)

    def read_again(self) -> None:
        """Schedule a reload, because the stored value may be newer."""
        self.doubt()
        if self.phase is Phase.UNCERTAIN and not self.waiting:
            Change[Value](live=self).submit()


class Mirror(Generic[Value]):
    """A copy of a table in memory; the module's docstring lists its guarantees.

    Attributes:
        loaded: Set once all values are loaded.
        on_change: Called with a key and the values before and after a change, each None if there is no value.

    Args:
        name: The name of the table in notices.
        is_wanted: Returns whether to hold a value in memory. Called with the key and the value, or None if the value is
            unknown, when all values are loaded and when a notice arrives.
    """

    def __init__(
        self,
        table: Table[Value],
        name: str,
        peers: Peers,
        tasks: Tasks,
        is_wanted: Callable[[str, Value | None], bool] = lambda key, value: True,
    ) -> None:
        self.table = table
        self.name = name
        self.tasks = tasks
        self.loaded = asyncio.Event()
        self.on_change = Listeners[[str, Value | None, Value | None]]()
        self._peers = peers
        self._is_wanted = is_wanted
        self._known: dict[str, MirroredValue[Value]] = {}
        self._reported: dict[str, Value] = {}
        self._must_reload = asyncio.Event()
        peers.on_changed[name].add(self._on_changed)

    def __iter__(self) -> Iterator[Value]:
        return iter([held.value for held in self._known.values()])

    def get(self, key: str) -> Value | None:
        return self._known[key].value if key in self._known else None

    def holder(self, key: str) -> MirroredValue[Value]:
        """Return the `MirroredValue` for a key, or a new one if the key is unknown."""
        return self._known.get(key) or MirroredValue(self, key)

    async def read(self, key: str) -> Value | None:
        """Reload a value from the store and return it, or None. May raise `StoreUnavailable`."""
        await self.holder(key).read()
        return self.get(key)

    async def change(
        self,
        key: str,
        edit: Callable[[Value | None], Value | None],
        on_settled: Callable[[Exception | None], object] = lambda error: None,
    ) -> Value | None:
        """Replace a value with the result of `edit`, notify the other servers, and return the result.

        Args:
            edit: Called with the value, or None if there is none. Returns the new value, or None to delete the value.
                Called again after a conflict.
            on_settled: Called with the error, or None, before `on_change`.

        Raises:
            StoreUnavailable: The store cannot answer. Errors that `edit` raises are passed on, too.
        """

        def make(before: Value) -> Value | None:
            after = edit(before)
            return before if after == before else after

        held = self.holder(key)
        if self._peers.is_several:
            held.doubt()  # another server may have just changed the value
        try:
            return await Change[Value](live=held, make=make, on_settled=on_settled).until_settled()
        except StoreUnavailable:
            self._must_reload.set()
            raise
        finally:
            self._peers.broadcast_change(self.name, key)

    def forget(self, key: str) -> None:
        """Drop a value from memory; it stays in the store."""
        self._known.pop(key, None)
        self._reported.pop(key, None)

    async def load(self) -> None:
        """Load all values. May raise `StoreUnavailable`."""
        missing = dict.fromkeys(self._known)
        async for some in self.table.load_all():
            for stored in some:
                missing.pop(stored.key, None)
                if isinstance(stored.value, Unreadable):
                    if not self.loaded.is_set():
                        self.log_damage(stored.key, stored.value)
                elif not self._is_wanted(stored.key, stored.value):
                    continue
                elif stored.key in self._known or not self.loaded.is_set():
                    self.holder(stored.key).adopt(stored.value, stored.revision)
                else:  # the value may have been deleted since it was loaded
                    await self.read(stored.key)
        for key in missing:
            await self.read(key)
        self.loaded.set()

    async def run(self, seconds: float = RELOAD_SECONDS) -> None:
        """Load all values unless `load` has; reload them after failures and, in a cluster, every `seconds`.

        Runs until cancelled. In a cluster the values are loaded at once even so, since notices may have been missed.
        """
        while True:
            if self._must_reload.is_set() or self._peers.is_several or not self.loaded.is_set():
                self._must_reload.clear()  # before the load, so that no failure is missed
                try:
                    await self.load()
                except StoreUnavailable as unavailable:
                    log.warning("table not loaded yet; retrying", table=self.name, reason=str(unavailable))
                    self._must_reload.set()
            if await wait_for(self._must_reload, seconds if self._peers.is_several else None):
                await asyncio.sleep(AGAIN_SECONDS)

    def adopt(self, held: MirroredValue[Value]) -> None:
        """Add a stored value or remove a deleted value, and notify the listeners unless a change is in progress."""
        known = self._known.get(held.key, held)
        if known is not held:  # two callers loaded the value at the same time
            known.adopt(held.value, held.revision) if held.value is not None else known.read_again()
        elif held.value is None:
            self._known.pop(held.key, None)
        else:
            self._known[held.key] = held
        if held.change is None:
            self.report(held.key)

    def report(self, key: str) -> None:
        """Call `on_change` if the value differs from the last reported value."""
        before, after = self._reported.get(key), self.get(key)
        if before is after or before == after:
            return
        self._reported.pop(key, None)
        if after is not None:
            self._reported[key] = after
        self.on_change(key, before, after)

    def log_damage(self, key: str, error: Unreadable) -> None:
        log.error("damaged value ignored", table=self.name, key=key, reason=str(error))

    def _on_changed(self, key: str) -> None:
        if self._is_wanted(key, self.get(key)):
            self.holder(key).read_again()
