"""Sending somebody away: an error that says why, then the close code that says not to come back by oneself."""

from __future__ import annotations

from collections.abc import Sequence

from tictactoe_protocol import CloseCode, ErrorCode, encode, error_answer
from tictactoe_server.core.session import Peer, Session
from tictactoe_server.transport.frames import encode_frame

_CLOSE_CODES = {ErrorCode.BANNED: CloseCode.BANNED, ErrorCode.KICKED: CloseCode.KICKED}


def expel(connection: Peer, code: ErrorCode, words: str, *, id: str | None = None) -> None:
    """Say why, close, and read nothing more; `id` is that of the request to which this is the answer."""
    connection.push_frame(encode_frame(encode(error_answer(code, words, id=id))))
    connection.close(_CLOSE_CODES[code], str(code))


def expel_all(sessions: Sequence[Session], code: ErrorCode, words: str) -> int:
    """Send everybody of these away, and return how many they were."""
    for session in sessions:
        expel(session.connection, code, words)
    return len(sessions)


class Barred:
    """One whose address is banned: whatever they say first is answered with why, and closed upon.

    Only then, because a client that is closed on before its first word need not look at what it was told.
    """

    def __init__(self, connection: Peer, words: str) -> None:
        self._connection = connection
        self._words = words

    def received(self, message: bytes) -> None:
        if self._connection.is_open:
            expel(self._connection, ErrorCode.BANNED, self._words)

    def ended(self) -> None:
        pass
