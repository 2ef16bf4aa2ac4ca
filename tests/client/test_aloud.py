from hypothesis import given
from hypothesis import strategies as st

from tests.client.states import state
from tests.rows import each
from tictactoe_client.text.answers import list_marks, list_moves, list_runs, read_aloud
from tictactoe_engine import PRESETS, Rules, parse_cell
from tictactoe_protocol.pushes import RoomState
from tictactoe_words.lines import find_runs

GOMOKU = PRESETS["gomoku"]
FALLING, RISING = "Diagonal A1 to C3", "Diagonal A3 to C1"


def gomoku(*cells: str) -> RoomState:
    return state([parse_cell(cell, GOMOKU) for cell in cells], GOMOKU)


@each(
    ("kind", "cell", "current", "lines"),
    [
        ("row", 0, state((0, 4, 2)), ["Row 1: A X, B empty, C X."]),
        ("column", 1, state((0, 4, 2)), ["Column B: 1 empty, 2 O, 3 empty."]),
        ("row", 1, state((), PRESETS["blocker"]), ["Row 2: A empty, B blocked, C empty."]),
        ("row", 7, gomoku("h8", "i8", "k8"), ["Row 8: A to G empty, H X, I O, J empty, K X, L to O empty."]),
        ("diagonals", 0, gomoku("h8"), ["Diagonal A1 to O15: A1 to G7 empty, H8 X, I9 to O15 empty."]),
        ("diagonals", 4, state((0, 4, 2)), [f"{FALLING}: A1 X, B2 O, C3 empty.", f"{RISING}: A3 empty, B2 O, C1 X."]),
        ("diagonals", 1, state((), Rules(1, 3, 3)), ["B1 is on no diagonal."]),
        ("cell", 0, state((0, 4)), ["A1: X."]),
        ("cell", 4, state((0, 4)), ["B2: O, the last move."]),
        ("cell", 8, state((0, 4)), ["C3: empty."]),
        ("around", 0, state((0, 1)), ["Around A1 (X), clockwise from above: B1 O, B2 empty, A2 empty."]),
        (
            *("around", 4, state((4, 1, 8))),
            [
                "Around B2 (X), clockwise from above: B1 O, C1 empty, C2 empty, C3 X, B3 empty, A3 empty, A2 empty,"
                " A1 empty."
            ],
        ),
    ],
)
def test_a_part_of_the_board_is_read_aloud(kind: str, cell: int, current: RoomState, lines: list[str]) -> None:
    assert read_aloud(kind, cell, current) == lines


def test_without_a_cell_the_last_move_is_meant() -> None:
    assert read_aloud("around", None, state((0,))) == read_aloud("around", 0, state((0,)))
    assert read_aloud("diagonals", None, state((0,))) == read_aloud("diagonals", 0, state((0,)))
    assert read_aloud("around", None, state()) == ["No move has been played yet. Name a cell."]


def test_the_cells_of_marks_are_listed() -> None:
    current = gomoku("h8", "h7", "i9")
    assert list_marks(current) == ["X, 2 cells: H8 I9.", "O, 1 cell: H7."]
    assert list_marks(current, 1) == ["O, 1 cell: H7."]
    assert list_marks(state()) == ["X, no cell.", "O, no cell."]


def test_runs_are_listed_with_their_open_ends() -> None:
    current = gomoku("h8", "g8", "i8", "a1", "j8", "a3", "k8", "a5")
    assert list_runs(current) == ["X, 4 in a row: H8 to K8, open at L8."]
    assert list_runs(gomoku("h8", "a1", "h9", "a3", "h10")) == ["X, 3 in a row: H8 to H10, open at H7 H11."]
    assert list_runs(gomoku("h8")) == ["Nobody has 3 in a row."]
    assert list_runs(state((0, 3, 1, 4))) == [
        "X, 2 in a row: A1 to B1, open at C1.",
        "O, 2 in a row: A2 to B2, open at C2.",
    ]


def test_a_run_without_a_free_end_is_closed() -> None:
    assert list_runs(state((0, 2, 1)))[0] == "X, 2 in a row: A1 to B1, closed."


def test_many_runs_are_counted() -> None:
    full = Rules(6, 6, 3, "XO")
    current = state((), full)
    crowded = RoomState(
        **{name: getattr(current, name) for name in current.__struct_fields__} | {"board": "XX.OO." * 6}
    )
    assert len(list_runs(crowded)) == 13
    assert list_runs(crowded)[-1].startswith("And ")


def test_the_moves_are_listed_in_their_order() -> None:
    current = state((0, 4, 2))
    assert list_moves(current, (0, 4, 2)) == "Moves: 1 X A1, 2 O B2, 3 X C1."
    assert list_moves(current, (0, 4, 2), 2) == "Moves: 2 O B2, 3 X C1."
    assert list_moves(state(), ()) == "No move has been played yet."


@given(st.lists(st.sampled_from("XO."), min_size=30, max_size=30), st.integers(2, 4))
def test_a_run_is_as_long_as_it_can_be(cells: list[str], least: int) -> None:
    board, rules = "".join(cells), Rules(5, 6, 3)
    for run in find_runs(board, rules, least):
        assert len(run.cells) >= least
        assert {board[cell] for cell in run.cells} == {run.mark}
        assert all(board[end] == "." for end in run.open_ends)
    lines = [line for line in find_runs(board, rules, 3) if len(line.cells) >= 3]
    has_three = any(
        set(board[row * 6 + column : row * 6 + column + 3]) in ({"X"}, {"O"}) for row in range(5) for column in range(4)
    )
    assert lines or not has_three
