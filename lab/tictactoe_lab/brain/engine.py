"""An engine in a child process, which exchanges lines with this process: started on demand, always terminated.

Every wait has a timeout and every buffer a limit, so that no engine can block or flood this process.
"""

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
"""Time for an engine to exit after `END`, and again after SIGTERM."""
MAX_LINE_BYTES: Final = 8 * 1024
MAX_OUTPUT_BYTES: Final = 1024 * 1024
"""Limit of an engine's standard output per request, and of its standard error in the log."""
_MAX_MESSAGES: Final = 20
_MAX_MESSAGE_LENGTH: Final = 200
_KILL: Final = getattr(signal, "SIGKILL", signal.SIGTERM)
_READY: Final = re.compile("OK", re.IGNORECASE)
_ANY_ANSWER: Final = re.compile("OK|UNKNOWN|ERROR", re.IGNORECASE)
_CELL: Final = re.compile(r"(?:SUGGEST )?\s*(-?\d+\s*,\s*-?\d+)", re.IGNORECASE)
_OPENING: Final = re.compile(r"(SWAP\b|\d+,\d+(?:\s+\d+,\d+)*)", re.IGNORECASE)
_log: Final = logging.getLogger(__name__)


class EngineFailed(ClientError):
    """The engine cannot play on.

    Attributes:
        message: The reason, also shown to the opponent.
        detail: The engine's own output, shown only to its owner.
    """

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class EngineSilent(EngineFailed):
    """The engine did not answer in time."""


class Engine:
    """An engine process; the next request after `end` starts a new one.

    Args:
        command: The program and its arguments.
        memory: Memory limit in bytes, 0 for none.
        show: Called with each message of the engine, that is, each line that is not an answer.
    """

    def __init__(self, command: Sequence[str], memory: int, show: Callable[[str], object]) -> None:
        self._command = tuple(command)
        self._memory = memory
        self._show = show
        self._process: Process | None = None
        self._readers: list[asyncio.Task[None]] = []
        self._answer: asyncio.Future[str] | None = None
        self._expected = _READY
        self._failure: EngineFailed | None = None
        self._bytes_read = self._messages_shown = 0
        self._last_error = ""
        self._rules: Rules | None = None
        self._known_moves: tuple[int, ...] | None = None
        """The moves on the engine's board, in order; None if unknown."""
        self._planned: dict[Moment, int | str] = {}

    # -- requests -----------------------------------------------------------------------------------------------------

    async def set_up(self, rules: Rules) -> None:
        """Prepare the engine for a new game by `rules`, which must be playable; raise `EngineFailed`."""
        async with _time_limit(START_SECONDS):
            if self._process is None:
                await self._start()
            is_ready = self._rules == rules
            if is_ready and self._known_moves != ():  # not every engine knows RESTART
                is_ready = await self._ask(_ANY_ANSWER, "RESTART") == "OK"
            if not is_ready:
                await self._ask(_READY, say_start(rules))
                self._send(f"INFO rule {int(rules.exact)}", "INFO game_type 0", f"INFO max_memory {self._memory}")
        self._rules, self._known_moves = rules, ()

    async def decide(self, position: Position, time: Time) -> int | str:
        """Return the engine's move, or its choice in an opening; raise `EngineFailed`.

        One answer of the engine may settle several steps of an opening; later calls return the remaining steps.
        """
        moment = position.moves, position.chosen
        if moment not in self._planned:
            if position.opening is None:
                return await self._choose_move(position, time)
            self._planned = await self._play_opening(position, time)
        return self._planned.pop(moment)

    async def _choose_move(self, position: Position, time: Time) -> int:
        """Return the legal cell the engine plays.

        If only one stone has been added, only that stone is sent, so that the engine keeps its search tree.
        """
        async with _time_limit(time.seconds):
            if self._rules != position.rules or not position.moves or self._known_moves != position.moves[:-1]:
                await self.set_up(position.rules)
            known_moves, self._known_moves = self._known_moves, None
            answer = await self._ask(_CELL, *time.say(), *say_board(position, known_moves))
        cell = read_cell(answer, position.rules)
        if cell is None or cell not in position.legal_cells:
            raise EngineFailed(say("engine answer", answer=answer[:20]))
        self._known_moves = (*position.moves, cell)
        return cell

    async def _play_opening(self, position: Position, time: Time) -> dict[Moment, int | str]:
        """Return the engine's next steps in a swap2 opening, as `read_opening` does."""
        async with _time_limit(time.seconds):
            await self.set_up(position.rules)
            self._known_moves = None
            answer = await self._ask(_OPENING, *time.say(), *say_opening(position))
        if plan := read_opening(answer, position):
            return plan
        raise EngineFailed(say("engine answer", answer=answer[:20]))

    async def _ask(self, expected: re.Pattern[str], *lines: str) -> str:
        """Send lines and return the first answer that matches the pattern."""
        self._bytes_read = self._messages_shown = 0
        self._expected = expected
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

    # -- output -------------------------------------------------------------------------------------------------------

    async def _read_output(self, process: Process) -> None:
        """Handle standard output line by line; fail the engine when it ends or exceeds its limits."""
        assert process.stdout is not None
        rest = b""
        while chunk := await process.stdout.read(4096):
            self._bytes_read += len(chunk)
            *lines, rest = re.split(rb"[\r\n]", rest + chunk)
            for line in lines:
                self._handle_line(line.decode("utf-8", "replace").strip())
            if len(rest) > MAX_LINE_BYTES or self._bytes_read > MAX_OUTPUT_BYTES:
                self._fail(EngineFailed(say("engine floods")))
                return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await process.wait()
        words = self._last_error
        detail = say("engine died of" if words else "engine ended", code=process.returncode, words=words)
        self._fail(EngineFailed(say("engine died"), detail))

    def _handle_line(self, line: str) -> None:
        answer, match = self._answer, self._expected.match(line)
        refusal = "ERROR" if self._expected is _CELL else "ERROR|UNKNOWN"  # some engines answer UNKNOWN to INFO
        if answer is not None and not answer.done() and match:
            answer.set_result(match[match.re.groups].upper())
        elif answer is not None and re.match(refusal, line, re.IGNORECASE):
            self._fail(EngineFailed(say("engine refuses"), clean_text(line[:_MAX_MESSAGE_LENGTH])))
        elif line and self._messages_shown < _MAX_MESSAGES:
            self._messages_shown += 1
            self._show(clean_text(line.removeprefix("MESSAGE ")[:_MAX_MESSAGE_LENGTH]))

    def _fail(self, failure: EngineFailed) -> None:
        self._failure = self._failure or failure
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(self._failure)

    async def _log_errors(self, stderr: asyncio.StreamReader) -> None:
        """Log the first `MAX_OUTPUT_BYTES` of standard error, and remember its last line."""
        logged, rest = 0, b""
        while chunk := await stderr.read(4096):
            *lines, rest = re.split(rb"[\r\n]+", rest[-MAX_LINE_BYTES:] + chunk)
            for line in filter(None, lines):
                self._last_error = clean_text(line[:_MAX_MESSAGE_LENGTH].decode("utf-8", "replace"))
                if (logged := logged + len(line)) <= MAX_OUTPUT_BYTES:
                    _log.debug("the engine's standard error: %s", self._last_error)

    # -- the process --------------------------------------------------------------------------------------------------

    async def _start(self) -> None:
        started = bind(self._command, self._memory)
        try:
            process = await asyncio.create_subprocess_exec(
                *started, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
            )
        except OSError as error:
            raise EngineFailed(say("engine not started"), describe_cause(error)) from None
        assert process.stderr is not None
        self._process, self._failure, self._rules, self._last_error = process, None, None, ""
        self._readers = [
            asyncio.create_task(self._read_output(process), name="tictactoe engine"),
            asyncio.create_task(self._log_errors(process.stderr), name="tictactoe engine"),
        ]

    def kill(self) -> None:
        """Kill the engine and its child processes at once, if it runs."""
        if self._process is not None:
            _signal(self._process, _KILL)

    async def end(self) -> None:
        """Stop the engine and its child processes, if it runs: by `END`, then SIGTERM, then SIGKILL."""
        process, self._process, self._known_moves = self._process, None, None
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
            await dismiss(*self._readers)
            with contextlib.suppress(TimeoutError, OSError):
                async with asyncio.timeout(GRACE_SECONDS):
                    await process.communicate()  # unread output would keep the pipes open
                    await process.stdin.wait_closed()  # else Python reports a broken pipe if the engine was killed


def bind(command: Sequence[str], memory: int = 0) -> tuple[str, ...]:
    """Return a command that runs `command` with at most `memory` bytes (0: no limit); on Linux, it dies with us."""
    if os.name != "posix":
        return tuple(command)
    return (sys.executable, "-IS", child.__file__, str(memory), str(os.getpid()), *command)


def _signal(process: Process, number: int) -> None:
    """Send a signal to an engine and its child processes."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, number)
        elif process.returncode is None:
            process.terminate()


@contextlib.asynccontextmanager
async def _time_limit(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise EngineSilent(say("engine silent", n=round(seconds))) from None
