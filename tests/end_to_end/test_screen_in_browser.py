"""The full screen in a browser, as `textual serve` runs it: with Textual's web driver and pipes, no terminal."""

import asyncio
import contextlib
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator

import pyte

from tests.end_to_end.clients import COMMAND
from tests.environment import environment
from tests.peer import PATIENCE_SECONDS
from tests.programs import Process, start_program
from tictactoe_server.server import Server

DRIVER = {"TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver", "COLUMNS": "80", "ROWS": "24"}


class Page:
    """The browser's side of a program: packets of a letter, a length and bytes."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self.screen)

    async def until(self, *words: str) -> None:
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not all(word in "\n".join(self.screen.display) for word in words):
                header = await self.process.stdout.readexactly(5)
                payload = await self.process.stdout.readexactly(int.from_bytes(header[1:], "big"))
                if header[:1] == b"D":
                    self._stream.feed(payload)

    def press(self, keys: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"D%s%s" % (len(keys).to_bytes(4, "big"), keys.encode()))


@contextlib.asynccontextmanager
async def served(*arguments: str) -> AsyncIterator[Page]:
    process = await start_program(
        *COMMAND, *arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment(PYTHONWARNINGS="default", **DRIVER)
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await process.stdout.readline() == b"__GANGLION__\n"
        yield Page(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_a_game_is_played(server: Server) -> None:
    async with served("bot", "-n", "ana", "--level", "easy", "--server", server.url) as page:
        await page.until("Your move, X.", "5")
        page.press("5")
        await page.until("X B2  O")
