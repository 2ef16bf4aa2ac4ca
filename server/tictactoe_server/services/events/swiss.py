"""Swiss."""

from __future__ import annotations

from tictactoe_server.services.events.event import Event, Pairing


def pair_round(event: Event, round: int) -> tuple[Pairing, ...]:
    """Return the pairings of a round."""
    raise NotImplementedError
