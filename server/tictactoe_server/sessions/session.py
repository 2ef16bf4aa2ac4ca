"""One peer from hello to goodbye: who it is, which rooms it is in, what it may still say, its requests in order."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Protocol

from tictactoe_protocol import BadMessage, CloseCode, ErrorCode, encode, error_answer
from tictactoe_protocol.pushes import Error, Push
from tictactoe_protocol.refusals import Refusal
from tictactoe_server.rooms import Player
from tictactoe_server.sessions.pressure import IN_LINE, Pressure
from tictactoe_server.sessions.tally import Tally
from tictactoe_server.settings import Limits
from tictactoe_server.transport.admission import key_of
from tictactoe_server.transport.connection import Connection, Receiver
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.transport.rate_limit import RateLimit, take_both

INBOX_MESSAGES: Final = 8  # how many messages may wait for their turn before the peer is no longer read from
CHAT_LINES: Final = 5
CHAT_MS: Final = 5_000  # how many lines a connection may say in how long
ANALYSES: Final = 10
ANALYSES_MS: Final = 10_000  # how many positions a connection may have analysed in how long
TRIES: Final = 5
TRIES_MS: Final = 60_000  # how many codes may be tried in vain in how long, before a hello or behind an address
NOTICE_SECONDS: Final = 1.0  # how often at most a peer is told that it says too much
_EPISODE_SECONDS: Final = 1.0
_FEW_MESSAGES: Final = 4


class Dispatching(Protocol):
    """Who carries out what a session asks for; see `Dispatcher`."""

    def receive(self, session: Session, message: Any, now: int, *, is_late: bool = False) -> None: ...

    def shed(self, session: Session, message: Any) -> Any: ...

    def again(self, session: Session, request: Any, now: int) -> None: ...

    def dismiss(self, session: Session) -> None: ...


class Session(Receiver):
    """`player` is None until hello; `key` is the store's for one of whom it does not know yet that they took a seat,
    and `secret` the same for good; `name` is what the player calls themselves, whatever others see, and `client` their
    program; `features` are those of this version that its hello named: newer words are said only to who named theirs.
    `rooms` are the codes of the rooms in which this connection plays or watches.

    One request is carried out at a time: while `is_busy` the next ones wait, each with the time at which it came. So do
    those that are more than `messages` allows, or than its address may send, and the peer is not read from meanwhile:
    none goes unanswered. One that goes on like that for `flood_seconds` is closed, as is one who says more that cannot
    be read than `bad` allows. `now` returns ms of served time; limits go by `monotonic_ns`. `address` is by what limits
    know where it comes from.
    """

    def __init__(
        self,
        connection: Connection,
        dispatcher: Dispatching,
        pressure: Pressure,
        limits: Limits,
        now: Callable[[], int],
        monotonic_ns: Callable[[], int],
        tally: Tally,
    ) -> None:
        self.connection = connection
        self.address = key_of(connection.address)
        self.source = pressure.of(self.address)
        self.player: Player | None = None
        self.key: str | None = None
        self.secret = self.name = self.client = ""
        self.features: frozenset[str] = frozenset()
        self.rooms: set[str] = set()
        self.tally = tally
        self.messages, self.bad = (rates.new() for rates in pressure.of_a_session)
        self.chat = RateLimit(CHAT_LINES, CHAT_MS, monotonic_ns)
        self.tries = RateLimit(TRIES, TRIES_MS, monotonic_ns)
        self.analyses = RateLimit(ANALYSES, ANALYSES_MS, monotonic_ns)
        self.is_busy = self._is_over = self._is_in_line = False
        self.dispatcher = dispatcher
        self._pressure = pressure
        self._limits = limits
        self._now = now
        self._inbox: deque[tuple[Any, int]] = deque()
        self._release: asyncio.TimerHandle | None = None
        self._is_reading = True
        self._held_at = self._over_since = self._noticed_at = -math.inf

    @property
    def waits_since(self) -> int | None:
        return self._inbox[0][1] if self._inbox else None

    def push(self, message: Push) -> None:
        """Send one message; it is never dropped, except with the connection."""
        self.connection.push_frame(encode_frame(encode(message)))

    def refuse(self, error: Error) -> None:
        """Send a refusal, and count it."""
        self.tally.refusals[error.code] += 1
        self.push(error)

    def refuse_bad(self, bad: BadMessage) -> None:
        """Refuse what cannot be read: it counts as several messages of its address, and who goes on is closed.

        Where nobody is there any more to be told, it costs the others of the address nothing.
        """
        if self._is_over:
            return
        self.refuse(error_answer(bad.code, bad.message, id=bad.id, room=bad.room, path=bad.path, data=bad.data))
        self.source.count_bad()
        if self.bad.take():
            self._close("too many bad messages")

    def go_on(self) -> None:
        """Carry out what waits, as the request under way is done."""
        self.is_busy = False
        if self._inbox or self._is_over:
            asyncio.get_running_loop().call_soon(self._take_next)

    # -- for the connection -------------------------------------------------------------------------------------

    def received(self, message: Any) -> None:
        """Carry a message out, or let it wait for its turn."""
        if not (self.is_busy or self._inbox or self._is_in_line or self.source.take(self.messages)):
            self.dispatcher.receive(self, message, self._now())
            return
        pressure, asked = self._pressure, message
        pressure.measure()
        may_shed = self._inbox and pressure.is_restless and not pressure.is_full
        if may_shed and not any(take_both(self.messages, self.source.limit)):
            pressure.count(self.source)
            asked = self.dispatcher.shed(self, message)
        if asked is not None:
            self._inbox.append((asked, self._now()))
        if self._is_in_line:
            self._read_or_not()
        else:
            self._take_next()

    def ended(self) -> None:
        """Carry out, each in its turn, what was asked before the connection was gone, and then no more."""
        self._is_over = True
        self._take_next()

    def take_turn(self) -> bool:
        """Take the message for which the address has room now; returns whether there was one to take."""
        self._is_in_line = False
        self._let_go()
        takes = bool(self._inbox) and not (self.is_busy or self.messages.take())
        late = takes and self._take_one()
        while late and self._inbox and not (self.is_busy or any(take_both(self.messages, self.source.limit))):
            late = self._take_one()
        self._take_next()
        return takes

    def _take_one(self) -> bool:
        """Carry out what waits longest, and tell whether it was too late for it."""
        asked, now = self._inbox.popleft()
        is_late = self._pressure.is_too_late(self._now() - now)
        self.dispatcher.receive(self, asked, now, is_late=is_late)
        return is_late

    def _take_next(self) -> None:
        """Carry out what waits, until something of it takes longer or is too much."""
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
        """Let one wait who says more than is allowed, and close where that goes on.

        Who sends little waits with the others of its address and is not closed for them.
        """
        if self._is_in_line or self._release is not None:
            return
        loop = asyncio.get_running_loop()
        if wait != IN_LINE or self.source.limit.wait():  # else it is only not its turn yet
            now = loop.time()
            if now - self._held_at > _EPISODE_SECONDS:
                self._over_since = now
            self._held_at = math.inf  # until it is let go
            if now - self._over_since > self._limits.flood_seconds and len(self._inbox) > _FEW_MESSAGES:
                self._close("too many messages")
                return
            if now - self._noticed_at > NOTICE_SECONDS:
                self._noticed_at = now
                self._tell_of_wait(wait)
        if wait == IN_LINE:
            self._is_in_line = True
            self.source.line_up(self.take_turn)
        else:
            self._release = loop.call_later(wait / 1000, self._let_go_on)

    def _close(self, why: str) -> None:
        self._inbox.clear()
        self.connection.close(CloseCode.POLICY_VIOLATION, why)

    def _tell_of_wait(self, wait: int) -> None:
        """Say that what comes now waits."""
        kind = "messages-per-address" if wait == IN_LINE else "messages"
        self.tally.limited[kind] += 1
        retry_ms = self.source.limit.wait() if wait == IN_LINE else wait
        why = Refusal(ErrorCode.RATE_LIMITED, kind)
        self.refuse(error_answer(why.code, why.message, retry_ms=max(1, retry_ms), data=why.data))

    def _let_go_on(self) -> None:
        self._release = None
        self._let_go()
        self._take_next()

    def _let_go(self) -> None:
        """Be held back no more, if it was for saying too much."""
        if self._held_at == math.inf:
            self._held_at = asyncio.get_running_loop().time()

    def _read_or_not(self) -> None:
        """Read from the peer until much waits, or the line of its address is long; and again once that is over."""
        most = 1 if not self._is_reading else _FEW_MESSAGES + 1 if self._is_in_line else INBOX_MESSAGES
        is_reading = len(self._inbox) <= most
        if is_reading != self._is_reading:
            self._is_reading = is_reading
            if is_reading:
                self.connection.resume_reading()
            else:
                self.connection.pause_reading()
