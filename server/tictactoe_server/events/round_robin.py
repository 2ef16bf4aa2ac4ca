"""Round robin: everybody plays everybody, once or twice with marks swapped, in the order of the Berger tables."""

from __future__ import annotations

from tictactoe_protocol.berger import berger_pairs
from tictactoe_server.events.event import Event, Pairing, pair_up


def pair_round(event: Event, round: int) -> tuple[Pairing, ...]:
    """Return the pairings of a round; who is free has one alone, which gives no point."""
    players = ["", *(one.player for one in event.field)]
    pairs = berger_pairs(len(event.field), round, double=event.double)
    return pair_up(round, ((players[one], players[other or 0]) for one, other in pairs), event.marks)
