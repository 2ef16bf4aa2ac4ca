"""Standard input as lines, whatever it is, read in a thread that never delays the exit."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

MAX_LINE_BYTES: Final = 64 * 1024
_LINES_AHEAD: Final = 64


class _Source:
    """The lines of a descriptor, read ahead by a thread; what nobody took stays for the next keyboard.

    The thread is a daemon, so that it never delays the exit.
    """

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
    """Lines of standard input, whatever it is: a terminal, a pipe, a file or nothing.

    A thread reads it, as event loops cannot wait for files. It reads at most 64 lines ahead. Longer lines than 64 KiB
    are cut.
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
