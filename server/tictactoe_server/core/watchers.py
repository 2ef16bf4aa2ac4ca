"""Broadcasts to the watchers of a room. With many watchers, a broadcast takes several turns of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from tictactoe_server.core.session import Session

CROWD: Final = 20  # more watchers than this are a crowd
CROWD_A_TURN: Final = 32  # the most watchers that a broadcast reaches in a turn of the event loop
GATHER_SECONDS: Final = 0.05  # how long chat for a crowd is gathered


class Watchers:
    """The sessions that watch a room, in order of arrival.

    A broadcast of states and chat runs until it has reached all watchers. Meanwhile, new states and chat are gathered
    for the next broadcast. No watcher is sent a state that is older than its last state.

    Attributes:
        seen: The `seq` of the last state that each session was sent.
    """

    def __init__(self, code: str) -> None:
        self._code = code
        self.seen: dict[Session, int] = {}
        self._coming_states: list[tuple[int, bytes]] = []
        self._coming_lines: list[bytes] = []
        self._states: list[tuple[int, bytes]] = []
        self._lines = b""
        self._left: dict[Session, None] = {}
        self._next_turn: asyncio.Handle | None = None
        self._gathering: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self.seen)

    def __iter__(self) -> Iterator[Session]:
        return iter(self.seen)

    def __contains__(self, session: object) -> bool:
        return session in self.seen

    @property
    def are_many(self) -> bool:
        return len(self.seen) > CROWD

    def add(self, session: Session) -> None:
        self.seen.setdefault(session, -1)

    def discard(self, session: Session) -> None:
        self.seen.pop(session, None)
        self._left.pop(session, None)

    def note(self, session: Session, seq: int) -> None:
        if session in self.seen:
            self.seen[session] = seq

    def show(self, seq: int, frame: bytes) -> None:
        """Broadcast a state, starting now."""
        self._coming_states.append((seq, frame))
        if self._next_turn is None:
            self._go_on()

    def say(self, frame: bytes) -> None:
        """Broadcast chat. For a crowd, or during a broadcast, messages are gathered for `GATHER_SECONDS` first."""
        self._coming_lines.append(frame)
        if self.are_many or self._next_turn is not None:
            if self._gathering is None:
                self._gathering = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._end_gathering)
        else:
            self._go_on()

    def finish(self) -> None:
        self._tell(len(self._left))
        self._take_up()
        self._tell(len(self._left))

    def _end_gathering(self) -> None:
        self._gathering = None
        if self._next_turn is None:
            self._go_on()

    def _go_on(self) -> None:
        self._next_turn = None
        if not self._left:
            self._take_up()
        self._tell(min(len(self._left), CROWD_A_TURN))
        if self._left or self._coming_states or (self._coming_lines and self._gathering is None):
            self._next_turn = asyncio.get_running_loop().call_soon(self._go_on)

    def _take_up(self) -> None:
        self._states, self._coming_states = self._coming_states, []
        self._lines, self._coming_lines = b"".join(self._coming_lines), []
        self._left = dict.fromkeys(self.seen)

    def _tell(self, count: int) -> None:
        for _ in range(count):
            session, _ = self._left.popitem()
            for seq, frame in self._states:
                if seq >= self.seen[session]:
                    self.seen[session] = seq
                    session.connection.push_state(self._code, frame)
            if self._lines:
                session.connection.push_frame(self._lines)
