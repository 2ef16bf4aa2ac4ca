"""A cluster of servers behind one host name, each at its own path, as a page meets them behind a proxy.

One real server serves the page and the games. The cluster is simulated: `servers` and `cluster` in each welcome, and
`moved` for a room of another server.
"""

import asyncio
import contextlib
import json
import ssl
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import Server as Listening
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from tests.page.odd_server import PageConnection, close_at_once
from tests.peer import PATIENCE_SECONDS, Message
from tictactoe_server.server import Server

SUBPROTOCOLS = [Subprotocol("tictactoe.v2")]


class Members:
    """The servers of a cluster, by `names`; use it with ``async with``. `/ws` is the first that is not `down`.

    Attributes:
        owners: The server of each room; at first the one that opened the room.
        mistaken: By server, the server that it wrongly takes for the owner of all rooms.
        urls: The address of each server for the others.
        strangers: Servers that no welcome lists.
        down: Servers that accept no connection.
        asked: All requests received, each with the name of the server that received it.
    """

    def __init__(
        self, server: Server, tls: ssl.SSLContext | None = None, names: tuple[str, ...] = ("s1", "s2")
    ) -> None:
        self.names = names
        self.owners: dict[str, str] = {}
        self.mistaken: dict[str, str] = {}
        self.urls: dict[str, str] = {}
        self.strangers: set[str] = set()
        self.down: set[str] = set()
        self.asked: list[tuple[str, Message]] = []
        self._frozen: set[str] = set()
        self._server = server
        self._tls = tls
        self._listening: Listening | None = None
        self._connections: dict[ServerConnection, str] = {}
        self._came = asyncio.Condition()
        self._ended = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._listening = await serve(
            *(self._meet, "127.0.0.1", 0),
            process_request=self._admit,
            subprotocols=SUBPROTOCOLS,
            ssl=self._tls,
            create_connection=PageConnection,
        )
        host = f"127.0.0.1:{next(iter(self._listening.sockets)).getsockname()[1]}"
        self.origin = f"http{'s' if self._tls else ''}://{host}"
        self.urls = {name: f"ws{'s' if self._tls else ''}://{host}/{name}" for name in self.names}
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._listening is not None
        self._ended.set()
        await close_at_once(self._listening)

    def places_of(self, kind: str) -> list[str]:
        """Return the servers that received a request of this type, in order."""
        return [name for name, request in self.asked if request["type"] == kind]

    async def heard(self, kind: str, times: int) -> list[str]:
        """Wait for this number of requests of a type, and return the servers that received them."""
        async with asyncio.timeout(PATIENCE_SECONDS), self._came:
            await self._came.wait_for(lambda: len(self.places_of(kind)) >= times)
        return self.places_of(kind)

    async def move(self, room: str, name: str) -> None:
        """Give a room to another server, and notify the connections of the previous one."""
        before, self.owners[room] = self.owners[room], name
        await self.say(before, {"type": "moved", "room": room, "url": self.urls[name]})

    async def say(self, name: str, message: Message) -> None:
        """Send a message on all connections of a server."""
        for connection, at in self._connections.items():
            if at == name:
                await connection.send(json.dumps(message))

    def freeze(self, name: str) -> None:
        """Silence a server and give its rooms to another."""
        self._frozen.add(name)
        self.owners = dict.fromkeys(self.owners, next(other for other in self.names if other != name))

    def kill(self, name: str) -> None:
        self.freeze(name)
        self.down.add(name)
        for connection, at in self._connections.items():
            if at == name:
                connection.transport.abort()

    async def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        name = request.path[1:]
        if name == "ws":
            name = next(each for each in self.names if each not in self.down)
        if name not in self.names:
            return await asyncio.to_thread(self._show, request)
        if name in self._frozen:
            await self._ended.wait()
        if name in self.down:
            return connection.respond(HTTPStatus.BAD_GATEWAY, "")
        self._connections[connection] = name
        return None

    def _show(self, request: Request) -> Response:
        link = HTTPConnection("127.0.0.1", self._server.port)
        link.request("GET", request.path, headers=dict(request.headers.raw_items()))
        with contextlib.closing(link), link.getresponse() as answer:
            return Response(answer.status, answer.reason, Headers(answer.getheaders()), answer.read())

    async def _meet(self, connection: ServerConnection) -> None:
        name = self._connections[connection]
        with contextlib.suppress(ConnectionClosed):
            async with connect(self._server.url, subprotocols=SUBPROTOCOLS) as real:
                telling = asyncio.create_task(self._tell(name, real, connection))
                async for text in connection:
                    await self._pass_on(name, json.loads(text), real, connection)
                telling.cancel()
        del self._connections[connection]

    async def _pass_on(self, name: str, request: Message, real: ClientConnection, connection: ServerConnection) -> None:
        async with self._came:
            self.asked.append((name, dict(request)))
            self._came.notify_all()
        if name in self._frozen:
            return
        room = request.get("room", "")
        if request.pop("unreachable", ""):
            self.owners[room] = name
        owner = self.mistaken.get(name) or self.owners.get(room, name)
        if not room or owner == name:
            await real.send(json.dumps(request))
        else:
            url = self.urls[owner]
            words = {"code": "moved", "message": f"Room {room} is at {url} now.", "room": room, "url": url}
            await connection.send(json.dumps({"type": "error", "id": request["id"], **words}))

    async def _tell(self, name: str, real: ClientConnection, connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for text in real:
                message = json.loads(text)
                if message["type"] == "welcome":
                    others = [url for other, url in self.urls.items() if other not in {name, *self.strangers}]
                    message |= {"servers": [self.urls[name], *others], "cluster": "c7Qm2ZtXw9Ra"}
                room = message.get("room")
                if room and message["type"] == "ok":
                    self.owners.setdefault(room, name)
                if name not in self._frozen and self.owners.get(room, name) == name:
                    await connection.send(json.dumps(message))
