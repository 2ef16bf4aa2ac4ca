"""The engine against the naive oracle: random rules, random moves, legal and not, compared after every step.

For very many games run ``python -m tests.engine.oracle``.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.comparison import Step, compare_game, random_steps
from tests.engine.oracle import NaiveGame, Plan, main, random_plan
from tests.rows import each
from tictactoe_engine import IllegalMove, Position

CLASSIC = Plan(rows=3, columns=3, line=3, marks="XO", blocked=(), misere=False, gravity=False)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    rows = draw(st.integers(1, 10))
    columns = draw(st.integers(2 if rows == 1 else 1, 10))
    marks = "XOABCD"[: draw(st.integers(2, 6))]
    cells = rows * columns
    return Plan(
        rows=rows,
        columns=columns,
        line=draw(st.integers(2, max(rows, columns))),
        marks=marks,
        blocked=tuple(draw(st.sets(st.integers(0, cells - 1), max_size=cells // 3))),
        misere=len(marks) == 2 and draw(st.booleans()),
        gravity=draw(st.booleans()),
        exact=draw(st.booleans()),
        opening=draw(st.sampled_from((None, "pie", "swap2"))),
    )


@st.composite
def games(draw: st.DrawFn) -> tuple[Plan, list[Step]]:
    plan = draw(plans())
    kinds = st.sampled_from(("legal", "legal", "legal", "legal", "any", "pass"))
    cells = plan.rows * plan.columns
    steps = st.lists(st.builds(Step, kinds, st.integers(0, 999)), min_size=cells // 2, max_size=2 * cells)
    return plan, draw(steps)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(games())
def test_engine_and_oracle_agree_after_every_step(game: tuple[Plan, list[Step]]) -> None:
    plan, steps = game
    assert compare_game(plan, steps) is None


@each("seed", range(100))
def test_engine_and_oracle_agree_on_whole_random_games(seed: int) -> None:
    chance = random.Random(seed)
    plan = random_plan(chance)
    assert compare_game(plan, random_steps(plan, chance)) is None


def test_the_command_prints_how_many_games_agreed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--games", "3"]) == 0
    assert capsys.readouterr().out == "3 games, 0 with a difference\n"


def test_the_command_fails_and_prints_the_game_where_the_engines_differ(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Position, "turn", property(lambda position: "?"))
    assert main(["--games", "1", "--seed", "5"]) == 1
    assert capsys.readouterr().out.startswith("seed 5: Plan(")


def test_a_wrong_turn_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Position, "turn", property(lambda position: "O"))
    assert compare_game(CLASSIC, []) == "after [] the turn is 'O', not 'X'"


def test_a_refused_legal_move_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(position: Position, cell: int) -> Position:
        raise IllegalMove("occupied", "It is taken.")

    monkeypatch.setattr(Position, "play", refuse)
    assert compare_game(CLASSIC, [Step("legal", 0)]) == "after [] cell 0 is occupied, not legal"


def test_a_wrong_code_for_an_illegal_move_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NaiveGame, "find_fault", lambda game, cell: None if 0 <= cell < 9 else "floating")
    assert compare_game(CLASSIC, [Step("any", 0)]) == "after [] cell -3 is off_board, not floating"


def test_rules_that_only_the_engine_accepts_are_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plan, "is_winnable", lambda plan: False)
    assert compare_game(CLASSIC, []) == "accepted rules that nobody can win by"
