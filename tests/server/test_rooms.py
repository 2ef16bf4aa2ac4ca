"""The room as a value: commands in, the next room or a refusal out, time as a number."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.classic import CLASSIC_RULES
from tests.rows import each
from tests.server.tables import ANA, BO, CODE, CY
from tests.server.tables import refusal as refused_in
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol import encode
from tictactoe_protocol.pushes import Offers, Result
from tictactoe_protocol.requests import Leave, Move, Rematch, Resign
from tictactoe_server import rooms
from tictactoe_server.rooms import Command, Dropped, Enter, Player, Refused, Room, apply, state_of
from tictactoe_server.rooms.view import summary_of

NOW = 1_000
LINE_FOR_X = [0, 3, 1, 4, 2]
DRAWN = [0, 1, 2, 4, 3, 5, 7, 6, 8]
THREE = Rules(rows=3, columns=3, line=3, marks="XOA")


def open_room(*players: Player, rules: Rules = PRESETS["classic"], seat: str | None = None) -> Room:
    """Return a room that the first player opened and the others entered."""
    room = rooms.open_room(CODE, rules, players[0], NOW, seat=seat)
    for player in players[1:]:
        room = apply(room, player, Enter(), NOW)
    return room


def move(cell: int, ply: int) -> Move:
    return Move(room=CODE, cell=cell, ply=ply)


def play(room: Room, cells: Sequence[int]) -> Room:
    """Play each cell by the player on turn."""
    for cell in cells:
        seat = room.seats[room.position.turn or ""]
        assert seat
        room = apply(room, Player(seat.player, seat.name), move(cell, room.position.ply), NOW)
    return room


def apply_all(room: Room, *commands: tuple[Player, Command]) -> Room:
    for player, command in commands:
        room = apply(room, player, command, NOW)
    return room


def refusal(room: Room, player: Player, command: Command) -> Refused:
    return refused_in(room, player, command, NOW)


LEAVE, RESIGN, REMATCH = Leave(room=CODE), Resign(room=CODE), Rematch(room=CODE)


# -- opening and entering ---------------------------------------------------------------------------------------


def test_a_new_room_waits_with_its_opener_seated() -> None:
    room = open_room(ANA)
    assert (room.status, room.seq, room.game, room.result) == ("waiting", 1, 1, None)
    assert room.mark_of(ANA.id) == "X"
    assert room.seats == {"X": room.seats["X"], "O": None}
    assert room.score == {ANA.id: 0, "draws": 0}


def test_the_opener_may_take_another_seat() -> None:
    room = open_room(ANA, rules=THREE, seat="A")
    assert room.mark_of(ANA.id) == "A"
    room = apply_all(room, (BO, Enter()), (CY, Enter()))
    assert [seat.name for seat in room.seats.values() if seat] == ["bo", "cy", "ana"]


def test_who_enters_takes_the_first_free_seat_and_the_last_one_starts_the_game() -> None:
    room = open_room(ANA, BO, rules=THREE)
    assert (room.status, room.mark_of(BO.id), room.seq) == ("waiting", "O", 2)
    room = apply(room, CY, Enter(), NOW)
    assert (room.status, room.mark_of(CY.id), room.seq) == ("playing", "A", 3)
    assert room.score == {ANA.id: 0, BO.id: 0, CY.id: 0, "draws": 0}


def test_entering_under_a_new_name_shows_it() -> None:
    room = open_room(ANA, BO)
    renamed = apply(room, Player(ANA.id, "Anastasia"), Enter(), NOW)
    assert renamed.seats["X"] is not None
    assert (renamed.seats["X"].name, renamed.seq) == ("Anastasia", room.seq + 1)


# -- moves ------------------------------------------------------------------------------------------------------


def test_a_line_ends_the_game_and_counts_for_its_winner() -> None:
    room = play(open_room(ANA, BO), LINE_FOR_X)
    assert (room.status, room.result) == ("over", Result("X", "line", (0, 1, 2)))
    assert room.score == {ANA.id: 1, BO.id: 0, "draws": 0}
    assert room.seq == 2 + len(LINE_FOR_X)


def test_a_full_board_is_a_draw() -> None:
    room = play(open_room(ANA, BO), DRAWN)
    assert (room.status, room.result) == ("over", Result(None, "full"))
    assert room.score == {ANA.id: 0, BO.id: 0, "draws": 1}


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
    room = play(open_room(ANA, BO, rules=PRESETS[rules]), played)
    player = (ANA, BO)[len(played) % 2]
    refused = refusal(room, player, move(cell, len(played)))
    assert (refused.code, refused.path) == (code, "cell")


def test_a_move_out_of_turn_is_refused_with_the_name_of_whose_turn_it_is() -> None:
    refused = refusal(open_room(ANA, BO), BO, move(4, 0))
    assert refused.code == "not_your_turn"
    assert "ana" in refused.message


OVER = play(open_room(ANA, BO), LINE_FOR_X)
LEFT = apply(open_room(ANA, BO), BO, LEAVE, NOW)
REFUSED: dict[str, tuple[Room, Player, list[Command], str]] = {
    "to enter a full room": (open_room(ANA, BO), CY, [Enter()], "room_full"),
    "to come back after leaving": (LEFT, BO, [Enter()], "not_allowed"),
    "to take the seat of a player who left": (LEFT, CY, [Enter()], "room_full"),
    "to play before the start": (open_room(ANA), ANA, [move(4, 0), RESIGN, REMATCH], "not_started"),
    "to play after the end": (OVER, BO, [move(8, 5), RESIGN], "game_over"),
    "a move for another ply": (
        play(open_room(ANA, BO), [4]),
        BO,
        [move(0, 0), move(0, 2), move(0, 2**31 - 1)],
        "stale",
    ),
    "anything without a seat": (open_room(ANA, BO), CY, [LEAVE, RESIGN, REMATCH, move(0, 0)], "not_seated"),
    "anything after leaving": (LEFT, BO, [LEAVE, RESIGN, REMATCH, move(0, 0)], "not_seated"),
    "to resign twice": (apply(open_room(ANA, BO, CY, rules=THREE), ANA, RESIGN, NOW), ANA, [RESIGN], "not_allowed"),
    "a rematch during a game": (open_room(ANA, BO), ANA, [REMATCH], "not_allowed"),
    "a rematch against a player who left": (apply(OVER, BO, LEAVE, NOW), ANA, [REMATCH], "not_allowed"),
}


@each("name", REFUSED)
def test_commands_that_make_no_sense_now_are_refused(name: str) -> None:
    room, player, commands, code = REFUSED[name]
    assert [refusal(room, player, command).code for command in commands] == [code] * len(commands)


def test_a_move_that_only_looks_like_a_repeat_is_refused() -> None:
    room = play(open_room(ANA, BO), [0, 3, 1])
    assert refusal(room, BO, move(0, 0)).code == "stale"  # the opponent's move
    assert refusal(room, ANA, move(1, 0)).code == "not_your_turn"  # another ply's cell
    assert refusal(room, ANA, move(8, 2)).code == "not_your_turn"  # another cell
    assert refusal(room, CY, move(0, 0)).code == "not_seated"
    assert refusal(room, BO, move(-9, 0)).code == "stale"


def test_a_repeat_of_the_game_before_is_no_repeat() -> None:
    room = apply_all(play(open_room(ANA, BO), LINE_FOR_X), (ANA, REMATCH), (BO, REMATCH))
    assert refusal(room, ANA, move(2, 4)).code == "not_your_turn"


# -- resigning and leaving --------------------------------------------------------------------------------------


def test_one_of_two_who_resigns_loses() -> None:
    room = apply(play(open_room(ANA, BO), [0, 4]), ANA, RESIGN, NOW)
    assert room.result == Result("O", "resigned")
    assert (room.status, room.seq, room.score[BO.id]) == ("over", 5, 1)
    assert room.mark_of(ANA.id) == "X"


def test_of_three_the_one_who_resigns_is_passed_over_and_the_last_one_left_wins() -> None:
    room = apply(play(open_room(ANA, BO, CY, rules=THREE), [0]), BO, RESIGN, NOW)
    assert (room.status, room.position.turn, room.seq) == ("playing", "A", 5)
    room = play(room, [1])
    assert room.position.turn == "X"
    room = play(room, [2])
    assert room.position.turn == "A"
    room = apply(room, CY, RESIGN, NOW)
    assert room.result == Result("X", "resigned")
    assert room.score == {ANA.id: 1, BO.id: 0, CY.id: 0, "draws": 0}


def test_leaving_a_waiting_room_frees_the_seat() -> None:
    room = apply(open_room(ANA, BO, rules=THREE), ANA, LEAVE, NOW)
    assert (room.status, room.seats["X"], room.seq) == ("waiting", None, 3)
    assert room.score == {BO.id: 0, "draws": 0}
    room = apply(room, CY, Enter(), NOW)
    assert room.mark_of(CY.id) == "X"
    assert apply(room, ANA, Enter(), NOW).mark_of(ANA.id) == "A"


def test_the_last_one_to_leave_a_waiting_room_deserts_it() -> None:
    room = apply(open_room(ANA), ANA, LEAVE, NOW)
    assert room.is_deserted
    assert room.seats == {"X": None, "O": None}


def test_leaving_a_game_of_two_resigns_and_goes() -> None:
    room = apply(play(open_room(ANA, BO), [0, 4]), ANA, LEAVE, NOW)
    assert (room.result, room.seq) == (Result("O", "resigned"), 5)
    assert room.seats["X"] is not None
    assert (room.seats["X"].left, room.seats["X"].online) == (True, False)
    assert room.mark_of(ANA.id) is None
    assert not room.is_deserted


def test_leaving_a_game_of_three_lets_the_others_play_on() -> None:
    room = apply(open_room(ANA, BO, CY, rules=THREE), ANA, LEAVE, NOW)
    assert (room.status, room.position.turn, room.seq) == ("playing", "O", 4)
    assert room.mark_of(ANA.id) is None
    assert apply(play(room, [0, 1]), BO, LEAVE, NOW).result == Result("A", "resigned")


def test_one_who_is_passed_over_may_still_leave() -> None:
    room = apply(open_room(ANA, BO, CY, rules=THREE), ANA, RESIGN, NOW)
    after = apply(room, ANA, LEAVE, NOW)
    assert (after.status, after.seq, after.mark_of(ANA.id)) == ("playing", room.seq + 1, None)
    assert after.position.active_marks == "OA"


def test_leaving_after_the_end_keeps_the_result() -> None:
    over = play(open_room(ANA, BO), LINE_FOR_X)
    room = apply(over, ANA, LEAVE, NOW)
    assert (room.result, room.score, room.seq) == (over.result, over.score, over.seq + 1)
    assert apply(room, BO, LEAVE, NOW).is_deserted


# -- rematch ----------------------------------------------------------------------------------------------------


def test_a_rematch_starts_when_both_ask_and_moves_the_marks_on() -> None:
    over = play(open_room(ANA, BO), LINE_FOR_X)
    asked = apply(over, BO, REMATCH, NOW)
    assert (asked.status, asked.offers, asked.seq) == ("over", Offers(rematch=("O",)), over.seq + 1)
    again = apply(asked, ANA, REMATCH, NOW)
    assert (again.status, again.game, again.seq) == ("playing", 2, over.seq + 2)
    assert (again.mark_of(BO.id), again.mark_of(ANA.id)) == ("X", "O")
    assert (again.position.ply, again.result, again.offers) == (0, None, Offers())
    assert again.score == over.score


def test_with_three_all_must_agree_and_everybody_plays_first_once_in_three_games() -> None:
    room = open_room(ANA, BO, CY, rules=THREE)
    first = []
    for game in (1, 2, 3, 4):
        assert room.game == game
        first.append(room.seats["X"] and room.seats["X"].name)
        room = apply_all(play(room, [0, 1, 2]), (ANA, RESIGN), (BO, RESIGN))
        assert room.result is not None
        room = apply_all(room, (CY, REMATCH), (ANA, REMATCH))
        assert room.status == "over"
        assert room.offers.rematch == tuple(mark for mark in "XOA" if mark != room.mark_of(BO.id))
        room = apply(room, BO, REMATCH, NOW)
    assert first == ["ana", "cy", "bo", "ana"]
    assert room.score == {ANA.id: 0, BO.id: 0, CY.id: 4, "draws": 0}


def test_leaving_withdraws_every_offer_of_a_rematch() -> None:
    room = apply_all(play(open_room(ANA, BO), LINE_FOR_X), (ANA, REMATCH), (BO, LEAVE))
    assert room.offers == Offers()


# -- connections ------------------------------------------------------------------------------------------------


def seat_seen(room: Room, mark: str, now: int) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(encode(state_of(room, now, watchers=0)))
    seat: dict[str, Any] = state["seats"][mark]
    return seat


def test_a_dropped_player_is_shown_offline_with_what_is_left_of_the_hold() -> None:
    room = apply(open_room(ANA, BO), BO, Dropped(), NOW)
    assert room.seq == 3
    assert seat_seen(room, "O", NOW) == {"player": BO.id, "name": "bo", "online": False, "bot": None, "hold_ms": 60_000}
    assert seat_seen(room, "O", NOW + 13_000)["hold_ms"] == 47_000
    assert seat_seen(room, "O", NOW + 99_000)["hold_ms"] == 0
    assert "hold_ms" not in seat_seen(room, "X", NOW)


def test_a_player_who_is_back_is_online_and_holds_nothing() -> None:
    room = apply_all(open_room(ANA, BO), (BO, Dropped()), (BO, Enter()))
    assert (room.seq, room.gone_at) == (4, {})
    assert seat_seen(room, "O", NOW) == {"player": BO.id, "name": "bo", "online": True, "bot": None}


@pytest.mark.parametrize(
    ("room", "player", "command"),
    [
        (open_room(ANA, BO), ANA, Enter()),
        (apply(open_room(ANA, BO), BO, Dropped(), NOW), BO, Dropped()),
        (open_room(ANA, BO), CY, Dropped()),
        (LEFT, BO, Dropped()),
        (apply(OVER, BO, REMATCH, NOW), BO, REMATCH),
    ],
    ids=["entered before", "dropped before", "without a seat", "left before", "asked for a rematch before"],
)
def test_a_command_without_effect_changes_nothing(room: Room, player: Player, command: Command) -> None:
    assert apply(room, player, command, NOW + 5) is room


def test_one_of_three_who_resigned_is_shown_to_be_out_until_the_next_game() -> None:
    room = apply(play(open_room(ANA, BO, CY, rules=THREE), [0]), BO, RESIGN, NOW)
    assert seat_seen(room, "O", NOW) == {"player": BO.id, "name": "bo", "online": True, "bot": None, "out": True}
    assert "out" not in seat_seen(room, "A", NOW)
    again = apply_all(room, (ANA, RESIGN), (ANA, REMATCH), (BO, REMATCH), (CY, REMATCH))
    assert not any("out" in seat_seen(again, mark, NOW) for mark in "XOA")


def test_one_who_dropped_and_then_left_has_no_hold() -> None:
    room = apply_all(open_room(ANA, BO), (BO, Dropped()), (BO, LEAVE))
    assert seat_seen(room, "O", NOW) == {"player": BO.id, "name": "bo", "online": False, "bot": None, "left": True}


# -- what others see --------------------------------------------------------------------------------------------


def test_a_state_says_everything_about_the_room() -> None:
    room = play(open_room(ANA, BO), [0, 4])
    assert json.loads(encode(state_of(room, NOW, watchers=2))) == {
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
    }


def test_a_free_seat_is_null_in_state_and_list() -> None:
    room = open_room(ANA)
    assert state_of(room, NOW, watchers=0).seats["O"] is None
    row = summary_of(room, NOW + 7, watchers=3, ply=room.position.ply)
    assert (row.seats["O"], row.age_ms, row.watchers, row.ply, row.status) == (None, 7, 3, 0, "waiting")
