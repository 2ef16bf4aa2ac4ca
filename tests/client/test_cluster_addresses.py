import asyncio
import itertools
import math
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn, cast

import pytest

from tictactoe_client import Backoff, BadAddress, ConnectionLost, Refused, Unreachable, parse_address
from tictactoe_client.online.address import Address, parse_cluster
from tictactoe_client.online.client import Client
from tictactoe_client.online.connection import Connection, arrive
from tictactoe_client.online.errors import ClientError
from tictactoe_client.online.events import Back, ConnectionEvent
from tictactoe_client.online.messages import Message
from tictactoe_client.session import cluster_for
from tictactoe_client.settings import Settings
from tictactoe_protocol import PROTOCOL_VERSION
from tictactoe_protocol.pushes import Welcome

STEADY = Backoff(jitter=0, moment=0)


def first(count: int, backoff: Backoff, *arguments: float) -> list[tuple[int, float]]:
    return list(itertools.islice(backoff.ways(*arguments), count))  # type: ignore[arg-type]


def test_addresses_stand_with_commas_between_and_each_counts_once() -> None:
    assert parse_cluster("one,two:9, wss://three,one").urls == ("ws://one:8765", "ws://two:9", "wss://three")
    assert parse_cluster(None) == parse_cluster("localhost")
    assert parse_cluster(()) == parse_cluster(None)
    assert parse_cluster(["one", parse_address("two")]) == parse_cluster("one,two")


@pytest.mark.parametrize("text", [",", "one,t wo", "one,http2://two"])
def test_an_invalid_server_address_is_refused(text: str) -> None:
    with pytest.raises(BadAddress, match="is not a server address"):
        parse_cluster(text)


def test_a_cluster_may_begin_with_any_of_its_addresses_and_keeps_the_rest_in_a_ring() -> None:
    cluster = parse_cluster("one,two,three")
    assert cluster.starting_at(parse_address("two")).urls == parse_cluster("two,three,one").urls
    assert cluster.starting_at(parse_address("four")) == parse_cluster("four")
    assert cluster.has(parse_address("three"))
    assert not cluster.has(parse_address("wss://three"))


def test_a_link_into_the_cluster_of_the_settings_leads_to_all_of_it() -> None:
    settings = Settings(server="one,two")
    assert cluster_for(settings, None) == parse_cluster("one,two")
    assert cluster_for(settings, parse_address("two")) == parse_cluster("two,one")
    assert cluster_for(settings, parse_address("three")) == parse_cluster("three")
    assert cluster_for(Settings(server="o ne"), parse_address("three")) == parse_cluster("three")


def failing(failures: dict[str, ClientError], tried: list[str]) -> Callable[[Address], Awaitable[Connection]]:
    async def greet(address: Address) -> NoReturn:
        tried.append(address.host)
        raise failures[address.host]

    return greet


async def test_the_failures_of_all_addresses_are_in_one_message() -> None:
    failures: dict[str, ClientError] = {
        "a": Unreachable("ws://a", "no such host"),
        "b": Unreachable("ws://b", "refused"),
    }
    tried: list[str] = []
    with pytest.raises(Unreachable) as caught:
        await arrive(parse_cluster("a,b"), failing(failures, tried))
    assert tried == ["a", "b"]
    assert caught.value.message == "Can't reach ws://a  (no such host), nor ws://b  (refused)"


async def test_a_server_that_is_too_busy_is_passed_over_and_one_that_refuses_for_good_is_not() -> None:
    failures: dict[str, ClientError] = {"a": Refused("busy", "Later."), "b": Unreachable("ws://b", "refused")}
    tried: list[str] = []
    with pytest.raises(Refused, match="Later"):
        await arrive(parse_cluster("a,b"), failing(failures, tried))
    assert tried == ["a", "b"]
    failures["a"] = Refused("bad_name", "No.")
    with pytest.raises(Refused, match="No"):
        await arrive(parse_cluster("a,b"), failing(failures, tried))
    assert tried == ["a", "b", "a"]


def test_the_others_are_tried_at_once_and_the_waits_grow_after_each_round() -> None:
    assert first(8, STEADY, 3) == [(1, 0), (2, 0), (0, 0.4), (1, 0), (2, 0), (0, 0.8), (1, 0), (2, 0)]


def test_clients_of_a_lost_server_spread_their_reconnections() -> None:
    waits = [first(1, Backoff(), 2)[0][1] for _ in range(300)]
    assert 0 <= min(waits) < 0.02
    assert 0.08 < max(waits) <= 0.1


def test_after_a_connection_that_did_not_last_the_first_wait_comes_before_the_next_address() -> None:
    ways = STEADY.ways(2, lasted_seconds=0.5)
    assert list(itertools.islice(ways, 4)) == [(1, 0.4), (0, 0.4), (1, 0), (0, 0.8)]


def test_an_announced_return_time_delays_only_that_server() -> None:
    for _ in range(50):
        ways = first(12, STEADY, 2, 3000)
        back = next(number for number, (step, _) in enumerate(ways) if step == 0)
        assert ways[:4] == [(1, 0), (1, 0.4), (1, 0.8), (1, 1.6)]
        assert sum(wait for _, wait in ways[: back + 1]) >= 3


def test_a_server_that_stopped_for_good_is_never_tried_again() -> None:
    assert {step for step, _ in first(40, STEADY, 2, math.inf)} == {1}


AWAY = Unreachable("ws://host:8765", "connection refused")
BUSY = Refused("busy", "Too many.")


class FakeConnection:
    """A connection that is lost at once, to a server that holds a seat for 150 ms."""

    address, servers, is_bot, notice = parse_address("host"), (), False, None
    began_at = latency_seconds = 0.001
    welcome = Welcome(
        protocol=PROTOCOL_VERSION,
        server="tictactoe/2",
        player="p-ana",
        name="ana",
        token="secret",
        rooms=(),
        hold_ms=150,
        sharing=False,
        ladders=(),
    )
    message = Message("", welcome)

    async def hear(self) -> NoReturn:
        raise ConnectionLost("it broke")

    async def close(self) -> None: ...


class Caller:
    """A client that reconnects to a server with these failures."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answer: Callable[[int], Exception | None]) -> None:
        self.calls = 0
        self._answer = answer
        monkeypatch.setattr("tictactoe_client.online.client.greet", self._greet)

    async def _greet(self, *_: object, **__: object) -> Connection:
        self.calls += 1
        if error := self._answer(self.calls):
            raise error
        return cast(Connection, FakeConnection())

    async def come_back(self, absent_seconds: float) -> ConnectionEvent:
        """Return how the first loss ends."""
        backoff = Backoff(first=(0.01,), longest=0.01, jitter=0, absent_seconds=absent_seconds)
        client = Client(parse_cluster("host"), cast(Connection, FakeConnection()), backoff, 5.0)
        try:
            async for message in client.messages():
                if isinstance(message.event, Back):
                    return message.event
        finally:
            await client.close()
        raise AssertionError


@pytest.fixture
async def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip all waiting times, so that a busy machine makes no difference."""
    loop, passed = cast(Any, asyncio.get_running_loop()), 0.0
    look, started = loop._selector.select, loop.time()

    def wait(seconds: float | None) -> Any:
        nonlocal passed
        found = look(0 if seconds else seconds)
        passed += max(seconds or 0, 1e-6) if not found else 0  # time passes even if a rest is lost in rounding
        return found

    monkeypatch.setattr(loop._selector, "select", wait)
    monkeypatch.setattr(loop, "time", lambda: started + passed)


@pytest.mark.usefixtures("at_once")
async def test_a_hold_does_not_run_out_while_no_server_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    caller = Caller(monkeypatch, lambda call: AWAY if call < 30 else None)
    await caller.come_back(30.0)
    assert caller.calls == 30


@pytest.mark.usefixtures("at_once")
async def test_a_server_that_comes_back_and_is_busy_at_first_is_still_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caller = Caller(monkeypatch, lambda call: AWAY if call < 30 else BUSY if call < 32 else None)
    await caller.come_back(30.0)
    assert caller.calls == 32


@pytest.mark.usefixtures("at_once")
async def test_attempts_end_even_if_no_server_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    caller = Caller(monkeypatch, lambda call: AWAY)
    with pytest.raises(ConnectionLost) as lost:
        await caller.come_back(0.2)
    assert lost.value.gave_up
    assert 3 <= caller.calls <= 24


def test_without_a_word_about_it_one_without_a_server_is_patient_for_ten_minutes() -> None:
    assert Backoff().patience(5_000) == (5, 600)
    assert Backoff().patience(900_000) == (900, 900)
