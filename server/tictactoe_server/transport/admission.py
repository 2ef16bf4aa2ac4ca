"""Admission of connections: limits in total and per address, trusted proxies, and the origins of pages.

Source of the PROXY protocol's text header, version 1: haproxy's "The PROXY protocol, versions 1 & 2", section 2.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit

import structlog

from tictactoe_server import clock
from tictactoe_server.settings import Limits
from tictactoe_server.transport.fair_queue import FairQueue
from tictactoe_server.transport.http_messages import METERED, Answer, BadRequest, HttpRequest
from tictactoe_server.transport.listen import is_for_others
from tictactoe_server.transport.rate_limit import Held, RateLimit, RateLimits

_FOR_OTHERS: Final = "that it speaks for others"
TOO_MANY_WORDS: Final = "Too many connections: try again later."
_LOG_MS: Final = 60_000
_LOCAL_ENDINGS: Final = (
    *(".localhost", ".local", ".home.arpa"),
    *(".corp", ".home", ".internal", ".intranet", ".lan", ".private"),
)
"""Endings of names that the public DNS does not resolve: RFC 6761, 6762 and 8375, and those that private networks use
(RFC 6762, appendix G)."""
_PROXY: Final = b"PROXY "
_MAX_PROXY_BYTES: Final = 107

log: Final = structlog.get_logger(__name__)


class Admission:
    """Counts connections in total and by address, and decides which are accepted.

    Attributes:
        of_address: The open connections by the key of their address, the longest idle ones first; an idle one has a
            function that closes it in favour of another.
        unready: Returns why load balancers should avoid this server, or None.
        describe_ban: Returns the message for a banned address, or None.
        links_for_others: Returns the URLs by which other machines reach this server, best first.
        sign_on: The header in which trusted proxies name the signed-on person, or "".
        names: The host names of the server, by which its own pages may connect; see `knows`.
    """

    def __init__(
        self,
        limits: Limits,
        origins: Sequence[str] = (),
        proxies: Sequence[IPv4Network | IPv6Network] = (),
        monotonic_ns: Callable[[], int] = clock.monotonic_ns,
        *,
        names: Iterable[str | None] = (),
        pages: Answer | None = None,
        unready: Callable[[], str | None] = lambda: None,
        is_late: Callable[[], bool] = lambda: False,
        describe_ban: Callable[[str], str | None] = lambda address: None,
        links_for_others: Callable[[], Sequence[str]] = tuple,
        sign_on: str | None = None,
    ) -> None:
        self.pages = pages
        self.unready = unready
        self.is_late = is_late
        self.describe_ban = describe_ban
        self.links_for_others = links_for_others
        self._limits = limits
        named = partial(RateLimits.named, limits, monotonic_ns)
        self.newcomers = named("connections-per-minute-per-address")
        self.requests = named("requests-per-minute-per-address")
        self.answers = named("answer-megabytes-per-minute-per-address")
        self.queue = FairQueue()
        self._origins = frozenset(origin.rstrip("/").lower() for origin in origins)
        self.names = {urlsplit(origin).hostname or "" for origin in self._origins}
        self.names |= {name.lower() for name in names if name}
        self._proxies = tuple(proxies)
        self.of_address = Held(limits, "connections-per-address")
        self._turned_away: Counter[str] = Counter()
        self._log_lines = RateLimit(1, _LOG_MS, monotonic_ns)
        self.sign_on = (sign_on or "").lower()
        self._warned_of = set[str]()
        self.connections = self.accepted = 0
        self.refused: Counter[str] = Counter()

    # -- how many -----------------------------------------------------------------------------------------------

    def open_connection(self) -> bool:
        """Count a new connection; return False if there are too many."""
        self.connections += 1
        self.accepted += 1
        limit = self._limits.connections
        return not limit or self.connections <= limit or self.refuse("all", "connections")

    def open_address(self, key: str, peer: object) -> bool:
        """Count a connection of an address, closing its longest idle one if needed; return False if refused."""
        if self.of_address.is_full(key):
            idle = next((one for one in self.of_address[key].items() if one[1]), None)
            if idle is None:
                return self.refuse(key, self.of_address.names[0])
            other, make_room = idle
            other.release()
            make_room()
        if not self.count_newcomer(key):
            return False
        self.of_address.add(key, peer)
        return True

    def count_newcomer(self, key: str) -> bool:
        """Count a new connection of an address; return False if they come too fast."""
        return not self.newcomers[key].take() or self.refuse(key, self.newcomers.names[0])

    def refuse(self, whom: str, limit: str) -> bool:
        """Count a refused connection and return False; the log mentions refusals once a minute."""
        self.refused[limit] += 1
        self._turned_away[whom] += 1
        if not self._log_lines.take():
            most, count = self._turned_away.most_common(1)[0]
            facts = {"turned_away": self._turned_away.total(), "most_from": most, "of_these": count}
            log.warning("too many connections: some were turned away", connections=self.connections, **facts)
            self._turned_away.clear()
        return False

    # -- from where ---------------------------------------------------------------------------------------------

    def is_proxy(self, address: str) -> bool:
        return address != "" and any(ip_address(address) in network for network in self._proxies)

    def client_of(self, peer: str, forwarded: Sequence[str]) -> str:
        """Return the last address in `X-Forwarded-For` that is not a trusted proxy's."""
        if forwarded and not self.is_proxy(peer):
            self.warn_of(peer, _FOR_OTHERS)
        address = peer
        for hop in reversed([one for line in forwarded for one in line.split(",")]):
            found = canonical(hop)
            if found is None or not self.is_proxy(address):
                break
            address = found
        return address

    def warn_of(self, peer: str, what: str, **facts: str) -> None:
        """Log once that an untrusted peer claims something that only trusted proxies may."""
        if what not in self._warned_of:
            self._warned_of.add(what)
            log.warning(f"a peer that is no trusted proxy says {what}", peer=peer, **facts)

    def scheme_behind_proxy(self, request: HttpRequest) -> str:
        """Return the client's scheme by `X-Forwarded-Proto` or an `--origin`; "" if unknown."""
        said = request.field("x-forwarded-proto").lower().rpartition(",")[2].strip()
        if said in ("http", "https"):
            return said
        return "https" if f"https://{request.host.lower()}" in self._origins else ""

    def address_for_others(self, request: HttpRequest) -> str:
        """Return the prefix of links to share, if the request used a name such as ``localhost``, else "".

        Behind a proxy it is "", too: only the proxy knows the public name.
        """
        if self._proxies or is_for_others(name_of(request.host)) or is_for_others(request.address):
            return ""
        return next(iter(self.links_for_others()), "")

    def allows_origin(self, request: HttpRequest) -> bool:
        """Return whether a page of this origin may open a WebSocket; requests without an origin may."""
        origin, host = request.field("origin").lower(), request.host.lower()
        if "origin" not in request.fields or origin in self._origins:
            return True
        scheme, _, place = origin.partition("://")
        return place == host != "" and scheme in (request.scheme or scheme,) and self.knows(host)

    def knows(self, host: str) -> bool:
        """Return whether a host, with or without a port, can only mean this server.

        >>> admission = Admission(Limits())
        >>> [admission.knows(host) for host in ("10.0.0.7:8765", "[::1]", "laptop", "laptop.lan:80", "play.example")]
        [True, True, True, True, False]
        """
        name = name_of(host).rstrip(".").lower()
        return bool(name) and (
            name in self.names or canonical(name) is not None or "." not in name or name.endswith(_LOCAL_ENDINGS)
        )


class RemotePeer:
    """A connected peer and its place in the counts.

    Attributes:
        address: The address of the peer, or of the client behind a trusted proxy; "" until it is known.
    """

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        self.address = self._key = self._proxy = ""
        self._is_accepted = self._is_admitted = self._is_proxied = self._has_asked = False

    def accept(self, address: str) -> bool:
        """Count an accepted peer; return False if it must be disconnected."""
        self.address, self._is_accepted = address, True
        self._is_proxied = self.admission.is_proxy(address)
        return self.admission.open_connection() and (self._is_proxied or self._admit(address))

    def read_proxy_header(self, data: bytes) -> bytes | None:
        """Consume a PROXY header; return the bytes after it, None while it is incomplete. Raises `BadRequest`."""
        if self._is_admitted:
            if data.startswith(_PROXY):
                self.admission.warn_of(self.address, _FOR_OTHERS)
            return data
        found = read_proxy_header(data)
        if found is None:
            return None
        client, end = found
        if end:
            _check(self._admit(client or self.address))
        return data[end:]

    def sign(self, request: HttpRequest, *, is_tls: bool) -> HttpRequest:
        """Return the request with its scheme and the client's address; raises `BadRequest`."""
        forwarded = request.fields.get("x-forwarded-for", ())
        if self._is_admitted and not self._proxy:
            self.admission.client_of(self.address, forwarded)  # warns of one that is not trusted
        else:  # each request may come from another client
            self._proxy = self._proxy or self.address
            client = self.admission.client_of(self._proxy, forwarded)
            if client != self.address:
                self.release()
            if not self._is_admitted:
                _check(self._admit(client))
        if request.asks_for_websocket and self._has_asked:  # `count_request` gave back the count of a new connection
            _check(self.admission.count_newcomer(self._key))
        scheme = "https" if is_tls else self.admission.scheme_behind_proxy(request) if self._is_proxied else "http"
        return replace(request, scheme=scheme, address=self.address)

    def signed_on(self, request: HttpRequest) -> str | None:
        """Return the name under which a trusted proxy has signed on the sender of a request, or None; see `sign`.

        Proxies that only speak the PROXY protocol are not trusted with names: they pass on their clients' headers.
        Names are UTF-8, although headers are read as Latin-1. Several names are joined to an invalid one.
        """
        said = [name for name in request.fields.get(self.admission.sign_on, ()) if name.strip()]
        if said and not (self._is_proxied and self._proxy):
            self.admission.warn_of(self.address, "whom it has signed on", header=self.admission.sign_on)
            return None
        name = ", ".join(said).strip()
        with suppress(UnicodeDecodeError):
            name = name.encode("latin-1").decode()
        return name or None

    def close(self) -> None:
        """Stop counting this peer; idempotent."""
        self.release()
        if self._is_accepted:
            self._is_accepted = False
            self.admission.connections -= 1

    def release(self) -> None:
        if self._is_admitted:
            self._is_admitted = False
            self.admission.of_address.discard(self._key, self)

    def count_request(self, path: str) -> int:
        """Count a request of plain HTTP and return 0, or return the ms to wait.

        From its first request on, a connection is counted by its requests instead of as a new connection.
        """
        limit = self.admission.requests
        wait = limit[self._key].take()
        if not wait and path.startswith(METERED):
            limit = self.admission.answers
            wait = limit[self._key].wait()
        if wait:
            self.admission.refused[limit.names[0]] += 1
        elif not self._has_asked:
            self._has_asked = True
            self.admission.newcomers[self._key].give_back()
        return wait

    def count_answer(self, path: str, size: int) -> None:
        if path.startswith(METERED):
            self.admission.answers[self._key].spend(size)

    def idle(self, make_room: Callable[[], None]) -> None:
        """Let `make_room` close this idle connection in favour of another from its address, until `busy` is called."""
        if self._is_admitted:
            self.admission.of_address.discard(self._key, self)  # so that it is added behind longer idle ones
            self.admission.of_address.add(self._key, self, make_room)

    def busy(self) -> None:
        if self._is_admitted:
            self.admission.of_address.add(self._key, self)

    def _admit(self, address: str) -> bool:
        self.address, self._key, self._has_asked = address, key_of(address), False
        self._is_admitted = self.admission.open_address(self._key, self)
        return self._is_admitted


def _check(has_room: bool) -> None:
    if not has_room:
        raise BadRequest(TOO_MANY_WORDS, HTTPStatus.SERVICE_UNAVAILABLE)


def read_proxy_header(data: bytes) -> tuple[str | None, int] | None:
    """Read a header of the PROXY protocol, version 1, at the start of a connection.

    Returns:
        The client's address, None if the proxy speaks for itself, and the header's length, 0 if there is no header.
        None while the header is incomplete.

    Raises:
        BadRequest: The header is malformed.
    """
    if not data.startswith(_PROXY):
        return None if _PROXY.startswith(data) else (None, 0)
    line, end, _ = data[:_MAX_PROXY_BYTES].partition(b"\r\n")
    if not end and len(data) < _MAX_PROXY_BYTES:
        return None
    words = line.decode("latin-1").split(" ")
    if end and words[1:2] == ["UNKNOWN"]:
        return None, len(line) + 2
    address = canonical(words[2]) if len(words) == 6 and words[1] in ("TCP4", "TCP6") else None
    if not end or address is None:
        fault = "names no address" if end else "does not end"
        raise BadRequest(f"The line of the PROXY protocol {fault}.")
    return address, len(line) + 2


def name_of(host: str) -> str:
    """Return a host without its port, and an IPv6 address without its brackets."""
    return host.rpartition("]")[0].removeprefix("[") or host.partition(":")[0]


def key_of(address: str) -> str:
    """Return the key under which limits count an address: the /64 network for IPv6, as one customer has it."""
    return str(IPv6Network((address, 64), strict=False)) if ":" in address else address


def canonical(text: str) -> str | None:
    """Return an address in its canonical form, IPv4-mapped ones as IPv4; None for any other text."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        return str(parse_address(text.partition("%")[0]))
    except ValueError:
        return None


def parse_address(text: str) -> IPv4Address | IPv6Address:
    """Parse an address, an IPv4-mapped one as IPv4; raises ValueError."""
    address = ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
