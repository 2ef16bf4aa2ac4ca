"""The lines of a board as bitboards.

A bitboard is an integer with bit `row * columns + column` for each cell. The lines depend only on the size of the board
and their length, so all positions with the same size and length share one `Geometry`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """All lines of `length` cells in rows, columns and diagonals.

    Attributes:
        lines_through: For each cell, the lines through it; at most four times `length`.
        starts: For each direction, the distance between neighbours in bits, and the first cells of all lines.
    """

    rows: int
    columns: int
    length: int
    lines: tuple[int, ...]
    lines_through: tuple[tuple[int, ...], ...]
    starts: tuple[tuple[int, int], ...]

    def goes_on(self, line: int, stones: int) -> bool:
        """Return whether `stones` include a cell next to one of the ends of `line`, in its direction."""
        (row, column), (next_row, next_column) = (divmod(cell, self.columns) for cell in cells_of(line)[:2])
        down, right = next_row - row, next_column - column
        ends = ((row - down, column - right), (row + self.length * down, column + self.length * right))
        return any(0 <= y < self.rows and 0 <= x < self.columns and stones >> y * self.columns + x & 1 for y, x in ends)

    def has_line(self, stones: int) -> bool:
        """Return whether `stones` contain a line. Takes a few shifts, however many lines the board has."""
        return any(runs_from(stones, self.length, step) & starts for step, starts in self.starts)


def runs_from(stones: int, length: int, step: int) -> int:
    """Return the cells where a run of `length` stones starts, each `step` bits after the one before."""
    run = 1
    while run < length and stones:
        further = min(run, length - run)
        stones &= stones >> further * step
        run += further
    return stones


@lru_cache(maxsize=256)
def geometry_of(rows: int, columns: int, line: int) -> Geometry:
    """Return the shared geometry of a board. The first call for a board takes O(cells * line)."""
    lines: list[int] = []
    through: list[list[int]] = [[] for _ in range(rows * columns)]
    starts: list[tuple[int, int]] = []
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        step = down * columns + right
        pattern = sum(1 << (k * step) for k in range(line))
        last_row = rows - down * (line - 1)
        first_column = (line - 1) if right < 0 else 0
        last_column = columns - (line - 1) if right > 0 else columns
        first_cells = 0
        for row in range(last_row):
            for column in range(first_column, last_column):
                start = row * columns + column
                window = pattern << start
                first_cells |= 1 << start
                lines.append(window)
                for k in range(line):
                    through[start + k * step].append(window)
        starts.append((step, first_cells))
    return Geometry(rows, columns, line, tuple(lines), tuple(map(tuple, through)), tuple(starts))


def cells_of(bitboard: int) -> tuple[int, ...]:
    """Return the cells in `bitboard`, ascending.

    >>> cells_of(0b10011)
    (0, 1, 4)
    """
    cells = []
    while bitboard:
        lowest = bitboard & -bitboard
        cells.append(lowest.bit_length() - 1)
        bitboard ^= lowest
    return tuple(cells)
