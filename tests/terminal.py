"""Pipes and pseudo-terminals for tests, and a program's output as bytes, screen and escape sequences."""

import asyncio
import contextlib
import fcntl
import os
import pty
import re
import struct
import termios
from collections.abc import AsyncIterator, Callable, Iterator

import pyte

from tests.environment import environment
from tests.peer import PATIENCE_SECONDS
from tests.programs import Process, start_program

COLUMNS, ROWS = 80, 24
ENTERED = b"\x1b[?1049h"
RESTORED = (b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?25h")
"""The escape sequences that a full-screen program must write before it ends."""

_SEQUENCE = re.compile(
    r"\x1b(?:"
    r"\[(?P<csi>[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e])"
    r"|\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|(?P<string>[PX^_])[^\x1b]*\x1b\\"
    r"|(?P<other>[\x20-\x2f]*[\x30-\x7e])"
    r"|(?P<broken>.|$))",
    re.DOTALL,
)


@contextlib.contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    """Open a pipe and yield its reading and writing ends."""
    reader, writer = os.pipe()
    try:
        yield reader, writer
    finally:
        for descriptor in (reader, writer):
            with contextlib.suppress(OSError):
                os.close(descriptor)


class Terminal:
    """A pseudo-terminal and the output of its program.

    Attributes:
        screen: What a person would see.
        before: The result of `attributes` before the program started.
    """

    def __init__(self, ours: int, before: list[object], process: Process) -> None:
        self._ours = ours
        self.before = before
        self.process = process
        self.written = b""
        self._heard = 0
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self.screen)

    @property
    def text(self) -> str:
        """The screen's text. During an update, a cell may hold half of a wide character."""
        screen = self.screen
        rows = (
            "".join(screen.buffer[row][column].data for column in range(screen.columns)) for row in range(screen.lines)
        )
        return "\n".join(row.rstrip() for row in rows)

    async def until(self, *words: str) -> None:
        """Wait until each of these words was written or is on the screen."""
        await self._wait(lambda: all(word.encode() in self.written or word in self.text for word in words), *words)

    async def shows(self, *words: str, without: str | None = None) -> None:
        """Wait until all these words are on the screen and `without` has left it."""
        await self._wait(
            lambda: all(word in self.text for word in words) and (without is None or without not in self.text), *words
        )

    async def _wait(self, has_come: Callable[[], bool], *words: str) -> None:
        """Read until the condition holds; otherwise fail with the words and the screen's text."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not has_come():
                    if not await self.read():
                        raise EOFError
        except (TimeoutError, OSError, EOFError):
            raise AssertionError(f"{words} did not come, but:\n{self.text}") from None

    async def hear(self, words: str) -> str:
        """Return the output up to these words, starting at the end of the last call."""
        await self._wait(lambda: words in self._unheard, words)
        before, _, _ = self._unheard.partition(words)
        self._heard += len((before + words).replace("\n", "\r\n").encode())
        return before + words

    @property
    def _unheard(self) -> str:
        return self.written[self._heard :].decode(errors="ignore").replace("\r\n", "\n")

    async def end(self) -> int:
        """Read to the end and return the exit code."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                with contextlib.suppress(OSError):
                    while await self.read():
                        pass
                return await self.process.wait()
        except TimeoutError:
            raise AssertionError(f"the program did not end, but:\n{self.text}") from None

    async def read(self) -> bytes:
        """Wait for more output and return it; nothing at the end."""
        data = await asyncio.to_thread(os.read, self._ours, 65536)
        self.written += data
        self._stream.feed(data)
        return data

    def type(self, text: str | bytes) -> None:
        os.write(self._ours, text.encode() if isinstance(text, str) else text)

    async def ask(self, text: str, *words: str) -> None:
        """Type the text and wait until all these words were written."""
        self.type(text)
        await self.until(*words)

    async def do(self, text: str, *words: str) -> None:
        """Type the text and wait until all these words are on the screen."""
        self.type(text)
        await self.shows(*words)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def close(self) -> None:
        if self._ours >= 0:
            os.close(self._ours)
        self._ours = -1

    def attributes(self) -> list[object]:
        return termios.tcgetattr(self._ours)


@contextlib.asynccontextmanager
async def run_screen(*command: str, **variables: str) -> AsyncIterator[Terminal]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    before = termios.tcgetattr(ours)
    process = await start_program(
        *command,
        terminal=theirs,
        env=environment(**{"TERM": "xterm-256color", "PYTHONWARNINGS": "default", **variables}),
    )
    os.close(theirs)
    screen = Terminal(ours, before, process)
    try:
        yield screen
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        screen.close()


def kinds_of_sequences(text: str) -> set[str]:
    """Return the kinds of escape sequences in a text: CSI by its final byte, or whole if it sets a mode."""
    return {_kind_of(match) for match in _SEQUENCE.finditer(text)}


def strip_sequences(text: str) -> str:
    """Return a text without escape sequences, but with window titles."""
    return _SEQUENCE.sub(lambda match: (match["osc"] or "").partition(";")[2], text)


def _kind_of(match: re.Match[str]) -> str:
    if (control := match["csi"]) is not None:
        if control[-1] in "hlpu" or control[:1] in "<=>?":
            return f"CSI {control}"
        return f"CSI {re.sub('[0-9;]', '', control)}"
    if (command := match["osc"]) is not None:
        return f"OSC {command.partition(';')[0]}"
    return f"ESC {match['string'] or match['other'] or 'broken'}"
