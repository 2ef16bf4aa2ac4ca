"""Costs that must not grow with each watcher, lobby listener, waiting player or timer."""

import contextlib
import json
import time
from functools import partial

import pytest

from tests.peer import open_peer, until
from tests.raw import open_raw, text
from tictactoe_protocol import MAX_LISTED_ROOMS
from tictactoe_server.scheduler import Scheduler
from tictactoe_server.server import Server


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
