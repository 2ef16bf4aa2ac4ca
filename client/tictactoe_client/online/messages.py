"""What the server says, each message with its text as it came, and the stream of all of them."""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from tictactoe_client.online.errors import ConnectionLost, ProtocolBroken, Refused
from tictactoe_client.online.events import Event
from tictactoe_client.online.inspection import inspect_push
from tictactoe_protocol import BadMessage, ErrorCode, clean_text, decode_push
from tictactoe_protocol.pushes import Error, Push, RoomState

_LONGEST_REASON: Final = 160
"""How much is told of what is wrong with a message: it may quote what it holds."""

_LAG: Final = 64
"""How many unread messages make a reader one who lags."""

_MOST_UNREAD: Final = 2 * 1024 * 1024
"""How many bytes may be unread before nothing more is read from the server."""

_FRAME_BYTES: Final = 1024
"""What a message takes beside its text."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the server: its `text` as it came, and what it means, or None where this client cannot tell.

    A client that comes back by itself also tells here what happens to its connection: as an `event`, with an empty
    text and no push.
    """

    text: str
    push: Push | None
    event: Event | None = None


class Messages:
    """Every message of the server in order, beginning with its welcome; an async iterator.

    Iterating raises `ConnectionLost` when the connection ends, and stops when the client was closed. For a reader who
    lags only the newest state of each room is kept, and `until_read` waits while too much else is unread.
    """

    def __init__(self, welcome: Message) -> None:
        self._items: deque[Message | ConnectionLost | None] = deque()
        self._weight = 0
        self._has_more = asyncio.Event()
        self._has_place = asyncio.Event()
        self._has_place.set()
        # Whoever lets go of a stream unread reads no more of it, and must not be waited for.
        weakref.finalize(self, self._has_place.set).atexit = False
        self.put(welcome)

    def __aiter__(self) -> Messages:
        return self

    async def __anext__(self) -> Message:
        while not self._items:
            self._has_more.clear()
            await self._has_more.wait()
        item = self._items.popleft()
        self._weight -= _weigh(item)
        if self._weight <= _MOST_UNREAD:
            self._has_place.set()
        if item is None:
            raise StopAsyncIteration
        if isinstance(item, ConnectionLost):
            raise item
        return item

    @property
    def has_more(self) -> bool:
        """Whether something can be had at once."""
        return bool(self._items)

    @property
    def until_read(self) -> Callable[[], Awaitable[object]]:
        """What waits while too much is unread; it does not keep the stream."""
        return self._has_place.wait

    def put(self, item: Message | ConnectionLost | None) -> None:
        """Add a message, or what ends the stream: a loss, or None for a client that was closed."""
        if len(self._items) >= _LAG and isinstance(item, Message) and isinstance(item.push, RoomState):
            self._forget_state(item.push.room)
        self._items.append(item)
        self._weight += _weigh(item)
        self._has_more.set()
        if self._weight > _MOST_UNREAD:
            self._has_place.clear()

    def _forget_state(self, room: str) -> None:
        """Let go of the last state of a room that is unread, which a newer one makes old."""
        for number in range(len(self._items) - 1, -1, -1):
            item = self._items[number]
            if isinstance(item, Message) and isinstance(item.push, RoomState) and item.push.room == room:
                self._weight -= _weigh(item)
                del self._items[number]
                return


def _weigh(item: Message | ConnectionLost | None) -> int:
    """Return about how many bytes an unread message takes."""
    return _FRAME_BYTES + (len(item.text) if isinstance(item, Message) else 0)


def refusal_of(error: Error) -> Refused:
    """Return the server's refusal as an exception."""
    return Refused(
        error.code,
        error.message,
        room=error.room or None,
        path=error.path or None,
        retry_ms=None if error.retry_ms is UNSET else error.retry_ms,
    )


def read_message(text: str) -> Message:
    """Return a message, safe to draw; of a type that this client does not know only the text, since servers may add.

    Raises `ProtocolBroken` for anything else that is no message of the protocol.
    """
    try:
        return Message(text, inspect_push(decode_push(text)))
    except BadMessage as bad:
        if bad.code == ErrorCode.UNKNOWN_TYPE:
            return Message(text, None)
        why = clean_text(bad.message)
        raise ProtocolBroken(why if len(why) <= _LONGEST_REASON else f"{why[:_LONGEST_REASON]}…") from None
