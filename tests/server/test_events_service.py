"""Events as players and organisers meet them: asked for over real sockets, run by the server, and shown."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.limits import uncounted
from tests.peer import Message, Peer, open_peer
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

HERE = Settings(host="127.0.0.1", port=0, bot_pause_seconds=0, bot_workers=1)
FEATURES = ["events", "moved"]
CLOCK = {"move_ms": 5_000}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next round begin soon after the last result."""
    monkeypatch.setattr("tictactoe_server.services.events.commands.NEXT_ROUND_MS", 50)


def known(url: str, name: str | None = None, token: str | None = None) -> Any:
    return open_peer(url, name, token, features=FEATURES)


async def opened(organiser: Peer, **terms: Any) -> str:
    """Open a round robin and return its code."""
    answer = await organiser.ask("event_open", **{"kind": "round_robin", "title": "Friday", "clock": CLOCK} | terms)
    assert answer["type"] == "ok", answer
    return str(answer["event"])


async def shown(peer: Peer, **expected: Any) -> Message:
    """Return the next state of an event that has these values."""
    return await peer.until(
        lambda message: message["type"] == "event" and all(message[key] == value for key, value in expected.items())
    )


async def begin(organiser: Peer, event: str) -> None:
    await organiser.ask("event_watch", event=event, on=True)
    state = await shown(organiser)
    answer = await organiser.ask("event_run", event=event, seq=state["seq"], action="begin")
    assert answer["type"] == "ok", answer


async def test_two_people_and_two_bots_play_a_round_robin_by_themselves() -> None:
    async with (
        Server(HERE, limits=uncounted()) as server,
        known(server.url, "ana") as ana,
        known(server.url, "bo") as bo,
    ):
        event = await opened(ana, bots=["easy", "medium"])
        for peer in (ana, bo):
            assert (await peer.ask("event_join", event=event))["type"] == "ok"
        await begin(ana, event)

        async def play(peer: Peer) -> Message:
            own = peer.welcome["player"]
            while True:
                message = await peer.receive()
                if message["type"] == "call":
                    await peer.send("join", room=message["room"])
                elif message["type"] == "room" and message["turn"] and message["status"] == "playing":
                    if message["seats"][message["turn"]]["player"] == own:
                        cell = message["board"].index(".")
                        await peer.send("move", room=message["room"], cell=cell, ply=message["ply"])
                elif message["type"] == "event" and message["status"] == "over":
                    return message
                elif message["type"] == "event_rows" and message["status"] == "over":
                    await peer.send("event_watch", event=event, on=True)

        async with asyncio.timeout(20):
            over, other = await asyncio.gather(play(ana), play(bo))
        assert over["table"] == other["table"]
        assert sum(row["points"] for row in over["table"]) == 6
        assert [row["played"] for row in over["table"]] == [3, 3, 3, 3]
