"""A season's strengths: they are the likeliest ones, whatever the order of games, and their errors are right."""

from __future__ import annotations

from itertools import combinations
from math import exp, sqrt
from random import Random

import pytest

from tests.protocol.ratings.test_ladder import game
from tests.rows import each
from tictactoe_protocol.ratings.bradley_terry import measure_strengths
from tictactoe_protocol.ratings.log import RatedGame

SCALE = 173.7178


def by_chance(chance: Random, count: int, seats: tuple[int, ...] = (2,)) -> list[RatedGame]:
    """Return games in which who comes first in the alphabet is the better one."""
    games = []
    for number in range(count):
        players = chance.sample("abcdefghij", chance.choice(seats))
        drawn = {player: chance.gauss(ord(player), 4) for player in players}
        games.append(game(number, "".join(players), [sorted(drawn.values()).index(drawn[one]) for one in players]))
    return games


def expect(own: float, other: float) -> float:
    return 1 / (1 + exp((other - own) / SCALE))


@each("seats", [(2,), (3, 4, 5, 6)])
def test_everybody_has_as_many_points_as_their_strength_lets_expect(seats: tuple[int, ...]) -> None:
    """What is likeliest is just where that holds for all, as the likelihood has one maximum."""
    games = by_chance(Random(6), 300, seats)
    ratings = {one.player: one.rating for one in measure_strengths(games)}
    missing = {player: 0.5 - expect(rating, 1500) for player, rating in ratings.items()}
    for played in games:
        for (one, place), (other, behind) in combinations(zip(played.players, played.places, strict=True), 2):
            weight = 2 / len(played.players)
            points = 0.5 if place == behind else float(place < behind)
            missing[one] += weight * (points - expect(ratings[one], ratings[other]))
            missing[other] += weight * (1 - points - expect(ratings[other], ratings[one]))
    assert max(map(abs, missing.values())) < 1e-6
    assert next(iter(ratings)) in "ab"


def test_the_order_of_games_does_not_matter() -> None:
    games = by_chance(Random(7), 100, (2, 3))
    found = measure_strengths(games)
    Random(8).shuffle(games)
    for one, other in zip(found, measure_strengths(games), strict=True):
        assert one.player == other.player
        assert one[1:] == pytest.approx(other[1:], abs=1e-6)


@each("count", [2, 20, 200])
def test_the_errors_of_two_who_are_level_are_those_of_the_formula(count: int) -> None:
    """The inverse of ((n + 1, -n), (-n, n + 1)) / 4 has 4 (n + 1) / (2 n + 1) on its diagonal."""
    games = [game(number, "ab", (1, 2) if number % 2 else (2, 1)) for number in range(count)]
    for one in measure_strengths(games):
        assert one.rating == pytest.approx(1500)
        assert one.error == pytest.approx(1.96 * SCALE * sqrt(4 * (count + 1) / (2 * count + 1)))


def test_draws_count_half() -> None:
    drawn = measure_strengths([game(number, "ab", (1, 1)) for number in range(2)])
    assert drawn == measure_strengths([game(0, "ab", (1, 2)), game(1, "ab", (2, 1))])


def test_who_won_every_game_has_a_strength_that_is_less_sure_than_anybodys() -> None:
    games = by_chance(Random(9), 200)
    games += [game(200 + number, f"z{other}", (1, 2)) for number, other in enumerate("abcdefghij" * 20)]
    best, *others = measure_strengths(games)
    assert best.player == "z"
    assert best.rating < 4000
    assert best.games == 200
    assert best.error > max(one.error for one in others)
