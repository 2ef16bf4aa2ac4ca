"""Who plays in a cup, and every game of it, the same ones in the same order whenever it is asked for. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import repeat
from random import Random
from typing import Final, NamedTuple

from tictactoe_client.settings import Misuse
from tictactoe_engine import InvalidRules, Position, Rules
from tictactoe_engine.strategies import Level, opening_cells
from tictactoe_protocol.berger import berger_pairs, berger_rounds
from tictactoe_words.catalogue import say

_PLIES: Final = 2
_TRIES: Final = 100


class Entrant(NamedTuple):
    """Who plays: a level of the computer, or the command of an engine; no two have the same name."""

    name: str
    level: Level | None = None
    command: tuple[str, ...] = ()


class Game(NamedTuple):
    """One game: ``3.2.1`` is the first of pair 2 in round 3. The first player has the first mark."""

    id: str
    players: tuple[Entrant, Entrant]
    opening: Position


def list_games(entrants: Sequence[Entrant], openings: Iterator[Position], rounds: int) -> Iterator[Game]:
    """Yield the games round by round: in each everybody plays its opening with both marks against everybody."""
    many = len(entrants)
    order = [pair for round in range(1, berger_rounds(many) + 1) for pair in berger_pairs(many, round)]
    pairs = [(entrants[one - 1], entrants[other - 1]) for one, other in order if other is not None]
    for round, opening in zip(range(1, rounds + 1), openings, strict=False):
        for number, (one, other) in enumerate(pairs, 1):
            yield Game(f"{round}.{number}.1", (one, other), opening)
            yield Game(f"{round}.{number}.2", (other, one), opening)


def list_openings(rules: Rules, plies: int | None, seed: int) -> Iterator[Position]:
    """Yield openings without an end, none again before all others: so many moves by chance, or the usual ones.

    These are the balanced ones of the book where that fits, else two moves. In rules with an opening of their own they
    go to the first choice, which is the players'. Raises `Misuse`.
    """
    if plies == 0:
        yield from repeat(Position.start(rules))
    book = _find_book(rules) if plies is None else None
    start, plies = book or Position.start(rules), plies or _PLIES
    random, seen = Random(seed), set[tuple[int, ...]]([()])
    while True:
        drawn = (_draw(start, plies, random, is_book=start is book) for _ in range(_TRIES))
        if moves := next((moves for moves in drawn if moves not in seen), None):
            seen.add(moves)
            yield Position.replay(rules, moves)
        elif len(seen) == 1:
            raise Misuse(say("cup no openings", n=plies))
        else:
            seen = {()}


def _find_book(rules: Rules) -> Position | None:
    """Return where the openings of the book begin, None where it is not for these rules."""
    with suppress(InvalidRules):
        start = Position.start(replace(rules, opening="swap2"))
        return start if opening_cells(start) else None
    return None


def _draw(position: Position, plies: int, random: Random, *, is_book: bool) -> tuple[int, ...]:
    """Return the moves of an opening; none where one of them ended the game."""
    while position.outcome is None and not position.options and (position.opening or position.ply < plies):
        position = position.play(random.choice(opening_cells(position) if is_book else position.legal_cells))
    return position.moves if position.outcome is None else ()
