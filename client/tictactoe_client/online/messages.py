"""What the server says, each message with its text as it came, and the stream of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from tictactoe_client.online.errors import ProtocolBroken, Refused
from tictactoe_client.online.events import ConnectionEvent
from tictactoe_client.online.inspection import inspect_push
from tictactoe_client.online.stream import Stream
from tictactoe_protocol import BadMessage, ErrorCode, clean_text, decode_push
from tictactoe_protocol.pushes import Error, Push, RoomState

_LONGEST_REASON: Final = 160
"""How much is told of what is wrong with a message: it may quote what it holds."""

_LAG: Final = 64
"""How many unread messages make a reader one who lags."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the server: its `text` as it came, and what it means, or None where this client cannot tell.

    A client that comes back by itself also tells here what happens to its connection: as an `event`, with an empty
    text and no push.
    """

    text: str
    push: Push | None
    event: ConnectionEvent | None = None


class Messages(Stream[Message]):
    """Every message of the server in order, beginning with its welcome; an async iterator.

    Iterating raises `ConnectionLost` when the connection ends, and stops when the client was closed. For a reader who
    lags only the newest state of each room is kept, and `until_read` waits while too much else is unread.
    """

    def __init__(self, welcome: Message) -> None:
        super().__init__()
        self.put(welcome)

    def put(self, item: Message | Exception | None, weight: int = 0) -> None:
        """Add a message, or what ends the stream; of a reader who lags an older state of the room is forgotten."""
        if isinstance(item, Message):
            weight += len(item.text)
            if len(self._items) >= _LAG and isinstance(item.push, RoomState):
                self._forget_state(item.push.room)
        super().put(item, weight)

    def _forget_state(self, room: str) -> None:
        """Let go of the last state of a room that is unread, which a newer one makes old."""
        for number in range(len(self._items) - 1, -1, -1):
            item, weight = self._items[number]
            if isinstance(item, Message) and isinstance(item.push, RoomState) and item.push.room == room:
                self._weight -= weight
                del self._items[number]
                return


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
