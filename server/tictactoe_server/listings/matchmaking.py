"""Who is next: the public rooms of each kind in which somebody waits for another player, the oldest first."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Collection
from typing import Final

from tictactoe_server.listings.listed import GameKind, Listed, kind_of
from tictactoe_server.rooms import Room

_FEW: Final = 100


class Matchmaker:
    """Rooms come in with `offer` and stay until they are found to be of no use; so finding one costs nearly nothing.

    A room is of use from the moment in which somebody begins to open it: whoever is matched there waits for that.
    Nobody is led to a player who `is_full`: sits in as many unfinished games as may be.
    All of `nearness` say whether a player is near enough to who waits in a room: within so many points of a rating.
    """

    def __init__(self, is_full: Callable[[str], bool] = lambda player: False) -> None:
        self.nearness: list[Callable[[Room, str, int], bool]] = []
        self._is_full = is_full
        self._waiting: dict[GameKind, list[Listed]] = {}
        self._offered: set[Listed] = set()
        self._most_offered = _FEW

    def __len__(self) -> int:
        """Return how many rooms are kept."""
        return len(self._offered)

    def offer(self, live: Listed) -> None:
        """Take a room in, if somebody waits there for another player."""
        if live in self._offered or not _is_of_use(live):
            return
        kind = kind_of(live.room)
        insort(self._waiting.setdefault(kind, []), live, key=lambda one: one.room.opened_at)
        self._offered.add(live)
        if len(self._offered) > self._most_offered:  # also of kinds that nobody asked for
            self._offered = set(filter(_is_of_use, self._offered))
            self._most_offered = max(_FEW, 2 * len(self._offered))
            left = {kind: [one for one in rooms if one in self._offered] for kind, rooms in self._waiting.items()}
            self._waiting = {kind: rooms for kind, rooms in left.items() if rooms}

    def find(
        self, kind: GameKind, player: str, within: int = 0, but: Collection[str] = (), *, is_waiting: bool = False
    ) -> Listed | None:
        """Return the oldest room of this kind in which none of the player, `but` and those who are full sits, or None.

        With `within` nobody sits there who is further away, nor are they by what who waits there wants. For one who
        `is_waiting` it is older than the room in which they wait.
        """
        waiting, passed = self._waiting.get(kind, []), list[Listed]()
        found, looked = None, 0
        own = (math.inf, "")
        if is_waiting:
            own = min((_age(one.room) for one in waiting if one.room.mark_of(player)), default=(0, ""))
        while found is None and looked < len(waiting):
            live = waiting[looked]
            looked += 1
            if not _is_of_use(live):
                self._offered.discard(live)
                continue
            passed.append(live)
            seated = [seat.player for seat in live.room.held_seats]
            is_open = (
                player not in seated
                and player not in live.entering
                and not any(one in but or self._is_full(one) for one in seated)
            )
            if is_open and _age(live.room) < own:
                is_asked = within or live.room.within
                is_near = not is_asked or all(near(live.room, player, within) for near in self.nearness)
                found = live if is_near else None
        waiting[:looked] = passed
        if not waiting:
            self._waiting.pop(kind, None)
        return found


def _age(room: Room) -> tuple[float, str]:
    """Return what is less for an older room; the order of those that wait does not say so where one was expected."""
    return room.opened_at, room.code


def _is_of_use(live: Listed) -> bool:
    """Tell whether a room is public and for fair games, has a seat that nobody is about to take, and somebody in it."""
    room = live.room
    if live.is_gone or room.visibility != "public" or room.analysis == "open" or room.result is not None:
        return False
    free_seats = sum(seat is None for seat in room.seats.values())
    return (live.has_somebody or live.is_opening) and free_seats > len(live.entering)
