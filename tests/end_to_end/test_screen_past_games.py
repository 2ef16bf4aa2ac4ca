import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.end_to_end.clients import COMMAND
from tests.raw import listening
from tests.terminal import ENTERED, RESTORED, run_screen


@asynccontextmanager
async def lonely_port() -> AsyncIterator[tuple[str, list[object]]]:
    """Listen like a server; yield the URL and the connections received."""
    callers: list[object] = []

    async def note(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        callers.append(writer.get_extra_info("peername"))
        writer.close()

    async with listening(note) as port:
        yield f"ws://127.0.0.1:{port}", callers


async def test_a_file_is_replayed_without_any_connection_and_the_terminal_is_restored(games: str) -> None:
    async with (
        lonely_port() as (url, callers),
        run_screen(*COMMAND, "replay", games, "--at", "3", TICTACTOE_SERVER=url) as screen,
    ):
        await screen.until("This is the first of 2 games. --game 2 chooses the next.", "{A threat.}")
        assert ENTERED in screen.written
        assert screen.attributes() != screen.before
        await screen.ask("\x1b[C", "bo plays A3, bottom left.")
        await screen.ask("7\r", "ana plays C2, middle right.")
        screen.type("\x1b")
        assert await screen.end() == 0
        assert all(sequence in screen.written for sequence in RESTORED)
        assert callers == []


@pytest.mark.parametrize("options", ["--plain", "--json", "--no-input", "--export -"])
async def test_text_output_is_available_on_a_terminal_too(games: str, options: str) -> None:
    async with run_screen(*COMMAND, "replay", games, *options.split(), NO_COLOR="1") as screen:
        if options == "--plain":
            await screen.until("> ")
            screen.type("q\n")
        assert await screen.end() == 0
        assert b"\x1b" not in screen.written
