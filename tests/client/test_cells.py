"""Which characters go on with a move that is being typed, and which begin another one."""

from __future__ import annotations

import pytest

from tictactoe_client.input.cells import begins_anew
from tictactoe_engine import PRESETS, Rules

GOMOKU = PRESETS["gomoku"]
NINE = Rules(9, 9, 5)
WIDE = Rules(32, 32, 5)
FALLING = PRESETS["connect-four"]


def type_all(keys: str, rules: Rules) -> str:
    text = ""
    for key in keys:
        text = key if begins_anew(text, key, rules) else text + key
    return text


@pytest.mark.parametrize(
    ("keys", "rules", "text"),
    [
        ("h1c", GOMOKU, "c"),
        ("h10", GOMOKU, "h10"),
        ("h10c", GOMOKU, "c"),
        ("h1c3", GOMOKU, "c3"),
        ("h99", GOMOKU, "h99"),
        ("h995", GOMOKU, "5"),
        ("q1h", GOMOKU, "h"),
        ("b22", NINE, "2"),
        ("b22,3", NINE, "2,3"),
        ("2 3", GOMOKU, "2 3"),
        ("2 , 3", GOMOKU, "2 , 3"),
        ("10,12", GOMOKU, "10,12"),
        ("2,3h", GOMOKU, "h"),
        ("2,3 ", GOMOKU, "2,3 "),
        ("aa30", WIDE, "aa30"),
        ("h1ab", WIDE, "ab"),
        ("resing", GOMOKU, "resing"),
        ("h1;", GOMOKU, "h1;"),
        ("de", FALLING, "e"),
        ("d1", FALLING, "d1"),
        ("d1e", FALLING, "e"),
        ("draw", FALLING, "draw"),
    ],
)
def test_a_whole_move_is_gone_on_with_or_begun_anew(keys: str, rules: Rules, text: str) -> None:
    assert type_all(keys, rules) == text
