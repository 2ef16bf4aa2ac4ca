from typing import Any

import pytest

from tictactoe_client.input.rule_options import parse_clock, parse_rules, parse_seat
from tictactoe_client.settings import Misuse
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol.terms import ClockFields


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        ({}, PRESETS["classic"]),
        ({"rules": "gomoku"}, PRESETS["gomoku"]),
        ({"board": "15x15", "win": 5}, PRESETS["gomoku"]),
        ({"board": "6X7", "win": 4, "gravity": True}, PRESETS["connect-four"]),
        ({"blocked": "b2"}, PRESETS["blocker"]),
        ({"misere": True}, PRESETS["misere"]),
        ({"board": "5x5", "win": 4, "marks": "xoa"}, PRESETS["three-players"]),
        ({"board": "2x2"}, Rules(2, 2, 2)),
        ({"board": "5x5", "blocked": "b2,c3"}, Rules(5, 5, 3, blocked=frozenset({6, 12}))),
        ({"rules": "gomoku", "win": 6}, Rules(15, 15, 6)),
    ],
)
def test_options_add_up_to_rules(options: dict[str, Any], rules: Rules) -> None:
    assert parse_rules(**options) == rules


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"board": "40x40", "win": 50}, "A board has 1 to 32 rows, not 40."),
        ({"board": "big"}, '"big" is not a board. Write rows and columns, such as 15x15.'),
        ({"board": "4x3", "win": 5}, "A line of 5 can't fit a 4x3 board (at most 4)."),
        ({"marks": "X"}, "A game has 2 to 6 marks, not 'X'."),
        ({"blocked": "z9"}, "--blocked: Z9 is off the board: columns A-C, rows 1-3."),
        ({"blocked": "5"}, '--blocked: "5" is not a cell. Write cells such as b2,c3.'),
        ({"rules": "classic", "board": "4x4"}, "Use either --rules or --board."),
    ],
)
def test_options_that_make_no_sense_are_refused_in_one_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(Misuse) as refused:
        parse_rules(**options)
    assert refused.value.message == message


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        (None, None),
        ("3+2", ClockFields(initial_ms=180_000, increment_ms=2_000)),
        ("0.5+0", ClockFields(initial_ms=30_000, increment_ms=0)),
        ("10/move", ClockFields(move_ms=10_000)),
        ("3d", ClockFields(days=3)),
        ("14d+30d", ClockFields(days=14, bank_days=30)),
    ],
)
def test_clocks_are_read(text: str | None, clock: ClockFields | None) -> None:
    assert parse_clock(text) == clock


@pytest.mark.parametrize(
    "text", ["", "3", "3+", "ten/move", "0+0", "9999+0", "-1+2", "３+2", "0d", "15d", "3d+31d", "3d+2", "3+2d"]
)
def test_other_clocks_are_refused(text: str) -> None:
    with pytest.raises(Misuse, match="is not a clock"):
        parse_clock(text)


def test_a_seat_is_one_of_the_marks() -> None:
    assert parse_seat("o", PRESETS["classic"]) == "O"
    assert parse_seat(None, PRESETS["classic"]) is None
    with pytest.raises(Misuse, match="--seat Z: the marks are X, O"):
        parse_seat("Z", PRESETS["classic"])
