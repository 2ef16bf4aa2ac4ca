from __future__ import annotations

import pytest

from tictactoe_client.text.replay import Replay, Step, parse_step
from tictactoe_engine.records import parse_record

CLASSIC = Replay(
    parse_record(
        """
[Rules "classic"] [X "ana"] [O "bo"] [Date "2030-12-31T18:05:00Z"] [Room "K7M4PQ"] [Game "3"] [Clock "180+2"]
1. b2 a1 {A corner.} 2. c1 a3 3. a2 c3 4. c2 X
"""
    )
)
THREE = Replay(
    parse_record(
        """
[Rules "three-players"] [X "ana"] [A "cy"] [Passed "A@4"] [Clock "10/move"] [Reason "timeout"]
1. a1 b2 e5 2. b1 c2 3. c1 d2 O
"""
    )
)


def test_the_whole_game_is_told_in_two_lines() -> None:
    assert CLASSIC.describe() == [
        "ana (X) v bo (O), 3 by 3, 3 in a row, 3+2, 2030-12-31T18:05:00Z, room K7M4PQ, game 3.",
        "7 moves. ana (X) wins by a line.",
    ]
    assert THREE.describe() == [
        "ana (X) v O v cy (A), 5 by 5, 4 in a row, 3 players, 10 s a move.",
        "7 moves. O wins on time.",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1. a1 *", "1 move. The game still runs."),
        ('[Reason "agreed"] 1. b2 draw', "1 move. A draw by agreement."),
        ('[Reason "resigned"] 1. b2 O', "1 move. O wins by resignation."),
        ('[Reason "claimed"] draw', "0 moves. A draw by a claim."),
        ("1. a1 b1 2. c1 b2 3. a2 c2 4. b3 a3 5. c3 draw", "9 moves. A draw on a full board."),
    ],
)
def test_every_end_has_its_words(text: str, told: str) -> None:
    assert Replay(parse_record(text)).describe()[1] == told


def test_each_move_is_told_with_its_player_and_its_comments() -> None:
    assert CLASSIC.describe_move(0) == ["The start."]
    assert CLASSIC.describe_move(2) == ["Move 2 of 7: bo (O) plays A1, top left.", "{A corner.}"]
    assert CLASSIC.describe_move(7) == ["Move 7 of 7: ana (X) plays C2, middle right.", "ana (X) wins by a line."]


def test_it_is_told_who_is_passed_over_from_when() -> None:
    assert THREE.describe_move(4) == ["Move 4 of 7: ana (X) plays B1.", "cy (A) is passed over from here."]


def test_the_board_marks_the_last_move_and_the_deciding_line() -> None:
    assert CLASSIC.draw(2) == ["   A B C", "1 (O). .", "2  . X .", "3  . . ."]
    assert CLASSIC.draw(7) == ["   A B C", "1  O . X", "2 <X X X>", "3  O . O"]
    assert "\x1b[" in "".join(CLASSIC.draw(7, colour=True))


def test_moves_come_in_rounds_which_a_player_who_is_passed_over_makes_shorter() -> None:
    assert [[CLASSIC.describe_mark(ply) for ply in plies] for plies in CLASSIC.list_rounds()] == [
        ["X B2", "O A1"],
        ["X C1", "O A3"],
        ["X A2", "O C3"],
        ["X C2"],
    ]
    assert [list(plies) for plies in THREE.list_rounds()] == [[1, 2, 3], [4, 5], [6, 7]]
    assert Replay(parse_record('[Reason "resigned"] O')).list_rounds() == []


def test_programs_read_the_game_and_each_position() -> None:
    assert CLASSIC.summarise() == {
        "rules": {
            "preset": "classic",
            "rows": 3,
            "columns": 3,
            "line": 3,
            "marks": "XO",
            "blocked": (),
            "misere": False,
            "gravity": False,
        },
        "players": {"X": "ana", "O": "bo"},
        "date": "2030-12-31T18:05:00Z",
        "room": "K7M4PQ",
        "game": 3,
        "moves": (4, 0, 2, 6, 3, 8, 5),
        "passed": [],
        "result": {"winner": "X", "reason": "line"},
    }
    assert CLASSIC.position(2) == {
        "ply": 2,
        "board": "O...X....",
        "turn": "X",
        "last": 0,
        "line": (),
        "comments": ["A corner."],
    }
    assert CLASSIC.position(7)["line"] == (3, 4, 5)
    assert THREE.position(0)["turn"] == "X"
    assert THREE.position(7)["turn"] is None
    assert THREE.summarise()["passed"] == [{"ply": 4, "mark": "A"}]


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("", Step("go", 4)),
        ("n", Step("go", 4)),
        (" NEXT ", Step("go", 4)),
        ("/n", Step("go", 4)),
        ("p", Step("go", 2)),
        (":previous", Step("go", 2)),
        ("0", Step("go", 0)),
        ("12", Step("go", 12)),
        ("b", Step("board", 3)),
        ("?", Step("help", 3)),
        ("q", Step("quit", 3)),
        ("leave", Step("quit", 3)),
        ("-1", Step("unknown", 3)),
        ("٣", Step("unknown", 3)),
        ("9" * 50, Step("unknown", 3)),
        ("next please", Step("unknown", 3)),
    ],
)
def test_what_a_line_asks_for(line: str, step: Step) -> None:
    assert parse_step(line, 3) == step
