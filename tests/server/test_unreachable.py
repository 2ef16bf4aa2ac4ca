"""Rooms at a server that players cannot reach: another server takes such a room over if no player is connected."""

import contextlib
from collections.abc import AsyncIterator

import pytest

from tests.limits import uncounted
from tests.peer import Message, Peer, open_peer, two_playing, until
from tests.proxy import Proxy
from tests.server.nats_node import Node, empty_store
from tests.server.test_cluster import settings
from tictactoe_server.features.cluster import cluster
from tictactoe_server.features.cluster.cluster import Cluster
from tictactoe_server.features.cluster.feature import FEATURE as CLUSTER
from tictactoe_server.server import Server

pytestmark = pytest.mark.features(CLUSTER)

SILENT = uncounted(ping_seconds=0.4)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for one second; a connection that is silent for 0.4 seconds counts as lost, and no server counts as dead."""
    monkeypatch.setattr("tictactoe_server.features.cluster.members.GONE_SECONDS", 600)
    monkeypatch.setattr(cluster, "_UNREACHED_SECONDS", 1.0)
    monkeypatch.setattr(cluster, "_ASK_SECONDS", 0.2)


@contextlib.asynccontextmanager
async def two_servers(node: Node) -> AsyncIterator[tuple[Server, Server, Proxy]]:
    """Yield two servers that know each other, and a proxy between players and the first."""
    await (await empty_store(node)).close()
    async with Proxy(0) as proxy:
        behind = settings(node, advertise=proxy.url)
        async with Server(behind, limits=SILENT) as one, Server(settings(node), limits=SILENT) as other:
            proxy.target = one.port
            await until(
                lambda: len(one.service(Cluster).members.others) == len(other.service(Cluster).members.others) == 1
            )
            yield one, other, proxy


async def ask_for(peer: Peer, room: str, url: str) -> Message:
    return await peer.ask("join", room=room, unreachable=url)


def why(answer: Message) -> tuple[str, object]:
    return answer["code"], answer["data"].get("why")


async def cut(proxy: Proxy, one: Server, room: str) -> None:
    """Hold up all traffic without closing connections until the server notices the silence."""
    proxy.up.hold_up()
    proxy.down.hold_up()
    sessions = [*one.service(Cluster).own_rooms.rooms[room].live.sessions]
    await until(lambda: all(session.connection.is_silent for session in sessions))


async def test_an_unreachable_room_is_taken_over_for_a_player_with_a_seat(node: Node) -> None:
    async with two_servers(node) as (one, other, proxy), two_playing(proxy.url) as (ana, bo, room):
        await ana.ask("move", room=room, cell=4, ply=0)
        await bo.state(ply=1)
        await cut(proxy, one, room)
        async with (
            open_peer(other.url, token=ana.welcome["token"]) as again,
            open_peer(other.url, token=bo.welcome["token"]) as second,
        ):
            moved = await second.ask("join", room=room)
            assert (moved["code"], moved["url"]) == ("moved", proxy.url)
            await second.send("join", id="asks", room=room, unreachable=proxy.url)
            await second.send("ping", id="ping")
            answers = [await second.until(lambda message: "id" in message) for _ in range(2)]
            assert [(answer["id"], answer["type"]) for answer in answers] == [("ping", "ok"), ("asks", "ok")]
            assert (await again.ask("join", room=room))["type"] == "ok"
            assert (await again.state())["moves"] == [4]
            assert (await second.ask("move", room=room, cell=0, ply=1))["type"] == "ok"
            assert (await again.state(ply=2))["board"] == "O...X...."
            await until(lambda: room not in one.service(Cluster).own_rooms.rooms)
            assert one.service(Cluster).find(room) == other.url
            proxy.cut()


async def test_an_occupied_room_is_not_taken_over(node: Node) -> None:
    async with two_servers(node) as (one, other, proxy), two_playing(proxy.url) as (ana, _, room):
        await until(lambda: other.service(Cluster).find(room) == proxy.url)
        async with open_peer(other.url, token=ana.welcome["token"]) as again:
            refused = await ask_for(again, room, proxy.url)
            assert why(refused) == ("not_allowed", "reached")
            assert (refused["retry_ms"], refused["data"]["at"]) == (60_000, proxy.url)
            refused = await ask_for(again, room, proxy.url)
            assert why(refused) == ("rate_limited", "unreachable")
            assert 50_000 < refused["retry_ms"] <= 60_000
            assert await again.refusal("join", room=room) == "moved"
        assert room in one.service(Cluster).own_rooms.rooms


async def test_takeovers_need_a_seat_and_a_known_url(node: Node) -> None:
    async with two_servers(node) as (one, other, proxy), two_playing(proxy.url) as (ana, _, room):
        await until(lambda: other.service(Cluster).find(room) == proxy.url)
        async with open_peer(other.url) as eve:
            assert why(await ask_for(eve, room, proxy.url)) == ("not_allowed", "not yours")
            assert (await eve.ask("watch", room=room, unreachable=proxy.url))["code"] == "bad_message"
        async with open_peer(other.url, token=ana.welcome["token"]) as again:
            refused = await ask_for(again, room, "ws://127.0.0.1:1")
            assert (why(refused), refused["path"]) == (("bad_message", "server"), "unreachable")
            assert (await ask_for(again, room, other.url))["code"] == "moved"
        assert room in one.service(Cluster).own_rooms.rooms


async def test_a_living_server_without_an_answer_keeps_its_rooms(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.features.cluster.messages.REACHED", "cluster.unheard.")
    async with two_servers(node) as (_, other, proxy), two_playing(proxy.url) as (ana, _, room):
        monkeypatch.setattr("tictactoe_server.features.cluster.messages.REACHED", "cluster.reached.")
        await until(lambda: other.service(Cluster).find(room) == proxy.url)
        async with open_peer(other.url, token=ana.welcome["token"]) as again:
            assert (await ask_for(again, room, proxy.url))["code"] == "moved"
