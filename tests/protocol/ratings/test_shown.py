from tictactoe_protocol.ratings.glicko import Number
from tictactoe_protocol.ratings.ladder import Ladder, Player
from tictactoe_protocol.ratings.shown import list_rows, rows_around

DAY = 86_400_000


def known(rating: float = 1500, deviation: float = 60, opponents: str = "abcd", day: int = 100) -> Player:
    return Player(Number(rating, deviation), day * DAY, 3, 1, 1, tuple(opponents), (1490.0,))


def test_the_leaderboard_lists_recent_players_and_provisional_ones_without_a_place_below() -> None:
    players = {
        "unsure": known(1800, deviation=111),
        "of one": known(1900, opponents="a"),
        "away": known(day=9),
        "unsure by now": known(deviation=109.9, day=80),
        "good": known(1600),
        "best": known(1700, deviation=108),
        "late": known(1500, day=11, opponents="ab"),
    }
    rows = list_rows(Ladder(players), 100 * DAY)
    assert [(row.place, row.player) for row in rows] == [
        *((1, "best"), (2, "good"), (3, "late")),
        *((None, "of one"), (None, "unsure"), (None, "unsure by now")),
    ]
    assert (rows[1].rating, rows[1].deviation, rows[1].games, rows[1].trend) == (1600, 60, 5, 110)
    assert rows[2].deviation > 60


def test_the_rows_around_a_player_are_the_five_above_and_below() -> None:
    ladder = Ladder({f"{number:02}": known(2000 - number) for number in range(20)})
    rows = list_rows(ladder, 100 * DAY)
    assert [row.place for row in rows_around(rows, "09")] == [*range(5, 16)]
    assert [row.place for row in rows_around(rows, "01")] == [*range(1, 8)]
    assert [row.place for row in rows_around(rows, "19")] == [*range(15, 21)]
    assert [*rows_around(rows, "nobody")] == []
