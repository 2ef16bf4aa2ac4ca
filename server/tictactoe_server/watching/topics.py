"""Who hears of what: listeners within the server at once, sessions that subscribe to a topic after a while.

A topic gathers what changes meanwhile, and sends it to all subscribers, encoded once.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Final, Generic, ParamSpec

import msgspec
import structlog

from tictactoe_server.sessions.session import Session

GATHER_SECONDS: Final = 0.1
MOST_GATHER_SECONDS: Final = 1.0
QUICK_SUBSCRIBERS: Final = 200
"""For how long changes are gathered: a tenth of a second for so many subscribers, and longer beyond, to a second."""

Told = ParamSpec("Told")

log: Final = structlog.get_logger(__name__)


class Listeners(Generic[Told]):
    """Call it to tell all listeners, in the order in which they were added; one that fails harms no other."""

    def __init__(self) -> None:
        self._listeners: list[Callable[Told, object]] = []

    def add(self, listener: Callable[Told, object]) -> None:
        self._listeners.append(listener)

    def __call__(self, *told: Told.args, **named: Told.kwargs) -> None:
        for listener in self._listeners:
            try:
                listener(*told, **named)
            except Exception:
                log.exception("a listener failed")


class Topic(ABC):
    """Sessions that subscribed, each with how many things it wants to see where that can be chosen.

    Whatever changes calls `tell_later`, and then `tell` is called once; `due` is the timer until then. A session that
    ends is unsubscribed from the topics of all services.
    """

    def __init__(self) -> None:
        self.subscribers: dict[Session, int] = {}
        self.due: asyncio.TimerHandle | None = None

    def subscribe(self, session: Session, count: int = 1) -> None:
        self.subscribers[session] = count

    def unsubscribe(self, session: Session) -> None:
        self.subscribers.pop(session, None)

    def tell_later(self) -> None:
        """Notify the subscribers soon, of all changes until then."""
        if self.due is None:
            self.due = asyncio.get_running_loop().call_later(self.gather_seconds(), self._tell)

    def gather_seconds(self) -> float:
        return min(MOST_GATHER_SECONDS, GATHER_SECONDS * max(1.0, len(self.subscribers) / QUICK_SUBSCRIBERS))

    @abstractmethod
    def tell(self) -> None:
        """Send what has changed."""

    def send(self, frame: bytes) -> None:
        """Send a frame, which is never dropped, to all subscribers."""
        for session in self.subscribers:
            session.connection.push_frame(frame)

    def _tell(self) -> None:
        self.due = None
        self.tell()


def list_of(rows: Iterable[bytes]) -> Any:
    """Wrap encoded rows so that a message accepts them in place of a tuple."""
    return msgspec.Raw(b"[%b]" % b",".join(rows))
