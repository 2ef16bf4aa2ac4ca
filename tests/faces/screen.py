"""A person at the full screen, which runs in this process."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

from tests.faces.person import Deed
from tests.tui.conftest import ScreenUser
from tictactoe_client.input.ways import Choice, EventWay
from tictactoe_client.tui import FirstPage
from tictactoe_engine import PRESETS

KEYS: Mapping[Deed, str] = {
    "accept": "ctrl+y",
    "accept challenge": "ctrl+y",
    "decline": "ctrl+n",
    "leave": "escape",
    "rematch": "r",
    "withdraw": "ctrl+n",
}
"""The key for a deed; the others are commands after a colon."""


class ScreenPerson:
    def __init__(
        self, url: str, stack: AsyncExitStack, open_screen: Callable[..., AbstractAsyncContextManager[ScreenUser]]
    ) -> None:
        self.url = url
        self._stack = stack
        self._open_screen = open_screen

    async def _start(self, *arguments: Any, **options: Any) -> None:
        screen = self._open_screen(self.url, *arguments, size=(120, 40), motion=False, **options)
        self.user = await self._stack.enter_async_context(screen)

    async def open_room(self, rules: str = "classic") -> str:
        await self._start(Choice("create", PRESETS[rules], private=True))
        await self.user.until("Waiting for another player")
        return self.user.code

    async def join(self, code: str) -> None:
        await self._start()
        await self.user.until("Playing as")
        await self.user.do("j", "> Join with a code")
        await self.user.enter(code)

    async def watch(self, code: str) -> None:
        await self._start(first_page=FirstPage("watch"))
        await self.user.until("Private games are not listed")
        await self.user.enter(code)

    async def enter_event(self, code: str) -> None:
        await self._start(first_page=FirstPage("event", enter=EventWay(code, watches=True)))
        await self.user.until("j join")
        await self.user.press("j")
        await self.user.until("ana (you)")

    async def play(self, cell: str) -> None:
        await self.user.enter(cell)

    async def choose(self, number: int) -> None:
        await self.user.press(str(number))

    async def say(self, text: str) -> None:
        await self.user.press("tab")
        await self.user.enter(text)

    async def do(self, deed: Deed) -> None:
        if deed in KEYS:
            await self.user.press(KEYS[deed])
        else:
            await self.user.enter(f":{deed}")
        if "Esc play on" in self.user.text:
            await self.user.press("enter")

    async def hear(self, *words: str) -> None:
        for word in words:
            await self.user.until(word)

    async def see(self, mark: str, cell: str) -> None:
        await self.user.until(f"{mark} {cell.upper()}")
