"""One process that thinks, and the pipes to it. What it is asked, and when, is the pool's business."""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from tictactoe_server.services.bots.thinking import LENGTH_BYTES, encode

COMMAND: Final = (sys.executable, "-P", str(Path(__file__).with_name("thinking.py")))
"""What starts a worker."""

_START_SECONDS: Final = 10.0
_GRACE_SECONDS: Final = 0.5
_STOP_SECONDS: Final = 2.0

Answer = TypeVar("Answer")


class NotStarted(Exception):
    """No process could be had."""


class WorkerLost(Exception):
    """The process died or, with `is_late`, did not answer in time; it is gone."""

    def __init__(self, reason: str, *, is_late: bool) -> None:
        super().__init__(reason)
        self.is_late = is_late


class ThoughtFailed(Exception):
    """The process found no answer; what it tells is its traceback."""


class Worker:
    """A process that can be started, asked one question at a time, and started again where it was lost."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: Process | None = None
        self.pid: int | None = None
        """The id of the process, or None while there is none that can be asked."""

    async def start(self) -> None:
        """Start the process; raises `NotStarted` where that fails or takes more than ten seconds."""
        try:
            async with asyncio.timeout(_START_SECONDS):
                self._process = await asyncio.create_subprocess_exec(
                    *self._command, stdin=PIPE, stdout=PIPE, stderr=PIPE
                )
                await _read(self._process)
                self.pid = self._process.pid
        except Exception as error:
            last_words = await self.stop()
            raise NotStarted(last_words or str(error) or type(error).__name__) from error

    async def answer(self, question: partial[Answer], seconds: float) -> Answer:
        """Return what a function of `thinking` answers; `seconds` is its last argument.

        Raises `ThoughtFailed`, or `WorkerLost` where the process is late by more than half a second or not there.
        """
        answer: Answer
        try:
            async with asyncio.timeout(seconds + _GRACE_SECONDS):
                await _write(self._process, (question.func.__name__, (*question.args, seconds)))
                is_found, answer = await _read(self._process)
        except Exception as error:
            last_words = await self.stop()
            is_late = isinstance(error, TimeoutError)
            raise WorkerLost("late" if is_late else last_words or type(error).__name__, is_late=is_late) from error
        if not is_found:
            raise ThoughtFailed(answer)
        return answer

    async def stop(self) -> str:
        """End the process at once; return the last line of its complaints, if it has any."""
        process, self._process, self.pid = self._process, None, None
        if process is None or process.stdin is None:
            return ""
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.stdin.close()
        complaints = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                _, complaints = await process.communicate()
        return complaints.decode(errors="replace").strip().rpartition("\n")[2]


async def _write(process: Process | None, content: object) -> None:
    if process is None or process.stdin is None:
        raise EOFError
    process.stdin.write(encode(content))
    await process.stdin.drain()


async def _read(process: Process | None) -> Any:
    if process is None or process.stdout is None:
        raise EOFError
    length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES), "big")
    return pickle.loads(await process.stdout.readexactly(length))
