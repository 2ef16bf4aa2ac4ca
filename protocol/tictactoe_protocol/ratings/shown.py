"""Which players a leaderboard lists, and when a rating is certain enough to be shown. Pure.

`at` is always the current time in ms since 1970, UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tictactoe_protocol.ratings.glicko import Number
from tictactoe_protocol.ratings.ladder import OPPONENTS, Ladder, Player

SHOWN_DEVIATION: Final = 110
LISTED_DEVIATION: Final = 90
LISTED_MS: Final = 90 * 86_400_000
_NEIGHBOURS: Final = 5
_PRECISION_PER_GAME: Final = 1 / 135_500  # gained in 1 / deviation ** 2 by a game of two equals with shown ratings


class Row(NamedTuple):
    """One row of a leaderboard."""

    place: int
    player: str
    rating: float
    deviation: float
    games: int
    trend: float


def games_to_rank(player: Player, at: int) -> tuple[int, int] | None:
    """Return how many games a player has, and about how many are needed for a shown rating; None if it is shown.

    The estimate assumes that each game to come is as informative as the player's past games: at most as informative
    as a game of equals with shown ratings, and at least half as much, as among newcomers.

    >>> games_to_rank(Player(), 0)
    (0, 10)
    """
    deviation = player.number_at(at).deviation
    if deviation <= SHOWN_DEVIATION:
        return None
    each = _PRECISION_PER_GAME
    if player.games:
        gained = _precision(player.number.deviation) - _precision(Number().deviation)
        each = min(max(gained / player.games, each / 2), each)
    missing = (_precision(SHOWN_DEVIATION) - _precision(deviation)) / each
    return player.games, player.games + max(1, round(missing))


def _precision(deviation: float) -> float:
    return 1 / (deviation * deviation)


def list_rows(ladder: Ladder, at: int) -> list[Row]:
    """Return the leaderboard, best first: players with a certain rating, several opponents and a recent game."""
    recent = ((id, own, own.number_at(at)) for id, own in ladder.players.items() if at - own.at <= LISTED_MS)
    listed = [
        (-number.rating, id, number, own)
        for id, own, number in recent
        if number.deviation <= LISTED_DEVIATION and len(own.opponents) >= OPPONENTS
    ]
    return [
        Row(place, id, number.rating, number.deviation, own.games, own.trend)
        for place, (_, id, number, own) in enumerate(sorted(listed), 1)
    ]


def rows_around(rows: Sequence[Row], player: str) -> Sequence[Row]:
    """Return a player's row with the five above and below it, or nothing if the player is not listed."""
    index = next((index for index, row in enumerate(rows) if row.player == player), None)
    return () if index is None else rows[max(0, index - _NEIGHBOURS) : index + _NEIGHBOURS + 1]
