"""Finds the servers of the local network, and runs a server for this process alone.

Announcements are untrusted: invalid ones are ignored, and an announced host name must resolve to the machine that
announced it. The server for this process is the command `tictactoe-server` on a loopback address. Its standard input is
a pipe from this process, so that the server ends with this process, even after a crash.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import sys
import threading
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from tictactoe_client.online.address import Address, parse_address
from tictactoe_client.online.connection import context_for
from tictactoe_client.online.errors import BadAddress, ClientError, Unreachable
from tictactoe_protocol import PROTOCOL_VERSION, SERVICE_TYPE, clean_text
from tictactoe_words.catalogue import say

if TYPE_CHECKING:
    from zeroconf import ServiceStateChange, Zeroconf
    from zeroconf.asyncio import AsyncServiceInfo

_SEARCH_SECONDS: Final = 2.0
"""How long to wait for announcements; most arrive within a fifth of this time."""
_LOOK_UP_SECONDS: Final = 1.0
_LOOKING_UP: Final = threading.BoundedSemaphore(20)
_MOST_KNOWN: Final = 500
_MOST_ASKED: Final = 50
_START_SECONDS: Final = 15.0
_OPTIONS: Final = "--host 127.0.0.1 --port 0 --log-level error --data :memory: --with-parent"


@dataclass(frozen=True, slots=True)
class NearbyServer:
    """An announced server.

    Attributes:
        name: The announced name, which is untrusted.
        at: The IP address of the machine.
    """

    name: str
    address: Address
    at: str


async def find_nearby(most_seconds: float = _SEARCH_SECONDS) -> tuple[NearbyServer, ...]:
    """Return the servers that are found within two seconds, or within `most_seconds` if that is less."""
    lists: list[tuple[NearbyServer, ...]] = [()]
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(min(most_seconds, _SEARCH_SECONDS)):
            await follow_nearby(lists.append)
    return lists[-1]


async def follow_nearby(changed: Callable[[tuple[NearbyServer, ...]], object]) -> None:
    """Call `changed` at every change with the announced servers, sorted by name, until cancelled.

    At most `_MOST_KNOWN` servers are listed, and none without multicast. Bad announcements raise no error.
    """
    from zeroconf import DNSQuestionType, Error
    from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

    announced, waiting = dict[str, NearbyServer](), set[str]()

    def note(name: str, server: NearbyServer | None) -> None:
        if server is None and announced.pop(name, None) is None:
            return
        if server is not None and (name in announced or len(announced) < _MOST_KNOWN):
            announced[name] = server
        changed(tuple(dict.fromkeys(sorted(announced.values(), key=lambda each: each.name.casefold()))))

    async def ask(zeroconf: Zeroconf, service_type: str, name: str) -> None:
        with contextlib.suppress(OSError, ValueError, Error):
            info = AsyncServiceInfo(service_type, name)
            if not info.load_from_cache(zeroconf) and len(waiting) < _MOST_ASKED:
                waiting.add(name)
                await info.async_request(zeroconf, 1_000, DNSQuestionType.QM)
            note(name, await inspect(info))
        waiting.discard(name)

    def hear(zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        if state_change.name == "Removed":
            note(name, None)
        elif name not in waiting:
            asking.create_task(ask(zeroconf, service_type, name))

    async with asyncio.TaskGroup() as asking:
        with contextlib.suppress(OSError, Error):
            zeroconf = AsyncZeroconf()
            try:
                await zeroconf.zeroconf.async_wait_for_start()
                # A unicast answer may reach another program on this machine that listens on the same port.
                to_all = DNSQuestionType.QM
                AsyncServiceBrowser(zeroconf.zeroconf, [SERVICE_TYPE], handlers=[hear], question_type=to_all)
                await asyncio.Event().wait()
            finally:
                closing = asyncio.ensure_future(zeroconf.async_close())
                while not closing.done():  # a cancelled close would leave sockets open
                    with contextlib.suppress(asyncio.CancelledError):
                        await asyncio.shield(closing)
                zeroconf.zeroconf.engine.close()  # the event loop may have cancelled the close as it ended


async def inspect(info: AsyncServiceInfo) -> NearbyServer | None:
    """Return the announced server, or None if the announcement is invalid or for another protocol version.

    With TLS, the announcement names the host of the certificate, which must resolve to an announced address.
    """
    properties = {key.decode(errors="replace"): value or b"" for key, value in info.properties.items()}
    if properties.get("v", b"") != str(PROTOCOL_VERSION).encode() or not 0 < (info.port or 0) < 65536:
        return None
    addresses = list(filter(is_of_a_network, info.parsed_addresses()))
    if not addresses:
        return None
    at, scheme = addresses[0], "ws"
    host = at
    if "tls" in properties:
        host, scheme = properties["tls"].decode(errors="replace")[:253], "wss"
    try:
        address = parse_address(f"{scheme}://{f'[{host}]' if ':' in host else host}:{info.port}")
    except BadAddress:
        return None
    if host not in addresses and not (await _look_up(host)).intersection(addresses):
        return None
    name = clean_text(info.get_name()).strip()[:40]
    return NearbyServer(name or host, address, at)


async def _look_up(host: str) -> set[str]:
    """Return the addresses of a host name, or set() after a second; the daemon thread does not delay our exit."""
    answer: Future[set[str]] = Future()
    answer.set_running_or_notify_cancel()  # so that the timeout cannot cancel it: the thread still sets the result

    def ask() -> None:
        answers: set[str] = set()
        with contextlib.suppress(OSError, UnicodeError):
            answers = {str(place[4][0]) for place in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
        _LOOKING_UP.release()
        answer.set_result(answers)

    if not _LOOKING_UP.acquire(blocking=False):
        return set()
    threading.Thread(target=ask, name="look-up", daemon=True).start()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LOOK_UP_SECONDS):
            return await asyncio.wrap_future(answer)
    return set()


def is_of_a_network(address: str) -> bool:
    """Return True for an address of a machine in a private network.

    >>> [is_of_a_network(address) for address in ("192.168.1.7", "fd00::7", "127.0.0.1", "224.0.0.1", "8.8.8.8", "x")]
    [True, True, False, False, False, False]
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return ip.is_private and not (ip.is_loopback or ip.is_unspecified or ip.is_multicast or ip.is_reserved)


async def fetch_status(address: Address, page: str, timeout_seconds: float, ca: str | Path | None = None) -> int:
    """Return the HTTP status of a server's page, or 0 if the server does not answer in time."""
    port = address.port or (443 if address.scheme == "wss" else 80)
    link = urlsplit(address.link_to(page))
    path, host = quote(link.path, safe="/%"), link.netloc
    request = f"HEAD {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/plain\r\nConnection: close\r\n\r\n"
    try:
        async with asyncio.timeout(timeout_seconds):
            reader, writer = await asyncio.open_connection(address.host, port, ssl=context_for(address, ca))
            with contextlib.closing(writer):
                writer.write(request.encode())
                return int((await reader.readline()).split(b" ")[1])
    except (OSError, ValueError, IndexError, ClientError):
        return 0


@asynccontextmanager
async def run_local_server() -> AsyncIterator[Address]:
    """Run a server within the context, and yield its address; raises `Unreachable` if it does not start."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tictactoe_server", *_OPTIONS.split()),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_START_SECONDS):
                line = await process.stdout.readline()
        if not line.startswith(b"Listening on "):
            raise Unreachable(say("server of our own"), say("server of our own did not start"))
        yield parse_address(line.decode("utf-8", "replace").split()[2])
    finally:
        process.stdin.close()  # ends the server
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(3):
                await process.communicate()
        if process.returncode is None:
            process.kill()
            await process.wait()
