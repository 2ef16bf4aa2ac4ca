"""A state says why a player is out of the game, once."""

from __future__ import annotations

import pytest

from tests.server.tables import ANA, BO, CODE, CY, THREE, Step, Table
from tictactoe_protocol.requests import Claim, Draw, Leave, Move, Rematch, Resign
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.rooms import NOBODY, Command, Dropped, Expire, Player

LEAVE, RESIGN, REMATCH = Leave(room=CODE), Resign(room=CODE), Rematch(room=CODE)
DROPPED, EXPIRE, WIN = Dropped(), Expire(), Claim(room=CODE, as_="win")


def table_of_three() -> Table:
    table = Table(ANA, BO, CY, rules=THREE, clock=ClockFields(move_ms=60_000))
    table.play(0, 1, 2)
    return table


@pytest.mark.parametrize(
    ("before", "player", "command", "out"),
    [
        ([], BO, RESIGN, {"O": "resigned"}),
        ([], BO, LEAVE, {"O": "left"}),
        ([], NOBODY, EXPIRE, {"X": "late"}),
        ([(BO, DROPPED), (CY, DROPPED)], ANA, WIN, {"O": "away", "A": "away"}),
    ],
)
def test_a_state_says_why_players_are_out(
    before: list[Step], player: Player, command: Command, out: dict[str, str]
) -> None:
    table = table_of_three()
    table.do_all(*before)
    assert "happened" not in table.state
    table.wait(60_000)
    table.do(player, command)
    assert table.state["happened"] == [{"type": "out", "mark": mark, "why": why} for mark, why in out.items()]


@pytest.mark.parametrize(
    "changes",
    [
        [(ANA, Move(room=CODE, cell=4, ply=3))],
        [(ANA, Draw(room=CODE, action="offer"))],
        [(CY, RESIGN), (ANA, REMATCH), (BO, REMATCH), (CY, REMATCH)],
    ],
    ids=["move", "offer", "rematch"],
)
def test_later_states_do_not_repeat_why_a_player_is_out(changes: list[Step]) -> None:
    table = table_of_three()
    table.do(BO, RESIGN)
    table.do_all(*changes)
    assert "happened" not in table.state
