from typing import Any

import pytest

from tests.classic import CLASSIC_RULES
from tictactoe_client.input.past import list_rounds
from tictactoe_client.input.record import (
    RecordActions,
    RecordedRoom,
    describe_record,
    summarise_position,
    summarise_record,
)
from tictactoe_client.online.errors import Refused
from tictactoe_client.settings import Settings
from tictactoe_engine.records import GameRecord, parse_record
from tictactoe_words.catalogue import say

STEP_HELP = say("please type a step")

CLASSIC = parse_record(
    """
[Rules "classic"] [X "ana"] [O "bo"] [Date "2030-12-31T18:05:00Z"] [Room "K7M4PQ"] [Game "3"] [Clock "180+2"]
1. b2 a1 {A corner.} 2. c1 a3 3. a2 c3 4. c2 X
"""
)
THREE = parse_record(
    """
[Rules "three-players"] [X "ana"] [A "cy"] [Passed "A@4"] [Clock "10/move"] [Reason "timeout"]
1. a1 b2 e5 2. b1 c2 3. c1 d2 O
"""
)

OPENED = parse_record('[Rows "5"] [Columns "5"] [Line "4"] [Opening "swap2"] 1. c3 c4 2. d3 {swap2 O more} b3 3. d2 *')


def actions_at(record: GameRecord, ply: int, settings: Settings | None = None) -> RecordActions:
    actions = RecordActions(RecordedRoom(record), settings or Settings())
    actions.timeline = actions.timeline.jump(ply)
    return actions


def test_a_record_is_described_in_two_lines() -> None:
    assert describe_record(RecordedRoom(CLASSIC)) == [
        "ana (X) v bo (O), 3 by 3, 3 in a row, 3+2, 2030-12-31T18:05:00Z, room K7M4PQ, game 3.",
        "7 moves. ana wins. Row 2 is X X X.",
    ]
    assert describe_record(RecordedRoom(THREE)) == [
        "ana (X) v O v cy (A), 5 by 5, 4 in a row, 3 players, 10 s a move.",
        "7 moves. O wins. ana ran out of time.",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1. a1 *", "1 move. The game is not over yet."),
        ('[Reason "agreed"] 1. b2 draw', "1 move. It's a draw. Both agreed."),
        ('[Reason "resigned"] 1. b2 O', "1 move. O wins. X resigns."),
        ('[Reason "claimed"] draw', "0 moves. It's a draw. The other player was away too long."),
        ('[Reason "forfeit"] 1. b2 X', "1 move. X wins. O did not make the first move in time."),
        ('[Reason "forfeit"] none', "0 moves. There is no winner. Nobody came in time."),
        ("1. a1 b1 2. c1 b2 3. a2 c2 4. b3 a3 5. c3 draw", "9 moves. It's a draw. The board is full."),
    ],
)
def test_every_end_has_its_words(text: str, told: str) -> None:
    assert describe_record(RecordedRoom(parse_record(text)))[1] == told


def test_a_record_of_an_event_names_event_and_round() -> None:
    record = parse_record('[Event "Club evening"] [Round "3.2"] [Game "1"] *')
    assert (
        describe_record(RecordedRoom(record))[0] == "X v O, 3 by 3, 3 in a row, event Club evening, round 3.2, game 1."
    )


def test_a_record_says_when_a_player_is_out() -> None:
    actions = actions_at(THREE, 4, Settings(draws_board=False))
    assert actions.tell_moment() == ["Move 4 of 7: ana plays B1.", "cy is out of the game from here."]


def test_rounds_are_shorter_without_a_passed_over_player() -> None:
    assert rounds(CLASSIC) == [[1, 2], [3, 4], [5, 6], [7]]
    assert rounds(THREE) == [[1, 2, 3], [4, 5], [6, 7]]
    assert rounds(parse_record('[Reason "resigned"] O')) == []


def rounds(record: GameRecord) -> list[list[int]]:
    room = RecordedRoom(record)
    return [list(plies) for plies in list_rounds(room.state.rules.marks, room.state.board, tuple(room.moves))]


def positions(record: GameRecord) -> list[dict[str, Any]]:
    return [summarise_position(record, position) for position in record.positions()]


def test_programs_read_the_game_and_each_position() -> None:
    assert summarise_record(CLASSIC) == {
        "rules": CLASSIC_RULES | {"blocked": ()},
        "players": {"X": "ana", "O": "bo"},
        "event": None,
        "round": None,
        "date": "2030-12-31T18:05:00Z",
        "room": "K7M4PQ",
        "game": 3,
        "moves": (4, 0, 2, 6, 3, 8, 5),
        "passed": [],
        "choices": [],
        "result": {"winner": "X", "reason": "line"},
    }
    assert positions(CLASSIC)[2] == {
        "ply": 2,
        "board": "O...X....",
        "turn": "X",
        "last": 0,
        "line": (),
        "comments": ["A corner."],
    }
    assert positions(CLASSIC)[7]["line"] == (3, 4, 5)
    assert positions(THREE)[0]["turn"] == "X"
    assert positions(THREE)[7]["turn"] is None
    assert summarise_record(THREE)["passed"] == [{"ply": 4, "mark": "A"}]
    assert positions(OPENED)[5]["choices"] == ({"ply": 3, "by": "O", "mark": "O", "take": "more"},)
    assert positions(OPENED)[5]["placed"] == "XXXOO"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/n", "Move 4 of 7: bo plays A3, bottom left."),
        (":previous", "Move 2 of 7: bo plays A1, top left."),
        ("value", "After move 3: O to move: a draw with best play. Best: A3."),
        ("-1", f'I don\'t know "-1". {STEP_HELP}'),
        ("٣", f'I don\'t know "٣". {STEP_HELP}'),
        ("9" * 50, f'I don\'t know "{"9" * 50}". {STEP_HELP}'),
        ("next please", f'I don\'t know "next please". {STEP_HELP}'),
    ],
)
async def test_a_line_typed_after_three_moves_is_answered_with(line: str, told: str) -> None:
    actions = actions_at(CLASSIC, 3)
    assert (await actions.do_line(line)).lines[0] == told


async def test_a_recorded_room_has_no_seat_for_the_viewer() -> None:
    room = RecordedRoom(THREE)
    assert (room.seat, room.plays, room.looks_on, room.is_my_turn) == (None, False, True, False)
    assert room.position == THREE.position
    assert [seat.out for seat in room.state.seats.values() if seat] == [False, False, True]
    with pytest.raises(Refused):
        await room.move(5)
    assert parse_record(await room.record(1)) == THREE
    await room.leave()
    assert room.ended == "left"


async def test_mistakes_are_listed_only_for_finished_records() -> None:
    actions = actions_at(CLASSIC, 0, Settings(draws_board=False))
    assert (await actions.do_line("next mistake")).lines == (
        "Move 6: C3 gives the draw away: X can now win at once. C2 was best.",
    )
    running = actions_at(parse_record("1. b2 b1 *"), 2)
    for line in ("value", "mistakes", "next mistake"):
        (told,) = (await running.do_line(line)).lines
        assert "best" not in told.lower()
