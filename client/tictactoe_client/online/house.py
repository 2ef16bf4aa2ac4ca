"""Which addresses lead to the same rooms: those of one house, and those that mean this very machine.

A house are servers that know the same players, each at an address of its own; which ones they are only the person can
say who gives them together. A machine has several addresses too, and others reach it by some of them only.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tictactoe_client.online.address import DEFAULT_SERVER, Address, parse_address

_PROBE_SECONDS = 0.5
_UNROUTED = (("192.0.2.1", socket.AF_INET), ("2001:db8::1", socket.AF_INET6))
"""Documentation addresses (RFC 5737, RFC 3849): asking for the way there names our own address and sends nothing."""


@dataclass(frozen=True, slots=True)
class House:
    """Its addresses, at least one, in the order in which they are to be tried."""

    addresses: tuple[Address, ...]

    @property
    def first(self) -> Address:
        """Where to try first."""
        return self.addresses[0]

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses as URLs."""
        return tuple(address.url for address in self.addresses)

    def has(self, address: Address) -> bool:
        """Tell whether an address leads to one of the house's servers."""
        return any(is_same_server(address, own) for own in self.addresses)

    def led_by(self, address: Address) -> House:
        """Return the house with this address first, and the others after it in a ring; a house of its own for another.

        >>> parse_house("a,b,c").led_by(parse_address("b")).urls
        ('ws://b:8765', 'ws://c:8765', 'ws://a:8765')
        """
        own = self.addresses
        same = (
            [own.index(address)] if address in own else [n for n, one in enumerate(own) if is_same_server(address, one)]
        )
        return House((*own[same[0] :], *own[: same[0]])) if same else House((address,))


def parse_house(text: str | None) -> House:
    """Return the house whose addresses stand in a text, with commas between; None is the default server.

    Raises `BadAddress`.

    >>> parse_house("one, wss://two").urls
    ('ws://one:8765', 'wss://two')
    """
    words = [word for word in (text or DEFAULT_SERVER).split(",") if word.strip()]
    return house_of(words or [text or ""])


def house_of(given: str | Address | House | Sequence[str | Address]) -> House:
    """Return the house that one address, or several together, make; raises `BadAddress`."""
    if isinstance(given, House):
        return given
    if isinstance(given, str | Address):
        given = (given,)
    parsed = (one if isinstance(one, Address) else parse_address(one) for one in given)
    addresses = tuple(dict.fromkeys(parsed))
    return House(addresses) if addresses else parse_house(None)


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
