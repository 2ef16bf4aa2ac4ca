"""Ratings after one game: the published example, another implementation, and our own rules."""

from math import exp as system_exp
from random import Random

import pytest
from glicko2.math import algorithm, update_rating
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each
from tictactoe_protocol.ratings.glicko import Meeting, Number, exp, expect, play, play_rated, rest

GLICKO_SCALE = 173.7178


@given(st.floats(-30, 30))
def test_the_exponential_function_is_exact_to_twelve_digits(x: float) -> None:
    assert exp(x) == pytest.approx(system_exp(x), rel=1e-12)


def test_the_published_example_of_glickman_is_reproduced() -> None:
    against = [Meeting(Number(1400, 30), 1), Meeting(Number(1550, 100), 0), Meeting(Number(1700, 300), 0)]
    rating, deviation, volatility = play(Number(1500, 200, 0.06), against)
    assert (round(rating, 2), round(deviation, 2), round(volatility, 5)) == (1464.05, 151.52, 0.06)
    assert (rating, deviation, volatility) == pytest.approx((1464.0507, 151.5165, 0.059996), abs=1e-4)


def test_ten_thousand_games_agree_with_another_implementation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algorithm, "_EPSILON", 1e-12)  # it ends its search at 1e-6 else, which comes to 1e-5 points
    chance = Random(2)
    ours = [Number(1500, 300) for _ in range(50)]  # below the bound of the deviation, which is our own
    theirs = [(0.0, 300 / GLICKO_SCALE, 0.06)] * 50
    for _ in range(10_000):
        pair, score, idle = chance.sample(range(50), 2), chance.choice((0.0, 0.5, 1.0)), chance.randrange(3)
        for one in pair:
            ours[one] = rest(ours[one], idle)
            for _ in range(idle):
                theirs[one] = update_rating(*theirs[one], [])
        first, second = pair
        met = (first, second, score), (second, first, 1 - score)
        own = [play(ours[one], [Meeting(ours[other], points)]) for one, other, points in met]
        their = [update_rating(*theirs[one], [(*theirs[other][:2], points)]) for one, other, points in met]
        ours[first], ours[second] = own
        theirs[first], theirs[second] = their
    for number, (mu, phi, sigma) in zip(ours, theirs, strict=True):
        scaled = (1500 + GLICKO_SCALE * mu, GLICKO_SCALE * phi, sigma)
        assert tuple(number) == pytest.approx(scaled, abs=1e-6, rel=0)


@given(st.floats(400, 2600), st.floats(400, 2600), st.floats(45, 350), st.sampled_from([0, 0.5, 1]))
def test_with_equal_deviations_gain_equals_loss(mine: float, yours: float, deviation: float, score: float) -> None:
    own, other = Number(mine, deviation), Number(yours, deviation)
    moved = play(own, [Meeting(other, score, 1.5)], 0.3), play(other, [Meeting(own, 1 - score, 1 / 1.5)], 0.3)
    assert moved[0].rating - mine == pytest.approx(yours - moved[1].rating, abs=1e-6)
    assert expect(mine, other, 1.5) + expect(yours, own, 1 / 1.5) == pytest.approx(1)


@each(
    ("own", "opponent", "moves"),
    [
        (Number(1500, 109), Number(1500, 161), False),
        (Number(1500, 109), Number(1500, 159), True),
        (Number(1500, 111), Number(1500, 350), True),
    ],
)
def test_a_settled_rating_does_not_move_against_an_uncertain_one(own: Number, opponent: Number, moves: bool) -> None:
    after = play_rated(own, opponent, 1, 1, 0.5)
    assert (after.rating > own.rating) == moves
    assert moves or after == rest(own, 0.5)


def test_ratings_stay_within_their_bounds() -> None:
    own = [Number(3999, 350, 0.1), Number(401, 350, 0.1), Number(1500, 45)]
    best, worst, sure = (play_rated(one, one, score, 1, 0) for one, score in zip(own, (1, 0, 1), strict=True))
    assert (best.rating, worst.rating, sure.deviation) == (4000, 400, 45)
    assert rest(own[2], 1e6).deviation == 350
