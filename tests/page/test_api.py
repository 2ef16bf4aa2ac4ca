"""The API, read by a page of another origin: the one that the documentation shows."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import expect

from tests.page.conftest import Visit
from tests.peer import play_out, two_playing
from tictactoe_server.server import Server

EXAMPLE = Path(__file__).parents[2] / "docs" / "api.md"


@asynccontextmanager
async def elsewhere(server: Server) -> AsyncIterator[str]:
    """Serve the example at an origin of its own."""
    found = re.search(r"```html\n(.*?)```", EXAMPLE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    page = found[1].replace("localhost:8765", f"127.0.0.1:{server.port}").encode()

    async def show(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
        writer.write(head % len(page) + page)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(show, "127.0.0.1", 0) as listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"


async def test_a_page_of_another_origin_shows_a_game_as_it_goes_on(server: Server, visit: Visit) -> None:
    async with two_playing(server) as (ana, bo, room), elsewhere(server) as origin:
        eve = await visit(origin, may_fail="favicon|404")
        await expect(eve.page.locator("pre")).to_have_text("...\n...\n...\nplaying")
        await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
        await expect(eve.page.locator("pre")).to_have_text("XXX\nOO.\n...\nover")


async def test_such_a_page_may_say_what_it_knows_already_and_reads_why_something_is_not_there(
    server: Server, visit: Visit
) -> None:
    async with two_playing(server) as (_, _, room), elsewhere(server) as origin:
        eve = await visit(origin, may_fail="favicon|404|304")
        ask = """async ([path, tag]) => {
            const answer = await fetch(path, {cache: "no-store", headers: tag ? {"If-None-Match": tag} : {}});
            return [answer.status, answer.headers.get("ETag"), await answer.text()];
        }"""
        path = f"http://127.0.0.1:{server.port}/api/rooms"
        status, tag, _ = await eve.page.evaluate(ask, [f"{path}/{room}", None])
        assert (status, tag.startswith(f'W/"{room}-')) == (200, True)
        assert (await eve.page.evaluate(ask, [f"{path}/{room}", tag]))[0] == 304
        status, _, words = await eve.page.evaluate(ask, [f"{path}/222222", None])
        assert (status, '"no_such_room"' in words) == (404, True)
