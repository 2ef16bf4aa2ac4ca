import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.rows import each
from tictactoe_engine import PRESETS, Rules
from tictactoe_engine.records import (
    GameRecord,
    GameResult,
    InvalidRecord,
    MoveClock,
    RecordError,
    SeatClock,
    format_record,
    parse_record,
    parse_records,
)

FULL = GameRecord(
    rules=Rules(4, 5, 3, "XOA", frozenset({0, 7}), gravity=True),
    moves=(15, 16, 17, 10, 18),
    result=GameResult("resigned", "X"),
    players=(("A", "Zoë \\"), ("X", 'an "a"')),
    event="Club evening",
    round="3.2",
    date="2030-12-31T18:05:00Z",
    room="K7M4PQ",
    game=7,
    clock=SeatClock(180_000, 2_500),
    passed=((2, "A"),),
    comments=((0, "Good luck."), (2, "A went."), (5, "Well played."), (5, "Again?")),
    tags=(("Site", "here"), ("Annotator", "")),
)
FULL_TEXT = """\
[Rows "4"]
[Columns "5"]
[Line "3"]
[Marks "XOA"]
[Blocked "a1 c2"]
[Gravity "true"]
[X "an \\"a\\""]
[A "Zoë \\\\"]
[Event "Club evening"]
[Round "3.2"]
[Date "2030-12-31T18:05:00Z"]
[Room "K7M4PQ"]
[Game "7"]
[Clock "180+2.5"]
[Passed "A@2"]
[Result "X"]
[Reason "resigned"]
[Site "here"]
[Annotator ""]

{Good luck.} 1. a4 b4 {A went.} 2. c4 a3 3. d4 {Well played.} {Again?} X

"""
FAULTS: dict[str, list[tuple[str, int, int, str]]] = json.loads(Path(__file__).with_suffix(".json").read_bytes())


def fault_of(text: str) -> tuple[int, int, str]:
    with pytest.raises(RecordError) as caught:
        parse_record(text)
    error = caught.value
    assert str(error) == f"line {error.line}, column {error.column}: {error.message}"
    return error.line, error.column, error.message


def test_a_record_is_written_with_its_tags_then_its_moves_in_rounds() -> None:
    assert format_record(FULL) == FULL_TEXT
    assert parse_record(FULL_TEXT) == FULL


def test_the_shortest_record_is_a_running_game_of_classic_without_moves() -> None:
    assert parse_record("*") == GameRecord() == GameRecord(rules=PRESETS["classic"])


def test_a_board_that_is_decided_needs_no_tags_to_say_so() -> None:
    record = parse_record("a1 a2 b1 b2 c1 X")
    assert record.result == GameResult("line", "X")
    assert record.position.outcome is not None


def test_numbers_may_be_left_out_and_case_does_not_matter_in_moves() -> None:
    assert parse_record("A1 b2 C3 *").moves == parse_record("1.a1 b2 2.c3 *").moves == (0, 4, 8)


def test_a_number_in_the_middle_of_a_round_has_three_dots() -> None:
    assert parse_record("1. a1 {hm} 1... b2 2. c3 *").moves == (0, 4, 8)


def test_a_round_of_a_record_skips_passed_over_players() -> None:
    text = '[Rules "three-players"] [Passed "X@4"] 1. a1 b1 c1 2. a2 e5 e4 3. a4 e3 4. c5 *'
    record = parse_record(text)
    assert record.position.active_marks == "OA"
    assert "1. a1 b1 c1 2. a2 e5 e4 3. a4 e3 4. c5 *" in format_record(record)


def test_comments_keep_their_place_and_lose_their_line_ends() -> None:
    record = parse_record("{ one\r\n two } 1. a1 {} {three} b2 {four {five} *")
    assert record.comments == ((0, "one two"), (1, "three"), (2, "four {five"))


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("180+2", SeatClock(180_000, 2_000)),
        ("0.05+0", SeatClock(50, 0)),
        ("86400+86400", SeatClock(86_400_000, 86_400_000)),
        ("10/move", MoveClock(10_000)),
        ("0.001/move", MoveClock(1)),
    ],
)
def test_a_clock_is_written_in_seconds(text: str, clock: SeatClock | MoveClock) -> None:
    record = parse_record(f'[Clock "{text}"] *')
    assert record.clock == clock
    assert f'[Clock "{text}"]' in format_record(record)


def test_several_records_are_read_in_order_and_blank_text_holds_none() -> None:
    assert parse_records("\ufeff \r\n\t\n") == ()
    assert [record.game for record in parse_records('[Game "1"] * [Game "2"] 1. a1 *\n\n[Game "3"]\n*')] == [1, 2, 3]


def test_record_lines_wrap_at_80_characters() -> None:
    record = GameRecord(rules=PRESETS["gomoku"], moves=tuple(range(4, 220, 3)), comments=((9, "word " * 60),))
    assert max(map(len, format_record(record).splitlines())) <= 80
    assert parse_record(format_record(record)) == record


@each(
    ("text", "line", "column", "words"),
    [
        *chain.from_iterable(FAULTS.values()),
        (f'[X "{"a" * 256}"] *', 1, 5, "longer than 255 characters"),
        (f'[{"E" * 65} ""] *', 1, 2, "is not valid here"),
        (f'[Game "{"9" * 5000}"] *', 1, 8, "like 5"),
        (f"{{{'a' * 4097}}} *", 1, 1, "longer than 4096 characters"),
        ("\n" + "a" * 1_000_000, 2, 1_000_000, "longer than 1000000 characters"),
    ],
)
def test_a_fault_is_found_at_its_line_and_column(text: str, line: int, column: int, words: str) -> None:
    found = fault_of(text)
    assert found[:2] == (line, column)
    assert words in found[2]


def test_an_error_in_a_later_record_has_the_right_place() -> None:
    with pytest.raises(RecordError) as caught:
        parse_records("* \n* \n1. a1 a1 *")
    assert (caught.value.line, caught.value.column) == (3, 7)


@each(
    ("content", "part"),
    [
        ({"moves": (0, 0)}, "moves[1]"),
        ({"players": (("X", "a\nb"),)}, "players[X]"),
        ({"players": (("X", "a\x1b[2Jb"),)}, "players[X]"),
        ({"players": (("X", "ana"), ("X", "bo"))}, "players"),
        ({"players": (("B", "ana"),)}, "players[B]"),
        ({"room": "\u202e"}, "room"),
        ({"date": "today"}, "date"),
        ({"game": 0}, "game"),
        ({"clock": MoveClock(0)}, "clock"),
        ({"clock": SeatClock(1, -1)}, "clock"),
        ({"tags": (("Rules", "classic"),)}, "tags[Rules]"),
        ({"tags": (("X", "ana"),)}, "tags[X]"),
        ({"event": "\x07"}, "event"),
        ({"round": "1" * 256}, "round"),
        ({"tags": (("Site", "\x07"),)}, "tags[Site]"),
        ({"tags": (("Site", "a"), ("Site", "b"))}, "tags[Site]"),
        ({"comments": ((0, " "),)}, "comments[0]"),
        ({"comments": ((0, "a } b"),)}, "comments[0]"),
        ({"comments": ((0, "a\u200bb"),)}, "comments[0]"),
        ({"comments": ((1, "early"),)}, "comments[0]"),
        ({"moves": (0,), "comments": ((1, "one"), (0, "zero"))}, "comments[1]"),
        ({"passed": ((0, "X"),)}, "passed[0]"),
        ({"passed": ((5, "X"),)}, "passed[0]"),
        ({"result": GameResult("line", "X")}, "reason"),
        ({"result": GameResult("resigned", "A")}, "result"),
        ({"result": GameResult("resigned", None)}, "result"),
        ({"result": GameResult("bored", "X")}, "reason"),
        ({"result": GameResult("forfeit", "A")}, "result"),
    ],
)
def test_a_record_that_cannot_be_is_refused_with_the_part_at_fault(content: dict[str, Any], part: str) -> None:
    with pytest.raises(InvalidRecord) as caught:
        GameRecord(**content)
    assert caught.value.part == part
    assert caught.value.message.isprintable()
