"""Several servers that serve one house: whoever connects to one of them plays with those at the others."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from tests.limits import uncounted
from tests.peer import PATIENCE_SECONDS, Message, Peer, open_peer, play_out
from tests.server.commands import run_command
from tests.server.nats_node import Node, empty_store, node_in
from tests.server.test_pages import get
from tictactoe_engine import Rules
from tictactoe_server.house import matching
from tictactoe_server.house.members import BEAT_SECONDS
from tictactoe_server.house.roll_call import LISTENING_SECONDS
from tictactoe_server.operator import OrderRefused, orders
from tictactoe_server.rooms import Player
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.stores import MISSING


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with node_in(tmp_path_factory.mktemp("nats")) as running:
        yield running


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers say three times as often that they live; how long they may be silent stays as it is."""
    for name in ("house.BEAT_SECONDS", "members.BEAT_SECONDS"):
        monkeypatch.setattr(f"tictactoe_server.house.{name}", BEAT_SECONDS / 3)
    monkeypatch.setattr("tictactoe_server.house.house._LISTENING_SECONDS", 2 * BEAT_SECONDS / 3)
    monkeypatch.setattr("tictactoe_server.house.roll_call.LISTENING_SECONDS", LISTENING_SECONDS / 2)


def settings(node: Node) -> Settings:
    return Settings(host="127.0.0.1", port=0, bot_pause_seconds=0, store=node.url, store_unsafe=True)


@contextlib.asynccontextmanager
async def house_of(node: Node, count: int) -> AsyncIterator[list[Server]]:
    """Run so many servers, which know each other, on an empty store."""
    await (await empty_store(node)).close()
    async with contextlib.AsyncExitStack() as stack:
        servers = [Server(settings(node), limits=uncounted()) for _ in range(count)]
        await asyncio.gather(*(stack.enter_async_context(server) for server in servers))
        await until(lambda: all(len(list(server.house.members.others)) == count - 1 for server in servers))
        yield servers


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # noqa: ASYNC110  # there is no event for it
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def ana_and_bo(one: Server, other: Server) -> AsyncIterator[tuple[Peer, Peer, str]]:
    """Ana, at one server, plays a room of that server with bo, who is at another."""
    async with open_peer(one.url, "ana") as ana, open_peer(other.url, "bo") as bo:
        room = (await ana.ask("create"))["room"]
        assert (await bo.ask("join", room=room))["seat"] == "O"
        await ana.state(status="playing")
        await bo.state(status="playing")
        yield ana, bo, room


async def test_two_at_two_servers_play_a_game_that_a_third_watches(node: Node) -> None:
    async with house_of(node, 2) as (one, other), ana_and_bo(one, other) as (ana, bo, room):
        async with open_peer(other.url, "eve") as eve:
            assert (await eve.ask("watch", room=room))["room"] == room
            await eve.state(watchers=1)
            assert (await play_out({"X": ana, "O": bo}, room, [0, 4, 1, 5, 2]))["result"]["winner"] == "X"
            over = await eve.state(status="over")
            assert over["board"] == "XXX.OO..."
            assert await eve.refusal("move", room=room, cell=3, ply=5) == "not_seated"
            await bo.ask("chat", room=room, text="well played")
            assert (await ana.next_of("chat"))["text"] == "well played"
            assert (await eve.next_of("chat"))["from"] == "bo"
        await bo.ask("rematch", room=room)
        await ana.ask("rematch", room=room)
        assert (await bo.state(game=2))["turn"] == "X"


async def test_a_refusal_of_the_owner_comes_back_with_its_reason(node: Node) -> None:
    async with house_of(node, 2) as (one, other), ana_and_bo(one, other) as (_, bo, room):
        assert await bo.refusal("move", room=room, cell=4, ply=0) == "not_your_turn"
        assert await bo.refusal("move", room="ZZZZZZ", cell=4, ply=0) == "no_such_room"
        assert await bo.refusal("join", room="ZZZZZZ") == "no_such_room"


async def test_who_leaves_the_one_server_is_gone_at_the_other_and_may_come_back_at_any(node: Node) -> None:
    async with house_of(node, 2) as (one, other), ana_and_bo(one, other) as (ana, bo, room):
        await bo.socket.close()
        assert not (await ana.state())["seats"]["O"]["online"]
        async with open_peer(one.url, token=bo.welcome["token"]) as again:
            assert again.seats == {room: "O"}
            assert (await again.ask("join", room=room))["seat"] == "O"
            assert (await ana.state())["seats"]["O"]["online"]


async def test_of_two_connections_at_two_servers_the_newer_plays(node: Node) -> None:
    async with (
        house_of(node, 2) as (one, other),
        ana_and_bo(one, other) as (ana, bo, room),
        open_peer(one.url, token=bo.welcome["token"]) as newer,
    ):
        assert (await newer.ask("join", room=room))["seat"] == "O"
        assert (await bo.next_of("replaced"))["room"] == room
        assert await bo.refusal("move", room=room, cell=4, ply=1) == "not_in_room"
        await play_out({"X": ana, "O": newer}, room, [0, 4])


async def test_the_lobby_is_that_of_the_whole_house(node: Node) -> None:
    async with house_of(node, 2) as (one, other), open_peer(other.url, "eve") as eve:
        assert (await eve.ask("lobby", on=True))["rooms"] == []
        async with open_peer(one.url, "ana") as ana:
            room = (await ana.ask("create"))["room"]
            change = await eve.until(lambda message: message["type"] == "lobby" and message["changed"])
            assert [row["room"] for row in change["changed"]] == [room]
            await ana.ask("leave", room=room)
            assert (await eve.until(lambda message: message["type"] == "lobby" and message["closed"]))["closed"] == [
                room
            ]


async def test_the_boards_of_the_lobby_are_those_of_the_whole_house(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tictactoe_server.tables.boards.LOOK_SECONDS", 0.02)
    async with (
        house_of(node, 2) as (one, other),
        open_peer(one.url, "ana") as ana,
        open_peer(one.url, "bo") as bo,
        open_peer(other.url, "eve") as eve,
    ):
        room = (await ana.ask("create"))["room"]
        await bo.ask("join", room=room)
        await eve.ask("lobby", on=True, boards=3)
        shown = await eve.until(lambda message: message["type"] == "boards" and message["boards"])
        assert [board["room"] for board in shown["boards"]] == [room]
        await play_out({"X": ana, "O": bo}, room, [4, 0])
        await eve.until(lambda message: message["type"] == "boards" and message["boards"][0]["board"] == "O...X....")


async def test_a_quick_match_brings_those_of_two_servers_together(node: Node) -> None:
    async with house_of(node, 2) as (one, other):
        for first, second in ((one, other), (other, one)):
            async with open_peer(first.url, "ana") as ana, open_peer(second.url, "bo") as bo:
                waiting = (await ana.ask("match"))["room"]
                assert (await bo.ask("match"))["room"] == waiting
                await play_out({"X": ana, "O": bo}, waiting, [0, 4, 1, 5, 2])


async def test_a_history_is_that_of_the_whole_house(node: Node) -> None:
    async with house_of(node, 2) as (one, other), ana_and_bo(one, other) as (ana, bo, room):
        await play_out({"X": ana, "O": bo}, room, [0, 4, 1, 5, 2])
        for peer in (ana, bo):
            games: list[Message] = []
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not games:
                    games = (await peer.ask("history"))["games"]
            assert [game["room"] for game in games] == [room]


async def test_any_server_shows_every_room_and_every_game_that_was_shared(node: Node) -> None:
    async with house_of(node, 3) as servers, ana_and_bo(*servers[:2]) as (ana, bo, room):
        await play_out({"X": ana, "O": bo}, room, [0, 4, 1, 5])
        for server in servers:
            await shown(server, f"/{room}", "1  X X .\n2  . O(O)\n")
            await shown(server, "/", f"{room}  playing  ana v bo")
            await shown(server, "/wall", room)
        await play_out({"X": ana, "O": bo}, room, [2], first_ply=4)
        (game,) = (await bo.ask("history"))["games"]
        told = await bo.ask("share", game=game["id"])
        for server in servers:
            await shown(server, f"/replay/{told['replay']}", "ana wins by a line after 5 moves.")
        await bo.ask("share", game=game["id"], on=False)
        assert [(await get(server, f"/replay/{told['replay']}")).status for server in servers] == [404] * 3


async def shown(server: Server, path: str, words: str) -> None:
    """Wait until a server shows something in plain text."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while words not in (await get(server, path)).body.decode():  # noqa: ASYNC110  # nobody tells
            await asyncio.sleep(0.01)


async def test_a_bot_plays_who_is_at_another_server(node: Node) -> None:
    async with house_of(node, 2) as (one, other), open_peer(one.url, "ana") as ana:
        room = (await ana.ask("create", bots=["easy"], seat="X"))["room"]
        async with open_peer(other.url, token=ana.welcome["token"]) as again:
            await again.ask("join", room=room)
            await again.ask("move", room=room, cell=4, ply=0)
            assert (await again.state(ply=2))["turn"] == "X"


# -- servers come and go --------------------------------------------------------------------------------------------


async def test_a_game_goes_on_at_a_server_that_comes_and_when_one_goes(node: Node) -> None:
    async with house_of(node, 1) as (one,), open_peer(one.url, "ana") as ana, open_peer(one.url, "bo") as bo:
        rooms = []
        for _ in range(20):
            room = (await ana.ask("create"))["room"]
            await bo.ask("join", room=room)
            await bo.state(room=room, status="playing")
            rooms.append(room)
        async with Server(settings(node), limits=uncounted()):
            await until(lambda: list(one.house.members.others))
            assert {one.house.members.is_own(room) for room in rooms} == {True, False}
            for room in rooms:
                assert (await ana.ask("move", room=room, cell=0, ply=0))["type"] == "ok"
                assert (await bo.state(room=room, ply=1))["board"][0] == "X"
        for room in rooms:
            assert (await bo.ask("move", room=room, cell=4, ply=1))["type"] == "ok"
            assert (await ana.state(room=room, ply=2))["board"][4] == "O"
        seqs = [message["seq"] for message in ana.seen if message["type"] == "room" and message["room"] == rooms[0]]
        assert seqs == sorted(seqs)


# -- the operator ---------------------------------------------------------------------------------------------------


async def ordered(server: Server, order: orders.Order) -> Any:
    return await server.carry_out(order)


async def test_orders_are_for_the_whole_house_and_say_which_server(node: Node) -> None:
    async with house_of(node, 2) as (one, other), ana_and_bo(one, other) as (ana, bo, room):
        names = [one.house.members.name, other.house.members.name]
        for server in (one, other):
            (row,) = await ordered(server, orders.ListRooms())
            assert (row["room"], row["server"], row["here"]) == (room, names[0], 2)
            for order in (orders.ListPlayers(), orders.ListConnections()):
                players = {row["name"]: (row["server"], row["rooms"]) for row in await ordered(server, order)}
                assert players == {"ana": (names[0], [room]), "bo": (names[1], [room])}
            shown = await ordered(server, orders.ShowRoom(room))
            assert (shown["server"], shown["seats"]["O"]["name"]) == (names[0], "bo")
            status = await ordered(server, orders.Status())
            assert {row["server"]: row["players"] for row in status["house"]} == dict.fromkeys(names, 1)
            assert {row["server"]: row["served"] for row in status["house"]} == {names[0]: 1, names[1]: 0}
            assert all(row["behind"] in range(10) for row in status["house"])  # the time is noted all the while
        assert (await ordered(other, orders.Announce("hello all")))["connections"] == 2
        assert (await ana.next_of("announcement"))["text"] == (await bo.next_of("announcement"))["text"] == "hello all"
        assert await one.carry_out(orders.Kick("bo")) == {"player": bo.welcome["player"], "connections": 1}
        assert (await bo.next_of("error"))["code"] == "kicked"
        with pytest.raises(OrderRefused, match='There is no "eve" here'):
            await one.carry_out(orders.Kick("eve"))


async def test_a_check_of_the_store_names_the_servers_that_live(node: Node) -> None:
    async def check() -> str:
        return (await asyncio.to_thread(run_command, "cluster", "check", "--store", node.url)).output

    async with house_of(node, 2) as (one, other), ana_and_bo(one, other):
        found = await check()
        assert f"Server {one.house.members.name} lives: 1 players, 1 rooms served, " in found
        assert f"Server {other.house.members.name} lives: 1 players, 0 rooms served, " in found
        assert "not hear" not in found
        other.house.on_order = None
        assert f"Wrong: Server {other.house.members.name} lives and does not say how it is: " in await check()


async def test_a_ban_holds_at_every_server_and_ends_at_every_server(node: Node) -> None:
    async with house_of(node, 2) as (one, other), ana_and_bo(one, other) as (_, bo, _room):
        await one.carry_out(orders.BanOrder("bo", "too loud"))
        assert (await bo.next_of("error"))["code"] == "banned"
        for server in (one, other):
            async with open_peer(server.url, token=bo.welcome["token"]) as again:
                assert again.welcome["code"] == "banned"
        await other.carry_out(orders.Unban(bo.welcome["player"]))
        await until(lambda: one.office.site.bans.of_player(bo.welcome["player"]) is None)
        async with open_peer(one.url, token=bo.welcome["token"]) as again:
            assert again.welcome["type"] == "welcome"


async def test_a_server_that_drains_gives_its_games_to_the_others_and_ends(node: Node) -> None:
    async with house_of(node, 2) as (one, other), ana_and_bo(one, other) as (ana, bo, room):
        assert (await ordered(one, orders.DrainOrder()))["games"] == 0
        async with asyncio.timeout(PATIENCE_SECONDS):
            await one.until_drained()
        await play_out({"X": ana, "O": bo}, room, [0, 4])


# -- two who believe that a room is theirs --------------------------------------------------------------------------


def seqs(peer: Peer, room: str) -> list[int]:
    """Return the `seq` of all states of a room in the order in which somebody was shown them."""
    return [message["seq"] for message in peer.seen if message["type"] == "room" and message["room"] == room]


async def test_two_owners_of_a_room_lose_no_move_and_show_nobody_an_older_state(node: Node) -> None:
    board = {"rows": 8, "columns": 8, "line": 8}
    async with house_of(node, 2) as (one, other), open_peer(one.url, "ana") as ana, open_peer(other.url, "bo") as bo:
        room = (await ana.ask("create", rules=board))["room"]
        await bo.ask("join", room=room)
        for ply in range(40):
            mover = (ana, bo)[ply % 2]
            await mover.state(room=room, ply=ply, status="playing")
            (one, other)[ply % 3 % 2].house.members.lose((other, one)[ply % 3 % 2].house.members.id)
            while (answer := await mover.ask("move", room=room, cell=ply, ply=ply))["type"] == "error":
                assert answer["code"] in ("unavailable", "busy"), answer
        for peer in (ana, bo):
            assert (await peer.state(ply=40))["board"] == "XO" * 20 + "." * 24
            assert seqs(peer, room) == sorted(seqs(peer, room))


async def test_of_many_who_ask_two_servers_for_a_match_at_once_each_gets_one_other(node: Node) -> None:
    async with house_of(node, 2) as servers, contextlib.AsyncExitStack() as stack:
        peers = [await stack.enter_async_context(open_peer(servers[number % 2].url)) for number in range(40)]
        rooms = [answer["room"] for answer in await asyncio.gather(*(peer.ask("match") for peer in peers))]
        assert {rooms.count(room) for room in rooms} == {2}
        for peer in peers:
            assert None not in (await peer.state(status="playing"))["seats"].values()


async def test_of_many_at_two_servers_who_want_one_seat_one_gets_it(node: Node) -> None:
    async with house_of(node, 2) as servers, contextlib.AsyncExitStack() as stack:
        ana = await stack.enter_async_context(open_peer(servers[0].url, "ana"))
        peers = [await stack.enter_async_context(open_peer(servers[number % 2].url)) for number in range(10)]
        for _ in range(5):
            room = (await ana.ask("create"))["room"]
            answers = await asyncio.gather(*(peer.ask("join", room=room) for peer in peers))
            assert sorted(answer.get("code", "seated") for answer in answers) == ["room_full"] * 9 + ["seated"]


async def test_who_asks_again_for_a_match_gets_the_room_in_which_they_wait(node: Node) -> None:
    async with house_of(node, 2) as (one, other), open_peer(one.url, "ana") as ana:
        room = (await ana.ask("match"))["room"]
        async with open_peer(other.url, token=ana.welcome["token"]) as again:
            assert (await again.ask("match"))["room"] == room
            assert (await ana.next_of("replaced"))["room"] == room


async def test_who_is_sent_away_by_a_server_that_restarts_may_come_to_another_at_once(node: Node) -> None:
    async with house_of(node, 1) as (one,), open_peer(one.url, "ana") as ana, contextlib.AsyncExitStack() as going:
        room = (await ana.ask("create"))["room"]
        other = await going.enter_async_context(Server(settings(node), limits=uncounted()))
        async with open_peer(other.url, "bo") as bo:
            await bo.ask("join", room=room)
            await until(lambda: list(one.house.members.others))
            await going.aclose()
            notice = await bo.next_of("notice")
            assert (notice["code"], notice["retry_ms"]) == ("restarting", 100)
        async with open_peer(one.url, token=bo.welcome["token"]) as again:
            assert (await again.ask("join", room=room))["seat"] == "O"
            await play_out({"X": ana, "O": again}, room, [0, 4])


async def test_a_seat_that_was_kept_for_one_who_does_not_come_is_for_the_next(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "RESERVED_SECONDS", 0.1)
    async with house_of(node, 1) as (one,), open_peer(one.url, "ana") as ana:
        kind = (Rules(), None)
        room = (await ana.ask("match"))["room"]
        assert await one.house.seek(kind, Player("1", "bo")) == (room, False)
        assert await one.house.seek(kind, Player("1", "bo")) == (room, False)  # who asks again is not kept out by it
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (await one.house.seek(kind, Player("2", "eve")))[0] != room:  # noqa: ASYNC110  # nobody is told
                await asyncio.sleep(0)


async def test_one_whose_match_was_stored_while_the_room_went_to_another_server_is_led_there(node: Node) -> None:
    async with house_of(node, 2) as (one, other), open_peer(one.url, "ana") as ana, open_peer(other.url, "bo") as bo:
        room = (await ana.ask("match"))["room"]
        live = one._registry.find_here(room)
        assert live is not None
        await bo.send("match", id="m")
        async with asyncio.timeout(PATIENCE_SECONDS):
            while live.change is None:  # noqa: ASYNC110  # it does not take long
                await asyncio.sleep(0)
        one.house.leave()
        answer = await bo.until(lambda message: message.get("id") == "m")
        assert (answer["type"], answer["room"], answer["seat"]) == ("ok", room, "O")
        async with open_peer(other.url, token=bo.welcome["token"]) as again:
            assert again.seats == {room: "O"}


async def test_one_who_waits_for_a_match_is_found_after_a_server_thought_for_a_moment_to_serve_the_room(
    node: Node,
) -> None:
    async with house_of(node, 2) as (one, other), open_peer(one.url, "ana") as ana:
        members, bo = other.house.members, Player("2", "bo")
        kinds = ((Rules(rows=rows, columns=columns), None) for rows in range(3, 9) for columns in range(3, 9))
        kind = next(kind for kind in kinds if members.is_own(matching._key_of(kind)))
        room = (await ana.ask("match", rules={"rows": kind[0].rows, "columns": kind[0].columns, "line": 3}))["room"]
        live = other._registry.find_here(room)  # announced there before it was opened
        assert live is not None
        await until(lambda: live.revision != MISSING)
        members.lose(one.house.members.id)
        assert other._registry.take_over(live)
        assert (await other.house.seek(kind, bo))[0] != room
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (await other.house.seek(kind, bo))[0] != room:  # noqa: ASYNC110  # nobody is told
                await asyncio.sleep(0)
