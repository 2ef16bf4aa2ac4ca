"""The servers of one cluster, at each of which one is the same player: their addresses, and which to try first."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from tictactoe_client.online.address import DEFAULT_SERVER, Address, is_same_server, parse_address, parse_url
from tictactoe_client.online.errors import BadAddress

_MOST_SERVERS: Final = 64
"""How many servers of a cluster are taken from one that names more, and are known besides those that were given."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The addresses of servers that know the same players, at least one, in the order in which they are to be tried.

    `named` are those that a server has named. All others were given by a person.
    """

    addresses: tuple[Address, ...]
    named: tuple[Address, ...] = ()

    @property
    def first(self) -> Address:
        """Where to try first."""
        return self.addresses[0]

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses as URLs."""
        return tuple(address.url for address in self.addresses)

    @property
    def given(self) -> Cluster:
        """The cluster as it was given: links name its first address, and tokens of before are for these alone."""
        return Cluster(tuple(address for address in self.addresses if address not in self.named))

    def has(self, address: Address) -> bool:
        """Tell whether an address leads to one of these servers."""
        return any(is_same_server(address, own) for own in self.addresses)

    def starting_at(self, address: Address) -> Cluster:
        """Return the cluster with this address first and the others after it in a ring; a stranger's is its own."""
        own = self.addresses
        same = [one for one in own if one == address] or [one for one in own if is_same_server(address, one)]
        first = own.index(same[0]) if same else 0
        return replace(self, addresses=(*own[first:], *own[:first])) if same else Cluster((address,))

    def seen_from(self, address: Address, servers: Sequence[Address]) -> Cluster:
        """Return the cluster beginning with the address that one is at, with the servers that are named there.

        Those that were named before come behind them: one that is down for a moment is not named then.
        """
        given = self.given.addresses
        found = dict.fromkeys((address, *servers, *(self.named if servers else ())))
        named = tuple(one for one in found if not any(is_same_server(one, own) for own in given))[:_MOST_SERVERS]
        return Cluster((*given, *named), named).starting_at(address)


def parse_cluster(given: str | Address | Cluster | Sequence[str | Address] | None = None) -> Cluster:
    """Return the cluster of these addresses, in a text with commas between, else the default; raises `BadAddress`."""
    if isinstance(given, Cluster):
        return given
    if isinstance(given, str) and given:
        given = [word for word in given.split(",") if word.strip()] or (given,)
    addresses = (given,) if isinstance(given, Address) else given or (DEFAULT_SERVER,)
    return Cluster(tuple(dict.fromkeys(one if isinstance(one, Address) else parse_address(one) for one in addresses)))


def parse_servers(urls: Iterable[str], named_by: Address) -> tuple[Address, ...]:
    """Return the servers of a cluster, as the one at `named_by` names them; what is no address is passed over.

    So are addresses without TLS where the one that names them has it.
    """
    found: list[Address] = []
    for url in islice(urls, _MOST_SERVERS):
        with contextlib.suppress(BadAddress):
            found.append(parse_url(url))
    return tuple(one for one in dict.fromkeys(found) if named_by.may_lead_to(one))


def find_server(url: str, servers: Sequence[Address]) -> Address | None:
    """Return which of these servers is meant by a URL, or None."""
    try:
        wanted = parse_url(url)
    except BadAddress:
        return None
    return next((one for one in servers if is_same_server(one, wanted)), None)
