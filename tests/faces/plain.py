"""A person in plain mode: the program, with lines typed and read."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack

from tests.end_to_end.clients import ClientProcess, run_client
from tests.faces.person import Deed
from tests.peer import PATIENCE_SECONDS

LINES: Mapping[Deed, tuple[str, ...]] = {
    "accept challenge": ("challenge yes",),
    "leave": ("leave", "leave"),
    "resign": ("resign", "resign"),
    "withdraw": ("draw withdraw",),
}
"""What to type for a deed; for the others, its name."""


class PlainPerson:
    def __init__(self, url: str, stack: AsyncExitStack) -> None:
        self.url = url
        self._stack = stack
        self._heard = 0

    async def _start(self, *words: str) -> None:
        self.client: ClientProcess = await self._stack.enter_async_context(
            run_client(*words, "-n", "ana", "-s", self.url, "--plain")
        )

    async def open_room(self, rules: str = "classic") -> str:
        await self._start("new", "--rules", rules)
        return (await self.client.until("Code")).split()[1]

    async def join(self, code: str) -> None:
        await self._start("join", code)

    async def watch(self, code: str) -> None:
        await self._start("watch", code)

    async def enter_event(self, code: str) -> None:
        await self._start("event", code, "join")

    async def play(self, cell: str) -> None:
        self.client.type(cell)

    async def choose(self, number: int) -> None:
        self.client.type(str(number))

    async def say(self, text: str) -> None:
        self.client.type(f"chat {text}")

    async def do(self, deed: Deed) -> None:
        self.client.type(*LINES.get(deed, (deed,)))

    async def hear(self, *words: str) -> None:
        for word in words:
            while not any(word in line for line in self.client.lines[self._heard :]):
                assert await self.client.read_line() is not None, (word, self.client.lines)
            self._heard = next(at for at, line in enumerate(self.client.lines) if at >= self._heard and word in line)

    async def see(self, mark: str, cell: str) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            told = ""
            while not told.startswith(f"{cell.upper()}: {mark}"):
                told = await self.client.ask(f"s {cell}", f"{cell.upper()}: ")
