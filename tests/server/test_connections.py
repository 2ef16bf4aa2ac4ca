import base64
import contextlib

import pytest

from tests.fakes import FakeClock
from tests.limits import uncounted
from tests.peer import Peer, open_peer, play_out, two_playing
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


@pytest.mark.features
async def test_the_welcome_identifies_the_player(server: Server) -> None:
    async with open_peer(server.url, "Zoe\u0308") as zoe:
        welcome = zoe.welcome
        who = {"type", "protocol", "server", "player", "name", "token", "rooms", "hold_ms"}
        assert set(welcome) == who | {"sharing", "ladders", "challenges", "turns"}
        assert (welcome["sharing"], "connect-four" in welcome["ladders"], welcome["challenges"]) == (True, True, [])
        assert (welcome["type"], welcome["protocol"], welcome["name"], welcome["rooms"]) == ("welcome", 2, "Zoë", [])
        assert welcome["server"].startswith("tictactoe-server/")
        assert welcome["token"] not in welcome["player"]


async def test_one_without_a_name_is_a_guest(server: Server) -> None:
    async with open_peer(server.url) as one, open_peer(server.url) as other:
        assert one.welcome["name"].startswith("guest-")
        assert len(one.welcome["name"]) == len("guest-") + 4
        assert one.welcome["player"] != other.welcome["player"]
        assert one.welcome["token"] != other.welcome["token"]
        for token in (one.welcome["token"], other.welcome["token"]):
            assert len(base64.urlsafe_b64decode(token)) == 24


async def test_welcome_lists_the_seats_in_unfinished_rooms(server: Server, ana: Peer, bo: Peer) -> None:
    waiting = (await ana.ask("create", seat="O"))["room"]
    playing = (await bo.ask("create"))["room"]
    await ana.ask("join", room=playing)
    over = (await ana.ask("create"))["room"]
    await bo.ask("join", room=over)
    await bo.ask("resign", room=over)
    left = (await ana.ask("create"))["room"]
    await ana.ask("leave", room=left)
    async with open_peer(server.url, token=ana.welcome["token"]) as again:
        held = {row["room"]: row["seat"] for row in again.welcome["rooms"]}
        assert held == {waiting: "O", playing: "O"}


async def test_the_welcome_says_how_long_a_seat_is_held_and_how_much_of_it_is_left() -> None:
    clock, settings = FakeClock(), Settings(host="127.0.0.1", port=0, hold_seconds=300)
    async with Server(settings, monotonic_ns=clock) as server, two_playing(server) as (ana, bo, room):
        assert (bo.welcome["hold_ms"], "held_ms" in bo.welcome) == (300_000, False)
        async with open_peer(server.url, token=bo.welcome["token"]) as second:
            assert "held_ms" not in second.welcome
        await bo.socket.close()
        await ana.until(lambda message: message["type"] == "room" and not message["seats"]["O"]["online"])
        clock.advance(40_000)
        async with open_peer(server.url, token=bo.welcome["token"]) as again:
            assert again.welcome["held_ms"] == {room: 260_000}
            assert again.seats == {room: "O"}
        clock.advance(300_000)
        async with open_peer(server.url, token=bo.welcome["token"]) as late:
            assert late.welcome["held_ms"] == {room: 0}


async def test_the_reply_comes_before_the_state_that_it_caused(ana: Peer, bo: Peer) -> None:
    await ana.send("create", id="c")
    reply, state = await ana.receive(), await ana.receive()
    assert (reply["type"], state["type"]) == ("ok", "room")
    room = reply["room"]
    await bo.send("join", id="j", room=room)
    assert [(await bo.receive())["type"] for _ in range(2)] == ["ok", "room"]
    await ana.state(status="playing")
    for type in ("sync", "join", "resign", "rematch"):
        await ana.send(type, id=type, room=room)
        reply, state = await ana.receive(), await ana.receive()
        assert (reply["type"], reply["id"], state["type"]) == ("ok", type, "room")


async def test_without_an_id_there_is_no_ok_but_the_state_comes(ana: Peer) -> None:
    await ana.send("create")
    assert (await ana.receive())["type"] == "room"
    await ana.send("ping")
    await ana.send("rooms")
    await ana.send("ping", id="last")
    assert (await ana.receive())["id"] == "last"


async def test_sync_sends_the_state_to_the_asker_alone(server: Server) -> None:
    async with two_playing(server) as (ana, bo, room):
        last = await play_out({"X": ana, "O": bo}, room, [4, 0])
        assert (await ana.ask("sync", room=room.lower()))["type"] == "ok"
        assert await ana.receive() == last
        await bo.send("ping", id="p")
        assert (await bo.receive())["id"] == "p"


async def test_ping_tells_the_time_in_milliseconds(ana: Peer) -> None:
    first, second = await ana.ask("ping"), await ana.ask("ping")
    assert set(first) == {"type", "id", "time"}
    assert second["time"] >= first["time"] > 1_600_000_000_000


async def test_a_player_may_watch_the_own_game_from_a_second_connection(server: Server) -> None:
    async with two_playing(server) as (ana, bo, room):
        async with open_peer(server.url, token=ana.welcome["token"]) as second:
            assert (await second.ask("watch", room=room))["seat"] is None
            assert await second.refusal("move", room=room, cell=4, ply=0) == "not_seated"
            await ana.ask("move", room=room, cell=4, ply=0)
            assert (await second.state(ply=1))["watchers"] == 1
            assert (await second.ask("leave", room=room))["type"] == "ok"
            assert (await ana.state(watchers=0))["ply"] == 1
            assert await second.refusal("sync", room=room) == "not_in_room"
        assert (await ana.ask("move", room=room, cell=4, ply=0))["type"] == "ok"
        assert (await bo.state(ply=1))["seats"]["X"]["online"] is True


@pytest.mark.limits(deserted_seconds=3)
async def test_a_room_that_a_player_comes_back_to_stays_and_watchers_hear_of_the_end_of_others(server: Server) -> None:
    async with open_peer(server.url) as eve, contextlib.AsyncExitStack() as stack:
        async with open_peer(server.url) as ana:
            again = await stack.enter_async_context(open_peer(server.url, token=ana.welcome["token"]))
            gone, back, late = [(await ana.ask("create"))["room"] for _ in range(3)]
            for room in (gone, back):
                await eve.ask("watch", room=room)
        await again.ask("join", room=back)
        await eve.ask("watch", room=late)
        closed = [await eve.next_of("closed"), await eve.next_of("closed")]
        assert {push["room"] for push in closed} == {gone, late}
        assert {push["reason"] for push in closed} == {"Nobody came back."}
        assert [row["room"] for row in (await eve.ask("rooms"))["rooms"]] == [back]
        assert await eve.refusal("sync", room=gone) == "no_such_room"


async def test_a_state_at_the_end_of_a_hold_says_that_the_game_may_be_claimed() -> None:
    settings = Settings(host="127.0.0.1", port=0, hold_seconds=0.3)
    async with Server(settings, limits=uncounted()) as server, two_playing(server) as (ana, bo, room):
        await bo.socket.close()
        dropped = await ana.until(lambda message: [event["type"] for event in message.get("news", ())] == ["dropped"])
        assert "claim win" not in dropped["may"]["X"]
        claimable = await ana.until(lambda message: "claim win" in message.get("may", {}).get("X", ()))
        assert (claimable["seq"], claimable["seats"]["O"]["hold_ms"]) == (dropped["seq"], 0)
        assert (await ana.ask("claim", room=room, **{"as": "draw"}))["type"] == "ok"
