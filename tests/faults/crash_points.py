"""Between which two steps of a command the server's process dies, by its own SIGKILL.

A command is applied, saved, answered, and shown to one connection after another; then the lists follow. A `Fuse`
counts the saves of rooms and is lit by the one that is meant; what happens after that save burns it down.
"""

from __future__ import annotations

import os
import signal
from typing import Literal, get_args

from tictactoe_server import server
from tictactoe_server.core.live_room import Changes
from tictactoe_server.records.tables import ROOMS
from tictactoe_server.rooms import FinishedGame, Room
from tictactoe_server.storage.sqlite import JournaledTable, SqliteStore
from tictactoe_server.storage.store import Waiter
from tictactoe_server.transport.connection import Connection

CrashPoint = Literal["before save", "after save", "before reply", "after reply", "after first state", "before lists"]
CRASH_POINTS: tuple[CrashPoint, ...] = get_args(CrashPoint)


class Fuse:
    """Kills this process at `point` of the command that makes the room save number `save`, counted from 1."""

    def __init__(self, point: CrashPoint, save: int) -> None:
        self._point = point
        self._saves_left = save
        self.is_lit = False

    def count_save(self) -> None:
        """Take notice that a room is about to be saved."""
        self._saves_left -= 1
        self.is_lit = self._saves_left == 0

    def reach(self, point: CrashPoint) -> None:
        """Die here, if this is the point and the command the one that is meant."""
        if self.is_lit and point == self._point:
            os.kill(os.getpid(), signal.SIGKILL)


class CrashingRooms(JournaledTable[Room]):
    """Those of `inner`, with the fuse burning around their saves."""

    def __init__(self, inner: SqliteStore, fuse: Fuse) -> None:
        super().__init__(inner._writer, ROOMS)
        self._fuse = fuse

    def save(
        self, key: str, value: Room, expected_revision: int | None, waiter: Waiter, finished: FinishedGame | None = None
    ) -> None:
        self._fuse.count_save()
        self._fuse.reach("before save")
        super().save(key, value, expected_revision, _Burning(self._fuse, waiter), finished)


class _Burning:
    """A waiter that burns the fuse when it hears that something is kept."""

    def __init__(self, fuse: Fuse, waiter: Waiter) -> None:
        self._fuse = fuse
        self._waiter = waiter

    def stored(self, revision: int) -> None:
        self._fuse.reach("after save")
        self._waiter.stored(revision)

    def failed(self, error: Exception) -> None:
        self._waiter.failed(error)


def lay(fuse: Fuse) -> None:
    """Have every connection of this process burn the fuse before and after its replies and states."""

    class CrashingConnection(Connection):
        def push_frame(self, frame: bytes) -> None:
            fuse.reach("before reply")
            super().push_frame(frame)
            fuse.reach("after reply")

        def push_state(self, room: str, frame: bytes) -> None:
            super().push_state(room, frame)
            fuse.reach("after first state")

        def push_answer_and_state(self, room: str, answer: bytes, state: bytes) -> None:
            """Send in two writes what may be cut anywhere."""
            self.push_frame(answer)
            self.push_state(room, state)

    catch_up = Changes.catch_up

    def crash_or_catch_up(changes: Changes) -> None:
        fuse.reach("before lists")
        catch_up(changes)

    Changes.catch_up = crash_or_catch_up  # type: ignore[method-assign, assignment]
    server.Connection = CrashingConnection  # type: ignore[attr-defined]
