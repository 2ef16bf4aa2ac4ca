from __future__ import annotations

from datetime import UTC, timedelta, timezone

from tests.client.states import ANA, BO
from tictactoe_client.text.lobby import list_games
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol.pushes import PastGame, PastPlayer, Result, RulesState

DAY = 1_924_970_700_000
PLAYERS = {"X": PastPlayer(ANA, "ana"), "O": PastPlayer(BO, "bo\x1b[2J")}


def game(id: str, result: Result, rules: Rules = PRESETS["classic"], *, at: int = DAY, moves: int = 5) -> PastGame:
    return PastGame(id, "K7M4PQ", 1, at, RulesState.of(rules), PLAYERS, result, moves)


GAMES = [
    game("12", Result("X", "line", (0, 1, 2))),
    game("9", Result(None, "agreed"), Rules(4, 4), moves=1),
    game("8", Result("O", "timeout")),
]


def test_games_are_one_line_each_with_the_viewer_s_own_result() -> None:
    assert list_games(GAMES, ANA, UTC) == [
        "id 12  2030-12-31 18:05  classic             ana (X) v bo[2J (O)  won by a line       5 moves",
        "id 9   2030-12-31 18:05  4 by 4, 3 in a row  ana (X) v bo[2J (O)  drawn by agreement  1 move",
        "id 8   2030-12-31 18:05  classic             ana (X) v bo[2J (O)  lost on time        5 moves",
    ]


def test_where_that_is_too_wide_the_players_stand_on_a_line_of_their_own() -> None:
    assert list_games(GAMES, ANA, UTC, width=100) == list_games(GAMES, ANA, UTC)
    assert list_games(GAMES[:1], ANA, UTC, width=60) == [
        "id 12  2030-12-31 18:05  classic  won by a line  5 moves",
        "       ana (X) v bo[2J (O)",
    ]


def test_the_date_is_that_of_the_viewer_s_zone() -> None:
    (line,) = list_games(GAMES[:1], ANA, timezone(timedelta(hours=9)))
    assert "2031-01-01 03:05" in line


def test_no_game_is_no_line_and_no_date_breaks_the_list() -> None:
    assert list_games([], ANA) == []
    (line,) = list_games([game("1", Result("X", "line"), at=10**18)], BO, UTC)
    assert "date unknown" in line
    assert "lost by a line" in line
