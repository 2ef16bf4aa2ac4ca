"""Which players a ladder shows, when, and around whom. Pure. `at` is the time in ms since 1970, UTC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tictactoe_protocol.ratings import plackett_luce
from tictactoe_protocol.ratings.glicko import Number
from tictactoe_protocol.ratings.ladder import OPPONENTS, Ladder, Player

SHOWN_DEVIATION: Final = 110
LISTED_DEVIATION: Final = 90
LISTED_MS: Final = 90 * 86_400_000
_AROUND: Final = 5
_TOLD: Final = 1 / 135_500  # by how much a game of two who are shown, and equals, raises 1 / deviation ** 2
_LEAST_TOLD: Final = _TOLD / 100  # and one of several, however unlike they are


class Row(NamedTuple):
    """One row of a leaderboard."""

    place: int
    player: str
    rating: float
    deviation: float
    games: int
    trend: float


def games_to_rank(player: Player, at: int) -> tuple[int, int] | None:
    """Return how many games somebody has of about how many until their rating is shown, or None where it is.

    Those to come tell as much as their own did. Of two, who may have paused, they tell at most as much as against
    equals who are shown, and at least half of that, as among newcomers.

    >>> games_to_rank(Player(), 0)
    (0, 10)
    """
    deviation = player.number_at(at).deviation
    if deviation <= SHOWN_DEVIATION:
        return None
    is_of_two = player.number.volatility > 0
    start = Number() if is_of_two else plackett_luce.START
    told = _precision(player.number.deviation) - _precision(start.deviation)
    each = told / player.games if player.games else _TOLD
    each = min(max(each, _TOLD / 2), _TOLD) if is_of_two else max(each, _LEAST_TOLD)
    missing = (_precision(SHOWN_DEVIATION) - _precision(deviation)) / each
    return player.games, player.games + max(1, round(missing))


def _precision(deviation: float) -> float:
    return 1 / (deviation * deviation)


def list_rows(ladder: Ladder, at: int) -> list[Row]:
    """Return the leaderboard, best first: who is known well, has met several others, and played of late."""
    aged = ((id, own, own.number_at(at)) for id, own in ladder.players.items() if at - own.at <= LISTED_MS)
    listed = [
        (-number.rating, id, number, own)
        for id, own, number in aged
        if number.deviation <= LISTED_DEVIATION and len(own.opponents) >= OPPONENTS
    ]
    return [
        Row(place, id, number.rating, number.deviation, own.games, own.trend)
        for place, (_, id, number, own) in enumerate(sorted(listed), 1)
    ]


def rows_around(rows: Sequence[Row], player: str) -> Sequence[Row]:
    """Return a player's row with the five above and below it, or none where they are not listed."""
    index = next((index for index, row in enumerate(rows) if row.player == player), None)
    return () if index is None else rows[max(0, index - _AROUND) : index + _AROUND + 1]
