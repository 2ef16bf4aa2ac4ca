"""The ledger of the soak runs finds every kind of violation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.peer import Message
from tests.rows import each
from tools.soak.ledger import Ledger

ROOM = "K7M4PQ"
Games = dict[tuple[str, int], list[tuple[int, ...]]]
MISSING: list[Games] = [{}, {(ROOM, 1): [(0,)]}, {(ROOM, 1): [(0, 2)]}, {(ROOM, 2): [(0, 1)]}]


def state(seq: int, board: str = ".........", **more: Any) -> Message:
    return {"room": ROOM, "seq": seq, "game": 1, "board": board, "offers": {"rematch": []}, "watchers": 0, **more}


def test_a_run_without_fault_has_no_violations() -> None:
    ledger = Ledger()
    for seq, board in ((1, "........."), (2, "X........"), (2, "X........"), (4, "XO.......")):
        ledger.note_state("ana", state(seq, board))
    ledger.note_state("bo", state(2, "X........"))
    ledger.note_move(ROOM, 1, 0, 0)
    ledger.note_move(ROOM, 1, 1, 1)
    ledger.note_rematch(ROOM, 1)
    ledger.compare_games({(ROOM, 1): [(0, 1)]})
    ledger.compare_rematches({ROOM: state(9) | {"game": 2}})
    ledger.compare_ends(ROOM, {"ana": state(9), "bo": state(9, watchers=3)})
    assert ledger.violations == []
    assert (ledger.acknowledged, ledger.states) == (3, 5)


def lose_move(games: Games) -> Callable[[Ledger], None]:
    def act(ledger: Ledger) -> None:
        ledger.note_move(ROOM, 1, 1, 1)
        ledger.compare_games(games)

    return act


def go_back(ledger: Ledger) -> None:
    ledger.note_state("ana", state(5))
    ledger.note_state("ana", state(4))


def show_two_boards(ledger: Ledger) -> None:
    ledger.note_state("ana", state(5, "X........"))
    ledger.note_state("bo", state(5, ".X......."))


def lose_rematch(ledger: Ledger) -> None:
    ledger.note_rematch(ROOM, 1)
    ledger.compare_rematches({ROOM: state(9)})


def end_differently(ledger: Ledger) -> None:
    ledger.compare_ends(ROOM, {"ana": state(9, "X........"), "bo": state(9, "O........"), "cy": state(9, "X........")})


@each(
    ("act", "kind"),
    [
        (go_back, "seq_violations"),
        (show_two_boards, "contradictions"),
        (end_differently, "contradictions"),
        *((lose_move(games), "lost") for games in MISSING),
        (lose_rematch, "lost"),
        (lambda ledger: ledger.compare_games({(ROOM, 1): [(0, 1), (0, 1)]}), "doubled"),
        (lambda ledger: ledger.note_refusal("ana", {"type": "move"}, {"code": "internal"}), "violations"),
    ],
)
def test_a_violation_is_found(act: Callable[[Ledger], None], kind: str) -> None:
    ledger = Ledger()
    act(ledger)
    assert len(getattr(ledger, kind)) == len(ledger.violations) == 1
