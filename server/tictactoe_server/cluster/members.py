"""Which servers of the cluster are alive. Each says so of itself a few times a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

import msgspec
import structlog

from tictactoe_server.cluster.messages import Beat, decode, encode

BEAT_SECONDS: Final = 0.3
GONE_SECONDS: Final = 1.2
"""How often a server says that it lives, and after how long without that it is taken to be gone."""

SUBJECT: Final = "house.alive"

log: Final = structlog.get_logger(__name__)


@dataclass(slots=True)
class Member:
    """Another server: `beat` is its last sign of life, heard at `heard_at` (s of `time.monotonic`)."""

    beat: Beat
    heard_at: float = field(default_factory=time.monotonic)


class Members:
    """The living servers: the others, and this one while it `is_in`.

    `send` says something to all, `is_heard` tells whether there is a connection to hear the others by. `now` returns
    the served time in ms, and `go_on_from` sees to it that it is as late as that of another. `on_beat` is called with
    each sign of life, `on_gone` with the id of each server that is gone.
    """

    def __init__(
        self,
        name: str,
        url: str,
        id: str,
        send: Callable[[bytes], object],
        is_heard: Callable[[], bool],
        now: Callable[[], int],
        go_on_from: Callable[[int], None],
    ) -> None:
        self.id = id
        self.name = name
        self.url = url
        self.is_in = self.is_leaving = False
        self.number = 0
        self._send = send
        self._is_heard = is_heard
        self._now = now
        self._go_on_from = go_on_from
        self._others: dict[str, Member] = {}
        self._looked_at = time.monotonic()
        self.on_beat: Callable[[Beat], None] = lambda beat: None
        self.on_gone: Callable[[str], None] = lambda id: None

    @property
    def others(self) -> Iterable[Beat]:
        """The last signs of life of the others that live."""
        return [member.beat for member in self._others.values()]

    @property
    def urls(self) -> tuple[str, ...]:
        """Where the living are reached, this one first, without those that leave."""
        return (self.url, *(beat.url for beat in self.others if not beat.is_leaving))

    def is_living(self, id: str) -> bool:
        """Tell whether a server lives."""
        return id == self.id or id in self._others

    def stays(self, id: str) -> bool:
        """Tell whether a server lives and does not leave."""
        member = self._others.get(id)
        return member is not None and not member.beat.is_leaving

    def url_of(self, id: str) -> str | None:
        """Return where another server is reached that lives, else None."""
        member = self._others.get(id)
        return None if member is None else member.beat.url

    def name_of(self, id: str) -> str:
        """Return what people call a server."""
        member = self._others.get(id)
        return self.name if id == self.id else id if member is None else member.beat.name

    def chosen_for(self, key: str) -> str:
        """Return the id of the server that is to take a room, or decides about something else.

        Of all that live the one with the highest hash is it, so that all choose the same one without asking.
        """
        serving = [beat.sender for beat in self.others if not beat.is_leaving]
        if not self.is_leaving or not serving:
            serving.append(self.id)
        return max(serving, key=lambda id: blake2b(f"{id} {key}".encode(), digest_size=8).digest())

    def come_in(self) -> None:
        """Be one of the living from now on."""
        self.is_in = True
        self.beat()

    def leave(self) -> None:
        """Take no rooms any more, and say so."""
        self.is_leaving = True
        self.beat()

    def beat(self) -> None:
        """Say that this server lives, while it is in."""
        if self.is_in:
            living = [*self._others, self.id]
            beat = Beat(self.id, self.name, self.url, self._now(), living, self.number, self.is_leaving)
            self._send(encode(beat))

    async def keep(self) -> None:
        """Say so again and again, and notice who is gone, until cancelled."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            self._look()
            self.beat()

    def heard(self, data: bytes) -> None:
        """Hear a sign of life."""
        try:
            beat = decode(data, Beat)
        except msgspec.DecodeError as error:
            log.error("a sign of life cannot be read", reason=str(error))
            return
        if beat.sender == self.id:
            return
        if beat.sender not in self._others:
            log.info("a server of the cluster has come", server=beat.name, url=beat.url)
        elif beat.is_leaving and not self._others[beat.sender].beat.is_leaving:
            log.info("a server of the cluster leaves", server=beat.name)
        self._others[beat.sender] = Member(beat)
        self._go_on_from(beat.time)
        self.on_beat(beat)

    def listen_anew(self) -> None:
        """Take the others to be silent from now on: what they said while there was no connection was lost."""
        for member in self._others.values():
            member.heard_at = time.monotonic()

    def not_there(self, id: str) -> None:
        """Hear that nobody takes what is sent to a server: with its silence for two beats that is enough."""
        member = self._others.get(id)
        if member is not None and time.monotonic() - member.heard_at > 2 * BEAT_SECONDS:
            self.lose(id)

    def lose(self, id: str) -> None:
        """Take a server to be gone."""
        member = self._others.pop(id, None)
        if member is not None:
            log.info("a server of the cluster is gone", server=member.beat.name)
            self.on_gone(id)

    def _look(self) -> None:
        """Notice who has been silent for too long; what was said while this one could not hear is still to come."""
        now = time.monotonic()
        could_hear = self._is_heard() and now - self._looked_at < GONE_SECONDS
        self._looked_at = now
        for id, member in list(self._others.items()):
            if not could_hear:
                member.heard_at = now
            elif now - member.heard_at > GONE_SECONDS:
                self.lose(id)
