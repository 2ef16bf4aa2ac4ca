"""Sessions of players, their throttling, and the topics that sessions subscribe to.

Theory of operation. Each session has a queue, and its `Throttle` decides whether the next message is carried out now or
has to wait. A message is carried out at once only if nothing is queued or in progress, and the limits of the session,
of its address and of the server (`Pressure`) allow it. Otherwise it is queued. The connection is read from only while
the queue is short, which applies backpressure to the peer. The states are:

- free: nothing is queued;
- busy: a request waits for the store, until `go_on`;
- held: the session has exceeded its own limit and waits for a timer;
- in line: the session waits for its address's turn (`Source.line_up`), until `take_turn`.

Each message is carried out once, in order of arrival, or answered with `busy`, even if the peer disconnects first. A
connection that keeps exceeding its limits, or sends too many unreadable messages, is closed, and its queue is dropped.
"""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

import msgspec

from tictactoe_protocol import BadMessage, CloseCode, ErrorCode
from tictactoe_protocol.pushes import Announcement
from tictactoe_protocol.terms import PushFields
from tictactoe_server import clock
from tictactoe_server.core.pressure import IN_LINE, Place, Pressure
from tictactoe_server.rooms.room import Player, Refused
from tictactoe_server.transport.admission import key_of
from tictactoe_server.transport.connection import Connection, Receiver, encode_push
from tictactoe_server.transport.rate_limit import Quota, RateLimit, consume_both
from tictactoe_words.catalogue import speaking
from tictactoe_words.refusals import describe_announcement

INBOX_MESSAGES: Final = 8  # how many messages may be queued before reading pauses
NOTICE_SECONDS: Final = 1.0  # shortest time between two notices that messages are delayed
LATE_MS: Final = 120  # longest wait behind another request from the session if the server never rests
_FEW_MESSAGES: Final = 4
_EPISODE_SECONDS: Final = 1.0  # delays with shorter pauses between them count as one delay
CHAT_LINES: Final = 5
CHAT_MS: Final = 5_000
TRIES: Final = 5
TRIES_MS: Final = 60_000  # the same limit holds for an address
MOST_LEFT: Final = 20_000  # the most players whose time of leaving is remembered
GATHER_SECONDS: Final = 0.1
MOST_GATHER_SECONDS: Final = 1.0
QUICK_SUBSCRIBERS: Final = 200  # with more subscribers, changes are gathered for longer


class Dispatching(Protocol):
    """Carries out the messages of sessions; see `Dispatcher`."""

    def receive(self, session: Any, message: Any, now: int, *, is_late: bool = False) -> None: ...

    def shed(self, session: Any, message: Any) -> Any: ...

    def dismiss(self, session: Any) -> None: ...


class Throttle(Receiver):
    """A receiver that carries out messages one at a time, as soon as the limits allow.

    Attributes:
        source: All connections from the same address.
        limit: The session's rate limit, replaced by the player's rate limit at hello.
        is_busy: Whether a request waits for the store.
        place: The place of that request; see `Places`.
    """

    def __init__(
        self, connection: Connection, dispatcher: Dispatching, pressure: Pressure, now: Callable[[], int]
    ) -> None:
        self.connection = connection
        self.dispatcher = dispatcher
        self.source = pressure.of(key_of(connection.address))
        self.limit, self._bad = (rates.new() for rates in pressure.of_a_session)
        self.is_busy = False
        self.place: Place | None = None
        self._now = now
        self._is_over = False
        self._inbox: deque[tuple[Any, int]] = deque()
        self._is_reading = True
        self._in_line = False
        self._release: asyncio.TimerHandle | None = None
        self._delays = Delays(pressure.flood_seconds)

    # -- for the session ------------------------------------------------------------------------------------------

    def refuse(self, refused: Refused, limit: str = "", **request: str | None) -> None:
        """Send an error in the session's language.

        Args:
            limit: The name of the limit that was exceeded, if any.
            request: The `id` and `room` of the refused request.
        """
        raise NotImplementedError

    def count_bad(self) -> None:
        """Count an unreadable message, and close the connection after too many."""
        self.source.count_bad()
        if self._bad.consume():
            self._close("too many bad messages")

    def go_on(self) -> None:
        """End the current request, and go on to the queued messages in the next turn of the event loop."""
        self.is_busy = False
        if self.place is not None:
            self.place.leave()
            self.place = None
        if self._inbox or self._is_over:
            asyncio.get_running_loop().call_soon(self._drain_inbox)

    # -- for the connection ---------------------------------------------------------------------------------------

    @property
    def waits_since(self) -> int | None:
        return self._inbox[0][1] if self._inbox else None

    def received(self, message: Any) -> None:
        if not (self.is_busy or self._inbox or self.source.consume(self.limit)):
            self.dispatcher.receive(self, message, self._now())
            return
        source, asked = self.source, message
        pressure = source.pressure
        pressure.measure()
        may_shed = self._inbox and pressure.is_restless and not (pressure.is_full or source.gives_way)
        if may_shed and not any(consume_both(self.limit, source.limit)):
            begun = clock.monotonic()
            asked = self.dispatcher.shed(self, message)
            pressure.charge(source, clock.monotonic() - begun)
        if asked is not None:
            self._inbox.append((asked, self._now()))
        if self._in_line:
            self._read_or_not()
        else:
            self._drain_inbox()

    def ended(self) -> None:
        """Carry out the messages that arrived before the connection ended."""
        self._is_over = True
        self._drain_inbox()

    # -- the queue ------------------------------------------------------------------------------------------------

    def take_turn(self) -> bool:
        """Carry out the oldest queued message on the turn of the client's address; return False if none may be now."""
        self._end_delay()
        takes = bool(self._inbox) and not (self.is_busy or self.limit.consume())
        late = takes and self._carry_out_oldest()
        while late and self._inbox and not (self.is_busy or any(consume_both(self.limit, self.source.limit))):
            late = self._carry_out_oldest()
        self._drain_inbox()
        return takes

    def _carry_out_oldest(self) -> bool:
        """Carry out the oldest queued message. Return True if it had waited too long."""
        oldest, now = self._inbox.popleft()
        is_late = self.source.pressure.is_restless and self._now() - now > LATE_MS
        self.dispatcher.receive(self, oldest, now, is_late=is_late)
        return is_late

    def _drain_inbox(self) -> None:
        """Carry out queued messages until a request has to wait for the store or a message exceeds a limit."""
        while self._inbox and not self.is_busy:
            wait = self.source.consume(self.limit)
            if wait:
                self._hold_back(wait)
                break
            self._carry_out_oldest()
        self._read_or_not()
        if self._is_over and not self._inbox and not self.is_busy:
            self.dispatcher.dismiss(self)

    def _hold_back(self, wait: int) -> None:
        """Delay the next message. Close the connection if the session keeps exceeding its limits."""
        if self._in_line or self._release is not None:
            return
        loop = asyncio.get_running_loop()
        if wait != IN_LINE or self.source.limit.wait():  # otherwise only its address has to take turns
            is_too_much = self._delays.begin(loop.time())
            if is_too_much and len(self._inbox) > _FEW_MESSAGES:
                self._close("too many messages")
                return
            if self._delays.is_notice_due(loop.time()):
                kind = "messages-per-address" if wait == IN_LINE else "messages"
                retry_ms = self.source.limit.wait() if wait == IN_LINE else wait
                self.refuse(Refused(ErrorCode.RATE_LIMITED, kind, retry_ms=max(1, retry_ms)), kind)
        if wait == IN_LINE:
            self._in_line = True
            self.source.line_up(self.take_turn)
        else:
            self._release = loop.call_later(wait / 1000, self._go_on_after_delay)

    def _go_on_after_delay(self) -> None:
        self._end_delay()
        self._drain_inbox()

    def _end_delay(self) -> None:
        self._in_line, self._release = False, None
        self._delays.end(asyncio.get_running_loop().time())

    def _read_or_not(self) -> None:
        most = 1 if not self._is_reading else _FEW_MESSAGES + 1 if self._in_line else INBOX_MESSAGES
        may_read = len(self._inbox) <= most
        if self._is_reading != may_read:
            self._is_reading = may_read
            (self.connection.resume_reading if may_read else self.connection.pause_reading)()

    def _close(self, why: str) -> None:
        self._inbox.clear()
        self.connection.close(CloseCode.POLICY_VIOLATION, why)


class Delays:
    """Measures how long a session has exceeded its limits, ignoring short pauses, and limits notices to the peer."""

    def __init__(self, flood_seconds: float) -> None:
        self._flood_seconds = flood_seconds
        self._delayed_at = self._since = self._noticed_at = -math.inf

    def begin(self, now: float) -> bool:
        """Begin a delay. Return True if delays have gone on for more than `flood_seconds`."""
        if now - self._delayed_at > _EPISODE_SECONDS:
            self._since = now
        self._delayed_at = math.inf  # until the delay ends
        return now - self._since > self._flood_seconds

    def end(self, now: float) -> None:
        if self._delayed_at == math.inf:
            self._delayed_at = now

    def is_notice_due(self, now: float) -> bool:
        is_due = now - self._noticed_at > NOTICE_SECONDS
        if is_due:
            self._noticed_at = now
        return is_due


class Counters:
    """Counters since the server started.

    Attributes:
        refusals: Refused requests, by error code.
        limited: Refusals and delays, by name of the limit.
        games: Finished games, by reason for the end.
    """

    def __init__(self) -> None:
        self.refusals: Counter[str] = Counter()
        self.limited: Counter[str] = Counter()
        self.games: Counter[str] = Counter()


@dataclass(slots=True)
class Device:
    """The device that a session's player uses.

    Attributes:
        secret: The store's key for the device's token.
        name: The name that the player has chosen. Others may see a different name.
        is_seated: Whether it is stored that the player has taken a seat.
    """

    secret: str = ""
    name: str = ""
    client: str = ""
    is_seated: bool = True


class Session(Throttle):
    """A connection. Its requests are carried out one at a time.

    Attributes:
        address: The client's address as limits count it; see `key_of`.
        device: The token, name and client program from hello.
        language: The language of texts for the client, or "".
        rooms: The rooms (`LiveRoom`) that this connection plays in or watches, by code.
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
        self.address = self.source.address
        self.player: Player | None = None
        self.device = Device()
        self.language = ""
        self.rooms: dict[str, Any] = {}
        self.topics: dict[Topic, None] = {}
        self.counters = counters
        self.chat = RateLimit(CHAT_LINES, CHAT_MS, pressure.monotonic_ns)
        self.tries = RateLimit(TRIES, TRIES_MS, pressure.monotonic_ns)

    def push(self, message: PushFields) -> None:
        """Send a message, which is lost only if the connection is lost."""
        self.connection.push_frame(encode_push(message))

    def announce(self, code: str) -> None:
        """Send an announcement of the server in the session's language."""
        with speaking(self.language):
            self.push(Announcement(describe_announcement(code) or code, clock.wall_ms(), code))

    def refuse(self, refused: Refused, limit: str = "", **request: str | None) -> None:
        self.counters.refusals[refused.code] += 1
        if limit:
            self.counters.limited[limit] += 1
        with speaking(self.language):
            self.push(refused.answer(**request))

    def refuse_bad(self, bad: BadMessage) -> None:
        """Refuse an unreadable message. Close the connection after too many."""
        if not self._is_over:
            self.refuse(Refused(bad.code, path=bad.path, **bad.data), id=bad.id, room=bad.room)
            self.count_bad()


class Presence:
    """All sessions, in the order of their arrival."""

    def __init__(self) -> None:
        self._since: dict[Session, float] = {}
        self._of = Quota()  # the sessions of each player
        self._left_at: dict[str, float] = {}
        self._began_at: float | None = None

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._since))

    @property
    def players(self) -> list[tuple[Session, Player]]:
        """The sessions that have completed their hello, with their players."""
        return [(session, session.player) for session in self._since if session.player is not None]

    @property
    def ids(self) -> set[str]:
        return set(self._of)

    @property
    def people(self) -> int:
        """The number of connected human players."""
        return len({player.id for _, player in self.players if player.bot is None})

    def add(self, session: Session) -> None:
        now = self._since[session] = asyncio.get_running_loop().time()
        self._began_at = self._began_at or now

    def greet(self, session: Session, player: Player) -> None:
        """Assign a session to its player, unless it has ended."""
        session.player = player
        if session in self._since:
            self._of.add(player.id, session)

    def remove(self, session: Session) -> None:
        self._since.pop(session, None)
        if session.player is not None:
            self._of.discard(session.player.id, session)
            self._left_at.pop(session.player.id, None)
            self._left_at[session.player.id] = asyncio.get_running_loop().time()
            if len(self._left_at) > MOST_LEFT:
                del self._left_at[next(iter(self._left_at))]

    def seconds_away(self, id: str) -> float:
        """Return how long a player has been away (s); if unknown, the time since this server's first connection."""
        now = asyncio.get_running_loop().time()
        return now - self._left_at.get(id, self._began_at or now)

    def seconds(self, session: Session) -> float:
        return asyncio.get_running_loop().time() - self._since[session]

    def of_player(self, id: str) -> list[Session]:
        return list(self._of.get(id, ()))


class Topic(ABC):
    """A topic and its subscribers. A session that ends is unsubscribed.

    Attributes:
        subscribers: The subscribed sessions, each with the number of items that it wants, if it can choose.
    """

    def __init__(self) -> None:
        self.subscribers: dict[Session, int] = {}
        self.due: asyncio.TimerHandle | None = None

    def subscribe(self, session: Session, count: int = 1) -> None:
        self.subscribers[session] = count
        session.topics[self] = None

    def unsubscribe(self, session: Session) -> None:
        self.subscribers.pop(session, None)
        session.topics.pop(self, None)

    def publish_later(self) -> None:
        """Schedule `publish` for all changes made until then, unless it is already scheduled."""
        if self.due is None:
            self.due = asyncio.get_running_loop().call_later(self.gather_seconds(), self._publish)

    def gather_seconds(self) -> float:
        return min(MOST_GATHER_SECONDS, GATHER_SECONDS * max(1.0, len(self.subscribers) / QUICK_SUBSCRIBERS))

    @abstractmethod
    def publish(self) -> None:
        """Send the changes."""

    def send(self, frame: bytes) -> None:
        """Send a frame, which is never dropped, to all subscribers."""
        for session in self.subscribers:
            session.connection.push_frame(frame)

    def _publish(self) -> None:
        self.due = None
        self.publish()


def list_of(rows: Iterable[bytes]) -> Any:
    """Wrap encoded rows so that a message accepts them as a tuple."""
    return msgspec.Raw(b"[%b]" % b",".join(rows))
