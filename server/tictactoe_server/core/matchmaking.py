"""Matchmaking: the public rooms with a player who waits for an opponent, by kind of game, oldest first."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection
from typing import Final

from tictactoe_server.rooms.room import Room
from tictactoe_server.rooms.view import GameKind, Listed, kind_of

_FEW: Final = 100
_MOST_COMPARED: Final = 200
"""The most waiting rooms that are compared to find the nearest room, which limits the cost of a match."""


class Matchmaker:
    """Finds waiting rooms for players, including rooms that are still being opened.

    A room is skipped if a player in the room has reached the limit of seats, as `is_full` says. A room that no longer
    qualifies is removed when a search comes across it, which keeps searches cheap.
    """

    def __init__(self, is_full: Callable[[str], bool] = lambda player: False) -> None:
        self._distances: dict[str, Callable[[Room, str], float]] = {}
        self._is_full = is_full
        self._waiting: dict[GameKind, list[Listed]] = {}
        self._offered: set[Listed] = set()
        self._most_offered = _FEW

    def __len__(self) -> int:
        return len(self._offered)

    def prefer_nearest(self, purpose: str, distance: Callable[[Room, str], float]) -> None:
        """In rooms for a purpose, match players with the nearest room, by `distance(room, player id)`."""
        self._distances[purpose] = distance

    def offer(self, live: Listed) -> None:
        """Add a room if a player waits in it for an opponent."""
        if live in self._offered or not _is_useful(live):
            return
        kind = kind_of(live.room)
        insort(self._waiting.setdefault(kind, []), live, key=lambda one: one.room.opened_at)
        self._offered.add(live)
        if len(self._offered) > self._most_offered:  # include kinds that are never searched
            self._offered = set(filter(_is_useful, self._offered))
            self._most_offered = max(_FEW, 2 * len(self._offered))
            left = {kind: [one for one in rooms if one in self._offered] for kind, rooms in self._waiting.items()}
            self._waiting = {kind: rooms for kind, rooms in left.items() if rooms}

    def find(self, kind: GameKind, player: str, excluded: Collection[str] = ()) -> Listed | None:
        """Return the oldest room of this kind without `player` and without players in `excluded`, or None.

        If the purpose has a distance, return the nearest room instead of the oldest.
        """
        waiting, useful, found = self._waiting.get(kind, []), list[Listed](), list[Listed]()
        distance = self._distances.get(kind[-1])
        most, looked = 1 if distance is None else _MOST_COMPARED, 0
        while len(found) < most and looked < len(waiting):
            live = waiting[looked]
            looked += 1
            if not _is_useful(live):
                self._offered.discard(live)
                continue
            useful.append(live)
            seated = [seat.player for seat in live.room.held_seats]
            is_own = player in seated or player in live.entering
            if not (is_own or any(one in excluded or self._is_full(one) for one in seated)):
                found.append(live)
        waiting[:looked] = useful
        if not waiting:
            self._waiting.pop(kind, None)
        if distance is None or not found:
            return next(iter(found), None)
        return min(found, key=lambda live: distance(live.room, player))


def _is_useful(live: Listed) -> bool:
    """Return True if a room is public, with closed analysis, a connected player, and a seat that is still free."""
    room = live.room
    if live.is_gone or room.visibility != "public" or room.analysis == "open" or room.result is not None:
        return False
    free_seats = sum(seat is None for seat in room.seats.values())
    return (live.has_somebody or live.is_opening) and free_seats > len(live.entering)
