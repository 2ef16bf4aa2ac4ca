"""A server as a process of its own: its event loop, what stops it, and what it prints for the operator."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
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
from tictactoe_server.admin.control import ControlSocket, socket_path
from tictactoe_server.cli.log import tell
from tictactoe_server.server import Server
from tictactoe_server.settings import COUNTS, Limits, Settings, count_of
from tictactoe_server.transport.listen import announce

RESERVED_DESCRIPTORS: Final = 128
"""For those who are told that they are too many, for the disk, the log and the bots' processes."""

SWITCH_SECONDS: Final = 0.0001
"""How long the event loop may keep the store's thread from going on, each time that one is done with the disk."""

log: Final = structlog.get_logger(__name__)


def run(settings: Settings, limits: Limits, *, with_parent: bool) -> None:
    """Serve until a signal says stop, `with_parent` also until standard input ends.

    Raises `CannotListen`, `CannotUseCertificate` and `CannotOpenStore` before anybody was let in.
    """
    # A batch of moves that wait for the disk is more than 700 new objects, after which the collector would look.
    # Neither they nor connections leave cycles behind, so that it looks seldom, and never at what was imported.
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
        if certificate is not None and hasattr(signal, "SIGHUP"):  # Windows has none
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, certificate.renew)
        control = ControlSocket(socket_path(settings.data, server.port), server.carry_out)
        if not with_parent:
            await control.open()
        _tell_addresses(server)
        numbers = {name: count_of(limits, name) for name in COUNTS}
        changed = ",".join(f"{name}={here}" for name, here in numbers.items() if here != count_of(Limits(), name))
        data = None if settings.data is None else str(settings.data.absolute())
        log.info("server started", version=__version__, port=server.port, data=data, limits=changed or "usual")
        if settings.data is None and settings.store is None:
            tell("Nothing is kept: when this server stops, its rooms are gone.", settings.log_format, "warning")
        supervisor.tell("READY=1", f"STATUS=Listening on {server.url}")
        works = [supervisor.keep_alive()]
        if settings.announces and not with_parent:
            tls_name = None if certificate is None else next(iter(certificate.names), None)
            works.append(announce(settings.host, server.port, name=settings.announce_as, tls_name=tls_name))
        drained, *_ = chores = [asyncio.create_task(work) for work in (server.until_drained(), *works)]
        drained.add_done_callback(lambda _: stop.asked.set())
        await stop.asked.wait()
        supervisor.tell("STOPPING=1")
        for chore in chores:
            chore.cancel()
        control.close()
        stop.hurry = server.hurry
        tell("Stopping: everybody is told.", settings.log_format)
    await asyncio.wait(chores)
    log.info("server stopped")


class _Stop:
    """Called with every signal: the first asks for the end, the next ones `hurry`."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.hurry: Callable[[], None] = lambda: None

    def __call__(self) -> None:
        if self.asked.is_set():
            self.hurry()
        self.asked.set()


class Supervisor:
    """Whoever started this process and wants to know that it is ready, alive, and about to stop.

    It is told by systemd's own small protocol (sd_notify(3)): lines in datagrams to the socket that `NOTIFY_SOCKET` of
    the `environment` names. Where nobody supervises, nothing is said.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        place = environment.get("NOTIFY_SOCKET", "")
        self._place = f"\0{place[1:]}" if place.startswith("@") else place
        patience = environment.get("WATCHDOG_USEC", "")
        is_ours = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self._patience_seconds = int(patience) / 1e6 if patience.isdecimal() and is_ours else None

    def tell(self, *lines: str) -> None:
        """Send lines such as ``READY=1`` without waiting."""
        if not self._place:
            return
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto("\n".join(lines).encode(), self._place)

    async def keep_alive(self) -> None:
        """Send watchdog messages at half the watchdog interval, if there is one."""
        while self._patience_seconds:
            self.tell("WATCHDOG=1")
            await asyncio.sleep(self._patience_seconds / 2)


def _within_descriptors(limits: Limits) -> Limits:
    """Return the limits with so few connections that descriptors are left for the disk and the bots' processes.

    As many descriptors as the system allows are asked for first.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return limits
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    if soft == resource.RLIM_INFINITY:
        return limits
    most = max(1, soft - RESERVED_DESCRIPTORS)
    return replace(limits, connections=min(limits.connections or most, most))


def _tell_addresses(server: Server) -> None:
    """Print where to connect: the line that scripts wait for, the link for a browser, and what to send to a friend.

    That is a link for each of the machine's own addresses, or with TLS for a name of the certificate, and how to go
    there in a terminal; without the page the latter alone.
    """
    links, has_page = server.links.for_others(), server.links.for_people != server.url
    commands = [f"{_client_beside(sys.argv[0])} --server {link}" for link in links]
    labels = (f"From another machine{'' if server.certificate else ' on this network'}:", *["or:"] * len(links))
    told = [*zip(labels, links if has_page else commands, strict=False)]
    if has_page:
        told = [
            ("In a browser:", server.links.for_people),
            *told,
            *(("in a terminal there:", command) for command in commands[:1]),
        ]
    click.echo(f"Listening on {server.url}{' (all addresses)' if server.links.is_open else ''}")
    width = max((len(label) for label, _ in told), default=0)
    for label, text in told:
        click.echo(f"{label:>{width}}  {text}")
    sys.stdout.flush()


def _client_beside(started: str) -> str:
    """Return how a friend calls the client who installed it as the server was, which was `started` by this path.

    >>> _client_beside(".venv/bin/tictactoe-server"), _client_beside("/usr/bin/tictactoe-server")
    ('.venv/bin/tictactoe-client', 'tictactoe-client')
    """
    folder = "" if os.path.isabs(started) else os.path.dirname(started)
    return os.path.join(folder, "tictactoe-client")


def _on_signals(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(name, stop)
        except NotImplementedError:  # Windows
            signal.signal(name, lambda *_: loop.call_soon_threadsafe(stop))


def _on_end_of_input(stop: Callable[[], None]) -> None:
    """Call `stop` when standard input ends, that is when the parent process does."""
    loop = asyncio.get_running_loop()

    def wait() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(stop)

    threading.Thread(target=wait, name="standard input", daemon=True).start()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's event loop factory, or None if uvloop is not installed."""
    with contextlib.suppress(ImportError):
        import uvloop

        return cast(Any, uvloop).new_event_loop  # type: ignore[no-any-return]
    return None
