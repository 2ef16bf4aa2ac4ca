"""The room as a value: commands in, the next room or a refusal out, time as a number."""

import json

import pytest

from tests.classic import CLASSIC_RULES
from tests.rows import each
from tests.server.requests import LEAVE, REMATCH, RESIGN, WIN
from tests.server.tables import ANA, BO, CODE, CY, START, THREE, Action, Step, Table, three, time_out, two
from tictactoe_engine import PRESETS
from tictactoe_protocol import encode
from tictactoe_protocol.pushes import Result
from tictactoe_protocol.requests import Move
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.rooms.room import NOBODY, Player
from tictactoe_server.rooms.seating import drop, enter, open_room
from tictactoe_server.rooms.view import state_of
from tictactoe_words.refusals import describe_fault

LINE_FOR_X = (0, 3, 1, 4, 2)
DRAWN = (0, 1, 2, 4, 3, 5, 7, 6, 8)


def move(cell: int, ply: int) -> Move:
    return Move(room=CODE, cell=cell, ply=ply)


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


@pytest.mark.parametrize(
    ("rules", "played", "cell", "code"),
    [
        ("classic", [], -1, "off_board"),
        ("classic", [4], 4, "occupied"),
        ("blocker", [], 4, "blocked"),
        ("connect-four", [], 0, "floating"),
    ],
)
def test_a_cell_that_cannot_be_played_is_refused(rules: str, played: list[int], cell: int, code: str) -> None:
    table = two(*played, rules=PRESETS[rules])
    refused = table.refusal(table.to_move, move(cell, len(played)))
    assert (refused.code, refused.path) == (code, "cell")


def test_a_move_out_of_turn_is_refused_with_the_name_of_the_player_on_turn() -> None:
    refused = two().refusal(BO, move(4, 0))
    assert refused.code == "not_your_turn"
    assert "ana" in describe_fault(refused)


REFUSED: dict[str, tuple[Table, Player, list[Action], str]] = {
    "to enter a full room": (two(), CY, [enter], "room_full"),
    "to come back after leaving": (two((BO, LEAVE)), BO, [enter], "not_allowed"),
    "to take the seat of a player who left": (two((BO, LEAVE)), CY, [enter], "room_full"),
    "to play before the start": (Table(ANA), ANA, [move(4, 0), RESIGN, REMATCH], "not_started"),
    "to play after the end": (two(*LINE_FOR_X), BO, [move(8, 5), RESIGN], "game_over"),
    "a move for another ply": (two(4), BO, [move(0, 0), move(0, 2), move(0, 2**31 - 1)], "stale"),
    "anything without a seat": (two(), CY, [LEAVE, RESIGN, REMATCH, move(0, 0)], "not_seated"),
    "anything after leaving": (two((BO, LEAVE)), BO, [LEAVE, RESIGN, REMATCH, move(0, 0)], "not_seated"),
    "to resign twice": (three((ANA, RESIGN)), ANA, [RESIGN], "not_allowed"),
    "a rematch during a game": (two(), ANA, [REMATCH], "not_allowed"),
    "a rematch against a player who left": (two(*LINE_FOR_X, (BO, LEAVE)), ANA, [REMATCH], "not_allowed"),
    "a repeat of the opponent's move": (two(0, 3, 1), BO, [move(0, 0), move(-9, 0)], "stale"),
    "a repeat with the cell of another ply": (two(0, 3, 1), ANA, [move(1, 0), move(8, 2)], "not_your_turn"),
    "a repeat of a move in the last game": (
        two(*LINE_FOR_X, (ANA, REMATCH), (BO, REMATCH)),
        ANA,
        [move(2, 4)],
        "not_your_turn",
    ),
}


@each("name", REFUSED)
def test_commands_that_make_no_sense_now_are_refused(name: str) -> None:
    table, player, commands, code = REFUSED[name]
    assert [table.refusal(player, command).code for command in commands] == [code] * len(commands)


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
