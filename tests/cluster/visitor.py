"""A player in one room of a cluster who follows `moved` and leaves a silent server."""

import asyncio
import contextlib
from typing import Any, Self

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from tests.peer import Message, Peer, open_peer

RETRY_SECONDS = 0.05
GONE = (OSError, ConnectionClosed, InvalidHandshake, InvalidMessage, TimeoutError, EOFError)


class Visitor:
    """Connects to the server at `url` first; use it with ``async with``. A request without an answer is sent again.

    Attributes:
        peer: The current connection.
        room: Code of the room that it is in, or "".
        silent_seconds: How long a server may leave a request unanswered.
        patience_seconds: How long a request may take in all.
    """

    silent_seconds = 1.0
    patience_seconds = 30.0

    def __init__(self, url: str, name: str | None = None, token: str | None = None) -> None:
        self.token = token
        self.room = ""
        self.peer: Peer
        self._name = name
        self._servers = [url]
        self._seq = 0
        self._sent_to: str | None = None
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with asyncio.timeout(self.patience_seconds):
            await self._connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def ask(self, type: str, **fields: Any) -> Message:
        """Return the answer of the server that has the room."""
        async with asyncio.timeout(self.patience_seconds):
            while True:
                try:
                    async with asyncio.timeout(self.silent_seconds):
                        answer = await self.peer.ask(type, **fields)
                    if answer.get("code") != "moved":
                        self.room = answer.get("room", self.room)
                        return answer
                    self._sent_to = answer["url"]
                except GONE:
                    self._lose()
                await self._come_back()

    async def state(self, **expected: Any) -> Message:
        async with asyncio.timeout(self.patience_seconds):
            while True:
                try:
                    async with asyncio.timeout(self.silent_seconds):
                        message = await self.peer.until(lambda message: message["type"] in ("room", "moved"))
                except TimeoutError:
                    await self.ask("sync", room=self.room)
                    continue
                except GONE:
                    self._lose()
                    await self._come_back()
                    continue
                if message["type"] == "moved":
                    self._sent_to = message["url"]
                    await self._come_back()
                elif all(message[key] == value for key, value in expected.items()):
                    return message

    def _lose(self) -> None:
        self._servers.append(self._servers.pop(0))
        self._sent_to = None

    async def _come_back(self) -> None:
        """Connect to the room's server, or to the next one, and enter the room with the newest known `seq`."""
        states = [message for message in self.peer.seen if message["type"] == "room" and message["room"] == self.room]
        self._seq = max([self._seq, *(state["seq"] for state in states)])
        while True:
            await self._connect()
            if not self.room:
                return
            try:
                async with asyncio.timeout(self.silent_seconds):
                    answer = await self.peer.ask("join", room=self.room, seq=self._seq)
            except GONE:
                self._lose()
                continue
            if answer["type"] == "ok":
                return
            self._sent_to = answer.get("url")
            if self._sent_to is None:
                await asyncio.sleep(RETRY_SECONDS)

    async def _connect(self) -> None:
        """Connect to the room's server, or to the next one that answers."""
        while True:
            await self._stack.aclose()
            url = self._sent_to or self._servers[0]
            self._sent_to = None
            try:
                async with asyncio.timeout(self.silent_seconds):
                    opening = open_peer(url, self._name, self.token)
                    self.peer = await self._stack.enter_async_context(opening)
                self._stack.callback(self.peer.socket.transport.abort)  # the server may be a silent one
                if self.peer.welcome["type"] == "welcome":
                    break
            except GONE:
                if url == self._servers[0]:
                    self._lose()
                await asyncio.sleep(RETRY_SECONDS)
        welcome = self.peer.welcome
        servers = welcome.get("servers", [url])
        self.token = welcome["token"]
        self._servers = [*servers, *(server for server in self._servers if server not in servers)]
