"""The judge of the long runs can say no: each kind of violation, told to it, is found."""

from __future__ import annotations

from typing import Any

import pytest

from tests.peer import Message
from tools.soak.ledger import Ledger

ROOM = "K7M4PQ"


def state(seq: int, board: str = ".........", **more: Any) -> Message:
    return {"room": ROOM, "seq": seq, "game": 1, "board": board, "offers": {"rematch": []}, "watchers": 0, **more}


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def test_a_run_without_fault_has_no_violations(ledger: Ledger) -> None:
    for seq, board in ((1, "........."), (2, "X........"), (2, "X........"), (4, "XO.......")):
        ledger.note_state("ana", state(seq, board))
    ledger.note_move(ROOM, 1, 0, 0)
    ledger.note_rematch(ROOM, 1)
    ledger.compare_games({(ROOM, 1): [(0, 1)]})
    ledger.compare_rematches({ROOM: state(9) | {"game": 2}})
    ledger.compare_ends(ROOM, {"ana": state(9), "bo": state(9, watchers=3)})
    assert ledger.violations == []
    assert (ledger.acknowledged, ledger.states) == (2, 4)


def test_a_seq_that_goes_back_is_a_violation_for_the_client_that_saw_it(ledger: Ledger) -> None:
    ledger.note_state("ana", state(5))
    ledger.note_state("bo", state(4))
    assert ledger.seq_violations == []
    ledger.note_state("ana", state(4))
    assert len(ledger.seq_violations) == 1


def test_one_seq_with_two_boards_is_a_contradiction(ledger: Ledger) -> None:
    ledger.note_state("ana", state(5, "X........"))
    ledger.note_state("bo", state(5, ".X......."))
    assert len(ledger.contradictions) == 1


@pytest.mark.parametrize("games", [{}, {(ROOM, 1): [(0,)]}, {(ROOM, 1): [(0, 2)]}, {(ROOM, 2): [(0, 1)]}])
def test_an_acknowledged_move_that_is_nowhere_is_lost(
    ledger: Ledger, games: dict[tuple[str, int], list[tuple[int, ...]]]
) -> None:
    ledger.note_move(ROOM, 1, 1, 1)
    ledger.compare_games(games)
    assert len(ledger.lost) == 1


def test_an_acknowledged_rematch_without_a_trace_is_lost(ledger: Ledger) -> None:
    ledger.note_rematch(ROOM, 1)
    ledger.compare_rematches({ROOM: state(9)})
    assert len(ledger.lost) == 1


def test_a_game_that_is_there_twice_is_doubled(ledger: Ledger) -> None:
    ledger.compare_games({(ROOM, 1): [(0, 1), (0, 1)]})
    assert len(ledger.doubled) == 1


def test_clients_that_end_with_different_states_contradict_each_other(ledger: Ledger) -> None:
    ledger.compare_ends(ROOM, {"ana": state(9, "X........"), "bo": state(9, "O........"), "cy": state(9, "X........")})
    assert len(ledger.contradictions) == 1


def test_a_refusal_that_nothing_explains_is_a_violation(ledger: Ledger) -> None:
    ledger.note_refusal("ana", {"type": "move"}, {"code": "internal"})
    assert len(ledger.violations) == 1
