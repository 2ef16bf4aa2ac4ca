from dataclasses import replace
from random import Random

import pytest

from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_engine.notation import parse_cell
from tictactoe_engine.search import Budget, analyse, best_cells
from tictactoe_engine.strategies import Level, strategy_of

FREE = PRESETS["gomoku"]
EXACT = replace(FREE, exact=True)
FEW = Budget(nodes=2_000)

APART = "a1 c1 e1 g1 i1 k1 m1 o1 a15 c15"


def position_of(rules: Rules, own: str, other: str) -> Position:
    """Return the position with these marks of X and O; the missing marks of one side lie far apart."""
    first, second = own.split(), other.split()
    spare = [cell for cell in APART.split() if cell not in (*first, *second)]
    while len(first) not in (len(second), len(second) + 1):
        (second if len(first) > len(second) else first).append(spare.pop())
    names = [name for pair in zip(first, [*second, ""], strict=False) for name in pair if name]
    return Position.replay(rules, [parse_cell(name, rules) for name in names])


def cell(name: str) -> int:
    return parse_cell(name, FREE)


@pytest.mark.parametrize("level", [Level.RULES, Level.PERFECT])
def test_a_five_is_preferred_to_a_six_under_the_exact_rule(level: Level) -> None:
    choose = strategy_of(level, FEW)
    six_or_five = "d8 e8 f8 h8 i8 d4 e4 f4 g4", "c4 d6 k9 l3 m7 n12 k13 c12 b3"
    moves = {choose(position_of(EXACT, *six_or_five), Random(seed)) for seed in range(20)}
    assert moves == {cell("h4")}


def test_a_six_wins_only_without_the_exact_rule() -> None:
    marks = "d8 e8 f8 h8 i8", "d6 k9 l3 m7 n12"
    free, exact = (analyse(position_of(rules, *marks), FEW) for rules in (FREE, EXACT))
    assert (free.best_cells, free.value.kind, free.value.plies) == ((cell("g8"),), "win", 1)
    assert exact.cells[cell("g8")].kind == "unknown"
    assert cell("g8") not in exact.best_cells


def test_a_six_that_the_other_could_make_is_no_threat() -> None:
    # O could fill the gap at f8; X has an open three, and wins as soon as it need not stop that.
    marks = "g4 h4 i4 b12 m10", "c8 d8 e8 g8 h8"
    assert best_cells(position_of(FREE, *marks), FEW) == (cell("f8"),)
    exact = position_of(EXACT, *marks)
    assert set(best_cells(exact, FEW)) <= {cell("f4"), cell("j4")}
    found = analyse(exact, FEW)
    assert (found.value.kind, found.value.plies) == ("win", 3)


def test_an_end_that_makes_a_six_does_not_count_as_open() -> None:
    marks = "d8 e8 f8 g8 i8", "d6 k9 l3 m7"
    free, exact = (analyse(position_of(rules, *marks), FEW) for rules in (FREE, EXACT))
    assert (free.value.kind, free.value.plies) == ("loss", 2)
    assert exact.best_cells == (cell("c8"),)
    assert exact.value.kind == "unknown"
