"""The server dies between any two steps of a change: nobody saw what is not stored, what was answered is there."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from tests.faults import broken_server
from tests.faults.crash_points import CrashPoint
from tests.faults.harness import Harness
from tests.peer import Message, Peer, open_peer

FATAL_SAVE = 4
"""Room saves: the opening, the joining, the first move, and the second one."""

STORED: dict[CrashPoint, list[int]] = {
    "before save": [4],
    "after save": [4, 0],
    "before reply": [4, 0],
    "after reply": [4, 0],
    "after first state": [4, 0],
}
ANSWERED = frozenset({"after reply", "after first state"})
SEEN = frozenset({"after first state"})


async def heard_until_the_end(peer: Peer) -> list[Message]:
    """Return all that still arrives on a connection."""
    heard = []
    try:
        while True:
            heard.append(await peer.receive())
    except ConnectionClosed:
        return heard


@pytest.mark.parametrize("point", STORED)
async def test_nobody_saw_what_is_not_stored_and_what_was_answered_is_there(tmp_path: Path, point: CrashPoint) -> None:
    crashing = Harness(tmp_path, "--crash", point, "--save", str(FATAL_SAVE), command=broken_server.COMMAND)
    async with (
        crashing as server,
        open_peer(server.url, "ana") as ana,
        open_peer(server.url, "bo") as bo,
        open_peer(server.url, "eve") as eve,
    ):
        room = (await ana.ask("create"))["room"]
        await bo.ask("join", room=room)
        await eve.ask("watch", room=room)
        assert (await ana.ask("move", room=room, cell=4, ply=0))["type"] == "ok"
        for peer in (ana, bo, eve):
            await peer.state(ply=1)
        await bo.send("move", id="fatal", room=room, cell=0, ply=1)
        heard = {peer.welcome["name"]: await heard_until_the_end(peer) for peer in (bo, ana, eve)}
        assert await server.ended() == -signal.SIGKILL

    answers = [message for message in heard["bo"] if message.get("id") == "fatal"]
    seen = [message for messages in heard.values() for message in messages if message["type"] == "room"]
    assert [answer["type"] for answer in answers] == ["ok"] * (point in ANSWERED)
    assert [state["ply"] for state in seen] == [2] * (point in SEEN)

    async with Harness(tmp_path) as server, open_peer(server.url, token=bo.welcome["token"]) as bo:
        assert bo.seats == {room: "O"}
        reply = await bo.ask("join", room=room)
        assert reply["moves"] == STORED[point], json.dumps(heard)
        for _ in range(2):
            assert (await bo.ask("move", room=room, cell=0, ply=1))["type"] == "ok"
        assert (await bo.ask("sync", room=room))["moves"] == [4, 0]


async def test_a_death_between_a_games_end_and_the_lists_loses_no_list(tmp_path: Path) -> None:
    crashing = Harness(tmp_path, "--crash", "before lists", "--save", "5", command=broken_server.COMMAND)
    async with crashing as server, open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
        room = (await ana.ask("create"))["room"]
        await bo.ask("join", room=room)
        await ana.ask("move", room=room, cell=4, ply=0)
        await bo.ask("move", room=room, cell=0, ply=1)
        await bo.send("resign", id="fatal", room=room)
        heard = await heard_until_the_end(ana)
        assert heard[-1]["status"] == "over", "players see the end before lists do"
        assert await server.ended() == -signal.SIGKILL

    async with Harness(tmp_path) as server, open_peer(server.url, token=bo.welcome["token"]) as bo:
        assert bo.seats == {}, "the game is over"
        await bo.ask("join", room=room)
        ((row,), (game,)) = (await bo.ask("rooms"))["rooms"], (await bo.ask("history"))["games"]
        assert (row["room"], row["status"], game["room"]) == (room, "over", room)
