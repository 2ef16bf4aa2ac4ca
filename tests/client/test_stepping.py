from __future__ import annotations

from tests.client.states import CLASSIC, state
from tictactoe_client.input.intents import Look
from tictactoe_client.input.parsing import parse_intent
from tictactoe_client.input.stepping import Stepping
from tictactoe_client.settings import Settings

MOVES = (0, 4, 2)


def look(stepping: Stepping, *lines: str, moves: tuple[int, ...] = MOVES, game: int = 1) -> list[str]:
    told: list[str] = []
    for line in lines:
        intent = parse_intent(line, CLASSIC)
        assert isinstance(intent, Look)
        told = stepping.look(intent, state(moves, game=game), moves)
    return told


def test_the_board_after_a_move_is_drawn_as_it_was() -> None:
    assert look(Stepping(Settings()), "board 2") == [
        "Move 2 of 3: bo plays B2, centre.",
        "   A B C",
        "1  X . .",
        "2  . O .",
        "3  . . .",
    ]
    assert look(Stepping(Settings()), "b 0")[0] == "The start."
    assert look(Stepping(Settings()), "board 4") == ["There is no move 4: 0 to 3."]


def test_steps_go_from_where_one_looks() -> None:
    stepping = Stepping(Settings())
    assert look(stepping, "p")[0] == "Move 2 of 3: bo plays B2, centre."
    assert look(stepping, "back")[0] == "Move 1 of 3: ana plays A1, top left."
    assert look(stepping, "previous", "p") == ["This is the start: n goes on."]
    assert look(stepping, "n", "next", "n")[0] == "Move 3 of 3: ana plays C1, top right."
    assert look(stepping, "n") == ["This is the latest move: p goes back."]


def test_one_stays_where_one_looks_while_the_game_goes_on() -> None:
    stepping = Stepping(Settings())
    look(stepping, "board 1")
    assert look(stepping, "n", moves=(*MOVES, 8))[0] == "Move 2 of 4: bo plays B2, centre."
    assert look(stepping, "live", moves=(*MOVES, 8))[0] == "Move 4 of 4: bo plays C3, bottom right."
    assert look(stepping, "p", moves=(*MOVES, 8))[0].startswith("Move 3 of 4")


def test_another_game_and_moves_taken_back_begin_at_the_present() -> None:
    stepping = Stepping(Settings())
    look(stepping, "board 2")
    assert look(stepping, "p", moves=(0,)) == look(Stepping(Settings()), "board 0")
    look(stepping, "board 2")
    assert look(stepping, "p", moves=(8,), game=2)[0] == "The start."


def test_without_boards_a_step_tells_the_move_alone() -> None:
    stepping = Stepping(Settings(draws_board=False))
    assert look(stepping, "p") == ["Move 2 of 3: bo plays B2, centre."]
    assert len(look(stepping, "board 2")) == 5
    told = look(stepping, "live")
    assert told == ["Move 3 of 3: ana plays C1, top right.", "It's bo's move."]
