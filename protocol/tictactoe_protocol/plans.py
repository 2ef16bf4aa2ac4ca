"""Plans a tournament before it begins: its largest number of players, its rounds, and its rough duration. Pure.

`tictactoe_words.tournaments` describes a plan.
"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET, UnsetType

from tictactoe_protocol.berger import berger_rounds
from tictactoe_protocol.events import MAX_ENTRANTS
from tictactoe_protocol.terms import DAY_MS, ClockTerms

MAX_ROUND_ROBIN: Final = 24
MOST_PLIES: Final = 40  # in a usual game on a large board
MOVE_MS: Final = 8_000  # for a usual move in a fast game
GAMES_OF_MATCH: Final = 3  # in a usual knock-out match; games at half the time count half
MINUTE_MS: Final = 60_000


def most_entrants(kind: str) -> int:
    """Return the largest number of players in a tournament of this kind."""
    return MAX_ROUND_ROBIN if kind == "round_robin" else MAX_ENTRANTS


def fitting_kind(kind: str, players: int) -> str:
    """Return `kind`, or ``swiss`` if only a Swiss can have this number of players."""
    return "swiss" if most_entrants(kind) < players <= MAX_ENTRANTS else kind


def count_rounds(kind: str, players: int, *, double: bool = False, rounds: int = 0) -> int:
    """Return the number of rounds for two or more players. `rounds` is the number chosen for a Swiss, or 0."""
    if kind == "round_robin":
        return berger_rounds(players, double=double)
    needed = (players - 1).bit_length()
    return needed if kind == "knock_out" else rounds or max(needed, min(3, berger_rounds(players)))


def estimate_minutes(kind: str, rounds: int, cells: int, clock: ClockTerms, break_ms: int) -> int:
    """Return the rough duration of a tournament in minutes, at least 1.

    A move is assumed to take eight seconds, or a tenth of its time in slow games, but never more than half of its time.
    """
    plies = min(cells, MOST_PLIES)
    per_move_ms = _of(clock.days) * DAY_MS or _of(clock.move_ms)
    move_ms = per_move_ms or 2 * _of(clock.initial_ms) // plies + _of(clock.increment_ms)
    game_ms = plies * min(move_ms // 2, max(MOVE_MS, move_ms // 10))
    round_ms = break_ms + game_ms * (GAMES_OF_MATCH if kind == "knock_out" else 1)
    return max(1, (rounds * round_ms + MINUTE_MS // 2) // MINUTE_MS)


def _of(number: int | UnsetType) -> int:
    return 0 if number is UNSET else number
