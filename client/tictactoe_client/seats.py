"""The seats that this user's clients hold, kept in a file so that a new process can take one up again.

A seat belongs to the process that wrote it down; it is offered to others only when that process is gone. The token in
it is the player's secret: the file is for its owner alone, and what it holds never appears in a log or on a screen.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

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
        return self.pid == os.getpid() or not _is_alive(self.pid)


class Seats:
    """The file, `seats.json` in the folder for state; a file that cannot be read counts as empty."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or seats_path()

    def find(self, server: str, room: str | None = None) -> SavedSeat | None:
        """Return the newest free seat on this server, in this room where one is named, or None."""
        found = [seat for seat in self._read() if seat.server == server and room in (None, seat.room) and seat.is_free]
        return max(found, key=lambda seat: seat.saved_at, default=None)

    def keep(self, kept: SavedSeat) -> None:
        """Write a seat down, in place of what is known of its room and of its player there."""
        self._change(lambda seats: [*(seat for seat in seats if seat.key != kept.key), kept])

    def forget(self, server: str, token: str, room: str | None = None) -> None:
        """Strike out a player's seat in a room, in all rooms where none is named."""
        self._change(
            lambda seats: [
                seat for seat in seats if (seat.server, seat.token) != (server, token) or room not in (None, seat.room)
            ]
        )

    def _read(self) -> list[SavedSeat]:
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            return [SavedSeat(**row) for row in content["seats"]]
        except (OSError, ValueError, TypeError, KeyError):
            return []

    def _change(self, change: Callable[[list[SavedSeat]], list[SavedSeat]]) -> None:
        """Rewrite the file as a whole; a folder that cannot be written to costs the way back, not the game."""
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(self.path.with_suffix(".lock")):
                before = self._read()
                after = change(before)[-_MOST_SEATS:]
                if after != before:
                    _write(self.path, {"version": _VERSION, "seats": [asdict(seat) for seat in after]})


def seats_path() -> Path:
    """Return where the file is on this platform."""
    from platformdirs import user_state_path

    return user_state_path("tictactoe", appauthor=False) / "seats.json"


def _write(path: Path, content: Any) -> None:
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
    os.replace(draft, path)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes out meanwhile, where the platform can."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
