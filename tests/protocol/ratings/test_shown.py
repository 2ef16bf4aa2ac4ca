from math import log
from random import Random
from statistics import median

from tests.rows import each
from tictactoe_protocol.ratings.glicko import Number
from tictactoe_protocol.ratings.ladder import Ladder, Player
from tictactoe_protocol.ratings.log import RatedGame
from tictactoe_protocol.ratings.shown import games_to_rank, list_rows, rows_around

DAY = 86_400_000


def known(rating: float = 1500, deviation: float = 60, opponents: str = "abcd", day: int = 100) -> Player:
    return Player(Number(rating, deviation), day * DAY, 3, 1, 1, tuple(opponents), (1490.0,))


def test_the_leaderboard_lists_certain_recent_players_with_four_opponents() -> None:
    out = {
        "unsure": known(deviation=91),
        "of two": known(opponents="abc"),
        "away": known(day=9),
        "unsure by now": known(deviation=89.9, day=80),
    }
    ladder = Ladder({"good": known(1600), "best": known(1700, deviation=88), "late": known(1500, day=11), **out})
    rows = list_rows(ladder, 100 * DAY)
    assert [(row.place, row.player) for row in rows] == [(1, "best"), (2, "good"), (3, "late")]
    assert (rows[1].rating, rows[1].deviation, rows[1].games, rows[1].trend) == (1600, 60, 5, 110)
    assert rows[2].deviation > 60


def test_the_rows_around_a_player_are_the_five_above_and_below() -> None:
    ladder = Ladder({f"{number:02}": known(2000 - number) for number in range(20)})
    rows = list_rows(ladder, 100 * DAY)
    assert [row.place for row in rows_around(rows, "09")] == [*range(5, 16)]
    assert [row.place for row in rows_around(rows, "01")] == [*range(1, 8)]
    assert [row.place for row in rows_around(rows, "19")] == [*range(15, 21)]
    assert [*rows_around(rows, "nobody")] == []


@each(
    ("player", "day", "told"),
    [
        (Player(), 0, (0, 10)),
        (known(deviation=200), 100, (5, 21)),
        (known(deviation=111), 100, (5, 6)),
        (known(deviation=110), 100, None),
        (known(deviation=110), 101, (5, 6)),
    ],
)
def test_a_rating_is_shown_once_it_is_certain(player: Player, day: int, told: tuple[int, int] | None) -> None:
    assert games_to_rank(player, day * DAY) == told


def test_the_number_of_games_to_a_rank_is_estimated_well_from_the_first_games() -> None:
    chance, ladder = Random(6), Ladder()
    strong = {f"player-{number}": chance.gauss(0, 200) for number in range(12)}
    told: dict[str, list[int]] = {id: [] for id in strong}
    shown: dict[str, int] = {}
    for number in range(4_000):
        players = first, second = tuple(chance.sample([*strong], 2))
        luck = {id: strong[id] + 173.7 * -log(chance.expovariate(1)) for id in players}
        score = float(luck[first] > luck[second])
        ladder.add(RatedGame(str(number), DAY + number * 60_000, "rules", (first, second), score))
        for id in players:
            if (rank := games_to_rank(ladder.players[id], ladder.players[id].at)) is not None:
                told[id].append(rank[1])
            else:
                shown.setdefault(id, ladder.players[id].games)
    assert len(shown) == 12
    for part in (0, 0.25, 0.5, 0.75):
        ratios = [told[id][1 + int(part * shown[id] * 0.9)] / games for id, games in shown.items()]
        assert 0.7 < median(ratios) < 1.4, f"after {part} of them"
