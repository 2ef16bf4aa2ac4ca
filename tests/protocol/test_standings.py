"""The table and its tie-breaks, compared with published cross-tables and for results in any order."""

import random
import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.cross_tables import (
    ROUND_ROBINS,
    SIX_IN_A_SWISS,
    SIX_WITH_A_FORFEIT,
    SIXTEEN_IN_A_SWISS,
    CrossTable,
    read_rounds,
)
from tictactoe_protocol.standings import ROUND_ROBIN, SWISS, Game, Results, Standing, SwissResults, Tie, standings

EVERY = (*ROUND_ROBINS, SIX_IN_A_SWISS)


def ids(table: CrossTable) -> str:
    return table.title


def breaks_of(table: CrossTable) -> tuple[str, ...]:
    return SWISS if table is SIX_IN_A_SWISS else ROUND_ROBIN


@pytest.mark.parametrize("table", EVERY, ids=ids)
def test_a_published_table_has_the_points_that_its_results_make(table: CrossTable) -> None:
    points = {row.player: row.points for row in standings(table.names, table.games, breaks_of(table))}
    assert points == {name: points for name, _, points in table.rows}


@pytest.mark.parametrize("table", EVERY, ids=ids)
def test_a_table_is_in_the_order_that_was_published(table: CrossTable) -> None:
    rows = standings(table.names, table.games, breaks_of(table))
    places = {row.player: row.place for row in rows}
    for names in table.order:
        assert sorted(names, key=places.__getitem__) == list(names)
        assert len({places[name] for name in names}) == len(names)
    for names in table.shared:
        assert len({places[name] for name in names}) == 1
    points = [row.points for row in rows]
    assert points == sorted(points, reverse=True)


@pytest.mark.parametrize("table", [table for table in ROUND_ROBINS if table.values], ids=ids)
def test_sonneborn_berger_matches_published_tables(table: CrossTable) -> None:
    results = Results(table.names, table.games)
    assert {name: results.sonneborn_berger(name).value for name in table.values} == table.values


def test_the_exercise_of_a_swiss_has_the_tie_breaks_that_its_author_found() -> None:
    rounds, *values = zip(*SIXTEEN_IN_A_SWISS, strict=True)
    found = SwissResults([str(number) for number in range(1, 17)], read_rounds(rounds))
    breaks = found.buchholz_cut_1, found.sonneborn_berger, found.wins
    assert [tuple(find(player).value for player in found.players) for find in breaks] == values


def test_the_exercise_of_a_round_robin_counts_a_forfeit_as_its_result() -> None:
    rounds, values = zip(*SIX_WITH_A_FORFEIT, strict=True)
    found = Results("123456", read_rounds(rounds))
    assert tuple(found.sonneborn_berger(player).value for player in found.players) == values


def value_of(figures: str) -> Fraction:
    found = re.fullmatch(r"(.*?)\+?½\((.*)\)", figures)
    if found is not None:
        return value_of(found[1]) + value_of(found[2]) / 2
    parts = (part for part in figures.split("+") if part)
    return Fraction(sum(Fraction(part.replace("½", "") or 0) + Fraction("½" in part, 2) for part in parts))


@st.composite
def results(draw: st.DrawFn) -> tuple[list[str], list[Game]]:
    """Draw games of up to seven players, each in its own round, some unplayed."""
    players = [f"p{number}" for number in range(draw(st.integers(1, 7)))]
    pairs = [(one, other) for one in players for other in players if one < other]
    games: list[Game] = []
    alone = [(player, None) for player in players]
    for one, other in draw(st.lists(st.sampled_from([*pairs, *alone]), max_size=28)):
        first, second = draw(st.sampled_from([(2, 0), (0, 2), (1, 1), (0, 0)]))
        is_played = other is not None and draw(st.booleans())
        games.append(Game(one, other, first, second, is_played, len(games)))
    return players, games


@given(results(), st.randoms(use_true_random=False), st.sampled_from([ROUND_ROBIN, SWISS]))
def test_a_table_ignores_the_order_of_the_results(
    drawn: tuple[list[str], list[Game]], shuffled: random.Random, breaks: tuple[str, ...]
) -> None:
    players, games = drawn
    turned = [
        Game(game.second, game.first, game.second_halves, game.first_halves, game.is_played, game.round)
        if game.second is not None and shuffled.random() < 0.5
        else game
        for game in games
    ]
    shuffled.shuffle(turned)
    assert standings(players, turned, breaks) == standings(players, games, breaks)


@given(results(), st.sampled_from([ROUND_ROBIN, SWISS]))
def test_each_tie_break_is_the_sum_that_it_shows(drawn: tuple[list[str], list[Game]], breaks: tuple[str, ...]) -> None:
    table = standings(*drawn, breaks)
    assert sorted(row.player for row in table) == drawn[0]
    for row in table:
        for tie in row.tie:
            assert value_of(tie.sum.split(" (")[0]) == tie.value, tie


@given(results(), st.sampled_from([ROUND_ROBIN, SWISS]))
def test_places_follow_from_the_displayed_values(drawn: tuple[list[str], list[Game]], breaks: tuple[str, ...]) -> None:
    table = standings(*drawn, breaks)

    def key(row: Standing) -> tuple[float, bool, list[float]]:
        values = {tie.name: tie.value for tie in row.tie}
        return -row.points, not row.points and not row.played, [-values.get(name, 0) for name in breaks]

    assert [row.place for row in table] == sorted(row.place for row in table)
    assert table[0].place == 1
    for index, (one, other) in enumerate(pairwise(table), 1):
        assert (one.place == other.place) == (key(one) == key(other))
        assert key(one) <= key(other)
        assert other.place in (one.place, index + 1)


@pytest.mark.parametrize("breaks", [ROUND_ROBIN, SWISS])
def test_unplayed_points_count_and_players_without_a_game_come_last(breaks: tuple[str, ...]) -> None:
    games = [Game("free", None, 2, 0, is_played=False), Game("ana", "bo", 2, 0), Game("cy", "di", 0, 0, is_played=None)]
    table = standings(["di", "cy", "free", "ana", "bo"], games, breaks)
    places = [(row.place, row.player, row.points, row.played) for row in table]
    assert {row[1:] for row in places[:2]} == {("ana", 1, 1), ("free", 1, 0)}
    assert places[2:] == [(3, "bo", 0, 1), (4, "di", 0, 0), (4, "cy", 0, 0)]


def test_direct_encounter_decides_only_if_all_have_met() -> None:
    games = [Game("a", "b", 0, 2), Game("a", "x", 2, 0), Game("b", "y", 0, 2)]
    table = standings("abxy", games)
    assert [(row.place, row.player) for row in table] == [(1, "b"), (1, "y"), (3, "a"), (4, "x")]
    assert {tie.name for row in table for tie in row.tie} == {"wins", "sonneborn_berger"}


@pytest.mark.parametrize(
    ("last", "ranked"),
    [
        ((), {"a": 2.0}),  # a cannot be overtaken, and b has not met c
        ([Game("b", "c", 2, 0)], {"a": 2.0, "b": 1.0, "c": 0.0}),
        ([Game("b", "c", 2, 0, is_played=False)], {"a": 2.0}),
        ([Game("b", "c", 0, 0, is_played=None)], {"a": 2.0}),
    ],
)
def test_a_swiss_uses_direct_encounter_if_it_is_final(last: Sequence[Game], ranked: dict[str, float]) -> None:
    games = [Game("a", "b", 2, 0), Game("a", "c", 2, 0), *last]
    ties = {player: SwissResults("abc", games).direct(player, "abc") for player in "abc"}
    assert {player: tie.value for player, tie in ties.items() if tie} == ranked
    level = [Game("a", "b", 2, 0), Game("a", "c", 1, 1)]  # c may still have as many as a
    assert not any(SwissResults("abc", level).direct(player, "abc") for player in "abc")


def test_while_ones_game_is_on_buchholz_cuts_nothing_and_no_round_before_it_counts_as_drawn() -> None:
    games = [
        *(Game("a", "b", 2, 0, round=1), Game("c", None, 0, 0, is_played=False, round=1)),
        *(Game("a", "c", 2, 0, round=2), Game("b", None, 0, 0, is_played=False, round=2)),
    ]
    found = SwissResults("abc", games)
    assert found.buchholz_cut_1("a") == Tie("buchholz_cut_1", 0.5, "½ (0)")  # b, who paused, for half a point
    assert found.buchholz_cut_1("b") == Tie("buchholz_cut_1", 2, "2 (0)")
    found = SwissResults("abc", [*games, Game("b", "c", 0, 0, is_played=None, round=3)])
    assert found.buchholz_cut_1("a") == Tie("buchholz_cut_1", 0, "0 (0)")
    assert found.buchholz_cut_1("b") == Tie("buchholz_cut_1", 2, "2+0 (0)")
