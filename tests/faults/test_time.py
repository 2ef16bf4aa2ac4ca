"""Clocks and the death of servers: a clock runs out once, and time without a server is charged to nobody."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.fakes import FakeClock
from tests.faults.harness import Harness
from tests.peer import PATIENCE_SECONDS, Message, Peer, open_peer, play_out
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.backup import back_up

FIVE_MINUTES = 300_000
OUTAGE_MS = 48 * 3_600_000
"""Longer than any clock."""


async def start_timed_game(ana: Peer, bo: Peer, **clock: int) -> str:
    """Begin a game in which the clock of X runs."""
    room = str((await ana.ask("create", clock=clock))["room"])
    await bo.ask("join", room=room)
    await ana.state(status="playing")
    await bo.state(status="playing")
    state = await play_out({"X": ana, "O": bo}, room, [4, 0])
    assert state["clock"]["running"] == "X"
    return room


async def games_of(peer: Peer) -> list[Message]:
    games: list[Message] = (await peer.ask("history"))["games"]
    return games


async def test_a_clock_runs_out_once_also_when_the_server_is_killed_before_the_deadline(tmp_path: Path) -> None:
    async with Harness(tmp_path) as server:
        async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
            room = await start_timed_game(ana, bo, move_ms=700)
            await server.end()
        await server.start()
        async with open_peer(server.url, "eve") as eve:
            assert (await eve.ask("watch", room=room))["type"] == "ok"
            over = await eve.state(status="over")
            assert over["result"] == {"winner": "O", "reason": "timeout", "line": []}
            await server.end()
        await server.start()
        async with (
            open_peer(server.url, token=ana.welcome["token"]) as ana,
            open_peer(server.url, token=bo.welcome["token"]) as bo,
        ):
            state_seen = await ana.ask("join", room=room)
            assert state_seen["moves"] == [4, 0]
            state = await ana.state(room=room)
            assert state["result"] == over["result"]
            assert state["score"] == {ana.welcome["player"]: 0, bo.welcome["player"]: 1, "draws": 0}
            for peer in (ana, bo):
                assert [game["result"]["reason"] for game in await games_of(peer)] == ["timeout"]


def note_of(folder: Path) -> int:
    """Return the served time that a running server noted last."""
    with closing(sqlite3.connect(f"file:{folder / 'tictactoe.sqlite3'}?mode=ro", uri=True)) as connection:
        (value,) = connection.execute("SELECT value FROM server WHERE key = 'served-ms'").fetchone()
    return int(value)


async def until_noted(folder: Path, served_ms: int) -> None:
    """Wait until a running server has noted that it is this late."""
    while note_of(folder) < served_ms:  # noqa: ASYNC110 - another thread writes it, and tells nobody
        await asyncio.sleep(0.02)


async def test_an_outage_of_any_length_is_charged_to_nobody(tmp_path: Path) -> None:
    clock, folder, left_behind = FakeClock(), tmp_path / "running", tmp_path / "left-behind"
    settings = Settings(host="127.0.0.1", port=0, data=folder)
    async with (
        Server(settings, monotonic_ns=clock) as server,
        open_peer(server.url, "ana") as ana,
        open_peer(server.url, "bo") as bo,
    ):
        room = await start_timed_game(ana, bo, initial_ms=FIVE_MINUTES, increment_ms=0)
        before = note_of(folder)
        clock.advance(100_000)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await until_noted(folder, before + 100_000)
        left_behind.mkdir()
        back_up(folder, left_behind / "tictactoe.sqlite3")
    clock.advance(OUTAGE_MS)
    async with (
        Server(Settings(host="127.0.0.1", port=0, data=left_behind), monotonic_ns=clock) as server,
        open_peer(server.url, token=ana.welcome["token"]) as ana,
    ):
        assert ana.seats == {room: "X"}
        clock.advance(50_000)
        await ana.ask("join", room=room)
        state = await ana.state()
        assert state["clock"] == {"remaining_ms": {"X": 150_000, "O": FIVE_MINUTES}, "running": "X"}
        assert state["seats"]["O"]["hold_ms"] == 10_000
