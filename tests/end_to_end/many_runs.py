"""Many runs of the client in one process, one after another, for tests with many cases: each begins and ends as ever.

Only the start of the interpreter is shared, which costs more than most runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable

from tests.end_to_end.clients import ClientProcess
from tests.environment import environment

_END = "\0"
"""What no run prints; a line that begins so has the exit code."""

_MOST_BYTES = 2**24
"""How long a line, and all that a run says in errors, may be."""

_PROGRAM = f"""
import json, sys
from tictactoe_client.cli.main import run
for command in open(int(sys.argv[1])):
    code = run(json.loads(command))
    for stream in (sys.stdout, sys.stderr):
        print({_END!r}, int(code), sep="", file=stream, flush=True)
"""


class ClientRun(ClientProcess):
    """One of the runs; `lines` holds all that it has printed so far."""

    def __init__(self, process: Process) -> None:
        super().__init__(process)
        self._code: int | None = None

    async def read_line(self) -> str | None:
        if self._code is not None:
            return None
        line = await super().read_line()
        assert line is not None, f"the process has ended: {await super().errors()}"
        if not line.startswith(_END):
            return line
        self._code = int(self.lines.pop().removeprefix(_END))
        return None

    async def errors(self) -> str:
        assert self.process.stderr is not None
        text, _, _ = (await self.process.stderr.readuntil(_END.encode())).decode().rpartition(_END)
        await self.process.stderr.readline()
        return text

    async def end(self) -> int:
        """Read all that is still printed, and return the exit code."""
        while await self.read_line() is not None:
            pass
        assert self._code is not None
        return self._code


@contextlib.asynccontextmanager
async def many_runs() -> AsyncIterator[Callable[..., ClientRun]]:
    """Yield what begins the next run with these arguments, the last one being over and its errors read."""
    reader, writer = os.pipe()
    process = await create_subprocess_exec(
        *(sys.executable, "-c", _PROGRAM, str(reader)),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        pass_fds=(reader,),
        limit=_MOST_BYTES,
        env=environment(),
    )
    os.close(reader)

    def begin(*arguments: str) -> ClientRun:
        os.write(writer, f"{json.dumps(arguments)}\n".encode())
        return ClientRun(process)

    try:
        yield begin
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        os.close(writer)
        await process.communicate()
