"""All the sentences of how a game ended, as each who sees it is told; other tests look only whether they arrive."""

from __future__ import annotations

import pytest

from tests.client.states import ANA, BO, CY, seat, state
from tictactoe_engine import PRESETS
from tictactoe_protocol.pushes import Result, RoomState
from tictactoe_protocol.telling import describe_result

WATCHER = "p-watcher"
THREE = PRESETS["three-players"]
WON = (0, 3, 1, 4, 2)
BO_LEFT = {"X": seat(ANA, "ana"), "O": seat(BO, "bo", left=True)}

ENDINGS: dict[str, tuple[RoomState, str, dict[str, str]]] = {
    "on": (state((0,)), "", {ANA: "", WATCHER: ""}),
    "line": (state(WON), "X has three in row 1. ", {ANA: "You win.", BO: "You lose.", WATCHER: "ana wins."}),
    "two lines": (
        state((0, 3, 1, 7, 5, 4, 8, 6, 2)),
        "X has three in row 1. X has three in column C. ",
        {ANA: "You win.", BO: "You lose.", WATCHER: "ana wins."},
    ),
    "misere": (
        state(WON, PRESETS["misere"]),
        "X has three in row 1. ",
        {ANA: "You lose.", BO: "You win.", WATCHER: "bo wins."},
    ),
    "line among three": (
        state((0, 5, 10, 1, 6, 11, 2, 7, 12, 3), THREE),
        "X has four in row 1. ",
        {ANA: "You win.", BO: "ana wins.", WATCHER: "ana wins."},
    ),
    "full": (
        state((0, 1, 2, 4, 3, 5, 7, 6, 8)),
        "The board is full. ",
        {ANA: "It's a draw.", WATCHER: "It's a draw."},
    ),
    "resigned": (
        state(result=Result("X", "resigned")),
        "",
        {ANA: "bo resigns. You win.", BO: "You resign. You lose.", WATCHER: "bo resigns. ana wins."},
    ),
    "left": (
        state(result=Result("X", "resigned"), seats=BO_LEFT),
        "",
        {ANA: "bo left the game. You win.", WATCHER: "bo left the game. ana wins."},
    ),
    "the last of three": (
        state((0,), THREE, result=Result("X", "resigned")),
        "Nobody else is left in the game. ",
        {ANA: "You win.", CY: "ana wins.", WATCHER: "ana wins."},
    ),
    "time": (
        state(result=Result("X", "timeout")),
        "",
        {
            ANA: "bo ran out of time. You win.",
            BO: "You ran out of time. You lose.",
            WATCHER: "bo ran out of time. ana wins.",
        },
    ),
    "claimed": (
        state(result=Result("X", "claimed")),
        "The game was claimed, as the other seat stayed empty. ",
        {ANA: "You win.", BO: "You lose.", WATCHER: "ana wins."},
    ),
    "claimed as a draw": (
        state(result=Result(None, "claimed")),
        "The game was claimed, as the other seat stayed empty. ",
        {ANA: "It's a draw.", WATCHER: "It's a draw."},
    ),
    "agreed": (
        state(result=Result(None, "agreed")),
        "Both agreed. ",
        {ANA: "It's a draw.", WATCHER: "It's a draw."},
    ),
    "aborted": (
        state(result=Result(None, "aborted")),
        "The game was aborted, as not everybody had moved yet. ",
        {ANA: "It doesn't count.", WATCHER: "It doesn't count."},
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_ending_is_told_to_each_who_sees_it(ending: str) -> None:
    over, why, verdicts = ENDINGS[ending]
    assert {viewer: describe_result(over, viewer) for viewer in verdicts} == {
        viewer: f"{why}{verdict}" for viewer, verdict in verdicts.items()
    }
