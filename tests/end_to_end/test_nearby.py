import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.end_to_end.clients import run_client
from tests.end_to_end.test_server_command import line_of, started
from tests.peer import PATIENCE_SECONDS, open_peer
from tictactoe_client.nearby import is_of_a_network
from tictactoe_server.server import Server
from tictactoe_server.transport.listen import addresses_at

pytestmark = pytest.mark.skipif(
    not any(map(is_of_a_network, addresses_at(None))), reason="this machine is on no local network"
)


@asynccontextmanager
async def announced(*options: str) -> AsyncIterator[int]:
    """Run a server that announces itself and is reachable from outside; yield its port."""
    async with started("--port", "0", "--data", ":memory:", *options) as process:
        found = re.search(r":(\d+)", await line_of(process))
        assert found
        assert process.stderr
        async with asyncio.timeout(PATIENCE_SECONDS):
            while b"announced" not in (line := await process.stderr.readline()):
                assert line
        yield int(found[1])


async def search(port: int, *options: str) -> list[str]:
    """Search, for two seconds each time, until the server at this port is listed; return the output."""
    lines: list[str] = []
    while not any(f":{port}" in line for line in lines):
        async with run_client("servers", *options) as client:
            assert await client.end() == 0
        lines = client.lines
    return lines


async def test_servers_that_announce_themselves_are_listed() -> None:
    async with (
        announced("--announce-as", "hall") as port,
        started("--port", "0", "--data", ":memory:", "--no-announce") as silent,
    ):
        hidden = (await line_of(silent)).partition(" (")[0].rpartition(":")[2]
        lines, json_lines = await asyncio.gather(search(port), search(port, "--json"))
        assert any(line.startswith("hall") and line.endswith(f":{port}") for line in lines)
        assert not any(line.endswith(f":{hidden}") for line in lines)
        servers = json.loads(json_lines[0])["servers"]
        assert [server["name"] for server in servers if server["url"].endswith(f":{port}")] == ["hall"]


async def test_the_page_is_opened_in_the_browser_that_is_set(server: Server, tmp_path: Path) -> None:
    browser, told = tmp_path / "browser", tmp_path / "told"
    browser.write_text(f'#!/bin/sh\necho "$1" > {told}\n')
    browser.chmod(0o700)
    async with open_peer(server.url, "ana") as ana:
        code = (await ana.ask("create"))["room"]
        async with run_client("open", code.lower(), "-s", server.url, BROWSER=str(browser)) as client:
            assert await client.end() == 0
        link = f"http://127.0.0.1:{server.port}/{code}"
        assert client.lines == [link]
        assert told.read_text().strip() == link


async def test_the_page_of_a_room_that_there_is_not_is_not_opened(server: Server, tmp_path: Path) -> None:
    async with run_client("open", "ZZZZZZ", "-s", server.url, BROWSER=f"touch {tmp_path}/opened %s") as client:
        assert await client.end() == 5
        assert client.lines == []
        assert "There is no room ZZZZZZ. It may have closed." in await client.errors()
    assert not (tmp_path / "opened").exists()
