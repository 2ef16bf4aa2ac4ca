"""A black-box client for tests: a WebSocket and JSON, independent of our client and its types."""

import asyncio
import contextlib
import inspect
import json
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection, connect

from tictactoe_words.catalogue import speaking
from tictactoe_words.refusals import describe_refusal

Message = dict[str, Any]
PATIENCE_SECONDS = 120.0
"""How long a test waits for an event; far longer than a process gets no processor on a busy machine."""


class Peer:
    """One connection. Replies and pushes are read in the order of arrival."""

    def __init__(self, socket: ClientConnection, language: str = "") -> None:
        self.socket = socket
        self.language = language
        self.welcome: Message = {}
        self.seen: list[Message] = []
        self._ids = 0

    @property
    def seats(self) -> dict[str, str]:
        return {held["room"]: held["seat"] for held in self.welcome["rooms"]}

    async def send(self, type: str, **fields: Any) -> None:
        await self.send_text(json.dumps({"type": type, **fields}))

    async def send_text(self, text: str | bytes) -> None:
        await self.socket.send(text)

    async def receive(self) -> Message:
        async with asyncio.timeout(PATIENCE_SECONDS):
            message: Message = json.loads(await self.socket.recv())
        self.seen.append(message)
        if message["type"] == "error":
            with speaking(self.language):
                check_words(message)
        return message

    async def until(self, condition: Callable[[Message], object]) -> Message:
        """Skip messages up to the first that fulfils the condition, and return it."""
        while True:
            message = await self.receive()
            if condition(message):
                return message

    async def next_of(self, type: str) -> Message:
        return await self.until(lambda message: message["type"] == type)

    async def state(self, **expected: Any) -> Message:
        return await self.until(
            lambda message: message["type"] == "room" and all(message[key] == value for key, value in expected.items())
        )

    async def ask(self, type: str, **fields: Any) -> Message:
        self._ids += 1
        id = f"r{self._ids}"
        await self.send(type, id=id, **fields)
        return await self.until(lambda message: message.get("id") == id)

    async def refusal(self, type: str, **fields: Any) -> str:
        """Send a request that must be refused, and return the error code."""
        reply = await self.ask(type, **fields)
        assert reply["type"] == "error", reply
        assert reply["message"], reply
        return str(reply["code"])


async def until(condition: Callable[[], object]) -> None:
    """Poll until the condition, which may be awaitable, holds, for conditions without a notification."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (await held if inspect.isawaitable(held := condition()) else held):  # noqa: ASYNC110
            await asyncio.sleep(0.002)


def check_words(error: Message) -> None:
    """Check that the error's message follows from its code and data."""
    if "data" in error:
        assert describe_refusal(error["code"], error["data"]) == error["message"]
    else:
        assert error["message"] == f"Refused: {error['code']}."


@contextlib.asynccontextmanager
async def open_peer(
    url: str,
    name: str | None = None,
    token: str | None = None,
    tls: ssl.SSLContext | None = None,
    headers: Sequence[tuple[str, str]] = (),
    **fields: Any,
) -> AsyncIterator[Peer]:
    """Connect with these HTTP headers and send `hello` with these fields."""
    # An unbounded queue: with a full one, closing would wait for up to ten seconds.
    terms: dict[str, Any] = {"compression": None, "proxy": None, "max_queue": None, "open_timeout": PATIENCE_SECONDS}
    async with connect(url, ssl=tls, additional_headers=headers, **terms) as socket:
        peer = Peer(socket, fields.get("language", ""))
        fields |= {key: value for key, value in (("name", name), ("token", token)) if value is not None}
        await peer.send("hello", **fields)
        peer.welcome = await peer.receive()
        yield peer


class Listening(Protocol):
    @property
    def url(self) -> str: ...


@contextlib.asynccontextmanager
async def two_playing(
    server: Listening | str, first: str = "ana", second: str = "bo", **options: Any
) -> AsyncIterator[tuple[Peer, Peer, str]]:
    """Seat two peers in a new room and yield them with its code, after both have seen the game start."""
    url = server if isinstance(server, str) else server.url
    async with open_peer(url, first) as ana, open_peer(url, second) as bo:
        room = (await ana.ask("create", **options))["room"]
        await bo.ask("join", room=room)
        await ana.state(status="playing")
        await bo.state(status="playing")
        yield ana, bo, room


async def play_out(players: dict[str, Peer], room: str, cells: Sequence[int], *, first_ply: int = 0) -> Message:
    """Play the cells in turn, with every player awaiting each state; return the first player's last state."""
    marks = list(players)
    state: Message = {}
    for ply, cell in enumerate(cells, first_ply):
        await players[marks[ply % len(marks)]].send("move", room=room, cell=cell, ply=ply)
        for peer in reversed(players.values()):
            state = await peer.state(ply=ply + 1)
    return state
