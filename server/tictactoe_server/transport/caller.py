"""Who is at the other end of a connection, as far as the door has to know it. No socket."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Final

from tictactoe_server.transport import proxy
from tictactoe_server.transport.door import Door
from tictactoe_server.transport.plain import BadRequest, Request

TOO_MANY_WORDS: Final = "Too many connections: try again later."


class TurnedAway(Exception):
    """One too many, of all or of an address."""


class Caller:
    """A peer, counted at the door from its arrival until it departs, or whom it speaks for where it is a proxy.

    `address` is that of the peer, of its client where it is a trusted proxy; empty until it is known.
    """

    __slots__ = ("_has_asked", "_has_come", "_has_entered", "_hop", "_is_proxied", "address", "door")

    def __init__(self, door: Door) -> None:
        self.address = ""
        self._has_come = self._has_entered = self._has_asked = self._is_proxied = False
        self._hop: str | None = None
        self.door = door

    def arrive(self, address: str) -> bool:
        """Count a peer that was accepted, and tell whether it may come in."""
        self.address, self._has_come = address, True
        self._is_proxied = self.door.is_proxy(address)
        return self.door.come() and (self._is_proxied or self._enter())

    def introduce(self, data: bytes) -> bytes | None:
        """Read for whom a proxy speaks where it begins with that; return what comes after it, None until it is whole.

        Raises `BadRequest` and `TurnedAway`.
        """
        if self._has_entered and proxy.is_one(data):
            self.door.tell_of_stranger(self.address)
        if self._has_entered or not proxy.begins_like_one(data):
            return data
        try:
            found = proxy.read(data)
        except proxy.BadProxyHeader as bad:
            raise BadRequest(HTTPStatus.BAD_REQUEST, str(bad)) from None
        if found is None:
            return None
        self._enter_as(found[0] or self.address)
        return data[found[1] :]

    def sign(self, request: Request, *, is_tls: bool) -> Request:
        """Return a request with how and for whom it is sent, by what a proxy says in it; raises `TurnedAway`."""
        self._follow(request.fields.get("x-forwarded-for", ()))
        forwarded = request.field("x-forwarded-proto")
        scheme = self.door.scheme_of(request.host, forwarded, is_proxied=self._is_proxied, is_tls=is_tls)
        return replace(request, scheme=scheme, address=self.address)

    def depart(self) -> None:
        """Count no more."""
        self.leave()
        if self._has_come:
            self.door.go()

    def leave(self) -> None:
        """Count no more as one of its address."""
        if self._has_entered:
            self.wake()
            self.door.leave(self.address)
            self._has_entered = False

    def ask(self) -> int:
        """Count a request of plain HTTP and return 0, or how many ms to wait.

        A connection of which that is the first does not count as a new one any more: its requests do.
        """
        wait = self.door.count_request(self.address)
        if not (wait or self._has_asked):
            self._has_asked = True
            self.door.uncount_comer(self.address)
        return wait

    def ask_for_websocket(self) -> None:
        """Count a connection as a new one that was none for its requests; raises `TurnedAway`."""
        if self._has_asked and not self.door.count_comer(self.address):
            raise TurnedAway

    def rest(self, make_room: Callable[[], None]) -> None:
        """Take notice that nothing is asked now: until `wake`, `make_room` may be called, which is to leave."""
        self.door.rest(self.address, self, make_room)

    def wake(self) -> None:
        """Take notice that something is asked."""
        self.door.wake(self.address, self)

    def _follow(self, forwarded: Sequence[str]) -> None:
        """Become whom a proxy speaks for now: with each request that may be another one."""
        if self._has_entered and self._hop is None:
            self.door.speaker(self.address, forwarded)
            return
        self._hop = self.address if self._hop is None else self._hop
        speaker = self.door.speaker(self._hop, forwarded)
        if speaker != self.address:
            self.leave()
        if not self._has_entered:
            self._enter_as(speaker)

    def _enter_as(self, address: str) -> None:
        self.address = address
        if not self._enter():
            raise TurnedAway

    def _enter(self) -> bool:
        self._has_entered = self.door.enter(self.address)
        self._has_asked = False
        return self._has_entered
