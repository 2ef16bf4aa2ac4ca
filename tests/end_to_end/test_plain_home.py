"""The home of plain mode as a person at a terminal reads and types it.

The text is in `transcripts/` and compared line by line; `UPDATE_PICTURES=1` updates it. `docs/reference/client.md`
quotes it.
"""

import asyncio
import json
import re

import pytest

from tests.end_to_end.clients import COMMAND, run_client
from tests.end_to_end.test_plain_game import compare
from tests.peer import PATIENCE_SECONDS, open_peer
from tests.terminal import run_screen
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


async def test_plain_home_matches_the_documented_transcript(server: Server) -> None:
    async with open_peer(server.url, "bo") as bo:
        code = (await bo.ask("create"))["room"]
        async with run_client("join", code, "-n", "ana", "-s", server.url) as killed:
            await killed.until("X's move.")
            await killed.kill()
        await bo.until(lambda message: (message.get("seats", {}).get("O") or {}).get("online") is False)
        async with run_screen(*COMMAND, "--plain", "-s", server.url, TERM="dumb") as ana:

            async def ask(line: str, answer: str) -> None:
                """Type a line and read on until the answer is complete."""
                heard = len(ana.written)
                ana.type(f"{line}\n")
                async with asyncio.timeout(PATIENCE_SECONDS):
                    while not ana.written[heard:].endswith(f"{answer}\r\n> ".encode()):
                        await ana.read()

            await ana.until("help or quit.\r\n> ")
            await ask("help", "In a game, leave brings you back here.")
            await ask("", "help or quit.")
            await ask("xyzzy", "help or quit.")
            await ask("plya", 'I don\'t know "plya". Did you mean play?')
            assert not (await bo.ask("rooms"))["rooms"][1:]
            await ana.ask("resume\n", "X's move.")
            await bo.ask("move", room=code, cell=4, ply=0)
            await ana.until("Your move, O.\r\n> ")
            await ask("leave", "Leave and abort this game? Type leave or yes to do it; anything else plays on.")
            await ask("leave", "help or quit.")
            await ask("resume", "You have no unfinished game.")
            ana.type("quit\n")
            assert await ana.end() == 0
            text = ana.written.decode().replace("\r\n", "\n")
    text = re.sub(r"Connected, \d+ ms", "Connected, 1 ms", text.replace(server.url, "ws://localhost:8765"))
    compare("home", re.sub(r"\b\d:\d\d\b", "0:31", text.replace(code, "K7M4PQ")))


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"ACCESSIBLE": "1"}, {"TICTACTOE_PLAIN": "1"}], ids=str)
async def test_every_way_to_plain_mode_leads_home_and_opens_no_room(server: Server, variables: dict[str, str]) -> None:
    async with run_screen(*COMMAND, "-s", server.url, **variables) as ana, open_peer(server.url) as bo:
        await ana.until("You are guest-", "help or quit.\r\n> ")
        assert (await bo.ask("rooms"))["rooms"] == []
        ana.type("\x04")
        assert await ana.end() == 0
        assert variables.get("TERM") != "dumb" or b"\x1b" not in ana.written


async def test_commands_at_the_prompt_take_their_own_and_the_programs_options() -> None:
    async with (
        Server(Settings(host="127.0.0.1", port=0, features=(BotOptions(pause_seconds=0, workers=1),))) as server,
        run_screen(*COMMAND, "--plain", "-n", "ana", "-s", server.url) as ana,
    ):
        await ana.until("You are ana.")
        await ana.ask("bot --rules four --level easy\n", "4 by 4, 4 in a row", "Your move, X.")
        await ana.ask("leave\nleave\n", "You left room")
        await ana.ask("bot --level heard\n", "Did you mean 'hard'?")
        ana.type("quit\n")
        assert await ana.end() == 0


async def test_lines_typed_while_leaving_run_at_the_prompt(server: Server) -> None:
    async with run_screen(*COMMAND, "--plain", "-n", "ana", "-s", server.url) as ana:
        await ana.until("help or quit.\r\n> ")
        await ana.ask("new\nleave\nfirst\nsecond\n", 'I don\'t know "first".', 'I don\'t know "second".')
        assert ana.written.index(b'first".') < ana.written.index(b'second".')
        ana.type("quit\n")
        assert await ana.end() == 0


async def test_the_prompt_without_a_server_reports_that_and_stays() -> None:
    async with run_screen(*COMMAND, "--plain", "-s", "ws://127.0.0.1:1") as ana:
        await ana.until("Can't reach ws://127.0.0.1:1", "help or quit.\r\n> ")
        await ana.ask("help\n", "brings you back here.")
        ana.type("quit\n")
        assert await ana.end() == 0


@pytest.mark.parametrize("options", [["--plain"], ["--json"], []], ids=str)
async def test_the_bare_command_without_input_lists_the_commands(server: Server, options: list[str]) -> None:
    async with run_client(*options, "-s", server.url) as client, open_peer(server.url) as bo:
        assert await client.end() == 2
        assert "Choose a command: play," in await client.errors()
        assert (await bo.ask("rooms"))["rooms"] == []
    told = [json.loads(line) for line in client.lines]
    assert [line["type"] for line in told] == (["error", "closed"] if options == ["--json"] else [])


async def test_an_unnamed_player_is_asked_for_a_name_once_at_a_terminal(server: Server) -> None:
    async with run_screen(*COMMAND, "--plain", "-s", server.url) as ana:
        await ana.until("You are guest-", "help or quit.\r\n> ")
        await ana.ask("new\n", "What's your name? Press Enter for")
        await ana.ask("Zoe@\n", "Leave @ out")
        await ana.ask("Zoe\n", "Waiting for another player.")
        await ana.ask("leave\n", "help or quit.")
        await ana.ask("new\n", "Waiting for another player.")
        ana.type("leave\nquit\n")
        assert await ana.end() == 0
        assert ana.written.count(b"What's your name?") == 2
