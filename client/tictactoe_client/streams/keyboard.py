"""Reads lines of standard input in a daemon thread, and handles the signals that end a run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import stat
import threading
from collections import deque
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Final

MAX_LINE_BYTES: Final = 64 * 1024
_LINES_AHEAD: Final = 64


class Keyboard:
    """The lines of standard input, which may be a terminal, a pipe or a file; each line is cut off at 64 KiB.

    Event loops cannot wait for files, so a daemon thread reads at most 64 lines ahead. Unread lines stay for the next
    reader, perhaps on another event loop.

    Attributes:
        is_terminal: Whether the input was a terminal at the start, even if it has been closed.
        is_file: Whether the input is a regular file.
    """

    def __init__(self, descriptor: int = 0) -> None:
        self.is_terminal, self.is_file = os.isatty(descriptor), False
        with contextlib.suppress(OSError):
            self.is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self._descriptor = descriptor
        self._lines: deque[str | None] = deque()
        self._ahead = threading.Semaphore(_LINES_AHEAD)
        self._has_started = False
        self._readers: list[Callable[[], object]] = []  # functions that wake the waiting readers

    async def read_line(self) -> str | None:
        """Return the next line without its line break, or None at the end; safe to cancel.

        If several readers wait, the newest gets the line, such as a question asked while a game waits for commands.
        """
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()
        wake = partial(loop.call_soon_threadsafe, arrived.set)
        self._readers.append(wake)
        if not self._has_started:
            self._has_started = True
            threading.Thread(target=self._read, name="standard input", daemon=True).start()
        try:
            while not self._lines or self._readers[-1] is not wake:
                await arrived.wait()
                arrived.clear()
            if (line := self._lines[0]) is not None:
                self._lines.popleft()
                self._ahead.release()
            return line
        finally:
            self._readers.remove(wake)
            self._wake_reader()

    def give_back(self, line: str) -> None:
        """Put a line back for the next reader."""
        self._ahead.acquire(blocking=False)
        self._lines.appendleft(line)

    def _read(self) -> None:
        buffer = bytearray()
        with contextlib.suppress(OSError):
            while chunk := os.read(self._descriptor, 8192):
                buffer += chunk
                *lines, rest = buffer.split(b"\n")
                for line in lines:
                    self._put(line)
                buffer = rest[: MAX_LINE_BYTES + 1]
        if buffer:
            self._put(buffer)
        self._put(None)

    def _put(self, line: bytearray | None) -> None:
        self._ahead.acquire()
        text = None if line is None else line[:MAX_LINE_BYTES].decode("utf-8", "replace").removesuffix("\r")
        self._lines.append(text)
        self._wake_reader()

    def _wake_reader(self) -> None:
        for wake in self._readers[-1:]:
            with contextlib.suppress(RuntimeError):  # the reader's event loop is closed
                wake()


@lru_cache(maxsize=1)
def standard_input() -> Keyboard:
    """Return the only `Keyboard` of this process."""
    return Keyboard()


_QUESTIONS: Final[list[Callable[[], bool]]] = []
_ENDED_BY: Final[list[int]] = []
"""The signal that ends the run; empty until there is one."""


def is_decision(end: BaseException) -> bool:
    """Return True if the user ended the run by Ctrl-C, which gives up the seat; False for a hang-up or SIGTERM."""
    # If the system's event loops cannot handle signals, the list is empty, and Ctrl-C cancels the run directly.
    return isinstance(end, asyncio.CancelledError) and _ENDED_BY in ([], [signal.SIGINT])


@contextlib.contextmanager
def asking_before_interrupt(ask: Callable[[], bool]) -> Iterator[None]:
    """Within the context, call `ask` on Ctrl-C; if `ask` returns True, the run continues."""
    _QUESTIONS.append(ask)
    try:
        yield
    finally:
        _QUESTIONS.remove(ask)


def hear_signals(stop: Callable[[int], None], restore: Callable[[], None] = lambda: None) -> None:
    """Call `stop` at the first signal; at the second, call `restore` and end the process.

    Signals in the same iteration of the loop count as one, since timeout(1) signals the process and then its group.
    """
    _ENDED_BY.clear()
    stopping: list[int] = []
    loop = asyncio.get_running_loop()

    def hear(number: int) -> None:
        if stopping:
            restore()
            os._exit(128 + number)
        if _ENDED_BY or (number == signal.SIGINT and _QUESTIONS and _QUESTIONS[-1]()):
            return
        _ENDED_BY.append(number)
        loop.call_soon(stopping.append, number)
        stop(number)

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            with contextlib.suppress(NotImplementedError):
                loop.add_signal_handler(number, hear, number)
