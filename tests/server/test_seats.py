import contextlib
from collections import Counter
from pathlib import Path

import pytest

from tests.limits import uncounted
from tests.peer import Peer, open_peer, play_out, two_playing
from tests.server.test_limits import LOOPBACK, serving, speaking_for
from tictactoe_server.features.bots.service import FEATURE as BOTS


async def waiting_rooms(peer: Peer, count: int, **options: object) -> list[str]:
    return [(await peer.ask("create", **options))["room"] for _ in range(count)]


@pytest.mark.features(BOTS)
async def test_seats_are_limited_by_player() -> None:
    async with (
        serving(uncounted(seats_per_player=3)) as server,
        open_peer(server.url) as host,
        open_peer(server.url) as ana,
    ):
        rooms = await waiting_rooms(host, 3)
        async with open_peer(server.url) as other_host:
            rooms += await waiting_rooms(other_host, 2)
            for room in rooms[:3]:
                assert (await ana.ask("join", room=room))["type"] == "ok"
            refused = [await ana.ask("join", room=rooms[3]), await ana.ask("create"), await ana.ask("match")]
            assert {one["code"] for one in refused} == {"rate_limited"}
            assert all("Leave one first." in one["message"] and one["retry_ms"] > 0 for one in refused)
            assert (await ana.ask("join", room=rooms[0]))["type"] == "ok"
            assert (await ana.ask("watch", room=rooms[3]))["type"] == "ok"
            assert (await ana.ask("create", bots=["easy"]))["type"] == "ok"
            await ana.ask("leave", room=rooms[0])
            assert (await ana.ask("join", room=rooms[3]))["type"] == "ok"
            assert await ana.refusal("join", room=rooms[4]) == "rate_limited"


async def test_games_that_are_over_hold_no_seat_until_they_begin_again() -> None:
    async with serving(uncounted(seats_per_player=1)) as server, two_playing(server) as (ana, bo, room):
        assert await ana.refusal("create") == "rate_limited"
        await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
        other = (await ana.ask("create"))["room"]
        await ana.ask("leave", room=other)
        for peer in (ana, bo):
            assert (await peer.ask("rematch", room=room))["type"] == "ok"
        assert await ana.refusal("create") == "rate_limited"


async def test_seats_are_limited_by_address() -> None:
    async with serving(uncounted(seats_per_address=4)) as server, contextlib.AsyncExitStack() as stack:
        ana, bo, cy = [await stack.enter_async_context(open_peer(server.url)) for _ in range(3)]
        rooms = await waiting_rooms(ana, 3)
        await bo.ask("join", room=rooms[0])
        refused = await cy.ask("join", room=rooms[1])
        assert refused["code"] == "rate_limited"
        assert refused["message"].startswith("Your network")
        await ana.ask("leave", room=rooms[2])
        assert (await cy.ask("join", room=rooms[1]))["type"] == "ok"


async def test_unstarted_seats_in_other_rooms_are_limited_by_address() -> None:
    limits = uncounted(unbegun_seats_per_address=2)
    async with serving(limits, trusted_proxies=LOOPBACK) as server, contextlib.AsyncExitStack() as stack:
        ana, bo, cy, dan = [
            await stack.enter_async_context(speaking_for(server, f"192.0.2.{number}")) for number in (1, 2, 2, 1)
        ]
        rooms = await waiting_rooms(ana, 4)
        (hidden,) = await waiting_rooms(ana, 1, visibility="private")
        for peer, room in ((bo, rooms[0]), (cy, rooms[1]), (bo, hidden)):
            assert (await peer.ask("join", room=room))["type"] == "ok"
        for refused in (await cy.ask("join", room=rooms[2]), await cy.ask("match")):
            assert refused["data"] == {"why": "unbegun-seats-per-address"}
        assert server.parts.limits()["unbegun-seats-per-address"] == (2, 2)
        assert (await dan.ask("join", room=rooms[2]))["type"] == "ok", "a class plays in its own rooms"
        assert (await bo.ask("join", room=rooms[0]))["type"] == "ok", "a seat is come back to"
        await play_out({"X": ana, "O": bo}, rooms[0], [0, 4])
        assert (await cy.ask("join", room=rooms[3]))["type"] == "ok"


async def test_seats_that_are_asked_for_at_the_same_moment_count_too(tmp_path: Path) -> None:
    async with serving(uncounted(seats_per_player=5), data=tmp_path) as server, contextlib.AsyncExitStack() as stack:
        host = await stack.enter_async_context(open_peer(server.url))
        second = await stack.enter_async_context(open_peer(server.url))
        third = await stack.enter_async_context(open_peer(server.url))
        rooms = [room for peer in (host, second, third) for room in await waiting_rooms(peer, 4)]
        greedy = await stack.enter_async_context(open_peer(server.url))
        token = greedy.welcome["token"]
        hands = [await stack.enter_async_context(open_peer(server.url, token=token)) for _ in rooms]
        for hand, room in zip(hands, rooms, strict=True):
            await hand.send("join", room=room, id="seat")
        heard = Counter([(await hand.until(lambda message: message.get("id") == "seat"))["type"] for hand in hands])
        assert heard == {"ok": 5, "error": 7}


@pytest.mark.parametrize(("limit", "code"), [("seats_per_player", "rate_limited"), ("rooms", "server_full")])
async def test_rooms_and_seats_from_before_a_restart_stay_and_count(tmp_path: Path, limit: str, code: str) -> None:
    async with serving(uncounted(), data=tmp_path) as server, open_peer(server.url) as ana:
        rooms = await waiting_rooms(ana, 3)
    async with (
        serving(uncounted(**{limit: 2}), data=tmp_path) as server,
        open_peer(server.url, token=ana.welcome["token"]) as back,
    ):
        assert {held["room"] for held in back.welcome["rooms"]} == set(rooms)
        for room in rooms:
            assert (await back.ask("join", room=room))["type"] == "ok"
        assert await back.refusal("create") == code
