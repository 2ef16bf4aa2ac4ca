"""Delivers messages to streams and listeners. Also runs background tasks, and wakes coroutines at changes."""

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
"""Reading from the server pauses while a stream has more unread bytes than this."""

Item = TypeVar("Item")


class Stream(AsyncIterator[Item]):
    """A queue of items to iterate over. Iteration stops after `close`, or raises the error that ended the stream."""

    def __init__(self) -> None:
        self._items: deque[tuple[Item | Exception | None, int]] = deque()
        self._weight = 0
        self._is_closed = False
        self._has_more = asyncio.Event()
        self._has_place = asyncio.Event()
        self._has_place.set()
        # A stream that is garbage-collected unread must not keep the reader waiting.
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
        """Add an item of `weight` bytes, or end the stream with an error or None."""
        if self._is_closed:
            return
        weight += 1024  # the memory of an item without its text
        self._items.append((item, weight))
        self._weight += weight
        self._has_more.set()
        if self._weight > MOST_UNREAD:
            self._has_place.clear()

    def close(self) -> None:
        """Drop the unread items and stop iteration."""
        self._is_closed = True
        self._items.clear()
        self._weight = 0
        self._has_more.set()
        self._has_place.set()


class Subscribers(Generic[Item]):
    """Publishes items to streams, which are held by weak references, and to listeners."""

    def __init__(self) -> None:
        self._streams: weakref.WeakSet[Stream[Item]] = weakref.WeakSet()
        self._listeners: list[Callable[[Item], object]] = []

    def add(self, stream: Stream[Item]) -> None:
        self._streams.add(stream)

    def subscribe(self, listener: Callable[[Item], object]) -> Callable[[], None]:
        """Call `listener` with each item; return a function that unsubscribes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def publish(self, item: Item) -> None:
        for stream in list(self._streams):
            stream.put(item)
        for listener in list(self._listeners):
            call(listener, item)

    def finish(self, end: Exception | None, last: Item | None = None) -> None:
        """End the streams, with the error if `end` is one; pass `last`, if any, to the listeners and remove them."""
        for stream in list(self._streams):
            stream.put(end)
        if last is not None:
            for listener in list(self._listeners):
                call(listener, last)
        self._listeners.clear()

    async def until_read(self) -> None:
        """Wait until no stream has more than `MOST_UNREAD` bytes unread."""
        for has_place in [stream._has_place for stream in self._streams]:
            await has_place.wait()


def call(listener: Callable[[Item], object], item: Item) -> None:
    """Call a listener; an exception that it raises goes to the event loop's exception handler."""
    try:
        listener(item)
    except Exception as error:
        context = {"message": f"{listener!r} failed", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)


@dataclass(frozen=True, slots=True)
class Message:
    """A message from the server, or an event of our connection.

    Attributes:
        text: The message as received, or "" for an event.
        push: The decoded message, or None if its type is unknown.
    """

    text: str
    push: pushes.Push | None
    event: ConnectionEvent | None = None


class Messages(Stream[Message]):
    """All messages from the server, beginning with its welcome; a slow reader gets only the newest states.

    Iteration raises `ConnectionLost` when the connection is lost for good, and stops when the client is closed.
    """

    def __init__(self, welcome: Message) -> None:
        super().__init__()
        self.put(welcome)

    def put(self, item: Message | Exception | None, weight: int = 0) -> None:
        """Add a message or end the stream; if many are unread, a new state replaces the last one of its room."""
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
    """An event that wakes all waiters at each change and is cleared at once."""

    def note(self) -> None:
        self.set()
        self.clear()

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self.wait()


class Work:
    """A group of background tasks."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name="tictactoe work")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def finish(self) -> None:
        """Wait for all tasks, including those that are started while waiting."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()
        await self.finish()
