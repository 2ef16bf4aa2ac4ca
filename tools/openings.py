"""Make and check the book of balanced openings for swap2.

``python -m tools.openings`` writes `tictactoe_engine/strategies/balanced.py` in an hour. From all arrangements of
three marks near the middle, in an order drawn from `--seed`, it takes those called even by searches of growing depth,
and lets `perfect` choose and play against itself from there, at about a second a move. In the book X and O win equally
often, and so do opener and second player. Only nodes are counted, so the same code always makes the same book.
``python -m tools.openings --check`` searches each opening for `--seconds` and prints its value for X.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from multiprocessing import Pool
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Final

from tictactoe_engine import Position
from tictactoe_engine.notation import format_cell, parse_cell
from tictactoe_engine.search import Budget, analyse
from tictactoe_engine.strategies import Level, balanced, side_chooser_of, strategy_of
from tictactoe_engine.strategies.opening_book import BOOK_RULES

BOOK: Final = Path(balanced.__file__)
OPENED: Final = replace(BOOK_RULES, opening="swap2")
MOST: Final = 0.15
"""The largest value of an opening to either side."""

REACH: Final = 3
MIDDLE: Final = 7
LOOKS: Final = ((1_500, 0.12), (12_000, 0.12), (40_000, 0.13), (150_000, 0.13))
"""Nodes of each search of an arrangement, and the largest value that it may find for either side."""

MOVE: Final = Budget(nodes=30_000)
"""What `perfect` may search for a choice or a move; an opening counts if two such games end alike."""

Square = tuple[int, int]
Winner = tuple[str, bool]
"""The mark that won, and whether the opener played it."""

Marks = tuple[Square, Square, Square]

HEADER: Final = '''"""Balanced openings (X, O, X) on 15x15 for lines of exactly five; `tools.openings` made them."""

from typing import Final

OPENINGS: Final = (
'''


def main(arguments: Sequence[str] | None = None) -> None:
    """Make a book, or check the present one."""
    options = parse_options(arguments)
    if options.check:
        check(options.seconds)
        return
    book = make(options.openings, options.seed, options.processes)
    BOOK.write_text(HEADER + "".join(f'    "{opening}",\n' for opening in book) + ")\n", "utf-8")


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(prog="python -m tools.openings", description=__doc__)
    parser.add_argument("--check", action="store_true", help="say what the openings of the book are worth")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each opening that is checked")
    parser.add_argument("--openings", type=int, default=20, help="how many a new book shall have")
    parser.add_argument(
        "--seed", type=int, default=5, help="of the order in which arrangements are tried, and of games"
    )
    parser.add_argument("--processes", type=int, default=2, help="how many search side by side")
    return parser.parse_args(arguments)


def check(seconds: float) -> None:
    """Print the value of each opening for X; exit with 1 if it is too large."""
    budget, worst = Budget(seconds=seconds, clock=perf_counter), 0.0
    for opening in balanced.OPENINGS:
        found = analyse(position_of(opening), budget)
        worst = max(worst, abs(found.value.estimate))
        print(f"{opening:12} {found.options['X'].estimate:+.2f} {found.nodes:9,} nodes", flush=True)
    print(f"{len(balanced.OPENINGS)} openings, the least even of them worth {worst:.2f}")
    sys.exit(worst > MOST)


def make(count: int, seed: int, processes: int) -> list[str]:
    """Return the openings of a new book: as many of each kind of winner."""
    arrangements = list(map(name, all_arrangements()))
    Random(seed).shuffle(arrangements)
    won: dict[Winner, list[str]] = {(mark, is_opener): [] for mark in "XO" for is_opener in (True, False)}
    with Pool(processes) as pool:
        for opening, winner in pool.imap(partial(winner_if_even, seed), arrangements, chunksize=4):
            if winner is None:
                continue
            won[winner].append(opening)
            each = min(map(len, won.values()))
            print(f"… {opening}: {winner}; {len(won)} x {each}", file=sys.stderr, flush=True)
            if len(won) * each >= count:
                return sorted(opening for some in won.values() for opening in some[:each])
    raise SystemExit("There are not so many even openings.")


def winner_if_even(seed: int, opening: str) -> tuple[str, Winner | None]:
    """Return an opening and the winner of its games, or None if it is uneven or two games end differently."""
    if not is_even(opening):
        return opening, None
    rng = Random(f"{seed} {opening}")
    winner = play(opening, rng)
    return opening, winner if winner is not None and winner == play(opening, rng) else None


def all_arrangements() -> Iterator[Marks]:
    """Yield every arrangement of X, O and X near the middle, up to rotation and reflection."""
    span = range(-REACH, REACH + 1)
    squares: list[Square] = list(product(span, span))
    for (first, third), second in product(combinations(squares, 2), squares):
        if second not in (first, third) and min(images((first, second, third))) == (first, third, second):
            yield first, second, third


def images(marks: Marks) -> Iterator[Marks]:
    """Yield all rotations and reflections of the arrangement: the marks of X in order, then the mark of O."""
    for down, right, is_transposed in product((1, -1), (1, -1), (False, True)):
        first, second, third = (
            (down * row, right * column)
            for row, column in ((column, row) if is_transposed else (row, column) for row, column in marks)
        )
        yield min(first, third), max(first, third), second


def name(marks: Marks) -> str:
    """Return an arrangement as it is written in the book."""
    cells = ((MIDDLE + row) * BOOK_RULES.columns + MIDDLE + column for row, column in marks)
    return " ".join(format_cell(cell, BOOK_RULES) for cell in cells)


def position_of(opening: str) -> Position:
    """Return the position before the choice."""
    return Position.replay(OPENED, [parse_cell(cell, BOOK_RULES) for cell in opening.split()])


def is_even(opening: str) -> bool:
    """Return whether an opening looks even at every depth."""
    position = position_of(opening)
    return all(abs(analyse(position, Budget(nodes=nodes)).value.estimate) <= most for nodes, most in LOOKS)


def play(opening: str, rng: Random) -> Winner | None:
    """Return who wins a game of `perfect` against itself from here, None for a draw."""
    move, choose_side = strategy_of(Level.PERFECT, MOVE), side_chooser_of(Level.PERFECT, MOVE)
    position = position_of(opening)
    while position.outcome is None:
        if position.options:
            position = position.choose(choose_side(position, rng))
        else:
            position = position.play(move(position, rng))
    winner = position.outcome.winner
    return None if winner is None else (winner, position.is_swapped == (winner == "O"))


if __name__ == "__main__":
    main()
