"""POST requests to addresses that players choose.

A player must not make the server reach what the player cannot reach: the address that a host's name resolves to is
checked, and the connection is made to this very address. Redirects are not followed.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final, NamedTuple

import structlog
from click import BadParameter

TIMEOUT_SECONDS: Final = 5.0  # for everything, from the look-up of the name to the status
_URL: Final = re.compile(
    r"https://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?(/[\w.~!$&'()*+,;=:@%/?-]*)?", re.ASCII | re.IGNORECASE
)
_NAT64: Final = IPv6Network("64:ff9b::/96")  # the last 32 bits are the IPv4 address that is reached

log: Final = structlog.get_logger(__name__)


class Target(NamedTuple):
    """The parts of an https URL. The path includes the query."""

    host: str
    port: int
    path: str

    @property
    def place(self) -> str:
        return self.host if self.port == 443 else f"{self.host}:{self.port}"


def parse_target(url: str) -> Target | None:
    """Return the parts of an https URL, or None if it is malformed, or has credentials or a fragment."""
    found = _URL.fullmatch(url)
    port = int(found[2] or 443) if found else 0
    return Target(found[1].lower(), port, found[3] or "/") if found and 0 < port < 65_536 else None


def parse_hosts(text: str) -> tuple[str, ...]:
    """Return the hosts in a list separated by commas, in the form of `Target.place`. May raise `BadParameter`."""
    targets = [parse_target(f"https://{host.strip()}") for host in text.split(",")]
    found = tuple(target.place for target in targets if target is not None and target.path == "/")
    if len(found) != len(targets):
        raise BadParameter(f"{text!r} is not a list of hosts such as discord.com,chat.example:8443.")
    return found


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return True if an address belongs to a host in the public internet."""
    if isinstance(address, IPv6Address):
        inner = IPv4Address(int(address) & 0xFFFF_FFFF) if address in _NAT64 else address.ipv4_mapped
        if inner is not None:
            return is_public(inner)
        if address.sixtofour or address.is_site_local:
            return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host. May raise OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


class HttpsPoster:
    """Sends POST requests to public addresses, and to addresses that the operator has listed.

    Args:
        hosts: The listed hosts and addresses, in the form of `Target.place`.
        context: Checks certificates, by default against the machine's authorities.
    """

    def __init__(
        self,
        hosts: Collection[str] = (),
        resolve: Callable[[str, int], Awaitable[list[str]]] = resolve,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self.hosts = frozenset(hosts)
        self._resolve, self._given_context = resolve, context

    @cached_property
    def _context(self) -> ssl.SSLContext:
        return self._given_context or ssl.create_default_context()

    async def post(self, target: Target, body: bytes, fields: dict[str, str]) -> int:
        """Send a request and return the status of the response, or 0 without a response."""
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                return await self._post(target, body, fields)
        except (OSError, TimeoutError, ValueError, IndexError) as error:
            log.info("message not sent", host=target.host, reason=str(error) or type(error).__name__)
            return 0

    async def _post(self, target: Target, body: bytes, fields: dict[str, str]) -> int:
        host, port = target.host.strip("[]"), target.port
        addresses = await self._resolve(host, port)
        address = next((address for address in addresses if self._may_reach(address, target)), None)
        if address is None:
            raise ValueError("no public address")
        # A second look-up of the name could give another address than the checked one.
        reader, writer = await asyncio.open_connection(address, port, ssl=self._context, server_hostname=host)
        try:
            fields = {"Host": target.place, **fields, "Content-Length": str(len(body)), "Connection": "close"}
            lines = [f"POST {target.path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
            writer.write("\r\n".join([*lines, "\r\n"]).encode() + body)
            return int((await reader.readline()).split()[1])
        finally:
            writer.transport.abort()

    def _may_reach(self, address: str, target: Target) -> bool:
        names = address, f"[{address}]"
        listed = (*names, *(target._replace(host=name).place for name in names))
        return is_public(ip_address(address)) or not self.hosts.isdisjoint(listed)
