"""Who may come in: how many at once and from one address, for whom proxies speak, and pages of which origins."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit

import structlog

from tictactoe_server.settings import Limits
from tictactoe_server.transport.listen import is_for_others
from tictactoe_server.transport.plain import Answer, Request
from tictactoe_server.transport.rate_limit import RateLimits
from tictactoe_server.transport.turns import Turns

MAX_TURNED_AWAY: Final = 64
"""How many of those who were turned away may take their time to hear so."""

_LOG_SECONDS: Final = 60.0
_MINUTE_MS: Final = 60_000
_IPV6_PREFIX: Final = 64
_LOCAL_ENDINGS: Final = (
    *(".localhost", ".local", ".home.arpa"),
    *(".corp", ".home", ".internal", ".intranet", ".lan", ".private"),
)
"""Of names that nobody can bind to an address in the world's DNS: RFC 6761, 6762 and 8375, and those that networks of
homes and companies use without being given them (RFC 6762, appendix G), which the root of the DNS does not have."""

log: Final = structlog.get_logger(__name__)


class Door:
    """Counts who is inside: a connection is one of all from the beginning, and of its address once that is known.

    `accepted` counts all that ever came. `unready` returns why nobody had better be sent here now, `describe_ban` what
    one from a banned address is told, each None for nothing; `pages` answers what is asked for in plain HTTP, None
    where nothing is. `links_for_others` returns how people on other machines may come here, the best way first. What
    those ask who are not let in yet waits for its `turns`. Own pages are those of `origins`, of the `names` of a
    certificate, of those by which this machine is known in its network, and of addresses and names that nobody far away
    could give to this machine.
    """

    def __init__(
        self,
        limits: Limits,
        origins: Sequence[str] = (),
        proxies: Sequence[IPv4Network | IPv6Network] = (),
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._limits = limits
        comers = limits.connections_per_minute_per_address
        at_once = max(1, limits.connections_at_once_per_address) if comers else 0
        self.comers = RateLimits(at_once, _MINUTE_MS * at_once / max(1, comers), monotonic_ns)
        self.requests = RateLimits(limits.requests_per_minute_per_address, _MINUTE_MS, monotonic_ns)
        self.turns = Turns()
        self._resting: dict[str, dict[object, Callable[[], None]]] = {}
        self._origins = frozenset(origin.rstrip("/").lower() for origin in origins)
        self.names = {urlsplit(origin).hostname or "" for origin in self._origins}
        self._machine_names: frozenset[str] = frozenset()
        self._proxies = tuple(proxies)
        self._inside: Counter[str] = Counter()
        self._turned_away: Counter[str] = Counter()
        self._told_at = float("-inf")
        self._has_told_of_proxy = False
        self.connections = self.accepted = 0
        self.refused: Counter[str] = Counter()
        self.describe_ban: Callable[[str], str | None] = lambda address: None
        self.unready: Callable[[], str | None] = lambda: None
        self.pages: Answer | None = None
        self.links_for_others: Callable[[], Sequence[str]] = tuple

    @property
    def most_of_one_address(self) -> int:
        """How many connections come from the address from which most come."""
        return max(self._inside.values(), default=0)

    @property
    def addresses(self) -> int:
        """From how many addresses people are here."""
        return len(self._inside)

    # -- how many -----------------------------------------------------------------------------------------------

    def come(self) -> bool:
        """Count one more connection, and tell whether it is not one too many."""
        self.connections += 1
        self.accepted += 1
        limit = self._limits.connections
        return not limit or self.connections <= limit or self._refuse("all", "connections")

    def go(self) -> None:
        """Count one connection less."""
        self.connections -= 1

    def enter(self, address: str) -> bool:
        """Count one more of an address, if that is not one too many; who fetched the page and rests makes room."""
        key, limit = key_of(address), self._limits.connections_per_address
        if limit and self._inside[key] >= limit:
            resting = self._resting.get(key)
            if not resting:
                return self._refuse(key, "connections-per-address")
            next(iter(resting.values()))()
        if not self.count_comer(address):
            return False
        self._inside[key] += 1
        return True

    def count_comer(self, address: str) -> bool:
        """Count a new connection of an address, if these do not come too often."""
        key = key_of(address)
        return not self.comers.of(key).take() or self._refuse(key, "connections-per-minute-per-address")

    def uncount_comer(self, address: str) -> None:
        """Count a connection as a new one no more, since its requests count."""
        self.comers.of(key_of(address)).give_back()

    def count_request(self, address: str) -> int:
        """Count a request of plain HTTP and return 0, or return how many ms to wait."""
        wait = self.requests.of(key_of(address)).take()
        if wait:
            self.refused["requests-per-minute-per-address"] += 1
        return wait

    def rest(self, address: str, who: object, make_room: Callable[[], None]) -> None:
        """Take notice that a connection asks for nothing now, and goes when `make_room` is called."""
        self._resting.setdefault(key_of(address), {})[who] = make_room

    def wake(self, address: str, who: object) -> None:
        """Take notice that it asks again, or is gone."""
        resting = self._resting.get(key := key_of(address))
        if resting is not None and resting.pop(who, None) is not None and not resting:
            del self._resting[key]

    def leave(self, address: str) -> None:
        """Count one less of an address."""
        key = key_of(address)
        self._inside[key] -= 1
        if not self._inside[key]:
            del self._inside[key]

    def _refuse(self, whom: str, limit: str) -> bool:
        """Take note of one too many, and say so in the log once a minute; returns False."""
        self.refused[limit] += 1
        self._turned_away[whom] += 1
        now = time.monotonic()
        if now - self._told_at > _LOG_SECONDS:
            self._told_at = now
            most, count = self._turned_away.most_common(1)[0]
            log.warning(
                "too many connections: some were turned away",
                connections=self.connections,
                turned_away=self._turned_away.total(),
                most_from=most,
                of_these=count,
            )
            self._turned_away.clear()
        return False

    def may_linger(self) -> bool:
        """Tell whether one who is turned away may stay for a moment, so that the reason surely arrives."""
        limit = self._limits.connections
        return not limit or self.connections <= limit + MAX_TURNED_AWAY

    # -- from where ---------------------------------------------------------------------------------------------

    def is_proxy(self, address: str) -> bool:
        """Tell whether a peer is believed when it says for whom it speaks."""
        return bool(self._proxies) and _is_in(address, self._proxies)

    def speaker(self, peer: str, forwarded: Sequence[str]) -> str:
        """Return for whom a peer speaks by the lines of `X-Forwarded-For`: the last address that is no proxy's."""
        if not forwarded:
            return peer
        if not self.is_proxy(peer):
            self.tell_of_stranger(peer)
            return peer
        address = peer
        for hop in reversed([one.strip() for line in forwarded for one in line.split(",")]):
            found = canonical(hop)
            if found is None:
                break
            address = found
            if not self.is_proxy(address):
                break
        return address

    def tell_of_stranger(self, peer: str) -> None:
        """Say once in the log that somebody speaks for others who is not trusted to."""
        if not self._has_told_of_proxy:
            self._has_told_of_proxy = True
            log.warning("a peer that is no trusted proxy says that it speaks for others", peer=peer)

    def scheme_of(self, host: str, forwarded: str, *, is_proxied: bool, is_tls: bool) -> str:
        """Return how a peer speaks, by the `X-Forwarded-Proto` of a proxy that is believed; empty where unknown.

        A proxy that does not say it speaks TLS under a host that is one of the origins with https.
        """
        if is_tls:
            return "https"
        if not is_proxied:
            return "http"
        said = forwarded.lower().rpartition(",")[2].strip()
        if said in ("http", "https"):
            return said
        return "https" if f"https://{host.lower()}" in self._origins else ""

    def address_for_others(self, request: Request) -> str:
        """Return what a link for others begins with where it may not begin as the one that was asked for, else nothing.

        That is for one who sits at this machine and calls it by a name that means each machine itself. Behind a proxy
        only the proxy knows by what name others come.
        """
        if self._proxies or is_for_others(request.host_name) or is_for_others(request.address):
            return ""
        return next(iter(self.links_for_others()), "")

    def welcomes(self, request: Request) -> bool:
        """Tell whether the page that asks for a WebSocket may have one; what names no page may.

        A name that somebody else has bound to this server's address is nobody's own origin.
        """
        origin, host = request.field("origin").lower(), request.host.lower()
        if "origin" not in request.fields or origin in self._origins:
            return True
        scheme, _, place = origin.partition("://")
        return place == host != "" and scheme in (request.scheme or scheme,) and self.knows(host)

    def learn_names(self, names: frozenset[str]) -> None:
        """Know this machine by these names from now on; may be called in any thread."""
        self._machine_names = names

    def knows(self, host: str) -> bool:
        """Tell whether a host, with its port or without, can only mean this server.

        >>> door = Door(Limits())
        >>> [door.knows(host) for host in ("10.0.0.7:8765", "[::1]", "laptop", "laptop.lan:80", "play.example")]
        [True, True, True, True, False]
        """
        name = host.rpartition("]")[0].removeprefix("[") or host.partition(":")[0].rstrip(".").lower()
        return bool(name) and (
            name in self.names
            or name in self._machine_names
            or canonical(name) is not None
            or "." not in name
            or name.endswith(_LOCAL_ENDINGS)
        )


def key_of(address: str) -> str:
    """Return by what the limits know an address: an IPv6 network of 64 bits, as one customer has, counts as one."""
    if ":" not in address:
        return address
    return str(IPv6Network((int(IPv6Address(address)) >> _IPV6_PREFIX << _IPV6_PREFIX, _IPV6_PREFIX)))


def canonical(text: str) -> str | None:
    """Return an address in its one spelling, an IPv4 one also out of an IPv6 one; None for anything else."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address: IPv4Address | IPv6Address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


def _is_in(address: str, networks: Sequence[IPv4Network | IPv6Network]) -> bool:
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in networks)
