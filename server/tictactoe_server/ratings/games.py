"""Which finished games are rated. Pure."""

from __future__ import annotations

from typing import Final

from tictactoe_protocol.codes import EVENT_DRAW_PLY
from tictactoe_protocol.ratings.log import RatedGame
from tictactoe_server.rooms import FinishedGame

RATED_ENDS: Final = frozenset({"line", "full", "resigned", "timeout", "claimed", "agreed"})


def rated_game(game: FinishedGame) -> RatedGame | None:
    """Return the rated game that a ladder counts, or None if the game is not rated."""
    marks, reason = tuple(game.players), game.result.reason
    has_everybody_acted = len(game.moves) + len(game.chosen) >= len(marks)
    is_early = reason == "agreed" and len(game.moves) < EVENT_DRAW_PLY
    if not game.rated or game.rules.preset is None or reason not in RATED_ENDS or is_early or not has_everybody_acted:
        return None
    first, second = marks
    if game.chosen and game.chosen[-1] == second:
        first, second = second, first
    score = 0.5 if game.result.winner is None else float(game.result.winner == first)
    players = game.players[first].player, game.players[second].player
    return RatedGame(game.id, game.at, game.rules.preset, players, score)
