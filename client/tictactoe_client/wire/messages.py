"""What the server says, each message with its text as it came, and the stream of all of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from tictactoe_client.wire.errors import ConnectionLost, ProtocolBroken, Refused
from tictactoe_client.wire.events import Event
from tictactoe_client.wire.inspection import inspect_push
from tictactoe_protocol import BadMessage, ErrorCode, clean_text, decode_push
from tictactoe_protocol.pushes import Error, Push

_LONGEST_REASON: Final = 160
"""How much is told of what is wrong with a message: it may quote what it holds."""


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

    Iterating raises `ConnectionLost` when the connection ends, and stops when the client was closed.
    """

    def __init__(self, welcome: Message) -> None:
        self._queue: asyncio.Queue[Message | ConnectionLost | None] = asyncio.Queue()
        self._queue.put_nowait(welcome)

    def __aiter__(self) -> Messages:
        return self

    async def __anext__(self) -> Message:
        item = await self._queue.get()
        if item is None:
            raise StopAsyncIteration
        if isinstance(item, ConnectionLost):
            raise item
        return item

    @property
    def has_more(self) -> bool:
        """Whether something can be had at once."""
        return not self._queue.empty()

    def put(self, item: Message | ConnectionLost | None) -> None:
        """Add a message, or what ends the stream: a loss, or None for a client that was closed."""
        self._queue.put_nowait(item)


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
