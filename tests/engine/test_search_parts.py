"""The parts of the searches, each against the plainest way to compute the same."""

import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tictactoe_engine
from tests.engine.random_games import open_games, rule_sets
from tests.environment import environment
from tictactoe_engine import PRESETS, Position, Rules, records, search, strategies
from tictactoe_engine.geometry import geometry_of
from tictactoe_engine.search import Budget
from tictactoe_engine.search.budget import Meter, OutOfBudget
from tictactoe_engine.search.grid import bits_of, grid_of
from tictactoe_engine.search.openings import without_opening
from tictactoe_engine.search.patterns import Patterns
from tictactoe_engine.search.symmetry import symmetries_of
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


def test_of_two_limits_the_first_to_be_reached_counts() -> None:
    meter = Meter(Budget(nodes=2, seconds=1.0, clock=lambda: 0.0))
    meter.spend()
    meter.spend()
    with pytest.raises(OutOfBudget):
        meter.spend()


def test_a_budget_without_limits_never_ends_a_search() -> None:
    meter = Meter(Budget())
    spend_many(meter)
    assert meter.nodes == 1000


@pytest.mark.parametrize(
    ("limits", "reason"),
    [({"nodes": -1}, "-1 nodes"), ({"seconds": 1.0}, "needs a clock"), ({"seconds": -0.5}, "-0.5")],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, float], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Budget(**limits)  # type: ignore[arg-type]


SYMMETRIES = [
    (PRESETS["classic"], 8),
    (PRESETS["blocker"], 8),
    (Rules(3, 4, 3), 4),
    (Rules(blocked=frozenset({0})), 2),
    (Rules(blocked=frozenset({1})), 2),
    (Rules(blocked=frozenset({0, 1})), 1),
    (PRESETS["connect-four"], 2),
    (Rules(6, 7, 4, blocked=frozenset({0}), gravity=True), 1),
]


@pytest.mark.parametrize(("rules", "count"), SYMMETRIES)
def test_a_board_has_so_many_symmetries(rules: Rules, count: int) -> None:
    assert len(symmetries_of(grid_of(rules))) == count


def test_all_images_of_a_position_are_one_and_others_are_not() -> None:
    grid = grid_of(Rules())
    canonical = symmetries_of(grid).canonical
    pairs = {
        canonical(grid.pad(1 << own), grid.pad(1 << other)) for own in range(9) for other in range(9) if own != other
    }
    assert len(pairs) == 12


@given(rules=rule_sets(max_side=7), stones=st.integers(0, 2**49))
def test_completing_places_are_those_that_the_lines_say(rules: Rules, stones: int) -> None:
    grid = grid_of(rules)
    stones &= (1 << rules.size) - 1
    for cell in rules.blocked:
        stones &= ~(1 << cell)
    lines = geometry_of(rules.rows, rules.columns, rules.line)

    def completes(line: int, after: int) -> bool:
        return after & line == line and not (rules.exact and lines.goes_on(line, after))

    expected = {
        cell
        for cell in range(rules.size)
        if not stones >> cell & 1 and any(completes(line, stones | 1 << cell) for line in lines.lines_through[cell])
    }
    padded = grid.pad(stones)
    everywhere = grid.pad((1 << rules.size) - 1)
    assert {grid.cell_of(bit) for bit in bits_of(grid.completing(padded) & everywhere & ~padded)} == expected
    has_line = any(stones & line == line for line in lines.lines)
    assert (grid.has_line(padded), lines.has_line(stones)) == (has_line, has_line)


@given(position=open_games(rule_sets(max_side=6, max_marks=2)))
def test_the_playable_cells_are_the_legal_ones(position: Position) -> None:
    position = without_opening(position)
    grid = grid_of(position.rules)
    taken = grid.pad(position.stones("X") | position.stones("O"))
    playable = grid.playable(grid.cells & ~taken)
    assert tuple(sorted(map(grid.cell_of, bits_of(playable)))) == position.legal_cells


@given(position=open_games(rule_sets(max_side=6, max_marks=2)))
def test_windows_count_the_stones_of_every_open_line(position: Position) -> None:
    rules = position.rules
    grid = grid_of(rules)
    own, other = position.stones("X"), position.stones("O")
    closed = other | sum(1 << cell for cell in rules.blocked)
    geometry = geometry_of(rules.rows, rules.columns, rules.line)
    lines = [line for line in geometry.lines if not (rules.exact and geometry.goes_on(line, own))]
    counts = [(own & line).bit_count() for line in lines if not line & closed]
    free = grid.cells & ~grid.pad(own | other)
    steps = grid.steps if min(rules.rows, rules.columns) > 1 else {1, rules.columns + 1}
    levels = [Patterns(grid).levels(grid.pad(own), free, step) for step in steps]
    for stones in range(rules.line):
        assert sum(level[stones].bit_count() for level in levels) == sum(count >= stones for count in counts)


def test_the_most_promising_moves_stop_an_open_three() -> None:
    grid = grid_of(PRESETS["gomoku"])
    three = grid.pad(sum(1 << 7 * 15 + column for column in (5, 6, 7)))
    moves = Patterns(grid).candidates(0, (three,), grid.cells & ~three, 6)
    assert [grid.cell_of(bit) - 7 * 15 for bit in sorted(moves[:2])] == [4, 8]
    assert len(set(moves)) == 6


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


@pytest.mark.parametrize(
    "package", [tictactoe_engine, records, search, strategies], ids=lambda package: package.__name__
)
def test_every_public_name_of_the_engine_can_be_had(package: ModuleType) -> None:
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_the_engine_loads_nothing_but_the_rules() -> None:
    program = "import sys, tictactoe_engine; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    finished = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    others = ("tictactoe_engine.records", "tictactoe_engine.search", "tictactoe_engine.strategies")
    assert not [module for module in finished.stdout.split() if module.startswith(others)]
