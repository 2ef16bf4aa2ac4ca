"""Topics that sessions subscribe to. A topic gathers changes for a moment and sends them to all subscribers."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from tictactoe_server.core.session import Session

GATHER_SECONDS: Final = 0.1
MOST_GATHER_SECONDS: Final = 1.0
QUICK_SUBSCRIBERS: Final = 200
"""With more subscribers than this, changes are gathered for longer."""


class Topic(ABC):
    """A topic and its subscribers. A session that ends is unsubscribed from the topics of all services.

    Attributes:
        subscribers: The subscribed sessions, each with the number of items that it wants, if it can choose.
        due: The timer of the next `tell`.
    """

    def __init__(self) -> None:
        self.subscribers: dict[Session, int] = {}
        self.due: asyncio.TimerHandle | None = None

    def subscribe(self, session: Session, count: int = 1) -> None:
        self.subscribers[session] = count

    def unsubscribe(self, session: Session) -> None:
        self.subscribers.pop(session, None)

    def tell_later(self) -> None:
        """Schedule `tell` for all changes made until then, unless it is already scheduled."""
        if self.due is None:
            self.due = asyncio.get_running_loop().call_later(self.gather_seconds(), self._tell)

    def gather_seconds(self) -> float:
        return min(MOST_GATHER_SECONDS, GATHER_SECONDS * max(1.0, len(self.subscribers) / QUICK_SUBSCRIBERS))

    @abstractmethod
    def tell(self) -> None:
        """Send the changes."""

    def send(self, frame: bytes) -> None:
        """Send a frame, which is never dropped, to all subscribers."""
        for session in self.subscribers:
            session.connection.push_frame(frame)

    def _tell(self) -> None:
        self.due = None
        self.tell()


def list_of(rows: Iterable[bytes]) -> Any:
    """Wrap encoded rows so that a message accepts them as a tuple."""
    return msgspec.Raw(b"[%b]" % b",".join(rows))
