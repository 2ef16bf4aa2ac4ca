"""The server as a whole: sockets in front, hub and store behind, and an orderly end.

Plain HTTP on the same port answers `GET /healthz`; every other path but ``/`` and ``/ws`` is 404.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self, cast

import structlog
from websockets.asyncio.server import Server as WebSocketServer
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import NegotiationError
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from tictactoe_protocol import MAX_MESSAGE_BYTES, SUBPROTOCOL, CloseCode
from tictactoe_protocol.pushes import Notice
from tictactoe_server import SERVER_NAME
from tictactoe_server.bots import Bots, ThinkingPool
from tictactoe_server.connection import Connection
from tictactoe_server.gateway import Gateway
from tictactoe_server.history import History
from tictactoe_server.hub import Hub
from tictactoe_server.listen import open_sockets, url_of
from tictactoe_server.lobby import Lobby
from tictactoe_server.players import Players
from tictactoe_server.registry import Registry
from tictactoe_server.restoring import restore_rooms
from tictactoe_server.reviews import Reviews
from tictactoe_server.served_time import ServedTime
from tictactoe_server.settings import Limits, Settings
from tictactoe_server.stores import MemoryStore, SqliteStore, Storage, StoreUnavailable

RESTART_MS: Final = 1000
"""When clients should come back after the server went down on purpose, before their jitter."""

_STOP_SECONDS: Final = 5.0

log = structlog.get_logger(__name__)


class Server:
    """A running server; use it with ``async with``. `port` and `url` are known inside.

    All that rooms measure goes by `monotonic_ns`. Raises `CannotListen` or `CannotOpenStore` on entry. On exit every
    peer gets a notice and close code 1012, and the store is flushed.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        store: Storage | None = None,
        limits: Limits | None = None,
        *,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """Prepare a server; `store` is used instead of the one that the settings name."""
        self._settings = settings or Settings()
        self._limits = limits or Limits()
        self._given_store = store
        self._time = ServedTime(monotonic_ns)
        self._chores: list[asyncio.Task[None]] = []
        self._listeners: list[WebSocketServer] = []
        self.port = self._settings.port

    @property
    def url(self) -> str:
        """Where this machine reaches the server."""
        return url_of(self._settings.host, self.port)

    async def __aenter__(self) -> Self:
        sockets = open_sockets(self._settings.host, self._settings.port)
        self.port = sockets[0].getsockname()[1]
        try:
            self._build(self._given_store or _open_storage(self._settings))
            await self._time.resume(self._store)
        except BaseException:
            for sock in sockets:
                sock.close()
            raise
        keeping = self._time.keep(self._store)
        self._chores = [asyncio.create_task(restore_rooms(self._registry)), asyncio.create_task(keeping)]
        limits = self._limits
        create_connection = functools.partial(
            Connection, catch_up_seconds=limits.catch_up_seconds, held_bytes=limits.outbox_bytes
        )
        for sock in sockets:
            self._listeners.append(
                await serve(
                    self._attend,
                    sock=sock,
                    create_connection=cast(type[Connection], create_connection),
                    process_request=_answer_http,
                    select_subprotocol=_select_subprotocol,
                    subprotocols=[Subprotocol(SUBPROTOCOL)],
                    server_header=SERVER_NAME,
                    compression=None,
                    max_size=MAX_MESSAGE_BYTES,
                    max_queue=8,
                    write_limit=self._limits.outbox_bytes,
                    open_timeout=5,
                    ping_interval=5,
                    ping_timeout=10,
                    close_timeout=2,
                )
            )
        log.debug("listening", url=self.url)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()
        await self.bots.close()
        await self._registry.stop()
        for chore in self._chores:
            chore.cancel()
        await asyncio.gather(*self._chores, return_exceptions=True)
        try:
            await self._store.close()
        except StoreUnavailable as error:
            log.error("the store did not close in good time", reason=str(error))
        log.debug("stopped")

    def _build(self, store: Storage) -> None:
        """Put the parts together, from the store outwards."""
        settings = self._settings
        lobby = Lobby(self._time)
        self._store = store
        hold_ms = round(settings.hold_seconds * 1000)
        self._registry = Registry(store, self._time, lobby, self._limits, hold_ms=hold_ms)
        pool = ThinkingPool(settings.bot_workers, settings.bot_deadline_seconds)
        self._hub = Hub(self._registry, lobby, Reviews(pool), self._time)
        self.bots = Bots(pool, self._hub.act, pause_seconds=settings.bot_pause_seconds)
        self._registry.on_change = self.bots.notice
        self._gateway = Gateway(self._hub, Players(store), History(store), hold_ms=hold_ms)

    async def _attend(self, peer: ServerConnection) -> None:
        """Serve one connection from its handshake to its end."""
        connection = cast(Connection, peer)
        limit = connection.loop.call_later(self._limits.hello_seconds, _close_silent, connection)
        try:
            while (message := await connection.next_message()) is not None:
                await self._gateway.receive(connection, message)
        finally:
            limit.cancel()
            await self._hub.detach(connection)

    async def _stop(self) -> None:
        """Tell every peer, close politely, then cut whoever does not answer."""
        peers = self._peers()
        for peer in peers:
            peer.push(Notice("restarting", RESTART_MS))
        for listener in self._listeners:
            listener.close(code=CloseCode.SERVICE_RESTART, reason="restarting")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                for listener in self._listeners:
                    await listener.wait_closed()
        for peer in self._peers():
            peer.transport.abort()

    def _peers(self) -> Sequence[Connection]:
        return [cast(Connection, peer) for listener in self._listeners for peer in listener.connections]


def _open_storage(settings: Settings) -> Storage:
    return MemoryStore() if settings.data is None else SqliteStore.open(settings.data)


def _close_silent(connection: Connection) -> None:
    """Close a connection that has not said hello in time."""
    if connection.player is None:
        closing = connection.close(CloseCode.POLICY_VIOLATION, "no hello")
        connection.closing = connection.loop.create_task(closing)


def _answer_http(connection: ServerConnection, request: Request) -> Response | None:
    """Answer plain HTTP, or return None to go on with the WebSocket handshake. Changes nothing."""
    path = request.path.partition("?")[0]
    if path == "/healthz":
        return connection.respond(HTTPStatus.OK, "ok\n")
    if path not in ("/", "/ws"):
        return connection.respond(HTTPStatus.NOT_FOUND, "There is nothing here. WebSocket: / or /ws\n")
    return None


def _select_subprotocol(connection: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """Choose ours where it is offered; a client that offers none speaks it all the same."""
    if not offered:
        return None
    if SUBPROTOCOL in offered:
        return Subprotocol(SUBPROTOCOL)
    raise NegotiationError(f"this server speaks {SUBPROTOCOL}, not {', '.join(offered)}")
