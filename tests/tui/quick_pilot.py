"""A pilot of the screen that goes on as soon as what it did has been heard by all who hear it.

The library's own waits until the whole process is idle, 40 ms and more for every key, and longer the busier the
machine is.
"""

from __future__ import annotations

import asyncio

from textual import events
from textual.keys import _character_to_key
from textual.message_pump import MessagePump
from textual.pilot import Pilot

from tictactoe_client.tui.app import TicTacToe

_GLANCE_SECONDS = 0.002


class QuickPilot(Pilot[int]):
    """For one running screen."""

    def __init__(self, screen: TicTacToe) -> None:
        super().__init__(screen)
        self._screen = screen

    async def press(self, *keys: str) -> None:
        """Press keys by their names, or by the characters that they type, each when the one before it was heard."""
        for key in keys:
            name = _character_to_key(key) if len(key) == 1 else key
            character = " " if key == "space" else key if len(key) == 1 else None
            self._screen.post_message(events.Key(name, character))
            await self._settle()

    async def pause(self, delay: float | None = None) -> None:
        """Let others work, and then have heard what they sent."""
        await asyncio.sleep(delay or _GLANCE_SECONDS)
        await self._settle()

    async def resize_terminal(self, width: int, height: int) -> None:
        """Make the window of this size, and wait until all of it is drawn anew."""
        await super().resize_terminal(width, height)
        async with asyncio.timeout(10):
            while self._drawn_size() != (width, height):
                await self.pause()

    def _drawn_size(self) -> tuple[int, int]:
        canvas = getattr(self._screen.screen, "canvas", None)
        size = self._screen.screen.size
        return (canvas.picture.width, canvas.picture.height) if canvas is not None else (size.width, size.height)

    def _way_up(self) -> list[MessagePump]:
        """Return who hears a key, one after the other, until somebody takes it."""
        lowest = self._screen.focused or self._screen.screen
        return list(lowest.ancestors_with_self)

    async def _settle(self) -> None:
        """Wait for what is on its way: from the program to what has the keys, up again, and what comes of it."""
        screen = self._screen
        for station in (screen, *self._way_up(), screen, *self._way_up()):
            passed = asyncio.Event()
            if not station.call_later(passed.set):
                return
            while not passed.is_set() and station.is_running and screen.is_running:  # noqa: ASYNC110
                await asyncio.sleep(0)
        while screen.screen_stack and screen.screen._layout_required and screen.is_running:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
