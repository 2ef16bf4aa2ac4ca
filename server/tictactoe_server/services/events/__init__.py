"""Events: tournaments as values, and the service that runs them.

`event` is the value, `commands` what can happen to it, `round_robin`, `swiss` and `knock_out` pair a round, `table`
ranks. None of them knows sockets, the clock or chance.
"""

from __future__ import annotations

from tictactoe_server.services.events.commands import (
    Command,
    Enter,
    Leave,
    Opened,
    Paired,
    Ready,
    Rooms,
    Score,
    Tick,
    apply,
    pair_next,
)
from tictactoe_server.services.events.event import (
    Entrant,
    Event,
    Pairing,
    due_at,
    is_done,
    open_event,
    open_pairings,
    ticket_of,
    voided,
)
from tictactoe_server.services.events.knock_out import terms_of
from tictactoe_server.services.events.table import rows

__all__ = [
    "Command",
    "Enter",
    "Entrant",
    "Event",
    "Leave",
    "Opened",
    "Paired",
    "Pairing",
    "Ready",
    "Rooms",
    "Score",
    "Tick",
    "apply",
    "due_at",
    "is_done",
    "open_event",
    "open_pairings",
    "pair_next",
    "rows",
    "terms_of",
    "ticket_of",
    "voided",
]
