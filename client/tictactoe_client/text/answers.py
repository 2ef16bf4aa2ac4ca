"""What is asked about a position, answered from its state alone: in a game, offline, in a record; read aloud too. Pure.

Cells are row-major from 0. What would be long is put together: ``A to G empty, H X``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from tictactoe_client.board.board import BoardStyle, BoardView, render_board
from tictactoe_client.settings import Settings
from tictactoe_client.text.help import describe_help
from tictactoe_client.text.wording import (
    count,
    describe_cell,
    describe_turn,
    format_duration,
    list_free,
    name_of,
    seat_of,
)
from tictactoe_engine import Keys, Rules, format_cell, format_column, has_single_keys
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState

MOST_RUNS: Final = 12
_SHORTEST_SPAN: Final = 4
_DIRECTIONS: Final = ((0, 1), (1, 0), (1, 1), (1, -1))
_CLOCKWISE: Final = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))


@dataclass(frozen=True, slots=True)
class Run:
    """Marks of one kind in an unbroken line, and the free cells at its ends."""

    mark: str
    cells: tuple[int, ...]
    open_ends: tuple[int, ...]


def read_aloud(kind: str, index: int | None, state: RoomState) -> list[str]:
    """Return a part of the board, `kind` and `index` as in `intents.Read`."""
    if kind == "row" and index is not None:
        return [read_row(state, index)]
    if kind == "column" and index is not None:
        return [read_column(state, index)]
    cell = state.last if index is None else index
    if cell is None:
        return ["No move has been played yet: name a cell."]
    if kind == "around":
        return [read_around(state, cell)]
    return read_diagonals(state, cell) if kind == "diagonals" else [read_cell(state, cell)]


def read_row(state: RoomState, row: int) -> str:
    """Return one row aloud, row from 0: ``Row 1: A X, B empty, C X.``"""
    columns = state.rules.columns
    named = [(format_column(column), state.board[row * columns + column]) for column in range(columns)]
    return f"Row {row + 1}: {_read(named)}."


def read_column(state: RoomState, column: int) -> str:
    """Return one column aloud, column from 0: ``Column A: 1 X, 2 empty, 3 O.``"""
    columns = state.rules.columns
    named = [(str(row + 1), state.board[row * columns + column]) for row in range(state.rules.rows)]
    return f"Column {format_column(column)}: {_read(named)}."


def read_cell(state: RoomState, cell: int) -> str:
    """Return what lies on a cell: ``B2: X.``"""
    last = ", the last move" if cell == state.last else ""
    return f"{format_cell(cell, state.rules.to_rules())}: {_aloud(state.board[cell])}{last}."


def read_diagonals(state: RoomState, cell: int) -> list[str]:
    """Return the diagonals through a cell aloud, the falling one first: ``Diagonal A1 to C3: A1 X, B2 O, C3 empty.``"""
    rules = state.rules.to_rules()
    told = []
    for down, right in ((1, 1), (-1, 1)):
        before = list(_walk(cell, -down, -right, rules))
        cells = [*reversed(before), cell, *_walk(cell, down, right, rules)]
        if len(cells) > 1:
            first, last = format_cell(cells[0], rules), format_cell(cells[-1], rules)
            told.append(f"Diagonal {first} to {last}: {_read_cells(cells, state, rules)}.")
    return told or [f"{format_cell(cell, rules)} lies on no diagonal."]


def read_around(state: RoomState, cell: int) -> str:
    """Return the neighbours of a cell, clockwise from the one above it; those off the board are left out."""
    rules = state.rules.to_rules()
    steps = (next(_walk(cell, down, right, rules), None) for down, right in _CLOCKWISE)
    told = [f"{format_cell(near, rules)} {_aloud(state.board[near])}" for near in steps if near is not None]
    centre = f"{format_cell(cell, rules)} ({_aloud(state.board[cell])})"
    return f"Around {centre}, clockwise from above: {', '.join(told)}."


def list_marks(state: RoomState, mark: str | None = None) -> list[str]:
    """Return the cells of a mark, of each one where none is named: ``X, 2 cells: A1 B2.``"""
    rules = state.rules.to_rules()
    told = []
    for one in rules.marks if mark is None else mark:
        cells = [format_cell(cell, rules) for cell, lies in enumerate(state.board) if lies == one]
        told.append(f"{one}, {count(len(cells), 'cell')}: {' '.join(cells)}." if cells else f"{one}, no cell.")
    return told


def list_runs(state: RoomState) -> list[str]:
    """Return the marks that stand in a row, the longest first: ``X, 4 in a row: H8 to K8, open at G8 L8.``

    Told are those that lack at most two marks of a line, of two marks at least, twelve of them at most.
    """
    rules = state.rules.to_rules()
    least = max(2, rules.line - 2)
    runs = sorted(find_runs(state.board, rules, least), key=lambda run: -len(run.cells))
    told = [_describe_run(run, rules) for run in runs[:MOST_RUNS]]
    if len(runs) > MOST_RUNS:
        told.append(f"And {len(runs) - MOST_RUNS} more.")
    return told or [f"Nobody has {least} in a row."]


def find_runs(board: str, rules: Rules, least: int) -> list[Run]:
    """Return all unbroken lines of at least `least` equal marks, in the order of their first cells."""
    runs = []
    for cell, mark in enumerate(board):
        if mark not in rules.marks:
            continue
        for down, right in _DIRECTIONS:
            before = next(_walk(cell, -down, -right, rules), None)
            if before is not None and board[before] == mark:
                continue
            cells, after = [cell], None
            for following in _walk(cell, down, right, rules):
                if board[following] != mark:
                    after = following
                    break
                cells.append(following)
            if len(cells) >= least:
                ends = tuple(end for end in (before, after) if end is not None and board[end] == ".")
                runs.append(Run(mark, tuple(cells), ends))
    return runs


def describe_lines(state: RoomState) -> str:
    """Return the deciding line or lines as sentences, ``Row 1 is X X X.``, or "" where no line decided."""
    if state.result is None:
        return ""
    rules = state.rules.to_rules()
    return " ".join(_describe_line(run, state.board, rules) for run in split_lines(state.result.line, rules))


def split_lines(cells: Collection[int], rules: Rules) -> list[tuple[int, ...]]:
    """Return the straight runs of at least `rules.line` cells that a result's cells are made of.

    >>> split_lines((0, 1, 2, 3, 6), Rules())
    [(0, 1, 2), (0, 3, 6)]
    """
    board = "".join(rules.marks[0] if cell in cells else "." for cell in range(rules.size if cells else 0))
    return [run.cells for run in find_runs(board, rules, rules.line)]


def _describe_line(cells: tuple[int, ...], board: str, rules: Rules) -> str:
    marks = " ".join(board[cell] for cell in cells)
    first, last = format_cell(cells[0], rules), format_cell(cells[-1], rules)
    if cells[1] == cells[0] + 1:
        part = "" if len(cells) == rules.columns else f", {first} to {last},"
        return f"Row {cells[0] // rules.columns + 1}{part} is {marks}."
    if cells[1] == cells[0] + rules.columns:
        part = "" if len(cells) == rules.rows else f", {first} to {last},"
        return f"Column {format_column(cells[0] % rules.columns)}{part} is {marks}."
    return f"The diagonal {first} to {last} is {marks}."


def list_moves(state: RoomState, moves: Sequence[int], last: int | None = None) -> str:
    """Return the moves in their order, the `last` ones of them: ``1 X A1, 2 O B2.``"""
    rules = state.rules.to_rules()
    first = 0 if last is None else max(0, len(moves) - last)
    numbered = (
        f"{ply} {state.board[cell]} {format_cell(cell, rules)}" for ply, cell in enumerate(moves[first:], first + 1)
    )
    return f"Moves: {', '.join(numbered)}." if moves else "No move has been played yet."


def _describe_run(run: Run, rules: Rules) -> str:
    first, last = format_cell(run.cells[0], rules), format_cell(run.cells[-1], rules)
    ends = f"open at {' '.join(format_cell(end, rules) for end in run.open_ends)}" if run.open_ends else "closed"
    return f"{run.mark}, {len(run.cells)} in a row: {first} to {last}, {ends}."


def _walk(cell: int, down: int, right: int, rules: Rules) -> Iterator[int]:
    """Yield the cells that follow in a direction, up to the edge."""
    row, column = divmod(cell, rules.columns)
    while True:
        row, column = row + down, column + right
        if not (0 <= row < rules.rows and 0 <= column < rules.columns):
            return
        yield row * rules.columns + column


def _read_cells(cells: Sequence[int], state: RoomState, rules: Rules) -> str:
    return _read([(format_cell(cell, rules), state.board[cell]) for cell in cells])


def _read(named: Sequence[tuple[str, str]]) -> str:
    """Return named cells with what lies on them; four and more alike are put together."""
    told = []
    for mark, group in groupby(named, key=lambda one: one[1]):
        names = [name for name, _ in group]
        if len(names) >= _SHORTEST_SPAN:
            names = [f"{names[0]} to {names[-1]}"]
        told += [f"{name} {_aloud(mark)}" for name in names]
    return ", ".join(told)


def _aloud(mark: str) -> str:
    return {".": "empty", "#": "blocked"}.get(mark, mark)


MOST_FREE_CELLS: Final = 30


def answer_query(
    kind: str,
    state: RoomState,
    viewer: str,
    settings: Settings,
    unblamed: Collection[str] = (),
    passed_seconds: float = 0.0,
) -> list[str]:
    """Return the answer to a query of `intents`, so many seconds after the state came; `unblamed` are not blamed."""
    if kind == "board":
        return draw_board(state, settings)
    if kind == "last":
        return [describe_last(state, viewer)]
    if kind == "clock":
        return [describe_clocks(state, passed_seconds)]
    if kind == "who":
        return [describe_company(state, viewer, unblamed)]
    if kind == "free":
        return [list_free(state, MOST_FREE_CELLS)]
    if kind == "runs":
        return list_runs(state)
    if kind == "help":
        return describe_help(state, settings, viewer)
    return [describe_turn(state, viewer)]


def draw_board(state: RoomState, settings: Settings) -> list[str]:
    """Return the board as plain mode shows it: keys beside it where other than digits from the top were chosen."""
    rules = state.rules.to_rules()
    keys = settings.keys if settings.keys != Keys.PHONE and state.status != "over" else None
    style = BoardStyle(colour=settings.colour, keys=keys, mark_last=not has_single_keys(rules))
    return render_board(BoardView.of(state), style)


def describe_last(state: RoomState, viewer: str) -> str:
    """Return the last move: ``Last: ana played C1, top right.``"""
    if state.last is None:
        return "No move has been played yet."
    mark = state.board[state.last]
    who = "you" if mark == seat_of(state, viewer) else name_of(state, mark)
    return f"Last: {who} played {describe_cell(state.last, state.rules.to_rules())}."


def describe_clocks(state: RoomState, passed_seconds: float = 0.0) -> str:
    """Return what is left on each clock, so many seconds after the state: the one that runs has gone on."""
    if state.clock is None:
        return "There is no clock."
    passed = {state.clock.running: round(passed_seconds * 1000)}
    left = {mark: ms - passed.get(mark, 0) for mark, ms in state.clock.remaining_ms.items()}
    return f"Left: {', '.join(f'{name_of(state, mark)} {format_duration(ms)}' for mark, ms in left.items())}."


def describe_company(state: RoomState, viewer: str, unblamed: Collection[str] = ()) -> str:
    """Return who is here, whether they are online, and how many watch.

    `unblamed` are the marks of those who have been away since a loss of the viewer's own connection: it may have been
    the server that was lost to all.
    """
    parts = []
    for mark, seat in state.seats.items():
        if seat is not None and seat.player == viewer and not seat.left:
            parts.append(f"You are {mark}.")
        elif seat is None:
            parts.append(f"The seat {mark} is free.")
        else:
            away = "is not here" if mark in unblamed else "has dropped"
            presence = "has left" if seat.left else "is online" if seat.online else away
            bot = f" (computer, {clean_text(seat.bot)})" if seat.bot else ""
            parts.append(f"{clean_text(seat.name)}{bot} is {mark} and {presence}.")
    if state.watchers:
        parts.append(f"{state.watchers} watching.")
    return " ".join(parts)
