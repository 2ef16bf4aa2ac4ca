"""Servers of the local network, found without an address by what they announce there.

Anybody on the network may announce anything: what is no address of this network, no port or no name is passed over.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from tictactoe_client.online.address import Address, parse_address
from tictactoe_client.online.connection import context_for
from tictactoe_client.online.errors import BadAddress, ClientError
from tictactoe_protocol import PROTOCOL_VERSION, SERVICE_TYPE, clean_text

if TYPE_CHECKING:
    from zeroconf import ServiceStateChange, Zeroconf
    from zeroconf.asyncio import AsyncServiceInfo

SEARCH_SECONDS: Final = 2.0
"""For how long it is listened where one answer is wanted: most come within a fifth of it."""
_ANSWER_SECONDS: Final = 3.0


@dataclass(frozen=True, slots=True)
class NearbyServer:
    """A server that announces itself; its name is for people, and nothing to rely on."""

    name: str
    address: Address


async def find_nearby(seconds: float = SEARCH_SECONDS) -> tuple[NearbyServer, ...]:
    """Return the servers that have announced themselves within this time."""
    found: tuple[NearbyServer, ...] = ()

    def take(servers: tuple[NearbyServer, ...]) -> None:
        nonlocal found
        found = servers

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await follow_nearby(take)
    return found


async def follow_nearby(changed: Callable[[tuple[NearbyServer, ...]], object]) -> None:
    """Tell which servers there are now, by their names, whenever these may be others, until this is cancelled.

    Where there is no multicast nobody is found, and nothing raises.
    """
    from zeroconf import DNSQuestionType, Error
    from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

    found: dict[str, NearbyServer | None] = {}  # what is asked after is none yet

    def note(name: str, server: NearbyServer | None) -> None:
        found[name] = server
        servers = {server for server in found.values() if server is not None}
        changed(tuple(sorted(servers, key=lambda one: (one.name.casefold(), one.address.url))))

    async def ask(zeroconf: Zeroconf, service_type: str, name: str) -> None:
        info = AsyncServiceInfo(service_type, name)
        with contextlib.suppress(OSError, Error):
            if await info.async_request(zeroconf, 1_000, DNSQuestionType.QM):
                note(name, inspect(info))
        if found.get(name) is None:
            found.pop(name, None)

    def hear(zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        """Take note of one that came, changed or went; what it says of itself must be asked for."""
        if state_change.name == "Removed":
            note(name, None)
            found.pop(name)
        elif len(found) < 50 or name in found:
            found.setdefault(name, None)
            asking.create_task(ask(zeroconf, service_type, name))

    async with asyncio.TaskGroup() as asking:
        with contextlib.suppress(OSError, Error):
            async with AsyncZeroconf() as zeroconf:
                # An answer to us alone may be taken by another program of this machine that listens at the same port.
                to_all = DNSQuestionType.QM
                AsyncServiceBrowser(zeroconf.zeroconf, [SERVICE_TYPE], handlers=[hear], question_type=to_all)
                await asyncio.Event().wait()


def inspect(info: AsyncServiceInfo) -> NearbyServer | None:
    """Return the server that an announcement is of, None for one that makes no sense or is of another protocol."""
    said = {key.decode(errors="replace"): value or b"" for key, value in info.properties.items()}
    if said.get("v", b"") != str(PROTOCOL_VERSION).encode() or not 0 < (info.port or 0) < 65536:
        return None
    host, scheme = next(filter(is_of_a_network, info.parsed_addresses()), None), "ws"
    if host is None:
        return None
    if "tls" in said:
        host, scheme = said["tls"].decode(errors="replace")[:253], "wss"
    try:
        address = parse_address(f"{scheme}://{f'[{host}]' if ':' in host else host}:{info.port}")
    except BadAddress:
        return None
    name = clean_text(info.get_name()).strip()[:40]
    return NearbyServer(name or host, address)


def is_of_a_network(address: str) -> bool:
    """Tell whether an address is one machine's on some network of ours.

    >>> [is_of_a_network(address) for address in ("192.168.1.7", "fd00::7", "127.0.0.1", "224.0.0.1", "8.8.8.8", "x")]
    [True, True, False, False, False, False]
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return ip.is_private and not (ip.is_loopback or ip.is_unspecified or ip.is_multicast or ip.is_reserved)


async def find_room(code: str, first: Address, ca: str | Path | None = None) -> Address | None:
    """Return the address of the server that has a room: `first`, or else one of the local network; None for nobody."""
    if await has_room(first, code, ca):
        return first
    found = await find_nearby()
    answers = await asyncio.gather(*(has_room(server.address, code, ca) for server in found))
    return next((server.address for server, has_it in zip(found, answers, strict=True) if has_it), None)


async def has_room(address: Address, code: str, ca: str | Path | None = None) -> bool:
    """Ask a server, maybe a stranger, for the page of a room; one that is silent or slow does not have the room."""

    port = address.port or (443 if address.scheme == "wss" else 80)
    path, host = quote(f"{address.path}/{code}", safe="/%"), urlsplit(address.url).netloc
    request = f"HEAD {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/plain\r\nConnection: close\r\n\r\n"
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            reader, writer = await asyncio.open_connection(address.host, port, ssl=context_for(address, ca))
            with contextlib.closing(writer):
                writer.write(request.encode())
                status = (await reader.readline()).split(b" ")[1:2]
    except (OSError, ValueError, ClientError):
        return False
    return status == [b"200"]
