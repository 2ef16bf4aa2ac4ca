"""Limits per address of connections and plain HTTP requests; a class behind one address stays within them."""

import asyncio
import contextlib
import time
from collections import Counter

from tests.fakes import FakeClock
from tests.limits import uncounted
from tests.peer import until
from tests.raw import UPGRADE, open_bytes, read_to_end
from tests.server.test_limits import LOOPBACK, handshake, serving
from tests.server.test_plain_http import read_answer
from tictactoe_server.fair_queue import FairQueue
from tictactoe_server.settings import Limits
from tictactoe_server.transport.admission import Admission, RemotePeer

OWN = "Host: 127.0.0.1"
PARTS = 28
PUPILS, CONNECTIONS = 300, 6


def asking(path: str, *lines: str) -> bytes:
    return "\r\n".join((f"GET {path} HTTP/1.1", OWN, *lines, "", "")).encode()


async def test_every_answer_counts_and_exceeding_the_limit_closes_the_connection() -> None:
    async with serving(uncounted(requests_per_minute_per_address=6)) as server:
        kinds = ["GET /healthz", "GET /readyz", "GET /ws", "POST /", "GET /nothing-of-this", "GET /"]
        for kind in kinds:
            async with open_bytes(server.port) as (reader, writer):
                writer.write(f"{kind} HTTP/1.1\r\n{OWN}\r\n\r\n".encode())
                assert (await read_answer(reader)).status != 429
        async with open_bytes(server.port) as (reader, writer):
            writer.write(asking("/healthz") * 3)
            answers = await read_to_end(reader)
        counts = [answers.count(part) for part in (b"HTTP/1.1 ", b"HTTP/1.1 429 ", b"Connection: close")]
        assert counts == [1, 1, 1]
        assert b"Retry-After: " in answers
        assert server.parts.limited()["requests-per-minute-per-address"] == 1
        assert await handshake(server, [OWN]) == 101, "whoever plays is not kept out by those who look"


async def test_operator_requests_through_a_proxy_are_not_rate_limited_with_others() -> None:
    async with serving(uncounted(requests_per_minute_per_address=2), trusted_proxies=LOOPBACK) as server:
        statuses = Counter[tuple[str, int]]()
        for who, lines in (("stranger", ("X-Forwarded-For: 192.0.2.1",)), ("operator", ())):
            for _ in range(3 if lines else 2):
                async with open_bytes(server.port) as (reader, writer):
                    writer.write(asking("/healthz", *lines))
                    statuses[who, (await read_answer(reader)).status] += 1
        assert statuses == {("stranger", 200): 2, ("stranger", 429): 1, ("operator", 200): 2}


async def test_connections_are_limited_by_address(clock: FakeClock) -> None:
    limits = uncounted(connections_per_minute_per_address=60, connections_at_once_per_address=3)
    async with serving(limits, clock) as server:
        assert [await handshake(server, [OWN]) for _ in range(3)] == [101] * 3
        for _ in range(2):
            async with open_bytes(server.port) as (reader, _):
                assert (await read_to_end(reader)).startswith(b"HTTP/1.1 503 ")
        clock.advance(1_000)
        assert await handshake(server, [OWN]) == 101
        assert server.parts.limited()["connections-per-minute-per-address"] == 2


async def test_a_connection_counts_by_its_requests_or_as_a_new_one_and_never_as_both(clock: FakeClock) -> None:
    limits = uncounted(connections_per_minute_per_address=1, connections_at_once_per_address=1)
    async with serving(limits, clock) as server:
        for _ in range(5):
            async with open_bytes(server.port) as (reader, writer):
                writer.write(asking("/healthz"))
                assert (await read_answer(reader)).status == 200
        async with open_bytes(server.port) as (reader, writer):
            writer.write(asking("/healthz") + UPGRADE)
            assert (await read_answer(reader)).status == 200
            assert (await reader.readline()).startswith(b"HTTP/1.1 101 ")
        assert server._admission.newcomers.most_used == 1
        async with open_bytes(server.port) as (reader, _):
            assert (await read_to_end(reader)).startswith(b"HTTP/1.1 503 ")


async def test_the_connection_that_fetched_something_longest_ago_makes_room_for_another_of_its_address() -> None:
    async with serving(uncounted(connections_per_address=2)) as server, contextlib.AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(open_bytes(server.port)) for _ in range(2)]
        for reader, writer in (first, second):
            writer.write(asking("/healthz"))
            assert (await read_answer(reader)).status == 200
        assert await handshake(server, [OWN]) == 101
        assert await read_to_end(first[0]) == b""
        second[1].write(asking("/healthz"))
        assert (await read_answer(second[0])).status == 200


def test_a_class_of_300_behind_one_address_opens_the_page_and_plays_and_meets_no_limit() -> None:
    now_ns = [60_000_000_000]
    admission = Admission(Limits(), monotonic_ns=lambda: now_ns[0])
    players: list[RemotePeer] = []
    for _ in range(PUPILS):
        peers = [RemotePeer(admission) for _ in range(CONNECTIONS)]
        for peer in peers:
            assert peer.accept("192.0.2.1")
        for number in range(PARTS):
            assert peers[number % CONNECTIONS].count_request("/") == 0
        for peer in peers:
            peer.idle(peer.release)
        players.append(RemotePeer(admission))
        assert players[-1].accept("192.0.2.1")
        now_ns[0] += 10_000_000_000 // PUPILS
    for player in players:
        player.close()
    for _ in range(PUPILS):
        assert RemotePeer(admission).accept("192.0.2.1"), "all come back at once"
    assert not admission.refused


async def test_work_is_sliced_and_addresses_take_turns() -> None:
    done: list[str] = []
    queue, turned = FairQueue(), 0

    def count() -> None:
        nonlocal turned
        turned += 1
        if len(done) < 6:
            asyncio.get_running_loop().call_soon(count)

    def work(name: str) -> None:
        done.append(name)
        until = time.thread_time() + 0.002
        while time.thread_time() < until:
            pass

    for name in ("a1", "a2", "a3", "a4"):
        queue.put("192.0.2.1", lambda name=name: work(name))  # type: ignore[misc]
    for name in ("b1", "b2"):
        queue.put("192.0.2.2", lambda name=name: work(name))  # type: ignore[misc]
    count()
    await until(lambda: len(done) == 6)
    assert done == ["a1", "b1", "b2", "a2", "a3", "a4"], "who has less waiting comes first where both had as much"
    assert turned >= 6, "one thing in a turn where each takes long"
