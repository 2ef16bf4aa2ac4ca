from itertools import combinations

import pytest

from tests.rows import each
from tests.server.events.authors import (
    begun,
    better_wins,
    first_wins,
    pairs_of,
    play_on,
    play_round,
    run,
    tick,
)
from tictactoe_protocol.berger import berger_round, berger_rounds
from tictactoe_protocol.events import EventLeave
from tictactoe_server.features.tournaments.commands import apply
from tictactoe_server.features.tournaments.event import Event, due_at
from tictactoe_server.features.tournaments.table import rows

# FIDE Handbook, C.05 General Regulations for Competitions, Annex 1: Details of Berger table
BERGER = {
    4: "1-4 2-3, 4-3 1-2, 2-4 3-1",
    6: "1-6 2-5 3-4, 6-4 5-3 1-2, 2-6 3-1 4-5, 6-5 1-4 2-3, 3-6 4-2 5-1",
    8: "1-8 2-7 3-6 4-5, 8-5 6-4 7-3 1-2, 2-8 3-1 4-7 5-6, 8-6 7-5 1-4 2-3, 3-8 4-2 5-1 6-7, 8-7 1-6 2-5 3-4,"
    " 4-8 5-3 6-2 7-1",
}


@pytest.mark.parametrize("players", BERGER)
def test_the_order_is_that_of_the_published_berger_tables(players: int) -> None:
    rounds = [berger_round(players, round) for round in range(1, players)]
    assert ", ".join(" ".join(f"{one}-{other}" for one, other in pairs) for pairs in rounds) == BERGER[players]


@each("players", range(2, 25))
def test_everybody_meets_everybody_once_and_marks_are_even(players: int) -> None:
    event = play_on(begun(players), first_wins)
    assert event.status == "over"
    assert event.round == berger_rounds(players)
    names = sorted(one.player for one in event.field)
    assert sorted(pairs_of(event)) == sorted(combinations(names, 2))
    for name in names:
        firsts = sum(one.mark_of(name) == "X" for one in event.pairings_of(name) if not one.is_bye)
        assert abs(2 * firsts - (players - 1)) <= 1


@each("players", range(2, 25))
def test_a_double_round_robin_swaps_marks_and_gives_none_thrice_in_a_row(players: int) -> None:
    event = play_on(begun(players, double=True), first_wins)
    games = [tuple(one.players.values()) for one in event.pairings if not one.is_bye]
    assert len(set(games)) == len(games) == players * (players - 1)
    for one in event.field:
        marks = "".join(pairing.mark_of(one.player) or "" for pairing in event.pairings_of(one.player))
        assert players % 2 or ("XXX" not in marks and "OOO" not in marks)


def test_the_numbers_are_drawn_by_lot_from_the_seed() -> None:
    orders = {tuple(one.player for one in begun(8, seed=seed).field) for seed in (1, 2, 2, 3)}
    assert len(orders) == 3


def left_after(rounds: int, player: str = "p1", *, double: bool = False) -> Event:
    """Return a round robin of six that a player leaves after this many rounds."""
    event = begun(6, double=double)
    for _ in range(rounds):
        event = play_round(event, better_wins, 0)
        event = tick(event, due_at(event) or 0)
    return play_on(apply(event, player, EventLeave(event=""), 0), better_wins)


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_leaving_in_the_first_half_voids_the_players_games(rounds: int) -> None:
    event = left_after(rounds)
    assert event.voided == {"p1"}
    table = {row.player: row for row in rows(event)}
    assert [table[f"p{number}"].points for number in range(1, 7)] == [0, 4, 3, 2, 1, 0]
    assert (table["p1"].place, table["p1"].played, table["p1"].status) == (6, 0, "out")


def test_in_a_double_one_half_of_all_games_is_twice_as_many() -> None:
    assert [left_after(rounds, double=True).voided for rounds in (3, 4, 5)] == [{"p1"}, {"p1"}, set()]


@pytest.mark.parametrize("rounds", [3, 4])
def test_leaving_in_the_second_half_forfeits_the_remaining_games(rounds: int) -> None:
    event = left_after(rounds)
    assert not event.voided
    table = {row.player: row for row in rows(event)}
    assert (table["p1"].points, table["p1"].played) == (rounds, rounds)
    assert sum(row.points for row in table.values()) == 15


def test_an_expelled_player_counts_as_having_left() -> None:
    event = play_on(run(begun(4), "expel", player="p1"), better_wins)
    assert event.voided == {"p1"}
    assert [row.points for row in rows(event)] == [2, 1, 0, 0]
