"""The way to one other server: what is said there in one turn of the event loop is sent as one parcel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from tictactoe_server.house.parcels import Item, Parcel, Sent, encode

MAX_BYTES: Final = 128 * 1024
"""About how much one parcel holds of frames and requests."""


class Way:
    """To the server `to`, from `own`: `publish` sends a parcel there. `heard` counts those that came from there."""

    def __init__(self, own: str, to: str, publish: Callable[[str, bytes], None]) -> None:
        self.to = to
        self.heard = 0
        self._own = own
        self._publish = publish
        self._number = 0
        self._size = 0
        self._items: list[Item] = []

    def put(self, item: Item, size: int = 0) -> None:
        """Send an item of about so many bytes, with what else is said in this turn."""
        if not self._items:
            asyncio.get_running_loop().call_soon(self._send)
        self._items.append(item)
        self._size += size
        if self._size > MAX_BYTES:
            self._send()

    def put_frame(self, session: int, frame: bytes, room: str = "") -> None:
        """Send a frame to a session; the same frame to several of them goes once."""
        last = self._items[-1] if self._items else None
        if type(last) is Sent and last.frame is frame:
            last.sessions.append(session)
        else:
            self.put(Sent([session], frame, room), len(frame))

    def _send(self) -> None:
        if self._items:
            items, self._items, self._size = self._items, [], 0
            self._number += 1
            self._publish(self.to, encode(Parcel(self._own, self._number, items)))
