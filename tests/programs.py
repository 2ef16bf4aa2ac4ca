"""Start our programs as processes without starting an interpreter for each.

One process per test run imports everything and forks the programs that tests ask for. A forked program has its own
streams, environment, folder, terminal, signals and exit code. Other commands are started normally, and so are our
programs if a variable is set that is only read at the start of the interpreter.
"""

import asyncio
import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

from tests.environment import environment

_MODULES = ("tictactoe_client", "tictactoe_server")
_ADDED = ("tictactoe_lab",)
_LAZY = ("segno", "textual.app", "textual.widgets", "textual.drivers.linux_driver", "zeroconf.asyncio", "zoneinfo")
_OF_THE_ENVIRONMENT = ("__main__", "tictactoe_server.cli.main")
"""Modules that read the environment when they are imported, so each process imports them itself."""

IGNORING_HANGUP = ("sh", "-c", """trap '' HUP; exec "$@\"""", "sh")
"""The prefix of a command that ignores SIGHUP; only commands that are not ours need the shell."""

_READ_AT_THE_START = ("PYTHON", "LC_", "LANG", "TEXTUAL")
Given = int | IO[Any] | None


class _Own(NamedTuple):
    """The module or source that a command runs, and its `sys.argv`."""

    runs: str
    argv: list[str]
    ignores_hangup: bool


class Program:
    """A process with the part of asyncio's interface that tests use."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self._end: asyncio.Task[None] | None = None

    async def attend(self, status: socket.socket) -> None:
        """Record the exit code once it arrives."""
        reader, writer = await asyncio.open_connection(sock=status)

        async def note() -> None:
            self.returncode = int(await reader.readline())
            writer.close()
            if self.stdin is not None:
                self.stdin.close()

        self._end = asyncio.create_task(note())

    async def wait(self) -> int:
        assert self._end is not None
        await asyncio.shield(self._end)
        assert self.returncode is not None
        return self.returncode

    async def communicate(self, input: bytes | None = None) -> tuple[bytes, bytes]:
        if self.stdin is not None:
            with contextlib.suppress(ConnectionError):
                self.stdin.write(input or b"")
                await self.stdin.drain()
            self.stdin.close()
        output, errors, _ = await asyncio.gather(_read(self.stdout), _read(self.stderr), self.wait())
        return output, errors

    def send_signal(self, number: int) -> None:
        if self.returncode is not None:
            raise ProcessLookupError
        os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


Process = asyncio.subprocess.Process | Program


async def _read(stream: asyncio.StreamReader | None) -> bytes:
    return b"" if stream is None else await stream.read()


async def start_program(
    *command: str,
    env: Mapping[str, str],
    stdin: Given = None,
    stdout: Given = None,
    stderr: Given = None,
    cwd: Path | None = None,
    terminal: int | None = None,
    limit: int = 2**16,
) -> Process:
    """Start a command and return its process. A `terminal` becomes its three streams and can interrupt it."""
    own = _own(command, env)
    if own is None:
        login: Callable[[], object] | None = None if terminal is None else functools.partial(os.login_tty, terminal)
        return await asyncio.create_subprocess_exec(
            *command, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, preexec_fn=login, env=env, limit=limit
        )
    loop, ours, theirs = asyncio.get_running_loop(), {}, []
    for number, given in enumerate((stdin, stdout, stderr)):
        if terminal is not None:
            theirs.append(os.dup(terminal))
        elif given == PIPE:
            reader, writer = os.pipe()
            ours[number] = writer if number == 0 else reader
            theirs.append(reader if number == 0 else writer)
        elif given == DEVNULL:
            theirs.append(os.open(os.devnull, os.O_RDWR))
        else:
            theirs.append(os.dup(number if given is None else given if isinstance(given, int) else given.fileno()))
    program, status = _fork(own, env, cwd, theirs, has_terminal=terminal is not None)
    if 0 in ours:
        protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader(limit, loop), loop=loop)
        transport, _ = await loop.connect_write_pipe(lambda: protocol, os.fdopen(ours[0], "wb", 0))
        program.stdin = asyncio.StreamWriter(transport, protocol, None, loop)
    for number, name in ((1, "stdout"), (2, "stderr")):
        if number in ours:
            stream = asyncio.StreamReader(limit, loop)
            await loop.connect_read_pipe(
                functools.partial(asyncio.StreamReaderProtocol, stream), os.fdopen(ours[number], "rb", 0)
            )
            setattr(program, name, stream)
    await program.attend(status)
    return program


def run_program(
    command: Sequence[str], *, env: Mapping[str, str], input: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    own = _own(command, env)
    if own is None:
        return subprocess.run(command, capture_output=True, text=True, input=input, cwd=cwd, check=False, env=env)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write(input.encode())
        files[0].seek(0)
        _, status = _fork(own, env, cwd, [os.dup(file.fileno()) for file in files], has_terminal=False)
        with status:
            code = int(status.recv(64))
        for file in files:
            file.seek(0)
        return subprocess.CompletedProcess(command, code, files[1].read().decode(), files[2].read().decode())


def _own(command: Sequence[str], env: Mapping[str, str]) -> _Own | None:
    """Return what one of our commands runs, or None for another command."""
    if ignores_hangup := tuple(command[:4]) == IGNORING_HANGUP:
        command = command[4:]
    if any(name.startswith(_READ_AT_THE_START) and name != "PYTHONWARNINGS" for name in env):
        return None
    scripts = {str(Path(sys.executable).parent / module.replace("_", "-")): module for module in _MODULES}
    if command[0] in scripts:
        return _Own(scripts[command[0]], list(command), ignores_hangup)
    if tuple(command[:2]) == (sys.executable, "-c"):
        return _Own(command[2], ["-c", *command[3:]], ignores_hangup)
    if tuple(command[:2]) != (sys.executable, "-m") or command[2] not in _MODULES:
        return None
    (folder,) = importlib.import_module(command[2]).__path__
    return _Own(command[2], [str(Path(folder, "__main__.py")), *command[3:]], ignores_hangup)


def _fork(
    own: _Own, env: Mapping[str, str], cwd: Path | None, streams: Sequence[int], *, has_terminal: bool
) -> tuple[Program, socket.socket]:
    """Fork a program with these streams, close them here, and return it with the socket that reports its end."""
    ours, theirs = socket.socketpair()
    request = {**own._asdict(), "env": {**env}, "cwd": str(cwd or Path.cwd()), "login": has_terminal}
    socket.send_fds(_nursery(), [f"{json.dumps(request)}\n".encode()], [*streams, theirs.fileno()])
    for descriptor in streams:
        os.close(descriptor)
    theirs.close()
    pid = int.from_bytes(ours.recv(8), "big")
    assert pid, "the process that forks programs has died; a signal to 0 would kill this process group"
    return Program(pid), ours


@functools.cache
def _nursery() -> socket.socket:
    """Return the socket of the process that forks programs; that process ends with this one."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-c", f"from tests.programs import serve; serve({theirs.fileno()})"]
    root = Path(__file__).parents[1]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        pass_fds=(theirs.fileno(),),
        cwd=root,
        start_new_session=True,
        env=environment(PYTHONWARNINGS="default"),
    )
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


# -- the process that forks ---------------------------------------------------------------------------------------


def serve(descriptor: int) -> None:
    """Import everything, then fork requested programs until the socket is closed."""
    for name in (*_MODULES, *_ADDED):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not module.name.endswith(_OF_THE_ENVIRONMENT):
                importlib.import_module(module.name)
    for name in _LAZY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    woken, waking = socket.socketpair()
    with socket.socket(fileno=descriptor) as asked, woken, waking:
        waking.setblocking(False)
        signal.set_wakeup_fd(waking.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        living: dict[int, socket.socket] = {}
        while True:
            ready, _, _ = select.select([asked, woken], [], [])
            if woken in ready:
                woken.recv(4096)
                _reap(living)
            if asked in ready and not _answer(asked, living, ours=(asked, woken, waking)):
                return


def _answer(asked: socket.socket, living: dict[int, socket.socket], ours: Sequence[socket.socket]) -> bool:
    """Fork the requested program; return False once the socket is closed."""
    text, streams, _, _ = socket.recv_fds(asked, 2**16, 4)
    if not text:
        return False
    while not text.endswith(b"\n"):
        text += asked.recv(2**16)
    status = socket.socket(fileno=streams.pop())
    pid = os.fork()
    if pid == 0:
        for own in (*ours, status, *living.values()):
            own.detach()
        _become(json.loads(text), streams)
    for stream in streams:
        os.close(stream)
    living[pid] = status
    status.send(pid.to_bytes(8, "big"))
    return True


def _reap(living: dict[int, socket.socket]) -> None:
    """Report the exit codes of ended programs."""
    while living:
        pid, code = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with living.pop(pid) as status, contextlib.suppress(OSError):
            status.send(f"{os.waitstatus_to_exitcode(code)}\n".encode())


def _become(request: dict[str, Any], streams: Sequence[int]) -> NoReturn:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if request["ignores_hangup"]:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if request["login"]:
        os.login_tty(streams[0])
    else:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
    os.closerange(3, 256)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.argv = request["argv"]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        errors = "backslashreplace" if number == 2 else "surrogateescape"
        opened = os.fdopen(number, "w" if number else "r", 1 if number == 2 else -1, "utf-8", errors, closefd=False)
        setattr(sys, name, opened)
        setattr(sys, f"__{name}__", opened)
    warnings.resetwarnings()
    warnings.simplefilter(request["env"].get("PYTHONWARNINGS", "default"))
    code: object = None
    try:
        if request["runs"] in _MODULES:
            importlib.import_module(f"{request['runs']}.__main__").main()
        else:
            exec(request["runs"], {"__name__": "__main__"})
    except SystemExit as leaving:
        code = leaving.code
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for file in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            file.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))  # skips the teardown of modules
