"""A server of the page that sends the messages of a test, unlike a real server if the test needs that."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from http import HTTPStatus
from typing import Any, ClassVar, Self
from weakref import WeakSet

from msgspec.structs import replace
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from tests.classic import CLASSIC_RULES
from tests.client.states import seat
from tests.client.states import state as room_state
from tests.raw import stop_accepting
from tictactoe_protocol import encode
from tictactoe_server.http.assets import Assets

Message = dict[str, Any]
read_assets = cache(Assets)
CODE = "K7M4PQ"


def state(seq: int, *moves: int, **other: Any) -> Message:
    """Return a state of a game of p1 (X, the reader) against p2 (O)."""
    now = room_state(moves, seats={"X": seat("p1", "ana"), "O": seat("p2", "bo")})
    shown: Message = json.loads(encode(replace(now, seq=seq)))
    return shown | {"moves": list(moves)} | other


def held(room: str) -> Message:
    return {"room": room, "seat": "X", "rules": CLASSIC_RULES, "names": {"X": "ana"}, "turn": None}


def welcome(*rooms: Message, **other: Any) -> Message:
    names = {"player": "p1", "name": "ana", "token": "t", "rooms": list(rooms)}
    there = {"hold_ms": 60_000, "sharing": True, "ladders": []}
    return {"type": "welcome", "protocol": 2, "server": "odd", **names, **there, **other}


def error(code: str, message: str) -> Message:
    return {"type": "error", "code": code, "message": message}


class PageConnection(ServerConnection):
    """A connection of a page, in `speechless` until its request has arrived."""

    speechless: ClassVar[WeakSet[ServerConnection]] = WeakSet()

    async def handshake(self, *arguments: Any, **options: Any) -> None:
        self.speechless.add(self)
        await super().handshake(*arguments, **options)
        self.speechless.discard(self)


async def close_at_once(listening: Server) -> None:
    """Close a server without waiting for connections that a browser opened in advance and never used."""
    await stop_accepting(listening)
    await asyncio.sleep(0)
    for connection in list(PageConnection.speechless):
        if connection.server is listening:
            connection.transport.abort()
    await listening.wait_closed()


class OddServer:
    """A server with fixed answers; use it with ``async with``.

    Attributes:
        answers: Replies by type of request, or a function that returns them; `ok` and `error` get the request's id.
            Other types get an empty `ok`.
        asked: All requests received.
        calls: The number of connections.
        is_silent: Whether requests stay unanswered.
        opens_sockets: Whether WebSockets open, unlike behind some proxies.
    """

    def __init__(self, **answers: list[Message]) -> None:
        self.answers: Mapping[str, list[Message] | Callable[[Message], list[Message]]] = {
            "hello": [welcome(held(CODE))],
            "join": [{"type": "ok", "room": CODE, "seat": "X"}, state(1)],
            **answers,
        }
        self.asked: list[Message] = []
        self.calls = 0
        self.is_silent = False
        self.opens_sockets = True
        self._assets = read_assets()
        self._server: Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await serve(
            *(self._meet, "127.0.0.1", 0),
            process_request=self._show,
            subprotocols=[Subprotocol("tictactoe.v2")],
            create_connection=PageConnection,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await close_at_once(self._listening)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{next(iter(self._listening.sockets)).getsockname()[1]}"

    @property
    def _listening(self) -> Server:
        assert self._server is not None
        return self._server

    def asked_for(self, kind: str) -> list[Message]:
        return [request for request in self.asked if request["type"] == kind]

    async def say(self, *messages: Message) -> None:
        for connection in self._listening.connections:
            for message in messages:
                await connection.send(json.dumps(message))

    async def close(self, code: int) -> None:
        await asyncio.gather(*(connection.close(code) for connection in self._listening.connections))

    @asynccontextmanager
    async def closing(self, code: int) -> AsyncIterator[None]:
        """Start to close all connections; browsers know of it, and the connections end with the block."""
        connections = list(self._listening.connections)
        for connection in connections:
            connection.transport.pause_reading()
        closing = asyncio.create_task(self.close(code))
        yield
        for connection in connections:
            connection.transport.resume_reading()
        await closing

    async def has_heard_all(self) -> None:
        """Wait until all messages sent by browsers so far have arrived."""
        for _ in range(2):
            for connection in self._listening.connections:
                await (await connection.ping())

    async def _meet(self, connection: ServerConnection) -> None:
        self.calls += 1
        with contextlib.suppress(ConnectionClosed):
            async for text in connection:
                request = json.loads(text)
                self.asked.append(request)
                if not self.is_silent:
                    await self._answer(connection, request)

    async def _answer(self, connection: ServerConnection, request: Message) -> None:
        found = self.answers.get(request["type"], [{"type": "ok"}])
        for answer in found(request) if callable(found) else found:
            is_answer = answer["type"] in ("ok", "error") and "id" in request
            await connection.send(json.dumps({**answer, "id": request["id"]} if is_answer else answer))

    def _show(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/ws" and self.opens_sockets:
            return None
        asset = self._assets.find(request.path)
        is_there = asset is not None or not request.path.endswith(".json")
        body = asset.body if asset else self._assets.page("tictactoe", "")
        headers = Headers({"Content-Type": asset.kind if asset else "text/html", "Content-Length": str(len(body))})
        return Response(HTTPStatus.OK if is_there else HTTPStatus.NOT_FOUND, "", headers, body)
