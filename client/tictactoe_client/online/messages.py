"""Who hears what comes from the server: those who iterate over it, each at their own pace, and those who are called.

Also what is done beside everything else, and waiting for a change."""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, Generic, Self, TypeVar

from tictactoe_client.online.events import ConnectionEvent
from tictactoe_protocol import pushes

MOST_UNREAD: Final = 2 * 1024 * 1024
"""About how many bytes may be unread before nothing more is read from the server."""

Item = TypeVar("Item")


class Stream(AsyncIterator[Item]):
    """Items in order. Iterating stops when it was given back, and raises the error that ended it, if one did."""

    def __init__(self) -> None:
        self._items: deque[tuple[Item | Exception | None, int]] = deque()
        self._weight = 0
        self._is_closed = False
        self._has_more = asyncio.Event()
        self._has_place = asyncio.Event()
        self._has_place.set()
        # Whoever lets go of a stream unread reads no more of it, and must not be waited for.
        weakref.finalize(self, self._has_place.set).atexit = False

    async def __anext__(self) -> Item:
        while not self._items and not self._is_closed:
            self._has_more.clear()
            await self._has_more.wait()
        item, weight = self._items.popleft() if self._items else (None, 0)
        self._weight -= weight
        if self._weight <= MOST_UNREAD:
            self._has_place.set()
        if item is None or isinstance(item, Exception):
            self.close()
            raise item or StopAsyncIteration
        return item

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def put(self, item: Item | Exception | None, weight: int = 0) -> None:
        """Add an item that takes so many bytes, or what ends the stream: an error, or None."""
        if self._is_closed:
            return
        weight += 1024  # which an item takes beside its text
        self._items.append((item, weight))
        self._weight += weight
        self._has_more.set()
        if self._weight > MOST_UNREAD:
            self._has_place.clear()

    def close(self) -> None:
        """Give the stream back: what was not read yet is forgotten, and iterating stops."""
        self._is_closed = True
        self._items.clear()
        self._weight = 0
        self._has_more.set()
        self._has_place.set()


class Subscribers(Generic[Item]):
    """All who hear of one source: streams, which are forgotten with whoever let go of them, and listeners."""

    def __init__(self) -> None:
        self._streams: weakref.WeakSet[Stream[Item]] = weakref.WeakSet()
        self._listeners: list[Callable[[Item], object]] = []

    def add(self, stream: Stream[Item]) -> None:
        """Let a stream hear what comes from now on."""
        self._streams.add(stream)

    def subscribe(self, listener: Callable[[Item], object]) -> Callable[[], None]:
        """Call `listener` with what comes from now on; return what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def publish(self, item: Item) -> None:
        """Tell all."""
        for stream in list(self._streams):
            stream.put(item)
        for listener in list(self._listeners):
            call(listener, item)

    def finish(self, end: Exception | None, last: Item | None = None) -> None:
        """End the streams, and let go of the listeners, which hear a `last` item where there is one."""
        for stream in list(self._streams):
            stream.put(end)
        if last is not None:
            for listener in list(self._listeners):
                call(listener, last)
        self._listeners.clear()

    async def until_read(self) -> None:
        """Wait while somebody who reads lags far behind, so that no more than that is kept for them."""
        for has_place in [stream._has_place for stream in self._streams]:
            await has_place.wait()


def call(listener: Callable[[Item], object], item: Item) -> None:
    """Call a listener; its fault is reported to the loop, and is nobody else's."""
    try:
        listener(item)
    except Exception as error:
        context = {"message": f"{listener!r} failed", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the server: its `text`, and what it means, None if unknown; or an `event` of our connection."""

    text: str
    push: pushes.Push | None
    event: ConnectionEvent | None = None


class Messages(Stream[Message]):
    """Every message of the server in order, beginning with its welcome; of states a reader who lags gets the newest.

    Iterating raises `ConnectionLost` when the connection ends, and stops when the client was closed.
    """

    def __init__(self, welcome: Message) -> None:
        super().__init__()
        self.put(welcome)

    def put(self, item: Message | Exception | None, weight: int = 0) -> None:
        """Add a message, or what ends the stream; of a reader who lags an older state of the room is forgotten."""
        if isinstance(item, Message):
            weight += len(item.text)
            if len(self._items) >= 64 and isinstance(item.push, pushes.RoomState):
                self._forget_state(item.push.room)
        super().put(item, weight)

    def _forget_state(self, room: str) -> None:
        for number in range(len(self._items) - 1, -1, -1):
            item, weight = self._items[number]
            if isinstance(item, Message) and isinstance(item.push, pushes.RoomState) and item.push.room == room:
                self._weight -= weight
                del self._items[number]
                return


class Changed(asyncio.Event):
    """Wakes all who wait each time that something has changed, and is never set otherwise."""

    def note(self) -> None:
        """Let all who wait look again."""
        self.set()
        self.clear()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until this holds."""
        while not condition():
            await self.wait()


class Work:
    """Tasks that nobody waits for by themselves."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something beside everything else."""
        task = asyncio.create_task(work, name="tictactoe work")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def finish(self) -> None:
        """Wait until all is done, also what was begun meanwhile."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def cancel(self) -> None:
        """Do no more of it."""
        for task in self._tasks:
            task.cancel()
        await self.finish()
