import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from tests.peer import open_peer
from tictactoe_server.server import Server

LARGEST_MESSAGE = 16 * 1024


@contextlib.asynccontextmanager
async def open_socket(url: str, **options: Any) -> AsyncIterator[ClientConnection]:
    async with connect(url, **{"compression": None, "proxy": None, **options}) as opened:
        yield opened


async def close_code_of(opened: ClientConnection) -> int | None:
    """Read to the end and return the server's close code."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            await opened.recv()
    return opened.close_code


@pytest.mark.parametrize("path", ["", "/", "/ws", "/?from=a-page", "/ws?x=1"])
async def test_the_root_and_ws_speak_websocket(server: Server, path: str) -> None:
    async with open_socket(server.url + path) as opened:
        await opened.send('{"type":"hello"}')
        assert json.loads(await opened.recv())["type"] == "welcome"


@pytest.mark.parametrize("path", ["/nothing", "/ws/", "/WS", "/healthz/x", "//"])
async def test_any_other_path_is_not_found(server: Server, path: str) -> None:
    with pytest.raises(InvalidStatus) as caught:
        async with open_socket(server.url + path):
            pass
    assert caught.value.response.status_code == 404


async def test_the_servers_subprotocol_is_chosen_if_offered(server: Server) -> None:
    offered = [Subprotocol("tictactoe.v1"), Subprotocol("tictactoe.v2")]
    async with open_socket(server.url, subprotocols=offered) as opened:
        assert opened.subprotocol == "tictactoe.v2"


async def test_one_that_offers_only_others_is_refused_with_the_list(server: Server) -> None:
    with pytest.raises(InvalidStatus) as caught:
        async with open_socket(server.url, subprotocols=[Subprotocol("chess.v1"), Subprotocol("tictactoe.v1")]):
            pass
    assert caught.value.response.status_code == 400
    assert b"this server speaks tictactoe.v2" in (caught.value.response.body or b"")


async def test_compression_is_never_negotiated(server: Server) -> None:
    async with open_socket(server.url, compression="deflate") as opened:
        assert opened.protocol.extensions == []


async def test_a_message_of_16_kib_is_read_and_a_larger_one_closes_with_1009(server: Server) -> None:
    async with open_peer(server.url) as peer:
        largest = '{"type":"ping","id":"1"}'.ljust(LARGEST_MESSAGE)
        await peer.send_text(largest)
        assert (await peer.receive())["id"] == "1"
        await peer.send_text(largest + " ")
        assert await close_code_of(peer.socket) == 1009
