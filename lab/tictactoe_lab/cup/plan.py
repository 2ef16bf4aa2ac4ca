"""The entrants and games of a cup. Every run lists the same games in the same order. Pure functions."""

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
    """A player of a cup: a level of the bot, or an engine started by `command`. Names are unique."""

    name: str
    level: Level | None = None
    command: tuple[str, ...] = ()


class Game(NamedTuple):
    """A game of a cup; the first player has the first mark.

    Attributes:
        id: Round, pair and game: ``3.2.1`` is the first game of pair 2 in round 3.
    """

    id: str
    players: tuple[Entrant, Entrant]
    opening: Position


def list_games(entrants: Sequence[Entrant], openings: Iterator[Position], rounds: int) -> Iterator[Game]:
    """Yield the games round by round; in a round, each pair plays the same opening twice, with marks swapped."""
    many = len(entrants)
    order = [pair for round in range(1, berger_rounds(many) + 1) for pair in berger_pairs(many, round)]
    pairs = [(entrants[first - 1], entrants[second - 1]) for first, second in order if second is not None]
    for round, opening in zip(range(1, rounds + 1), openings, strict=False):
        for number, (first, second) in enumerate(pairs, 1):
            yield Game(f"{round}.{number}.1", (first, second), opening)
            yield Game(f"{round}.{number}.2", (second, first), opening)


def list_openings(rules: Rules, plies: int | None, seed: int) -> Iterator[Position]:
    """Yield random openings without end, repeating one only after all others.

    If the rules have an opening protocol, an opening ends at its first choice, which is left to the players.

    Args:
        rules: The rules of the cup.
        plies: Length of an opening; None for a balanced opening of the book if it covers the rules, else two moves.
        seed: Seed of the random choice.

    Raises:
        Misuse: Every opening of this length ends the game.
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
    """Return the position where the book's openings start, or None if the book does not cover these rules."""
    with suppress(InvalidRules):
        start = Position.start(replace(rules, opening="swap2"))
        return start if opening_cells(start) else None
    return None


def _draw(position: Position, plies: int, random: Random, *, is_book: bool) -> tuple[int, ...]:
    """Return the moves of a random opening, or () if they end the game."""
    while position.outcome is None and not position.options and (position.opening or position.ply < plies):
        position = position.play(random.choice(opening_cells(position) if is_book else position.legal_cells))
    return position.moves if position.outcome is None else ()
