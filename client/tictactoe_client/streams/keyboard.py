"""Standard input as lines, read in a thread that never delays the exit, and the signals that ask a run to end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final

MAX_LINE_BYTES: Final = 64 * 1024
_LINES_AHEAD: Final = 64


class _Source:
    """The lines of a descriptor, read ahead by a daemon thread; what nobody took stays for the next keyboard."""

    def __init__(self, descriptor: int) -> None:
        self.lines: deque[str | None] = deque()
        self._descriptor = descriptor
        self._ahead = threading.Semaphore(_LINES_AHEAD)
        self._has_started = False
        self._tell: Callable[[], object] = lambda: None

    def listen(self, tell: Callable[[], object]) -> None:
        """Read from now on, and call `tell` in the thread with every line that came."""
        self._tell = tell
        if not self._has_started:
            self._has_started = True
            threading.Thread(target=self._read, name="standard input", daemon=True).start()

    def take(self) -> str | None:
        """Return the next of the lines that are here, None at the end; that one stays."""
        line = self.lines[0]
        if line is not None:
            self.lines.popleft()
            self._ahead.release()
        return line

    def give_back(self, lines: Sequence[str]) -> None:
        """Have these lines once more, before all others."""
        for line in reversed(lines):
            self._ahead.acquire(blocking=False)
            self.lines.appendleft(line)

    def _read(self) -> None:
        buffer = bytearray()
        try:
            while chunk := os.read(self._descriptor, 8192):
                buffer += chunk
                *lines, rest = buffer.split(b"\n")
                for line in lines:
                    self._put(bytes(line[:MAX_LINE_BYTES]))
                buffer = rest[: MAX_LINE_BYTES + 1]
        except OSError:
            pass
        if buffer:
            self._put(bytes(buffer[:MAX_LINE_BYTES]))
        self._put(None)

    def _put(self, line: bytes | None) -> None:
        self._ahead.acquire()
        self.lines.append(None if line is None else line.decode("utf-8", "replace").removesuffix("\r"))
        try:
            self._tell()
        except RuntimeError:  # the loop of whoever listened is closed
            return


@lru_cache(maxsize=1)
def _standard_input() -> _Source:
    """Return the one source of all keyboards of this process, of which none swallows the next one's lines."""
    return _Source(0)


class Keyboard:
    """Lines of standard input, whatever it is: a terminal, a pipe, a file or nothing; cut at 64 KiB.

    A thread reads it, at most 64 lines ahead, as event loops cannot wait for files.
    """

    def __init__(self, descriptor: int = 0) -> None:
        self._source = _Source(descriptor) if descriptor else _standard_input()
        self._arrived = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._is_listening = False
        self.has_ended = False

    async def read_line(self) -> str | None:
        """Return the next line without its end, or None when there will be no more; safe to cancel."""
        if not self._is_listening:
            self._is_listening = True
            self._source.listen(lambda: self._loop.call_soon_threadsafe(self._arrived.set))
        while not self._source.lines:
            self._arrived.clear()
            if not self._source.lines:
                await self._arrived.wait()
        line = self._source.take()
        self.has_ended = line is None
        return line

    def give_back(self, lines: Sequence[str]) -> None:
        """Leave lines that were read, and are nobody's, to whoever reads next."""
        self._source.give_back(lines)


_STOPPING: Final = ("SIGINT", "SIGTERM", "SIGHUP")
_QUESTIONS: Final[list[Callable[[], bool]]] = []


@contextlib.contextmanager
def asking_before_interrupt(ask: Callable[[], bool]) -> Iterator[None]:
    """Let `ask` answer each Ctrl-C meanwhile: True where it has asked back, and this one ends nothing."""
    _QUESTIONS.append(ask)
    try:
        yield
    finally:
        _QUESTIONS.remove(ask)


def hear_signals(stop: Callable[[int], None], restore: Callable[[], None] = lambda: None) -> None:
    """Call `stop` with the number of the first signal that comes; a second one ends the process, after `restore`.

    What was ignored from the start, as by ``nohup``, stays ignored.
    """
    received: list[int] = []

    def hear(number: int) -> None:
        if number == signal.SIGINT and not received and _QUESTIONS and _QUESTIONS[-1]():
            return
        if received:
            restore()
            os._exit(128 + number)
        received.append(number)
        stop(number)

    loop = asyncio.get_running_loop()
    for name in _STOPPING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            try:
                loop.add_signal_handler(number, hear, number)
            except NotImplementedError:
                break
