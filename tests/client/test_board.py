import pytest

from tests.client.states import state
from tictactoe_client.board.board import BoardView, render_board
from tictactoe_client.board.grid import BoardStyle, Grid, Scale
from tictactoe_engine import PRESETS, Keys, Rules

CLASSIC = PRESETS["classic"]
WIDE = Rules(rows=32, columns=32, line=5)


def drawn(view: BoardView, style: BoardStyle | None = None) -> str:
    return "\n".join(render_board(view, style))


def test_a_compact_board_of_three_by_three() -> None:
    view = BoardView(CLASSIC, "X...O....", last=4)
    assert drawn(view, BoardStyle(mark_last=False)) == "   A B C\n1  X . .\n2  . O .\n3  . . ."


def test_the_last_move_stands_in_parentheses() -> None:
    assert drawn(BoardView(CLASSIC, "X...O....", last=4)) == "   A B C\n1  X . .\n2  .(O).\n3  . . ."


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ((0, 3, 1, 4, 2), "   A B C\n1 <X X X>\n2  O O .\n3  . . ."),
        ((0, 1, 3, 4, 6), "   A B C\n1 <X>O .\n2 <X>O .\n3 <X>. ."),
        ((0, 1, 4, 2, 8), "   A B C\n1 <X>O O\n2  .<X>.\n3  . .<X>"),
        ((0, 3, 1, 7, 5, 4, 8, 6, 2), "   A B C\n1 <X X X>\n2  O O<X>\n3  O O<X>"),
    ],
)
def test_a_winning_line_stands_in_angle_brackets(moves: tuple[int, ...], expected: str) -> None:
    assert drawn(BoardView.of(state(moves))) == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (Keys.PHONE, "   A B C\n1  X . .     . 2 3\n2  . . .     4 5 6\n3  . . .     7 8 9"),
        (Keys.PAD, "   A B C\n1  X . .     . 8 9\n2  . . .     4 5 6\n3  . . .     1 2 3"),
        (Keys.LETTERS, "   A B C\n1  X . .     . w e\n2  . . .     a s d\n3  . . .     z x c"),
    ],
)
def test_the_keys_of_free_cells_stand_beside_the_board(keys: Keys, expected: str) -> None:
    assert drawn(BoardView(CLASSIC, "X........"), BoardStyle(keys=keys)) == expected


def test_keys_beside_a_closed_row_stay_in_their_column() -> None:
    lines = render_board(BoardView(CLASSIC, "..X......", last=2), BoardStyle(keys=Keys.PHONE))
    assert [line.rstrip()[-5:] for line in lines[1:]] == ["1 2 .", "4 5 6", "7 8 9"]
    assert len({len(line) for line in lines[1:]}) == 1


def test_a_framed_board_has_the_keys_inside_and_the_cursor_in_brackets() -> None:
    view = BoardView(CLASSIC, "X...O....", last=4, cursor=5)
    assert drawn(view, BoardStyle(scale=1, keys=Keys.PHONE)) == "\n".join(
        (
            "     A     B     C",
            "  ┌─────┬─────┬─────┐",
            "1 │  X  │  2  │  3  │",
            "  ├─────┼─────┼─────┤",
            "2 │  4  │ (O) │ [6] │",
            "  ├─────┼─────┼─────┤",
            "3 │  7  │  8  │  9  │",
            "  └─────┴─────┴─────┘",
        )
    )


def test_a_framed_board_in_ascii_alone() -> None:
    text = drawn(BoardView(Rules(rows=2, columns=2, line=2), "X..O"), BoardStyle(scale=1, ascii=True))
    assert text == "    A   B\n  +---+---+\n1 | X |   |\n  +---+---+\n2 |   | O |\n  +---+---+"


def test_a_board_of_fifteen_by_fifteen() -> None:
    board = "." * 112 + "X" + "O" + "." * 111
    lines = render_board(BoardView(PRESETS["gomoku"], board, last=113))
    assert lines[0] == "    A B C D E F G H I J K L M N O"
    assert lines[1] == " 1  . . . . . . . . . . . . . . ."
    assert lines[8] == " 8  . . . . . . . X(O). . . . . ."
    assert len(lines) == 16


def test_a_board_of_thirty_two_by_thirty_two_fits_eighty_columns() -> None:
    lines = render_board(BoardView(WIDE, "." * 1023 + "X", last=1023))
    assert lines[0].endswith("  A A A A A A")
    assert lines[1] == "    A B C D E F G H I J K L M N O P Q R S T U V W X Y Z A B C D E F"
    assert lines[-1].startswith("32  . .")
    assert lines[-1].endswith(".(X)")
    assert max(map(len, lines)) <= 80


def test_blocked_cells_are_drawn_as_what_they_are() -> None:
    assert drawn(BoardView(PRESETS["blocker"], "....#....")).splitlines()[2] == "2  . # ."


def test_without_colour_there_is_no_escape_and_with_it_the_text_is_the_same() -> None:
    view = BoardView.of(state((0, 3, 1, 4, 2)))
    plain, coloured = drawn(view), drawn(view, BoardStyle(colour=True))
    assert "\x1b" not in plain
    assert "\x1b" in coloured
    bare = coloured
    for code in ("0", "1;36", "36", "33", "2"):
        bare = bare.replace(f"\x1b[{code}m", "")
    assert bare == plain


@pytest.mark.parametrize("scale", [0, 1])
@pytest.mark.parametrize("rules", [CLASSIC, PRESETS["gomoku"], WIDE])
def test_a_board_never_needs_more_than_its_measure(rules: Rules, scale: Scale) -> None:
    style = BoardStyle(scale=scale, keys=Keys.PHONE)
    grid = Grid.of(rules, style)
    board = "X" * rules.size
    lines = render_board(BoardView(rules, board, line=frozenset(range(rules.size))), style)
    assert max(map(len, lines)) <= grid.width
    assert len(lines) == grid.height


@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_cursor_is_whole_beside_the_last_move(ascii_only: bool) -> None:
    style = BoardStyle(ascii=ascii_only)
    left, last, right = "X", "O", "X"
    for cursor, drawn in ((0, "[X]O)X"), (1, " X[O]X"), (2, " X(O[X]")):
        view = BoardView(Rules(4, 4, 4), f"{left}{last}{right}.............", last=1, cursor=cursor)
        assert render_board(view, style)[1].startswith(f"1 {drawn}")
