"""A player of the long runs, who reconnects after every loss and repeats requests that failed temporarily."""

import asyncio
import time
from typing import Any, Final

from tests.cluster.visitor import Visitor
from tests.peer import Message

TRANSIENT: Final = frozenset({"busy", "unavailable", "rate_limited"})
"""Temporary errors."""
RETRY_SECONDS: Final = 0.02


class Player(Visitor):
    """A visitor whose requests are repeated while the server is in trouble.

    Attributes:
        state_of_room: The newest state of the room that came over any connection, or None.
        slowest_answer: The longest time in seconds that an answer took, refusals included.
    """

    silent_seconds = 3.0
    patience_seconds = 120.0

    def __init__(self, url: str, name: str) -> None:
        super().__init__(url, name)
        self.name = name
        self.state_of_room: Message | None = None
        self.slowest_answer = 0.0
        self._read_from: tuple[object, int] = (None, 0)

    @property
    def id(self) -> str:
        return str(self.peer.welcome["player"])

    async def ask(self, type: str, **fields: Any) -> Message:
        """Return the answer; an error is permanent."""
        while True:
            asked_at = time.monotonic()
            answer = await super().ask(type, **fields)
            self.slowest_answer = max(self.slowest_answer, time.monotonic() - asked_at)
            if answer.get("code") not in TRANSIENT:
                return answer
            is_limited = answer["code"] == "rate_limited"
            await asyncio.sleep(answer["retry_ms"] / 1000 if is_limited else RETRY_SECONDS)

    def enter(self, room: str) -> None:
        """Set the room that the player returns to, or "" for none."""
        self.room, self._seq, self.state_of_room = room, 0, None

    def read_states(self) -> Message | None:
        """Pass each state since the last call to `receive_state`, and return the newest."""
        peer, start = self._read_from
        start = start if peer is self.peer else 0
        self._read_from = self.peer, len(self.peer.seen)
        for message in self.peer.seen[start:]:
            if message["type"] == "room" and message["room"] == self.room:
                self.receive_state(message)
                self.state_of_room = message
        return self.state_of_room

    def receive_state(self, state: Message) -> None:
        """Called with each state of the room."""

    async def next_state(self, after: Message | None = None) -> Message:
        """Return the newest state of the room, once it differs from `after`."""
        while (state := self.read_states()) is None or state is after:
            await self.state()
        return state

    async def _come_back(self) -> None:
        self.read_states()
        await super()._come_back()

    def mark_in(self, state: Message) -> str:
        """Return the player's mark."""
        mark: str = next(mark for mark, seat in state["seats"].items() if seat and seat["player"] == self.id)
        return mark
