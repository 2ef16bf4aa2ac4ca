"""Everything that is written to the stream, by whichever server, in order and without a gap.

The stream sends each message on under `FEED` once it is kept. Its sequences have no holes while messages come, so one
number tells where one was missed; then, and whenever the connection was away, what is missing is read from the stream.
What was written over meanwhile is not there any more: of each key at least the newest is told, and never an older one
after it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol

import structlog

from tictactoe_server.stores.jetstream.link import Link, LinkError, Message
from tictactoe_server.stores.jetstream.stream import FEED, Entry, Stream, heard
from tictactoe_server.stores.jetstream.tables import BAN, GAME, ROOM, read_ban, subject_of
from tictactoe_server.stores.store import Ban, StoreUnavailable

SILENCE_SECONDS: Final = 3.0
"""After so long without any message it is asked whether there was none."""

_PAUSE_SECONDS: Final = 0.5
_MAX_HELD: Final = 20_000

log: Final = structlog.get_logger(__name__)


class Follower(Protocol):
    """Who is told what changes, on the event loop."""

    def room_changed(self, code: str, revision: int, document: bytes | None) -> None:
        """Take notice of a room's newest document, None for one that is gone."""
        ...

    def ban_changed(self, subject: str, ban: Ban | None) -> None:
        """Take notice of a ban, None for one that is over."""
        ...


class Feed:
    """Follows the stream from `open` on; `sequence` is up to where. Games go to `on_game`, with their ids."""

    def __init__(
        self,
        link: Link,
        stream: Stream,
        on_game: Callable[[int, bytes], None],
        *,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        self.sequence = 0
        self._link = link
        self._stream = stream
        self._on_game = on_game
        self._silence_seconds = silence_seconds
        self._follower: Follower | None = None
        self._held: list[Entry] | None = []
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Follow from now on; raises `StoreUnavailable`."""
        try:
            await self._link.subscribe(FEED + ">", self._hear)
            await self._link.flush()
        except LinkError as error:
            raise StoreUnavailable(str(error)) from error
        async with self._lock:
            self.sequence = await self._stream.last_sequence()
            await self._go_on()
        self._link.on_connected.append(self._mend_soon)
        self._run(self._watch())

    async def start(self, follower: Follower) -> None:
        """Tell a follower of all rooms and bans that there are, and from then on of every change.

        Raises `StoreUnavailable`; nothing more is told then.
        """
        async with self._lock:
            self._hold()
            try:
                for keys in (ROOM, BAN):
                    async for entries in self._stream.walk(keys + ">", 0, self.sequence):
                        for entry in entries:
                            if entry.document is not None:
                                _tell(follower, entry)
                self._follower = follower
                await self._go_on()
            except StoreUnavailable:
                self._follower = None
                self._mend_soon()
                raise

    async def lag(self) -> int:
        """Return how many messages of the stream have not come yet; raises `StoreUnavailable`."""
        return max(0, await self._stream.last_sequence() - self.sequence)

    async def close(self) -> None:
        """Follow no longer."""
        self._hold()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _hear(self, message: Message) -> None:
        entry = heard(message)
        if entry is None:
            return
        if self._held is not None:
            if len(self._held) >= _MAX_HELD:
                self._held.clear()  # which leaves a gap, and so is read again
            self._held.append(entry)
        elif entry.sequence == self.sequence + 1:
            self._take(entry)
        elif entry.sequence > self.sequence:
            self._mend_soon()
            self._held = [entry]

    def _take(self, entry: Entry) -> None:
        self.sequence = entry.sequence
        if entry.key.startswith(GAME):
            if entry.document is not None:
                self._on_game(entry.sequence, entry.document)
        elif self._follower is not None:
            _tell(self._follower, entry)

    def _hold(self) -> None:
        """Let messages wait."""
        if self._held is None:
            self._held = []

    def _mend_soon(self) -> None:
        self._hold()
        self._run(self._mend())

    async def _mend(self) -> None:
        """Read what is missing, until the store has answered."""
        async with self._lock:
            while True:
                try:
                    await self._read_on()
                    await self._go_on()
                    return
                except StoreUnavailable as unavailable:
                    log.warning("what was missed cannot be read yet", reason=str(unavailable))
                    await asyncio.sleep(_PAUSE_SECONDS)

    async def _read_on(self) -> None:
        upto = await self._stream.last_sequence()
        async for entries in self._stream.walk(">", self.sequence, upto):
            for entry in entries:
                self._take(entry)
        self.sequence = max(self.sequence, upto)

    async def _go_on(self) -> None:
        """Take what was held, and let nothing wait any more; where it has a gap that is read first."""
        while self._held:
            held, self._held = self._held, []
            for entry in held:
                if entry.sequence > self.sequence + 1:
                    await self._read_on()
                if entry.sequence == self.sequence + 1:
                    self._take(entry)
        self._held = None

    async def _watch(self) -> None:
        """Look now and then whether silence means that nothing happened."""
        while True:
            before = self.sequence
            await asyncio.sleep(self._silence_seconds)
            if self.sequence != before or self._held is not None or not self._link.is_connected:
                continue
            with contextlib.suppress(StoreUnavailable):
                if await self.lag() and self.sequence == before and self._held is None:
                    self._mend_soon()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _tell(follower: Follower, entry: Entry) -> None:
    try:
        if entry.key.startswith(ROOM):
            follower.room_changed(entry.key.removeprefix(ROOM), entry.sequence, entry.document)
        elif entry.key.startswith(BAN):
            follower.ban_changed(subject_of(entry.key), read_ban(entry))
    except Exception:
        log.exception("who follows the store failed", key=entry.key)
