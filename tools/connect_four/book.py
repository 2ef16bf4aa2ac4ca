"""Make the book of the first plies of connect-four: `python -m tools.connect_four.book --help`.

First `ask` writes the positions to solve, one a line as columns from 1, the most valuable first. The solver reads them
and appends its answers to a file, perhaps for many days; it may be stopped at any time, and restarted with the output
of `ask --done FILE`. Then `write` makes the book of all answers:

    gcc -O3 -march=native -o solver tools/connect_four/solver.c
    python -m tools.connect_four.book ask > positions
    ./solver 27 < positions >> answers
    python -m tools.connect_four.book write answers

All positions of the first plies are asked (`--all-plies`), then later positions (`--plies`) by their frequency in
random play, divided by the time for a position of the ply. Positions with a winning move are left out: every search
sees it. Reflections count once.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from tictactoe_engine import PRESETS, Position
from tictactoe_engine.search import book

RULES: Final = PRESETS["connect-four"]
FILE: Final = Path(book.__file__).with_name("connect_four.book")

_COST_FALLS: Final = 0.5
"""The average time of a position, relative to a position one ply earlier."""


Answers = dict[int, tuple[int, int]]
"""The value and the column, from 0, of positions by their canonical number."""


class Asked(NamedTuple):
    """A position by the columns that lead to it, and the number of move orders that lead to it or its reflection."""

    position: Position
    moves: str
    ways: int


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tools.connect_four.book", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    ask = commands.add_parser("ask", help="write the positions to solve")
    ask.add_argument("--all-plies", type=int, default=4, help="the last ply of which every position is asked")
    ask.add_argument("--plies", type=int, default=9, help="the last ply of which any is asked")
    ask.add_argument("--done", type=Path, help="answers that are there already")
    write = commands.add_parser("write", help="make the book")
    write.add_argument("answers", type=Path, nargs="+")
    write.add_argument("--plies", type=int, default=9, help="the last ply to keep")
    write.add_argument("--add", action="store_true", help="keep what the book knows already")
    write.add_argument("--file", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    if options.command == "ask":
        lines = [] if options.done is None else options.done.read_text().splitlines()
        done = {board_of(line.partition(" ")[0]) for line in lines}
        for moves in to_ask(options.all_plies, options.plies):
            if board_of(moves) not in done:
                print(moves)
    else:
        known = book.decode(options.file.read_bytes()) if options.add else []
        content = book.encode(read_answers(options.answers, options.plies, known))
        options.file.write_bytes(content)
        sizes = ", ".join(f"{ply}: {len(entries):,}" for ply, entries in enumerate(book.decode(content)))
        print(f"{options.file.name}: {len(content):,} bytes; positions by ply: {sizes}")


def to_ask(all_plies: int, plies: int) -> Iterator[str]:
    """Yield the moves of the positions to solve, in order."""
    ranked: list[tuple[float, str]] = []
    for ply, level in enumerate(levels(plies)):
        asked = [each for each in level if not can_win_at_once(each.position)]
        if ply <= all_plies:
            yield from (each.moves for each in sorted(asked, key=lambda each: -each.ways))
        else:
            total = sum(each.ways for each in asked) * _COST_FALLS ** (ply - all_plies)
            ranked += [(-each.ways / total, each.moves) for each in asked]
    yield from (moves for _, moves in sorted(ranked))


def levels(plies: int) -> Iterator[list[Asked]]:
    """Yield the open positions of each ply, reflections once."""
    level = {0: Asked(Position.start(RULES), "", 1)}
    for ply in range(plies + 1):
        yield list(level.values())
        if ply == plies:
            return
        following: dict[int, Asked] = {}
        for position, moves, ways in level.values():
            for cell in position.legal_cells:
                after = position.play(cell)
                if after.outcome is None:
                    number, _ = book.canonical_number(after)
                    known = following.get(number)
                    total = ways if known is None else known.ways + ways
                    first = moves + str(cell % RULES.columns + 1) if known is None else known.moves
                    following[number] = Asked(after if known is None else known.position, first, total)
        level = following


def can_win_at_once(position: Position) -> bool:
    """Return whether the mover can complete a line."""
    return any(position.play(cell).outcome is not None for cell in position.legal_cells)


def random_moves(ply: int, rng: Random) -> str | None:
    """Return the columns of a random game of this many plies, or None if it is over or about to be won."""
    position, moves = Position.start(RULES), ""
    for _ in range(ply):
        if position.outcome is not None:
            return None
        cell = rng.choice(position.legal_cells)
        moves += str(cell % RULES.columns + 1)
        position = position.play(cell)
    if position.outcome is not None or can_win_at_once(position):
        return None
    return moves


def read_answers(
    files: Sequence[Path], plies: int, known: Sequence[Sequence[int]] = ()
) -> list[list[tuple[int, int, int]]]:
    """Return the solver's results by ply: the number, the value and the column, from 0, of each position.

    The entries of a `known` book are included.
    """
    found: list[Answers] = [{} for _ in range(plies + 1)]
    for ply, entries in enumerate(known[: plies + 1]):
        found[ply] = {entry >> 5: ((entry >> 3 & 3) - 1, entry & 7) for entry in entries}
    for line in (line for file in files for line in file.read_text().splitlines()):
        moves, value, column, _ = line.split(" ", 3)
        if len(moves) > plies:
            continue
        position = position_after(moves)
        number, is_reflected = book.canonical_number(position)
        best = int(column) - 1 if value != "-1" else most_central(position)
        found[len(moves)][number] = int(value), RULES.columns - 1 - best if is_reflected else best
    return [[(number, *entry) for number, entry in ply.items()] for ply in add_earlier(found)]


def add_earlier(found: list[Answers]) -> list[Answers]:
    """Return the answers, and the answers that follow for positions one ply earlier."""
    asked = list(levels(len(found) - 1))
    for ply in range(len(found) - 2, -1, -1):
        for position, _, _ in asked[ply]:
            number, is_reflected = book.canonical_number(position)
            answer = None if number in found[ply] else conclude(position, found[ply + 1])
            if answer is not None:
                value, column = answer
                found[ply][number] = value, RULES.columns - 1 - column if is_reflected else column
    return found


def conclude(position: Position, following: Answers) -> tuple[int, int] | None:
    """Return value and column of a position if they follow from positions one ply later, else None."""
    best, is_complete = (-1, most_central(position)), True
    for cell in position.legal_cells:
        after = position.play(cell)
        if after.outcome is not None:
            return None
        answer = following.get(book.canonical_number(after)[0])
        if answer is None:
            is_complete = is_complete and can_win_at_once(after)
        elif -answer[0] > best[0]:
            best = -answer[0], cell % RULES.columns
    return best if is_complete or best[0] == 1 else None


def board_of(moves: str) -> tuple[int, int]:
    """Return the canonical number of the position after these moves and of its reflection, and the number of moves."""
    return len(moves), book.canonical_number(position_after(moves))[0]


def most_central(position: Position) -> int:
    """Return the free column nearest the middle, which is played if all moves lose."""
    return min((cell % RULES.columns for cell in position.legal_cells), key=lambda column: abs(2 * column - 6))


def position_after(moves: str) -> Position:
    """Return the position after the columns played, from 1."""
    position = Position.start(RULES)
    for column in moves:
        position = position.play(next(cell for cell in position.legal_cells if cell % 7 == int(column) - 1))
    return position


if __name__ == "__main__":
    main()
