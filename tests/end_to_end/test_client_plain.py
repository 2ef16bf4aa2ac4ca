import re
from pathlib import Path

import pytest

from tests.end_to_end.clients import ClientProcess, plain_game, run_client
from tests.peer import open_peer, play_out, two_playing
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


async def open_room(ana: ClientProcess) -> str:
    code = (await ana.until("Code")).split()[1]
    await ana.until("Waiting for another player.")
    return code


async def test_a_watcher_from_the_middle_reads_the_rest_of_a_game(server: Server) -> None:
    async with two_playing(server) as (ana, bo, code):
        players = {"X": ana, "O": bo}
        await play_out(players, code, [0, 4])
        async with run_client("watch", f"{server.url}/{code}", "--plain") as watcher:
            await watcher.until("X's move.")
            await watcher.ask("a3", "You are watching")
            watcher.end_input()
            await watcher.until("The input has ended")
            for ply, cell in enumerate((1, 8, 2), 2):
                await play_out(players, code, [cell], first_ply=ply)
                await watcher.until("3  ")
            assert await watcher.end() == 0
    text = "\n".join(watcher.lines).replace(server.url, "SERVER").replace(code, "K7M4PQ")
    told = (Path(__file__).parent / "transcripts" / "watcher.txt").read_text(encoding="utf-8")
    assert re.sub(r"Connected, \d+ ms", "Connected, N ms", text) + "\n" == told


@pytest.mark.parametrize(("options", "accessible"), [((), "1"), (("--no-board",), "")])
async def test_a_screen_reader_gets_no_board_unasked(server: Server, options: tuple[str, ...], accessible: str) -> None:
    where = ("-s", server.url, *options)
    async with run_client("play", *where, ACCESSIBLE=accessible) as ana, open_peer(server.url) as bo:
        await open_room(ana)
        await bo.ask("match")
        await ana.until("Your move, X.")
        assert "   A B C" not in ana.lines
        await ana.ask("b", "   A B C")


async def test_with_no_input_nothing_is_asked_back(server: Server) -> None:
    async with plain_game(server.url, "--no-input") as (ana, bo, code):
        ana.type("b2")
        await bo.state(ply=1)
        await bo.ask("move", room=code, cell=0, ply=1)
        await ana.until("Your move")
        ana.type("resign")
        assert await ana.end() == 0
        assert ana.lines[-1] == "Winner: bo, O."


async def test_moves_out_of_turn_from_a_pipe_are_refused_once_a_position(server: Server) -> None:
    async with plain_game(server.url) as (ana, bo, code):
        ana.type("a1", "b1", "c1", "a2", "f")
        await ana.until("Free: ")
        await bo.ask("move", room=code, cell=4, ply=1)
        await ana.until("Your move, X.")
        ana.type("a2", "b1", "f")
        await ana.until("Free: ")
    assert ana.lines.count("It's bo's move.") == 2
    assert (
        ana.lines.count("Moves cannot be entered in advance: type each when it is your turn. For scripts, see --json.")
        == 1
    )


async def test_a_step_on_never_declines_an_offer_that_came_while_one_looked_back(server: Server) -> None:
    async with plain_game(server.url) as (ana, bo, code):
        ana.type("a1")
        await bo.ask("move", room=code, cell=4, ply=(await bo.state(ply=1))["ply"])
        await ana.until("Your move, X.")
        await ana.ask("p", "Move 1 of 2: ")
        await bo.ask("draw", room=code, action="offer")
        await ana.until("Type yes or no.")
        ana.type("n", "n", "no", "n")
        await ana.until("Move 2 of 2: bo plays B2, centre.", "This is the latest move. Type p to go back.")
        await ana.until("You decline.", "There is no question to answer. Your move, X.")
        await bo.ask("draw", room=code, action="offer")
        await ana.until("Type yes or no.")
        await ana.ask("n", "You decline.")


async def test_a_guest_of_a_school_comes_back_as_the_same_by_the_name_asked_for_and_says_sentences() -> None:
    names: set[str] = set()
    async with Server(Settings(host="127.0.0.1", port=0, for_="school", features=(BotOptions(demo=False),))) as school:
        for number in range(2):
            async with run_client("new", "-n", "Mia", "-s", school.url) as mia:
                await open_room(mia)
                if not number:
                    await mia.ask("chat well", "Say one of these by its number: 1 Hello! 2 Good luck!")
                    await mia.ask("chat", "Say one of these")
                    await mia.ask("help", "Talk: chat", "Say one of these")
                mia.type("chat 4")
                await mia.ask("leave", "You left")
                names.update(line for line in mia.lines if line.endswith(": Well played!"))
    assert len(names) == 1
    assert re.fullmatch("[A-Z][a-z]+ [A-Z][a-z]+ [0-9]{2}: Well played!", names.pop())
