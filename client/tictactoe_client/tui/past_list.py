"""One's finished games as far as the server has told them, and which of them is chosen; pure."""

from __future__ import annotations

from tictactoe_protocol.pushes import PastGame

PAGE_GAMES = 50
"""How many games are asked for at once."""
_SOON = 10
"""So many games before the end of what is known, more are asked for."""


class PastList:
    """The newest first; `is_complete` when nothing older is to come, be it that no more than `limit` are wanted."""

    def __init__(self, limit: int | None = None) -> None:
        self.games: tuple[PastGame, ...] = ()
        self.is_known = False
        self.is_complete = False
        self.chosen = 0
        self._limit = limit

    @property
    def game(self) -> PastGame | None:
        """The chosen game, or None of no games."""
        return self.games[self.chosen] if self.games else None

    @property
    def wants_more(self) -> bool:
        """Whether the choice comes near the end of what is known while there may be more."""
        return self.is_known and not self.is_complete and self.chosen + _SOON >= len(self.games)

    def next_page(self, *, anew: bool) -> tuple[int, str | None]:
        """Return how many games to ask for, and the id of the one before them, None from the newest on."""
        known = () if anew else self.games
        wanted = PAGE_GAMES if self._limit is None else min(PAGE_GAMES, self._limit - len(known))
        return wanted, known[-1].id if known else None

    def take(self, games: tuple[PastGame, ...], wanted: int, *, anew: bool) -> None:
        """Take an answer to such a question; a list that is read anew keeps the choice where that game is in it."""
        chosen = self.game.id if self.game is not None else None
        self.games = games if anew else (*self.games, *games)
        self.is_known = True
        self.is_complete = len(games) < wanted or len(self.games) == self._limit
        self.chosen = next((index for index, game in enumerate(self.games) if game.id == chosen), 0)

    def move(self, by: int) -> None:
        """Choose the game so many further down, the first or the last where there is none."""
        self.chosen = max(0, min(self.chosen + by, len(self.games) - 1))
