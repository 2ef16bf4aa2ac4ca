"""Which servers of the house are alive, and which of them serves which room.

Each says so of itself a few times a second. To serve a room is only a hint for the way: two who think for a moment that
a room is theirs cannot both change it, because every save is a compare-and-set.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

import msgspec
import structlog

from tictactoe_server.house.parcels import Beat, decode_beat, encode

BEAT_SECONDS: Final = 0.3
GONE_SECONDS: Final = 1.2
"""How often a server says that it lives, and after how long without that it is taken to be gone."""

SUBJECT: Final = "house.beat"

_MAX_KNOWN: Final = 100_000
"""Of how many keys it is remembered whose they are: any code and any kind of game may be asked about."""

log: Final = structlog.get_logger(__name__)


@dataclass(slots=True)
class Member:
    """Another server: `name` is for people, `heard_at` when it was last heard of (s of `time.monotonic`).

    One that `is_leaving` serves no rooms any more, but still has players.
    """

    id: str
    name: str
    is_leaving: bool = False
    heard_at: float = field(default_factory=time.monotonic)


class Members:
    """The living servers of a house, this one, `id`, among them while it `is_in`.

    `send` says something to all, `now` returns the served time in ms and `go_on_from` sees to it that it is as late
    as that of another. `watched` returns what is to be said of watchers, `on_watched` hears it. `on_change` is
    called when somebody came or went, `on_come` with the id of another who came and `on_gone` with that of one who
    is gone.
    """

    def __init__(
        self,
        id: str,
        name: str,
        send: Callable[[bytes], None],
        now: Callable[[], int],
        go_on_from: Callable[[int], None],
    ) -> None:
        self.id = id
        self.name = name
        self.is_in = False
        self.is_leaving = False
        self._send = send
        self._now = now
        self._go_on_from = go_on_from
        self._others: dict[str, Member] = {}
        self._owners: dict[str, str] = {}
        self._in_since = 0.0
        self._beaten_at = 0.0
        self.watched: Callable[[], dict[str, int]] = dict
        self.on_watched: Callable[[dict[str, int]], None] = lambda watched: None
        self.on_change: Callable[[], None] = lambda: None
        self.on_come: Callable[[str], None] = lambda id: None
        self.on_gone: Callable[[str], None] = lambda id: None

    @property
    def others(self) -> Iterable[Member]:
        """The other living servers."""
        return self._others.values()

    @property
    def living(self) -> list[str]:
        """The ids of all that live."""
        return [*self._others, *([self.id] if self.is_in else ())]

    def is_living(self, id: str) -> bool:
        """Tell whether a server is one of the living."""
        return id in self._others or (id == self.id and self.is_in)

    def name_of(self, id: str) -> str:
        """Return what people call a server."""
        if id == self.id:
            return self.name
        member = self._others.get(id)
        return id if member is None else member.name

    def owner_of(self, key: str) -> str | None:
        """Return the id of the server that serves a room, or decides about something else; None where nobody does.

        Of all that live the one with the highest hash is it, so that where one goes only its own keys move.
        """
        owner = self._owners.get(key)
        if owner is None:
            serving = [member.id for member in self.others if not member.is_leaving]
            if self.is_in and not self.is_leaving:
                serving.append(self.id)
            if not serving:
                return None
            if len(self._owners) >= _MAX_KNOWN:
                self._owners.clear()
            owner = self._owners[key] = max(serving, key=lambda id: _weight(id, key))
        return owner

    def is_own(self, key: str) -> bool:
        """Tell whether it is this server."""
        return self.owner_of(key) == self.id

    # -- beating ------------------------------------------------------------------------------------------------

    def come_in(self) -> None:
        """Be one of the living from now on."""
        self.is_in = True
        self._in_since = time.monotonic()
        self._changed()
        self.beat()

    def leave(self) -> None:
        """Give everything away, and say so."""
        self.is_leaving = True
        self._changed()
        self.beat()

    def beat(self) -> None:
        """Say that this server lives, while it is in."""
        self._beaten_at = time.monotonic()
        if self.is_in:
            self._send(encode(Beat(self.id, self.name, self._now(), self.living, self.watched(), self.is_leaving)))

    async def keep(self) -> None:
        """Say so again and again, and notice who is gone, until cancelled."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            self._look()
            self.beat()

    def heard(self, data: bytes) -> None:
        """Take in the sign of life of a server."""
        try:
            beat = decode_beat(data)
        except msgspec.DecodeError:
            log.warning("a sign of life cannot be read")
            return
        if beat.sender == self.id:
            return
        self._look_at_self()
        member = self._others.get(beat.sender)
        if member is None:
            self._others[beat.sender] = Member(beat.sender, beat.name, beat.is_leaving)
            log.info("a server of the house has come", server=beat.name)
            self._changed()
            self.on_come(beat.sender)
        else:
            member.heard_at = time.monotonic()
            if beat.is_leaving and not member.is_leaving:
                member.is_leaving = True
                log.info("a server of the house leaves", server=beat.name)
                self._changed()
        self._go_on_from(beat.time)
        if beat.watched:
            self.on_watched(beat.watched)
        if self.is_in and self.id not in beat.living and self._is_established():
            self.go_out("the others have gone on without it")

    def lose(self, id: str) -> None:
        """Take notice that a server is gone."""
        member = self._others.pop(id, None)
        if member is not None:
            log.info("a server of the house is gone", server=member.name)
            self._changed()
            self.on_gone(id)

    def go_out(self, why: str) -> None:
        """Be none of the living any more."""
        if self.is_in:
            self.is_in = False
            log.warning("this server is out of the house for a moment", reason=why)
            self._changed()

    def _is_established(self) -> bool:
        """Tell whether all others must have heard of this server by now."""
        return time.monotonic() - self._in_since > GONE_SECONDS

    def _look_at_self(self) -> None:
        """Notice that this server was stopped for so long that the others have gone on without it."""
        if time.monotonic() - self._beaten_at > GONE_SECONDS:
            self.go_out("it was stopped for a while")
            for member in self._others.values():  # what they said meanwhile is still to be read
                member.heard_at = time.monotonic()

    def _look(self) -> None:
        self._look_at_self()
        now = time.monotonic()
        for member in [member for member in self.others if now - member.heard_at > GONE_SECONDS]:
            self.lose(member.id)

    def _changed(self) -> None:
        self._owners.clear()
        self.on_change()


def _weight(id: str, key: str) -> bytes:
    return blake2b(f"{id} {key}".encode(), digest_size=8).digest()
