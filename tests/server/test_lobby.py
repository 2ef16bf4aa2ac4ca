"""The list of public rooms and quick match, over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter

from tests.peer import open_peer, play_out
from tictactoe_server.server import Server


async def test_the_list_has_a_row_for_each_public_room_newest_first(server: Server) -> None:
    async with open_peer(server.url, "ana") as ana, open_peer(server.url) as bo, open_peer(server.url) as eve:
        first = (await ana.ask("create"))["room"]
        second = (await ana.ask("create", rules="four"))["room"]
        await ana.ask("create", visibility="private")
        await bo.ask("join", room=first)
        await play_out({"X": ana, "O": bo}, first, [4])
        await eve.ask("watch", room=first)
        rows = (await eve.ask("rooms"))["rooms"]
        assert [row["room"] for row in rows] == [second, first]
        row = rows[1]
        assert set(row) == {"room", "status", "rules", "clock", "seats", "ply", "watchers", "age_ms"}
        assert (row["status"], row["ply"], row["watchers"], row["clock"]) == ("playing", 1, 1, None)
        assert row["rules"]["preset"] == "classic"
        assert row["seats"]["X"]["name"] == "ana"
        assert row["age_ms"] >= 0
        assert (rows[0]["status"], rows[0]["seats"]["O"]) == ("waiting", None)


async def test_the_list_is_empty_on_an_empty_server(server: Server) -> None:
    async with open_peer(server.url) as eve:
        assert (await eve.ask("rooms"))["rooms"] == []


async def test_the_list_has_at_most_200_rooms_the_newest(server: Server) -> None:
    async with open_peer(server.url) as ana:
        codes = [(await ana.ask("create"))["room"] for _ in range(203)]
        rows = (await ana.ask("rooms"))["rooms"]
        assert [row["room"] for row in rows] == codes[:2:-1]


async def test_a_private_room_is_joined_by_its_code_alone(server: Server) -> None:
    async with open_peer(server.url) as ana, open_peer(server.url) as bo:
        private = await ana.ask("create", visibility="private")
        matched = await bo.ask("match")
        assert matched["room"] != private["room"]
        assert (await bo.ask("join", room=private["room"]))["seat"] == "O"


async def test_a_finished_room_stays_listed_until_it_is_deserted(server: Server) -> None:
    async with open_peer(server.url) as ana, open_peer(server.url) as bo:
        room = (await ana.ask("match"))["room"]
        await bo.ask("match")
        await bo.ask("resign", room=room)
        assert [row["status"] for row in (await ana.ask("rooms"))["rooms"]] == ["over"]
        await ana.ask("leave", room=room)
        await bo.ask("leave", room=room)
        assert (await ana.ask("rooms"))["rooms"] == []


async def test_a_code_may_be_typed_in_any_case_with_dashes_and_spaces(server: Server) -> None:
    async with open_peer(server.url) as ana, open_peer(server.url) as bo:
        room = (await ana.ask("create"))["room"]
        typed = f" {room[:3].lower()}-{room[3:]} "
        assert (await bo.ask("join", room=typed))["room"] == room
        assert (await bo.ask("sync", room=typed))["type"] == "ok"


async def test_nobody_is_matched_with_oneself(server: Server) -> None:
    async with open_peer(server.url) as ana, open_peer(server.url) as bo:
        first, second = await ana.ask("match"), await ana.ask("match")
        assert first["room"] != second["room"]
        async with open_peer(server.url, token=ana.welcome["token"]) as other:
            assert (await other.ask("match"))["seat"] == "X"
        assert (await bo.ask("match"))["room"] == first["room"]


async def test_a_room_whose_player_dropped_is_passed_over(server: Server) -> None:
    async with open_peer(server.url) as ana, open_peer(server.url) as bo:
        async with open_peer(server.url) as gone:
            deserted = (await gone.ask("match"))["room"]
            await ana.ask("watch", room=deserted)
        await ana.until(lambda message: message["type"] == "room" and not message["seats"]["X"]["online"])
        assert (await bo.ask("match"))["room"] != deserted


async def test_a_seat_that_was_freed_is_matched_again(server: Server) -> None:
    async with open_peer(server.url) as ana, open_peer(server.url) as bo, open_peer(server.url) as cy:
        rules = "three-players"
        room = (await ana.ask("match", rules=rules))["room"]
        assert (await bo.ask("match", rules=rules))["room"] == room
        await ana.ask("leave", room=room)
        matched = await cy.ask("match", rules=rules)
        assert (matched["room"], matched["seat"]) == (room, "X")


async def test_many_who_match_at_once_are_paired_each_exactly_once(server: Server) -> None:
    async with contextlib.AsyncExitStack() as stack:
        peers = [await stack.enter_async_context(open_peer(server.url)) for _ in range(60)]
        answers = await asyncio.gather(*(peer.ask("match") for peer in peers))
        rooms = Counter(answer["room"] for answer in answers)
        assert set(rooms.values()) == {2}
        assert Counter(answer["seat"] for answer in answers) == {"X": 30, "O": 30}
        for peer, answer in zip(peers, answers, strict=True):
            state = await peer.state(status="playing")
            assert state["room"] == answer["room"]
            assert state["seats"][answer["seat"]]["player"] == peer.welcome["player"]
        listed = (await peers[0].ask("rooms"))["rooms"]
        assert {row["status"] for row in listed} == {"playing"}


async def test_many_who_join_one_room_at_once_leave_one_seat_to_one(server: Server) -> None:
    async with contextlib.AsyncExitStack() as stack:
        ana = await stack.enter_async_context(open_peer(server.url))
        peers = [await stack.enter_async_context(open_peer(server.url)) for _ in range(20)]
        room = (await ana.ask("create"))["room"]
        answers = await asyncio.gather(*(peer.ask("join", room=room) for peer in peers))
        assert Counter(answer.get("code", "seated") for answer in answers) == {"seated": 1, "room_full": 19}
