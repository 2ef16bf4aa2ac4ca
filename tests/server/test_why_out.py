"""Why somebody plays no more: said by the state in which that is so, in none before and none after."""

from __future__ import annotations

import pytest

from tests.server.tables import ANA, BO, CODE, CY, THREE, Table
from tictactoe_protocol.requests import Claim, Draw, Leave, Move, Rematch, Resign
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.rooms import Command, Dropped

LEAVE, RESIGN, REMATCH, WIN = (*(Leave(room=CODE), Resign(room=CODE), Rematch(room=CODE)), Claim(room=CODE, as_="win"))


def of_three(clock: ClockFields | None = None) -> Table:
    table = Table(ANA, BO, CY, rules=THREE, clock=clock)
    table.play(0, 1, 2)
    return table


def out(mark: str, why: str) -> list[dict[str, str]]:
    return [{"type": "out", "mark": mark, "why": why}]


@pytest.mark.parametrize(("command", "why"), [(RESIGN, "resigned"), (LEAVE, "left")])
def test_one_who_resigns_and_one_who_leaves_are_told_apart(command: Command, why: str) -> None:
    table = of_three()
    assert "happened" not in table.state
    table.do(BO, command)
    assert table.state["happened"] == out("O", why)
    table.do(ANA, command)
    assert table.state["happened"] == out("X", why)
    assert table.state["result"] == {"winner": "A", "reason": "resigned", "line": []}


def test_one_whose_time_is_over_is_late() -> None:
    table = of_three(ClockFields(move_ms=1_000))
    table.wait(1_000)
    table.expire()
    assert table.state["happened"] == out("X", "late")


def test_all_who_stayed_away_are_said_at_once() -> None:
    table = of_three()
    table.do(BO, Dropped())
    table.do(CY, Dropped())
    table.wait(60_000)
    table.do(ANA, WIN)
    assert table.state["happened"] == out("O", "away") + out("A", "away")


@pytest.mark.parametrize("next", ["move", "command", "rematch"])
def test_the_next_change_says_it_no_more(next: str) -> None:
    table = of_three()
    table.do(BO, RESIGN)
    if next == "move":
        table.do(ANA, Move(room=CODE, cell=4, ply=3))
    elif next == "command":
        table.do(ANA, Draw(room=CODE, action="offer"))
    else:
        table.do(CY, RESIGN)
        for player in (ANA, BO, CY):
            table.do(player, REMATCH)
    assert "happened" not in table.state
