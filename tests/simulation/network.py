"""Connections with delay, lost answers, cuts, half-open and one-way links, between transports of one process."""

from __future__ import annotations

import asyncio
import contextvars
import math
import random
from collections.abc import Callable
from typing import Any, Final

from tests.simulation.world import Process, World, current_process

HIGH_WATER_BYTES: Final = 64 * 1024
STALLED_BYTES: Final = 256
"""So much fills the buffers of a connection that is stalled, which is less than in reality."""
SOCKET_BYTES: Final = 16 * 1024
"""What the operating system takes before a transport's own buffer fills."""
NEAR_PORTS: Final = (4222, 4223, 4224)
"""The ports of the store's nodes, which are near the servers."""
SPLIT_CHANCE: Final = 0.05
"""How often a write arrives in several pieces."""


class Wire(asyncio.Transport):
    """One end of a connection; what is written arrives at the `other` end.

    Attributes:
        is_open: Whether `connection_made` was called and `connection_lost` was not.
        is_cut: Whether what this end sends is lost from now on.
        stalled_until: Nothing that this end sends arrives before this time.
        closed_at: When this end closed the connection.
    """

    other: Wire

    def __init__(self, world: World, chance: random.Random, delay: float, name: str, address: str) -> None:
        super().__init__()
        self.world = world
        self.name = name
        self.address = address
        self.delay = delay
        self.process: Process | None = None
        self.is_open = False
        self.is_cut = False
        self.stalled_until = 0.0
        self.closed_at = math.inf
        self._chance = chance
        self._protocol: Any = None
        self._bytes_in_flight = 0
        self._is_closing = False
        self._arrival = 0.0
        self._unread: list[bytes] | None = None
        self._is_writer_paused = False
        self._high_water = HIGH_WATER_BYTES

    def open(self, protocol: Any) -> None:
        """Give this end to the protocol of the running process."""
        self._protocol = protocol
        self.process = current_process()
        self.is_open = True
        protocol.connection_made(self)
        if self._is_closing:  # the other end has gone while this one waited to be accepted
            self._call_later(0.0, self._lose)

    # -- the transport ---------------------------------------------------------------------------------------------

    def write(self, data: Any) -> None:
        data = bytes(data)
        if not data or self._is_closing or not self.is_open:
            return
        self._bytes_in_flight += len(data)
        while data:
            size = self._chance.randint(1, len(data)) if self._chance.random() < SPLIT_CHANCE else len(data)
            self._send(self.other._receive, data[:size])
            data = data[size:]
        high_water = STALLED_BYTES if self.world.time() < self.stalled_until else self._high_water
        if self._bytes_in_flight > high_water and not self._is_writer_paused:
            self._is_writer_paused = True
            self._protocol.pause_writing()

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(list_of_data))

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self.closed_at = self.world.time()
            self._send(self.other._receive_end, None)
            self._call_later(0.0002, self._lose)

    def abort(self) -> None:
        self.close()
        self.is_cut = True

    def is_closing(self) -> bool:
        return self._is_closing

    def can_write_eof(self) -> bool:
        return False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"peername": (self.other.address, 50_000), "sockname": (self.address, 8765)}.get(name, default)

    def get_write_buffer_size(self) -> int:
        return max(0, self._bytes_in_flight - SOCKET_BYTES)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high_water = HIGH_WATER_BYTES if high is None else high

    def pause_reading(self) -> None:
        self._unread = [] if self._unread is None else self._unread

    def resume_reading(self) -> None:
        unread, self._unread = self._unread, None
        for data in unread or ():
            self._receive(data)

    def setblocking(self, flag: bool) -> None:
        """Do nothing: an accepted wire is also its own socket."""

    # -- trouble ---------------------------------------------------------------------------------------------------

    def cut(self) -> None:
        """Lose everything that this end sends from now on, without a word."""
        self.is_cut = True

    def stall(self, seconds: float) -> None:
        self.stalled_until = max(self.stalled_until, self.world.time() + seconds)

    def break_off(self) -> None:
        """End this side as after a reset."""
        self._is_closing = True
        self._call_later(0.0, self._lose)

    # -- what arrives ----------------------------------------------------------------------------------------------

    def _send(self, deliver: Callable[[Any], None], data: bytes | None) -> None:
        delay = self.delay * self._chance.uniform(0.8, 1.5)
        self._arrival = max(self._arrival + 2e-5, self.world.time() + delay, self.stalled_until)
        self.world.call_at(self._arrival, self._arrive, deliver, data, context=self.other._context)

    def _arrive(self, deliver: Callable[[Any], None], data: bytes | None) -> None:
        self._bytes_in_flight -= len(data or b"")
        if self._is_writer_paused and self._bytes_in_flight <= self._high_water // 4 and self.is_open:
            self._is_writer_paused = False
            self._call_later(0.0, self._resume_writing)
        if not self.is_cut:
            deliver(data)

    def _resume_writing(self) -> None:
        if self.is_open:
            self._protocol.resume_writing()

    def _receive(self, data: bytes) -> None:
        if not self.is_open or self._is_closing:
            return
        if self._unread is not None:
            self._unread.append(data)
            return
        self.world.trace(self.name, data)
        self._protocol.data_received(data)

    def _receive_end(self, _: None) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._lose()

    def _lose(self) -> None:
        if self.is_open:
            self.is_open = False
            self.world.trace(self.name, "lost")
            self._protocol.connection_lost(None)

    def _call_later(self, seconds: float, function: Callable[[], object]) -> None:
        self.world.call_later(seconds, function, context=self._context)

    @property
    def _context(self) -> contextvars.Context:
        return self.world.outside if self.process is None else self.process.context


class ListeningSocket:
    """Stands in for a listening socket of the server."""

    def __init__(self, network: Network, port: int) -> None:
        self.port = port
        self.waiting: list[Wire] = []
        self.process = current_process()
        self._network = network

    def listen(self, backlog: int) -> None:
        self._network.listening[self.port] = self

    def setblocking(self, flag: bool) -> None:
        """Do nothing: no call of it blocks."""

    def getsockname(self) -> tuple[str, int]:
        return "127.0.0.1", self.port

    def accept(self) -> tuple[Wire, tuple[str, int]]:
        if not self.waiting:
            raise BlockingIOError
        wire = self.waiting.pop(0)
        if self.waiting:
            self._network.world.notify_readable(self)
        return wire, (wire.other.address, 50_000)

    def close(self) -> None:
        if self._network.listening.get(self.port) is self:
            del self._network.listening[self.port]


class Network:
    """Every listening socket and connection of a run.

    Attributes:
        blocked: Until when nothing that an address sends to a port arrives.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        world.connect = self.connect
        self.blocked: dict[tuple[str, int], float] = {}
        self.listening: dict[int, ListeningSocket] = {}
        self._wires: list[Wire] = []
        self._connections: dict[str, int] = {}

    def open_sockets(self, host: str | None, port: int) -> list[Any]:
        """Stand in for `transport.listen.open_sockets`."""
        return [ListeningSocket(self, port)]

    def serve(self, port: int, make: Callable[[], Any]) -> None:
        """Accept connections to a port of the simulation itself, with a protocol that `make` returns for each."""
        listening = ListeningSocket(self, port)
        listening.listen(100)

        def accept() -> None:
            if listening.waiting:
                listening.accept()[0].open(make())

        self.world.add_reader(listening, accept)

    async def connect(self, port: int, protocol: Any, name: str, address: str) -> Wire:
        """Connect `protocol` to a port from an address; raises `ConnectionRefusedError` if nobody listens there."""
        number = self._connections[name] = self._connections.get(name, 0) + 1
        chance = self.world.chance(f"{name}#{number}")
        delay = min(0.5, chance.lognormvariate(-4.2, 1.0))
        if port in NEAR_PORTS:
            delay /= 10
        await asyncio.sleep(delay)
        await asyncio.sleep(self.blocked.get((address, port), 0.0) - self.world.time())
        listening = self.listening.get(port)
        if listening is None:
            raise ConnectionRefusedError
        near = Wire(self.world, chance, delay, f"{name}#{number}>", address)
        far = Wire(self.world, chance, delay, f"{name}#{number}<", "10.9.9.9")
        near.other, far.other = far, near
        self._wires = [wire for wire in self._wires if wire.is_open or wire.other.is_open]
        self._wires.append(near)
        listening.waiting.append(far)
        self.world.notify_readable(listening)
        near.open(protocol)
        return near

    def drop_process(self, process: Process, *, resets: bool) -> None:
        """Close what a killed process had open. Without `resets`, as after a loss of power, its peers learn nothing."""
        for port, listening in list(self.listening.items()):
            if listening.process is process:
                for wire in listening.waiting:
                    wire.other.break_off()
                self.world.remove_reader(listening)
                del self.listening[port]
        for wire in [*self._wires, *(wire.other for wire in self._wires)]:
            if wire.other.process is process and wire.process is not process and wire.is_open:
                wire.cut()
                wire.other.closed_at = self.world.time()
                if resets:
                    self.world.call_later(wire.delay * 2, wire.break_off, context=self.world.outside)
