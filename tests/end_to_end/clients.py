"""The real `tictactoe-client` as a child process whose output is read line by line."""

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import IO, Any, NamedTuple

from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from tests.environment import environment
from tests.peer import PATIENCE_SECONDS, Peer, open_peer
from tests.programs import Process, start_program

COMMAND = (sys.executable, "-m", "tictactoe_client")


class ClientProcess:
    """A running client. `lines` holds its output so far."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.lines: list[str] = []

    def type(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines).encode())

    def send(self, **request: Any) -> None:
        self.type(json.dumps(request))

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    async def read_line(self) -> str | None:
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            raw = await self.process.stdout.readline()
        if not raw:
            return None
        self.lines.append(raw.decode().rstrip("\n"))
        return self.lines[-1]

    async def until(self, *beginnings: str) -> str:
        """Read up to a line with the first beginning, then the second and so on; return the last line."""
        line: str | None = ""
        for beginning in beginnings:
            while (line := await self.read_line()) is not None and not line.startswith(beginning):
                pass
            if line is None:
                raise AssertionError(f"no line {beginning!r} in {self.lines} {await self.errors()}")
        return str(line)

    async def ask(self, line: str, *answers: str) -> str:
        """Type a line and read up to its answers, each given by its beginning; return the last."""
        self.type(line)
        return await self.until(*answers)

    async def message(self, **expected: Any) -> dict[str, Any]:
        """Return the next JSON line that has these values."""
        while (line := await self.read_line()) is not None:
            message: dict[str, Any] = json.loads(line)
            if all(message.get(key) == value for key, value in expected.items()):
                return message
        raise AssertionError(f"no message {expected} in {self.lines} {await self.errors()}")

    async def errors(self) -> str:
        assert self.process.stderr is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            return (await self.process.stderr.read()).decode()

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()

    async def end(self) -> int:
        """Read the remaining output and return the exit code."""
        while await self.read_line() is not None:
            pass
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.process.wait()


def link_to(url: str, room: str) -> str:
    return f"http{url.removeprefix('ws')}/{room}"


@contextlib.asynccontextmanager
async def run_client(
    *arguments: str,
    command: Sequence[str] = COMMAND,
    stdin: int | IO[bytes] = PIPE,
    stdout: int | IO[bytes] = PIPE,
    **variables: str,
) -> AsyncIterator[ClientProcess]:
    process = await start_program(
        *command, *arguments, stdin=stdin, stdout=stdout, stderr=PIPE, env=environment(**variables)
    )
    try:
        yield ClientProcess(process)
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await process.communicate()


class Ended(NamedTuple):
    """The exit code, output and standard error of a command."""

    code: int
    output: str
    errors: str


async def outcome(*arguments: str, code: int | None = None, **variables: Any) -> Ended:
    """Run a command without input to its end, which must have this exit code unless it is None."""
    async with run_client(*arguments, **variables) as client:
        client.end_input()
        ended = Ended(await client.end(), "\n".join(client.lines), await client.errors())
    assert code in (None, ended.code), ended.errors
    return ended


async def complaint(*arguments: str, code: int) -> str:
    """Run a command that must end with this exit code, and return its standard error."""
    return (await outcome(*arguments, code=code)).errors


@contextlib.asynccontextmanager
async def plain_game(
    url: str, *options: str, url_of_bo: str | None = None
) -> AsyncIterator[tuple[ClientProcess, Peer, str]]:
    """Open a room as ana in plain mode with X, and join it as bo; yield both and the code. It is ana's turn."""
    async with run_client("new", "-n", "ana", "-s", url, *options) as ana, open_peer(url_of_bo or url, "bo") as bo:
        code = (await ana.until("Code")).split()[1]
        await bo.ask("join", room=code)
        await ana.until("Your move, X.")
        yield ana, bo, code


@contextlib.asynccontextmanager
async def serving(handler: Callable[[ServerConnection], Awaitable[None]], **options: Any) -> AsyncIterator[str]:
    """Run a fake server with this connection handler; yield its address."""
    async with serve(handler, "127.0.0.1", 0, **options) as listener:
        yield f"ws://127.0.0.1:{next(iter(listener.sockets)).getsockname()[1]}"


@contextlib.asynccontextmanager
async def newer_server() -> AsyncIterator[str]:
    """Run a server that speaks protocol version 3 alone; yield its address."""

    def refuse(socket: ServerConnection, _: Request) -> Response:
        return socket.respond(HTTPStatus.BAD_REQUEST, "this server speaks tictactoe.v3, not tictactoe.v2")

    async def never(_: ServerConnection) -> None:
        raise AssertionError

    async with serving(never, process_request=refuse) as url:
        yield url
