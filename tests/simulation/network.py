"""Connections with delay, lost answers, cuts, half-open and one-way links, between transports of a process."""

from __future__ import annotations

import asyncio
import contextvars
import math
import random
from asyncio.transports import _FlowControlMixin
from collections.abc import Callable
from typing import Any, Final

from tests.simulation.world import Process, World, current_process

NEAR_PORTS: Final = (4222, 4223, 4224)  # of the store's nodes, which are near the servers
SOCKET_BYTES: Final = 16 * 1024  # which the operating system takes before a transport's own buffer fills
STALLED_FACTOR: Final = 256  # how much faster the buffers of a stalled connection fill


class Wire(_FlowControlMixin):
    """One end of a connection; the `other` end receives the data written here.

    Attributes:
        is_open: Whether `connection_made` was called and `connection_lost` was not.
        is_cut: Whether everything that this end sends is lost from now on.
        stalled_until: Nothing that this end sends arrives before this time.
    """

    other: Wire
    _protocol: Any
    _protocol_paused: bool
    _maybe_pause_protocol: Callable[[], None]
    _maybe_resume_protocol: Callable[[], None]

    def __init__(self, world: World, chance: random.Random, delay: float, name: str) -> None:
        super().__init__(loop=world)
        self.world, self.name, self.delay, self._chance = world, name, delay, chance
        self.process: Process | None = None
        self.is_open = self.is_cut = False
        self.stalled_until = self._arrival = 0.0
        self.closed_at = math.inf
        self._bytes_in_flight = 0
        self._is_closing = False
        self._unread: list[bytes] | None = None

    def open(self, protocol: Any) -> None:
        self._protocol = protocol
        self.process = current_process()
        self.is_open = True
        protocol.connection_made(self)
        if self._is_closing:  # the other end has gone while this one waited to be accepted
            self._call_later(0.0, self._lose)

    def write(self, data: Any) -> None:
        data = b"" if self._is_closing or not self.is_open else bytes(data)
        self._bytes_in_flight += len(data)
        if data:
            self._send(self.other._receive, data)
        self._maybe_pause_protocol()

    def close(self) -> None:
        if not self._is_closing:
            self.closed_at = self.world.time()
            self._send(self.other.break_off)
            self.break_off(0.0002)

    def abort(self) -> None:
        self.close()
        self.is_cut = True

    def is_closing(self) -> bool:
        return self._is_closing

    def can_write_eof(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        """Return what is not yet in the buffers of the operating system, which seem small while nothing arrives."""
        if self.world.time() < self.stalled_until:
            return self._bytes_in_flight * STALLED_FACTOR
        return max(0, self._bytes_in_flight - SOCKET_BYTES)

    def pause_reading(self) -> None:
        self._unread = [] if self._unread is None else self._unread

    def resume_reading(self) -> None:
        unread, self._unread = self._unread, None
        for data in unread or ():
            self._receive(data)

    def setblocking(self, flag: bool) -> None: ...

    def stall(self, seconds: float) -> None:
        self.stalled_until = max(self.stalled_until, self.world.time() + seconds)

    def break_off(self, seconds: float = 0.0) -> None:
        self._is_closing = True
        self._call_later(seconds, self._lose)

    def _send(self, deliver: Callable[..., None], *data: bytes) -> None:
        delay = self.delay * self._chance.uniform(0.8, 1.5)
        self._arrival = max(self._arrival + 2e-5, self.world.time() + delay, self.stalled_until)
        self.world.call_at(self._arrival, self._arrive, deliver, *data, context=self.other._context)

    def _arrive(self, deliver: Callable[..., None], *data: bytes) -> None:
        self._bytes_in_flight -= sum(map(len, data))
        if self._protocol_paused and self.is_open:
            self._call_later(0.0, self._maybe_resume_protocol)
        if not self.is_cut:
            deliver(*data)

    def _receive(self, data: bytes) -> None:
        if not self.is_open or self._is_closing:
            return
        if self._unread is not None:
            self._unread.append(data)
            return
        self.world.trace(self.name, data)
        self._protocol.data_received(data)

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
    def __init__(self, network: Network, port: int) -> None:
        self.port = port
        self.waiting: list[tuple[Wire, str]] = []
        self.notify: Callable[[], object] = lambda: None
        self.process = current_process()
        self._network = network

    def listen(self, backlog: int) -> None:
        self._network.listening[self.port] = self

    def setblocking(self, flag: bool) -> None: ...

    def getsockname(self) -> tuple[str, int]:
        return "127.0.0.1", self.port

    def accept(self) -> tuple[Wire, tuple[str, int]]:
        if not self.waiting:
            raise BlockingIOError
        wire, address = self.waiting.pop(0)
        if self.waiting:
            self.notify()
        return wire, (address, 50_000)

    def close(self) -> None:
        if self._network.listening.get(self.port) is self:
            del self._network.listening[self.port]


class Network:
    """The network.

    Attributes:
        makers: Makers of protocols for connections to ports of the simulation itself.
        blocked_until: Until when connections from an address to a port have to wait.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        world.connect = self.connect
        self.makers: dict[int, Callable[[], Any]] = {}
        self.blocked_until: dict[tuple[str, int], float] = {}
        self.listening: dict[int, ListeningSocket] = {}
        self._wires: list[Wire] = []
        self._connections: dict[str, int] = {}

    def open_sockets(self, host: str | None, port: int) -> list[Any]:
        return [ListeningSocket(self, port)]

    async def connect(self, port: int, protocol: Any, name: str, address: str) -> Wire:
        """Connect `protocol` to a port from an address; raises `ConnectionRefusedError` if the port is closed."""
        number = self._connections[name] = self._connections.get(name, 0) + 1
        chance = self.world.chance(f"{name}#{number}")
        delay = min(0.5, chance.lognormvariate(-4.2, 1.0))
        if port in NEAR_PORTS:
            delay /= 10
        await asyncio.sleep(delay)
        await asyncio.sleep(self.blocked_until.get((address, port), 0.0) - self.world.time())
        listening = self.listening.get(port)
        if listening is None and port not in self.makers:
            raise ConnectionRefusedError
        near = Wire(self.world, chance, delay, f"{name}#{number}>")
        far = Wire(self.world, chance, delay, f"{name}#{number}<")
        near.other, far.other = far, near
        self._wires = [wire for wire in self._wires if wire.is_open or wire.other.is_open]
        self._wires.append(near)
        if listening is None:
            self.world.call_soon(far.open, self.makers[port](), context=self.world.outside)
        else:
            listening.waiting.append((far, address))
            listening.notify()
        near.open(protocol)
        return near

    def drop_process(self, process: Process, *, resets: bool) -> None:
        """Close what a killed process had open. Without `resets`, as after a loss of power, its peers learn nothing."""
        for port, listening in list(self.listening.items()):
            if listening.process is process:
                for wire, _ in listening.waiting:
                    wire.other.break_off()
                self.world.remove_reader(listening)
                del self.listening[port]
        for wire in [*self._wires, *(wire.other for wire in self._wires)]:
            if wire.other.process is process and wire.process is not process and wire.is_open:
                wire.is_cut = True
                wire.other.closed_at = self.world.time()
                if resets:
                    self.world.call_later(wire.delay * 2, wire.break_off, context=self.world.outside)
