"""The strategies as players: legal, deterministic for a seed, and strong for their level.

`test_analysis` shows that `perfect` keeps the value of a position: it compares `best_cells` with a minimax.
"""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.random_games import open_games, rule_sets
from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_engine.search import Budget, best_cells
from tictactoe_engine.strategies import (
    Level,
    Perfect,
    choose_at_random,
    choose_by_rules,
    choose_side_at_random,
    side_chooser_of,
    strategy_of,
)

UNLIMITED = Budget()


@given(
    position=open_games(rule_sets(max_side=9, max_cells=81)),
    level=st.sampled_from(Level),
    nodes=st.integers(0, 200),
    seed=st.integers(0, 99),
)
def test_strategies_choose_legal_cells_by_their_seed(position: Position, level: Level, nodes: int, seed: int) -> None:
    choose = strategy_of(level, Budget(nodes=nodes))
    cell = choose(position, Random(seed))
    assert cell in position.legal_cells
    assert choose(position, Random(seed)) == cell


@pytest.mark.parametrize("choose", [choose_at_random, choose_by_rules, Perfect(UNLIMITED)])
def test_a_finished_game_has_no_move_to_choose(choose: Perfect) -> None:
    with pytest.raises(ValueError, match="The game is over"):
        choose(Position.replay(Rules(), [0, 3, 1, 4, 2]), Random(0))


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="genius"):
        strategy_of("genius", UNLIMITED)
    with pytest.raises(ValueError, match="genius"):
        side_chooser_of("genius", UNLIMITED)


PIE = Rules(3, 4, 3, opening="pie")
CENTRE = 5


@pytest.mark.parametrize("level", Level)
def test_strategies_choose_a_side_only_if_a_choice_is_due(level: Level) -> None:
    before, due = Position.start(PIE), Position.replay(PIE, [CENTRE])
    choose, choose_side = strategy_of(level, UNLIMITED), side_chooser_of(level, UNLIMITED)
    assert choose_side(due, Random(0)) in "XO"
    with pytest.raises(ValueError, match="A side is chosen next"):
        choose(due, Random(0))
    for position in (before, due.choose("O"), Position.start(Rules())):
        assert choose(position, Random(0)) in position.legal_cells
        with pytest.raises(ValueError, match="There is no side to choose"):
            choose_side(position, Random(0))


def test_chance_takes_any_side() -> None:
    position = Position.replay(PRESETS["gomoku-standard"], [0, 1, 2])
    assert {choose_side_at_random(position, Random(seed)) for seed in range(60)} == {"X", "O", "more"}


@pytest.mark.parametrize("level", [Level.RULES, Level.PERFECT])
def test_the_better_side_is_taken(level: Level) -> None:
    choose_side = side_chooser_of(level, Budget(nodes=1_000))
    # X has three in a row with both ends open. O, next to move, can only decide which end to leave open.
    open_three = Position.replay(PRESETS["gomoku-standard"], [112, 0, 113], (), ["more"]).play(14).play(114)
    assert {choose_side(open_three, Random(seed)) for seed in range(9)} == {"X"}
    # The first mark lies in a distant corner, so the next player has the whole board.
    alone = Position.replay(Rules(15, 15, 5, opening="pie"), [0])
    assert {choose_side(alone, Random(seed)) for seed in range(9)} == {"O"}


def test_rules_place_openings_in_the_middle_of_the_board() -> None:
    position = Position.start(PRESETS["gomoku-standard"])
    cells = [divmod(choose_by_rules(position, Random(seed)), 15) for seed in range(99)]
    assert all(4 <= row <= 10 and 4 <= column <= 10 for row, column in cells)
    assert len(set(cells)) > 20


def test_chance_reaches_every_legal_cell() -> None:
    position = Position.replay(PRESETS["blocker"], [0, 8])
    rng = Random(1)
    assert {choose_at_random(position, rng) for _ in range(200)} == set(position.legal_cells)


RULES_CHOOSE = {
    "win before block": (Rules(), [0, 3, 1, 4], {2}),
    "block": (Rules(), [0, 4, 1], {2}),
    "the centre": (Rules(), [0], {4}),
    "a corner when the centre is taken": (Rules(), [4], {0, 2, 6, 8}),
    "an edge when nothing else is left": (Rules(), [4, 0, 8, 2, 1, 7, 6], {3, 5}),
    "a corner where the centre is blocked": (PRESETS["blocker"], [], {0, 2, 6, 8}),
    "the centre of a wide board": (PRESETS["gomoku"], [], {112}),
    "the middle column": (PRESETS["connect-four"], [], {38}),
    "no completed line with misère": (Rules(misere=True), [0, 3, 1, 8], {4}),
    "block the nearer of two opponents": (Rules(3, 5, 3, "XOA"), [6, 0, 14, 9, 1, 13], {2}),
}


@pytest.mark.parametrize(("rules", "moves", "expected"), RULES_CHOOSE.values(), ids=RULES_CHOOSE.keys())
def test_rules_choose(rules: Rules, moves: list[int], expected: set[int]) -> None:
    position = Position.replay(rules, moves)
    assert {choose_by_rules(position, Random(seed)) for seed in range(40)} == expected


def test_the_rules_strategy_does_not_play_below_a_losing_cell() -> None:
    # X holds A5, B5 and C5 above other marks. If O plays D6, X drops onto D5; so the next player decides.
    position = Position.replay(PRESETS["connect-four"], [36, 35, 28, 37, 29, 41, 30])
    assert 38 not in {choose_by_rules(position, Random(seed)) for seed in range(40)}


@given(position=open_games(rule_sets(max_side=5, max_marks=2).filter(lambda rules: not rules.misere)))
def test_rules_allow_no_win_at_once_if_any_move_prevents_it(position: Position) -> None:
    chosen = position.play(choose_by_rules(position, Random(0)))
    if chosen.outcome is None and wins_at_once(chosen):
        assert all(wins_at_once(position.play(cell)) for cell in position.legal_cells)


def test_perfect_takes_any_of_equal_moves() -> None:
    choose, position = Perfect(UNLIMITED), Position.start(Rules())
    assert {choose(position, Random(seed)) for seed in range(200)} == set(range(9))


def test_perfect_stops_one_of_two_threats_when_it_is_lost_either_way() -> None:
    # X holds three corners and threatens on two edges.
    position = Position.replay(Rules(), [0, 4, 8, 2, 6])
    assert best_cells(position, UNLIMITED) == (3, 7)


def test_perfect_among_three_wins_at_once_and_stops_the_next_player() -> None:
    rules = PRESETS["three-players"]
    perfect = Perfect(Budget(nodes=300))
    about_to_win = Position.replay(rules, [0, 20, 4, 1, 21, 9, 2, 23, 14])
    assert perfect(about_to_win, Random(0)) == 3
    next_wins = Position.replay(rules, [12, 0, 24, 7, 1, 23, 16, 2, 20])
    assert perfect(next_wins, Random(0)) == 3


def wins_at_once(position: Position) -> bool:
    """Return whether the player to move can complete a line now."""
    outcomes = (position.play(cell).outcome for cell in position.legal_cells)
    return any(outcome is not None and outcome.winner == position.turn for outcome in outcomes)
