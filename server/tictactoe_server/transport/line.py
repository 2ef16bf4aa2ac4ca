"""One accepted socket as it is written to: what waits for a slow peer, how long that may take, and the end of it."""

from __future__ import annotations

import asyncio
import contextlib
from abc import abstractmethod
from collections.abc import Callable

from tictactoe_server.settings import Limits
from tictactoe_server.transport.outbox import Outbox


class Line(asyncio.Protocol):
    """What goes out to one peer, while it `is_open`.

    A peer that has not caught up `catch_up_seconds` after `outbox_bytes` were waiting for it is cut off, as is one for
    whom as many bytes wait beside the states of rooms.
    """

    __slots__ = (
        "_deadline",
        "_is_cut_off",
        "_limits",
        "_loop",
        "_outbox",
        "_transport",
        "_unsent",
        "_write",
        "is_open",
    )

    def __init__(self, limits: Limits) -> None:
        """Begin with a socket that was just accepted; with TLS its handshake is still to come."""
        self.is_open = self._is_cut_off = False
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._write: Callable[[bytes], None] = _write_nowhere
        self._outbox: Outbox | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._unsent = 0

    @abstractmethod
    def depart(self) -> None:
        """Take notice that the peer is gone; it may be told twice."""

    # -- for whoever has the connection -------------------------------------------------------------------------

    def push_frame(self, frame: bytes) -> None:
        """Send one frame; it is never dropped, except with the connection."""
        if self._outbox is None:
            if self.is_open:
                self._write(frame)
            return
        self._outbox.hold(frame)
        if self._outbox.size > self._limits.outbox_bytes:
            self.abort()

    def push_state(self, room: str, frame: bytes) -> None:
        """Send a room's state, or keep it as that room's newest while the peer lags."""
        if self._outbox is not None:
            self._outbox.hold_newest(room, frame)
        elif self.is_open:
            self._write(frame)

    def push_answer_and_state(self, room: str, answer: bytes, state: bytes) -> None:
        """Send a frame that is never dropped and then a room's state, in one write where nothing waits."""
        if self._outbox is None:
            if self.is_open:
                self._write(answer + state)
        else:
            self.push_frame(answer)
            self.push_state(room, state)

    def forget_state(self, room: str) -> None:
        """Do not send the state of a room that is kept while the peer lags: it is no longer for this peer."""
        if self._outbox is not None:
            self._outbox.forget_newest(room)

    def abort(self) -> None:
        """Cut the connection off, as soon as there is one."""
        self.is_open = False
        self._is_cut_off = True
        if self._transport is not None:
            self._transport.abort()
        else:  # its handshake of TLS has failed, or has not come about in time
            self._set_deadline(None)
            self.depart()

    # -- for the event loop -------------------------------------------------------------------------------------

    def pause_writing(self) -> None:
        """Begin to hold frames back; called by the transport when its buffer passes its limit."""
        self._outbox = Outbox(self._loop.call_later(self._limits.catch_up_seconds, self.abort))

    def resume_writing(self) -> None:
        """Send what was held back; called by the transport when its buffer has drained."""
        held = self._let_go_of_outbox()
        if held and self.is_open:
            self._write(held)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of everything, so that nothing is left for the garbage collector."""
        self.is_open = False
        self._set_deadline(None)
        self._let_go_of_outbox()
        self._transport, self._write = None, _write_nowhere
        self.depart()

    # -- the end ------------------------------------------------------------------------------------------------

    def _hang_up(self) -> None:
        """Say nothing any more, and leave the rest of the closing to the peer for a while."""
        self._set_deadline(self._limits.close_seconds, self._give_up)
        if self._transport is None:
            return
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
        if self.is_open or self._transport is None:
            return False
        before, self._unsent = self._unsent, self._transport.get_write_buffer_size()
        return 0 < self._unsent != before

    def _set_deadline(self, seconds: float | None, then: Callable[[], None] | None = None) -> None:
        """Cut the connection off after so many seconds, or do something else, in place of what was due before."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self._loop.call_later(seconds, then or self.abort)

    def _let_go_of_outbox(self) -> bytes:
        """Return what was held back, which is over."""
        outbox, self._outbox = self._outbox, None
        if outbox is None:
            return b""
        outbox.cutting.cancel()
        return outbox.take()


def _write_nowhere(data: bytes) -> None:
    """Take the place of a transport that is gone."""
