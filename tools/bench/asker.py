"""A client of our server for thousands of connections in one process: it decodes only answers and counts the rest.

The server answers the requests of a connection in order, so an answer belongs to the oldest open request.
"""

import asyncio
import json
from collections import deque
from collections.abc import Iterable
from typing import Any

from tools.bench.load import Wire, gather_some, open_wire

Message = dict[str, Any]
_ANSWERS = (b'{"type":"ok"', b'{"type":"error"', b'{"type":"welcome"')


class Refused(Exception):
    """The server answered with an error."""


class Asker(Wire):
    """A connection; `newest` is the last state received."""

    def __init__(self) -> None:
        super().__init__()
        self.newest = b""
        self.is_lost = False
        self._open: deque[asyncio.Future[bytes]] = deque()
        self._awaited: tuple[bytes, asyncio.Future[bytes]] | None = None

    def received(self, payload: bytes) -> None:
        if payload.startswith(_ANSWERS):
            answer = self._open.popleft()
            if not answer.done():
                answer.set_result(payload)
            return
        self.newest = payload
        if self._awaited is not None and self._awaited[0] in payload:
            awaited, self._awaited = self._awaited[1], None
            awaited.set_result(payload)

    def lost(self) -> None:
        self.is_lost = True
        for waiting in (*self._open, *((self._awaited[1],) if self._awaited else ())):
            if not waiting.done():
                waiting.set_exception(ConnectionError("the connection was lost"))
                waiting.exception()  # the caller may have given up

    def ask_soon(self, type: str, **fields: Any) -> asyncio.Future[bytes]:
        answer = asyncio.get_running_loop().create_future()
        self._open.append(answer)
        self.send(json.dumps({"type": type, "id": "q", **fields}))
        return answer

    async def ask(self, type: str, **fields: Any) -> Message:
        """Return the answer to a request; raises `Refused` for an error."""
        return read(await self.ask_soon(type, **fields))

    async def until(self, mark: bytes) -> bytes:
        """Return the newest state if it contains this, else the next one that does."""
        if mark in self.newest:
            return self.newest
        self._awaited = mark, asyncio.get_running_loop().create_future()
        return await self._awaited[1]


def read(answer: bytes) -> Message:
    message: Message = json.loads(answer)
    if message["type"] == "error":
        raise Refused(f"{message['code']}: {message['message']}")
    return message


async def read_all(answers: Iterable[asyncio.Future[bytes]]) -> list[Message]:
    return [read(answer) for answer in await asyncio.gather(*answers)]


async def open_asker(url: str) -> Asker:
    asker = await open_wire(url, Asker)
    await asker.ask("hello")
    return asker


async def open_askers(url: str, count: int) -> list[Asker]:
    return await gather_some(open_asker(url) for _ in range(count))


async def open_rooms(asker: Asker, count: int, **options: Any) -> list[str]:
    """Open rooms concurrently; return their codes."""
    answers = await read_all(asker.ask_soon("create", **options) for _ in range(count))
    return [answer["room"] for answer in answers]
