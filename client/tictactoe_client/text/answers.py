"""Answers queries about a position from the room's state, without the server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from tictactoe_client.board.board import BoardView, render_board
from tictactoe_client.board.grid import BoardStyle
from tictactoe_client.settings import Settings
from tictactoe_client.text.wording import list_free, name_played
from tictactoe_engine import BLOCKED, FREE, Keys, Rules, format_cell, format_column, has_single_keys, number_row
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState, SeatState
from tictactoe_words.catalogue import say
from tictactoe_words.lines import describe_reach, find_runs, walk
from tictactoe_words.openings import mover_of
from tictactoe_words.scene import list_players
from tictactoe_words.wording import count, describe_cell, describe_level, format_duration, name_of, seat_of

_MOST_FREE_CELLS: Final = 30
_MOST_RUNS: Final = 12
_SHORTEST_SPAN: Final = 4
_CLOCKWISE: Final = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))


def answer_query(kind: str, number: int | None, state: RoomState, viewer: str, passed_ms: float = 0.0) -> list[str]:
    """Return the lines that answer a query, `passed_ms` after the state arrived."""
    match kind:
        case "last":
            return [describe_last(state, viewer)]
        case "clock" if state.clock is not None:
            clocks = {player.mark: player.clock_ms for player in list_players(state, viewer, passed_ms)}
            times = (f"{name_of(state, mark)} {format_duration(ms)}" for mark, ms in clocks.items() if ms is not None)
            return [say("time left", times=", ".join(times))]
        case "clock":
            return [say("no clock")]
        case "who":
            lines = [_describe_seat(mark, seat, viewer) for mark, seat in state.seats.items()]
            return [" ".join([*lines, f"{count(state.watchers, 'watcher')}."] if state.watchers else lines)]
        case "free":
            return [list_free(state, _MOST_FREE_CELLS)]
        case "runs":
            return list_runs(state)
        case "marks":
            return list_marks(state, number)
    return read_aloud(kind, number, state)


def draw_board(state: RoomState, settings: Settings) -> list[str]:
    """Return the lines of the board in plain mode; keys other than the default are shown next to it."""
    keys = settings.keys if settings.keys != Keys.PHONE and state.status != "over" else None
    mark_last = not has_single_keys(state.rules.to_rules())
    return render_board(BoardView.of(state), BoardStyle(colour=settings.colour, keys=keys, mark_last=mark_last))


def describe_last(state: RoomState, viewer: str) -> str:
    """Return a sentence about the last move, such as ``Last: ana played C1, top right.``"""
    if state.last is None:
        return say("no move yet")
    mark = mover_of(state)
    cell = describe_cell(state.last, state.rules.to_rules())
    is_own = mark == seat_of(state, viewer)
    return say("last of, you", cell=cell) if is_own else say("last of", name=name_of(state, mark), cell=cell)


def _describe_seat(mark: str, seat: SeatState | None, viewer: str) -> str:
    if seat is None:
        return say("seat free", mark=mark)
    if seat.player == viewer and not seat.left:
        return say("you are", mark=mark)
    name = clean_text(seat.name)
    name = say("computer at level", name=name, level=describe_level(seat.bot)) if seat.bot else name
    return say("seat left" if seat.left else "seat here" if seat.online else "seat away", name=name, mark=mark)


def read_aloud(kind: str, index: int | None, state: RoomState) -> list[str]:
    """Return a part of the board in words, such as ``Row 1: A X, B empty, C X.``

    Without an `index`, queries about a cell are about the last move.
    """
    rules, board = state.rules.to_rules(), state.board
    columns = rules.columns
    if kind == "row" and index is not None:
        names = map(format_column, range(columns))
        row = board[index * columns : (index + 1) * columns]
        return [say("read row", n=number_row(index, rules), cells=_read(names, row))]
    if kind == "column" and index is not None:
        column = board[index::columns][:: -1 if rules.gravity else 1]
        cells = _read(map(str, range(1, rules.rows + 1)), column)
        return [say("read column", name=format_column(index), cells=cells)]
    cell = state.last if index is None else index
    if cell is None:
        return [say("name a cell")]
    if kind == "around":
        steps = (next(walk(cell, down, right, rules), None) for down, right in _CLOCKWISE)
        neighbours = ", ".join(
            f"{format_cell(near, rules)} {_aloud(board[near])}" for near in steps if near is not None
        )
        return [say("read around", cell=format_cell(cell, rules), mark=_aloud(board[cell]), cells=neighbours)]
    if kind == "diagonals":
        return _read_diagonals(cell, rules, board)
    id = "lies last" if cell == state.last else "lies"
    return [say(id, cell=format_cell(cell, rules), mark=_aloud(board[cell]))]


def _read_diagonals(cell: int, rules: Rules, board: str) -> list[str]:
    diagonals = []
    for down in (1, -1):
        cells = [*reversed([*walk(cell, -down, -1, rules)]), cell, *walk(cell, down, 1, rules)]
        if len(cells) > 1:
            names = [format_cell(cell, rules) for cell in cells]
            lying = _read(names, [board[cell] for cell in cells])
            diagonals.append(say("read diagonal", first=names[0], last=names[-1], cells=lying))
    return diagonals or [say("no diagonal", cell=format_cell(cell, rules))]


def _read(names: Iterable[str], marks: Sequence[str]) -> str:
    """Return cells by name with their marks; four or more equal ones in a row are joined."""
    parts = []
    for mark, group in groupby(zip(names, marks, strict=True), key=lambda pair: pair[1]):
        alike = [name for name, _ in group]
        if len(alike) >= _SHORTEST_SPAN:
            alike = [say("reach", first=alike[0], last=alike[-1])]
        parts += [f"{name} {_aloud(mark)}" for name in alike]
    return ", ".join(parts)


def _aloud(mark: str) -> str:
    return say("lies nothing") if mark == FREE else say("view cell blocked") if mark == BLOCKED else mark


def list_marks(state: RoomState, number: int | None = None) -> list[str]:
    """Return lines such as ``X, 2 cells: A1 B2.``, for mark number `number` or for each mark."""
    rules = state.rules.to_rules()
    lines = []
    for mark in rules.marks if number is None else rules.marks[number]:
        cells = [format_cell(cell, rules) for cell, lies in enumerate(state.board) if lies == mark]
        many = count(len(cells), "cell")
        lines.append(say("mark cells" if cells else "mark no cell", mark=mark, many=many, cells=" ".join(cells)))
    return lines


def list_moves(state: RoomState, moves: Sequence[int], last: int | None = None) -> str:
    """Return a list of the moves, such as ``1 X A1, 2 O B2.``; `last` limits it to that number of final moves."""
    first = 0 if last is None else max(0, len(moves) - last)
    numbered = (f"{ply} {move}" for ply, move in enumerate(name_played(state, moves[first:]), first + 1))
    return say("list moves", moves=", ".join(numbered)) if moves else say("no move yet")


def list_runs(state: RoomState) -> list[str]:
    """Return lines about runs that lack at most two marks to win: ``X, 4 in a row: H8 to K8, open at G8 L8.``"""
    rules = state.rules.to_rules()
    least = max(2, rules.line - 2)
    runs = sorted(find_runs(state.board, rules, least), key=lambda run: -len(run.cells))
    lines = []
    for run in runs[:_MOST_RUNS]:
        ends = " ".join(format_cell(end, rules) for end in run.open_ends)
        reach = describe_reach(run.cells, rules)
        id = "run open" if ends else "run closed"
        lines.append(say(id, mark=run.mark, n=len(run.cells), reach=reach, ends=ends))
    if len(runs) > _MOST_RUNS:
        lines.append(say("runs more", n=len(runs) - _MOST_RUNS))
    return lines or [say("runs none", n=least)]
