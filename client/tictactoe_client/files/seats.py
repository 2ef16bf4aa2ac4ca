"""The seats that this user's clients hold, kept in a file so that a new process can take one up again.

A seat belongs to the process that wrote it down; it is offered to others only when that process is gone. The token in
it is the player's secret: the file is for its owner alone, and what it holds never appears in a log or on a screen.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from tictactoe_client.files.private_file import change_private, is_alive, read_private, state_folder
from tictactoe_client.files.servers import Servers, each_of

_VERSION: Final = 1
_MOST_SEATS: Final = 50


@dataclass(frozen=True, slots=True)
class SavedSeat:
    """One seat: where, whose, and which process holds it. `saved_at` is in seconds since the epoch."""

    server: str
    room: str
    seat: str
    name: str
    token: str = field(repr=False)
    pid: int = field(default_factory=os.getpid)
    saved_at: float = field(default_factory=time.time)

    @property
    def key(self) -> tuple[str, str, str]:
        """What no two rows share: server, token and room."""
        return (self.server, self.token, self.room)

    @property
    def is_free(self) -> bool:
        """Whether no living process but this one holds the seat."""
        return self.pid == os.getpid() or not is_alive(self.pid)


class Seats:
    """The file, `seats.json` in the folder for state; a file that cannot be read counts as empty."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or seats_path()

    def find(self, servers: Servers, room: str | None = None) -> SavedSeat | None:
        """Return the newest free seat on these servers, in this room where one is named, or None."""
        found = [seat for seat in self._on(servers) if room in (None, seat.room) and seat.is_free]
        return max(found, key=lambda seat: seat.saved_at, default=None)

    def left_behind(self, servers: Servers) -> list[SavedSeat]:
        """Return the seats on these servers that a process took which is gone, the newest first."""
        found = [seat for seat in self._on(servers) if seat.pid != os.getpid() and seat.is_free]
        return _each_once(sorted(found, key=lambda seat: -seat.saved_at))

    def keep(self, *kept: SavedSeat) -> None:
        """Write seats down, in place of what is known of their rooms and of their player there."""
        keys = {seat.key for seat in kept}
        self._change(lambda seats: [*(seat for seat in seats if seat.key not in keys), *kept])

    def forget(self, servers: Servers, token: str, room: str | None = None) -> None:
        """Strike out a player's seat in a room, in all rooms where none is named."""
        urls = each_of(servers)
        self._change(
            lambda seats: [
                seat
                for seat in seats
                if seat.server not in urls or seat.token != token or room not in (None, seat.room)
            ]
        )

    def of_player(self, servers: Servers, token: str) -> list[SavedSeat]:
        """Return a player's seats that no other living process holds."""
        return _each_once([seat for seat in self._on(servers) if seat.token == token and seat.is_free])

    def _on(self, servers: Servers) -> list[SavedSeat]:
        urls = each_of(servers)
        return [seat for seat in self._read() if seat.server in urls]

    def _read(self) -> list[SavedSeat]:
        try:
            return [SavedSeat(**row) for row in read_private(self.path)["seats"]]
        except (ValueError, TypeError, KeyError):
            return []

    def _change(self, change: Callable[[list[SavedSeat]], list[SavedSeat]]) -> None:
        def apply(before: list[SavedSeat]) -> tuple[list[SavedSeat], object]:
            after = change(before)[-_MOST_SEATS:]
            return after, {"version": _VERSION, "seats": [asdict(seat) for seat in after]}

        change_private(self.path, self._read, apply)


def _each_once(seats: Iterable[SavedSeat]) -> list[SavedSeat]:
    """Return each seat once that is written down for several addresses of a house."""
    found: dict[tuple[str, str], SavedSeat] = {}
    for seat in seats:
        found.setdefault((seat.token, seat.room), seat)
    return list(found.values())


def seats_path() -> Path:
    """Return where the file is on this platform."""
    return state_folder() / "seats.json"
