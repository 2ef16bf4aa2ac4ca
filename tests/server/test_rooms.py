"""The room as a value: commands in, the next room or a refusal out, time as a number."""

import json

import pytest

from tests.classic import CLASSIC_RULES
from tests.server.requests import LEAVE, REMATCH, RESIGN, WIN
from tests.server.tables import ANA, BO, CODE, CY, START, THREE, Action, Step, Table, three, time_out, two
from tictactoe_protocol import encode
from tictactoe_protocol.pushes import Result
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.rooms.room import NOBODY, Player
from tictactoe_server.rooms.seating import drop, enter, open_room
from tictactoe_server.rooms.view import state_of

LINE_FOR_X = (0, 3, 1, 4, 2)
DRAWN = (0, 1, 2, 4, 3, 5, 7, 6, 8)


def test_the_opener_may_take_another_seat() -> None:
    room = open_room(CODE, THREE, ANA, START, seat="A")
    assert room.mark_of(ANA.id) == "A"
    for player in (BO, CY):
        room = enter(room, player, START)
    assert [seat.name for seat in room.seats.values() if seat] == ["bo", "cy", "ana"]


@pytest.mark.parametrize(
    ("steps", "player", "command"),
    [
        ([], ANA, enter),
        ([(BO, drop)], BO, drop),
        ([], CY, drop),
        ([(BO, LEAVE)], BO, drop),
        ([*LINE_FOR_X, (BO, REMATCH)], BO, REMATCH),
    ],
    ids=["entered before", "dropped before", "without a seat", "left before", "asked for a rematch before"],
)
def test_a_command_without_effect_changes_nothing(steps: list[Step], player: Player, command: Action) -> None:
    table = two(*steps)
    before = table.room
    table.wait(5)
    assert table.do(player, command) is before


@pytest.mark.parametrize(
    ("cells", "result", "score"),
    [
        (LINE_FOR_X, Result("X", "line", (0, 1, 2)), {ANA.id: 1, BO.id: 0, "draws": 0}),
        (DRAWN, Result(None, "full"), {ANA.id: 0, BO.id: 0, "draws": 1}),
    ],
    ids=["line", "full board"],
)
def test_a_line_or_a_full_board_ends_the_game(cells: tuple[int, ...], result: Result, score: dict[str, int]) -> None:
    room = two(*cells).room
    assert (room.status, room.result, room.score, room.seq) == ("over", result, score, 2 + len(cells))


def test_with_three_a_resigning_player_is_passed_over_and_the_last_wins() -> None:
    table = three(0, (BO, RESIGN))
    assert (table.room.status, table.room.position.turn, table.room.seq) == ("playing", "A", 5)
    assert table.move(1).position.turn == "X"
    assert table.move(2).position.turn == "A"
    room = table.do(CY, RESIGN)
    assert room.result == Result("X", "resigned")
    assert room.score == {ANA.id: 1, BO.id: 0, CY.id: 0, "draws": 0}


def test_leaving_a_waiting_room_frees_the_seat() -> None:
    table = Table(ANA, BO, rules=THREE)
    room = table.do(ANA, LEAVE)
    assert (room.status, room.seats["X"], room.seq) == ("waiting", None, 3)
    assert room.score == {BO.id: 0, "draws": 0}
    assert table.do(CY, enter).mark_of(CY.id) == "X"
    assert table.do(ANA, enter).mark_of(ANA.id) == "A"


def test_leaving_after_the_end_keeps_the_result() -> None:
    table = two(*LINE_FOR_X)
    over = table.room
    room = table.do(ANA, LEAVE)
    assert (room.result, room.score, room.seq) == (over.result, over.score, over.seq + 1)
    assert table.do(BO, LEAVE).is_deserted


def test_with_three_all_must_agree_and_everybody_plays_first_once_in_three_games() -> None:
    table = three()
    first = []
    for game in (1, 2, 3, 4):
        assert table.room.game == game
        first.append(table.room.seat("X").name)
        room = table.do_all(0, 1, 2, (ANA, RESIGN), (BO, RESIGN), (CY, REMATCH), (ANA, REMATCH))
        assert room.status == "over"
        assert room.offers.rematch == tuple(mark for mark in "XOA" if mark != room.mark_of(BO.id))
        room = table.do(BO, REMATCH)
    assert first == ["ana", "cy", "bo", "ana"]
    assert room.score == {ANA.id: 0, BO.id: 0, CY.id: 4, "draws": 0}


def test_a_dropped_player_is_offline_with_the_remaining_hold() -> None:
    table = two((BO, drop))
    away = {"player": BO.id, "name": "bo", "online": False, "bot": None}
    for wait, left in ((0, 60_000), (13_000, 47_000), (86_000, 0)):
        table.wait(wait)
        assert table.state["seats"]["O"] == {**away, "hold_ms": left}
    assert (table.room.seq, "hold_ms" in table.state["seats"]["X"]) == (3, False)


@pytest.mark.parametrize(
    ("before", "player", "command", "out"),
    [
        ([], BO, RESIGN, {"O": "resigned"}),
        ([], BO, LEAVE, {"O": "left"}),
        ([], NOBODY, time_out, {"X": "late"}),
        ([(BO, drop), (CY, drop)], ANA, WIN, {"O": "away", "A": "away"}),
    ],
)
def test_a_state_marks_players_who_are_out(
    before: list[Step], player: Player, command: Action, out: dict[str, str]
) -> None:
    table = three(0, 1, 2, clock=ClockFields(move_ms=60_000))
    table.do_all(*before)
    table.wait(60_000)
    table.do(player, command)
    told = [event for event in table.state["news"] if event["type"] == "out"]
    assert told == [{"type": "out", "mark": mark, "why": why} for mark, why in out.items()]


def test_a_state_describes_the_whole_room() -> None:
    table = two(0, 4)
    assert json.loads(encode(state_of(table.room, table.now, watchers=2))) == {
        "type": "room",
        "room": CODE,
        "seq": 4,
        "status": "playing",
        "visibility": "public",
        "game": 1,
        "rules": CLASSIC_RULES,
        "board": "X...O....",
        "ply": 2,
        "turn": "X",
        "last": 4,
        "seats": {
            "X": {"player": ANA.id, "name": "ana", "online": True, "bot": None},
            "O": {"player": BO.id, "name": "bo", "online": True, "bot": None},
        },
        "result": None,
        "offers": {"draw": None, "undo": None, "rematch": []},
        "clock": None,
        "watchers": 2,
        "score": {ANA.id: 0, BO.id: 0, "draws": 0},
        "time_control": None,
        "moves": [0, 4],
        "may": {
            "X": ["move", "resign", "draw offer", "undo offer", "leave lose"],
            "O": ["resign", "draw offer", "undo offer", "leave lose"],
        },
        "news": [],
    }
