"""The servers of the cluster that are alive, as their heartbeats show."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Callable
from hashlib import blake2b
from typing import Final

import structlog

from tictactoe_server import clock
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.features.cluster.messages import HEARTBEATS, HERE, NOT_THERE, Heartbeat, encode
from tictactoe_server.features.jetstream.link import Link, Message
from tictactoe_server.scheduler import Listeners

HEARTBEAT_SECONDS: Final = 0.3
GONE_SECONDS: Final = 1.2  # a server without a heartbeat for this long counts as dead

log: Final = structlog.get_logger(__name__)


class Members:
    """The live servers of the cluster, including this one.

    Attributes:
        is_in: Whether this server has joined the cluster and sends heartbeats.
        number: The number of the last `News` that this server sent.
        others: The last heartbeat from each other live server, by the server's id.
        on_gone: Called with the id of a server that has died.
    """

    def __init__(
        self, link: Link, name: str, url: str, time_served: ServedTime, is_draining: Callable[[], bool] = bool
    ) -> None:
        self.id = secrets.token_hex(6)
        self.name = name
        self.url = url
        self.is_in = self.is_leaving = False
        self.number = 0
        self._link = link
        self._time_served = time_served
        self.others: dict[str, Heartbeat] = {}
        self._heard_at: dict[str, float] = {}
        self._looked_at = self._listening_since = clock.monotonic()
        self._last_heard_at = math.inf
        self._lag = 0.0  # the delay of this server's event loop (s): heartbeats are read this much late
        self.on_gone = Listeners[[str]]()
        self._is_draining = is_draining
        link.holds_writes.append(lambda: self.is_behind)

    @property
    def is_behind(self) -> bool:
        """Whether this server's served time may be late, because expected heartbeats from others have not arrived."""
        now = clock.monotonic()
        may_hear = bool(self.others) or now - self._listening_since < GONE_SECONDS
        return may_hear and now - self._last_heard_at > GONE_SECONDS

    @property
    def urls(self) -> tuple[str, ...]:
        """The URLs of all servers that are not leaving, after that of this server."""
        return (self.url, *(other.url for other in self.others.values() if not other.is_leaving))

    def is_living(self, id: str) -> bool:
        return id == self.id or id in self.others

    def stays(self, id: str) -> bool:
        """Return whether `id` is another server that is alive and not leaving."""
        return id in self.others and not self.others[id].is_leaving

    def url_of(self, id: str) -> str | None:
        return self.others[id].url if id in self.others else None

    def chosen_for(self, key: str) -> str:
        """Return the id of the server responsible for `key`. All servers agree on it, by rendezvous hashing."""
        serving = list(filter(self.stays, self.others))
        if not self.is_leaving or not serving:
            serving.append(self.id)
        return _chosen_of(serving, key)

    def is_chosen_to_begin(self, key: str) -> bool:
        """Return whether this server has to start what is due for `key`; leaving and draining servers start nothing."""
        serving = [id for id in filter(self.stays, self.others) if not self.others[id].is_draining]
        is_free = self.is_in and not (self.is_leaving or self._is_draining())
        return is_free and _chosen_of([*serving, self.id], key) == self.id

    def come_in(self) -> None:
        self.is_in = True
        self._send_heartbeat()

    def leave(self) -> None:
        """Announce that this server is leaving and no longer takes over rooms."""
        self.is_leaving = True
        self._send_heartbeat()

    async def run(self) -> None:
        """Send heartbeats and remove dead servers, until cancelled."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            self.lose_silent()
            self._send_heartbeat()

    def lose(self, id: str) -> None:
        if id in self.others:
            log.info("cluster server lost", server=self.others[id].name)
            del self.others[id], self._heard_at[id]
            self.on_gone(id)

    def _send_heartbeat(self) -> None:
        """Send a heartbeat, and a probe to every other server; NATS answers the probe if the server is gone."""
        if self.is_in:
            living, now = [*self.others, self.id], self._time_served()
            going = self.is_leaving, self._is_draining()
            heartbeat = Heartbeat(self.id, self.name, self.url, now, living, self.number, *going)
            self._link.publish(HEARTBEATS, encode(heartbeat))
            for other in self.others:
                self._link.publish(HERE + other, reply=f"{NOT_THERE}{self.id}.{other}")

    def on_heartbeat(self, heartbeat: Heartbeat) -> bool:
        """Record a heartbeat, and return whether it is its server's first announcement of leaving."""
        known = self.others.get(heartbeat.sender)
        begins_to_leave = heartbeat.is_leaving and (known is None or not known.is_leaving)
        if known is None:
            log.info("cluster server joined", server=heartbeat.name, url=heartbeat.url)
        elif begins_to_leave:
            log.info("cluster server leaving", server=heartbeat.name)
        self.others[heartbeat.sender] = heartbeat
        self._heard_at[heartbeat.sender] = self._last_heard_at = clock.monotonic()
        self._time_served.go_on_from(heartbeat.time)
        return begins_to_leave

    def listen_anew(self) -> None:
        """Restart the wait for heartbeats from every server, because some were lost with the connection."""
        self._listening_since = clock.monotonic()
        self._heard_at = dict.fromkeys(self.others, self._listening_since)

    def on_not_there(self, message: Message) -> None:
        """Remove the server that NATS reports as gone, provided that it has also missed two heartbeats."""
        id = message.subject.rpartition(".")[2]
        if clock.monotonic() - self._heard_at.get(id, math.inf) > 2 * HEARTBEAT_SECONDS + self._lag:
            self.lose(id)

    def lose_silent(self) -> None:
        """Remove servers without recent heartbeats, not counting time when this server could not receive heartbeats."""
        now = clock.monotonic()
        could_hear = self._link.is_connected and now - self._looked_at < GONE_SECONDS
        self._lag = max(now - self._looked_at - HEARTBEAT_SECONDS, self._lag / 2)
        self._looked_at = now
        if not could_hear:
            self.listen_anew()
        for id in [id for id, heard_at in self._heard_at.items() if now - heard_at > GONE_SECONDS + self._lag]:
            self.lose(id)


def _chosen_of(ids: list[str], key: str) -> str:
    return max(ids, key=lambda id: blake2b(f"{id} {key}".encode(), digest_size=8).digest())
