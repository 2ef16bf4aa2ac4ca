"""Games over days as a person meets them: the library, the commands, plain mode."""

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.end_to_end.clients import ClientProcess, run_client
from tests.peer import open_peer, until
from tictactoe_client import connect, events
from tictactoe_client.files.players import KnownPlayer, KnownPlayers
from tictactoe_protocol.days import Turns
from tictactoe_server.server import Server

NOBODY = 2**31 - 1
DAYS = {"days": 3, "bank_days": 2}


async def begin(server: Server, token: str, count: int = 1) -> list[str]:
    """Begin games over days in which the player with this token is to move, and return the rooms."""
    rooms = list[str]()
    async with open_peer(server.url, token=token) as ana, open_peer(server.url, "bo") as bo:
        for _ in range(count):
            room = (await ana.ask("create", clock=DAYS, seat="X"))["room"]
            rooms.append(room)
            await bo.ask("join", room=room)
            await ana.state(room=room, status="playing")
    return rooms


async def run(server: Server, home: Path, *words: str, code: int = 0) -> list[str]:
    """Return the output of a run as ana."""
    async with run_as_ana(server, home, *words) as client:
        assert await client.end() == code, await client.errors()
        return client.lines


def run_as_ana(server: Server, home: Path, *words: str) -> AbstractAsyncContextManager[ClientProcess]:
    options = ("-s", server.url, "-n", "ana")
    return run_client(*words, *options, XDG_STATE_HOME=str(home), XDG_CONFIG_HOME=str(home))


async def meet(server: Server, home: Path, count: int = 1) -> list[str]:
    """Make ana known at this home, and begin games in which she is to move; return the rooms."""
    async with open_peer(server.url, "ana") as ana:
        token = ana.welcome["token"]
    known = KnownPlayer(server.url, "ana", token, pid=NOBODY)
    await asyncio.to_thread(KnownPlayers(home / "tictactoe" / "players.json").keep, known)
    return await begin(server, token, count)


async def test_the_library_keeps_the_list_of_waiting_games(server: Server) -> None:
    async with connect(server.url, name="ana") as ana, open_peer(server.url, "bo") as bo:
        told = list[events.RoomEvent]()
        room = await ana.rooms.create("classic", clock=None)
        room.subscribe(told.append)
        (code,) = await begin(server, ana.token)
        await until(lambda: [turn.room for turn in ana.days.turns] == [code])
        assert any(isinstance(event, events.Told) and isinstance(event.push, Turns) for event in told)
        days = await ana.rooms.join(code)
        assert (days.keeps_seat, room.keeps_seat) == (True, False)
        await days.move("b2")
        await until(lambda: not ana.days.turns)
    async with open_peer(server.url, token=ana.token) as ana_again:
        await ana_again.ask("join", room=code)
        assert (await ana_again.state())["status"] == "playing", "the end of the library's block gave nothing up"
        assert bo.welcome["player"]


async def test_turns_tells_which_games_wait(server: Server, tmp_path: Path) -> None:
    assert await run(server, tmp_path, "turns", code=1) == ["0 games await your move."]
    assert await run(server, tmp_path, "turns", "--quiet", code=1) == []
    first, second = await meet(server, tmp_path, 2)
    lines = await run(server, tmp_path, "turns")
    assert [line.split()[0] for line in lines] == [first, second]
    assert "4 d 23 h left" in lines[0]
    (own, closed) = map(json.loads, await run(server, tmp_path, "turns", "--json"))
    assert [turn["room"] for turn in own["turns"]] == [first, second]
    assert closed == {"from": "client", "type": "closed", "exit": 0}


@pytest.mark.parametrize(
    "words", [("--quiet-hours", "25:00-07:00"), ("--quiet-hours", "22:00-07:00", "--no-quiet-hours")]
)
async def test_notify_refuses_bad_input(server: Server, tmp_path: Path, words: tuple[str, ...]) -> None:
    await run(server, tmp_path, "notify", *words, code=2)
