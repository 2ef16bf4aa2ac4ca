"""Who is next: the public rooms of each kind in which somebody waits for another player, the oldest first."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Final

from tictactoe_server.core.listed import GameKind, Listed

_FEW: Final = 100

_Waiting = list[tuple[int, int, Listed]]


class Matchmaker:
    """Rooms come in with `offer` and stay until they are found to be of no use; so finding one costs nearly nothing.

    A room is of use from the moment in which somebody begins to open it: whoever is matched there waits for that.
    Nobody is led to a player who `is_full`: sits in as many unfinished games as may be.
    """

    def __init__(self, is_full: Callable[[str], bool] = lambda player: False) -> None:
        self._is_full = is_full
        self._waiting: dict[GameKind, _Waiting] = {}
        self._offered: set[Listed] = set()
        self._most_offered = _FEW
        self._count = 0

    def offer(self, live: Listed) -> None:
        """Take a room in, if somebody waits there for another player."""
        if live not in self._offered and _is_of_use(live):
            self._count += 1
            self._offered.add(live)
            if len(self._offered) > self._most_offered:
                self._forget_useless()
            kind = (live.room.rules, live.room.clock)
            heapq.heappush(self._waiting.setdefault(kind, []), (live.room.opened_at, self._count, live))

    def __len__(self) -> int:
        """Return how many rooms are kept."""
        return len(self._offered)

    def _forget_useless(self) -> None:
        """Let go of the rooms that are of no use any more, whose kinds nobody asked for."""
        self._offered = {live for live in self._offered if _is_of_use(live)}
        self._most_offered = max(_FEW, 2 * len(self._offered))
        for kind, waiting in list(self._waiting.items()):
            waiting[:] = [entry for entry in waiting if entry[2] in self._offered]
            heapq.heapify(waiting)
            if not waiting:
                del self._waiting[kind]

    def find(self, kind: GameKind, player: str) -> Listed | None:
        """Return the oldest room of this kind in which neither the player nor one who is full sits, or None."""
        waiting = self._waiting.get(kind, [])
        passed: _Waiting = []
        found = None
        while waiting and found is None:
            entry = heapq.heappop(waiting)
            live = entry[2]
            if not _is_of_use(live):
                self._offered.discard(live)
                continue
            passed.append(entry)
            seated = [seat.player for seat in live.room.held_seats]
            if player not in seated and player not in live.entering and not any(map(self._is_full, seated)):
                found = live
        for entry in passed:
            heapq.heappush(waiting, entry)
        if not waiting:
            self._waiting.pop(kind, None)
        return found


def _is_of_use(live: Listed) -> bool:
    """Tell whether a room is public and for fair games, has a seat that nobody is about to take, and somebody in it."""
    room = live.room
    if live.is_gone or room.visibility != "public" or room.analysis == "open" or room.result is not None:
        return False
    free_seats = sum(seat is None for seat in room.seats.values())
    return (live.has_somebody or live.is_opening) and free_seats > len(live.entering)
