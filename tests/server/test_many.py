"""Costs that must not grow with each watcher, lobby listener, waiting player or timer."""

import asyncio
import contextlib
import json
import time
from functools import partial
from typing import cast

import pytest

from tests.peer import open_peer, until
from tests.raw import open_raw, text
from tests.server.tables import ANA, BO, CY
from tictactoe_engine import PRESETS
from tictactoe_protocol import MAX_LISTED_ROOMS
from tictactoe_protocol.terms import ClockFields
from tictactoe_server import scheduler
from tictactoe_server.clock import monotonic_ns
from tictactoe_server.core.core import Core
from tictactoe_server.core.indexes import Matchmaker
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.core.session import Session
from tictactoe_server.records.tables import KEPT
from tictactoe_server.rooms.room import Player
from tictactoe_server.rooms.seating import open_room
from tictactoe_server.scheduler import Scheduler
from tictactoe_server.server import Server
from tictactoe_server.settings import Limits
from tictactoe_server.storage.memory import MemoryStore

CLASSIC = (PRESETS["classic"], None, "")


async def test_a_new_watcher_sees_the_room_at_once_and_counts_of_watchers_are_throttled(server: Server) -> None:
    async with contextlib.AsyncExitStack() as stack:
        ana = await stack.enter_async_context(open_peer(server.url))
        room = (await ana.ask("create"))["room"]
        fans = [await stack.enter_async_context(open_peer(server.url)) for _ in range(40)]
        begun = time.monotonic()
        for number, fan in enumerate(fans, 1):
            await fan.send("watch", room=room)
            assert (await fan.state())["watchers"] == number
        seconds = time.monotonic() - begun
        assert (await ana.state(watchers=40))["seq"] == 1
        assert [row["watchers"] for row in (await ana.ask("rooms"))["rooms"]] == [40]
        shown = [message["watchers"] for message in ana.seen if message["type"] == "room"]
        assert shown == sorted(set(shown))
        assert len(shown) <= 3 + seconds / 0.25


async def test_a_change_of_the_lobby_has_a_bound_and_many_changes_come_in_several(server: Server) -> None:
    async with contextlib.AsyncExitStack() as stack:
        eve = await stack.enter_async_context(open_raw(server.url))
        ana = await stack.enter_async_context(open_peer(server.url, "ü" * 24))
        await eve.write(text('{"type":"lobby","on":true,"id":"1"}'))
        assert (await eve.message())["rooms"] == []
        for _ in range(450):
            await ana.send("create", rules={"rows": 32, "columns": 32, "line": 5, "blocked": [*range(60)]})
        sizes: list[int] = []
        opened: list[str] = []
        while len(opened) < 450:
            frame = await eve.frame()
            change = json.loads(bytes(frame.data))
            sizes.append(len(frame.data))
            opened += [row["room"] for row in change["changed"]]
        assert len(set(opened)) == 450
        assert max(sizes) < 64 * 1024
        sizes.clear()
        for room in opened:
            await ana.send("leave", room=room)
        closed: list[str] = []
        while len(closed) < 450:
            frame = await eve.frame()
            change = json.loads(bytes(frame.data))
            assert len(change["closed"]) <= MAX_LISTED_ROOMS
            closed += change["closed"]
        assert sorted(closed) == sorted(opened)


STORE = MemoryStore(KEPT)
HERE = Core(STORE, ServedTime(STORE), Limits(), monotonic_ns).rooms


def waiting_room(number: int, *, is_here: bool, player: Player = ANA) -> LiveRoom:
    """Return a stored room with a waiting player, connected or not."""
    live = LiveRoom(HERE, open_room(f"K7M{number + 222}", CLASSIC[0], player, number), revision=1)
    if is_here:
        live.players[player.id] = cast(Session, None)
    return live


def test_matchmaking_finds_the_oldest_occupied_room_of_another_player() -> None:
    matchmaker = Matchmaker()
    rooms = [waiting_room(number, is_here=number != 3, player=ANA if number < 6 else CY) for number in (5, 3, 7, 4, 6)]
    for live in rooms:
        matchmaker.offer(live)
    assert matchmaker.find(CLASSIC, BO.id) is rooms[3]
    assert matchmaker.find(CLASSIC, ANA.id) is rooms[4]
    assert matchmaker.find((PRESETS["gomoku"], None, ""), BO.id) is None
    assert matchmaker.find((CLASSIC[0], ClockFields(move_ms=1), ""), BO.id) is None


def test_matchmaking_skips_rooms_whose_players_are_away_or_that_nobody_else_may_enter() -> None:
    matchmaker = Matchmaker()
    away, full, free = (waiting_room(number, is_here=True) for number in range(3))
    for live in (away, full, free):
        matchmaker.offer(live)
    away.players.clear()
    full.entering = {CY.id}
    assert matchmaker.find(CLASSIC, BO.id) is free
    assert matchmaker.find(CLASSIC, BO.id, excluded=[ANA.id]) is None
    full.entering = frozenset()
    assert matchmaker.find(CLASSIC, BO.id) is full
    for live in (full, free):
        matchmaker.discard(live)
    assert matchmaker.find(CLASSIC, BO.id) is None


async def test_actions_due_run_in_order_and_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "SLICE_SECONDS", 1e-9)  # less than an action takes
    due = Scheduler()
    done: list[int] = []
    turns: list[int] = []
    for number in range(3):
        due.soon(partial(done.append, number))
    while len(done) < 3:
        await asyncio.sleep(0)
        turns.append(len(done))
    assert done == [0, 1, 2]
    assert {1, 2} <= {*turns}


async def test_something_due_that_fails_keeps_nothing_else_from_being_done(caplog: pytest.LogCaptureFixture) -> None:
    scheduler = Scheduler()
    done: list[float] = []
    scheduler.soon(partial(int, "no number"))
    scheduler.soon(partial(done.append, 1))
    await until(lambda: done)
    assert done == [1]
    assert "scheduled task failed" in caplog.text


async def test_dropping_a_player_with_many_seats_blocks_no_others(server: Server) -> None:
    async with open_peer(server.url, "ana") as ana:
        for _ in range(400):
            await ana.send("create")
        await ana.ask("ping")
    held: dict[str, int] = {}
    while len(held) < 400:
        async with open_peer(server.url, token=ana.welcome["token"]) as again:
            assert len(again.welcome["rooms"]) == 400
            held = again.welcome.get("held_ms", {})
