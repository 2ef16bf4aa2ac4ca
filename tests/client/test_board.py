import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.client.states import state
from tictactoe_client.board.board import BoardView, draw_board, drop_frames, mark_role, render_board
from tictactoe_client.board.grid import BoardStyle, Grid, Scale
from tictactoe_engine import FREE, PRESETS, Keys, Rules, format_column

CLASSIC = PRESETS["classic"]
WIDE = Rules(rows=32, columns=32, line=5)


def drawn(view: BoardView, style: BoardStyle | None = None) -> str:
    return "\n".join(render_board(view, style))


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ((0, 3, 1, 4, 2), "   A B C\n1 <X X X>\n2  O O .\n3  . . ."),
        ((0, 1, 3, 4, 6), "   A B C\n1 <X>O .\n2 <X>O .\n3 <X>. ."),
        ((0, 1, 4, 2, 8), "   A B C\n1 <X>O O\n2  .<X>.\n3  . .<X>"),
        ((0, 3, 1, 7, 5, 4, 8, 6, 2), "   A B C\n1 <X X X>\n2  O O<X>\n3  O O<X>"),
    ],
)
def test_a_winning_line_is_in_angle_brackets(moves: tuple[int, ...], expected: str) -> None:
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


def test_a_board_of_thirty_two_by_thirty_two_fits_eighty_columns() -> None:
    lines = render_board(BoardView(WIDE, "." * 1023 + "X", last=1023))
    assert lines[0].endswith("  A A A A A A")
    assert lines[1] == "    A B C D E F G H I J K L M N O P Q R S T U V W X Y Z A B C D E F"
    assert lines[-1].startswith("32  . .")
    assert lines[-1].endswith(".(X)")
    assert max(map(len, lines)) <= 80


def test_without_colour_there_is_no_escape_and_with_it_the_text_is_the_same() -> None:
    view = BoardView.of(state((0, 3, 1, 4, 2)))
    plain, coloured = drawn(view), drawn(view, BoardStyle(colour=True))
    assert "\x1b" not in plain
    assert "\x1b" in coloured
    bare = coloured
    for code in ("0", "1;36", "36", "33", "2"):
        bare = bare.replace(f"\x1b[{code}m", "")
    assert bare == plain


@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_cursor_is_whole_beside_the_last_move(ascii_only: bool) -> None:
    style = BoardStyle(ascii=ascii_only)
    left, last, right = "X", "O", "X"
    for cursor, drawn in ((0, "[X]O)X"), (1, " X[O]X"), (2, " X(O[X]")):
        view = BoardView(Rules(4, 4, 4), f"{left}{last}{right}.............", last=1, cursor=cursor)
        assert render_board(view, style)[1].startswith(f"1 {drawn}")


SCALES: tuple[Scale, ...] = (0, 1, 2, 3)
STYLES = [BoardStyle(ascii=ascii, scale=scale) for scale in SCALES for ascii in (False, True)]
BOARDS = st.tuples(st.integers(1, 32), st.integers(1, 32)).filter(lambda sides: max(sides) > 1)


def board_of(rows: int, columns: int) -> Rules:
    return Rules(rows, columns, max(2, min(rows, columns)))


def draw_text(view: BoardView, grid: Grid) -> list[str]:
    return ["".join(character for character, _ in row).rstrip() for row in draw_board(view, grid)]


@st.composite
def boards(draw: st.DrawFn) -> tuple[BoardView, Grid]:
    """Draw boards of every shape, whole or in part, with marks, a last move, a line, a cursor and a move."""
    rules = board_of(*draw(BOARDS))
    cell = st.integers(0, rules.size - 1)
    board = "".join(("XO" + FREE)[each % 3] for each in draw(st.binary(min_size=rules.size, max_size=rules.size)))
    rows, columns = draw(st.integers(1, rules.rows)), draw(st.integers(1, rules.columns))
    top, left = draw(st.integers(0, rules.rows - rows)), draw(st.integers(0, rules.columns - columns))
    view = BoardView(
        rules,
        board,
        last=draw(st.none() | cell),
        line=frozenset(draw(st.lists(cell, max_size=4))),
        cursor=draw(st.none() | cell),
        pending=draw(st.none() | st.tuples(cell, st.just("X"))),
    )
    part = range(top, top + rows), range(left, left + columns)
    whole = st.builds(Grid.of, st.just(rules), st.sampled_from(STYLES))
    return view, draw(whole | st.builds(Grid.of, st.just(rules), st.sampled_from(STYLES[:2]), *map(st.just, part)))


@given(boards(), st.data())
def test_the_cell_at_a_drawn_mark_is_its_own(board: tuple[BoardView, Grid], data: st.DataObject) -> None:
    view, grid = board
    row, column = data.draw(st.sampled_from(grid.rows)), data.draw(st.sampled_from(grid.columns))
    cell = row * view.rules.columns + column
    x, y = grid.middle_of(cell)
    assert grid.find_cell(x, y) == cell
    assert grid.shows(cell)
    if grid.tall == 1:
        mark = "x" if view.pending is not None and view.pending[0] == cell else view.board[cell]
        assert draw_board(view, grid)[y][x][0] == (mark if not grid.style.scale or mark != FREE else " ")


@given(boards(), st.integers(-3, 400), st.integers(-3, 200))
def test_whatever_place_is_asked_for_holds_a_shown_cell_or_none(board: tuple[BoardView, Grid], x: int, y: int) -> None:
    _, grid = board
    cell = grid.find_cell(x, y)
    if cell is not None:
        assert grid.shows(cell)
        place = grid.middle_of(cell)
        assert abs(place[0] - x) <= 5
        assert abs(place[1] - y) <= 2


@given(boards())
def test_board_lines_have_equal_width_within_the_limit(board: tuple[BoardView, Grid]) -> None:
    view, grid = board
    lines = draw_text(view, grid)
    assert len(lines) == grid.height
    assert max(map(len, lines[: None if grid.is_whole else -1])) <= grid.width
    assert len(lines[-1]) <= grid.width + 2
    if grid.style.ascii:
        assert "\n".join(lines).isascii()


@given(boards())
def test_letters_stand_over_their_columns_and_numbers_beside_their_rows(board: tuple[BoardView, Grid]) -> None:
    view, grid = board
    lines = draw_text(view, grid)
    for row in grid.rows:
        for column in grid.columns:
            x, y = grid.middle_of(row * view.rules.columns + column)
            assert lines[y][: grid.left - 1].split()[0].strip("<◂") == str(row + 1)
            name = format_column(column)
            if grid.style.scale:
                assert name in lines[0][x - 1 : x + 2]
            else:
                assert "".join(line[x : x + 1] for line in lines[: grid.top]).strip() == name


@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize(("scale", "reach"), [(2, (3, 1)), (3, (5, 2))])
def test_large_cells_are_hit_anywhere_and_the_grid_never(scale: Scale, reach: tuple[int, int], *, ascii: bool) -> None:
    grid = Grid.of(Rules(), BoardStyle(ascii=ascii, scale=scale))
    (x, y), (across, along) = grid.middle_of(4), reach
    assert {grid.find_cell(x + dx, y + dy) for dx in (-across, across) for dy in (-along, along)} == {4}
    assert grid.find_cell(x + across + 1, y) is None
    assert grid.find_cell(x + across + 2, y) == 5
    assert grid.find_cell(x, y - along - 1) is None
    assert grid.find_cell(x, y - along - 2) == 1


def test_marks_fill_large_cells_and_every_shape_stays() -> None:
    view = BoardView(Rules(), "X...O....", last=4, cursor=4, pending=(8, "X"))
    assert render_board(view, BoardStyle(keys=Keys.PHONE, scale=2)) == [
        "      A       B       C",
        "    ▀▄ ▄▀ │       │",
        "1    ▄▀▄  │   2   │   3",
        "    ▀   ▀ │       │",
        "   ───────┼───────┼───────",
        "          │┏▄▀▀▀▄┓│",
        "2     4   │┃█( )█┃│   6",
        "          │┗ ▀▀▀ ┛│",
        "   ───────┼───────┼───────",
        "          │       │",
        "3     7   │   8   │   x?",
        "          │       │",
    ]


def test_in_ascii_a_large_mark_is_made_of_its_letter() -> None:
    lines = render_board(BoardView(Rules(), "X...O...."), BoardStyle(ascii=True, scale=2))
    assert lines[1:8] == [
        "    X   X |       |",
        "1     X   |       |",
        "    X   X |       |",
        "   -------+-------+-------",
        "          |  OOO  |",
        "2         | O   O |",
        "          |  OOO  |",
    ]


@pytest.mark.parametrize(
    ("board", "line", "sign", "ascii_sign"),
    [
        ("XXXOO....", (0, 1, 2), "━", "-"),
        ("OXXO.XO..", (0, 3, 6), "┃", "|"),
        ("XO.OX...X", (0, 4, 8), "▄", "\\"),
        ("X.OXO.OX.", (2, 4, 6), "▀", "/"),
    ],
)
@pytest.mark.parametrize("scale", [2, 3])
def test_the_winning_line_is_drawn(board: str, line: tuple[int, ...], sign: str, ascii_sign: str, scale: Scale) -> None:
    view = BoardView(Rules(), board, line=frozenset(line), last=line[-1])
    grid = Grid.of(Rules(), BoardStyle(scale=scale))
    rows = draw_board(view, grid)
    (x, y), (to_x, to_y) = grid.middle_of(line[0]), grid.middle_of(line[1])
    crossing = (x + to_x) // 2, (y + to_y) // 2
    strong = mark_role(board[line[0]], Rules(), strong=True)
    around = rows[crossing[1]][crossing[0] - 1 : crossing[0] + 2]
    assert (sign, strong) in around
    assert rows[crossing[1]][crossing[0]][1] == strong
    plain = draw_board(view, Grid.of(Rules(), BoardStyle(scale=scale, ascii=True)))
    assert plain[crossing[1]][crossing[0]][0] == ascii_sign


def test_gravity_boards_have_columns_with_a_digit_in_each_landing_cell() -> None:
    rules = Rules(2, 3, 2, gravity=True)
    assert render_board(BoardView(rules, "X..O.."), BoardStyle(keys=Keys.PAD, scale=2)) == [
        "  │▀▄ ▄▀│     │     │",
        "2 │ ▄▀▄ │     │     │",
        "  │▀   ▀│     │     │",
        "  │▄▀▀▀▄│     │     │",
        "1 │█   █│  2  │  3  │",
        "  │ ▀▀▀ │     │     │",
        "  └──A──┴──B──┴──C──┘",
    ]
    wide = BoardView(Rules(2, 10, 2, gravity=True), FREE * 20)
    assert not set("123") & set("".join(line[2:] for line in render_board(wide, BoardStyle(scale=1, keys=Keys.PHONE))))


def test_a_mark_that_falls_passes_a_few_cells_on_its_way() -> None:
    rules = PRESETS["connect-four"]
    board = FREE * 38 + "X" + FREE * 3
    frames = drop_frames(board, rules.columns, 38, 3)
    assert [frame.index("X") for frame in frames] == [3, 17, 31]
    assert all(frame.count("X") == 1 and len(frame) == rules.size for frame in frames)
    assert drop_frames("X..", 3, 0, 3) == []


def test_large_boards_for_five_have_star_points() -> None:
    rules = PRESETS["gomoku"]
    board = FREE * 112 + "X" + FREE * 112
    lines = render_board(BoardView(rules, board), BoardStyle(stars=True))
    assert "".join(lines).count("+") == 4
    assert lines[4] == " 4  . . . + . . . . . . . + . . ."
    assert "+" not in "".join(render_board(BoardView(rules, board)))
    assert "+" not in "".join(render_board(BoardView(PRESETS["four"], FREE * 25), BoardStyle(stars=True)))
