"""A receiver of webhooks with a certificate of its own authority, which counts its connections."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import Any

import trustme

from tests.peer import until
from tests.raw import listening
from tictactoe_server.features.all import FEATURES
from tictactoe_server.features.days.feature import FEATURE, make
from tictactoe_server.features.days.https import HttpsPoster
from tictactoe_server.features.feature import Feature


async def resolve_to_loopback(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


class Receiver:
    """Records connections and requests, and answers with `statuses`, then with 204.

    Attributes:
        hosts: The names in its certificate.
    """

    hosts = ("chat.example", "fcm.googleapis.com", "localhost", "127.0.0.1", "::1")

    def __init__(self) -> None:
        self.connections = 0
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.statuses: list[int | None] = []
        self.port = 0
        authority = trustme.CA()
        self.context = ssl.create_default_context()
        authority.configure_trust(self.context)
        self._own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(*self.hosts).configure_cert(self._own)

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, _, body in self.requests]

    def features(self) -> list[Feature]:
        """Return all features, with webhooks that reach this receiver at `chat.example` and by its address."""
        poster = HttpsPoster((f"chat.example:{self.port}", "127.0.0.1"), resolve_to_loopback, self.context)
        return [replace(FEATURE, make=partial(make, poster=poster)) if one is FEATURE else one for one in FEATURES]

    async def until_received(self, count: int) -> list[dict[str, Any]]:
        await until(lambda: len(self.requests) >= count)
        return self.messages

    @contextlib.asynccontextmanager
    async def listen(self) -> AsyncIterator[None]:
        async def count_and_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            await self._answer(reader, writer)

        async with listening(count_and_answer, self._own) as self.port:
            yield

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
            fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
            body = await reader.readexactly(int(fields["content-length"]))
            self.requests.append((first, fields, body))
            status = self.statuses.pop(0) if self.statuses else 204
            if status is not None:
                location = b"Location: https://127.0.0.1/\r\n" if 300 <= status < 400 else b""
                writer.write(b"HTTP/1.1 %d Answer\r\n%bContent-Length: 0\r\n\r\n" % (status, location))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
