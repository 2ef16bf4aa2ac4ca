"""What is asked about a position, answered from its state alone: in a game, offline, in a record, read aloud. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import Final

from tictactoe_client.board.board import BoardView, render_board
from tictactoe_client.board.grid import BoardStyle
from tictactoe_client.settings import Settings
from tictactoe_client.text.help import describe_help
from tictactoe_client.text.wording import (
    NO_MOVE_YET,
    count,
    describe_away,
    describe_cell,
    describe_turn,
    format_duration,
    list_free,
    name_of,
    name_played,
    seat_of,
)
from tictactoe_engine import BLOCKED, FREE, Keys, Rules, format_cell, format_column, has_single_keys
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState

_MOST_FREE_CELLS: Final = 30
_MOST_RUNS: Final = 12
_SHORTEST_SPAN: Final = 4
_DIRECTIONS: Final = ((0, 1), (1, 0), (1, 1), (1, -1))
_CLOCKWISE: Final = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))


def answer_query(
    kind: str,
    number: int | None,
    state: RoomState,
    viewer: str,
    settings: Settings,
    unblamed: Collection[str] = (),
    passed_seconds: float = 0.0,
) -> list[str]:
    """Return the answer to a query of `intents`, so many seconds after the state came; `unblamed` are not blamed."""
    match kind:
        case "board":
            return draw_board(state, settings)
        case "last":
            return [describe_last(state, viewer)]
        case "clock":
            return [_describe_clocks(state, passed_seconds)]
        case "who":
            return [_describe_company(state, viewer, unblamed)]
        case "free":
            return [list_free(state, _MOST_FREE_CELLS)]
        case "runs":
            return list_runs(state)
        case "marks":
            return list_marks(state, number)
        case "help":
            return describe_help(state, settings, viewer)
        case "turn":
            return [describe_turn(state, viewer)]
    return read_aloud(kind, number, state)


def draw_board(state: RoomState, settings: Settings) -> list[str]:
    """Return the board as plain mode shows it: keys beside it where other than digits from the top were chosen."""
    rules = state.rules.to_rules()
    keys = settings.keys if settings.keys != Keys.PHONE and state.status != "over" else None
    style = BoardStyle(colour=settings.colour, keys=keys, mark_last=not has_single_keys(rules))
    return render_board(BoardView.of(state), style)


def describe_last(state: RoomState, viewer: str) -> str:
    """Return the last move: ``Last: ana played C1, top right.``"""
    if state.last is None:
        return NO_MOVE_YET
    mark = state.board[state.last]
    who = "you" if mark == seat_of(state, viewer) else name_of(state, mark)
    return f"Last: {who} played {describe_cell(state.last, state.rules.to_rules())}."


def _describe_clocks(state: RoomState, passed_seconds: float) -> str:
    if state.clock is None:
        return "There is no clock."
    passed = {state.clock.running: round(passed_seconds * 1000)}
    left = {mark: ms - passed.get(mark, 0) for mark, ms in state.clock.remaining_ms.items()}
    return f"Left: {', '.join(f'{name_of(state, mark)} {format_duration(ms)}' for mark, ms in left.items())}."


def _describe_company(state: RoomState, viewer: str, unblamed: Collection[str]) -> str:
    """Return who is here; `unblamed` are away since the viewer's own connection was lost, perhaps the server to all."""
    parts = []
    for mark, seat in state.seats.items():
        if seat is None:
            parts.append(f"The seat {mark} is free.")
        elif seat.player == viewer and not seat.left:
            parts.append(f"You are {mark}.")
        else:
            away = describe_away(is_blamed=mark not in unblamed)
            presence = "has left" if seat.left else "is online" if seat.online else away
            bot = f" (computer, {clean_text(seat.bot)})" if seat.bot else ""
            parts.append(f"{clean_text(seat.name)}{bot} is {mark} and {presence}.")
    if state.watchers:
        parts.append(f"{state.watchers} watching.")
    return " ".join(parts)


# -- the board read aloud -------------------------------------------------------------------------------------------


def read_aloud(kind: str, index: int | None, state: RoomState) -> list[str]:
    """Return a part of the board, ``Row 1: A X, B empty, C X.``; what is about a cell, by default the last one."""
    columns = state.rules.columns
    if kind == "row" and index is not None:
        marks = state.board[index * columns : (index + 1) * columns]
        return [f"Row {index + 1}: {_read([(format_column(at), mark) for at, mark in enumerate(marks)])}."]
    if kind == "column" and index is not None:
        marks = state.board[index::columns]
        return [f"Column {format_column(index)}: {_read([(str(row), mark) for row, mark in enumerate(marks, 1)])}."]
    cell = state.last if index is None else index
    if cell is None:
        return [f"{NO_MOVE_YET[:-1]}: name a cell."]
    if kind == "around":
        return [_read_around(state, cell)]
    return _read_diagonals(state, cell) if kind == "diagonals" else [read_cell(state, cell)]


def read_cell(state: RoomState, cell: int) -> str:
    """Return what lies on a cell: ``B2: X.``"""
    last = ", the last move" if cell == state.last else ""
    return f"{format_cell(cell, state.rules.to_rules())}: {_aloud(state.board[cell])}{last}."


def _read_diagonals(state: RoomState, cell: int) -> list[str]:
    """Return the diagonals through a cell, the falling one first: ``Diagonal A1 to C3: A1 X, B2 O, C3 empty.``"""
    rules = state.rules.to_rules()
    told = []
    for down, right in ((1, 1), (-1, 1)):
        cells = [*reversed([*_walk(cell, -down, -right, rules)]), cell, *_walk(cell, down, right, rules)]
        named = [(format_cell(one, rules), state.board[one]) for one in cells]
        if len(cells) > 1:
            told.append(f"Diagonal {named[0][0]} to {named[-1][0]}: {_read(named)}.")
    return told or [f"{format_cell(cell, rules)} lies on no diagonal."]


def _read_around(state: RoomState, cell: int) -> str:
    """Return the neighbours of a cell, clockwise from the one above it; those off the board are left out."""
    rules = state.rules.to_rules()
    steps = (next(_walk(cell, down, right, rules), None) for down, right in _CLOCKWISE)
    told = [f"{format_cell(near, rules)} {_aloud(state.board[near])}" for near in steps if near is not None]
    centre = f"{format_cell(cell, rules)} ({_aloud(state.board[cell])})"
    return f"Around {centre}, clockwise from above: {', '.join(told)}."


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
    return {FREE: "empty", BLOCKED: "blocked"}.get(mark, mark)


# -- lists of cells, lines and moves --------------------------------------------------------------------------------


def list_marks(state: RoomState, number: int | None = None) -> list[str]:
    """Return the cells of the mark of this number from 0, of each one where none is given: ``X, 2 cells: A1 B2.``"""
    rules = state.rules.to_rules()
    told = []
    for one in rules.marks if number is None else rules.marks[number]:
        cells = [format_cell(cell, rules) for cell, lies in enumerate(state.board) if lies == one]
        told.append(f"{one}, {count(len(cells), 'cell')}: {' '.join(cells)}." if cells else f"{one}, no cell.")
    return told


def list_moves(state: RoomState, moves: Sequence[int], last: int | None = None) -> str:
    """Return the moves in their order, the `last` ones of them: ``1 X A1, 2 O B2.``"""
    first = 0 if last is None else max(0, len(moves) - last)
    numbered = (f"{ply} {move}" for ply, move in enumerate(name_played(state, moves[first:]), first + 1))
    return f"Moves: {', '.join(numbered)}." if moves else NO_MOVE_YET


@dataclass(frozen=True, slots=True)
class Run:
    """Marks of one kind in an unbroken line, and the free cells at its ends."""

    mark: str
    cells: tuple[int, ...]
    open_ends: tuple[int, ...]


def list_runs(state: RoomState) -> list[str]:
    """Return the marks in a row that lack at most two of a line: ``X, 4 in a row: H8 to K8, open at G8 L8.``"""
    rules = state.rules.to_rules()
    least = max(2, rules.line - 2)
    runs = sorted(find_runs(state.board, rules, least), key=lambda run: -len(run.cells))
    told = []
    for run in runs[:_MOST_RUNS]:
        ends = " ".join(format_cell(end, rules) for end in run.open_ends)
        reach = f"{_describe_reach(run.cells, rules)}, {f'open at {ends}' if ends else 'closed'}"
        told.append(f"{run.mark}, {len(run.cells)} in a row: {reach}.")
    more = [f"And {len(runs) - _MOST_RUNS} more."] if len(runs) > _MOST_RUNS else []
    return [*told, *more] or [f"Nobody has {least} in a row."]


def find_runs(board: str, rules: Rules, least: int) -> list[Run]:
    """Return all unbroken lines of at least `least` equal marks, in the order of their first cells."""
    runs = []
    for cell, mark in enumerate(board):
        for down, right in _DIRECTIONS if mark in rules.marks else ():
            before = next(_walk(cell, -down, -right, rules), None)
            if before is not None and board[before] == mark:
                continue
            cells = (cell, *takewhile(lambda one: board[one] == mark, _walk(cell, down, right, rules)))  # noqa: B023
            after = next(_walk(cells[-1], down, right, rules), None)
            if len(cells) >= least:
                ends = tuple(end for end in (before, after) if end is not None and board[end] == FREE)
                runs.append(Run(mark, cells, ends))
    return runs


def split_lines(cells: Collection[int], rules: Rules) -> list[tuple[int, ...]]:
    """Return the straight runs of at least `rules.line` cells that a result's cells are made of."""
    board = "".join(rules.marks[0] if cell in cells else FREE for cell in range(rules.size if cells else 0))
    return [run.cells for run in find_runs(board, rules, rules.line)]


def describe_lines(state: RoomState) -> str:
    """Return the deciding line or lines as sentences, ``Row 1 is X X X.``, or "" where no line decided."""
    rules, cells = state.rules.to_rules(), state.result.line if state.result else ()
    return " ".join(_describe_line(run, state.board, rules) for run in split_lines(cells, rules))


def _describe_line(cells: tuple[int, ...], board: str, rules: Rules) -> str:
    marks, (row, column) = " ".join(board[cell] for cell in cells), divmod(cells[0], rules.columns)
    reach = _describe_reach(cells, rules)
    if cells[1] == cells[0] + 1:
        return f"Row {row + 1}{'' if len(cells) == rules.columns else f', {reach},'} is {marks}."
    if cells[1] == cells[0] + rules.columns:
        return f"Column {format_column(column)}{'' if len(cells) == rules.rows else f', {reach},'} is {marks}."
    return f"The diagonal {reach} is {marks}."


def _describe_reach(cells: tuple[int, ...], rules: Rules) -> str:
    return f"{format_cell(cells[0], rules)} to {format_cell(cells[-1], rules)}"


def _walk(cell: int, down: int, right: int, rules: Rules) -> Iterator[int]:
    """Yield the cells that follow in a direction, up to the edge."""
    row, column = divmod(cell, rules.columns)
    while 0 <= (row := row + down) < rules.rows and 0 <= (column := column + right) < rules.columns:
        yield row * rules.columns + column
