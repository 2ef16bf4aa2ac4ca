import re

import pytest

from tests.end_to_end.clients import COMMAND, complaint, run_client
from tests.terminal import run_screen
from tictactoe_server.server import Server

SWAP2 = ("--board", "5x5", "--win", "4", "--opening", "swap2", "--clock", "3+2")


async def test_two_play_a_game_with_an_opening_and_a_clock_in_plain_words_and_then_another(server: Server) -> None:
    async with run_screen(*COMMAND, "local", "Ana", "Bo", *SWAP2, "--plain", "-s", server.url) as screen:
        await screen.hear("Ana is X, Bo is O.")
        await screen.hear("Ana places X: 3 to go, then Bo chooses a side.")
        for cell, words in (("c3", "Ana places O: 2 to go,"), ("c4", "X: 1 to go,"), ("d3", "Bo chooses a side.")):
            screen.type(f"{cell}\n")
            await screen.hear(words)
        await screen.hear("Type 1 or swap: play X, O moves; 2 or stay: stay O, and move;")
        for typed, words in (
            ("swap", "Bo takes X: Ana is O now."),
            ("a1", "Ana plays A1."),
            ("undo", "Ana takes back A1."),
            ("a2", "It's Bo's move."),
            ("h", "An empty line repeats"),
            ("leave", "Leave and abort this game?"),
            ("no", "The game goes on."),
            ("clocks", "Left: Bo "),
            ("draw", "Type yes or no."),
            ("no", "Ana declines."),
            ("e3", "It's Ana's move."),
            ("b1", "It's Bo's move."),
            ("b3", "Bo wins. Row 3, B3 to E3, is X X X X."),
            ("rematch", "Game 2. Bo is X, Ana is O."),
        ):
            screen.type(f"{typed}\n")
            await screen.hear(words)
        async with run_client("rooms", "-s", server.url, "-q") as rooms:
            await rooms.end()
            assert rooms.lines == []
        screen.type("leave\nleave\n")
        await screen.hear("You left room")
        assert await screen.end() == 0
        assert "Type yes to let them" not in screen.written.decode()
        assert not re.search("chat TEXT|mute|Challenges:", screen.written.decode())
        assert "You lose" not in screen.written.decode()
        assert "Your move" not in screen.written.decode()


async def test_both_seats_come_back_when_the_program_was_killed(server: Server) -> None:
    async with run_client("local", "Ana", "Bo", "--plain", "-s", server.url) as client:
        code = (await client.until("Connected")).partition("Room ")[2][:6]
        await client.ask("b2", "It's Bo's move.")
        await client.kill()
    async with run_client("join", code, "--plain", "-s", server.url) as client:
        await client.until("It's Bo's move.")
        await client.ask("a1", "It's Ana's move.")
        await client.ask("a2", "It's Bo's move.")


async def test_a_program_and_too_many_names_are_refused() -> None:
    assert "one keyboard" in await complaint("local", "--json", code=2)
    assert "up to six people" in await complaint("local", "a", "b", "c", "--marks", "XO", code=2)
    assert "too many names, 7," in await complaint("local", *"abcdefg", code=2)


@pytest.mark.parametrize(
    ("words", "terms"),
    [
        (("a", "b", "c"), "5 by 5, 4 in a row, 3 players"),
        (("a", "b", "c", "--rules", "four"), "4 by 4, 4 in a row, 3 players"),
        (("a", "b", "c", "d", "--board", "6x6"), "6 by 6, 3 in a row, 4 players"),
    ],
)
async def test_every_name_gets_a_mark(server: Server, words: tuple[str, ...], terms: str) -> None:
    async with run_client("local", *words, "--plain", "-s", server.url) as client:
        assert terms in await client.until("Connected")
