"""The server process: event loop, signals, service manager, and output for the operator."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, cast

import click
import structlog

from tictactoe_server import __version__
from tictactoe_server.operator.control import ControlSocket, socket_path
from tictactoe_server.operator.log import tell
from tictactoe_server.server import Server
from tictactoe_server.settings import COUNTS, Limits, Settings, count_of
from tictactoe_server.transport.listen import announce

RESERVED_DESCRIPTORS: Final = 128  # for refused connections, the disk, the log and the bots' processes
SWITCH_SECONDS: Final = 0.0001  # the longest time before the event loop yields to the store's thread

log: Final = structlog.get_logger(__name__)


def run(settings: Settings, limits: Limits, *, with_parent: bool) -> None:
    """Run a server until a signal arrives.

    Args:
        with_parent: Whether the server also stops when its standard input ends.

    Raises:
        OperatorError: The address, the port, the TLS files or the stored data cannot be used.
    """
    # With its default thresholds, the garbage collector would run for each batch of moves that waits for the disk.
    # Neither moves nor connections create reference cycles, so it runs rarely, and ignores imported modules.
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    sys.setswitchinterval(SWITCH_SECONDS)
    limits = _within_descriptors(limits)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(settings, limits, with_parent=with_parent))


async def _serve(settings: Settings, limits: Limits, *, with_parent: bool) -> None:
    stop, supervisor = _Stop(), Supervisor()
    _on_signals(stop)
    if with_parent:
        _on_end_of_input(stop)
    async with Server(settings, limits=limits) as server:
        certificate = server.certificate
        if certificate is not None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, certificate.renew)
        control = ControlSocket(socket_path(settings.data, server.port), server.orders.answer_line)
        if not with_parent:
            await control.open()
        _print_addresses(server)
        numbers = {name: count_of(limits, name) for name in COUNTS}
        changed = ",".join(f"{name}={here}" for name, here in numbers.items() if here != count_of(Limits(), name))
        data = None if settings.data is None else str(settings.data.absolute())
        log.info("server started", version=__version__, port=server.port, data=data, limits=changed or "usual")
        if server.parts.data == "nothing":
            tell("Nothing is stored: all rooms are lost when the server stops.", settings.log_format, "warning")
        supervisor.notify("READY=1", f"STATUS=Listening on {server.url}")
        works = [supervisor.keep_alive()]
        if settings.announces and not with_parent:
            tls_name = None if certificate is None else next(iter(certificate.names), None)
            works.append(announce(settings.host, server.port, name=settings.announce_as, tls_name=tls_name))
        drained, *_ = tasks = [asyncio.create_task(work) for work in (server.parts.drain.until_over(), *works)]
        drained.add_done_callback(lambda _: stop.requested.set())
        await stop.requested.wait()
        supervisor.notify("STOPPING=1")
        for task in tasks:
            task.cancel()
        control.close()
        stop.hurry = server.hurry
        tell("Stopping: notifying all players.", settings.log_format)
    await asyncio.wait(tasks)
    log.info("server stopped")


class _Stop:
    """The handler for signals: the first signal requests the end of the server, each further signal calls `hurry`."""

    def __init__(self) -> None:
        self.requested = asyncio.Event()
        self.hurry: Callable[[], None] = lambda: None

    def __call__(self) -> None:
        if self.requested.is_set():
            self.hurry()
        self.requested.set()


class Supervisor:
    """The service manager that started this process, if any. Source: systemd's sd_notify(3)."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        socket_name = environment.get("NOTIFY_SOCKET", "")
        self._address = f"\0{socket_name[1:]}" if socket_name.startswith("@") else socket_name
        watchdog = environment.get("WATCHDOG_USEC", "")
        is_ours = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self._watchdog_seconds = int(watchdog) / 1e6 if watchdog.isdecimal() and is_ours else None

    def notify(self, *lines: str) -> None:
        """Send lines such as ``READY=1`` to the service manager, without waiting."""
        if not self._address:
            return
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto("\n".join(lines).encode(), self._address)

    async def keep_alive(self) -> None:
        while self._watchdog_seconds:
            self.notify("WATCHDOG=1")
            await asyncio.sleep(self._watchdog_seconds / 2)


def _within_descriptors(limits: Limits) -> Limits:
    """Raise the system's limit on file descriptors as far as possible, and fit `connections` into that limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    if soft == resource.RLIM_INFINITY:
        return limits
    most = max(1, soft - RESERVED_DESCRIPTORS)
    return replace(limits, connections=min(limits.connections or most, most))


def _print_addresses(server: Server) -> None:
    """Print the line that scripts wait for, then how to join from this machine and from others.

    With the page enabled, these are links for browsers; otherwise they are commands for terminals.
    """
    links, has_page = server.links.for_others(), server.links.for_people != server.url
    commands = [f"{_client_beside(sys.argv[0])} --server {link}" for link in links]
    labels = (f"From another machine{'' if server.certificate else ' on this network'}:", *["or:"] * len(links))
    rows = [*zip(labels, links if has_page else commands, strict=False)]
    if has_page:
        rows.insert(0, ("In a browser:", server.links.for_people))
        rows += [("in a terminal there:", command) for command in commands[:1]]
    click.echo(f"Listening on {server.url}{' (all addresses)' if server.links.is_open else ''}")
    width = max((len(label) for label, _ in rows), default=0)
    for label, text in rows:
        click.echo(f"{label:>{width}}  {text}")
    sys.stdout.flush()


def _client_beside(started: str) -> str:
    """Return the client's command, with the same relative folder as the server's command `started`.

    >>> _client_beside(".venv/bin/tictactoe-server"), _client_beside("/usr/bin/tictactoe-server")
    ('.venv/bin/tictactoe-client', 'tictactoe-client')
    """
    folder = "" if os.path.isabs(started) else os.path.dirname(started)
    return os.path.join(folder, "tictactoe-client")


def _on_signals(stop: Callable[[], None]) -> None:
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop)


def _on_end_of_input(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def wait() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(stop)

    threading.Thread(target=wait, name="standard input", daemon=True).start()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    with contextlib.suppress(ImportError):
        import uvloop

        return cast(Any, uvloop).new_event_loop  # type: ignore[no-any-return]
    return None
