"""Listening sockets, the server's URLs for other machines, and its announcement on the local network."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import os
import re
import socket
from collections.abc import Iterator
from typing import Final

import ifaddr
import structlog

from tictactoe_protocol import PROTOCOL_VERSION, SERVICE_TYPE, clean_text
from tictactoe_server import OperatorError
from tictactoe_server.transport.certificate import Certificate

_UNROUTED: Final = ((socket.AF_INET, ("192.0.2.1", 9)), (socket.AF_INET6, ("2001:db8::1", 9)))
"""Addresses reserved for documentation (RFC 5737, RFC 3849).

Connecting a UDP socket to them reveals the machine's own address on the default route; no packet is sent.
"""

_REMEDIES: Final = {
    errno.EADDRINUSE: " Is a server already running? Check with tictactoe-server status. --port 0 chooses a free port.",
    errno.EADDRNOTAVAIL: " --host must be an address of this machine; without it, the server listens on all addresses.",
    errno.EACCES: " Ports below 1024 are reserved: choose another --port, or see docs/how-to/host.md for port 443.",
}
"""Advice for the operator, by the error of the operating system."""

_MAX_NAME_BYTES: Final = 63 - 4  # the limit in DNS (RFC 6763, 4.1.1) minus a suffix that makes the name unique

log: Final = structlog.get_logger(__name__)


def open_sockets(host: str | None, port: int) -> list[socket.socket]:
    """Return listening sockets, all on the same port.

    Args:
        host: A name or an address of this machine; None or ``::`` means all addresses, IPv4 and IPv6.

    Raises:
        OperatorError: The port is taken, or the host cannot be resolved or is another machine.
    """
    host = None if host == "::" else host
    try:
        found = [] if host is None else socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OperatorError(f'Cannot find the host "{host}": {reason.lower()}.') from None
    sockets: list[socket.socket] = []
    try:
        if host is None and socket.has_dualstack_ipv6():
            with contextlib.suppress(OSError):
                sockets.append(socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True))
        if host is None and not sockets:
            sockets.append(socket.create_server(("", port)))
        for family, address in dict.fromkeys((family, address) for family, *_, address in found):
            chosen = sockets[0].getsockname()[1] if sockets else port
            sockets.append(socket.create_server((str(address[0]), chosen), family=family))
    except OSError as error:
        for opened in sockets:
            opened.close()
        where = f"port {port}" if host is None else f"{host}, port {port}"
        reason = os.strerror(error.errno) if error.errno else str(error)
        remedy = _REMEDIES.get(error.errno or 0, "")
        raise OperatorError(f"Cannot listen on {where}: {reason.lower()}.{remedy}") from None
    for opened in sockets:  # asyncio sets this only on sockets with an explicit protocol number
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sockets


def url_of(host: str | None, port: int, *, secure: bool = False) -> str:
    """Return the WebSocket URL for a host and a port; None means this machine.

    >>> url_of(None, 8765), url_of("::1", 80), url_of("example.org", 443, secure=True)
    ('ws://localhost:8765', 'ws://[::1]:80', 'wss://example.org')
    """
    name = "localhost" if host is None else f"[{host}]" if ":" in host else host
    if secure and port == 443:
        return f"wss://{name}"
    return f"{'wss' if secure else 'ws'}://{name}:{port}"


def addresses_at(host: str | None) -> list[str]:
    """Return the addresses at which other machines can reach a server that listens on `host`.

    If `host` means all addresses, the address on the default route comes first, and IPv6 addresses are returned only if
    there are no IPv4 addresses.

    Args:
        host: As in `open_sockets`.
    """
    if host not in (None, "::", "0.0.0.0"):
        found = set()
        with contextlib.suppress(OSError, UnicodeError):
            found = {str(address[0]) for *_, address in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
        return sorted(filter(is_for_others, found))
    others = [address for address in dict.fromkeys(_own_addresses()) if is_for_others(address)]
    of_version_4 = [address for address in others if ":" not in address]
    return of_version_4 if of_version_4 or host == "0.0.0.0" else others


def is_for_others(host: str) -> bool:
    """Return False for a loopback or link-local address, which other machines cannot use.

    >>> [is_for_others(host) for host in ("10.0.0.7", "example.org", "localhost", "127.0.0.1", "fe80::1")]
    [True, True, False, False, False]
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host != "localhost"
    return not (address.is_loopback or address.is_link_local)


def _own_addresses() -> Iterator[str]:
    for family, target in _UNROUTED:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(target)
            yield str(probe.getsockname()[0])
    with contextlib.suppress(OSError):  # a sandbox may forbid it
        for adapter in ifaddr.get_adapters():
            for found in adapter.ips:
                yield found.ip if isinstance(found.ip, str) else found.ip[0]


class Links:
    """The URLs of a server."""

    def __init__(self, host: str | None, port: int, certificate: Certificate | None, *, has_page: bool) -> None:
        self.is_open = host in (None, "0.0.0.0", "::")
        self._host = host
        self._port = port
        self._names = () if certificate is None else certificate.names
        self._is_secure = certificate is not None
        self._has_page = has_page

    @property
    def url(self) -> str:
        """The WebSocket URL on this machine; with TLS, its host is a name in the certificate."""
        host = None if self.is_open else self._host
        if self._names and (host or "localhost") not in self._names:
            host = self._names[0]
        return url_of(host, self._port, secure=self._is_secure)

    @property
    def for_people(self) -> str:
        """The URL to show to people: for browsers if the page is enabled, otherwise the WebSocket URL."""
        return self._link_of(self.url)

    def for_others(self) -> list[str]:
        """Return URLs for people on other machines, best first, or an empty list unless `is_open`.

        Their hosts are the machine's addresses or, with TLS, a name in the certificate.
        """
        if not self.is_open:
            return []
        hosts = [*filter(is_for_others, self._names)][:1] if self._is_secure else addresses_at(self._host)
        return [self._link_of(url_of(name, self._port, secure=self._is_secure)) for name in hosts]

    def _link_of(self, url: str) -> str:
        return f"http{url.removeprefix('ws')}" if self._has_page else url


async def announce(host: str | None, port: int, *, name: str | None = None, tls_name: str | None = None) -> None:
    """Announce a server on the local network until cancelled.

    A server that only this machine can reach is not announced. A failure, such as missing multicast, is logged.

    Args:
        host: Where the server listens, as in `open_sockets`.
        name: The name in the announcement; by default the name of this machine.
        tls_name: A name in the certificate; None without TLS.
    """
    addresses = addresses_at(host)
    if not addresses:
        return
    from zeroconf import Error
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

    machine = re.sub(r"[^a-z0-9]+", "-", socket.gethostname().lower()).strip("-")[:40] or "server"
    try:
        zeroconf = AsyncZeroconf()
        try:
            await zeroconf.zeroconf.async_wait_for_start()
            info = AsyncServiceInfo(
                SERVICE_TYPE,
                f"{fit_name(name or socket.gethostname())}.{SERVICE_TYPE}",
                port=port,
                parsed_addresses=addresses,
                properties={"v": str(PROTOCOL_VERSION)} | ({} if tls_name is None else {"tls": tls_name}),
                server=f"tictactoe-{machine}-{port}.local.",
            )
            await (await zeroconf.async_register_service(info, allow_name_change=True))
            log.info("announced on the local network", name=info.get_name())
            await asyncio.Event().wait()
        finally:
            closing = asyncio.ensure_future(zeroconf.async_close())
            while not closing.done():  # a second cancellation must not leave sockets open
                with contextlib.suppress(asyncio.CancelledError, OSError):
                    await asyncio.shield(closing)
            zeroconf.zeroconf.engine.close()  # in case `closing` was cancelled because the event loop ends
    except (OSError, Error) as error:
        log.info("not announced on the local network", reason=str(error) or type(error).__name__)


def fit_name(name: str) -> str:
    """Return a name without control characters, short enough for DNS even with a number appended.

    >>> fit_name("  Class 4b\\x1b[31m. "), len(fit_name("ä" * 99).encode())
    ('Class 4b[31m.', 58)
    """
    cut = clean_text(name).strip().encode()[:_MAX_NAME_BYTES]
    return cut.decode(errors="ignore").strip() or "tictactoe"
