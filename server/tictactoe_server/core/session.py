"""A connection, with its player, device and rooms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tictactoe_protocol import BadMessage, encode, error_answer
from tictactoe_protocol.pushes import Error, Push
from tictactoe_server.core.pressure import Pressure
from tictactoe_server.core.throttle import Dispatching, Throttle
from tictactoe_server.rooms import Player
from tictactoe_server.transport.connection import Connection
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.transport.rate_limit import RateLimit

CHAT_LINES: Final = 5
CHAT_MS: Final = 5_000
TRIES: Final = 5
TRIES_MS: Final = 60_000  # the same limit holds for an address


class Counters:
    """Counters since the server started.

    Attributes:
        refusals: Refused requests, by error code.
        limited: Refusals and delays, by name of the limit.
        games: Finished games, by reason for the end.
        sent: Bytes sent to peers, counted only if there are metrics.
    """

    def __init__(self) -> None:
        self.refusals: Counter[str] = Counter()
        self.limited: Counter[str] = Counter()
        self.games: Counter[str] = Counter()
        self.sent = 0


@dataclass(slots=True)
class Device:
    """The device that a session's player uses.

    Attributes:
        secret: The store's key for the device's token.
        key: The same key until the player's first seat is stored, then None.
        name: The name that the player has chosen. Others may see a different name.
    """

    secret: str = ""
    key: str | None = None
    name: str = ""
    client: str = ""


class Session(Throttle):
    """A connection. Its requests are carried out one at a time.

    Attributes:
        player: The player, or None before hello.
        device: The token, name and client program from hello.
        rooms: Codes of the rooms that this connection plays in or watches.
        chat: The rate limit on chat messages.
        tries: The rate limit on wrong codes in hello.
    """

    def __init__(
        self,
        connection: Connection,
        dispatcher: Dispatching,
        pressure: Pressure,
        now: Callable[[], int],
        counters: Counters,
    ) -> None:
        super().__init__(connection, dispatcher, pressure, now)
        self.player: Player | None = None
        self.device = Device()
        self.rooms: set[str] = set()
        self.counters = counters
        self.chat = RateLimit(CHAT_LINES, CHAT_MS, pressure.monotonic_ns)
        self.tries = RateLimit(TRIES, TRIES_MS, pressure.monotonic_ns)

    @property
    def address(self) -> str:
        return self.source.address

    def push(self, message: Push) -> None:
        """Send a message, which is lost only if the connection is lost."""
        self.connection.push_frame(encode_frame(encode(message)))

    def refuse(self, error: Error, limit: str = "") -> None:
        self.counters.refusals[error.code] += 1
        if limit:
            self.counters.limited[limit] += 1
        self.push(error)

    def refuse_bad(self, bad: BadMessage) -> None:
        """Refuse an unreadable message. Close the connection after too many."""
        if not self._is_over:
            self.refuse(error_answer(bad.code, bad.message, id=bad.id, room=bad.room, path=bad.path, data=bad.data))
            self.count_bad()
