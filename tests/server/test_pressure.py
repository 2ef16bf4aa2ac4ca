"""What is refused while there is too much to do, whatever share of the processor the server has."""

from __future__ import annotations

import asyncio

import pytest

from tests.limits import uncounted
from tests.raw import text
from tests.server.test_connection_life import UPGRADE, FakeTransport
from tictactoe_server.tables import Pressure, Sources
from tictactoe_server.transport import Connection, Door, Receiver
from tictactoe_server.transport.caller import Caller
from tictactoe_server.transport.connection import FRAMES_A_TURN

SECOND_NS = 1_000_000_000
TURN_MS = 80
MESSAGE = text('{"type":"rooms"}')


class Machine:
    """A server's two clocks, where it has a share of the processor's time, and what it does in that."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._now = self._worked = 1_000.0
        self.sources = Sources(0, 0.0, lambda: SECOND_NS)
        self.pressure = Pressure(TURN_MS, self.sources, lambda: self._now, lambda: self._worked)
        self.source = self.sources.of("192.0.2.1")
        self.source.served = self.sources.served = 1

    def rest(self, seconds: float) -> None:
        self._now += seconds

    def work(self, seconds: float) -> None:
        self._worked += seconds
        self._now += seconds / self._share

    async def turn(self, inside: float, outside: float) -> bool:
        """Work in a turn of the event loop and after it; tell whether what is read at its beginning is refused."""
        self.pressure.requests = 1
        self.pressure.look()
        is_refused = self.pressure.is_high(self.source)
        self.work(inside)
        await asyncio.sleep(0)
        self.work(outside)
        return is_refused


@pytest.mark.parametrize("share", [1.0, 0.5, 0.2])
async def test_a_server_that_always_works_finds_no_rest_whatever_share_of_the_processor_it_has(share: float) -> None:
    machine = Machine(share)
    for _ in range(30):
        await machine.turn(0.003, 0.003)
    assert machine.pressure.is_restless
    for _ in range(30):
        await machine.turn(0.003, 0.003)
        machine.rest(0.03)
    assert not machine.pressure.is_restless


async def test_what_was_read_after_a_long_turn_is_refused_where_there_is_no_rest_and_not_after_short_ones() -> None:
    machine = Machine(share=0.5)
    for _ in range(30):
        assert not await machine.turn(0.003, 0.003)
    assert not await machine.turn(0.1, 0.03)
    assert await machine.turn(0.003, 0.003), "it may have come 260 ms ago"
    assert not await machine.turn(0.003, 0.003)


async def test_what_comes_after_a_long_rest_is_not_taken_for_old() -> None:
    machine = Machine(share=0.5)
    for _ in range(30):
        await machine.turn(0.003, 0.003)
    machine.rest(10)
    assert not await machine.turn(0.003, 0.003)


class Dated:
    """Takes note of how long what it received may have waited."""

    def __init__(self) -> None:
        self.waited_ms: list[int] = []

    def received(self, message: bytes, waited_ms: int = 0) -> None:
        self.waited_ms.append(waited_ms)

    def ended(self) -> None:
        pass


class Transport(FakeTransport):
    """Knows whether it is read from."""

    def __init__(self) -> None:
        super().__init__()
        self.read = asyncio.Event()

    def pause_reading(self) -> None:
        self.read.clear()

    def resume_reading(self) -> None:
        self.read.set()


async def opened(receiver: Receiver) -> tuple[Connection, Transport]:
    """Return a connection whose handshake is done."""
    limits, transport, accepted = uncounted(), Transport(), asyncio.Event()

    def accept(_: Connection) -> Receiver:
        accepted.set()
        return receiver

    connection = Connection(accept, lambda _: None, Caller(Door(limits)), limits)
    connection.connection_made(transport)
    connection.data_received(UPGRADE)
    await accepted.wait()
    return connection, transport


async def test_what_was_left_unread_is_as_old_as_that_and_what_comes_after_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dated, now = Dated(), [asyncio.get_running_loop().time()]
    connection, transport = await opened(dated)
    connection.data_received(MESSAGE)
    monkeypatch.setattr(connection._loop, "time", lambda: now[0])
    connection.read_later(0.05)
    assert not transport.read.is_set()
    now[0] += 0.3
    await transport.read.wait()
    connection.data_received(2 * MESSAGE)
    connection.data_received(2 * MESSAGE)
    connection.data_received(MESSAGE)
    assert dated.waited_ms == [0, 300, 300, 0, 0, 0]
    connection.connection_lost(None)


async def test_a_burst_that_is_taken_in_several_turns_is_not_old_for_that(monkeypatch: pytest.MonkeyPatch) -> None:
    dated, now = Dated(), [asyncio.get_running_loop().time()]
    connection, transport = await opened(dated)
    monkeypatch.setattr(connection._loop, "time", lambda: now[0])
    connection.data_received((FRAMES_A_TURN + 1) * MESSAGE)
    assert not transport.read.is_set()
    now[0] += 0.2
    await transport.read.wait()
    connection.data_received(MESSAGE)
    assert dated.waited_ms == [*(0 for _ in range(FRAMES_A_TURN + 1)), 200], "what comes then was not read meanwhile"
    connection.connection_lost(None)
