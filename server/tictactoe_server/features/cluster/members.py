"""The live servers of the cluster, by their heartbeats."""

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
from tictactoe_server.listeners import Listeners

HEARTBEAT_SECONDS: Final = 0.3
GONE_SECONDS: Final = 1.2  # without a heartbeat, until a server counts as dead

log: Final = structlog.get_logger(__name__)


class Members:
    """The running servers of the cluster.

    Attributes:
        number: The number of the last `News` of this server.
        others: The last heartbeats of the other servers, by id.
        on_gone: Called with the id of each dead server.
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
        self._lag = 0.0  # the delay of this server's event loop (s): received heartbeats wait as long
        self.on_gone = Listeners[[str]]()
        self._is_draining = is_draining

    @property
    def is_behind(self) -> bool:
        """Whether this server's time may be late: it has heard no heartbeat for a while, and one may come soon."""
        now = clock.monotonic()
        may_hear = bool(self.others) or now - self._listening_since < GONE_SECONDS
        return may_hear and now - self._last_heard_at > GONE_SECONDS

    @property
    def urls(self) -> tuple[str, ...]:
        """The URLs of the servers that stay, this one first."""
        return (self.url, *(other.url for other in self.others.values() if not other.is_leaving))

    def is_living(self, id: str) -> bool:
        return id == self.id or id in self.others

    def stays(self, id: str) -> bool:
        """Return whether another server is running and not leaving."""
        return id in self.others and not self.others[id].is_leaving

    def url_of(self, id: str) -> str | None:
        return self.others[id].url if id in self.others else None

    def chosen_for(self, key: str) -> str:
        """Return the server responsible for a key, by rendezvous hashing, so that all servers agree."""
        serving = list(filter(self.stays, self.others))
        if not self.is_leaving or not serving:
            serving.append(self.id)
        return _chosen_of(serving, key)

    def is_chosen_to_begin(self, key: str) -> bool:
        """Return whether this server starts what is due for a key; leaving and draining servers don't."""
        serving = [id for id in filter(self.stays, self.others) if not self.others[id].is_draining]
        is_free = self.is_in and not (self.is_leaving or self._is_draining())
        return is_free and _chosen_of([*serving, self.id], key) == self.id

    def come_in(self) -> None:
        self.is_in = True
        self._send_heartbeat()

    def leave(self) -> None:
        """Announce that this server leaves and accepts no rooms."""
        self.is_leaving = True
        self._send_heartbeat()

    async def run(self) -> None:
        """Send heartbeats and detect dead servers, until cancelled."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            self.lose_silent()
            self._send_heartbeat()

    def lose(self, id: str) -> None:
        if id in self.others:
            log.info("a server of the cluster is gone", server=self.others[id].name)
            del self.others[id], self._heard_at[id]
            self.on_gone(id)

    def _send_heartbeat(self) -> None:
        """Send a heartbeat, and probe each other server with a message that NATS returns if it is gone."""
        if self.is_in:
            living, now = [*self.others, self.id], self._time_served()
            going = self.is_leaving, self._is_draining()
            heartbeat = Heartbeat(self.id, self.name, self.url, now, living, self.number, *going)
            self._link.publish(HEARTBEATS, encode(heartbeat))
            for other in self.others:
                self._link.publish(HERE + other, reply=f"{NOT_THERE}{self.id}.{other}")

    def on_heartbeat(self, heartbeat: Heartbeat) -> bool:
        """Process a heartbeat; return whether its server has just begun to leave."""
        known = self.others.get(heartbeat.sender)
        begins_to_leave = heartbeat.is_leaving and (known is None or not known.is_leaving)
        if known is None:
            log.info("a server of the cluster has come", server=heartbeat.name, url=heartbeat.url)
        elif begins_to_leave:
            log.info("a server of the cluster leaves", server=heartbeat.name)
        self.others[heartbeat.sender] = heartbeat
        self._heard_at[heartbeat.sender] = self._last_heard_at = clock.monotonic()
        self._time_served.go_on_from(heartbeat.time)
        return begins_to_leave

    def listen_anew(self) -> None:
        """Restart the silence timers: heartbeats were lost with the connection."""
        self._listening_since = clock.monotonic()
        self._heard_at = dict.fromkeys(self.others, self._listening_since)

    def on_not_there(self, message: Message) -> None:
        """Remove a server after two missed heartbeats if NATS returns messages to it."""
        id = message.subject.rpartition(".")[2]
        if clock.monotonic() - self._heard_at.get(id, math.inf) > 2 * HEARTBEAT_SECONDS + self._lag:
            self.lose(id)

    def lose_silent(self) -> None:
        """Remove silent servers, with an allowance for the time when this server could not listen."""
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
