"""One process that thinks, and the pipes to it. What it is asked, and when, is the business of `workers`."""

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

COMMAND: Final = (sys.executable, "-P", str(Path(__file__).with_name("thinking.py")))  # what starts a worker
_START_SECONDS: Final = 10.0
_GRACE_SECONDS: Final = 0.5
_STOP_SECONDS: Final = 2.0

Answer = TypeVar("Answer")


class NotStarted(Exception):
    """No process could be had."""


class WorkerLost(Exception):
    """The process died; it is gone."""


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
                await self._exchange(b"")
                self.pid = self._process.pid
        except Exception as error:
            raise NotStarted(await self.stop() or str(error) or type(error).__name__) from error

    async def answer(self, question: partial[Answer], seconds: float) -> Answer:
        """Return the result of a call of the engine, which is to take so many seconds.

        Raises `WorkerLost`, TimeoutError where the process is late by more than half a second and so was ended, and
        RuntimeError with its traceback where it found no answer.
        """
        answer: Answer
        try:
            async with asyncio.timeout(seconds + _GRACE_SECONDS):
                is_found, answer = await self._exchange(encode(question))
        except TimeoutError:
            await self.stop()
            raise
        except Exception as error:
            raise WorkerLost(await self.stop() or type(error).__name__) from error
        if not is_found:
            raise RuntimeError(answer)
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

    async def _exchange(self, question: bytes) -> Any:
        """Send bytes to the process and return what it says next."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise EOFError
        process.stdin.write(question)
        await process.stdin.drain()
        length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES), "big")
        return pickle.loads(await process.stdout.readexactly(length))
