from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given

from tests.client.states import players, seat, state
from tests.engine.random_records import game_records
from tictactoe_client.saving import record_of
from tictactoe_engine import PRESETS, GameRecord, GameResult, InvalidRecord, format_record, parse_record
from tictactoe_protocol.pushes import Result, RoomState, RulesState

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
    shown = state(rules=record.rules)
    ended = None if result is None else Result(result.winner, result.reason)
    return RoomState(
        **{name: getattr(shown, name) for name in shown.__struct_fields__}
        | {"board": position.board, "ply": position.ply, "rules": RulesState.of(record.rules), "result": ended}
    )


def test_who_was_passed_over_shows_when_their_turn_came() -> None:
    record = GameRecord(
        rules=THREE, moves=(0, 6, 24, 1, 7), passed=((4, "A"),), result=GameResult("resigned", winner="O")
    )
    assert record_of(over(record), record.moves, NOW).passed == ((5, "A"),)
    longer = GameRecord(rules=THREE, moves=(0, 6, 24, 1, 7, 2), passed=((4, "A"),))
    assert record_of(over(longer), longer.moves, NOW).passed == ((5, "A"),)


@given(game_records())
def test_every_recorded_game_can_be_saved_from_what_a_watcher_sees(record: GameRecord) -> None:
    saved = record_of(over(record), record.moves, NOW)
    assert (saved.moves, saved.result) == (record.moves, record.result)
    assert saved.position.board == record.position.board
    assert parse_record(format_record(saved)) == saved
