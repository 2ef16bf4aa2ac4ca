"""Round robin: everybody plays everybody, once or twice with marks swapped, in the order of the Berger tables."""

from __future__ import annotations

from tictactoe_protocol.berger import berger_pairs
from tictactoe_server.services.events.event import Event, Pairing, bye


def pair_round(event: Event, round: int) -> tuple[Pairing, ...]:
    """Return the pairings of a round; who is free has one alone, which gives no point."""
    players = [one.player for one in event.field]
    first, second = tuple(event.marks)
    return tuple(
        bye(round, match, first, players[one - 1], "none")
        if other is None
        else Pairing(f"r{round}-{match}", round, {first: players[one - 1], second: players[other - 1]}, match)
        for match, (one, other) in enumerate(berger_pairs(len(players), round, double=event.double), 1)
    )
