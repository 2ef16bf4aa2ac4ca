"""The network of connect-four: that it adds up what its file says, and tells most won positions from lost ones."""

from __future__ import annotations

import struct
import zlib
from random import Random

from tictactoe_engine.search.book import look_up
from tictactoe_engine.search.columns import columns_of
from tictactoe_engine.search.network import judge_of, network
from tools.connect_four.book import RULES, position_after, random_moves
from tools.connect_four.network import FILE

MAX_BYTES = 300_000
COLUMNS = columns_of(RULES)
UNITS, FIRSTS = 8, 3


def stones_of(moves: str) -> tuple[int, int, int, int]:
    """Return what a network is asked about: the stones of both sides and the free cells that complete their lines."""
    position = position_after(moves)
    marks = sorted(RULES.marks, key=(position.turn or "").__ne__)
    own, other = (COLUMNS.pad(position.stones(mark)) for mark in marks)
    free = COLUMNS.cells & ~(own | other)
    return own, other, COLUMNS.completing(own) & free, COLUMNS.completing(other) & free


def score_by_hand(content: bytes, moves: str) -> int:
    """Return the score for the side that began, unit by unit."""
    rows: list[tuple[int, ...]] = [
        struct.unpack(f"{UNITS}b", content[at : at + UNITS]) for at in range(8, len(content), UNITS)
    ]
    own, other, own_lines, other_lines = stones_of(moves)
    is_second = len(moves) % 2
    if is_second:
        own, other, own_lines, other_lines = other, own, other_lines, own_lines
    added = [rows[is_second]]
    for column in range(7):
        stones = 2 ** moves.count(str(column + 1)) + (own >> 7 * column & 63)
        added.append(rows[2 + 128 * column + stones])
        added.append(rows[898 + 64 * column + (own_lines >> 7 * column & 63)])
        added.append(rows[1346 + 64 * column + (other_lines >> 7 * column & 63)])
    units: list[int] = [max(sum(each), 0) for each in zip(*added, strict=True)]
    constant = int.from_bytes(content[4 + 2 * is_second :][:2], "little", signed=True)
    return 2 * (constant + sum(units[:FIRSTS]) - sum(units[FIRSTS:]))


def test_the_network_is_small() -> None:
    assert FILE.stat().st_size <= MAX_BYTES


def test_a_network_adds_up_what_its_file_says() -> None:
    rng, asked = Random(1), 0
    content = struct.pack("<4h", UNITS, FIRSTS, 17, -23) + rng.randbytes(UNITS * (2 + 7 * 128 + 14 * 64))
    judge = judge_of(zlib.compress(content))
    for _ in range(60):
        moves = random_moves(rng.randrange(30), rng)
        if moves is not None:
            asked += 1
            assert judge(*stones_of(moves)) == score_by_hand(content, moves) * (-1 if len(moves) % 2 else 1)
    assert asked > 30


def test_the_network_tells_most_won_positions_from_lost_ones() -> None:
    right, all_of_them = 0, 0
    judge, rng = network(), Random(1)
    while all_of_them < 300:
        moves = random_moves(rng.choice((7, 8)), rng)
        known = None if moves is None else look_up(position_after(moves))
        if moves is not None and known is not None and known.value:
            all_of_them += 1
            right += (judge(*stones_of(moves)) > 0) == (known.value > 0)
    assert right > 225
