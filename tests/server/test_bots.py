"""Bots at real tables, over real sockets, thinking in real processes."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator

import pytest

from tests.peer import Message, Peer, open_peer
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


@pytest.fixture
async def quick_bots() -> AsyncIterator[Server]:
    """A server whose bots do not pause, with little time to think."""
    settings = Settings("127.0.0.1", 0, bot_pause_seconds=0, bot_deadline_seconds=0.2, bot_workers=1)
    async with Server(settings) as running:
        yield running


async def play_first_legal(peer: Peer, room: str, mark: str) -> Message:
    """Play one's first free cell whenever it is one's turn; return the last state."""
    while True:
        state = await peer.until(lambda message: message["type"] == "room" and message["turn"] in (mark, None))
        if state["status"] == "over":
            return state
        await peer.send("move", room=room, cell=state["board"].index("."), ply=state["ply"])


@pytest.mark.parametrize("level", ["random", "rules", "perfect", "easy", "medium", "hard"])
async def test_a_bot_of_every_level_plays_a_whole_game(quick_bots: Server, level: str) -> None:
    async with open_peer(quick_bots.url, "ana") as ana:
        opened = await ana.ask("create", bots=[level])
        assert opened["seat"] == "X"
        last = await play_first_legal(ana, opened["room"], "X")
        assert last["seats"]["O"]["bot"] == level
        assert last["result"]["reason"] in ("line", "full")


async def test_a_bot_moves_first_where_the_creator_takes_a_later_seat(quick_bots: Server) -> None:
    async with open_peer(quick_bots.url) as ana:
        await ana.ask("create", bots=["rules"], seat="O")
        assert (await ana.state(ply=1))["turn"] == "O"


@pytest.mark.parametrize(
    "rules",
    ["classic", "blocker", "misere", "four", "three-players", "connect-four", {"rows": 9, "columns": 9, "line": 4}],
)
async def test_bots_play_each_other_to_the_end_while_their_creator_watches(
    quick_bots: Server, rules: str | dict[str, int]
) -> None:
    async with open_peer(quick_bots.url) as eve:
        marks = 3 if rules == "three-players" else 2
        opened = await eve.ask("create", rules=rules, bots=["rules", "perfect", "random"][:marks])
        assert opened["seat"] is None
        last = await eve.state(status="over")
        assert last["watchers"] == 1
        assert last["result"]["reason"] in ("line", "full")
        assert sum(last["score"].values()) == 1


async def test_a_person_and_two_bots_play_the_game_for_three(quick_bots: Server) -> None:
    async with open_peer(quick_bots.url) as ana:
        opened = await ana.ask("create", rules="three-players", bots=["rules", "perfect"], seat="O")
        last = await play_first_legal(ana, opened["room"], "O")
        assert [last["seats"][mark]["bot"] for mark in "XOA"] == ["rules", None, "perfect"]


async def test_a_bot_agrees_to_every_rematch(quick_bots: Server) -> None:
    async with open_peer(quick_bots.url) as ana:
        room = (await ana.ask("create", bots=["perfect"]))["room"]
        await play_first_legal(ana, room, "X")
        for game in (2, 3):
            await ana.ask("rematch", room=room)
            mark = "XO"[(game - 1) % 2]
            assert (await ana.state(game=game))["seats"][mark]["bot"] is None
            await ana.send("sync", room=room)
            await play_first_legal(ana, room, mark)


async def test_the_game_goes_on_when_a_thinking_worker_is_killed(quick_bots: Server) -> None:
    async with open_peer(quick_bots.url) as ana:
        room = (await ana.ask("create", rules="gomoku", bots=["perfect"]))["room"]
        await ana.send("move", room=room, cell=112, ply=0)
        await ana.state(ply=2)
        (worker,) = quick_bots.bots.worker_ids
        os.kill(worker, signal.SIGKILL)
        await ana.send("move", room=room, cell=0, ply=2)
        assert (await ana.state(ply=4))["turn"] == "X"
        assert worker not in quick_bots.bots.worker_ids


async def test_a_worker_that_hangs_is_replaced_and_the_bot_moves_all_the_same(quick_bots: Server) -> None:
    async with open_peer(quick_bots.url) as ana:
        room = (await ana.ask("create", rules="gomoku", bots=["perfect"]))["room"]
        await ana.send("move", room=room, cell=112, ply=0)
        await ana.state(ply=2)
        (worker,) = quick_bots.bots.worker_ids
        os.kill(worker, signal.SIGSTOP)
        await ana.send("move", room=room, cell=0, ply=2)
        assert (await ana.state(ply=4))["turn"] == "X"
        assert worker not in quick_bots.bots.worker_ids


async def test_many_bots_share_one_worker_and_none_waits_for_ever(quick_bots: Server) -> None:
    async with open_peer(quick_bots.url) as eve:
        rooms = [(await eve.ask("create", rules="gomoku", bots=["perfect", "rules"]))["room"] for _ in range(8)]
        waiting = set(rooms)
        while waiting:
            state = await eve.next_of("room")
            if state["ply"] >= 3:
                waiting.discard(state["room"])


async def test_a_level_that_does_not_exist_is_refused_by_its_place(quick_bots: Server) -> None:
    async with open_peer(quick_bots.url) as ana:
        refused = await ana.ask("create", bots=["perfect", "genius"], rules="three-players")
        assert (refused["code"], refused["path"]) == ("bad_message", "bots[1]")
        refused = await ana.ask("create", bots=["easy"] * 3)
        assert (refused["code"], refused["path"]) == ("bad_message", "bots")
