"""Under which address others reach the server that we reach: never ``localhost``, where there is a better one.

And the way back: which addresses mean this very machine, and so the same server.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from tictactoe_client.online.address import Address

_PROBE_SECONDS = 0.5
_UNROUTED = (("192.0.2.1", socket.AF_INET), ("2001:db8::1", socket.AF_INET6))
"""Documentation addresses (RFC 5737, RFC 3849): asking for the way there names our own address and sends nothing."""


def reachable_address(address: Address) -> Address:
    """Return the address for others: where the server is this very machine, the machine's own on its network.

    Not where the server does not answer there, as one that listens on the loopback alone, nor with TLS, whose
    certificate is for names.
    """
    own = next(iter(own_addresses()), None) if address.is_loopback and address.scheme == "ws" else None
    if own is None or not _answers(own, address.port or 80):
        return address
    return replace(address, host=own)


def is_this_machine(address: Address) -> bool:
    """Tell whether an address means this machine, by the loopback or by an address of its own on its networks."""
    return address.is_loopback or address.host in own_addresses()


def is_same_server(one: Address, other: Address) -> bool:
    """Tell whether two addresses lead to one server: equal but for how they name this machine."""
    if (one.scheme, one.port, one.path) != (other.scheme, other.port, other.path):
        return False
    return one.host.lower() == other.host.lower() or (is_this_machine(one) and is_this_machine(other))


@lru_cache(maxsize=8)
def _answers(host: str, port: int) -> bool:
    """Tell whether somebody listens at an address of this machine; that is known at once."""
    try:
        with socket.create_connection((host, port), _PROBE_SECONDS):
            return True
    except OSError:
        return False


@lru_cache(maxsize=1)
def own_addresses() -> tuple[str, ...]:
    """Return this machine's own addresses on its networks, that of the way to the internet first, IPv4 before IPv6."""
    found = [address for address in (*_routed_addresses(), *_addresses_of_interfaces()) if not _stays_here(address)]
    return tuple(sorted(dict.fromkeys(found), key=lambda address: ":" in address))


def _stays_here(address: str) -> bool:
    """Tell whether an address means each machine, or each link, itself."""
    return address.startswith(("127.", "169.254.", "fe80:")) or address == "::1"


def _routed_addresses() -> Iterator[str]:
    for target, family in _UNROUTED:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((target, 9))
            yield str(probe.getsockname()[0])


def _addresses_of_interfaces() -> Iterator[str]:
    """Yield what the operating system says, or nothing where it does not."""
    import ifaddr

    with contextlib.suppress(OSError):
        for adapter in ifaddr.get_adapters():
            for found in adapter.ips:
                yield found.ip if isinstance(found.ip, str) else found.ip[0]
