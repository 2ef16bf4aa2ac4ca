"""The server as a whole: its parts put together, from the store outwards, and an orderly end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

import structlog

from tictactoe_protocol import CloseCode, encode
from tictactoe_protocol.pushes import Notice
from tictactoe_server.bots import Bots, ThinkingPool
from tictactoe_server.desk import Allowances, Desk, PastGames, Players, Reviews, Visits
from tictactoe_server.settings import Limits, Settings
from tictactoe_server.stores import MemoryStore, SqliteStore, Storage, StoreUnavailable
from tictactoe_server.tables import Agenda, Changes, Lobby, Pressure, Registry, ServedTime, Session, Timers
from tictactoe_server.transport import Certificate, Connection, Door, Listener, encode_frame, open_sockets, url_of

RESTART_MS: Final = 1000
"""When clients should come back after the server went down on purpose, before their jitter."""

_STOP_SECONDS: Final = 5.0

log: Final = structlog.get_logger(__name__)


class Server:
    """A running server; use it with ``async with``. `port`, `url` and `certificate` are known inside.

    All that rooms measure goes by `monotonic_ns`. Raises `CannotListen`, `CannotUseCertificate` or `CannotOpenStore` on
    entry. On exit every peer gets a notice and close code 1012, and the store is flushed.
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
        self._monotonic_ns = monotonic_ns
        self._chores: list[asyncio.Task[None]] = []
        self.port = self._settings.port
        self.certificate: Certificate | None = None

    @property
    def url(self) -> str:
        """Where this machine reaches the server: with TLS by a name that the certificate is for."""
        host = None if self._settings.host in ("0.0.0.0", "::") else self._settings.host
        if self.certificate is None:
            return url_of(host, self.port)
        names = self.certificate.names
        if names and (host or "localhost") not in names:
            host = names[0]
        return url_of(host, self.port, secure=True)

    async def __aenter__(self) -> Self:
        if self._settings.tls_cert is not None and self._settings.tls_key is not None:
            self.certificate = Certificate(self._settings.tls_cert, self._settings.tls_key)
        sockets = open_sockets(self._settings.host, self._settings.port)
        self.port = sockets[0].getsockname()[1]
        try:
            self._build(self._given_store or _open_storage(self._settings))
            await self._time.resume()
        except BaseException:
            for sock in sockets:
                sock.close()
            raise
        chores = [self._registry.restore(), self._time.keep()]
        if self.certificate is not None:
            chores.append(self.certificate.keep(self._limits.certificate_seconds))
        self._chores = [asyncio.create_task(work) for work in chores]
        await self._listener.listen(sockets)
        log.debug("listening", url=self.url)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        notice = encode_frame(encode(Notice("restarting", RESTART_MS)))
        for connection in self._listener.connections:
            connection.push_frame(notice)
        await self._listener.stop(CloseCode.SERVICE_RESTART, "restarting", _STOP_SECONDS)
        await self.bots.close()
        await self._desk.close()
        await self._changes.stop()
        self._agenda.stop()
        for chore in self._chores:
            chore.cancel()
        await asyncio.gather(*self._chores, return_exceptions=True)
        try:
            await self._store.close()
        except StoreUnavailable as unavailable:
            log.error("the store did not close in good time", reason=str(unavailable))
        log.debug("stopped")

    def _build(self, store: Storage) -> None:
        """Put the parts together, from the store outwards."""
        settings, limits = self._settings, self._limits
        hold_ms = round(settings.hold_seconds * 1000)
        self._store = store
        self._time = time = ServedTime(store, self._monotonic_ns)
        self._agenda = agenda = Agenda()
        self._changes = changes = Changes(store.rooms, time)
        timers = Timers(agenda, changes, time, limits)
        lobby = Lobby(time)
        self._registry = registry = Registry(store.rooms, changes, timers, agenda, lobby, time, limits)
        self._allowances = allowances = Allowances(limits, self._monotonic_ns)
        pool = ThinkingPool(settings.bot_workers, settings.bot_deadline_seconds)
        self.bots = bots = Bots(pool, registry.act, pause_seconds=settings.bot_pause_seconds)
        changes.on_shown = lambda live: None if live.is_paused else bots.notice(live.room)
        self._desk = Desk(
            registry,
            changes,
            lobby,
            Visits(
                registry,
                changes,
                timers,
                allowances,
                hold_ms=hold_ms,
                start_ms=round(limits.start_seconds * 1000),
            ),
            Players(store.players),
            PastGames(store.archive),
            Reviews(pool),
            allowances,
            hold_ms=hold_ms,
        )
        self._pressure = Pressure(limits.turn_seconds)
        self._door = Door(limits, settings.origins, settings.trusted_proxies)
        self._listener = Listener(self._meet, self._door, limits, self.certificate)

    def _meet(self, connection: Connection) -> Session:
        """Return the session of a peer that has just arrived."""
        return Session(connection, self._desk, self._pressure, self._limits, self._time, self._monotonic_ns)


def _open_storage(settings: Settings) -> Storage:
    return MemoryStore() if settings.data is None else SqliteStore.open(settings.data)
