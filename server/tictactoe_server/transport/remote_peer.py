"""Who is at the other end of a connection, and for whom a proxy there speaks. No socket.

Source of the PROXY protocol, by which a proxy says so before anything else: haproxy's "The PROXY protocol, versions 1 &
2", sections 2.1 and 2.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from ipaddress import ip_address
from typing import Final

from tictactoe_server.transport.admission import TOO_MANY_WORDS, Admission, canonical, key_of
from tictactoe_server.transport.http_messages import METERED, BadRequest, HttpRequest

_FIRST: Final = b"PROXY "
_SECOND: Final = b"\r\n\r\n\x00\r\nQUIT\n"
_MAX_FIRST_BYTES: Final = 107
_SECOND_BYTES: Final = 16
_SIZES: Final = {1: (4, 12), 2: (16, 36)}
"""How many bytes an address has in version 2, and addresses and ports together, by the family: IPv4 and IPv6."""


class RemotePeer:
    """A peer, counted from its acceptance to its end; where it is a trusted proxy, the client for whom it speaks.

    `address` is that of the peer, or of that client; empty until it is known.
    """

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        self.address = self._key = self._proxy = ""
        self._is_accepted = self._is_admitted = self._is_proxied = self._has_asked = False

    def accept(self, address: str) -> bool:
        """Count a peer that was accepted, and tell whether it may stay."""
        self.address, self._is_accepted = address, True
        self._is_proxied = self.admission.is_proxy(address)
        return self.admission.open_connection() and (self._is_proxied or self._admit(address))

    def read_proxy_header(self, data: bytes) -> bytes | None:
        """Read for whom a proxy speaks; return what follows, None until that is whole; raises `BadRequest`."""
        if self._is_admitted:
            if data.startswith((_FIRST, _SECOND)):
                self.admission.warn_of_proxy(self.address)
            return data
        found = read_proxy_header(data)
        if found is None:
            return None
        client, end = found
        if end:
            self._become(client or self.address)
        return data[end:]

    def sign(self, request: HttpRequest, *, is_tls: bool) -> HttpRequest:
        """Return a request with how and for whom it is sent, by what a proxy says in it; raises `BadRequest`."""
        forwarded = request.fields.get("x-forwarded-for", ())
        if self._is_admitted and not self._proxy:
            self.admission.client_of(self.address, forwarded)  # warns of one that is not trusted
        else:  # each request may be for another client
            self._proxy = self._proxy or self.address
            client = self.admission.client_of(self._proxy, forwarded)
            if client != self.address:
                self.release()
            if not self._is_admitted:
                self._become(client)
        scheme = "https" if is_tls else self.admission.scheme_behind_proxy(request) if self._is_proxied else "http"
        return replace(request, scheme=scheme, address=self.address)

    def close(self) -> None:
        """Count no more; it may be called again."""
        self.release()
        if self._is_accepted:
            self._is_accepted = False
            self.admission.connections -= 1

    def release(self) -> None:
        """Count no more as one of its address."""
        if self._is_admitted:
            self._is_admitted = False
            self.admission.of_address.discard(self._key, self)

    def count_request(self, path: str) -> int:
        """Count a request of plain HTTP for a path and return 0, or how many ms to wait.

        A connection of which that is the first does not count as a new one any more: its requests do.
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
        """Count how many bytes were answered to a request for a path."""
        if path.startswith(METERED):
            self.admission.answers[self._key].spend(size)

    def count_websocket(self) -> None:
        """Count a connection as a new one that was none for its requests; raises `BadRequest`."""
        if self._has_asked and not self.admission.count_newcomer(self._key):
            raise BadRequest(TOO_MANY_WORDS, HTTPStatus.SERVICE_UNAVAILABLE)

    def idle(self, make_room: Callable[[], None]) -> None:
        """Offer to `make_room` for another one of the address until it is `busy`: nothing is asked now."""
        if self._is_admitted:
            self.admission.of_address.discard(self._key, self)  # the one that is idle for longest stands first
            self.admission.of_address.add(self._key, self, make_room)

    def busy(self) -> None:
        if self._is_admitted:
            self.admission.of_address.add(self._key, self)

    def _admit(self, address: str) -> bool:
        self.address, self._key, self._has_asked = address, key_of(address), False
        self._is_admitted = self.admission.open_address(self._key, self)
        return self._is_admitted

    def _become(self, address: str) -> None:
        if not self._admit(address):
            raise BadRequest(TOO_MANY_WORDS, HTTPStatus.SERVICE_UNAVAILABLE)


def read_proxy_header(data: bytes) -> tuple[str | None, int] | None:
    """Return for whom is spoken, None for the proxy itself, and where the header ends, 0 where there is none.

    None while it is incomplete; raises `BadRequest`.
    """
    if data.startswith(_SECOND):
        return _read_second(data)
    if not data.startswith(_FIRST):
        return None if _FIRST.startswith(data) or _SECOND.startswith(data) else (None, 0)
    line, end, _ = data[:_MAX_FIRST_BYTES].partition(b"\r\n")
    if not end and len(data) < _MAX_FIRST_BYTES:
        return None
    words = line.decode("latin-1").split(" ")
    if end and words[1:2] == ["UNKNOWN"]:
        return None, len(line) + 2
    address = canonical(words[2]) if len(words) == 6 and words[1] in ("TCP4", "TCP6") else None
    if not end or address is None:
        fault = "names no address" if end else "does not end"
        raise BadRequest(f"The line of the PROXY protocol {fault}.")
    return address, len(line) + 2


def _read_second(data: bytes) -> tuple[str | None, int] | None:
    length = int.from_bytes(data[14:_SECOND_BYTES])
    end = _SECOND_BYTES + length
    if len(data) < end:
        return None
    version, command = divmod(data[12], 16)
    if version != 2 or command > 1:
        raise BadRequest("This version of the PROXY protocol is not known.")
    size, least = _SIZES.get(data[13] >> 4, (0, 0))
    if command == 0 or not size or length < least:
        return None, end
    return canonical(str(ip_address(data[_SECOND_BYTES : _SECOND_BYTES + size]))), end
