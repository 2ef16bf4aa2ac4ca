from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from msgspec.structs import replace

from tests.client.states import players, seat, state
from tests.engine.random_records import game_records
from tictactoe_client.files.records import name_for, record_of
from tictactoe_engine import PRESETS
from tictactoe_engine.records import GameRecord, GameResult, InvalidRecord, MoveClock, format_record, parse_record
from tictactoe_protocol.pushes import Result, RoomState, RulesState
from tictactoe_protocol.requests import ClockTerms

NOW = datetime(2030, 12, 31, 18, 5, 7, 999, tzinfo=UTC)
THREE = PRESETS["three-players"]


def test_a_finished_game_is_recorded_with_all_that_its_state_tells() -> None:
    assert record_of(state([0, 3, 1, 4, 2], game=3), (0, 3, 1, 4, 2), NOW) == GameRecord(
        moves=(0, 3, 1, 4, 2),
        result=GameResult("line", "X"),
        players=(("X", "ana"), ("O", "bo")),
        date="2030-12-31T18:05:07Z",
        room="K7M4PQ",
        game=3,
    )


def test_names_from_strangers_are_made_safe() -> None:
    seats = {**players(), "O": seat("p-bo", "b\u202eo\x07")}
    record = record_of(state([0, 3, 1, 4, 2], seats=seats), (0, 3, 1, 4, 2), NOW)
    assert dict(record.players)["O"] == "bo"


@pytest.mark.parametrize(
    "moves", [(0, 3, 1, 4), (0, 3, 1, 4, 8), (), (0, 0), (99,), (0, 3, 1, 4, 2, 8), (-40,)], ids=str
)
def test_moves_of_another_game_are_refused(moves: tuple[int, ...]) -> None:
    with pytest.raises(InvalidRecord):
        record_of(state([0, 3, 1, 4, 2]), moves, NOW)


def over(record: GameRecord) -> RoomState:
    """Return what a watcher sees at the end of a recorded game."""
    position, result = record.position, record.result
    out = {mark for _, mark in record.passed}
    clock = record.clock
    return replace(
        state(rules=record.rules),
        board=position.board,
        ply=position.ply,
        rules=RulesState.of(record.rules),
        seats={mark: replace(seat("p-ana", "ana"), out=mark in out) for mark in record.rules.marks},
        result=None if result is None else Result(result.winner, result.reason),
        time_control=None
        if clock is None
        else ClockTerms(move_ms=clock.move_ms)
        if isinstance(clock, MoveClock)
        else ClockTerms(initial_ms=clock.initial_ms, increment_ms=clock.increment_ms),
    )


def test_who_was_passed_over_is_so_from_when_it_showed() -> None:
    record = GameRecord(rules=THREE, moves=(0, 6, 24, 1), passed=((4, "A"),), result=GameResult("resigned", winner="O"))
    assert record_of(over(record), record.moves, NOW).passed == ((4, "A"),)
    longer = GameRecord(rules=THREE, moves=(0, 6, 24, 1, 7, 2), passed=((4, "A"),))
    assert record_of(over(longer), longer.moves, NOW).passed == ((5, "A"),)


@given(game_records())
def test_every_recorded_game_can_be_saved_from_what_a_watcher_sees(record: GameRecord) -> None:
    saved = record_of(over(record), record.moves, NOW)
    assert (saved.moves, saved.result, saved.clock) == (record.moves, record.result, record.clock)
    assert {mark for _, mark in saved.passed} == {mark for _, mark in record.passed}
    assert saved.position.board == record.position.board
    assert parse_record(format_record(saved)) == saved


@pytest.mark.parametrize(
    ("room", "game", "name"),
    [
        ("K7M4PQ", 3, "tictactoe-K7M4PQ-3.txt"),
        ("K7M4PQ", None, "tictactoe-K7M4PQ.txt"),
        (None, 3, "tictactoe-game-3.txt"),
        (None, None, "tictactoe-game.txt"),
        ("../../home", 1, "tictactoe-game-1.txt"),
        ("/etc/passwd", None, "tictactoe-game.txt"),
        ("~root", None, "tictactoe-game.txt"),
    ],
)
def test_a_record_s_own_name_never_leads_out_of_the_folder(room: str | None, game: int | None, name: str) -> None:
    assert name_for(GameRecord(room=room, game=game)) == name
