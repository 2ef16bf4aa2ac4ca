"""Concurrent changes on a store that is slow, conflicts or refuses: all are applied, in order."""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from tests.fakes import FakeClock, TroubledStore
from tests.limits import uncounted
from tests.peer import Message, Peer, open_peer, play_out, two_playing
from tictactoe_protocol.requests import Resign
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.records.changes import ATTEMPTS
from tictactoe_server.records.tables import ROOMS
from tictactoe_server.rooms.play import apply
from tictactoe_server.rooms.room import Player
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.store import Conflict, NotStored, StoreUnavailable, Unsettled, save

HERE = Settings(host="127.0.0.1", port=0, features=(BotOptions(pause_seconds=0),))
MINUTE = {"initial_ms": 60_000, "increment_ms": 0}


@pytest.fixture
async def server(store: TroubledStore, clock: FakeClock) -> AsyncIterator[Server]:
    """A server on the troubled store that goes by the fixture `clock`."""
    async with Server(HERE, store, uncounted(), monotonic_ns=clock) as running:
        yield running


async def answered(peer: Peer, id: str) -> Message:
    return await peer.until(lambda message: message.get("id") == id)


async def settle(server: Server) -> None:
    """Return when the server has handled everything that was sent before."""
    async with open_peer(server.url) as eve:
        for _ in range(2):
            await eve.ask("ping")


async def test_a_late_move_is_refused_even_after_a_failed_save(
    server: Server, store: TroubledStore, clock: FakeClock
) -> None:
    async with two_playing(server, clock=MINUTE) as (ana, bo, room):
        await play_out({"X": ana, "O": bo}, room, [0, 4])
        clock.advance(60_000)
        store.trouble.fail("save", StoreUnavailable(), times=2)
        for _ in range(2):
            assert await ana.refusal("move", room=room, cell=1, ply=2) == "unavailable"
        assert await ana.refusal("move", room=room, cell=1, ply=2) == "game_over"


async def test_a_thousand_changes_waiting_for_a_reload_are_all_answered(server: Server, store: TroubledStore) -> None:
    async with two_playing(server) as (ana, bo, room):
        player = Player(bo.welcome["player"], "bo")
        store.trouble.before_next_save(
            lambda: store.rooms.put(apply(store.rooms.now(room), player, Resign(room=room), 0))
        )
        async with open_peer(server.url, token=ana.welcome["token"]) as other:
            for number in range(1_000):
                await other.send("join" if number % 2 else "sync", id=f"{number}", room=room)
            await ana.send("move", id="move", room=room, cell=4, ply=0)
            ids = [str(number) for number in range(1_000)]
            found = [(await other.until(lambda message: "id" in message))["id"] for _ in ids]
            assert found == ids


async def test_concurrent_matches_are_paired_in_shared_rooms(server: Server, store: TroubledStore) -> None:
    async with contextlib.AsyncExitStack() as stack:
        peers = [await stack.enter_async_context(open_peer(server.url)) for _ in range(10)]
        store.trouble.hold()
        for peer in peers:
            await peer.send("match", id="m")
        await peers[0].socket.ping()
        await store.trouble.until_held(2)
        await peers[-1].send("match", id="other", rules="gomoku")
        store.trouble.release()
        answers = [await answered(peer, "m") for peer in peers]
        rooms = Counter(answer["room"] for answer in answers)
        assert (len(rooms), set(rooms.values())) == (5, {2})
        assert Counter(answer["seat"] for answer in answers) == {"X": 5, "O": 5}


async def test_a_match_survives_an_unsaved_room(server: Server, ana: Peer, bo: Peer, store: TroubledStore) -> None:
    store.trouble.hold()
    await ana.send("match", id="m")
    await store.trouble.until_held(1)
    await bo.send("match", id="m")
    await settle(server)
    store.trouble.release(StoreUnavailable())
    assert (await answered(ana, "m"))["code"] == "unavailable"
    assert (await answered(bo, "m"))["seat"] == "X"


async def test_nobody_can_enter_a_room_while_the_last_player_leaves(server: Server, store: TroubledStore) -> None:
    async with contextlib.AsyncExitStack() as stack:
        ana, bo, cy, eve = [await stack.enter_async_context(open_peer(server.url)) for _ in range(4)]
        room = (await ana.ask("match"))["room"]
        store.trouble.hold()
        await ana.send("leave", id="go", room=room)
        await store.trouble.until_held(1)
        await bo.send("join", id="late", room=room)
        await cy.send("match", id="late")
        await settle(server)
        store.trouble.step()
        await store.trouble.until_held(1)
        await eve.send("watch", id="late", room=room)
        await settle(server)
        store.trouble.release()
        assert (await answered(ana, "go"))["type"] == "ok"
        assert (await answered(bo, "late"))["code"] == "no_such_room"
        matched = await answered(cy, "late")
        assert (matched["type"], matched["seat"]) == ("ok", "X")
        assert matched["room"] != room
        assert (await answered(eve, "late"))["type"] == "ok"
        assert (await eve.next_of("closed"))["room"] == room
        assert await eve.refusal("sync", room=room) == "no_such_room"


async def test_no_more_rooms_are_opened_at_once_than_there_may_be(store: TroubledStore) -> None:
    async with Server(HERE, store, uncounted(rooms=3)) as server, contextlib.AsyncExitStack() as stack:
        peers = [await stack.enter_async_context(open_peer(server.url)) for _ in range(6)]
        store.trouble.hold()
        for peer in peers:
            await peer.send("create", id="c")
        await store.trouble.until_held(3)
        await settle(server)
        store.trouble.release(StoreUnavailable())
        refused = [await answered(peer, "c") for peer in peers]
        assert Counter(answer["code"] for answer in refused) == {"unavailable": 3, "server_full": 3}
        answers = [await peer.ask("create") for peer in peers]
        assert Counter(answer.get("code", "opened") for answer in answers) == {"opened": 3, "server_full": 3}
        opened = next(peer for peer, answer in zip(peers, answers, strict=True) if answer["type"] == "ok")
        await opened.ask("leave", room=next(answer["room"] for answer in answers if answer["type"] == "ok"))
        assert (await opened.ask("create"))["type"] == "ok"


async def test_a_room_code_that_is_taken_gives_way_to_another(ana: Peer, bo: Peer, store: TroubledStore) -> None:
    store.trouble.fail("save", Conflict(), times=ATTEMPTS - 1)
    room = (await ana.ask("create"))["room"]
    assert (await bo.ask("join", room=room))["seat"] == "O"
    assert (await ana.state(status="playing"))["room"] == room
    store.trouble.fail("save", Conflict(), times=ATTEMPTS)
    assert await ana.refusal("create") == "busy"


@pytest.mark.parametrize(("error", "times"), [(Unsettled(), 4), (Conflict(), 1)], ids=["unsettled", "a lost race"])
async def test_unsettled_writes_are_awaited(server: Server, store: TroubledStore, error: Exception, times: int) -> None:
    async with two_playing(server) as (ana, bo, room):
        store.trouble.fail("save", error, times=times)
        assert (await ana.ask("move", room=room, cell=0, ply=0))["type"] == "ok"
        assert (await bo.state(ply=1))["board"][0] == "X"


async def test_a_queued_change_times_out(server: Server, store: TroubledStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.records.changes.ANSWER_SECONDS", 0.2)
    async with two_playing(server) as (ana, bo, room):
        store.trouble.hold()
        await ana.send("move", id="held", room=room, cell=4, ply=0)
        await store.trouble.until_held(1)
        assert await bo.refusal("move", room=room, cell=0, ply=1) == "unavailable"
        store.trouble.release()
        assert (await answered(ana, "held"))["type"] == "ok"
        assert (await bo.ask("move", room=room, cell=0, ply=1))["type"] == "ok"


async def test_retried_changes_time_out(server: Server, store: TroubledStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.records.changes.ANSWER_SECONDS", 0.2)
    async with two_playing(server) as (ana, bo, room):
        store.trouble.fail("save", Unsettled())
        store.trouble.hold()
        await ana.send("move", id="tried", room=room, cell=4, ply=0)
        assert (await answered(ana, "tried"))["code"] == "unavailable"
        store.trouble.release()
        assert (await ana.ask("move", room=room, cell=4, ply=0))["type"] == "ok"
        assert (await bo.ask("move", room=room, cell=0, ply=1))["type"] == "ok"
        assert (await ana.state(ply=2))["board"] == "O...X...."


async def test_a_save_that_certainly_failed_causes_no_reload(server: Server, store: TroubledStore) -> None:
    async with two_playing(server) as (ana, _, room):
        store.trouble.fail("save", NotStored())
        assert await ana.refusal("move", room=room, cell=0, ply=0) == "unavailable"
        store.trouble.fail("load", StoreUnavailable(), times=1000)
        assert (await ana.ask("move", room=room, cell=0, ply=0))["type"] == "ok"


async def test_a_change_stored_by_another_server_reaches_all(server: Server, eve: Peer, store: TroubledStore) -> None:
    await eve.ask("lobby", on=True)
    async with two_playing(server) as (ana, bo, room):
        await eve.until(lambda message: "playing" in [row["status"] for row in message.get("changed", ())])
        found = await store.table(ROOMS).load(room)
        assert found is not None
        over = apply(found[0], Player(bo.welcome["player"], "bo"), Resign(room), 0)
        await save(store.table(ROOMS), room, over, found[1])
        assert await ana.refusal("move", room=room, cell=0, ply=0) == "game_over"
        for peer in (ana, bo):
            assert (await peer.state(status="over"))["result"]["reason"] == "aborted"
        change = await eve.next_of("lobby")
        assert [(row["room"], row["status"]) for row in change["changed"]] == [(room, "over")]
