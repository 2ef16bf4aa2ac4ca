"""Between which two steps of a command the server's process dies, by its own SIGKILL.

A command is applied, saved, answered, and shown to one connection after another. A `Fuse` counts the saves of rooms
and is lit by the one that is meant; what happens after that save on the way to the sockets burns it down.
"""

from __future__ import annotations

import os
import signal
from typing import Any, Literal, get_args

from tictactoe_protocol.pushes import Push
from tictactoe_server import server as assembly
from tictactoe_server.connection import Connection
from tictactoe_server.stores import GameRecord, Storage

CrashPoint = Literal["before save", "after save", "before reply", "after reply", "after first state"]
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


class CrashingStore:
    """Passes everything on to `inner`, and burns the fuse around the saves of rooms."""

    def __init__(self, inner: Storage, fuse: Fuse) -> None:
        self._inner = inner
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def save(
        self, key: str, document: bytes, expected_revision: int, *, archived: GameRecord | None = None
    ) -> int:
        if not key.startswith("room/"):
            return await self._inner.save(key, document, expected_revision, archived=archived)
        self._fuse.count_save()
        self._fuse.reach("before save")
        revision = await self._inner.save(key, document, expected_revision, archived=archived)
        self._fuse.reach("after save")
        return revision


def lay(fuse: Fuse) -> None:
    """Have every connection of this process burn the fuse before and after its replies and states."""

    class CrashingConnection(Connection):
        def push(self, message: Push) -> None:
            fuse.reach("before reply")
            super().push(message)
            fuse.reach("after reply")

        def push_state(self, room: str, frame: bytes) -> None:
            super().push_state(room, frame)
            fuse.reach("after first state")

    assembly.Connection = CrashingConnection  # type: ignore[attr-defined]
