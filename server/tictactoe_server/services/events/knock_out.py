"""Knock-out."""

from __future__ import annotations

from tictactoe_server.services.events.event import Event, Pairing


def pair_round(event: Event, round: int) -> tuple[Pairing, ...]:
    """Return the pairings of a round."""
    raise NotImplementedError


def more_games(event: Event) -> tuple[Pairing, ...]:
    """Return the next games of matches that are not decided."""
    return ()
