"""Openings over the wire: matching, bots, and each step after a restart of the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.peer import open_peer
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

STEPS: list[tuple[str, str, dict[str, Any]]] = [
    ("ana", "move", {"cell": 112, "ply": 0}),
    ("ana", "move", {"cell": 113, "ply": 1}),
    ("ana", "move", {"cell": 128, "ply": 2}),
    ("bo", "choose", {"take": "more", "ply": 3}),
    ("bo", "move", {"cell": 0, "ply": 3}),
    ("bo", "move", {"cell": 1, "ply": 4}),
    ("ana", "choose", {"take": "O", "ply": 5}),
    ("ana", "move", {"cell": 2, "ply": 5}),
]
"""A whole opening by swap2, and the first move behind it."""


@pytest.mark.parametrize("level", ["easy", "hard"])
async def test_a_bot_chooses_when_it_has_to(server: Server, level: str) -> None:
    async with open_peer(server.url, "ana") as ana:
        room = (await ana.ask("create", rules="four-pie", bots=[level]))["room"]
        await ana.ask("move", room=room, cell=5, ply=0)
        state = await ana.until(lambda message: message.get("chosen"))
        assert state["seats"]["X"]["bot"] == (level if state["chosen"] == ["X"] else None)


async def test_each_step_of_an_opening_outlives_a_restart(tmp_path: Path) -> None:
    settings = Settings(host="127.0.0.1", port=0, data=tmp_path)
    async with Server(settings) as server, open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
        tokens = {"ana": ana.welcome["token"], "bo": bo.welcome["token"]}
        room = (await ana.ask("create", rules="gomoku-standard"))["room"]
        await bo.ask("join", room=room)
    for index, (who, kind, fields) in enumerate(STEPS):
        async with Server(settings) as server, open_peer(server.url, token=tokens[who]) as peer:
            await peer.ask("join", room=room)
            assert (await peer.ask(kind, room=room, **fields))["type"] == "ok"
        done = STEPS[: index + 1]
        async with Server(settings) as server, open_peer(server.url, token=tokens[who]) as back:
            await back.ask("join", room=room)
            state = await back.state()
            assert state["ply"] == sum(kind == "move" for _, kind, _ in done)
            assert state.get("chosen", []) == [fields["take"] for _, kind, fields in done if kind == "choose"]
            assert (await back.ask(kind, room=room, **fields))["type"] == "ok"
            assert (await back.ask("sync", room=room))["type"] == "ok"
            assert (await back.state())["seq"] == state["seq"]
    assert {mark: seat["name"] for mark, seat in state["seats"].items()} == {"X": "bo", "O": "ana"}
