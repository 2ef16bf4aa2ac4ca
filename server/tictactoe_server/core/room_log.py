"""Log lines about rooms: a line for each event, or only the number of events if an address causes many."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from typing import Any, Final

import structlog

from tictactoe_server.core.session import Counters
from tictactoe_server.rooms.room import Room

LOG_SECONDS: Final = 60.0
LINES: Final = 60  # the most lines for an address in `LOG_SECONDS`

log: Final = structlog.get_logger(__name__)
_LOGGER: Final = logging.getLogger(__name__)


class RoomLog:
    """Writes up to `LINES` lines for each address in `LOG_SECONDS`, and counts further events."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._written: Counter[str] = Counter()
        self._more: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def follow(self, address: str, room: Room, before: Room | None) -> None:
        status, result = room.status, room.result
        if status == ("waiting" if before is None else before.status):
            return
        if result is not None:
            self._counters.games[result.reason] += 1
        if not _LOGGER.isEnabledFor(logging.INFO):
            return
        if result is not None:
            facts = {"winner": result.winner, "reason": result.reason, "moves": room.position.ply}
            self.note("game ended", address, room=room.code, game=room.game, **facts)
        elif status == "playing":
            facts = {"rules": room.rules.preset, "marks": room.rules.marks}
            self.note("game began", address, room=room.code, game=room.game, **facts)

    def note(self, event: str, address: str, **facts: Any) -> None:
        """Log an event from an address ("" if unknown), or only count it if the address has caused many lately."""
        if self._written[address] < LINES:
            self._written[address] += 1
            log.info(event, **facts)
        else:
            self._more[address][event.split()[-1]] += 1

    def sum_up(self) -> None:
        """Log the counted events, one line per address. Called every `LOG_SECONDS`."""
        for address, events in self._more.items():
            log.info("more in rooms", address=address or "unknown", **events)
        self._written.clear()
        self._more.clear()
