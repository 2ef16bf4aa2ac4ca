"""One connection from hello to its end: its player, rooms and rate limits, and its requests in order."""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from tictactoe_protocol import BadMessage, CloseCode, ErrorCode, encode, error_answer
from tictactoe_protocol.pushes import Error, Push
from tictactoe_server import clock
from tictactoe_server.rooms import Player, Refused
from tictactoe_server.sessions.pressure import IN_LINE, Place, Pressure
from tictactoe_server.transport.admission import key_of
from tictactoe_server.transport.connection import Connection, Receiver
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.transport.rate_limit import RateLimit, take_both

INBOX_MESSAGES: Final = 8  # how many messages may be queued before the peer is no longer read from
_FEW_MESSAGES: Final = 4
CHAT_LINES: Final = 5
CHAT_MS: Final = 5_000
ANALYSES: Final = 10
ANALYSES_MS: Final = 10_000
TRIES: Final = 5
TRIES_MS: Final = 60_000  # also of an address
NOTICE_SECONDS: Final = 1.0  # shortest time between two notices that messages are delayed
_EPISODE_SECONDS: Final = 1.0


class Tally:
    """Counters since the server started.

    Attributes:
        refusals: By error code.
        limited: Refusals and delays by the name of the limit.
        games: Ended games by reason.
        sent: Bytes sent to peers, counted only if there are metrics.
    """

    def __init__(self) -> None:
        self.refusals: Counter[str] = Counter()
        self.limited: Counter[str] = Counter()
        self.games: Counter[str] = Counter()
        self.sent = 0


class Dispatching(Protocol):
    """Carries out the requests of sessions; see `Dispatcher`."""

    def receive(self, session: Session, message: Any, now: int, *, is_late: bool = False) -> None: ...

    def shed(self, session: Session, message: Any) -> Any: ...

    def again(self, session: Session, request: Any, now: int) -> None: ...

    def dismiss(self, session: Session) -> None: ...


@dataclass(slots=True)
class Device:
    """The device of a session.

    Attributes:
        secret: The store's key of the token; `key` is the same until the player's first seat is stored, then None.
        name: The player's own name, whatever others see.
    """

    secret: str = ""
    key: str | None = None
    name: str = ""
    client: str = ""


class Rates:
    """The rate limits of a connection: `bad` for unreadable messages, `tries` for wrong codes in a hello."""

    __slots__ = ("analyses", "bad", "chat", "tries")

    def __init__(self, bad: RateLimit, monotonic_ns: Callable[[], int]) -> None:
        self.chat = RateLimit(CHAT_LINES, CHAT_MS, monotonic_ns)
        self.tries = RateLimit(TRIES, TRIES_MS, monotonic_ns)
        self.analyses = RateLimit(ANALYSES, ANALYSES_MS, monotonic_ns)
        self.bad = bad


class Holding:
    """How a connection is delayed: `in_line` behind others of its address, or until the timer `release`."""

    __slots__ = ("_held_at", "_noticed_at", "_over_since", "flood_seconds", "in_line", "is_reading", "release")

    def __init__(self, flood_seconds: float) -> None:
        self.flood_seconds = flood_seconds
        self.in_line = False
        self.is_reading = True
        self.release: asyncio.TimerHandle | None = None
        self._held_at = self._over_since = self._noticed_at = -math.inf

    def begin(self, now: float) -> bool:
        """Begin a delay; return True if delays with short pauses between them have lasted `flood_seconds`."""
        if now - self._held_at > _EPISODE_SECONDS:
            self._over_since = now
        self._held_at = math.inf  # until the delay ends
        return now - self._over_since > self.flood_seconds

    def is_notice_due(self, now: float) -> bool:
        is_due = now - self._noticed_at > NOTICE_SECONDS
        self._noticed_at = now if is_due else self._noticed_at
        return is_due

    def end(self, now: float) -> None:
        self.in_line, self.release = False, None
        if self._held_at == math.inf:
            self._held_at = now


class Session(Receiver):
    """One connection from hello to its end.

    Requests are carried out one at a time. While `is_busy`, or while the session or its address sends more than it
    may, further requests are queued and the peer is not read from; none goes unanswered. A peer that keeps exceeding
    its rate, or sends too many unreadable messages, is closed.

    Attributes:
        player: None until hello.
        device: The token, name and program that hello came with.
        rooms: Codes of the rooms that this connection plays in or watches.
        place: The place of the current request if it waits for the store, and its session with it; see `Places`.
    """

    def __init__(
        self, connection: Connection, dispatcher: Dispatching, pressure: Pressure, now: Callable[[], int], tally: Tally
    ) -> None:
        self.connection = connection
        self.source = pressure.of(key_of(connection.address))
        self.player: Player | None = None
        self.device = Device()
        self.rooms: set[str] = set()
        self.tally = tally
        self.messages, bad = (rates.new() for rates in pressure.of_a_session)
        self.rates = Rates(bad, pressure.monotonic_ns)
        self.is_busy = False
        self.place: Place | None = None
        self._is_over = False
        self.dispatcher = dispatcher
        self._now = now
        self._inbox: deque[tuple[Any, int]] = deque()
        self._holding = Holding(pressure.flood_seconds)

    @property
    def address(self) -> str:
        return self.source.address

    @property
    def waits_since(self) -> int | None:
        return self._inbox[0][1] if self._inbox else None

    def push(self, message: Push) -> None:
        """Send one message; it is dropped only with the connection."""
        self.connection.push_frame(encode_frame(encode(message)))

    def refuse(self, error: Error) -> None:
        self.tally.refusals[error.code] += 1
        self.push(error)

    def refuse_bad(self, bad: BadMessage) -> None:
        """Refuse an unreadable message, which counts as several messages of its address; close after too many."""
        if self._is_over:
            return
        self.refuse(error_answer(bad.code, bad.message, id=bad.id, room=bad.room, path=bad.path, data=bad.data))
        self.source.count_bad()
        if self.rates.bad.take():
            self._close("too many bad messages")

    def go_on(self) -> None:
        """Carry out queued messages, after the current request has ended."""
        self.end_request()
        if self._inbox or self._is_over:
            asyncio.get_running_loop().call_soon(self._take_next)

    def end_request(self) -> None:
        self.is_busy = False
        if self.place is not None:
            self.place.leave()
            self.place = None

    # -- for the connection -------------------------------------------------------------------------------------

    def received(self, message: Any) -> None:
        if not (self.is_busy or self._inbox or self.source.take(self.messages)):
            self.dispatcher.receive(self, message, self._now())
            return
        pressure, asked = self.source.pressure, message
        pressure.measure()
        may_shed = self._inbox and pressure.is_restless and not (pressure.is_full or self.source.gives_way)
        if may_shed and not any(take_both(self.messages, self.source.limit)):
            begun = clock.monotonic()
            asked = self.dispatcher.shed(self, message)
            self.source.charge(clock.monotonic() - begun)
        if asked is not None:
            self._inbox.append((asked, self._now()))
        if self._holding.in_line:
            self._read_or_not()
        else:
            self._take_next()

    def ended(self) -> None:
        """Carry out the requests that arrived before the connection ended."""
        self._is_over = True
        self._take_next()

    def take_turn(self) -> bool:
        """Take a queued message, as the address is below its limit again; return whether there was one."""
        self._holding.end(asyncio.get_running_loop().time())
        takes = bool(self._inbox) and not (self.is_busy or self.messages.take())
        late = takes and self._take_one()
        while late and self._inbox and not (self.is_busy or any(take_both(self.messages, self.source.limit))):
            late = self._take_one()
        self._take_next()
        return takes

    def _take_one(self) -> bool:
        """Carry out the oldest queued message; return whether it had waited too long."""
        asked, now = self._inbox.popleft()
        is_late = self.source.pressure.is_too_late(self._now() - now)
        self.dispatcher.receive(self, asked, now, is_late=is_late)
        return is_late

    def _take_next(self) -> None:
        """Carry out queued messages until one takes longer or exceeds a limit."""
        while self._inbox and not self.is_busy:
            wait = self.source.take(self.messages)
            if wait:
                self._hold_back(wait)
                break
            self._take_one()
        self._read_or_not()
        if self._is_over and not self._inbox and not self.is_busy:
            self.dispatcher.dismiss(self)

    def _hold_back(self, wait: int) -> None:
        """Delay a session that exceeds its limits, and close it if that continues."""
        holding, loop = self._holding, asyncio.get_running_loop()
        if holding.in_line or holding.release is not None:
            return
        if wait != IN_LINE or self.source.limit.wait():  # else only its address is busy
            is_too_much = holding.begin(loop.time())
            if is_too_much and len(self._inbox) > _FEW_MESSAGES:
                self._close("too many messages")
                return
            if holding.is_notice_due(loop.time()):
                kind = "messages-per-address" if wait == IN_LINE else "messages"
                self.tally.limited[kind] += 1
                retry_ms = self.source.limit.wait() if wait == IN_LINE else wait
                self.refuse(Refused(ErrorCode.RATE_LIMITED, kind, retry_ms=max(1, retry_ms)).answer())
        if wait == IN_LINE:
            holding.in_line = True
            self.source.line_up(self.take_turn)
        else:
            holding.release = loop.call_later(wait / 1000, self._go_on_in_line)

    def _close(self, why: str) -> None:
        self._inbox.clear()
        self.connection.close(CloseCode.POLICY_VIOLATION, why)

    def _go_on_in_line(self) -> None:
        self._holding.end(asyncio.get_running_loop().time())
        self._take_next()

    def _read_or_not(self) -> None:
        holding, connection = self._holding, self.connection
        most = 1 if not holding.is_reading else _FEW_MESSAGES + 1 if holding.in_line else INBOX_MESSAGES
        may_read = len(self._inbox) <= most
        if holding.is_reading != may_read:
            holding.is_reading = may_read
            (connection.resume_reading if may_read else connection.pause_reading)()
