import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.cluster.visitor import Visitor
from tests.limits import uncounted
from tests.peer import PATIENCE_SECONDS, open_peer, play_out, two_playing, until
from tests.ports import free_ports
from tests.server.commands import run_command
from tests.server.nats_node import Node, empty_store
from tests.server.test_pages import BROWSER, get
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.features.cluster.cluster import Cluster
from tictactoe_server.features.cluster.feature import FEATURE as CLUSTER
from tictactoe_server.features.cluster.feature import ClusterOptions
from tictactoe_server.features.cluster.members import GONE_SECONDS
from tictactoe_server.features.jetstream.link import Link
from tictactoe_server.operator.order import Order, OrderRefused
from tictactoe_server.operator.people import Announce, Kick, ListConnections, ListPlayers
from tictactoe_server.operator.rooms import ListRooms, ShowRoom
from tictactoe_server.operator.status import DrainOrder, Status
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

pytestmark = pytest.mark.features(CLUSTER)


def settings(node: Node, advertise: str | None = None) -> Settings:
    options = ClusterOptions(store=node.url, store_unsafe=True, advertise=advertise)
    return Settings(host="127.0.0.1", port=0, features=(BotOptions(pause_seconds=0), options))


@contextlib.asynccontextmanager
async def cluster_of(node: Node, count: int) -> AsyncIterator[list[Server]]:
    """Run `count` servers that know each other, on an empty store."""
    await (await empty_store(node)).close()
    async with contextlib.AsyncExitStack() as stack:
        servers = [Server(settings(node), limits=uncounted()) for _ in range(count)]
        await asyncio.gather(*(stack.enter_async_context(server) for server in servers))
        await until(lambda: all(len(server.service(Cluster).members.others) == count - 1 for server in servers))
        yield servers


class Traveller(Visitor):
    """A visitor with the patience that a busy machine requires."""

    silent_seconds = 20.0
    patience_seconds = PATIENCE_SECONDS

    @property
    def server(self) -> str:
        """The URL of the server that it is connected to."""
        return str(self.peer.welcome["servers"][0])


@contextlib.asynccontextmanager
async def ana_and_bo(one: Server, other: Server) -> AsyncIterator[tuple[Traveller, Traveller, str]]:
    """Yield ana and bo in a game at ana's server; bo connected to the other server."""
    async with Traveller(one.url, "ana") as ana, Traveller(other.url, "bo") as bo:
        room = (await ana.ask("create"))["room"]
        assert (await bo.ask("join", room=room))["seat"] == "O"
        await ana.state(status="playing")
        await bo.state(status="playing")
        yield ana, bo, room


async def play(ana: Traveller, bo: Traveller, room: str, cells: list[int], *, first_ply: int = 0) -> None:
    """Play the cells in turn, with both players awaiting each state."""
    for ply, cell in enumerate(cells, first_ply):
        answer = await (ana, bo)[ply % 2].ask("move", room=room, cell=cell, ply=ply)
        assert answer["type"] == "ok", answer
        for traveller in (ana, bo):
            await traveller.state(ply=ply + 1)


async def test_a_player_is_sent_to_the_server_that_has_the_room(node: Node) -> None:
    async with cluster_of(node, 2) as (one, other), open_peer(one.url, "ana") as ana, open_peer(other.url, "bo") as bo:
        assert (ana.welcome["servers"], bo.welcome["servers"]) == ([one.url, other.url], [other.url, one.url])
        assert ana.welcome["cluster"] == bo.welcome["cluster"] != ""
        room = (await ana.ask("create"))["room"]
        for request in ("join", "watch", "sync", "leave"):
            refused = await bo.ask(request, room=room.lower())
            assert (refused["code"], refused["url"]) == ("moved", one.url)
            assert refused["message"] == f"Room {room} is at {one.url} now."
        async with open_peer(one.url, token=bo.welcome["token"]) as again:
            assert again.welcome["player"] == bo.welcome["player"]
            assert (await again.ask("join", room=room))["seat"] == "O"
            assert (await play_out({"X": ana, "O": again}, room, [0, 4, 1, 5, 2]))["result"]["winner"] == "X"


async def test_an_unknown_code_is_unknown_at_every_server(node: Node) -> None:
    async with cluster_of(node, 2) as (_, other), open_peer(other.url) as bo:
        assert await bo.refusal("join", room="ZZZZZZ") == "no_such_room"
        assert await bo.refusal("move", room="ZZZZZZ", cell=4, ply=0) == "no_such_room"


@pytest.mark.features
async def test_the_lobby_and_its_boards_cover_the_whole_cluster(node: Node) -> None:
    async with (
        cluster_of(node, 2) as (one, other),
        open_peer(one.url, "ana") as ana,
        open_peer(one.url, "bo") as bo,
        open_peer(other.url, "eve") as eve,
    ):
        assert (await eve.ask("lobby", on=True, boards=3))["rooms"] == []
        room = (await ana.ask("create"))["room"]
        change = await eve.until(lambda message: message["type"] == "lobby" and message["changed"])
        assert [row["room"] for row in change["changed"]] == [room]
        await bo.ask("join", room=room)
        shown = await eve.until(lambda message: message["type"] == "boards" and message["boards"])
        assert [board["room"] for board in shown["boards"]] == [room]
        await play_out({"X": ana, "O": bo}, room, [4, 0])
        await eve.until(lambda message: message["type"] == "boards" and message["boards"][0]["board"] == "O...X....")
        for peer in (ana, bo):
            await peer.ask("leave", room=room)
        closed = await eve.until(lambda message: message["type"] == "lobby" and message["closed"])
        assert closed["closed"] == [room]


async def test_a_quick_match_pairs_players_of_two_servers(node: Node) -> None:
    async with cluster_of(node, 2) as (one, other):
        for first, second in ((one, other), (other, one)):
            async with Traveller(first.url, "ana") as ana, Traveller(second.url, "bo") as bo:
                waiting = (await ana.ask("match"))["room"]
                assert (await ana.ask("match"))["room"] == waiting
                assert (await bo.ask("match"))["room"] == waiting
                await play(ana, bo, waiting, [0, 4, 1, 5, 2])
                assert ana.server == bo.server == first.url


async def test_every_server_shows_all_rooms_and_shared_games(node: Node) -> None:
    async with cluster_of(node, 3) as servers, ana_and_bo(*servers[:2]) as (ana, bo, room):
        await play(ana, bo, room, [0, 4, 1, 5])
        for server in servers:
            await shown(server, f"/{room}", "1  X X .\n2  . O(O)\n")
            await shown(server, f"/{room}", "Last: bo played C2, middle right.")
            await shown(server, "/", f"{room}  playing  ana v bo")
            await shown(server, "/wall", room)
        await play(ana, bo, room, [2], first_ply=4)
        await shown(servers[0], f"/{room}", "The game is over: ana, X, wins by a line.")
        (game,) = (await bo.ask("history"))["games"]
        told = await bo.ask("share", game_id=game["game_id"])
        for server in servers:
            await shown(server, f"/replay/{told['replay']}", "ana wins by a line after 5 moves.")
        await bo.ask("share", game_id=game["game_id"], on=False)
        assert [(await get(server, f"/replay/{told['replay']}")).status for server in servers] == [404] * 3


async def shown(server: Server, path: str, words: str) -> None:
    while words not in (await get(server, path)).body.decode():  # noqa: ASYNC110  # there is no notification
        await asyncio.sleep(0.01)


@pytest.mark.features
async def test_streams_and_frames_are_redirected_to_the_server_of_the_room(node: Node) -> None:
    async with cluster_of(node, 2) as (here, there), two_playing(there) as (ana, bo, room):
        await until(lambda: here.core.rooms.elsewhere.find(room) is not None)
        assert json.loads((await get(here, f"/api/rooms/{room}")).body)["status"] == "playing"
        for path in (f"/api/rooms/{room}/stream", f"/embed/{room}"):
            led = await get(here, path)
            assert (led.status, led.fields["location"]) == (307, f"http://127.0.0.1:{there.port}{path}")
        assert (
            "frame-ancestors *"
            in (await get(there, f"/embed/{room}", accept=BROWSER)).fields["content-security-policy"]
        )
        id = (await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2]))["game_id"]
        assert json.loads((await get(here, f"/api/games/{id}")).body)["room"] == room


async def test_the_living_servers_take_the_rooms_of_a_dead_one_and_read_no_others(node: Node) -> None:
    async with cluster_of(node, 3) as servers, contextlib.AsyncExitStack() as stack:
        one, *others = servers
        ana, *peers = [await stack.enter_async_context(open_peer(server.url)) for server in servers]
        rooms = [(await ana.ask("create"))["room"] for _ in range(12)]
        for peer in peers:
            await peer.ask("create")
        await until(lambda: all(server.service(Cluster).count == 13 for server in others))
        asked = [stack.enter_context(asking(server)) for server in others]
        await vanish(one)
        await until(lambda: sum(len(server.service(Cluster).own_rooms.rooms) for server in others) == 14)
        read = [word.rpartition("room.")[2] for words in asked for word in words if "room." in word]
        assert sorted(read) == sorted(rooms)
        for server in others:
            async with open_peer(server.url, token=ana.welcome["token"]) as again:
                assert set(again.seats) == set(rooms)
                at = [(await again.ask("join", room=room)).get("url", server.url) for room in rooms]
                assert set(at) == {server.url for server in others}


async def test_a_closed_connection_to_the_store_is_noticed_at_once(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    async with cluster_of(node, 2) as (one, other):
        monkeypatch.setattr("tictactoe_server.features.cluster.members.GONE_SECONDS", 3600)
        await one.service(Cluster)._link.close()  # as the system does with the connections of a process that is killed
        await until(lambda: not other.service(Cluster).members.others)


async def test_a_player_who_does_not_follow_a_room_is_seen_as_away(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.features.cluster.cluster.MISSING_SECONDS", 0.5)
    async with cluster_of(node, 2) as (one, other), ana_and_bo(one, one) as (_, bo, room):
        await until(lambda: other.service(Cluster).count == 1)
        await vanish(one)
        await until(lambda: other.service(Cluster).own_rooms.rooms.keys() == {room})
        async with open_peer(other.url, token=bo.token) as again:
            assert (await again.ask("join", room=room))["seat"] == "O"
            state = await again.until(lambda message: message["type"] == "room" and not message["seats"]["X"]["online"])
            assert state["seats"]["X"]["hold_ms"] > 50_000
            refused = await again.ask("claim", room=room, **{"as": "win"})
            assert (refused["code"], refused["retry_ms"] > 50_000) == ("not_allowed", True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--store requires --advertise"),
        (("--advertise", "ftp://play.example"), '"ftp://play.example" is not a URL'),
    ],
)
def test_a_server_without_a_valid_advertised_url_does_not_start(options: tuple[str, ...], words: str) -> None:
    ended = run_command("--store", "nats://127.0.0.1:1", "--port", "0", *options)
    assert ended.exit_code == 2
    assert words in ended.output


async def test_a_reconnected_server_waits_for_heartbeats_before_presuming_others_dead(node: Node) -> None:
    async with cluster_of(node, 2) as (one, other):
        members, id = one.service(Cluster).members, other.service(Cluster).members.id
        members._heard_at[id] -= 2 * GONE_SECONDS
        for connected in one.service(Cluster)._link.on_connected:
            connected()
        members.lose_silent()
        assert members.is_living(id)


async def test_a_slow_server_presumes_no_other_dead_because_of_its_own_delay(node: Node) -> None:
    async with cluster_of(node, 2) as (one, other):
        members, id, now = one.service(Cluster).members, other.service(Cluster).members.id, time.monotonic()
        members._looked_at, members._heard_at[id] = now - 0.9 * GONE_SECONDS, now - 1.3 * GONE_SECONDS
        members.lose_silent()
        assert members.is_living(id)
        members._looked_at, members._heard_at[id] = time.monotonic(), now - 3 * GONE_SECONDS
        members.lose_silent()
        assert not members.is_living(id)


async def ordered(server: Server, order: Order) -> Any:
    return await server.carry_out(order)


async def test_orders_cover_the_whole_cluster_and_name_the_server(node: Node) -> None:
    async with cluster_of(node, 2) as (one, other), open_peer(one.url, "ana") as ana, open_peer(other.url, "bo") as bo:
        room = (await ana.ask("create"))["room"]
        await until(lambda: other.service(Cluster).count == 1)
        names = [one.service(Cluster).members.name, other.service(Cluster).members.name]
        for server in (one, other):
            (row,) = await ordered(server, ListRooms())
            assert (row["room"], row["server"], row["here"]) == (room, names[0], 1)
            for order in (ListPlayers(), ListConnections()):
                players = {row["name"]: (row["server"], row["rooms"]) for row in await ordered(server, order)}
                assert players == {"ana": (names[0], [room]), "bo": (names[1], [])}
            shown = await ordered(server, ShowRoom(room))
            assert (shown["server"], shown["seats"]["X"]["name"]) == (names[0], "ana")
            status = await ordered(server, Status())
            assert {row["server"]: row["players"] for row in status["cluster"]} == dict.fromkeys(names, 1)
            assert {row["server"]: row["served"] for row in status["cluster"]} == {names[0]: 1, names[1]: 0}
            assert {row["server"]: row["elsewhere"] for row in status["cluster"]} == {names[0]: 0, names[1]: 1}
        assert (await ordered(other, Announce("hello all")))["connections"] == 2
        assert (await ana.next_of("announcement"))["text"] == (await bo.next_of("announcement"))["text"] == "hello all"
        assert await one.carry_out(Kick("bo")) == {"player": bo.welcome["player"], "connections": 1}
        assert (await bo.next_of("error"))["code"] == "kicked"
        with pytest.raises(OrderRefused, match='No connected player is called "eve"'):
            await one.carry_out(Kick("eve"))


async def test_cluster_check_lists_the_living_servers(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> str:
        return (await asyncio.to_thread(run_command, "cluster", "check", "--store", node.url)).output

    async def say_nothing(order: object) -> None: ...

    async with cluster_of(node, 2) as (one, other), ana_and_bo(one, other):
        found = await check()
        assert f"Server {one.service(Cluster).members.name}: 2 players, 1 room served, " in found
        name = other.service(Cluster).members.name
        assert f"Server {name}: 0 players, 0 rooms served, 1 on other servers" in found
        assert "heartbeats" not in found
        assert "cannot be reached" not in found
        assert "advertise" not in found
        monkeypatch.setattr(other.service(Cluster), "_answer_order", say_nothing)
        assert f"Fault: Server {name} is running but does not report its status: " in await check()


async def test_cluster_check_reports_unreachable_servers(node: Node) -> None:
    nowhere = f"ws://127.0.0.1:{free_ports(1)[0]}"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with cluster_of(node, 3) as (one, other, third):
            one.service(Cluster).members.url = other.service(Cluster).members.url = nowhere
            third.service(Cluster).members.url = f"ws://127.0.0.1:{silent.getsockname()[1]}"
            found = (await asyncio.to_thread(run_command, "cluster", "check", "--store", node.url)).output
            assert f"Fault: 2 servers advertise {nowhere}: each requires its own --advertise." in found
            for name in (one.service(Cluster).members.name, other.service(Cluster).members.name):
                assert f"Fault: Server {name} cannot be reached at {nowhere}: connection refused.\n" in found
            assert f"at {third.service(Cluster).members.url}: no response within 2 s.\n" in found


async def test_a_name_is_claimed_once_in_a_cluster_and_is_valid_at_every_server(node: Node) -> None:
    async with cluster_of(node, 2) as (one, other):
        async with open_peer(one.url, "ana") as ana, open_peer(other.url, "bo") as bo:
            claims = await asyncio.gather(
                *(peer.ask("claim_name", name=name) for peer, name in ((ana, "Ian"), (bo, "ian")))
            )
            assert sorted(answer["type"] for answer in claims) == ["error", "ok"]
            owner = ana if claims[0]["type"] == "ok" else bo
        async with open_peer(other.url, token=owner.welcome["token"]) as again:
            assert again.welcome["claimed"] is True
        async with open_peer(one.url, token=owner.welcome["token"]) as here:
            link = (await here.ask("link"))["link_code"]
            async with open_peer(other.url, link=link) as stolen, open_peer(one.url, link=link) as late:
                assert late.welcome["code"] == "bad_token"
                assert (await here.next_of("announcement"))["code"] == "device_added"
                device = (await stolen.ask("devices"))["devices"][-1]
                assert (await here.ask("revoke", device=device["id"]))["type"] == "ok"
                assert (await stolen.next_of("error"))["code"] == "kicked"


async def test_a_draining_server_hands_its_games_over_and_stops(node: Node) -> None:
    async with cluster_of(node, 2) as (one, other), ana_and_bo(one, other) as (ana, bo, room):
        await play(ana, bo, room, [0])
        assert (await ordered(one, DrainOrder()))["games"] == 0
        await one.parts.drain.until_over()
        await play(ana, bo, room, [4, 1], first_ply=1)
        assert ana.server == bo.server == other.url


@contextlib.contextmanager
def asking(server: Server) -> Iterator[list[str]]:
    """Yield the list of requests of a server, each as its subject and its payload."""
    link, asked = server.service(Cluster)._link, list[str]()

    async def request(subject: str, payload: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
        asked.append(f"{subject} {payload.decode(errors='replace')}".rstrip('"}'))
        return await Link.request(link, subject, payload, headers)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(link, "request", request)
        yield asked


async def vanish(server: Server) -> None:
    """Silence a server, as if its process had been killed."""
    server.service(Cluster).members.is_in = False
