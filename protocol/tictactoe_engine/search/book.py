"""The book of connect-four: values and best moves in the first plies, solved by `tools.connect_four.book`.

The file is compressed with zlib and read on first use. It consists of little-endian words of four bytes. For each ply
from 0, it has the number of entries, then the difference between each entry and the one before. The bits of an entry
are:

- from bit 5, the number of the position;
- bits 3 and 4, the value for the side to move plus 1, where 1 is a win, 0 a draw and -1 a loss;
- bits 0 to 2, the column, from 0, of a move that preserves the value.

The number of a position is written in base three, column by column from the bottom: a 1 for each stone of the first
side, a 2 for each stone of the other side, and a 0 between columns. A position and its reflection share an entry, under
the smaller of their numbers.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

from tictactoe_engine.position import FREE, Position
from tictactoe_engine.rules import Rules

_FILE: Final = Path(__file__).with_name("connect_four.book")
_ROWS: Final = 6
_COLUMNS: Final = 7


class Known(NamedTuple):
    """An entry of the book.

    Attributes:
        value: The value of the position for the side to move: 1 is a win, 0 a draw, -1 a loss.
        cell: The cell of a move that preserves the value.
    """

    value: int
    cell: int


def is_in_book(rules: Rules) -> bool:
    """Return whether the book covers games with these rules. The letters of the two marks do not matter."""
    return len(rules.marks) == 2 and rules == Rules(_ROWS, _COLUMNS, 4, gravity=True, marks=rules.marks)


def look_up(position: Position) -> Known | None:
    """Return the book's entry for an open position in connect-four, or None if there is none."""
    plies = _load()
    if position.ply >= len(plies):
        return None
    number, is_reflected = canonical_number(position)
    entries = plies[position.ply]
    index = bisect_left(entries, number << 5)
    if index == len(entries) or entries[index] >> 5 != number:
        return None
    column = entries[index] & 7
    wanted = _COLUMNS - 1 - column if is_reflected else column
    cell = next((cell for cell in position.legal_cells if cell % _COLUMNS == wanted), None)
    return None if cell is None else Known((entries[index] >> 3 & 3) - 1, cell)


def known_bounds(position: Position) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield each cell whose move has a value that the book limits, with the lowest and the highest possible value.

    The position must be open. A cell may be yielded twice, with different bounds.
    """
    known = look_up(position)
    for cell in position.legal_cells:
        if known is not None:
            yield cell, (known.value if cell == known.cell else -1, known.value)
        after = position.play(cell)
        answer = look_up(after) if after.outcome is None else None
        if answer is not None:
            yield cell, (-answer.value, -answer.value)


def canonical_number(position: Position) -> tuple[int, bool]:
    """Return the smaller of the numbers of the position and its reflection, and whether it is the reflection's."""
    columns = [_digits_of(position, column) for column in range(_COLUMNS)]
    number, reflected = int("0".join(columns), 3), int("0".join(reversed(columns)), 3)
    return min(number, reflected), reflected < number


def encode(plies: list[list[tuple[int, int, int]]]) -> bytes:
    """Return the content of the file for a list of entries (number, value, column) for each ply."""
    words = array("I")
    for ply in plies:
        entries = sorted(number << 5 | value + 1 << 3 | column for number, value, column in ply)
        words.append(len(entries))
        words.extend(entry - before for before, entry in zip([0, *entries], entries, strict=False))
    if sys.byteorder == "big":
        words.byteswap()
    return zlib.compress(words.tobytes(), 9)


def decode(content: bytes) -> list[list[int]]:
    """Return a list of the encoded entries, ascending, for each ply in the content of a file."""
    words = array("I", zlib.decompress(content))
    if sys.byteorder == "big":
        words.byteswap()
    plies, at = [], 0
    while at < len(words):
        end = at + 1 + words[at]
        plies.append(list(accumulate(words[at + 1 : end])))
        at = end
    return plies


@lru_cache(maxsize=1)
def _load() -> list[list[int]]:
    return decode(_FILE.read_bytes())


def _digits_of(position: Position, column: int) -> str:
    cells = reversed(position.board[column::_COLUMNS])
    first = position.rules.marks[0]
    return "".join("1" if mark == first else "2" for mark in cells if mark != FREE)
