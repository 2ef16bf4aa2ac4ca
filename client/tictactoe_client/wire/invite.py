"""Under which address others reach the server that we reach: never ``localhost``, where there is a better one.

And the way back: which addresses mean this very machine, and so the same server.
"""

from __future__ import annotations

import contextlib
import socket
from dataclasses import replace
from functools import lru_cache

from tictactoe_client.wire.address import Address

_PROBE_SECONDS = 0.5
_UNROUTED = (("192.0.2.1", socket.AF_INET), ("2001:db8::1", socket.AF_INET6))
"""Documentation addresses (RFC 5737, RFC 3849): asking for the way there names our own address and sends nothing."""


def reachable_address(address: Address) -> Address:
    """Return the address for others: where the server is this very machine, the machine's own on its network.

    Not where the server does not answer there, as one that listens on the loopback alone.
    """
    own = own_address() if address.is_loopback else None
    if own is None or not _answers(own, address.port or 80):
        return address
    return replace(address, host=own)


def is_this_machine(address: Address) -> bool:
    """Tell whether an address means this machine, by the loopback or by its own address on its network."""
    return address.is_loopback or address.host == own_address()


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
def own_address() -> str | None:
    """Return this machine's own address on its network, or None where it has none."""
    for target, family in _UNROUTED:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((target, 9))
            found = str(probe.getsockname()[0])
            if not found.startswith(("127.", "::1", "fe80:")):
                return found
    return None
