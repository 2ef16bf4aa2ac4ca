"""Finished games, kept for good: what an archive takes and how it is asked. It knows players by id alone.

What a record says about the game (names, rules, moves, result) is a document like any other: bytes that only the
caller reads. The columns beside it are what games are looked up by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

MAX_LISTED_GAMES: Final = 100
"""The most games that one question is answered with, whatever its limit."""


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A finished game: where and when it ended, the ids of who played, and the document with everything else.

    `finished_at` is milliseconds since 1970 in UTC, `game` the number of the game in its room, from 1. Room codes come
    back after a while, so the two together name no record: its id does.
    """

    room: str
    game: int
    finished_at: int
    players: tuple[str, ...]
    document: bytes


@dataclass(frozen=True, slots=True)
class ArchivedGame:
    """A record with the id that the archive gave it; ids grow in the order of archiving, from 1."""

    id: int
    record: GameRecord


class Archive(Protocol):
    """Finished games by id and by player. Every method may raise `StoreUnavailable`.

    A game that ends with a change of its room goes in with that change: see `archived` of `Store.save`.
    """

    async def archive_game(self, record: GameRecord) -> int:
        """Keep a finished game and return its id. Archiving it twice keeps it twice."""
        ...

    async def games_of(self, player: str, limit: int, before: int | None = None) -> list[ArchivedGame]:
        """Return a player's games, newest first, at most `limit` and `MAX_LISTED_GAMES`.

        `before` is the id of the last game of the page before, or None for the first page.
        """
        ...

    async def game(self, id: int) -> ArchivedGame | None:
        """Return one game, or None where there is none."""
        ...
