from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_engine.search import Budget
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


@given(seed=st.integers(0, 10_000), rows=st.integers(9, 32), columns=st.integers(9, 32), exact=st.booleans())
def test_perfect_places_an_opening_of_the_book_in_the_middle(seed: int, rows: int, columns: int, exact: bool) -> None:
    assert shape_on(placed(Rules(rows, columns, 5, exact=exact, opening="swap2"), seed)) in SHAPES


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
