import itertools
import math
from collections.abc import Awaitable, Callable
from typing import NoReturn

import pytest

from tictactoe_client import Backoff, BadAddress, Refused, Unreachable, parse_address
from tictactoe_client.online.address import Address, parse_cluster
from tictactoe_client.online.connection import Connection, arrive
from tictactoe_client.online.errors import ClientError
from tictactoe_client.session import cluster_for
from tictactoe_client.settings import Settings

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


def test_without_a_word_about_it_one_without_a_server_is_patient_for_ten_minutes() -> None:
    assert Backoff().patience(5_000) == (5, 600)
    assert Backoff().patience(900_000) == (900, 900)
