"""Standard input as lines, whatever it is, read in a thread that never delays the exit."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import Final

MAX_LINE_BYTES: Final = 64 * 1024
_LINES_AHEAD: Final = 64


class Keyboard:
    """Lines of standard input, whatever it is: a terminal, a pipe, a file or nothing.

    A thread reads it, as event loops cannot wait for files; it is a daemon and holds no lock, so it never delays the
    exit. It reads at most 64 lines ahead. Longer lines than 64 KiB are cut.
    """

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._ahead = threading.Semaphore(_LINES_AHEAD)
        self._loop = asyncio.get_running_loop()
        self._has_started = False
        self.has_ended = False

    async def read_line(self) -> str | None:
        """Return the next line without its end, or None when there will be no more; safe to cancel."""
        if self.has_ended:
            return None
        if not self._has_started:
            self._has_started = True
            threading.Thread(target=self._read, name="standard input", daemon=True).start()
        line = await self._queue.get()
        self._ahead.release()
        self.has_ended = line is None
        return line

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
        text = None if line is None else line.decode("utf-8", "replace").removesuffix("\r")
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, text)
        except RuntimeError:
            return
