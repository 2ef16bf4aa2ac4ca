"""Decides which players a leaderboard lists, and whether a rating is provisional. Pure.

In every function, `at` is the current time in ms since 1970, UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tictactoe_protocol.ratings.ladder import OPPONENTS, Ladder, Player

CERTAIN_DEVIATION: Final = 110
LISTED_MS: Final = 90 * 86_400_000
_NEIGHBOURS: Final = 5


class Row(NamedTuple):
    """A row of a leaderboard. Players with a provisional rating have no place."""

    place: int | None
    player: str
    rating: float
    deviation: float
    games: int
    trend: float


def is_provisional(player: Player, at: int) -> bool:
    """Return whether a player's rating is provisional: it is uncertain, or it comes from fewer than two opponents.

    >>> is_provisional(Player(), 0)
    True
    """
    return player.number_at(at).deviation > CERTAIN_DEVIATION or len(player.opponents) < OPPONENTS


def list_rows(ladder: Ladder, at: int) -> list[Row]:
    """Return the rows of the players with a recent game, best first. Provisional ratings are below all others."""
    recent = [(id, own, own.number_at(at)) for id, own in ladder.players.items() if at - own.at <= LISTED_MS]
    listed = sorted((is_provisional(own, at), -number.rating, id, number, own) for id, own, number in recent)
    return [
        Row(None if is_unsure else place, id, number.rating, number.deviation, own.games, own.trend)
        for place, (is_unsure, _, id, number, own) in enumerate(listed, 1)
    ]


def rows_around(rows: Sequence[Row], player: str) -> Sequence[Row]:
    """Return a player's row with up to five rows above and below it, or none if the player is not listed."""
    index = next((index for index, row in enumerate(rows) if row.player == player), None)
    return () if index is None else rows[max(0, index - _NEIGHBOURS) : index + _NEIGHBOURS + 1]
