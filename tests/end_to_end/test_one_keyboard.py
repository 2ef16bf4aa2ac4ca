"""Several at one keyboard: the command `local`, in plain words on a terminal and on the full screen."""

from __future__ import annotations

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
            ("clocks", "Left: Bo "),
            ("draw", "Type yes to accept, no to refuse."),
            ("no", "Ana declines the draw."),
            ("e3", "It's Ana's move."),
            ("b1", "It's Bo's move."),
            ("b3", "Row 3, B3 to E3, is X X X X. Bo wins."),
            ("rematch", "Game 2. Bo is X, Ana is O."),
        ):
            screen.type(f"{typed}\n")
            await screen.hear(words)
        assert not await _list_rooms(server)
        screen.type("leave\nleave\n")
        await screen.hear("You left room")
        assert await screen.end() == 0
        assert "Type yes to let them" not in screen.written.decode()
        assert "You lose" not in screen.written.decode()
        assert "Your move" not in screen.written.decode()


async def _list_rooms(server: Server) -> str:
    async with run_client("rooms", "-s", server.url, "-q") as rooms:
        await rooms.end()
        return "\n".join(rooms.lines)


async def test_both_seats_come_back_when_the_program_was_killed(server: Server) -> None:
    async with run_client("local", "Ana", "Bo", "--plain", "-s", server.url) as client:
        code = (await client.until("Connected")).partition("Room ")[2][:6]
        await client.ask("b2", "It's Bo's move.")
        await client.kill()
    async with run_client("join", code, "--plain", "-s", server.url) as client:
        await client.until("It's Bo's move.")
        await client.ask("a1", "It's Ana's move.")
        await client.ask("a2", "It's Bo's move.")


async def test_three_play_on_the_full_screen(server: Server) -> None:
    async with run_screen(*COMMAND, "local", "Ana", "--marks", "XOA", "--board", "3x3", "-s", server.url) as screen:
        for key, words in (("", "It's Ana's move."), ("1", "It's Player 2's move."), ("5", "It's Player 3's move.")):
            await screen.do(key, words)


async def test_a_program_and_too_many_names_are_refused() -> None:
    assert "one keyboard" in await complaint("local", "--json", code=2)
    assert "Too many names, 3" in await complaint("local", "a", "b", "c", code=2)
