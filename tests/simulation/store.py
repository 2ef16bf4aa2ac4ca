"""Three NATS nodes on the simulated network, and what goes wrong with them.

What is stored is never lost, as if most nodes always had it; writes may be late, and answers late, lost or errors.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from typing import Any, Final

import msgspec

from tests.server.fake_nats import STREAM, Client, FakeNats, Fault, Headers, Kept
from tests.simulation.network import NEAR_PORTS, Network
from tests.simulation.world import World
from tictactoe_server.cluster.jetstream.streams import FORMAT, LAYOUT, Layout

FAULTS: Final[tuple[Fault | int, ...]] = ("lost write", "lost ack", "late ack", "in process", "nobody", 10077)
"""What may become of a write in times of trouble."""
SILENCE_SECONDS: Final = 12.0
"""A node drops a client from which nothing came for so long."""


class Store(FakeNats):
    """The nodes, which share everything that is stored.

    Attributes:
        faulty_until: Until when writes may meet one of `FAULTS`.
        leaderless_until: Until when nobody answers for the stream, or only with an error if `is_refusing`.
        frozen_until: Until when each node is frozen, by port.
    """

    def __init__(self, world: World, network: Network) -> None:
        super().__init__()
        self.world = world
        self.counts: Counter[str] = Counter()
        self.is_refusing = False
        self.heal()
        self._chance = world.chance("store")
        self._median_seconds = self._chance.choice((0.0005, 0.003, 0.012))
        for port in NEAR_PORTS:
            network.serve(port, partial(NodeClient, self, port))
        self.keep(f"$KV.{STREAM}.{LAYOUT}", msgspec.json.encode(Layout(FORMAT)))

    def heal(self) -> None:
        """End all trouble."""
        self.faulty_until = self.leaderless_until = 0.0
        self.copied = None
        self.frozen_until = dict.fromkeys(NEAR_PORTS, 0.0)

    def take(self, client: Client, subject: str, reply: str, headers: Headers, data: bytes) -> None:
        is_for_leader = subject.startswith(("$KV.", "$JS.API.STREAM."))
        if not is_for_leader or self.world.time() >= self.leaderless_until:
            super().take(client, subject, reply, headers, data)
        elif self.is_refusing and reply:
            self.send(reply, b"", {"": "503"})

    def _write(self, reply: str, write: Kept) -> None:
        is_spared = write.subject.endswith(".time")
        if self.world.time() < self.faulty_until and self._chance.random() < 0.5 and not is_spared:
            fault = self._chance.choice(FAULTS)
            self.faults.append(fault)
            self.counts[f"writes {fault}"] += 1
            self.world.call_later(self._chance.uniform(0.02, 4.0), self.release)
        super()._write(reply, write)

    def _keep(self, write: Kept) -> Kept:
        kept = super()._keep(write)
        self.counts["commits"] += 1
        self.world.trace("stored", kept.subject, kept.sequence)
        return kept

    def _say(self, reply: str, content: dict[str, Any]) -> None:
        if reply:
            seconds = min(0.5, self._median_seconds * self._chance.lognormvariate(0.0, 0.7))
            self.world.call_later(seconds, self.send, reply, json.dumps(content).encode())


class NodeClient(Client):
    """A connection of a server, on the side of a node, which drops it after a long silence."""

    def __init__(self, store: Store, port: int) -> None:
        super().__init__(store)
        self.port = port
        self._store = store
        self._heard_at = store.world.time()

    def connection_made(self, transport: Any) -> None:
        transport.stall(self._store.frozen_until[self.port] - self._store.world.time())
        super().connection_made(transport)
        self._drop_if_silent()

    def data_received(self, data: bytes) -> None:
        self._heard_at = self._store.world.time()
        super().data_received(data)

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    def _drop_if_silent(self) -> None:
        if self._store.world.time() - self._heard_at > SILENCE_SECONDS:
            self.transport.abort()
        elif self in self._store.clients:
            self._store.world.call_later(SILENCE_SECONDS / 2, self._drop_if_silent)
