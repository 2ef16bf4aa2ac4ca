"""A peer below the WebSocket library: the test writes the bytes, and frames are parsed for it."""

import asyncio
import contextlib
import json
import socket
import ssl
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from websockets.asyncio.server import Server
from websockets.client import ClientProtocol
from websockets.frames import Close, Frame, Opcode
from websockets.uri import parse_uri

from tests.peer import PATIENCE_SECONDS, Message

UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
"""The HTTP request that opens a WebSocket."""

Serving = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


class RawPeer:
    """A WebSocket whose outgoing bytes the test writes; the library parses the incoming ones."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, protocol: ClientProtocol) -> None:
        self.reader = reader
        self.writer = writer
        self._protocol = protocol
        self._frames: deque[Frame] = deque()

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def frame(self, *opcodes: Opcode) -> Frame:
        """Return the next frame with one of these opcodes (default: text or close)."""
        while True:
            while self._frames:
                frame = self._frames.popleft()
                if frame.opcode in (opcodes or (Opcode.TEXT, Opcode.CLOSE)):
                    return frame
            async with asyncio.timeout(PATIENCE_SECONDS):
                data = await self.reader.read(65536)
            assert data, "the server closed the connection without a close frame"
            self._protocol.receive_data(data)
            self._frames += [event for event in self._protocol.events_received() if isinstance(event, Frame)]

    async def message(self) -> Message:
        frame = await self.frame()
        assert frame.opcode is Opcode.TEXT, frame
        message: Message = json.loads(bytes(frame.data))
        return message

    async def close_code(self) -> int:
        frame = await self.frame(Opcode.CLOSE)
        return Close.parse(frame.data).code

    async def ended(self) -> None:
        """Wait until the server has closed the connection."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            with contextlib.suppress(ConnectionError):
                while await self.reader.read(65536):
                    pass


def text(content: str | bytes, *, fin: bool = True, opcode: Opcode = Opcode.TEXT, mask: bool = True) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return Frame(opcode, data, fin=fin).serialize(mask=mask)


def ping(id: str) -> str:
    return json.dumps({"type": "ping", "id": id})


@contextlib.asynccontextmanager
async def open_raw(
    url: str, *, hello: bool = True, receive_buffer: int | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[RawPeer]:
    """Connect, complete the handshake and send `hello` unless told otherwise."""
    uri = parse_uri(url)
    sock = socket.socket()
    if receive_buffer is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, (uri.host, uri.port))
    protocol = ClientProtocol(uri)
    reader, writer = await asyncio.open_connection(
        sock=sock, limit=receive_buffer or 2**16, ssl=tls, server_hostname=uri.host if tls is not None else None
    )
    try:
        protocol.send_request(protocol.connect())
        writer.write(b"".join(protocol.data_to_send()))
        while not protocol.events_received():
            data = await reader.read(1)
            assert data, "the server has hung up"
            protocol.receive_data(data)
        peer = RawPeer(reader, writer, protocol)
        if hello:
            await peer.write(text('{"type":"hello"}'))
            assert (await peer.message())["type"] == "welcome"
        yield peer
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()


@contextlib.asynccontextmanager
async def open_bytes(
    port: int, tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Connect and send nothing; with TLS, expect a certificate for localhost."""
    name = "localhost" if tls is not None else None
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls, server_hostname=name)
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def read_to_end(reader: asyncio.StreamReader) -> bytes:
    """Return everything received until the server closes the connection."""
    heard = b""
    async with asyncio.timeout(PATIENCE_SECONDS):
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                heard += data
    return heard


async def stop_accepting(server: asyncio.Server | Server) -> None:
    """Close a server, after the connections that it has just accepted have transports.

    A closed `asyncio.Server` loses sockets that it has accepted but not yet given a transport. Browsers open such
    connections in advance, at any time.
    """
    for accepting in server.sockets:
        asyncio.get_running_loop().remove_reader(accepting.fileno())
    for _ in range(2):  # turns, for the transport and for the protocol that it tells
        await asyncio.sleep(0)
    server.close()


@contextlib.asynccontextmanager
async def listening(serve: Serving, certificate: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve TCP on a free loopback port, which is yielded; abort all connections in the end."""
    tasks: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks[writer] = asyncio.create_task(serve(reader, writer))

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=certificate)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        await stop_accepting(server)
        for writer, task in tasks.items():
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
