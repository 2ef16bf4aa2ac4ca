import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from ipaddress import ip_network

import pytest

from tests.fakes import FakeClock
from tests.limits import uncounted
from tests.peer import Message, Peer, open_peer, until
from tests.raw import UPGRADE, open_bytes, open_raw, ping, read_to_end, text
from tests.server.cases import cases
from tictactoe_server.core.session import Delays
from tictactoe_server.features.bots.service import FEATURE as BOTS
from tictactoe_server.features.bots.service import BotOptions, Bots
from tictactoe_server.server import Server
from tictactoe_server.settings import COUNTS, Limits, Settings, count_of, with_counts
from tictactoe_server.transport.rate_limit import RateLimits

LOOPBACK = (ip_network("127.0.0.0/8"),)
MINUTE_MS = 60_000


def serving(limits: Limits | None = None, clock: Callable[[], int] = time.monotonic_ns, **chosen: object) -> Server:
    settings = Settings(**{"host": "127.0.0.1", "port": 0, **chosen})  # type: ignore[arg-type]
    return Server(settings, limits=limits, monotonic_ns=clock)


async def test_a_flood_is_answered_message_by_message_at_its_rate_with_few_notices() -> None:
    limits = uncounted(messages_per_second=500, messages_at_once=100)
    async with serving(limits) as server, open_raw(server.url) as flooder:
        began = time.monotonic()
        await flooder.write(b"".join(text(ping(str(number))) for number in range(600)))
        answers: list[Message] = []
        notices: list[Message] = []
        while len(answers) < 600:
            message = await flooder.message()
            (answers if message["type"] == "ok" else notices).append(message)
        took = time.monotonic() - began
        assert [answer["id"] for answer in answers] == [str(number) for number in range(600)]
        assert took > 0.9
        assert {notice["code"] for notice in notices} == {"rate_limited"}
        assert 1 <= len(notices) <= 1 + took
        assert all(notice["retry_ms"] > 0 and "id" not in notice for notice in notices)


@pytest.mark.parametrize("hello", [True, False])
async def test_continued_flooding_closes_the_connection(hello: bool) -> None:
    limits = uncounted(messages_per_second=100, messages_at_once=10, flood_seconds=0.3)
    async with serving(limits) as server, open_raw(server.url, hello=hello) as flooder:
        flooder.writer.write(b"".join(text('{"type":"rooms"}') for _ in range(5_000)))
        assert await flooder.close_code() == 1008


async def test_many_invalid_messages_close_the_connection() -> None:
    limits = uncounted(bad_messages_per_ten_seconds=5)
    async with serving(limits) as server, open_raw(server.url) as confused:
        await confused.write(b"".join(text(f'{{"type":"nonsense","id":"{number}"}}') for number in range(7)))
        assert [(await confused.message())["id"] for _ in range(6)] == ["0", "1", "2", "3", "4", "5"]
        assert await confused.close_code() == 1008


def test_bursts_with_pauses_between_them_are_no_flood() -> None:
    delays = Delays(flood_seconds=10.0)
    for burst in range(0, 100, 10):
        assert not delays.begin(burst)
        delays.end(burst + 8.5)
    for burst in range(100, 110, 5):
        assert not delays.begin(burst)
        delays.end(burst + 4.5)
    assert delays.begin(110.5)


async def test_a_players_rate_limit_spans_connections(clock: FakeClock) -> None:
    limits = uncounted(messages_per_second=1, messages_at_once=20, flood_seconds=600)
    async with serving(limits, clock) as server:
        async with open_peer(server.url, "ana") as ana:
            for _ in range(20):
                await ana.ask("ping")
        async with open_peer(server.url, token=ana.welcome["token"]) as again, open_peer(server.url, "bo") as bo:
            await again.send("ping", id="late")
            assert (await again.receive())["code"] == "rate_limited"
            assert (await bo.ask("ping"))["type"] == "ok"


async def test_new_players_are_limited_by_address_but_known_ones_return(clock: FakeClock) -> None:
    limits = uncounted(new_players_per_minute_per_address=60, new_players_at_once_per_address=60)
    async with serving(limits, clock) as server, contextlib.AsyncExitStack() as stack:
        url = server.url
        for _ in range(60):
            known = await stack.enter_async_context(open_peer(url))
        late = await stack.enter_async_context(open_peer(url, "late"))
        assert (late.welcome["code"], late.welcome["retry_ms"]) == ("rate_limited", 1_001)
        assert (await late.ask("hello", name="easy-bot"))["code"] == "bad_name"
        back = await stack.enter_async_context(open_peer(url, token=known.welcome["token"]))
        assert back.welcome["player"] == known.welcome["player"]
        clock.advance(1_001)
        assert (await late.ask("hello", name="late"))["type"] == "welcome"
        again = await stack.enter_async_context(open_peer(url))
        assert again.welcome["code"] == "rate_limited"


def test_removing_a_burst_limit_leaves_the_rate(clock: FakeClock) -> None:
    limits = with_counts(Limits(), {name: 0 for name in COUNTS if "-at-once" in name})
    for rate in ("messages-per-second", "connections-per-minute-per-address", "new-players-per-minute-per-address"):
        limit = RateLimits.named(limits, clock, rate).new()
        assert limit.consume(count_of(limits, rate)) == 0
        assert limit.consume() > 0


async def test_open_rooms_are_limited_by_player() -> None:
    async with serving(uncounted(rooms_per_player=3)) as server, open_peer(server.url, "ana") as ana:
        codes = [(await ana.ask("create"))["room"] for _ in range(3)]
        assert await ana.refusal("create") == "rate_limited"
        assert await ana.refusal("match", rules="gomoku") == "rate_limited"
        async with open_peer(server.url, "bo") as bo:
            assert (await bo.ask("create"))["type"] == "ok"
        await ana.ask("leave", room=codes[0])
        assert (await ana.ask("create"))["type"] == "ok"


async def test_open_rooms_are_limited_by_address() -> None:
    async with serving(uncounted(rooms_per_address=3)) as server, contextlib.AsyncExitStack() as stack:
        peers = [await stack.enter_async_context(open_peer(server.url)) for _ in range(4)]
        replies = [await peer.ask("create") for peer in peers]
        assert [reply.get("code") for reply in replies] == [None, None, None, "rate_limited"]


async def test_opening_rooms_is_rate_limited_by_player_and_address(clock: FakeClock) -> None:
    limits = uncounted(creates_per_minute_per_player=3, creates_per_minute_per_address=5)
    async with serving(limits, clock) as server, open_peer(server.url) as ana, open_peer(server.url) as bo:
        codes = [(await peer.ask("create")).get("code") for peer in (ana, ana, ana, ana, bo, bo, bo)]
        assert codes == [None, None, None, "rate_limited", None, None, "rate_limited"]
        clock.advance(MINUTE_MS)
        assert (await ana.ask("create"))["type"] == "ok"


async def test_a_truncated_list_is_fair_among_addresses() -> None:
    async with serving(uncounted(), trusted_proxies=LOOPBACK) as server:
        async with speaking_for(server, "192.0.2.1") as modest:
            own = {(await modest.ask("create"))["room"] for _ in range(3)}
            async with speaking_for(server, "192.0.2.2") as greedy:
                for _ in range(300):
                    await greedy.send("create")
                rows = (await greedy.ask("rooms"))["rooms"]
        assert len(rows) == 200
        assert own <= {row["room"] for row in rows}
        assert [row["age_ms"] for row in rows] == sorted(row["age_ms"] for row in rows)


@pytest.mark.features(BOTS)
async def test_games_with_bots_are_limited_by_player() -> None:
    async with serving(uncounted(bot_games_per_player=2)) as server, open_peer(server.url) as ana:
        for _ in range(2):
            await ana.ask("create", bots=["easy"])
        assert await ana.refusal("create", bots=["easy"]) == "rate_limited"
        assert (await ana.ask("create"))["type"] == "ok"


@pytest.mark.features
async def test_games_of_bots_pause_without_watchers() -> None:
    pausing = serving(uncounted(), features=(BotOptions(pause_seconds=0.05),))
    async with pausing as server, open_peer(server.url) as ana, open_peer(server.url) as bo:
        room = (await ana.ask("create", rules="gomoku", bots=["easy", "easy"]))["room"]
        await ana.state(ply=2)
        await ana.ask("leave", room=room)
        await until(lambda: not server.service(Bots).tasks)
        await bo.ask("watch", room=room)
        ply = (await bo.state())["ply"]
        assert (await bo.state(ply=ply + 2))["status"] == "playing"


@pytest.mark.features(BOTS)
async def test_an_unwatched_game_of_bots_ends_soon() -> None:
    limits = uncounted(unwatched_seconds=0.05)
    async with serving(limits, features=(BotOptions(pause_seconds=1),)) as server, open_peer(server.url) as ana:
        room = (await ana.ask("create", rules="gomoku", bots=["easy", "easy"]))["room"]
        await ana.ask("leave", room=room)
        await ana.ask("lobby", on=True)
        if any(row["room"] == room for row in (await ana.ask("rooms"))["rooms"]):
            await ana.until(lambda message: message["type"] == "lobby" and room in message["closed"])
        assert await ana.refusal("watch", room=room) == "no_such_room"


async def test_codes_cannot_be_guessed(clock: FakeClock) -> None:
    limits = uncounted(misses_per_minute_per_player=10, misses_per_minute_per_address=30, misses_at_once_per_address=30)
    async with serving(limits, clock) as server, contextlib.AsyncExitStack() as stack:
        host = await stack.enter_async_context(open_peer(server.url))
        room = (await host.ask("create", visibility="private"))["room"]
        heard: Counter[str] = Counter()
        for guesser in [await stack.enter_async_context(open_peer(server.url)) for _ in range(5)]:
            for verb in ("join", "watch", "sync", "move") * 4:
                fields = {"cell": 0, "ply": 0} if verb == "move" else {}
                heard[await guesser.refusal(verb, room="K7M4PQ", **fields)] += 1
        assert heard == {"no_such_room": 30, "rate_limited": 50}
        assert await guesser.refusal("join", room=room) == "rate_limited"
        assert (await host.ask("sync", room=room))["type"] == "ok"
        clock.advance(MINUTE_MS)
        assert (await guesser.ask("join", room=room))["type"] == "ok"


async def test_wrong_guesses_do_not_lock_out_others_at_the_address(clock: FakeClock) -> None:
    limits = uncounted(misses_per_minute_per_player=10, misses_per_minute_per_address=30, misses_at_once_per_address=30)
    async with serving(limits, clock) as server, contextlib.AsyncExitStack() as stack:
        host = await stack.enter_async_context(open_peer(server.url))
        rooms = [(await host.ask("create", visibility="private"))["room"] for _ in range(3)]
        async with open_peer(server.url) as player:
            await player.ask("join", room=rooms[0])
        for guesser in [await stack.enter_async_context(open_peer(server.url)) for _ in range(4)]:
            heard = [await guesser.refusal("join", room="K7M4PQ") for _ in range(9)]
        assert heard == ["no_such_room"] * 3 + ["rate_limited"] * 6
        assert await guesser.refusal("join", room=rooms[1]) == "rate_limited"
        friend = await stack.enter_async_context(open_peer(server.url))
        assert (await friend.ask("join", room=rooms[1]))["type"] == "ok"
        assert (await friend.ask("watch", room=rooms[0]))["type"] == "ok"
        back = await stack.enter_async_context(open_peer(server.url, token=player.welcome["token"]))
        assert (await back.ask("join", room=rooms[0]))["type"] == "ok"


async def test_after_too_many_misses_only_own_seats_can_be_entered(clock: FakeClock) -> None:
    async with serving(uncounted(misses_per_minute_per_player=3), clock) as server, open_peer(server.url) as host:
        rooms = [(await host.ask("create"))["room"] for _ in range(2)]
        async with open_peer(server.url) as player:
            await player.ask("join", room=rooms[0])
        async with open_peer(server.url, token=player.welcome["token"]) as back:
            heard = [await back.refusal("join", room="K7M4PQ") for _ in range(5)]
            assert heard == ["no_such_room"] * 3 + ["rate_limited"] * 2
            assert await back.refusal("join", room=rooms[1]) == "rate_limited"
            assert (await back.ask("join", room=rooms[0], seq=999))["type"] == "ok"


async def test_closed_and_missing_rooms_get_the_same_answer() -> None:
    async with serving(uncounted()) as server, open_peer(server.url) as ana:
        room = (await ana.ask("create"))["room"]
        await ana.ask("leave", room=room)
        closed, missing = [await ana.ask("join", room=code) for code in (room, "K7M4PQ")]
        told = {(one["code"], one["message"].replace(one["room"], "")) for one in (closed, missing)}
        assert len(told) == 1


@pytest.mark.parametrize(
    "limits",
    [
        {"connections": 2},
        {"connections_per_address": 2},
        {"connections": 4, "connections_per_address": 1_000},  # half of them for one address
    ],
)
async def test_too_many_connections_are_refused(limits: dict[str, int], caplog: pytest.LogCaptureFixture) -> None:
    async with serving(uncounted(**limits)) as server, contextlib.AsyncExitStack() as stack:
        first = await stack.enter_async_context(open_peer(server.url))
        await stack.enter_async_context(open_peer(server.url))
        for _ in range(5):
            async with open_bytes(server.port) as (reader, _):
                answer = await read_to_end(reader)
                assert answer.startswith(b"HTTP/1.1 503 ")
                assert b"Too many connections" in answer
        assert [record.message for record in caplog.records].count("too many connections: some were rejected") == 1
        await first.socket.close()
        while await handshake(server, [f"Host: 127.0.0.1:{server.port}"]) != 101:
            pass


@pytest.mark.parametrize(("headers", "status"), cases("origins"))
async def test_connections_are_accepted_from_own_and_allowed_origins(headers: dict[str, str], status: int) -> None:
    async with serving(uncounted(), origins=("https://play.example",)) as server:
        host = headers.get("Host", f"127.0.0.1:{server.port}")
        lines = [f"Host: {host}"]
        if "Origin" in headers:
            lines.append(f"Origin: {headers['Origin'].format(host=host)}")
        assert await handshake(server, lines) == status


async def test_a_websocket_refused_because_of_a_proxy_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(uncounted()) as server:
        for _ in range(2):
            page = ["Host: 127.0.0.1:8765", "Origin: https://play.example"]
            assert await handshake(server, page) == 403
            assert await handshake(server, page[:1], kept="Upgrade: websocket") == 426
            assert await handshake(server, page[:1], kept="Connection: close") == 426
    origin, headers = [record.__dict__ for record in caplog.records if record.levelname == "WARNING"]
    assert (origin["host"], origin["to_allow_it"]) == ("127.0.0.1:8765", "--origin https://play.example")
    assert "a proxy does not forward the headers Upgrade and Connection" in headers["message"]


async def test_duplicate_origin_headers_are_refused() -> None:
    async with serving(uncounted(), origins=("https://play.example",)) as server:
        own = f"Host: 127.0.0.1:{server.port}"
        assert await handshake(server, [own, "Origin: https://play.example", "Origin: https://evil.example"]) == 400


async def handshake(
    server: Server, lines: list[str], before: bytes = b"", kept: str = "Upgrade: websocket\r\nConnection: Upgrade"
) -> int:
    """Return the status that answers a handshake with these lines, some of them `kept` by a proxy."""
    request = [
        "GET / HTTP/1.1",
        *lines,
        kept,
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
    ]
    async with open_bytes(server.port) as (reader, writer):
        writer.write(before + ("\r\n".join(request) + "\r\n\r\n").encode())
        return int((await reader.readline()).split()[1])


def speaking_for(server: Server, *addresses: str) -> AbstractAsyncContextManager[Peer]:
    """Connect as a proxy that names these addresses, and say hello."""
    return open_peer(server.url, headers=[("X-Forwarded-For", address) for address in addresses])


@pytest.mark.parametrize(("lines", "address"), cases("addresses that a proxy names"))
async def test_a_trusted_proxy_determines_the_client_address(lines: list[str], address: str) -> None:
    async with serving(uncounted(), trusted_proxies=LOOPBACK) as server:
        async with speaking_for(server, *lines):
            (connection,) = server._listener.connections
            assert connection.address == address
            assert len(server._admission.of_address) == 1
        await until(lambda: not server._admission.of_address)


async def test_behind_a_proxy_each_client_has_its_own_limit_and_an_ipv6_network_is_one() -> None:
    limits = uncounted(connections_per_address=1)
    async with (
        serving(limits, trusted_proxies=LOOPBACK) as server,
        speaking_for(server, "192.0.2.1"),
        speaking_for(server, "2001:db8::1"),
    ):
        own = f"Host: 127.0.0.1:{server.port}"
        for address, status in (("192.0.2.1", 503), ("192.0.2.2", 101), ("2001:db8::2", 503), ("2001:db8:0:1::1", 101)):
            assert await handshake(server, [own, f"X-Forwarded-For: {address}"]) == status


async def test_an_untrusted_proxy_is_ignored_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(uncounted()) as server:
        for _ in range(3):
            async with speaking_for(server, "192.0.2.7"):
                (connection,) = server._listener.connections
                assert connection.address == "127.0.0.1"
            await until(lambda: not server._listener.connections)
        own = f"Host: 127.0.0.1:{server.port}"
        assert await handshake(server, [own], before=b"PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\n") == 400
    assert len([record for record in caplog.records if "untrusted proxy" in record.message]) == 1


@pytest.mark.parametrize(
    ("before", "address"),
    [
        (b"PROXY TCP4 192.0.2.7 198.51.100.1 4711 8765\r\n", "192.0.2.7"),
        (b"PROXY TCP6 2001:db8::7 2001:db8::1 4711 8765\r\n", "2001:db8::7"),
        (b"PROXY UNKNOWN\r\n", "127.0.0.1"),
    ],
)
@pytest.mark.parametrize("is_slow", [False, True])
async def test_the_proxy_protocol_is_understood(before: bytes, address: str, is_slow: bool) -> None:
    async with serving(uncounted(), trusted_proxies=LOOPBACK) as server, open_bytes(server.port) as (reader, writer):
        request = before + UPGRADE
        for byte in request if is_slow else [0]:
            writer.write(bytes([byte]) if is_slow else request)
            await asyncio.sleep(0)
            await writer.drain()
        assert (await reader.readline()).startswith(b"HTTP/1.1 101 ")
        (connection,) = server._listener.connections
        assert connection.address == address


@pytest.mark.parametrize(
    "before",
    [
        b"PROXY TCP4 nonsense\r\n",
        b"PROXY " + b"x" * 200,
        b"PROXY TCP5 a b c d\r\n",
        b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + bytes(12),  # version 2 is not supported
    ],
)
async def test_a_bad_header_of_a_proxy_is_refused(before: bytes) -> None:
    async with serving(uncounted(), trusted_proxies=LOOPBACK) as server, open_bytes(server.port) as (reader, writer):
        writer.write(before)
        assert (await read_to_end(reader)).startswith(b"HTTP/1.1 400 ")


async def test_requests_beyond_the_turns_time_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.core.pressure._LOOKED_AT_EVERY", 1)
    async with serving(uncounted()) as server, open_raw(server.url) as many:
        server._pressure._turn_seconds = 1e-9
        await many.write(b"".join(text(json.dumps({"type": "rooms", "id": str(n)})) for n in range(40)))
        answers = [await many.message() for _ in range(40)]
        assert [answer["id"] for answer in answers] == [str(number) for number in range(40)]
        refused = [answer for answer in answers if answer["type"] == "error"]
        assert {(answer["code"], answer["retry_ms"]) for answer in refused} == {("busy", 500)}
        assert answers[0]["type"] == "ok"
        await many.write(text('{"type":"rooms","id":"again"}'))
        assert (await many.message())["type"] == "ok"
