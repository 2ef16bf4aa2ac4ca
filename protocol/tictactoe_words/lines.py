"""Finds and describes lines of marks on a board. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from tictactoe_engine import FREE, Rules, format_cell, format_column, number_row
from tictactoe_protocol.pushes import RoomState
from tictactoe_words.catalogue import say

_DIRECTIONS: Final = ((0, 1), (1, 0), (1, 1), (1, -1))
_MOST_IN_WORDS: Final = 6


@dataclass(frozen=True, slots=True)
class Run:
    """An unbroken line of equal marks, and the free cells at its ends."""

    mark: str
    cells: tuple[int, ...]
    open_ends: tuple[int, ...]


def find_runs(board: str, rules: Rules, least: int) -> list[Run]:
    """Return all unbroken lines of at least `least` equal marks, in the order of their first cells."""
    runs = []
    for cell, mark in enumerate(board):
        for down, right in _DIRECTIONS if mark in rules.marks else ():
            before = next(walk(cell, -down, -right, rules), None)
            if before is not None and board[before] == mark:
                continue
            cells = (cell, *takewhile(lambda one: board[one] == mark, walk(cell, down, right, rules)))  # noqa: B023
            after = next(walk(cells[-1], down, right, rules), None)
            if len(cells) >= least:
                ends = tuple(end for end in (before, after) if end is not None and board[end] == FREE)
                runs.append(Run(mark, cells, ends))
    return runs


def split_lines(cells: Collection[int], rules: Rules) -> list[tuple[int, ...]]:
    """Split the cells of a result into its lines, each of at least `rules.line` cells."""
    board = "".join(rules.marks[0] if cell in cells else FREE for cell in range(rules.size if cells else 0))
    return [run.cells for run in find_runs(board, rules, rules.line)]


def describe_lines(state: RoomState) -> str:
    """Return sentences about the deciding lines, ``Row 1 is X X X.``, or "" if no line decided."""
    rules, told = state.rules.to_rules(), []
    for cells in split_lines(state.result.line if state.result else (), rules):
        (row, column), step, reach = divmod(cells[0], rules.columns), cells[1] - cells[0], describe_reach(cells, rules)
        id, most = {1: ("row", rules.columns), rules.columns: ("column", rules.rows)}.get(
            step, ("diagonal", len(cells))
        )
        marks = [state.board[cell] for cell in cells]
        many = say(f"in words {len(cells)}") if len(cells) <= _MOST_IN_WORDS else str(len(cells))
        places = {"n": number_row(row, rules), "name": format_column(column), "reach": reach, "marks": " ".join(marks)}
        told.append(say(id if len(cells) == most else f"{id} part", mark=marks[0], many=many, **places))
    return " ".join(told)


def describe_reach(cells: tuple[int, ...], rules: Rules) -> str:
    """Return the names of the first and the last of `cells`: ``A1 to C3``."""
    return say("reach", first=format_cell(cells[0], rules), last=format_cell(cells[-1], rules))


def walk(cell: int, down: int, right: int, rules: Rules) -> Iterator[int]:
    """Yield the cells that follow `cell` in a direction, up to the edge of the board."""
    row, column = divmod(cell, rules.columns)
    while 0 <= (row := row + down) < rules.rows and 0 <= (column := column + right) < rules.columns:
        yield row * rules.columns + column
