from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_engine.notation import parse_cell
from tictactoe_engine.search import Budget, analyse
from tictactoe_engine.strategies import Perfect, opening_cells
from tictactoe_engine.strategies.balanced import OPENINGS
from tictactoe_engine.strategies.opening_book import cells_of_opening

STANDARD = PRESETS["gomoku-standard"]
NO_TIME = Budget(nodes=0)

Square = tuple[int, int]
Shape = tuple[Square, Square, Square]


def shape_of(first: Square, second: Square, third: Square) -> Shape:
    """Return what all images of an opening have in common: its marks as rows and columns from the middle."""
    images = []
    for down, right, is_transposed in product((1, -1), (1, -1), (False, True)):
        turned = [(down * row, right * column) for row, column in (first, third, second)]
        one, other, between = [(column, row) if is_transposed else (row, column) for row, column in turned]
        images.append((min(one, other), max(one, other), between))
    return min(images)


SHAPES = {shape_of(*cells_of_opening(opening)) for opening in OPENINGS}


def shape_on(position: Position) -> Shape:
    rows, columns = position.rules.rows, position.rules.columns
    squares = (divmod(cell, columns) for cell in position.moves[:3])
    return shape_of(*((row - rows // 2, column - columns // 2) for row, column in squares))


def placed(rules: Rules, seed: int) -> Position:
    position, rng = Position.start(rules), Random(seed)
    while position.opening and not position.opening.options:
        position = position.play(Perfect(NO_TIME)(position, rng))
    return position


def test_the_book_has_twenty_openings_and_each_once() -> None:
    assert len(SHAPES) == len(OPENINGS) == 20


@pytest.mark.parametrize("openings", [OPENINGS[::5], pytest.param(OPENINGS, marks=pytest.mark.long)], ids=len)
def test_no_opening_of_the_book_looks_worth_more_to_one_side(openings: Sequence[str]) -> None:
    for opening in openings:
        position = Position.replay(STANDARD, [parse_cell(name, STANDARD) for name in opening.split()])
        options = analyse(position, Budget(nodes=1_500)).options
        assert options["X"].kind == options["O"].kind == "unknown"
        assert max(abs(options["X"].estimate), abs(options["O"].estimate)) <= 0.15, opening


@given(seed=st.integers(0, 10_000), rows=st.integers(9, 32), columns=st.integers(9, 32), exact=st.booleans())
def test_perfect_places_an_opening_of_the_book_in_the_middle(seed: int, rows: int, columns: int, exact: bool) -> None:
    assert shape_on(placed(Rules(rows, columns, 5, exact=exact, opening="swap2"), seed)) in SHAPES


@given(seed=st.integers(0, 10_000))
def test_book_openings_continue_from_any_move_order(seed: int) -> None:
    first, second, third = placed(STANDARD, seed).moves
    assert second in opening_cells(Position.replay(STANDARD, [first]))
    assert third in opening_cells(Position.replay(STANDARD, [first, second]))
    assert first in opening_cells(Position.replay(STANDARD, [third, second]))


def test_every_opening_is_played() -> None:
    assert {shape_on(placed(STANDARD, seed)) for seed in range(600)} == SHAPES


@pytest.mark.parametrize(
    ("rules", "moves"),
    [
        (PRESETS["gomoku"], ()),
        (replace(STANDARD, opening="pie"), ()),
        (replace(STANDARD, rows=8), ()),
        (replace(STANDARD, line=6), ()),
        (replace(STANDARD, blocked=frozenset({0})), ()),
        (STANDARD, (0,)),
        (STANDARD, (112, 0)),
        (STANDARD, (112, 113, 97)),
    ],
)
def test_there_is_no_book_for_other_rules_and_other_beginnings(rules: Rules, moves: tuple[int, ...]) -> None:
    assert opening_cells(Position.replay(rules, moves)) == ()


@pytest.mark.parametrize("rules", [replace(STANDARD, rows=8), replace(STANDARD, line=4), PRESETS["four-pie"]])
def test_without_a_book_perfect_places_by_search(rules: Rules) -> None:
    position = placed(rules, 1)
    assert position.opening is not None
    assert position.opening.options
