from __future__ import annotations

from datetime import UTC

import pytest

from tests.client.states import ANA, BO, CY
from tictactoe_client.tui.past_list import PAGE_GAMES, PastList
from tictactoe_client.tui.picture import measure
from tictactoe_client.tui.room.rows import lay_out_games
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol.pushes import PastGame, PastPlayer, Result, RulesState

AT = 1_924_970_700_000


def game(id: int, result: Result, rules: Rules = PRESETS["classic"], other: str = "bo", moves: int = 5) -> PastGame:
    players = {"X": PastPlayer(ANA, "ana"), "O": PastPlayer(BO, other)}
    if len(rules.marks) == 3:
        players["A"] = PastPlayer(CY, "cy")
    return PastGame(str(id), "K7M4PQ", 1, AT, RulesState.of(rules), players, result, moves)


GAMES = [
    game(3, Result("X", "line", (0, 1, 2))),
    game(2, Result(None, "agreed"), PRESETS["three-players"], "a\x1b[2J漢字 with a long name", 12),
    game(1, Result("O", "resigned"), Rules(8, 8, 5, misere=True), moves=0),
]


def test_each_game_is_a_row_under_what_its_columns_mean() -> None:
    title, rows = lay_out_games(GAMES, ANA, 120, UTC)
    assert title.split() == ["#", "ended", "game", "against", "result", "moves"]
    assert rows[0].startswith("1.  2030-12-31 18:05  classic  ")
    assert rows[0].endswith("won by a line            5")
    assert "a[2J漢字 with a long name, cy  drawn by agreement      12" in rows[1]
    assert "8x8, 5 in a row, misère  bo  " in rows[2]
    assert rows[2].endswith("lost by resignation      0")
    assert {measure(line) for line in (title, *rows)} == {measure(title)}


@pytest.mark.parametrize(
    ("width", "row"),
    [
        (90, "1.  2030-12-31  classic                  bo                  won by a line            5"),
        (70, "1.  2030-12-31  classic                  bo        won       5"),
        (44, "1.  2030-12-31  classic   bo        won"),
        (30, "1.  classic   bo        won"),
        (12, "1.  classic…"),
    ],
)
def test_what_tells_least_goes_first_where_there_is_little_room(width: int, row: str) -> None:
    title, rows = lay_out_games(GAMES, ANA, width, UTC)
    assert [word for word in rows[0].split(" ") if word] == [word for word in row.split(" ") if word]
    assert all(measure(line) <= width for line in (title, *rows))


def test_no_games_are_no_rows() -> None:
    assert lay_out_games([], ANA, 80)[1] == []


def test_a_list_asks_page_by_page_until_there_are_no_more() -> None:
    known = PastList()
    assert known.next_page(anew=False) == (PAGE_GAMES, None)
    known.take(tuple(game(100 - number, Result("X", "line")) for number in range(PAGE_GAMES)), PAGE_GAMES, anew=False)
    assert (known.is_complete, known.wants_more) == (False, False)
    known.move(PAGE_GAMES - 1)
    assert known.wants_more
    assert known.next_page(anew=False) == (PAGE_GAMES, str(101 - PAGE_GAMES))
    known.take((game(1, Result("X", "line")),), PAGE_GAMES, anew=False)
    assert (known.is_complete, known.wants_more, len(known.games)) == (True, False, PAGE_GAMES + 1)


def test_a_list_with_a_limit_asks_for_no_more() -> None:
    known = PastList(limit=2)
    assert known.next_page(anew=True) == (2, None)
    known.take(tuple(GAMES[:2]), 2, anew=True)
    assert known.is_complete


def test_a_list_that_is_read_anew_keeps_the_choice_or_begins_at_the_top() -> None:
    known = PastList()
    known.take(tuple(GAMES[1:]), PAGE_GAMES, anew=True)
    known.move(1)
    known.take(tuple(GAMES), PAGE_GAMES, anew=True)
    assert known.game is GAMES[2]
    known.take(tuple(GAMES[:2]), PAGE_GAMES, anew=True)
    assert known.game is GAMES[0]
    known.take((), PAGE_GAMES, anew=True)
    assert known.game is None
