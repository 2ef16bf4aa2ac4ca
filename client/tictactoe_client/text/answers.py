"""What is asked about a position, answered from its state alone: in a game, offline, in a record, read aloud. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from tictactoe_client.board.board import BoardView, render_board
from tictactoe_client.board.grid import BoardStyle
from tictactoe_client.settings import Settings
from tictactoe_client.text.help import describe_help
from tictactoe_client.text.wording import NO_MOVE_YET, list_free, name_played
from tictactoe_engine import BLOCKED, FREE, Keys, Rules, format_cell, format_column, has_single_keys
from tictactoe_protocol import clean_text
from tictactoe_protocol.lines import describe_reach, find_runs, walk
from tictactoe_protocol.pushes import RoomState, SeatState
from tictactoe_protocol.wording import count, describe_cell, describe_turn, format_duration, name_of, seat_of

_MOST_FREE_CELLS: Final = 30
_MOST_RUNS: Final = 12
_SHORTEST_SPAN: Final = 4
_CLOCKWISE: Final = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))


def answer_query(
    kind: str, number: int | None, state: RoomState, viewer: str, settings: Settings, passed_seconds: float = 0.0
) -> list[str]:
    """Return the answer to a query of `intents`, so many seconds after the state came."""
    match kind:
        case "board":
            return draw_board(state, settings)
        case "last":
            return [describe_last(state, viewer)]
        case "clock" if state.clock is not None:
            passed = {state.clock.running: round(passed_seconds * 1000)}
            left = {mark: format_duration(ms - passed.get(mark, 0)) for mark, ms in state.clock.remaining_ms.items()}
            return [f"Left: {', '.join(f'{name_of(state, mark)} {time}' for mark, time in left.items())}."]
        case "clock":
            return ["There is no clock."]
        case "who":
            told = [_describe_seat(mark, seat, viewer) for mark, seat in state.seats.items()]
            return [" ".join([*told, f"{state.watchers} watching."] if state.watchers else told)]
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
    keys = settings.keys if settings.keys != Keys.PHONE and state.status != "over" else None
    mark_last = not has_single_keys(state.rules.to_rules())
    return render_board(BoardView.of(state), BoardStyle(colour=settings.colour, keys=keys, mark_last=mark_last))


def describe_last(state: RoomState, viewer: str) -> str:
    """Return the last move: ``Last: ana played C1, top right.``"""
    if state.last is None:
        return NO_MOVE_YET
    mark = state.board[state.last]
    who = "you" if mark == seat_of(state, viewer) else name_of(state, mark)
    return f"Last: {who} played {describe_cell(state.last, state.rules.to_rules())}."


def _describe_seat(mark: str, seat: SeatState | None, viewer: str) -> str:
    if seat is None:
        return f"The seat {mark} is free."
    if seat.player == viewer and not seat.left:
        return f"You are {mark}."
    presence = "has left" if seat.left else "is online" if seat.online else "is not here"
    bot = f" (computer, {clean_text(seat.bot)})" if seat.bot else ""
    return f"{clean_text(seat.name)}{bot} is {mark} and {presence}."


# -- the board read aloud -------------------------------------------------------------------------------------------


def read_aloud(kind: str, index: int | None, state: RoomState) -> list[str]:
    """Return a part of the board, ``Row 1: A X, B empty, C X.``; what is about a cell, by default the last one."""
    rules, board = state.rules.to_rules(), state.board
    columns = rules.columns
    if kind == "row" and index is not None:
        names = map(format_column, range(columns))
        return [_read(f"Row {index + 1}", names, board[index * columns : (index + 1) * columns])]
    if kind == "column" and index is not None:
        return [_read(f"Column {format_column(index)}", map(str, range(1, rules.rows + 1)), board[index::columns])]
    cell = state.last if index is None else index
    if cell is None:
        return [f"{NO_MOVE_YET[:-1]}: name a cell."]
    if kind == "around":
        steps = (next(walk(cell, down, right, rules), None) for down, right in _CLOCKWISE)
        told = [f"{format_cell(near, rules)} {_aloud(board[near])}" for near in steps if near is not None]
        return [f"Around {format_cell(cell, rules)} ({_aloud(board[cell])}), clockwise from above: {', '.join(told)}."]
    if kind == "diagonals":
        return _read_diagonals(cell, rules, board)
    return [read_cell(state, cell)]


def read_cell(state: RoomState, cell: int) -> str:
    """Return what lies on a cell: ``B2: X.``"""
    last = ", the last move" if cell == state.last else ""
    return f"{format_cell(cell, state.rules.to_rules())}: {_aloud(state.board[cell])}{last}."


def _read_diagonals(cell: int, rules: Rules, board: str) -> list[str]:
    """Return the diagonals through a cell, the falling one first: ``Diagonal A1 to C3: A1 X, B2 O, C3 empty.``"""
    told = []
    for down in (1, -1):
        cells = [*reversed([*walk(cell, -down, -1, rules)]), cell, *walk(cell, down, 1, rules)]
        if len(cells) > 1:
            names = [format_cell(one, rules) for one in cells]
            told.append(_read(f"Diagonal {names[0]} to {names[-1]}", names, [board[one] for one in cells]))
    return told or [f"{format_cell(cell, rules)} lies on no diagonal."]


def _read(title: str, names: Iterable[str], marks: Sequence[str]) -> str:
    """Return named cells with what lies on them; four and more alike are put together."""
    told = []
    for mark, group in groupby(zip(names, marks, strict=True), key=lambda one: one[1]):
        alike = [name for name, _ in group]
        if len(alike) >= _SHORTEST_SPAN:
            alike = [f"{alike[0]} to {alike[-1]}"]
        told += [f"{name} {_aloud(mark)}" for name in alike]
    return f"{title}: {', '.join(told)}."


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


def list_runs(state: RoomState) -> list[str]:
    """Return the marks in a row that lack at most two of a line: ``X, 4 in a row: H8 to K8, open at G8 L8.``"""
    rules = state.rules.to_rules()
    least = max(2, rules.line - 2)
    runs = sorted(find_runs(state.board, rules, least), key=lambda run: -len(run.cells))
    told = []
    for run in runs[:_MOST_RUNS]:
        ends = " ".join(format_cell(end, rules) for end in run.open_ends)
        reach = f"{describe_reach(run.cells, rules)}, {f'open at {ends}' if ends else 'closed'}"
        told.append(f"{run.mark}, {len(run.cells)} in a row: {reach}.")
    if len(runs) > _MOST_RUNS:
        told.append(f"And {len(runs) - _MOST_RUNS} more.")
    return told or [f"Nobody has {least} in a row."]
