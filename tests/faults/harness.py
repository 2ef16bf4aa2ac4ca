"""The real command `tictactoe-server` on a data folder: started, killed and restarted on the same port.

Only processes started here are ended, by id. The server's log is kept line by line.
"""

import asyncio
import os
import re
import signal
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from tests.environment import environment
from tests.limits import UNCOUNTED
from tests.ports import free_ports
from tests.programs import Process

COMMAND = (str(Path(sys.executable).parent / "tictactoe-server"),)
START_SECONDS = 120.0
END_SECONDS = 120.0
_LISTENING = re.compile(r"Listening on (ws://\S+:\d+)")


class Suspendable:
    """A process that can be suspended; its connections stay open meanwhile."""

    def __init__(self) -> None:
        self.is_frozen = False
        self._process: Process | None = None

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def freeze(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)
        self.is_frozen = True

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)
        self.is_frozen = False


class Harness(Suspendable):
    """Runs one server at a time; use it with ``async with``, which starts the first and ends the last.

    Attributes:
        command: The command to run instead of the server's own, with the same options.
        url: The server's address, known from the first start on.
    """

    def __init__(self, folder: Path, *options: str, command: Sequence[str] = COMMAND) -> None:
        super().__init__()
        self.folder = folder
        self.options = options
        self.command = tuple(command)
        self.log: list[str] = []
        (self.port,) = free_ports(1)
        self.url = ""
        self._reading: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process is not None:
            await self.end(signal.SIGKILL)

    async def start(self) -> None:
        """Start a server, and wait until it listens."""
        assert self._process is None, "a server runs already"
        process: Process = await create_subprocess_exec(
            *self.command,
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--data",
            str(self.folder),
            *UNCOUNTED,
            *self.options,
            stdout=PIPE,
            stderr=PIPE,
            env=environment(),
        )
        self._process = process
        assert process.stdout
        assert process.stderr
        self._reading = asyncio.create_task(self._read(process.stderr))
        async with asyncio.timeout(START_SECONDS):
            line = (await process.stdout.readline()).decode()
        match = _LISTENING.match(line)
        if match is None:
            await self.end(signal.SIGKILL)
            raise RuntimeError(f"{self.command[0]} did not listen: {line!r} {self.log[-3:]}")
        self.url = match[1]

    async def end(self, by: signal.Signals = signal.SIGKILL) -> int:
        """Send the signal, wait for the end and return the exit code."""
        assert self._process
        if self._process.returncode is None:
            self._process.send_signal(by)
            if self.is_frozen and by is not signal.SIGKILL:
                self.thaw()
        async with asyncio.timeout(END_SECONDS):
            code = await self._process.wait()
        self._process = None
        self.is_frozen = False
        if self._reading is not None:
            await self._reading
        return code

    async def _read(self, stderr: asyncio.StreamReader) -> None:
        async for line in stderr:
            self.log.append(line.decode().rstrip("\n"))
