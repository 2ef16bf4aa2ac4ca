"""One accepted socket as it is written to: its phases, what waits for a slow peer, how long, and the end of it."""

from __future__ import annotations

import asyncio
import contextlib
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from tictactoe_server.settings import Limits


class Phase(Enum):
    """A connection is ACCEPTED until the handshake of TLS is done, then WAITING for a request or the rest of one.

    That is QUEUED until its turn comes, ANSWERING while the response is made, and STREAMING while more and more of it
    comes. A WebSocket is OPEN, and CLOSING once one side has begun to close it. ENDING: all is said, nothing is heard
    any more, the peer has a while to hang up.
    """

    ACCEPTED = auto()
    WAITING = auto()
    QUEUED = auto()
    ANSWERING = auto()
    STREAMING = auto()
    OPEN = auto()
    CLOSING = auto()
    ENDING = auto()
    GONE = auto()


FOLLOWING: Final[dict[Phase, set[Phase]]] = {
    Phase.ACCEPTED: {Phase.WAITING},
    Phase.WAITING: {Phase.QUEUED, Phase.ENDING},
    Phase.QUEUED: {Phase.WAITING, Phase.ANSWERING, Phase.OPEN, Phase.ENDING},
    Phase.ANSWERING: {Phase.WAITING, Phase.STREAMING, Phase.ENDING},
    Phase.STREAMING: {Phase.ENDING},
    Phase.OPEN: {Phase.CLOSING},
    Phase.CLOSING: {Phase.ENDING},
}
"""The phases that may follow each; GONE may follow all."""


@dataclass(slots=True)
class Outbox:
    """What waits for a peer while it lags: all frames in their order, and the newest state of each room.

    `size` is how many bytes the frames have; `cutting` is the timer that cuts the peer off at last.
    """

    cutting: asyncio.TimerHandle
    size: int = 0
    frames: list[bytes] = field(default_factory=list)
    states: dict[str, bytes] = field(default_factory=dict)


class Outgoing(asyncio.Protocol):
    """What goes out to one peer; frames do while it `is_open`.

    A peer that has not caught up `catch_up_seconds` after `outbox_bytes` were waiting for it is cut off, as is one for
    whom as many bytes wait beside the states of rooms. `_transport` and `_write` are there from `connection_made` until
    `connection_lost`, in all phases but ACCEPTED and, at its end, GONE.
    """

    __slots__ = ("_deadline", "_limits", "_loop", "_outbox", "_phase", "_transport", "_unsent", "_write", "is_open")
    _transport: asyncio.Transport
    _write: Callable[[bytes], None]

    def __init__(self, limits: Limits) -> None:
        self._phase = Phase.ACCEPTED
        self.is_open = False
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._outbox: Outbox | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._unsent = 0

    @abstractmethod
    def depart(self) -> None:
        """Count no more, and say so; called when the peer is gone, perhaps twice."""

    # -- for whoever has the connection -------------------------------------------------------------------------

    def push_frame(self, frame: bytes) -> None:
        """Send one frame; it is never dropped, except with the connection."""
        if self._outbox is None:
            if self.is_open:
                self._write(frame)
            return
        self._outbox.frames.append(frame)
        self._outbox.size += len(frame)
        if self._outbox.size > self._limits.outbox_bytes:
            self.abort()

    def push_state(self, room: str, frame: bytes) -> None:
        """Send a room's state, or keep it as that room's newest while the peer lags."""
        if self._outbox is not None:
            self._outbox.states[room] = frame
        elif self.is_open:
            self._write(frame)

    def push_answer_and_state(self, room: str, answer: bytes, state: bytes) -> None:
        """Send one or several frames and a state in one write; while the peer lags, each waits as what it is."""
        if self._outbox is not None:
            self.push_frame(answer)
            self.push_state(room, state)
        elif self.is_open:
            self._write(answer + state)

    def forget_state(self, room: str) -> None:
        """Do not send the state of a room that is kept while the peer lags: it is no longer for this peer."""
        if self._outbox is not None:
            self._outbox.states.pop(room, None)

    def abort(self) -> None:
        """Cut the connection off, as soon as there is one."""
        before = self._phase
        self._enter(Phase.GONE)
        self._set_deadline(None)
        if before is Phase.ACCEPTED:  # its handshake of TLS has failed, or has not come about in time
            self.depart()
        elif before is not Phase.GONE:
            self._transport.abort()

    # -- for the event loop -------------------------------------------------------------------------------------

    def pause_writing(self) -> None:
        """Hold frames back from now on; called when the transport's buffer passes its limit."""
        self._outbox = Outbox(self._loop.call_later(self._limits.catch_up_seconds, self.abort))

    def resume_writing(self) -> None:
        """Send what was held back, the states last; called when the transport's buffer has drained."""
        outbox = self._end_outbox()
        if outbox is not None and self._phase in (Phase.OPEN, Phase.STREAMING):
            self._write(b"".join((*outbox.frames, *outbox.states.values())))

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of everything, so that nothing is left for the garbage collector."""
        self._enter(Phase.GONE)
        self._set_deadline(None)
        self._end_outbox()
        del self._transport, self._write
        self.depart()

    # -- inside -------------------------------------------------------------------------------------------------

    def _enter(self, phase: Phase) -> None:
        """Go on to the next phase; raises RuntimeError for one that `FOLLOWING` does not have."""
        if phase is not Phase.GONE and phase not in FOLLOWING.get(self._phase, ()):
            raise RuntimeError(f"{phase} does not follow {self._phase}.")
        self._phase, self.is_open = phase, phase is Phase.OPEN

    def _hang_up(self) -> None:
        """Say nothing any more, and leave the rest of the closing to the peer for a while."""
        self._enter(Phase.ENDING)
        self._set_deadline(self._limits.close_seconds, self._give_up)
        if self._transport.can_write_eof():
            with contextlib.suppress(OSError, RuntimeError):  # the peer was quicker
                self._transport.write_eof()
        else:
            self._transport.close()

    def _give_up(self) -> None:
        """Cut off one who has been answered, unless it still takes what is on its way."""
        if self._is_taking():
            self._set_deadline(self._limits.close_seconds, self._give_up)
        else:
            self.abort()

    def _is_taking(self) -> bool:
        """Tell whether a peer that is answered in plain HTTP has taken something since this was asked last."""
        if self._phase in (Phase.ACCEPTED, Phase.OPEN):
            return False
        before, self._unsent = self._unsent, self._transport.get_write_buffer_size()
        return 0 < self._unsent != before

    def _set_deadline(self, seconds: float | None, then: Callable[[], None] | None = None) -> None:
        """Cut the connection off after so many seconds, or do something else, in place of what was due before."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self._loop.call_later(seconds, then or self.abort)

    def _end_outbox(self) -> Outbox | None:
        outbox, self._outbox = self._outbox, None
        if outbox is not None:
            outbox.cutting.cancel()
        return outbox
