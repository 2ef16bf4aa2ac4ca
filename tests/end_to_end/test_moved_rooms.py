"""A room that another server has, seen from a transcript and from a script: each says so in one line, and plays on."""

from __future__ import annotations

from tests.end_to_end.clients import link_to, run_client
from tests.faults.hostile_server import (
    NOBODY,
    ROOM,
    hostile_cluster,
    hostile_server,
    identity,
    lets_in,
    says_nobody_is_there,
    sends_to,
    state,
)
from tictactoe_protocol.pushes import Moved, Ok
from tictactoe_protocol.requests import Join, Move


async def test_a_transcript_says_where_the_room_has_gone_and_goes_on_there() -> None:
    async with hostile_cluster() as (one, two), run_client("join", ROOM, "-n", "ana", "-s", one.url) as ana:
        await ana.until("Your move, X.")
        two.answers[Move] = lambda request: [Ok(id=identity(request)), state(2, (4,))]
        await one.push(Moved(ROOM, two.url))
        assert await ana.read_line() == f"The room is at {two.url} now."
        await ana.ask("b2", "You play B2")
        assert two.socket is not None
        two.socket.transport.abort()
        await ana.until("Connection lost.")
        assert await ana.read_line() == f"Now at {one.url}."


async def test_who_comes_by_one_server_and_is_sent_to_another_invites_to_the_one_that_they_know() -> None:
    async with hostile_cluster() as (one, two):
        one.answers[Join], two.answers[Join] = sends_to(two.url), lets_in(is_waiting=True)
        async with run_client("join", ROOM, "-n", "ana", "-s", one.url) as ana:
            link = await ana.until("Link")
            assert link.split()[1].rpartition(":")[2] == link_to(one.url, ROOM).rpartition(":")[2]
            assert not any("room is at" in line for line in ana.lines)


async def test_a_script_is_told_in_one_line_where_a_room_is_and_hears_of_it_no_other_way() -> None:
    async with hostile_cluster() as (one, two):
        one.answers[Join] = sends_to(two.url)
        async with run_client("join", ROOM, "--json", "-s", one.url) as script:
            there = {"from": "client", "type": "moved", "room": ROOM, "url": two.url}
            said = [await script.message() for _ in range(6)]
            assert [line["type"] for line in said] == ["connected", "welcome", "moved", "welcome", "ok", "room"]
            assert said[2] == there
            del one.answers[Join]
            await two.push(Moved(ROOM, one.url))
            said = [await script.message() for _ in range(4)]
            assert [line["type"] for line in said] == ["moved", "welcome", "ok", "room"]
            assert said[0] == there | {"url": one.url}


async def test_a_script_that_is_sent_to_a_stranger_ends_with_what_the_server_said() -> None:
    async with hostile_cluster() as (one, _):
        one.answers[Join] = sends_to("ws://127.0.0.1:1")
        async with run_client("join", ROOM, "--json", "-s", one.url) as script:
            assert (await script.message(type="error", code="moved"))["url"] == "ws://127.0.0.1:1"
            assert await script.end() == 6


async def test_a_transcript_and_a_script_say_where_nobody_answers_and_what_came_of_it() -> None:
    silent = f"Nobody answers at {NOBODY}, where room {ROOM} is. Another server is asked to take it over."
    async with hostile_server() as server:
        server.servers, server.features = (server.url, NOBODY), ("unreachable",)
        async with run_client("join", ROOM, "-n", "ana", "-s", server.url) as ana:
            await ana.until("Your move, X.")
            server.answers[Join] = says_nobody_is_there(lets_in(seq=2))
            await server.push(Moved(ROOM, NOBODY))
            assert await ana.until("Nobody answers") == silent
            assert await ana.read_line() == f"The room is at {server.url} now."
        del server.answers[Join]
        async with run_client("join", ROOM, "--json", "-s", server.url) as script:
            await script.message(type="room")
            server.answers[Join] = says_nobody_is_there(lets_in(seq=2))
            await server.push(Moved(ROOM, NOBODY))
            told = {"type": "unanswered", "room": ROOM, "url": NOBODY, "step": "asked", "message": silent}
            assert await script.message(type="unanswered") == {"from": "client"} | told
            assert (await script.message(**{"from": "client"}))["type"] == "moved"


async def test_who_gives_up_says_at_which_address_nobody_answers() -> None:
    async with hostile_server() as server:
        server.servers = (server.url, NOBODY)
        server.answers[Join] = sends_to(NOBODY)
        async with run_client("join", ROOM, "-n", "ana", "-s", server.url, "--timeout", "0.5") as ana:
            assert await ana.until("Nobody answers") == f"Nobody answers at {NOBODY}, where room {ROOM} is."
            assert await ana.end() == 6
            assert f"Nobody answers at {NOBODY}, where room {ROOM} is." in await ana.errors()
