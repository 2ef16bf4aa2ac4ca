"""`tictactoe-client brain`: external engines as guests, by a small engine of the tests, and our engine as a guest."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.end_to_end.clients import COMMAND, ClientProcess, complaint, run_client
from tests.peer import PATIENCE_SECONDS
from tictactoe_client import Room, connect
from tictactoe_client.online.events import Happening, RoomEvent, Said
from tictactoe_engine import Rules
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.server import Server

SCRIPT = str(Path(__file__).parent / "guest_engine.py")


def engine(way: str, *files: Path) -> tuple[str, ...]:
    """Return the arguments that start an engine with this behaviour."""
    return ("--", sys.executable, "-IS", SCRIPT, way, *map(str, files))


@asynccontextmanager
async def playing(
    server: Server, way: str, *files: Path, clock: ClockFields | None = None
) -> AsyncIterator[tuple[Room, ClientProcess, list[str]]]:
    """Start an engine's game as O against ana, after two moves of hers; yield her room, the process and its output."""
    said: list[str] = []

    def hear(event: RoomEvent) -> None:
        if isinstance(event, Said):
            said.append(event.line.text)

    async with connect(server.url, name="ana") as ana:
        room = await ana.rooms.create("gomoku", clock=clock)
        room.subscribe(hear)
        options = ("-s", server.url, "--room", room.code, "--memory", "600")
        async with run_client("brain", *options, *engine(way, *files)) as guest:
            for ply, cell in enumerate(("h8", "h9")):
                await until(room, ply=2 * ply, turn="X")
                await room.move(cell)
            yield room, guest, said


async def until(room: Room, **expected: object) -> RoomState:
    async for state in room:
        if all(getattr(state, name) == value for name, value in expected.items()):
            return state
    raise AssertionError(room.ended)


async def test_two_engines_play_an_opening_and_the_game_to_the_end(server: Server) -> None:
    options = ("brain", "-s", server.url, "--rules", "gomoku-standard")
    async with run_client(*options, *engine("plays")) as one, connect(server.url) as watcher:
        room = await watcher.rooms.watch((await one.until("Code")).split()[1])
        async with (
            room.events() as happening,
            run_client(*options, *engine("odd")) as other,
            asyncio.timeout(PATIENCE_SECONDS),
        ):
            over = await anext(event async for event in happening if isinstance(event, Happening) and event.result)
            assert over.result
            assert (over.result.reason, over.result.winner) == ("line", "O")
            moves = room.state.moves
            assert moves[:4] == (112, 128, 144, 0)
            assert [seat and seat.bot for seat in room.state.seats.values()] == ["guest", "guest"]
            assert len(set(moves)) == room.state.ply > 20
            assert [await one.end(), await other.end()] == [0, 0]
            assert {"The engine: here it comes", "The engine: DEBUG [31mred"} <= set(other.lines)


@pytest.mark.parametrize(("way", "number"), [("deaf", signal.SIGTERM), ("silent", signal.SIGKILL)])
async def test_no_engine_outlives_its_run(server: Server, tmp_path: Path, way: str, number: signal.Signals) -> None:
    """Nor do its children, unless the run was killed."""
    held = tmp_path / "held"
    os.mkfifo(held)
    all_gone = asyncio.create_task(asyncio.to_thread(held.read_bytes))
    async with playing(server, way, held) as (_, guest, _):
        guest.process.send_signal(number)
        await all_gone
        assert await guest.end() in (128 + number, -number)


async def test_an_engine_gets_the_new_stone_or_after_an_undo_the_whole_board(server: Server, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    async with playing(server, "plays", heard) as (room, _, _):
        await until(room, ply=4)
        await room.undo()
        await until(room, ply=2)
        await room.move("a15")
        await until(room, ply=4)
        assert room.moves == (112, 0, 210, 1)
    lines = heard.read_bytes().decode().split("\r\n")
    assert lines[:4] == ["START 15", "INFO rule 0", "INFO game_type 0", "INFO max_memory 629145600"]
    first = ["INFO timeout_turn 30000", "INFO timeout_match 0", "INFO time_left 2147483647", "TURN 7,7"]
    assert lines[4:11] == [*first, *first[:3]]
    assert lines[11].startswith("TURN ")
    again = ["RESTART", *first[:3], "BOARD", "7,7,2", "0,0,1", "0,14,2", "DONE"]
    assert lines[-len(again) - 1 :] == [*again, ""]


async def test_with_stay_every_rematch_is_played_and_draws_are_declined(server: Server) -> None:
    async with connect(server.url, name="ana") as ana:
        room = await ana.rooms.create(Rules(5, 6, 5))
        options = ("-s", server.url, "--room", room.code, "--stay")
        async with run_client("brain", *options, *engine("plays")) as guest:
            for ply in (0, 2):
                await until(room, ply=ply, turn="X")
                await room.move(29 - ply)
            await until(room, ply=4)
            await room.draw()
            state = await until(room, ply=4)
            while state.offers.draw:
                state = await anext(aiter(room))
            assert state.status == "playing"
            await room.resign()
            await until(room, status="over")
            await room.rematch()
            await until(room, game=2, ply=1)
            await room.leave()
            assert await guest.end() == 0


async def test_no_seat_is_taken_if_the_engine_cannot_play_the_rules(server: Server) -> None:
    async with connect(server.url, name="ana") as ana:
        room = await ana.rooms.create(Rules(15, 15, 5, misere=True))
        told = await complaint("brain", "cat", "-s", server.url, "--room", room.code, code=2)
        assert told.startswith("Engines cannot play this game.")
        pie = await ana.rooms.create(Rules(15, 15, 5, opening="pie"))
        told = await complaint("brain", "cat", "-s", server.url, "--room", pie.code, code=2)
        assert told.startswith("Engines cannot play this game.")
        free = await ana.rooms.create("gomoku")
        told = await complaint("brain", "false", "-s", server.url, "--room", free.code, code=9)
        assert told == "The engine cannot go on. It has ended.\nIt ended with code 1.\n"
        for one in (room, pie, free):
            assert one.state.seats["O"] is None
        german = await complaint("brain", "false", "-s", server.url, "--language", "de", code=9)
        assert german.startswith("Die Engine kann nicht weiterspielen. Sie hat sich selbst beendet.\nExitcode 1.")


async def test_json_mode_mixes_server_messages_with_engine_output(server: Server) -> None:
    options = ("-s", server.url, "--json", "--result-code")
    async with connect(server.url, name="ana") as ana, run_client("brain", *options, *engine("odd")) as guest:
        room = await ana.rooms.join((await guest.message(type="room", status="waiting"))["room"])
        assert (await guest.message(type="engine", text="here it comes"))["from"] == "client"
        await until(room, ply=1)
        await room.move("a15")
        await until(room, ply=3)
        await room.resign()
        assert (await guest.message(type="closed"))["exit"] == 0


async def test_our_engine_for_others_is_a_guest_like_any(server: Server) -> None:
    ours = (*COMMAND, "brain", "--serve", "--level", "medium")
    async with connect(server.url, name="ana") as ana, run_client("brain", "-s", server.url, "--", *ours) as guest:
        code = (await guest.until("Code")).split()[1]
        room = await ana.rooms.join(code)
        async for state in room:
            if state.status == "over":
                break
            if room.is_my_turn:
                await room.move(room.position.legal_cells[-1])
        assert state.result is not None
        assert (state.result.reason, state.result.winner) == ("line", "X")
        assert await guest.end() == 0
