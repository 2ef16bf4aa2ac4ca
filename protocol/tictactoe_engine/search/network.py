"""A small neural network that evaluates connect-four, fitted to solved positions.

Its inputs are the stones of each column, and the free cells of each column that complete a line of either side. Each
input adds a row of numbers, one for each unit; the units are rectified, the first ones count for the first side, the
others for the second. A row is one integer with 16 bits for each unit, so that adding integers adds all units at once,
and a remainder sums the units.

The file is compressed by zlib and made by `tools.connect_four.network`. It has four little-endian numbers of 16 bits:
the units, those of the first side, and a constant for either side to move. Rows of signed bytes follow, in half points:
2 for the side to move; 128 for each column, indexed by its bits from the bottom, a 1 for each stone of the first side
and a 1 above all stones; 64 for each column, indexed by the free cells that complete a line of the first side; and as
many for the second side.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("connect_four.net")
_HEAD: Final = struct.Struct("<4h")
_BOTTOM: Final = sum(1 << column * 7 for column in range(7))
_MOST: Final = 3_000
_MAX_SUMS: Final = 20_000

Judge = Callable[[int, int, int, int], int]
"""Called with the stones of the side to move and of the other side, and the free cells that complete a line of each.

Returns the score for the side to move, which must have no line to complete; 150 is halfway to a win."""


@lru_cache(maxsize=1)
def network() -> Judge:
    """Return the network of connect-four; the file is read on first use."""
    return judge_of(_FILE.read_bytes())


def judge_of(content: bytes) -> Judge:
    """Return the network in a file's content."""
    data = zlib.decompress(content)
    units, firsts, *constants = map(int, _HEAD.unpack_from(data))
    high = sum(0x8000 << 16 * unit for unit in range(units))
    rows = [_row_of(data[at : at + units], high >> 8) for at in range(_HEAD.size, len(data), units)]
    to_move = [high + row for row in rows[:2]]
    c0, c1, c2, c3, c4, c5, c6 = (rows[at : at + 128] for at in range(2, 898, 128))
    rows_of_first = [rows[at : at + 64] for at in range(898, 1346, 64)]
    rows_of_second = [rows[at : at + 64] for at in range(1346, 1794, 64)]
    sums_of_first: dict[int, int] = {}
    sums_of_second: dict[int, int] = {}
    split, half = 16 * firsts, (1 << 16 * firsts) - 1

    def judge(own: int, other: int, own_completing: int, other_completing: int) -> int:
        taken = own | other
        is_second = taken.bit_count() & 1
        if is_second:
            own, own_completing, other_completing = other, other_completing, own_completing
        key = own + taken + _BOTTOM
        for_first = sums_of_first.get(own_completing)
        if for_first is None:
            for_first = _add_up(rows_of_first, own_completing, sums_of_first)
        for_second = sums_of_second.get(other_completing)
        if for_second is None:
            for_second = _add_up(rows_of_second, other_completing, sums_of_second)
        total = (
            to_move[is_second]
            + c0[key & 127]
            + c1[key >> 7 & 127]
            + c2[key >> 14 & 127]
            + c3[key >> 21 & 127]
            + c4[key >> 28 & 127]
            + c5[key >> 35 & 127]
            + c6[key >> 42]
            + for_first
            + for_second
        )
        # The highest bit of a unit is set if the unit is not negative; negative units become 0.
        positive = total & high
        total &= positive - (positive >> 15)
        score = 2 * (constants[is_second] + (total & half) % 0xFFFF - (total >> split) % 0xFFFF)
        score = min(max(score, -_MOST), _MOST)
        return -score if is_second else score

    return judge


def _row_of(content: bytes, signs: int) -> int:
    wide = bytearray(2 * len(content))
    wide[::2] = content
    return (int.from_bytes(wide, "little") ^ signs) - signs


def _add_up(rows: Sequence[Sequence[int]], cells: int, sums: dict[int, int]) -> int:
    """Return the sum of the columns' rows for these cells, and cache it."""
    if len(sums) >= _MAX_SUMS:
        sums.clear()
    total = sums[cells] = sum(each[cells >> 7 * column & 63] for column, each in enumerate(rows))
    return total
