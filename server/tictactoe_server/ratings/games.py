"""Which finished games are rated, and what a ladder folds of them. Pure."""

from __future__ import annotations

from typing import Final

from tictactoe_protocol.codes import EVENT_DRAW_PLY
from tictactoe_protocol.ratings.log import RatedGame
from tictactoe_server.rooms import FinishedGame

RATED_ENDS: Final = frozenset({"line", "full", "resigned", "timeout", "claimed", "agreed"})


def rated_game(game: FinishedGame) -> RatedGame | None:
    """Return what a ladder knows of a game, None for one that is not rated."""
    marks, reason = tuple(game.players), game.result.reason
    has_everybody_acted = len(game.moves) + len(game.chosen) >= len(marks)
    is_early = reason == "agreed" and len(game.moves) < EVENT_DRAW_PLY
    if not game.rated or game.rules.preset is None or reason not in RATED_ENDS or is_early or not has_everybody_acted:
        return None
    first = game.chosen[-1] if game.chosen and game.chosen[-1] in marks else marks[0]
    order = sorted(marks, key=lambda mark: (mark != first, marks.index(mark)))
    players = tuple(game.players[mark].player for mark in order)
    return RatedGame(game.id, game.at, game.rules.preset, players, tuple(_place(game, mark) for mark in order))


def _place(game: FinishedGame, mark: str) -> int:
    """Return the place of a mark: the winner is first, and whoever was passed over is behind all who were not yet."""
    out = [passed for _, passed in game.passed]
    if mark == game.result.winner:
        return 1
    return 2 + (len(out) - out.index(mark) if mark in out else 0)
