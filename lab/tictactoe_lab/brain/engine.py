"""An engine as a child process that is spoken to in lines: started when it is asked something, ended for certain.

Whatever it does, nothing here waits or grows without an end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

from tictactoe_client.exits import dismiss
from tictactoe_client.online.errors import ClientError, describe_cause
from tictactoe_engine import Position, Rules
from tictactoe_lab.brain import child
from tictactoe_lab.brain.gomocup import Moment, Time, read_cell, read_opening, say_board, say_opening, say_start
from tictactoe_protocol import clean_text
from tictactoe_words.catalogue import say

START_SECONDS: Final = 20.0
GRACE_SECONDS: Final = 1.0
"""How long an engine has to end after `END`, and again after SIGTERM."""
MOST_LINE_BYTES: Final = 8 * 1024
MOST_BYTES: Final = 1024 * 1024
"""How much an engine may say between two questions, and altogether on standard error for the log."""
_MOST_TOLD: Final = 20
_MOST_LENGTH: Final = 200
_KILL: Final = getattr(signal, "SIGKILL", signal.SIGTERM)
_OK: Final = re.compile("OK", re.IGNORECASE)
_ANY: Final = re.compile("OK|UNKNOWN|ERROR", re.IGNORECASE)
_CELL: Final = re.compile(r"(?:SUGGEST )?\s*(-?\d+\s*,\s*-?\d+)", re.IGNORECASE)
_OPENING: Final = re.compile(r"(SWAP\b|\d+,\d+(?:\s+\d+,\d+)*)", re.IGNORECASE)
_log: Final = logging.getLogger(__name__)


class EngineFailed(ClientError):
    """An engine cannot play on: `message` says why, to everybody, and `detail` has its own words for its owner."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class EngineSilent(EngineFailed):
    """Its time is over, and it has said nothing."""


class Engine:
    """One engine, given its `command`, and at most so many bytes of memory, 0 for any; `tell` gets what it says.

    It may be asked again after `end`: it is then started anew.
    """

    def __init__(self, command: Sequence[str], memory: int, tell: Callable[[str], object]) -> None:
        self._command = tuple(command)
        self._memory = memory
        self._tell = tell
        self._process: Process | None = None
        self._reading: list[asyncio.Task[None]] = []
        self._answer: asyncio.Future[str] | None = None
        self._awaited = _OK
        self._failure: EngineFailed | None = None
        self._heard = self._told = 0
        self._last_words = ""
        self._set_up: Rules | None = None
        self._seen: tuple[int, ...] | None = None
        """What lies on its board, in the order in which it was played; None where that is not certain."""
        self._plan: dict[Moment, int | str] = {}

    # -- what it is asked ---------------------------------------------------------------------------------------------

    async def set_up(self, rules: Rules) -> None:
        """Have it ready for a game by rules that it can play; raises `EngineFailed`."""
        async with _limited(START_SECONDS):
            if self._process is None:
                await self._start()
            is_ready = self._set_up == rules
            if is_ready and self._seen != ():  # which not every engine can clear
                is_ready = await self._ask(_ANY, "RESTART") == "OK"
            if not is_ready:
                await self._ask(_OK, say_start(rules))
                self._send(f"INFO rule {int(rules.exact)}", "INFO game_type 0", f"INFO max_memory {self._memory}")
        self._set_up, self._seen = rules, ()

    async def decide(self, position: Position, time: Time) -> int | str:
        """Return its move, or its choice in an opening, where one answer is for several; raises `EngineFailed`."""
        moment = position.moves, position.chosen
        if moment not in self._plan:
            if position.opening is None:
                return await self._choose(position, time)
            self._plan = await self._open(position, time)
        return self._plan.pop(moment)

    async def _choose(self, position: Position, time: Time) -> int:
        """Return the legal cell that it plays; it keeps what it has thought where the game has gone on by one stone."""
        async with _limited(time.seconds):
            if self._set_up != position.rules or not position.moves or self._seen != position.moves[:-1]:
                await self.set_up(position.rules)
            seen, self._seen = self._seen, None
            answer = await self._ask(_CELL, *time.say(), *say_board(position, seen))
        cell = read_cell(answer, position.rules)
        if cell is None or cell not in position.legal_cells:
            raise EngineFailed(say("engine off the board" if cell is None else "engine taken", cell=answer[:20]))
        self._seen = (*position.moves, cell)
        return cell

    async def _open(self, position: Position, time: Time) -> dict[Moment, int | str]:
        """Return what it does next in an opening by swap2, as `read_opening` does."""
        async with _limited(time.seconds):
            await self.set_up(position.rules)
            self._seen = None
            answer = await self._ask(_OPENING, *time.say(), *say_opening(position))
        if plan := read_opening(answer, position):
            return plan
        raise EngineFailed(say("engine opening", answer=answer[:20]))

    async def _ask(self, awaited: re.Pattern[str], *lines: str) -> str:
        """Send lines, and return the first answer of that kind."""
        self._heard = self._told = 0
        self._awaited = awaited
        self._answer = asyncio.get_running_loop().create_future()
        try:
            if self._failure is not None:
                raise self._failure
            self._send(*lines)
            return await self._answer
        finally:
            self._answer = None

    def _send(self, *lines: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        _log.debug("to the engine: %s", " | ".join(lines))
        with contextlib.suppress(OSError):
            self._process.stdin.write("".join(f"{line}\r\n" for line in lines).encode())

    # -- what it says ---------------------------------------------------------------------------------------------

    async def _hear(self, process: Process) -> None:
        """Take every line of standard output, and how that ends."""
        assert process.stdout is not None
        rest = b""
        while chunk := await process.stdout.read(4096):
            self._heard += len(chunk)
            *lines, rest = re.split(rb"[\r\n]", rest + chunk)
            for line in lines:
                self._take(line.decode("utf-8", "replace").strip())
            if len(rest) > MOST_LINE_BYTES or self._heard > MOST_BYTES:
                self._fail(EngineFailed(say("engine floods")))
                return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await process.wait()
        detail = say("engine died of", code=process.returncode, words=self._last_words or "-")
        self._fail(EngineFailed(say("engine died"), detail))

    def _take(self, line: str) -> None:
        answer, found = self._answer, self._awaited.match(line)
        refusal = "ERROR" if self._awaited is _CELL else "ERROR|UNKNOWN"  # which some say of an INFO, too
        if answer is not None and not answer.done() and found:
            answer.set_result(found[found.re.groups].upper())
        elif answer is not None and re.match(refusal, line, re.IGNORECASE):
            self._fail(EngineFailed(say("engine refuses"), clean_text(line[:_MOST_LENGTH])))
        elif line and self._told < _MOST_TOLD:
            self._told += 1
            self._tell(clean_text(line.removeprefix("MESSAGE ")[:_MOST_LENGTH]))

    def _fail(self, failure: EngineFailed) -> None:
        self._failure = self._failure or failure
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(self._failure)

    async def _log_errors(self, stderr: asyncio.StreamReader) -> None:
        """Write standard error to the log, as much as is bearable, and know its last line."""
        logged, rest = 0, b""
        while chunk := await stderr.read(4096):
            *lines, rest = re.split(rb"[\r\n]+", rest[-MOST_LINE_BYTES:] + chunk)
            for line in filter(None, lines):
                self._last_words = clean_text(line[:_MOST_LENGTH].decode("utf-8", "replace"))
                if (logged := logged + len(line)) <= MOST_BYTES:
                    _log.debug("the engine's standard error: %s", self._last_words)

    # -- its process --------------------------------------------------------------------------------------------------

    async def _start(self) -> None:
        started = bind(self._command, self._memory)
        try:
            process = await asyncio.create_subprocess_exec(
                *started, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
            )
        except OSError as error:
            raise EngineFailed(say("engine not started"), describe_cause(error)) from None
        assert process.stderr is not None
        self._process, self._failure, self._set_up, self._last_words = process, None, None, ""
        self._reading = [
            asyncio.create_task(self._hear(process), name="tictactoe engine"),
            asyncio.create_task(self._log_errors(process.stderr), name="tictactoe engine"),
        ]

    def kill(self) -> None:
        """End its process at once, if it runs, and all that it has started."""
        if self._process is not None:
            _signal(self._process, _KILL)

    async def end(self) -> None:
        """End it, if it runs, with all that it has started: by `END`, then SIGTERM, then SIGKILL."""
        process, self._process, self._seen = self._process, None, None
        if process is None:
            return
        assert process.stdin is not None
        try:
            with contextlib.suppress(OSError):
                process.stdin.write(b"END\r\n")
                process.stdin.close()
            for number in (signal.SIGTERM, _KILL, _KILL):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(GRACE_SECONDS):
                        await process.wait()
                    return
                _signal(process, number)
        finally:
            _signal(process, _KILL)
            await dismiss(*self._reading)
            with contextlib.suppress(TimeoutError, OSError):
                async with asyncio.timeout(GRACE_SECONDS):
                    await process.communicate()  # what nobody has read would keep its pipes open
                    await process.stdin.wait_closed()  # else Python prints that a killed one did not take its END


def bind(command: Sequence[str], memory: int = 0) -> tuple[str, ...]:
    """Return a command with so much memory, 0 for any, that on Linux dies with this process, however that ends."""
    if os.name != "posix":
        return tuple(command)
    return (sys.executable, "-IS", child.__file__, str(memory), str(os.getpid()), *command)


def _signal(process: Process, number: int) -> None:
    """Send a signal to an engine and to all that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, number)
        elif process.returncode is None:
            process.terminate()


@contextlib.asynccontextmanager
async def _limited(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise EngineSilent(say("engine silent", n=round(seconds))) from None
