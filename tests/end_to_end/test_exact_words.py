"""What plain mode answers to mistakes, row by row and word for word, as people and scripts may rely on it."""

from __future__ import annotations

import pytest

from tests.end_to_end.clients import run_client
from tests.peer import open_peer
from tictactoe_server.server import Server

AT_THE_TURN = [
    ("b2", "B2 is taken by X. Free: A1 B1 C1 A2 C2 A3 B3 C3."),
    ("z9", "Z9 is off the board: columns A-C, rows 1-3."),
    ("2,", 'I don\'t know "2,". A move looks like b2 or 5. ? for help.'),
    ("hello", 'I don\'t know "hello". A move looks like b2 or 5. ? for help.'),
    ("resing", 'I don\'t know "resing". Did you mean resign?'),
    ("", "Your move, O."),
    ("chat " + "x" * 312, "Too long: 312 of 200 characters."),
    ("l", "Last: ana played B2, centre."),
    ("s 2", "Row 2: A empty, B X, C empty."),
    ("s B", "Column B: 1 empty, 2 X, 3 empty."),
    ("c", "There is no clock."),
    ("f", "Free: A1 B1 C1 A2 C2 A3 B3 C3."),
]

COMMAND_LINES = [
    (("join", "K7M4P"), 2, 'A room code has 6 letters and digits; "K7M4P" has 5.'),
    (("join", "ZZZZZZ"), 5, "No room ZZZZZZ. It may have closed. List rooms: tictactoe-client rooms"),
    (("jion", "X"), 2, "No such command 'jion'. Did you mean 'join'?"),
    (("new", "--board", "4x4", "--win", "5"), 2, "A line of 5 can't fit a 4x4 board (at most 4)."),
    (("play", "--json", "--plain"), 2, "Choose one of --json and --plain."),
]


async def test_what_is_typed_in_a_game_has_these_answers(server: Server) -> None:
    async with open_peer(server.url, "ana") as ana:
        code = (await ana.ask("create"))["room"]
        async with run_client("join", code, "-n", "bo", "-s", server.url) as bo:
            await bo.until("X's move.")
            bo.type("a1")
            assert await bo.read_line() == "It's ana's move."
            await bo.read_line()
            await ana.ask("move", room=code, cell=4, ply=0)
            await bo.until("Your move, O.")
            for typed, answer in AT_THE_TURN:
                bo.type(typed)
                assert await bo.read_line() == answer
            await ana.ask("resign", room=code)
            await bo.until("Rematch? Type rematch, new or leave.")
            bo.type("a1")
            assert await bo.read_line() == "The game is over. Rematch? Type rematch, new or leave."


@pytest.mark.parametrize(("arguments", "code", "told"), COMMAND_LINES, ids=lambda value: str(value)[:20])
async def test_a_command_line_that_makes_no_sense_is_told_so(
    server: Server, arguments: tuple[str, ...], code: int, told: str
) -> None:
    async with run_client(*arguments, "-s", server.url) as client:
        assert await client.end() == code
        assert told in await client.errors()


async def test_a_code_in_any_spelling_is_accepted(server: Server) -> None:
    async with open_peer(server.url, "ana") as ana:
        code = (await ana.ask("create"))["room"]
        spelled = f"{code[:3]}-{code[3:]}".lower()
        async with run_client("join", spelled, "-n", "bo", "-s", server.url) as bo:
            await bo.until("You are O. ana is X.")
