"""Admission of connections: limits on connections in total and per address, trusted proxies, and page origins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit

import structlog

from tictactoe_server import clock
from tictactoe_server.fair_queue import FairQueue
from tictactoe_server.settings import Limits, Settings
from tictactoe_server.transport.http_messages import Answer, BadRequest, HttpRequest, say
from tictactoe_server.transport.rate_limit import Quota, RateLimit, RateLimits

PLAIN_REST_SECONDS: Final = 0.004  # pause between two shares for plain HTTP requests, for the sake of moves
_FOR_OTHERS: Final = "forwarded address ignored"
TOO_MANY_WORDS: Final = "Too many connections. Try again later."
_LOCAL_ENDINGS: Final = (
    *(".localhost", ".local", ".home.arpa"),
    *(".corp", ".home", ".internal", ".intranet", ".lan", ".private"),
)
"""Endings of names that the public DNS does not resolve. Source: RFC 6761, RFC 6762 with appendix G, and RFC 8375."""
_PROXY: Final = b"PROXY "
_MAX_PROXY_BYTES: Final = 107
_MAX_WARNINGS: Final = 20  # different warnings, so that origins cannot flood the log
_MAX_LOGGED: Final = 200  # characters of a header

log: Final = structlog.get_logger(__name__)


class Admission:
    """Counts connections in total and by address, and decides which connections are accepted.

    Attributes:
        answer: Answers plain HTTP requests.
        is_late: Returns True if the event loop is late.
        metered: Prefixes of the paths with large responses, whose bytes are counted against a limit.
        proxies: The networks of the trusted proxies.
        of_address: The open connections by the key of their address; the connection that has been idle longest comes
            first. The value of an idle connection is a function that closes it to make room for another.
        sign_on: The header with the user name that a trusted proxy has authenticated, or "".
        base_path: The path under which a proxy serves this server, such as ``/games``, or "".
        queue: Shares processing time fairly among addresses that open connections and send requests.
        plain_queue: Does the same for the answers to plain HTTP requests, which have longer rests.
        refused: The number of refusals by the name of the limit.
    """

    def __init__(
        self,
        limits: Limits,
        settings: Settings | None = None,
        monotonic_ns: Callable[[], int] = clock.monotonic_ns,
        *,
        names: Iterable[str | None] = (),
        answer: Answer = lambda request: say(HTTPStatus.NOT_FOUND, "Not found."),
        is_late: Callable[[], bool] = lambda: False,
        metered: tuple[str, ...] = (),
    ) -> None:
        settings = settings or Settings()
        self.answer, self.is_late, self.metered = answer, is_late, metered
        self.limits = limits
        self.sign_on = (settings.trust_header or "").lower()
        self.base_path = settings.base_path
        named = partial(RateLimits.named, limits, monotonic_ns)
        self.newcomers = named("connections-per-minute-per-address")
        self.requests = named("requests-per-minute-per-address")
        self.answers = named("answer-megabytes-per-minute-per-address")
        self.queue = FairQueue()
        self.plain_queue = FairQueue(rest=lambda: PLAIN_REST_SECONDS)
        self._origins = frozenset(origin.rstrip("/").lower() for origin in settings.origins)
        self._names = {urlsplit(origin).hostname or "" for origin in self._origins}
        self._names |= {name.lower() for name in names if name}
        self.proxies = settings.trusted_proxies
        self.of_address = Quota(_shared(limits), "connections-per-address")
        self._turned_away: Counter[str] = Counter()
        self._log_lines = RateLimit(1, 60_000, monotonic_ns)
        self._warned_of = set[tuple[str, str]]()
        self.connections = self.accepted = 0
        self.refused: Counter[str] = Counter()

    def count_newcomer(self, key: str) -> bool:
        """Count a new connection from the address with this key; return False if there were too many recently."""
        return not self.newcomers[key].consume() or self.refuse(key, self.newcomers.names[0])

    def refuse(self, whom: str, limit: str) -> bool:
        """Count a refused connection and return False. Refusals are logged at most once a minute.

        Args:
            whom: The key of the refused address, or "all".
            limit: The name of the exceeded limit.
        """
        self.refused[limit] += 1
        self._turned_away[whom] += 1
        if not self._log_lines.consume():
            most, count = self._turned_away.most_common(1)[0]
            facts = {"turned_away": self._turned_away.total(), "most_from": most, "of_these": count}
            log.warning("too many connections: some were rejected", connections=self.connections, **facts)
            self._turned_away.clear()
        return False

    def is_proxy(self, address: str) -> bool:
        return address != "" and any(ip_address(address) in network for network in self.proxies)

    def client_of(self, peer: str, forwarded: Sequence[str]) -> str:
        """Return the client's address: the last address in `X-Forwarded-For` that is no trusted proxy.

        Args:
            peer: The address of the peer, which is returned if it is no trusted proxy itself.
            forwarded: The values of the header `X-Forwarded-For`.
        """
        if forwarded and not self.is_proxy(peer):
            self.warn_of(peer, _FOR_OTHERS)
        address = peer
        for hop in reversed(",".join(forwarded).split(",")):
            found = canonical(hop)
            if found is None or not self.is_proxy(address):
                break
            address = found
        return address

    def warn_of(self, peer: str, what: str, **facts: str) -> None:
        """Log once that an untrusted peer claims something that only trusted proxies may claim."""
        self._warn_once(f"untrusted proxy: {what}", peer=peer, **facts)

    def warn_of_refusal(self, request: HttpRequest, status: int) -> None:
        """Log, once for each origin, that a proxy or a missing option may be why a WebSocket was refused."""
        origin = request.field("origin")[:_MAX_LOGGED]
        if status == HTTPStatus.UPGRADE_REQUIRED and "sec-websocket-key" in request.fields:
            self._warn_once("WebSocket refused: a proxy does not forward the headers Upgrade and Connection")
        elif status == HTTPStatus.FORBIDDEN and origin.startswith(("http://", "https://")):
            facts = {"origin": origin, "host": request.host[:_MAX_LOGGED], "to_allow_it": f"--origin {origin}"}
            self._warn_once("WebSocket refused: other origin, or a proxy that does not forward Host", origin, **facts)

    def _warn_once(self, words: str, about: str = "", **facts: str) -> None:
        if (words, about) not in self._warned_of and len(self._warned_of) < _MAX_WARNINGS:
            self._warned_of.add((words, about))
            log.warning(words, **facts)

    def scheme_behind_proxy(self, request: HttpRequest) -> str:
        """Return the client's scheme according to `X-Forwarded-Proto` or an `--origin`, or "" if it is unknown."""
        scheme = request.field("x-forwarded-proto").lower().rpartition(",")[2].strip()
        if scheme in ("http", "https"):
            return scheme
        return "https" if f"https://{request.host.lower()}" in self._origins else ""

    def allows_origin(self, request: HttpRequest) -> bool:
        """Return True if the request has no origin, or if pages from its origin may open a WebSocket."""
        origin, host = request.field("origin").lower(), request.host.lower()
        if "origin" not in request.fields or origin in self._origins:
            return True
        scheme, _, place = origin.partition("://")
        return place == host != "" and scheme in (request.scheme or scheme,) and self.knows(host)

    def below_base(self, request: HttpRequest) -> HttpRequest:
        """Return the request with `base_path` removed from its path, unless a proxy has already removed it.

        >>> paths = "/games/K7M4PQ", "/games", "/K7M4PQ", "//wall", "/gamesters"
        >>> admission = Admission(Limits(), Settings(base_path="/games"))
        >>> [admission.below_base(HttpRequest("GET", path, "", "", {})).path for path in paths]
        ['/K7M4PQ', '/', '/K7M4PQ', '/wall', '/gamesters']
        """
        base, path = self.base_path, request.path
        if not base:
            return request
        if f"{path}/".startswith(f"{base}/"):
            path = path[len(base) :]
        return replace(request, path=f"/{path.lstrip('/')}", base=base, root=f"{base}/")

    def knows(self, host: str) -> bool:
        """Return True if a host, with or without a port, cannot be another site's public name.

        Requests for other names are refused, which prevents DNS rebinding attacks.

        >>> admission = Admission(Limits())
        >>> [admission.knows(host) for host in ("10.0.0.7:8765", "[::1]", "laptop", "laptop.lan:80", "play.example")]
        [True, True, True, True, False]
        """
        name = name_of(host).rstrip(".").lower()
        return bool(name) and (
            name in self._names or canonical(name) is not None or "." not in name or name.endswith(_LOCAL_ENDINGS)
        )


class RemotePeer:
    """The peer of a connection, as `Admission` counts it.

    Attributes:
        address: The address of the client, which a trusted proxy may have forwarded; "" until it is known.
    """

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        self.address = self._key = self._proxy = ""
        self._is_accepted = self._is_admitted = self._is_proxied = self._has_asked = False

    def accept(self, address: str) -> bool:
        """Count a peer that has connected from `address`; return False if its connection must be closed."""
        admission = self.admission
        self.address = address
        self._is_accepted = True
        self._is_proxied = admission.is_proxy(address)
        admission.connections += 1
        admission.accepted += 1
        if 0 < admission.limits.connections < admission.connections:
            return admission.refuse("all", "connections")
        return self._is_proxied or self._admit(address)

    def read_proxy_header(self, data: bytes) -> bytes | None:
        """Return the received bytes without the PROXY header, if any, or None while the header is incomplete.

        Only trusted proxies may send the header. Source: HAProxy, "The PROXY protocol, versions 1 & 2", section 2.1.

        Raises:
            BadRequest: The header is malformed, or the client has too many connections.
        """
        if self._is_admitted:
            if data.startswith(_PROXY):
                self.admission.warn_of(self.address, _FOR_OTHERS)
            return data
        if not data.startswith(_PROXY):
            return None if _PROXY.startswith(data) else data
        line, end, _ = data[:_MAX_PROXY_BYTES].partition(b"\r\n")
        if not end and len(data) < _MAX_PROXY_BYTES:
            return None
        words = line.decode("latin-1").split(" ")
        address = canonical(words[2]) if len(words) == 6 and words[1] in ("TCP4", "TCP6") else None
        if words[1:2] == ["UNKNOWN"]:
            address = self.address
        if not end or address is None:
            fault = "no client address" if end else "the line does not end"
            raise BadRequest(f"Malformed PROXY protocol header: {fault}.")
        _check(self._admit(address))
        return data[len(line) + 2 :]

    def sign(self, request: HttpRequest, *, is_tls: bool) -> HttpRequest:
        """Return the request with its scheme and the client's address.

        Raises:
            BadRequest: The client has too many connections.
        """
        forwarded = request.fields.get("x-forwarded-for", ())
        if self._is_admitted and not self._proxy:
            self.admission.client_of(self.address, forwarded)  # warns about an untrusted header
        else:  # each request may come from another client
            self._proxy = self._proxy or self.address
            client = self.admission.client_of(self._proxy, forwarded)
            if client != self.address:
                self.release()
            if not self._is_admitted:
                _check(self._admit(client))
        if request.asks_for_websocket and self._has_asked:  # otherwise it is still counted as a new connection
            _check(self.admission.count_newcomer(self._key))
        scheme = "https" if is_tls else self.admission.scheme_behind_proxy(request) if self._is_proxied else "http"
        return self.admission.below_base(replace(request, scheme=scheme, address=self.address))

    def signed_on(self, request: HttpRequest) -> str | None:
        """Return the user name that a trusted proxy has authenticated, or None. Call `sign` first.

        A proxy that uses only the PROXY protocol is not trusted with names, because it forwards its clients' headers
        unchanged. Names are encoded in UTF-8, although headers are decoded as Latin-1. Several names are joined with
        commas, so that the result is no valid name.
        """
        names = [name for name in request.fields.get(self.admission.sign_on, ()) if name.strip()]
        if names and not (self._is_proxied and self._proxy):
            self.admission.warn_of(self.address, "user name ignored", header=self.admission.sign_on)
            return None
        name = ", ".join(names).strip()
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
        """Count a plain HTTP request and return 0, or count nothing and return the ms to wait.

        After its first plain HTTP request, a connection no longer counts as a new connection.
        """
        limit = self.admission.requests
        wait = limit[self._key].consume()
        if not wait and path.startswith(self.admission.metered):
            limit = self.admission.answers
            wait = limit[self._key].wait()
        if wait:
            self.admission.refused[limit.names[0]] += 1
        elif not self._has_asked:
            self._has_asked = True
            self.admission.newcomers[self._key].give_back()
        return wait

    def count_answer(self, path: str, size: int) -> None:
        if path.startswith(self.admission.metered):
            self.admission.answers[self._key].spend(size)

    def idle(self, make_room: Callable[[], None]) -> None:
        """Mark this connection as idle until `busy` is called.

        Args:
            make_room: Closes the connection; called when another connection from this address needs its place.
        """
        if self._is_admitted:
            self.admission.of_address.discard(self._key, self)  # to be added again as the newest
            self.admission.of_address.add(self._key, self, make_room)

    def busy(self) -> None:
        if self._is_admitted:
            self.admission.of_address.add(self._key, self)

    def _admit(self, address: str) -> bool:
        """Count this connection for a client's address; return False if it is refused.

        If the address has too many connections, the connection that has been idle longest is closed instead.
        """
        key = key_of(address)
        self.address, self._key, self._has_asked = address, key, False
        held = self.admission.of_address
        if held.is_full(key):
            idle = next(((other, close) for other, close in held[key].items() if close), None)
            if idle is None:
                return self.admission.refuse(key, held.names[0])
            other, close = idle
            other.release()
            close()
        self._is_admitted = self.admission.count_newcomer(key)
        if self._is_admitted:
            held.add(key, self)
        return self._is_admitted


def _shared(limits: Limits) -> Limits:
    """Return limits that allow one address at most half of all connections, if connections per address are limited."""
    half = max(1, limits.connections // 2)
    if not limits.connections or not limits.connections_per_address:
        return limits
    return replace(limits, connections_per_address=min(limits.connections_per_address, half))


def _check(is_admitted: bool) -> None:
    if not is_admitted:
        raise BadRequest(TOO_MANY_WORDS, HTTPStatus.SERVICE_UNAVAILABLE)


def name_of(host: str) -> str:
    """Return a host without its port, and without the brackets around an IPv6 address."""
    return host.rpartition("]")[0].removeprefix("[") or host.partition(":")[0]


def key_of(address: str) -> str:
    """Return the key by which limits count an address: an IPv6 address counts as its /64, the network of a customer."""
    return str(IPv6Network((address, 64), strict=False)) if ":" in address else address


def canonical(text: str) -> str | None:
    """Return an address in canonical form, without port or brackets, or None if the text is no address.

    An IPv4-mapped IPv6 address becomes an IPv4 address.
    """
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
    """Parse an address; an IPv4-mapped IPv6 address becomes an IPv4 address. May raise ValueError."""
    address = ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
