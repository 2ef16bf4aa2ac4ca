import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.environment import environment
from tictactoe_engine import PRESETS
from tictactoe_engine.search import Budget
from tictactoe_engine.search.budget import Meter, OutOfBudget
from tictactoe_engine.search.grid import grid_of
from tictactoe_engine.search.patterns import Patterns
from tictactoe_engine.search.threats import ThreatSearch


def test_a_meter_allows_as_many_nodes_as_its_budget_has() -> None:
    meter = Meter(Budget(nodes=3))
    for _ in range(3):
        meter.spend()
    with pytest.raises(OutOfBudget):
        meter.spend()


def test_a_meter_ends_when_the_clock_has_passed_the_limit() -> None:
    clock: Iterator[float] = iter([100.0, 100.5, 101.0])
    meter = Meter(Budget(seconds=1.0, clock=lambda: next(clock)))
    with pytest.raises(OutOfBudget):
        spend_many(meter)


def spend_many(meter: Meter) -> None:
    for _ in range(1000):
        meter.spend()


@pytest.mark.parametrize(
    ("limits", "reason"),
    [({"nodes": -1}, "-1 nodes"), ({"seconds": 1.0}, "needs a clock"), ({"seconds": -0.5}, "-0.5")],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, float], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Budget(**limits)  # type: ignore[arg-type]


def test_threats_in_a_row_are_followed_to_the_line() -> None:
    # A four with one open end leaves one answer and prepares a crossing line: four, answer, two ends, line.
    grid = grid_of(PRESETS["gomoku"])
    own = [(7, 4), (7, 5), (7, 6), (4, 7), (5, 7), (6, 7)]
    stones = grid.pad(sum(1 << row * 15 + column for row, column in own))
    closed = grid.pad(1 << 7 * 15 + 3 | 1 << 3 * 15 + 7)
    found = ThreatSearch(grid, Patterns(grid), Meter(Budget())).shortest_win(stones, closed, 6)
    assert found is not None
    assert (grid.cell_of(found[0]), found[1]) == (7 * 15 + 7, 3)


def test_there_is_no_win_by_threats_while_the_other_side_completes_a_line_first() -> None:
    grid = grid_of(PRESETS["gomoku"])
    own = grid.pad(sum(1 << 7 * 15 + column for column in (5, 6, 7)))
    other = grid.pad(sum(1 << row * 15 for row in (1, 2, 3, 4)))
    assert ThreatSearch(grid, Patterns(grid), Meter(Budget())).shortest_win(own, other, 8) is None


def test_the_engine_loads_nothing_but_the_rules() -> None:
    program = "import sys, tictactoe_engine; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    finished = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    others = ("tictactoe_engine.records", "tictactoe_engine.search", "tictactoe_engine.strategies")
    assert not [module for module in finished.stdout.split() if module.startswith(others)]
