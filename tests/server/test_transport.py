"""The wire below the messages: paths, subprotocols, frames, sizes, silence, slow readers, the end of the server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from tests.limits import uncounted
from tests.peer import PATIENCE_SECONDS, Peer, open_peer, play_out, two_playing
from tictactoe_server.server import Server
from tictactoe_server.settings import Limits

Serve = Callable[[Limits], Awaitable[Server]]
LARGEST_MESSAGE = 16 * 1024


@contextlib.asynccontextmanager
async def open_socket(url: str, **options: Any) -> AsyncIterator[ClientConnection]:
    """Connect without a word."""
    async with connect(url, **{"compression": None, "proxy": None, **options}) as opened:
        yield opened


async def close_code_of(opened: ClientConnection) -> int | None:
    """Read to the end and return the code with which the server closed."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        with contextlib.suppress(ConnectionClosed):
            while True:
                await opened.recv()
    return opened.close_code


# -- handshakes and plain HTTP ----------------------------------------------------------------------------------


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


async def test_our_subprotocol_is_chosen_where_it_is_offered(server: Server) -> None:
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


# -- frames -----------------------------------------------------------------------------------------------------


async def test_a_message_of_16_kib_is_read_and_a_larger_one_closes_with_1009(server: Server) -> None:
    async with open_peer(server.url) as peer:
        largest = '{"type":"ping","id":"1"}'.ljust(LARGEST_MESSAGE)
        await peer.send_text(largest)
        assert (await peer.receive())["id"] == "1"
        await peer.send_text(largest + " ")
        assert await close_code_of(peer.socket) == 1009


# -- slow readers -----------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def open_slow_peer(url: str) -> AsyncIterator[Peer]:
    """Connect with a tiny receive buffer, so that whoever does not read soon holds the server's frames up."""
    host, _, port = url.removeprefix("ws://").rpartition(":")
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect((host, int(port)))
    async with open_socket(url, sock=sock, max_queue=1, ping_interval=None, close_timeout=0.1) as opened:
        peer = Peer(opened)
        await peer.send("hello")
        await peer.receive()
        yield peer


async def fill_buffers(slow: Peer, room: str) -> None:
    """Ask for more than all buffers between server and peer can hold, and read none of it."""
    request = json.dumps({"type": "sync", "room": room})
    for _ in range(6000):
        await slow.socket.send(request)


LARGE_BOARD = {"rows": 32, "columns": 32, "line": 5}


async def test_a_slow_reader_delays_nobody_and_then_gets_the_newest_state_only(serve: Serve) -> None:
    server = await serve(uncounted(outbox_bytes=8192, catch_up_seconds=600))
    async with two_playing(server, rules=LARGE_BOARD) as (ana, bo, room), open_slow_peer(server.url) as slow:
        await slow.ask("watch", room=room)
        await fill_buffers(slow, room)
        last = await play_out({"X": ana, "O": bo}, room, [cell * 3 for cell in range(100)])
        await slow.send("ping", id="after")
        seqs: list[int] = []
        while not seqs or seqs[-1] < last["seq"] or not any(message.get("id") == "after" for message in slow.seen):
            message = await slow.receive()
            if message["type"] == "room":
                seqs.append(message["seq"])
        assert seqs == sorted(seqs)
        assert seqs[-1] == last["seq"]
        assert len(set(seqs)) < 100


async def test_a_reader_that_does_not_catch_up_is_cut_off(serve: Serve) -> None:
    server = await serve(uncounted(outbox_bytes=8192, catch_up_seconds=0.05))
    async with open_peer(server.url) as ana, open_slow_peer(server.url) as slow:
        room = (await ana.ask("create", rules=LARGE_BOARD))["room"]
        await slow.ask("watch", room=room)
        assert (await ana.state(watchers=1))["watchers"] == 1
        with contextlib.suppress(ConnectionClosed):
            await fill_buffers(slow, room)
        assert (await ana.state(watchers=0))["watchers"] == 0
