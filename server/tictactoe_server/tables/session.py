"""One peer from hello to goodbye: who it is, which rooms it is in, what it may still say, its requests in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from tictactoe_protocol import encode
from tictactoe_protocol.pushes import Push
from tictactoe_server.rooms import Player
from tictactoe_server.tables.rate_limit import RateLimit
from tictactoe_server.transport import Connection, encode_frame

INBOX_MESSAGES: Final = 8
"""How many messages may wait for their turn before the peer is no longer read from."""

CHAT_LINES: Final = 5
CHAT_MS: Final = 5_000
"""How many lines a connection may say in how long."""

ANALYSES: Final = 10
ANALYSES_MS: Final = 10_000
"""How many positions a connection may have analysed in how long."""


class Handler(Protocol):
    """Who carries out what a session asks for."""

    def receive(self, session: Session, message: bytes, now: int) -> None:
        """Carry out one message that came at `now` (ms of served time); what takes longer makes the session busy."""
        ...

    def dismiss(self, session: Session) -> None:
        """Take notice that the session is over."""
        ...


class Session:
    """`player` is None until hello; `rooms` are the codes of the rooms in which this connection plays or watches.

    One request is carried out at a time: while `is_busy` the next ones wait, each with the time at which it came. `now`
    returns ms of served time; limits go by `monotonic_ns`.
    """

    __slots__ = (
        "_handler",
        "_inbox",
        "_is_over",
        "_now",
        "analyses",
        "chat",
        "connection",
        "is_busy",
        "player",
        "rooms",
    )

    def __init__(
        self, connection: Connection, handler: Handler, now: Callable[[], int], monotonic_ns: Callable[[], int]
    ) -> None:
        self.connection = connection
        self.player: Player | None = None
        self.rooms: set[str] = set()
        self.chat = RateLimit(CHAT_LINES, CHAT_MS, monotonic_ns)
        self.analyses = RateLimit(ANALYSES, ANALYSES_MS, monotonic_ns)
        self.is_busy = self._is_over = False
        self._handler = handler
        self._now = now
        self._inbox: deque[tuple[bytes, int]] = deque()

    @property
    def waits_since(self) -> int | None:
        """When the oldest message came that has not had its turn (ms of served time), or None."""
        return self._inbox[0][1] if self._inbox else None

    def push(self, message: Push) -> None:
        """Send one message; it is never dropped, except with the connection."""
        self.connection.push_frame(encode_frame(encode(message)))

    def go_on(self) -> None:
        """Take notice that the request under way is done."""
        self.is_busy = False
        if self._inbox or self._is_over:
            asyncio.get_running_loop().call_soon(self._take_next)

    # -- for the connection -------------------------------------------------------------------------------------

    def received(self, message: bytes) -> None:
        """Carry a message out, or let it wait for its turn."""
        if not self.is_busy and not self._inbox:
            self._handler.receive(self, message, self._now())
            return
        self._inbox.append((message, self._now()))
        if len(self._inbox) == INBOX_MESSAGES + 1:
            self.connection.pause_reading()

    def ended(self) -> None:
        """Take notice that the connection is gone; what it asked for before is still carried out."""
        self._is_over = True
        self._take_next()

    def _take_next(self) -> None:
        """Carry out what waits, until something of it takes longer."""
        while self._inbox and not self.is_busy:
            message, now = self._inbox.popleft()
            if len(self._inbox) == INBOX_MESSAGES:
                self.connection.resume_reading()
            self._handler.receive(self, message, now)
        if self._is_over and not self._inbox and not self.is_busy:
            self._handler.dismiss(self)
