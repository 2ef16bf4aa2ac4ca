"""Parses server addresses as people type them, links to rooms, and the addresses of a cluster.

A link is an address with a room code at the end of its path."""

from __future__ import annotations

import contextlib
import ipaddress
import re
import shlex
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

from tictactoe_client.online.errors import BadAddress, BadRoomCode
from tictactoe_protocol import room_codes
from tictactoe_protocol.codes import DEFAULT_PORT
from tictactoe_words.catalogue import say

DEFAULT_SERVER: Final = f"ws://localhost:{DEFAULT_PORT}"

_SCHEMES: Final = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}
_HOST: Final = re.compile(r"[A-Za-z0-9._~%:-]+", re.ASCII)
_CREDENTIALS: Final = re.compile(r"(?<=//)[^/@]*@|(?<=\?).+")
_LOOPBACK: Final = re.compile(r"localhost|127\.[0-9.]+|::1", re.ASCII | re.IGNORECASE)
_PROGRAM: Final = re.compile(r"(?:.*[/\\])?tictactoe[-_]client(?:\.exe)?", re.IGNORECASE)
_LABEL: Final = re.compile(r"\A(?:code|link|or)(?:\s*:|\s)\s*", re.IGNORECASE)
"""The labels in front of a pasted code or link. Room codes contain no O or I, so no code looks like a label."""
_WITH_VALUE: Final = ("-n", "--name", "--ca", "--timeout", "--theme", "--bell", "--language", "--keys", "--coordinates")
"""The options, apart from `--server`, whose value must be skipped in a pasted command."""
_AFTER_TICKET: Final = re.compile(r"[^\w-].*", re.DOTALL)
_MOST_SERVERS: Final = 64


@dataclass(frozen=True, slots=True)
class Address:
    """A server's address.

    Attributes:
        port: The port, or None for the scheme's default.
        path: The path behind a proxy, or "". A trailing slash is kept because some proxies require it.
    """

    scheme: str
    host: str
    port: int | None
    path: str = ""

    @property
    def url(self) -> str:
        """The address as a URL, without a trailing slash."""
        return self.socket_url.rstrip("/")

    @property
    def socket_url(self) -> str:
        """The URL of the WebSocket."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = f":{self.port}" if self.port is not None else ""
        return f"{self.scheme}://{host}{port}{self.path}"

    @property
    def page_url(self) -> str:
        """The URL of the server's page in a browser.

        >>> parse_address("host").page_url, parse_address("wss://example.org/games/").page_url
        ('http://host:8765', 'https://example.org/games/')
        """
        return self.socket_url.replace("ws", "http", 1)

    @property
    def origin(self) -> str:
        """The origin of the server's page, as browsers send it.

        >>> parse_address("http://host").origin, parse_address("wss://example.org:444/games").origin
        ('http://host', 'https://example.org:444')
        """
        usual = 443 if self.scheme == "wss" else 80
        return replace(self, port=None if self.port == usual else self.port, path="").page_url

    @property
    def is_loopback(self) -> bool:
        """Whether the host is a loopback name or address, such as ``localhost``."""
        return _LOOPBACK.fullmatch(self.host) is not None

    def may_lead_to(self, other: Address) -> bool:
        """Return False if moving from this server to `other` would give up TLS."""
        return other.scheme == "wss" or self.scheme == "ws"

    def link_to(self, room: str) -> str:
        """Return the link to a room, which browsers open and this program accepts."""
        return f"{self.page_url.rstrip('/')}/{room}"

    def word_for(self, room: str) -> str:
        """Return what to type in a command for a room: its code on the default server, otherwise its link.

        >>> parse_address("localhost").word_for("K7M4PQ"), parse_address("host").word_for("K7M4PQ")
        ('K7M4PQ', 'http://host:8765/K7M4PQ')
        """
        return room if self.url == DEFAULT_SERVER else self.link_to(room)


def parse_address(text: str) -> Address:
    """Parse a server's address, dropping a room code at the end of its path; raises `BadAddress`.

    The default scheme is ``ws``, the default port 8765, but 443 for ``wss`` and ``https``, and 80 for ``http``.
    """
    return _parse_target(text)[0]


def parse_room(text: str) -> tuple[str, Address | None]:
    """Return the room code in a code, link or pasted command, and the server in it, or None.

    Raises `BadRoomCode` or `BadAddress`.
    """
    text, server = _find_room(text)
    if link := room_codes.find_link(text):
        return link.code, parse_url(f"{link.base.removesuffix('/embed')}/")
    if "://" in text:
        parse_url(text)
    return parse_code(text.rstrip("/").rpartition("/")[2]), parse_address(server) if server else None


def parse_event(text: str) -> tuple[str, str, Address | None]:
    """Return an event's code, the ticket in the link or "", and the link's server or None.

    >>> parse_event("k7m-4pq"), parse_event("http://host:8765/e/K7M4PQ#ana-7c2f")[:2]
    (('K7M4PQ', '', None), ('K7M4PQ', 'ana-7c2f'))
    """
    text, _, ticket = text.partition("#")
    code, server = parse_room(text)
    return code, _AFTER_TICKET.sub("", ticket), server


def is_event_link(text: str) -> bool:
    """Return True if the first link in a text leads to an event."""
    link = room_codes.find_link(text)
    return link is not None and link.is_event


def parse_code(text: str) -> str:
    """Return a room code in its canonical form; raises `BadRoomCode`."""
    try:
        return room_codes.parse_room_code(text)
    except room_codes.BadRoomCode as bad:
        raise BadRoomCode(**bad.data) from None


def _find_room(line: str) -> tuple[str, str | None]:
    """Return the room and the server, or None, of a line or a pasted ``tictactoe-client join CODE --server URL``."""
    line = _LABEL.sub("", line.strip(), count=1)
    try:
        words = iter(shlex.split(line, posix="\\" not in line))
    except ValueError:
        words = iter(line.split())
    if not any(_PROGRAM.fullmatch(word) for word in words):
        return line, None
    room, server = "", None
    for word in words:
        option, equals, value = word.partition("=")
        if option in ("-s", "--server"):
            server = value if equals else next(words, None)
        elif word in _WITH_VALUE:
            next(words, None)
        elif not word.startswith("-") and (room or word.lower() not in ("join", "watch")):
            room += word
    return room, server


def hide_credentials(text: str) -> str:
    """Replace credentials and the query of an address by "…", so that it is safe to show.

    >>> hide_credentials("wss://ana:secret@example.org/?token=abc")
    'wss://…@example.org/?…'
    """
    return _CREDENTIALS.sub(lambda match: "…@" if match[0].endswith("@") else "…", text)


def _parse_target(text: str) -> tuple[Address, str | None]:
    address = parse_url(text)
    head, _, last = address.path.rstrip("/").rpartition("/")
    try:
        return replace(address, path=head and f"{head}/"), parse_code(last)
    except BadRoomCode:
        return address, None


def parse_url(text: str) -> Address:
    """Parse a server's address and keep its whole path; raises `BadAddress`."""
    word = text.strip()
    if "://" not in word:
        host, slash, path = word.partition("/")
        is_bare = host.count(":") > 1 and not host.startswith("[")
        word = f"ws://[{host}]{slash}{path}" if is_bare else f"ws://{word}"
    why = ""
    try:
        parts = urlsplit(word)
        why = say("bad address port")
        port = parts.port
    except ValueError:
        raise _bad(text, why) from None
    scheme, host = _SCHEMES.get(parts.scheme.lower()), parts.hostname or ""
    if scheme is None:
        raise _bad(text, say("bad address scheme", scheme=parts.scheme))
    if parts.username is not None or parts.query or parts.fragment or not _HOST.fullmatch(host) or port == 0:
        raise _bad(text)
    if port is None and scheme == "ws":
        port = 80 if parts.scheme.lower() == "http" else DEFAULT_PORT
    path = parts.path.rstrip("/")
    return Address(scheme, host, port, f"{path}/" if path and path != parts.path else path)


def _bad(text: str, why: str = "") -> BadAddress:
    text = hide_credentials(text)
    quoted = text if len(text) <= 60 else f"{text[:60]}…"
    how = say("bad address because", address=quoted, why=why) if why else say("bad address", address=quoted)
    return BadAddress(f"{how} {say('address looks like', port=DEFAULT_PORT)}")


def reachable_address(address: Address) -> Address:
    """Return an address that other machines can use.

    A loopback address is replaced by this machine's network address if the server answers there. With TLS it is not,
    since the certificate is for the name.
    """
    own = next(iter(own_addresses()), None) if address.is_loopback and address.scheme == "ws" else None
    if own is None or not _answers(own, address.port or 80):
        return address
    return replace(address, host=own)


def is_this_machine(address: Address) -> bool:
    """Return True if an address is a loopback or network address of this machine."""
    return address.is_loopback or address.host in own_addresses()


def is_same_server(one: Address, other: Address) -> bool:
    """Return True if two addresses lead to the same server; all names of this machine count as equal."""
    if (one.scheme, one.port or 443, one.path.rstrip("/")) != (other.scheme, other.port or 443, other.path.rstrip("/")):
        return False
    return one.host.lower() == other.host.lower() or (is_this_machine(one) and is_this_machine(other))


@lru_cache(maxsize=8)
def _answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), 0.5):
            return True
    except OSError:
        return False


@lru_cache(maxsize=1)
def own_addresses() -> tuple[str, ...]:
    """Return this machine's network addresses: IPv4, then IPv6, each list beginning with the default route's."""
    import ifaddr

    texts: list[str] = []
    # Documentation addresses (RFC 5737, RFC 3849); connecting a UDP socket sends nothing.
    for target, family in (("192.0.2.1", socket.AF_INET), ("2001:db8::1", socket.AF_INET6)):
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((target, 9))
            texts.append(str(probe.getsockname()[0]))
    with contextlib.suppress(OSError):  # a sandbox may hide the adapters
        ips = [ip.ip for adapter in ifaddr.get_adapters() for ip in adapter.ips]
        texts += (str(ipaddress.ip_address((ip if isinstance(ip, str) else ip[0]).partition("%")[0])) for ip in ips)
    away = [text for text in texts if text != "::1" and not text.startswith(("127.", "169.254.", "fe80:"))]
    return tuple(sorted(dict.fromkeys(away), key=lambda address: ":" in address))


@dataclass(frozen=True, slots=True)
class Cluster:
    """The addresses of a cluster, at least one.

    Attributes:
        addresses: All addresses, in the order of the attempts.
        named: The addresses that a server reported; the person gave the others.
    """

    addresses: tuple[Address, ...]
    named: tuple[Address, ...] = ()

    @property
    def first(self) -> Address:
        """The address to try first."""
        return self.addresses[0]

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses as URLs."""
        return tuple(address.url for address in self.addresses)

    @property
    def given(self) -> Cluster:
        """The addresses that the person gave; links use the first, and stored tokens are sent only to these."""
        return Cluster(tuple(address for address in self.addresses if address not in self.named))

    def has(self, address: Address) -> bool:
        """Return True if an address leads to a server of this cluster."""
        return any(is_same_server(address, own) for own in self.addresses)

    def starting_at(self, address: Address) -> Cluster:
        """Return the cluster rotated to start at `address`; an unknown address becomes a cluster of its own."""
        own = self.addresses
        same = [one for one in own if one == address] or [one for one in own if is_same_server(address, one)]
        first = own.index(same[0]) if same else 0
        return replace(self, addresses=(*own[first:], *own[:first])) if same else Cluster((address,))

    def seen_from(self, address: Address, servers: Sequence[Address]) -> Cluster:
        """Return the cluster starting at the current address, with the `servers` that it reported.

        Newly reported servers come before the others.
        """
        given = self.given.addresses
        found = dict.fromkeys((address, *servers, *(self.named if servers else ())))
        named = tuple(one for one in found if not any(is_same_server(one, own) for own in given))[:_MOST_SERVERS]
        return Cluster((*given, *named), named).starting_at(address)


def parse_cluster(given: str | Address | Cluster | Sequence[str | Address] | None = None) -> Cluster:
    """Return the cluster of the addresses, which a text separates by commas; raises `BadAddress`."""
    if isinstance(given, Cluster):
        return given
    if isinstance(given, str) and given:
        given = [word for word in given.split(",") if word.strip()] or (given,)
    addresses = (given,) if isinstance(given, Address) else given or (DEFAULT_SERVER,)
    return Cluster(tuple(dict.fromkeys(one if isinstance(one, Address) else parse_address(one) for one in addresses)))


def parse_servers(urls: Iterable[str], named_by: Address) -> tuple[Address, ...]:
    """Parse the URLs that the server `named_by` reports, skipping those that are invalid or would give up TLS."""
    servers: list[Address] = []
    for url in islice(urls, _MOST_SERVERS):
        with contextlib.suppress(BadAddress):
            servers.append(parse_url(url))
    return tuple(
        server for server in {server.url: server for server in servers}.values() if named_by.may_lead_to(server)
    )


def find_server(url: str, servers: Sequence[Address]) -> Address | None:
    """Return the one of `servers` that a URL leads to, or None."""
    try:
        address = parse_url(url)
    except BadAddress:
        return None
    return next((server for server in servers if is_same_server(server, address)), None)
