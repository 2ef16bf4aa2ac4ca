import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.authority import Authority
from tests.page.conftest import SERVER_GOES, Visit, Visitor
from tests.page.members import Members
from tests.page.odd_server import OddServer, welcome
from tests.page.test_bad_lines import come_back_unknown, take_the_clock
from tests.peer import Peer, open_peer
from tictactoe_server.server import Server


@pytest_asyncio.fixture(loop_scope="session")
async def members(server: Server) -> AsyncIterator[Members]:
    async with Members(server) as running:
        yield running


@pytest.fixture
def tls(tmp_path: Path) -> ssl.SSLContext:
    authority = Authority(tmp_path)
    authority.issue()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(authority.cert, authority.key)
    return context


async def one_at_the_board(members: Members, visit: Visit, bo: Peer) -> Visitor:
    """Seat ana, at a page, in a room of `s1` against bo, who uses a bare connection."""
    ana = await visit(members.origin, may_fail=SERVER_GOES)
    await ana.quick_match("ana")
    await bo.ask("join", room=ana.code)
    await ana.hears("bo joins as O.")
    return ana


async def room_of(bo: Peer, members: Members) -> str:
    """Open a room for bo at `s2` and return its code."""
    room = str((await bo.ask("create"))["room"])
    members.owners[room] = "s2"
    return room


async def plays(bo: Peer, room: str, cell: int, ply: int) -> None:
    """Wait until `ply` moves were made, and make the next."""
    await bo.state(room=room, ply=ply)
    await bo.ask("move", room=room, cell=cell, ply=ply)


async def test_a_moving_room_is_followed_without_a_gap(members: Members, visit: Visit, bo: Peer) -> None:
    ana = await one_at_the_board(members, visit, bo)
    room = ana.code
    await ana.play(4)
    await plays(bo, room, 0, 1)
    seen = await bo.state(ply=2)
    await ana.sees(A1="O")
    await members.move(room, "s2")
    place = members.urls["s2"].removeprefix("ws://")
    await ana.hears(f"The room is at {place} now.")
    await expect(ana.page.locator(".talk .note").last).to_have_text(f"The room is at {place} now.")
    [(at, join)] = [(name, request) for name, request in members.asked if request["type"] == "join"]
    assert (at, join["seq"]) == ("s2", seen["seq"])
    await ana.play(8)
    await bo.state(ply=3)
    assert members.places_of("move") == ["s1", "s2"]
    await expect(ana.page.locator(".link")).to_have_text("connected")
    assert ana.page.url == f"{members.origin}/{room}"


async def test_a_link_leads_to_a_room_of_another_server(members: Members, visit: Visit, bo: Peer) -> None:
    room = await room_of(bo, members)
    ana = await visit(f"{members.origin}/{room}", may_fail=SERVER_GOES)
    await ana.join("ana")
    await ana.hears("You are O.")
    await bo.ask("move", room=room, cell=4, ply=0)
    await ana.sees(B2="X")
    await ana.play(0)
    assert members.places_of("watch") == ["s1", "s2", "s2"]
    assert members.places_of("join") + members.places_of("move") == ["s2", "s2"]
    await ana.button("Share").click()
    await ana.button("Copy").first.click()
    await ana.hears(f"{members.origin}/{room}")


async def test_two_games_at_two_servers_are_both_kept(members: Members, visit: Visit, bo: Peer, server: Server) -> None:
    ana = await one_at_the_board(members, visit, bo)
    first = ana.code
    async with open_peer(server.url, "cy") as cy:
        second = await room_of(cy, members)
        await ana.page.get_by_role("link", name="tictactoe").click()
        await ana.page.get_by_label("Code or link").fill(second)
        async with ana.page.expect_websocket() as led:
            await ana.button("Join").click()
        await ana.join("ana")
        await cy.ask("move", room=second, cell=4, ply=0)
        await ana.sees(B2="X")
    await bo.send("sync", room=first)
    assert (await bo.state(room=first))["seats"]["X"]["online"]
    await ana.page.get_by_role("link", name="tictactoe").click()
    await ana.page.get_by_role("button", name=f"Resume {first}").click()
    await ana.play(0)
    assert members.places_of("join") == ["s2"]
    assert members.places_of("move") == ["s1"]
    await ana.page.get_by_role("link", name="tictactoe").click()
    async with (await led.value).expect_event("close"):
        await ana.confirm(ana.button(f"Leave {second}"))


async def test_after_three_redirections_the_first_server_is_asked_again(server: Server, visit: Visit, bo: Peer) -> None:
    async with Members(server, names=("s1", "s2", "s3")) as members:
        room = await room_of(bo, members)
        members.mistaken = {"s1": "s2", "s2": "s3", "s3": "s1"}
        ana = await visit(f"{members.origin}/{room}", may_fail=SERVER_GOES)
        assert await members.heard("watch", 5) == ["s1", "s2", "s3", "s1", "s1"]
        members.mistaken = {}
        await ana.join("ana")
        await ana.hears("You are O.")


async def test_a_redirection_to_a_dead_server_is_asked_for_again(members: Members, visit: Visit, bo: Peer) -> None:
    room = await room_of(bo, members)
    members.down.add("s2")
    ana = await visit(f"{members.origin}/{room}", may_fail=SERVER_GOES)
    assert await members.heard("watch", 2) == ["s1", "s1"]
    members.owners[room] = "s1"
    await ana.join("ana")
    await ana.hears("You are O.")


async def test_a_room_of_a_silent_server_is_taken_over(members: Members, visit: Visit, bo: Peer) -> None:
    ana = await one_at_the_board(members, visit, bo)
    members.down.add("s2")
    await members.move(ana.code, "s2")
    silent = f"The server of room {ana.code}, {members.urls['s2']}, does not answer."
    await ana.hears(f"{silent} Asking another server to take over the room.")
    await ana.play(4)
    await bo.state(ply=1)
    joins = [request.get("unreachable") for _, request in members.asked if request["type"] == "join"]
    assert joins == [members.urls["s2"]]
    await expect(ana.page.get_by_text("Nobody answers")).to_have_count(0)


async def test_redirects_to_servers_outside_the_welcome_are_refused(members: Members, visit: Visit, bo: Peer) -> None:
    room = await room_of(bo, members)
    members.strangers = {"s2"}
    ana = await visit(f"{members.origin}/{room}", may_fail=SERVER_GOES)
    await ana.hears(f"Room {room} is at {members.urls['s2']} now.")
    await expect(ana.page.get_by_role("heading", name="Nothing here")).to_be_visible()
    assert members.places_of("hello") == ["s1", "s1"]  # again, in case it had come since


async def test_the_pages_policy_limits_redirections(members: Members, visit: Visit, bo: Peer) -> None:
    room = await room_of(bo, members)
    members.urls["s2"] = members.urls["s2"].replace("127.0.0.1", "localhost")
    ana = await visit(f"{members.origin}/{room}", may_fail="Content Security Policy")
    await ana.hears(f"Room {room} is at {members.urls['s2']} now.")
    assert members.places_of("watch") == ["s1", "s1"]


async def test_no_redirection_leaves_tls(browser: Browser, server: Server, bo: Peer, tls: ssl.SSLContext) -> None:
    async with Members(server, tls) as members, await browser.new_context(ignore_https_errors=True) as context:
        room = await room_of(bo, members)
        members.urls["s2"] = members.urls["s2"].replace("wss", "ws")
        ana = Visitor(await context.new_page(), SERVER_GOES)
        called: list[str] = []
        ana.page.on("websocket", lambda socket: called.append(socket.url))
        await ana.page.goto(f"{members.origin}/{room}")
        await ana.hears(f"Room {room} is at {members.urls['s2']} now.")
        assert called == [f"{members.origin.replace('https', 'wss')}/{path}" for path in ("ws", "s1")]


async def test_one_whose_server_stops_is_the_same_player_at_another(members: Members, visit: Visit, bo: Peer) -> None:
    ana = await one_at_the_board(members, visit, bo)
    room = ana.code
    await ana.play(4)
    await members.say("s1", {"type": "notice", "code": "stopping", "retry_ms": 0})
    members.kill("s1")
    await plays(bo, room, 0, 1)
    await ana.play(8)
    await bo.state(ply=3)
    assert members.places_of("join") == ["s2"]
    await expect(ana.page.locator(".players")).to_contain_text("ana (you)")


async def test_a_frozen_server_is_left_with_the_pending_move(members: Members, visit: Visit, bo: Peer) -> None:
    ana = await one_at_the_board(members, visit, bo)
    await take_the_clock(ana)
    await expect(ana.page.locator("p.turn.mine")).to_be_visible()
    members.freeze("s1")
    await ana.cell(4).click()
    await members.heard("move", 1)
    await ana.page.clock.run_for(5500)
    await bo.state(ply=1)
    assert members.places_of("move") == ["s1", "s2"]
    await expect(ana.page.locator(".link")).to_have_text("connected")


async def test_the_player_of_each_cluster_that_was_here_is_known_again(visit: Visit) -> None:
    async with OddServer() as server:
        ana = await visit(server.origin, may_fail=SERVER_GOES)
        await expect(ana.page.get_by_label("Playing as")).to_have_value("ana")
        await ana.connects()
        for cluster in ("one", "two"):
            server.answers = {"hello": [welcome(token=f"of {cluster}", cluster=cluster)]}
            await ana.page.reload()
            await ana.connects()
        await come_back_unknown(server, ana)
        assert [hello.get("token") for hello in server.asked_for("hello")] == ["of two", "of one", "t", None]
