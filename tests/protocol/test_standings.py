"""The table and its tie-breaks: against published cross-tables, and whatever the order of the results."""

from __future__ import annotations

import random
import re
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.cross_tables import ROUND_ROBINS, SIX_IN_A_SWISS, CrossTable
from tictactoe_protocol.standings import ROUND_ROBIN, SWISS, Game, Results, Standing, Tie, standings

EVERY = (*ROUND_ROBINS, SIX_IN_A_SWISS)


def ids(table: CrossTable) -> str:
    return table.title


def breaks_of(table: CrossTable) -> tuple[str, ...]:
    return SWISS if table is SIX_IN_A_SWISS else ROUND_ROBIN


@pytest.mark.parametrize("table", EVERY, ids=ids)
def test_a_published_table_has_the_points_that_its_results_make(table: CrossTable) -> None:
    points = {row.player: row.points for row in standings(table.names, table.games, breaks_of(table))}
    assert points == {name: points for name, _, points in table.rows}
    for name, results, _ in table.rows:
        opposite = {"1": "0", "0": "1"}
        mirrored = [table.results(other)[table.names.index(name)] for other in table.names]
        assert results.split() == ["".join(opposite.get(one, one) for one in cell) for cell in mirrored]


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
def test_sonneborn_berger_is_what_was_published(table: CrossTable) -> None:
    results = Results(table.names, table.games)
    assert {name: results.sonneborn_berger(name).value for name in table.values} == table.values


def test_buchholz_is_what_was_published_with_the_least_cut_from_it() -> None:
    results = Results(SIX_IN_A_SWISS.names, SIX_IN_A_SWISS.games)
    for name, value in SIX_IN_A_SWISS.values.items():
        tie = results.buchholz_cut_1(name)
        kept, cut = tie.sum.rstrip(")").split(" (")
        assert tie.value == value_of(kept)
        assert tie.value + value_of(cut) == value


def value_of(figures: str) -> Fraction:
    """Return what a sum in figures comes to."""
    found = re.fullmatch(r"(.*?)\+?½\((.*)\)", figures)
    if found is not None:
        return value_of(found[1]) + value_of(found[2]) / 2
    parts = (part for part in figures.split("+") if part)
    return Fraction(sum(Fraction(part.replace("½", "") or 0) + Fraction("½" in part, 2) for part in parts))


@st.composite
def results(draw: st.DrawFn) -> tuple[list[str], list[Game]]:
    """Draw games of up to seven players, some of them not played."""
    players = [f"p{number}" for number in range(draw(st.integers(1, 7)))]
    pairs = [(one, other) for one in players for other in players if one < other]
    games = []
    for one, other in draw(st.lists(st.sampled_from(pairs), max_size=25)) if pairs else ():
        first, second = draw(st.sampled_from([(2, 0), (0, 2), (1, 1), (0, 0)]))
        games.append(Game(one, other, first, second, draw(st.booleans())))
    games += [
        Game(player, None, 2, 0, is_played=False) for player in draw(st.lists(st.sampled_from(players), max_size=3))
    ]
    return players, games


@given(results(), st.randoms(use_true_random=False), st.sampled_from([ROUND_ROBIN, SWISS]))
def test_a_table_is_the_same_whatever_the_order_of_the_results(
    drawn: tuple[list[str], list[Game]], shuffled: random.Random, breaks: tuple[str, ...]
) -> None:
    players, games = drawn
    turned = [
        Game(game.second, game.first, game.second_halves, game.first_halves, game.is_played)
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
def test_places_follow_from_what_is_shown(drawn: tuple[list[str], list[Game]], breaks: tuple[str, ...]) -> None:
    table = standings(*drawn, breaks)

    def key(row: Standing) -> tuple[bool, float, list[float]]:
        return not row.played, -row.points, [-tie.value for tie in row.tie]

    assert [row.place for row in table] == sorted(row.place for row in table)
    assert table[0].place == 1
    for index, (one, other) in enumerate(pairwise(table), 1):
        assert (one.place == other.place) == (key(one) == key(other))
        assert key(one) <= key(other)
        assert other.place in (one.place, index + 1)


def test_who_never_played_stands_behind_who_did() -> None:
    table = standings(["free", "ana", "bo"], [Game("free", None, 2, 0, is_played=False), Game("ana", "bo", 2, 0)])
    assert [(row.place, row.player, row.points) for row in table] == [(1, "ana", 1), (2, "bo", 0), (3, "free", 1)]


def test_direct_encounter_decides_only_where_all_have_met() -> None:
    games = [Game("a", "b", 0, 2), Game("a", "x", 2, 0), Game("b", "y", 0, 2)]
    table = standings("abxy", games)
    assert [(row.place, row.player) for row in table] == [(1, "b"), (1, "y"), (3, "a"), (4, "x")]
    assert {tie.name for row in table for tie in row.tie} == {"wins", "sonneborn_berger"}
    table = standings("abx", games[:2])
    assert [(row.player, [tie.name for tie in row.tie]) for row in table] == [
        ("b", ["direct"]),
        ("a", ["direct"]),
        ("x", []),
    ]


def test_a_bye_is_what_buchholz_cuts_first() -> None:
    games = [Game("a", "b", 2, 0), Game("a", "c", 2, 0), Game("b", "c", 2, 0), Game("c", None, 2, 0, is_played=False)]
    found = Results(["a", "b", "c"], games)
    assert found.buchholz_cut_1("c") == Tie("buchholz_cut_1", 3, "2+1 (0)")
    assert found.buchholz_cut_1("b") == Tie("buchholz_cut_1", 3, "2+1 (0)")


def test_no_games_make_a_table_of_all_in_the_first_place() -> None:
    assert [(row.place, row.points) for row in standings(["a", "b"], [], SWISS)] == [(1, 0), (1, 0)]
    assert standings([], []) == ()
