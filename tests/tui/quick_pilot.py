"""A pilot for the screen that continues as soon as its input has been handled.

The library's pilot waits until the whole process is idle: 40 ms and more for every key, longer on a busy machine.
"""

import asyncio

from textual import events
from textual.keys import _character_to_key
from textual.message_pump import MessagePump
from textual.pilot import Pilot

from tests.peer import PATIENCE_SECONDS
from tictactoe_client.tui.app import TicTacToe

_GLANCE_SECONDS = 0.002


class QuickPilot(Pilot[int]):
    def __init__(self, screen: TicTacToe) -> None:
        super().__init__(screen)
        self._screen = screen

    async def press(self, *keys: str) -> None:
        """Press keys by name or character, each once the one before was handled."""
        for key in keys:
            name = _character_to_key(key) if len(key) == 1 else key
            character = " " if key == "space" else key if len(key) == 1 else None
            self._screen.post_message(events.Key(name, character))
            await self._settle()

    async def pause(self, delay: float | None = None) -> None:
        """Yield to other tasks until their messages are handled."""
        await asyncio.sleep(delay or _GLANCE_SECONDS)
        await self._settle()

    async def resize_terminal(self, width: int, height: int) -> None:
        await super().resize_terminal(width, height)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while self._drawn_size() != (width, height):
                await self.pause()

    def _drawn_size(self) -> tuple[int, int]:
        canvas = getattr(self._screen.screen, "canvas", None)
        size = self._screen.screen.size
        return (canvas.picture.width, canvas.picture.height) if canvas is not None else (size.width, size.height)

    def _way_up(self) -> list[MessagePump]:
        """Return the widgets that receive a key in turn, up to the one that handles it."""
        lowest = self._screen.focused or self._screen.screen
        return list(lowest.ancestors_with_self)

    async def _settle(self) -> None:
        """Wait until the input and its consequences are handled."""
        screen = self._screen
        for station in (screen, *self._way_up(), screen, *self._way_up()):
            passed = asyncio.Event()
            if not station.call_later(passed.set):
                return
            while not passed.is_set() and station.is_running and screen.is_running:  # noqa: ASYNC110
                await asyncio.sleep(0)
        while screen.screen_stack and screen.screen._layout_required and screen.is_running:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
