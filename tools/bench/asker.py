"""A peer of our server who asks and is answered, and counts what else it is sent; for thousands in one process.

Only answers are ever looked into. The server answers the requests of one connection in their order, so that the oldest
question that is open is the one that was answered.
"""

from __future__ import annotations

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
    """One connection; `newest` is the last state received."""

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
                waiting.exception()  # nobody may be waiting any more

    def ask_soon(self, type: str, **fields: Any) -> asyncio.Future[bytes]:
        """Send a request; return its answer as it will come."""
        answer = asyncio.get_running_loop().create_future()
        self._open.append(answer)
        self.send(json.dumps({"type": type, "id": "q", **fields}))
        return answer

    async def ask(self, type: str, **fields: Any) -> Message:
        """Return the answer to a request; raises `Refused` for an error."""
        return read(await self.ask_soon(type, **fields))

    async def until(self, mark: bytes) -> bytes:
        """Return the newest state if it has this in it, else the next one that has."""
        if mark in self.newest:
            return self.newest
        self._awaited = mark, asyncio.get_running_loop().create_future()
        return await self._awaited[1]


def read(answer: bytes) -> Message:
    """Return an answer decoded; raises `Refused` for an error."""
    message: Message = json.loads(answer)
    if message["type"] == "error":
        raise Refused(f"{message['code']}: {message['message']}")
    return message


async def read_all(answers: Iterable[asyncio.Future[bytes]]) -> list[Message]:
    """Return all answers; raises `Refused` if one is an error."""
    return [read(answer) for answer in await asyncio.gather(*answers)]


async def open_asker(url: str) -> Asker:
    """Return a connection that has sent `hello`."""
    asker = await open_wire(url, Asker)
    await asker.ask("hello")
    return asker


async def open_askers(url: str, count: int) -> list[Asker]:
    return await gather_some(open_asker(url) for _ in range(count))


async def open_rooms(asker: Asker, count: int, **options: Any) -> list[str]:
    """Open so many rooms, one upon the other; return their codes."""
    answers = await read_all(asker.ask_soon("create", **options) for _ in range(count))
    return [answer["room"] for answer in answers]
