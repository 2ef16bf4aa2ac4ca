"""How long it is tried to come back: a hold runs out before a server that answers, and not while there is none."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import cast

import pytest

from tictactoe_client import Backoff, ConnectionLost, Refused, Unreachable
from tictactoe_client.online.address import Address, parse_house
from tictactoe_client.online.connection import Connection
from tictactoe_client.online.events import Back, ConnectionEvent, Lost, Retrying
from tictactoe_client.online.reconnect import come_back

HOUSE = parse_house("host")
AWAY = Unreachable("ws://host:8765", "connection refused")
BUSY = Refused("busy", "Too many.")
SHORT_HOLD = (0.15, 30.0)


class FakeConnection:
    """A connection to a server that lets us in; only its latency is looked at."""

    latency_seconds = 0.001


class Caller:
    """Comes back to a server that fails so often and so; `told` is what is heard of it."""

    def __init__(self, answer: Callable[[int], Exception | None]) -> None:
        self.told: list[ConnectionEvent] = []
        self.calls = 0
        self._answer = answer

    async def greet(self, _: Address) -> Connection:
        self.calls += 1
        if error := self._answer(self.calls):
            raise error
        return cast(Connection, FakeConnection())

    async def come_back(self, patience: tuple[float, float]) -> Connection:
        ways = zip(itertools.repeat(0), itertools.repeat(0.01))
        lost, hurry = ConnectionLost("it broke"), asyncio.Event()
        async with asyncio.timeout(10):
            return await come_back(self.greet, HOUSE, ways, patience, lost, self.told.append, hurry)


async def test_a_hold_does_not_run_out_while_no_server_answers() -> None:
    caller = Caller(lambda call: AWAY if call < 30 else None)
    await caller.come_back(SHORT_HOLD)
    assert caller.calls == 30
    assert isinstance(caller.told[-1], Back)


async def test_a_server_that_comes_back_and_is_busy_at_first_is_still_waited_for() -> None:
    caller = Caller(lambda call: AWAY if call < 30 else BUSY if call < 32 else None)
    await caller.come_back(SHORT_HOLD)
    assert caller.calls == 32


async def test_a_server_that_only_puts_us_off_is_left_when_the_hold_is_over() -> None:
    caller = Caller(lambda call: BUSY)
    with pytest.raises(ConnectionLost) as lost:
        await caller.come_back(SHORT_HOLD)
    assert lost.value.gave_up
    assert caller.calls <= 16


async def test_where_nobody_answers_the_attempts_end_all_the_same() -> None:
    caller = Caller(lambda call: AWAY)
    with pytest.raises(ConnectionLost) as lost:
        await caller.come_back((0.01, 0.1))
    assert lost.value.gave_up
    assert 3 <= caller.calls <= 12


async def test_how_long_it_is_tried_is_told_of_both() -> None:
    caller = Caller(lambda call: None)
    await caller.come_back(SHORT_HOLD)
    assert caller.told[0] == Lost("it broke", None, 0.15, 30.0)
    assert isinstance(caller.told[1], Retrying)
    assert 29 < caller.told[1].left_seconds <= 30


def test_without_a_word_about_it_one_without_a_server_is_patient_for_ten_minutes() -> None:
    assert Backoff().patience(5_000) == (5, 600)
    assert Backoff().patience(900_000) == (900, 900)
