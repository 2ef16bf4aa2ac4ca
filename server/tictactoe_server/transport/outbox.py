"""What waits for a peer that reads too slowly: everything in its order, but of each room's states the newest alone."""

from __future__ import annotations

import asyncio


class Outbox:
    """There is one while the peer lags; `cutting` is the timer that cuts the peer off at last."""

    __slots__ = ("_frames", "_newest", "cutting", "size")

    def __init__(self, cutting: asyncio.TimerHandle) -> None:
        self.cutting = cutting
        self.size = 0
        self._frames: list[bytes] = []
        self._newest: dict[str, bytes] = {}

    def hold(self, frame: bytes) -> None:
        """Keep one frame; `size` is how many bytes of these there are."""
        self._frames.append(frame)
        self.size += len(frame)

    def hold_newest(self, key: str, frame: bytes) -> None:
        """Keep one frame in place of the one before under this key."""
        self._newest[key] = frame

    def forget_newest(self, key: str) -> None:
        """Let go of the frame under this key: it has been overtaken."""
        self._newest.pop(key, None)

    def take(self) -> bytes:
        """Return all that was kept, what was said first and then the newest states."""
        return b"".join((*self._frames, *self._newest.values()))
