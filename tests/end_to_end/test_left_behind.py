"""Games of a killed run: the next run names each once, with its result if it has ended."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.end_to_end.clients import complaint, link_to, run_client
from tests.kept import rooms_left
from tests.peer import Peer, open_peer
from tictactoe_server.server import Server


@asynccontextmanager
async def left_behind(server: Server) -> AsyncIterator[tuple[str, Peer]]:
    """Join bo's room as ana and kill her client; yield the room and bo."""
    async with open_peer(server.url, "bo") as bo:
        code = (await bo.ask("create"))["room"]
        async with run_client("join", code, "-n", "ana", "-s", server.url) as ana:
            await ana.until("X's move.")
            await ana.kill()
        await bo.until(lambda message: (message.get("seats", {}).get("O") or {}).get("online") is False)
        yield code, bo


def is_way_back(line: str, code: str, server: Server) -> bool:
    """Return whether the line names the game, its remaining hold and the command to rejoin."""
    command = re.escape(f"tictactoe-client join {link_to(server.url, code)}")
    return re.fullmatch(rf"You have a game in {code} \((1:00|0:5\d) left\): {command}", line) is not None


async def test_a_new_match_names_the_game_that_still_waits(clocked: Server) -> None:
    async with left_behind(clocked) as (code, _), run_client("play", "-s", clocked.url) as ana:
        assert await ana.read_line() == f"Connecting to {clocked.url} ..."
        assert is_way_back(str(await ana.read_line()), code, clocked)
        await ana.until("Waiting for another player.")


async def test_every_command_reminds_of_an_abandoned_game_once(clocked: Server) -> None:
    async with left_behind(clocked) as (code, bo):
        for command in (["check"], ["history", "--json"]):
            told = await complaint(*command, "-s", clocked.url, code=0)
            assert is_way_back(told.splitlines()[0], code, clocked)
            assert await complaint("rooms", "-s", clocked.url, code=0) == ""
            async with run_client("join", code, "-s", clocked.url) as ana:
                await ana.until("You are O, ana. bo is X.")
                assert not any(line.startswith("You have a game") for line in ana.lines)
                await ana.kill()
            await bo.until(lambda message: (message.get("seats", {}).get("O") or {}).get("online") is False)


async def test_a_game_lost_meanwhile_is_announced_once(clocked: Server) -> None:
    async with left_behind(clocked) as (code, bo):
        await bo.ask("move", room=code, cell=0, ply=0)
        async with run_client("join", code, "-s", clocked.url) as ana:
            await ana.ask("b2", "You play B2")
            await bo.state(ply=2)
            await ana.kill()
        await bo.ask("resign", room=code)
        told = await complaint("rooms", "-s", clocked.url, code=0)
        assert told.startswith(f"Your game in {code} is over: won by resignation. tictactoe-client replay ")
        assert told.endswith(f" --server {clocked.url}\n")
        assert not rooms_left(clocked.url)
        assert await complaint("rooms", "-s", clocked.url, code=0) == ""
