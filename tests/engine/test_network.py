from random import Random

from tictactoe_engine.search.book import look_up
from tictactoe_engine.search.columns import columns_of
from tictactoe_engine.search.network import network
from tools.connect_four.book import RULES, position_after, random_moves
from tools.connect_four.network import FILE

MAX_BYTES = 300_000
COLUMNS = columns_of(RULES)


def stones_of(moves: str) -> tuple[int, int, int, int]:
    """Return a network's input: the stones of both sides and the free cells that complete their lines."""
    position = position_after(moves)
    marks = sorted(RULES.marks, key=(position.turn or "").__ne__)
    own, other = (COLUMNS.pad(position.stones(mark)) for mark in marks)
    free = COLUMNS.cells & ~(own | other)
    return own, other, COLUMNS.completing(own) & free, COLUMNS.completing(other) & free


def test_the_network_is_small() -> None:
    assert FILE.stat().st_size <= MAX_BYTES


def test_the_network_distinguishes_most_won_from_lost_positions() -> None:
    right, all_of_them = 0, 0
    judge, rng = network(), Random(1)
    while all_of_them < 300:
        moves = random_moves(rng.choice((7, 8)), rng)
        known = None if moves is None else look_up(position_after(moves))
        if moves is not None and known is not None and known.value:
            all_of_them += 1
            right += (judge(*stones_of(moves)) > 0) == (known.value > 0)
    assert right > 225
