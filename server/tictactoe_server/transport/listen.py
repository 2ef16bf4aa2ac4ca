"""Sockets to listen on, and the addresses that people are told."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
from collections.abc import Iterator
from typing import Final

import ifaddr

_UNROUTED: Final = ((socket.AF_INET, ("192.0.2.1", 9)), (socket.AF_INET6, ("2001:db8::1", 9)))
"""Addresses for documentation (RFC 5737, RFC 3849): asking for the way there names our own and sends nothing."""


class CannotListen(Exception):
    """The address cannot be listened on; the message is one line for the operator."""


def open_sockets(host: str | None, port: int) -> list[socket.socket]:
    """Return listening sockets, all on one port; host None means all addresses, IPv4 and IPv6.

    Raises `CannotListen` for a taken port, a host that is not ours or one that does not resolve.
    """
    where = f"port {port}" if host is None else f"{host}, port {port}"
    try:
        found = [] if host is None else socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise CannotListen(f'Cannot find the host "{host}": {_reason(error)}.') from None
    sockets: list[socket.socket] = []
    try:
        if host is None:
            sockets.append(_open_on_all(port))
        for family, address in dict.fromkeys((family, address) for family, *_, address in found):
            chosen = sockets[0].getsockname()[1] if sockets else port
            sockets.append(socket.create_server((str(address[0]), chosen), family=family))
    except OSError as error:
        for opened in sockets:
            opened.close()
        raise CannotListen(f"Cannot listen on {where}: {_reason(error)}.") from None
    for opened in sockets:  # asyncio sets this itself only on sockets that were made with an explicit protocol number
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sockets


def url_of(host: str | None, port: int, *, secure: bool = False) -> str:
    """Return the URL of a host and a port, of this very machine where `host` is None; `secure` is with TLS.

    >>> url_of(None, 8765), url_of("::1", 80), url_of("example.org", 443, secure=True)
    ('ws://localhost:8765', 'ws://[::1]:80', 'wss://example.org')
    """
    name = "localhost" if host is None else f"[{host}]" if ":" in host else host
    if secure and port == 443:
        return f"wss://{name}"
    return f"{'wss' if secure else 'ws'}://{name}:{port}"


def addresses_for_others() -> list[str]:
    """Return this machine's own addresses on its networks, that of the way to the internet first.

    Those of IPv6 are only there where it has no other; empty where it is on no network.
    """
    others = [address for address in dict.fromkeys(_own_addresses()) if is_for_others(address)]
    return [address for address in others if ":" not in address] or others


def addresses_at(host: str | None) -> list[str]:
    """Return the addresses under which others reach what listens on a host, None for all; none on the loopback."""
    if host in (None, "::"):
        return addresses_for_others()
    if host == "0.0.0.0":
        return [address for address in addresses_for_others() if ":" not in address]
    with contextlib.suppress(OSError, UnicodeError):
        found = {str(address[0]) for *_, address in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
        return sorted(address for address in found if is_for_others(address))
    return []


def is_for_others(host: str) -> bool:
    """Tell whether a host or address may lead here from elsewhere: not where it means each machine or link itself.

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
    with contextlib.suppress(OSError):  # a sandbox may keep the operating system from saying it
        for adapter in ifaddr.get_adapters():
            for found in adapter.ips:
                yield found.ip if isinstance(found.ip, str) else found.ip[0]


def _open_on_all(port: int) -> socket.socket:
    if socket.has_dualstack_ipv6():
        with contextlib.suppress(OSError):
            return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and not isinstance(error, socket.gaierror) and error.errno:
        return os.strerror(error.errno).lower()
    return (getattr(error, "strerror", None) or str(error)).lower()
