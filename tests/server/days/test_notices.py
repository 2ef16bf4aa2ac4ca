"""Messages to players who are away: when they are sent, and what survives a crash."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeClock
from tests.limits import uncounted
from tests.peer import open_peer, until
from tests.server.days.conftest import StartServer
from tests.server.days.receiver import Receiver
from tests.server.days.test_day_games import begin, play
from tests.server.nats_node import Node, empty_store
from tests.server.test_cluster import settings as cluster_settings
from tictactoe_protocol.terms import DAY_MS
from tictactoe_server import clock as clocks
from tictactoe_server.features.cluster.cluster import Cluster
from tictactoe_server.features.days.feature import DayOptions
from tictactoe_server.features.days.notices import FIRST_RETRY_MS, GATHER_MS, MOST_TRIES, Notices, Notifier
from tictactoe_server.features.days.service import DayGames
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.store import StoreUnavailable

HOOK = "/hook?token=secret"
HOUR_MS = 60 * 60 * 1000


@pytest.fixture
def start(tmp_path: Path, clock: FakeClock, receiver: Receiver) -> StartServer:
    """Return a function that starts a server whose webhooks reach the receiver."""
    settings, features = Settings("127.0.0.1", 0, data=tmp_path), receiver.features()
    return lambda: Server(settings, None, uncounted(), monotonic_ns=clock, features=features)


def url_of(receiver: Receiver) -> str:
    return f"https://chat.example:{receiver.port}{HOOK}"


async def choose(server: Server, token: str, **fields: Any) -> dict[str, Any]:
    async with open_peer(server.url, token=token) as peer:
        reply = await peer.ask("notify", **fields)
        assert reply["type"] == "ok", reply
        return reply


async def alone(server: Server) -> None:
    """Wait until nobody is connected and the end of all visits is stored."""
    notifier = server.service(Notifier)
    jobs = len(notifier.jobs)
    await until(lambda: len(notifier.tasks) == jobs and not server.core.presence.ids and not notifier._connected)


async def wait_for_move(server: Server, clock: FakeClock, receiver: Receiver, **fields: Any) -> tuple[str, str]:
    """Begin a game that waits for O, who has a webhook and is away; return the room and O's token."""
    room, x, o = await begin(server)
    await choose(server, o, webhook=url_of(receiver), **fields)
    await alone(server)
    clock.advance(1000)
    await play(server, x, room, (0, 0))
    await alone(server)
    return room, o


async def looked(server: Server) -> None:
    """Wait until the notifier has looked at everything that is due."""
    notifier = server.service(Notifier)
    jobs = len(notifier.jobs)
    await until(
        lambda: len(notifier.tasks) == jobs and min(notifier._due.values(), default=1 << 62) > server.core.time()
    )


async def test_one_message_until_the_next_visit(server: Server, clock: FakeClock, receiver: Receiver) -> None:
    room, o = await wait_for_move(server, clock, receiver)
    clock.advance(GATHER_MS)
    await looked(server)
    (message,) = receiver.messages
    link = f"http://127.0.0.1:{server.port}/{room}"
    assert message["content"] == message["text"] == f"1 game is waiting for you: {link}"
    (game,) = message["games"]
    assert game | {"since_ms": 0, "left_ms": 0} == {
        "room": room,
        "link": link,
        "rules": "classic",
        "since_ms": 0,
        "left_ms": 0,
    }
    first, fields, _ = receiver.requests[0]
    assert first == f"POST {HOOK} HTTP/1.1"
    assert (fields["host"], fields["content-type"]) == (f"chat.example:{receiver.port}", "application/json")
    clock.advance(DAY_MS)
    await looked(server)
    assert len(receiver.requests) == 1
    clock.advance(3 * DAY_MS)  # of five days with the reserve, less than a quarter is left
    await looked(server)
    assert receiver.messages[1]["text"] == f"Little time is left for your move: {link}"
    clock.advance(HOUR_MS)
    await looked(server)
    assert len(receiver.requests) == 2
    await play(server, o, room)
    await alone(server)
    clock.advance(GATHER_MS)
    await looked(server)
    assert len(receiver.requests) == 2, "the player has seen the games, and leaves them"


async def test_a_crash_before_the_end_of_a_visit_is_noted_loses_no_message(
    start: StartServer, clock: FakeClock, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def idle(notifier: Notifier) -> None:
        await asyncio.Event().wait()

    async with start() as server:
        room, x, o = await begin(server)
        await choose(server, o, webhook=url_of(receiver))
        await alone(server)
        clock.advance(1000)
        await play(server, x, room, (0, 0))
        clock.advance(GATHER_MS)
        await receiver.until_received(1)
        await looked(server)
    with monkeypatch.context() as patched:
        patched.setattr(Notifier, "_keep_looking", idle)
        async with start() as server:
            notifier = server.service(Notifier)
            await play(server, o, room, (3, 1))
            await until(lambda: len(notifier.tasks) == len(notifier.jobs))
            clock.advance(1000)
            await play(server, x, room, (1, 2))
    async with start() as server:
        await until(lambda: server.service(Notifier)._due)
        clock.advance(GATHER_MS)
        await receiver.until_received(2)


async def test_nothing_is_sent_to_a_connected_player(server: Server, clock: FakeClock, receiver: Receiver) -> None:
    room, x, o = await begin(server)
    async with open_peer(server.url, token=o) as bo:
        await bo.ask("notify", webhook=url_of(receiver))
        await play(server, x, room, (0, 0))
        await bo.next_of("turns")
        clock.advance(GATHER_MS)
        await looked(server)
    clock.advance(1000)
    await alone(server)
    clock.advance(GATHER_MS)
    await looked(server)
    assert not receiver.connections


async def test_quiet_hours(
    server: Server, clock: FakeClock, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = [(23 * 60 + 30) * 60_000]
    monkeypatch.setattr(clocks, "wall_ms", lambda: wall[0])
    await wait_for_move(server, clock, receiver, quiet=[1320, 420])
    for _ in range(3):
        clock.advance(GATHER_MS)
        await looked(server)
    assert not receiver.connections
    wall[0] += 8 * HOUR_MS
    clock.advance(GATHER_MS)
    await receiver.until_received(1)


async def test_a_failed_message_is_sent_again_and_given_up_after_a_day(
    server: Server, clock: FakeClock, receiver: Receiver
) -> None:
    _, o = await wait_for_move(server, clock, receiver)
    receiver.statuses = [500, 429, 302, None] + [503] * 20
    clock.advance(GATHER_MS)
    for tries in range(1, MOST_TRIES + 1):
        await looked(server)
        assert len(receiver.requests) == tries
        clock.advance(FIRST_RETRY_MS * (1 << (tries - 1)) - 1000)
        await looked(server)
        assert len(receiver.requests) == tries
        clock.advance(1000)
    await looked(server)
    assert len(receiver.requests) == MOST_TRIES
    assert (await choose(server, o))["webhook"] == url_of(receiver)


@pytest.mark.parametrize("status", [404, 410])
async def test_an_address_that_is_gone_is_removed(
    server: Server, clock: FakeClock, receiver: Receiver, status: int
) -> None:
    _, o = await wait_for_move(server, clock, receiver)
    receiver.statuses = [status]
    clock.advance(GATHER_MS)
    await receiver.until_received(1)
    await looked(server)
    assert (await choose(server, o))["webhook"] is None


async def test_settings(server: Server, receiver: Receiver) -> None:
    _, x, o = await begin(server)
    off = {"feed": False, "webhook": None, "push": None, "quiet": None}
    async with open_peer(server.url, token=o) as bo:
        assert off.items() <= (await bo.ask("notify")).items()
        first = await bo.ask("notify", feed=True, webhook=url_of(receiver))
        assert first["feed"].startswith(f"http://127.0.0.1:{server.port}/feed/")
        second = await bo.ask("notify", feed=True, quiet=[60, 120])
        assert (second["feed"], second["webhook"], second["quiet"]) == (first["feed"], url_of(receiver), [60, 120])
        exported = (await bo.ask("export"))["export"]["notices"]
        assert [(row["webhook"], row["feed"]) for row in exported] == [(url_of(receiver), True)]
        third = await bo.ask("notify", feed=False, webhook=None, quiet=None)
        assert off.items() <= third.items()
        assert "notices" not in (await bo.ask("export"))["export"]
    async with open_peer(server.url, token=x) as ana:
        assert (await ana.ask("notify", feed=True))["feed"] != first["feed"]


async def test_without_pages_there_are_no_feeds(clock: FakeClock) -> None:
    settings = Settings("127.0.0.1", 0, page=False)
    async with Server(settings, None, uncounted(), monotonic_ns=clock) as server, open_peer(server.url) as ana:
        assert await ana.refusal("notify", feed=True) == "not_allowed"


@pytest.mark.parametrize("field", [{"feed": True}, {"webhook": "https://chat.example/"}])
async def test_nothing_leaves_a_school(clock: FakeClock, field: dict[str, Any]) -> None:
    settings = Settings("127.0.0.1", 0, lobby="marks", features=(DayOptions((("chat.example",),)),))
    async with Server(settings, None, uncounted(), monotonic_ns=clock) as server, open_peer(server.url) as ana:
        assert await ana.refusal("notify", **field) == "not_allowed"
        assert (await ana.ask("notify", quiet=[60, 120]))["feed"] is False
        assert ana.welcome["turns"] == []


async def test_the_option_lists_hosts(receiver: Receiver) -> None:
    settings = Settings("127.0.0.1", 0, features=(DayOptions((("chat.example",),)),))
    async with Server(settings, None, uncounted()) as server, open_peer(server.url) as ana:
        assert (await ana.ask("notify", webhook="https://Chat.Example/hook"))["webhook"] == "https://Chat.Example/hook"
        reply = await ana.ask("notify", webhook="https://other.example/hook")
        assert (reply["code"], reply["path"]) == ("not_allowed", "webhook")
        assert "--webhook-hosts other.example" in reply["message"]


async def test_a_crash_after_the_message_was_sent_repeats_it_once(
    start: StartServer, clock: FakeClock, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(row: Notices, statuses: Any) -> Notices:
        raise StoreUnavailable("crashed")

    async with start() as server:
        await wait_for_move(server, clock, receiver)
        receiver.statuses = [None]  # the answer is lost, and so is everything after it
        with monkeypatch.context() as patched:
            patched.setattr(Notices, "after_sending", crash)
            clock.advance(GATHER_MS)
            await receiver.until_received(1)
            await looked(server)
    for _ in range(2):
        async with start() as server:
            await until(lambda: server.service(Notifier)._due)
            clock.advance(GATHER_MS)
            await looked(server)
    assert len(receiver.requests) == 2


async def test_a_player_at_another_server_is_sent_nothing(node: Node, receiver: Receiver) -> None:
    await (await empty_store(node)).close()
    servers = [Server(cluster_settings(node), limits=uncounted(), features=receiver.features()) for _ in range(2)]
    async with AsyncExitStack() as stack:
        await asyncio.gather(*(stack.enter_async_context(server) for server in servers))
        await until(lambda: all(len(server.service(Cluster).members.others) == 1 for server in servers))
        sender, other = sorted(servers, key=lambda server: not server.core.rooms.elsewhere.is_chosen("notices"))
        notifier, days = sender.service(Notifier), sender.service(DayGames)
        room, x, o = await begin(other)
        await choose(other, o, webhook=url_of(receiver))
        async with open_peer(other.url, token=o) as bo:
            player = bo.welcome["player"]
            await play(other, x, room, (0, 0))
            await until(lambda: days.turns_of(player) and notifier._rows.get(player))
            await notifier._attend_to(player)
            assert not receiver.requests
            await play(other, o, room, (3, 1))
        await until(lambda: not other.core.presence.ids)
        await alone(other)
        await play(other, x, room, (1, 2))
        await until(lambda: days.turns_of(player))
        await notifier._attend_to(player)
        assert len(receiver.requests) == 1


async def test_a_host_that_is_no_longer_listed_gets_nothing(
    server: Server, clock: FakeClock, receiver: Receiver
) -> None:
    await wait_for_move(server, clock, receiver)
    server.service(Notifier)._poster.hosts = frozenset({"127.0.0.1"})
    clock.advance(GATHER_MS)
    await looked(server)
    assert not receiver.connections
