"""The server as a whole. It builds its parts, beginning with the store, and starts and stops them in order."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Final, Self

import structlog

from tictactoe_protocol import CloseCode, ErrorCode
from tictactoe_server import clock
from tictactoe_server.core.core import Core, Service, ServiceKind
from tictactoe_server.core.dispatcher import Dispatcher
from tictactoe_server.core.pressure import LATELY_SECONDS, Pressure
from tictactoe_server.core.remote import RemoteServers
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.core.session import Session
from tictactoe_server.features.all import FEATURES
from tictactoe_server.features.feature import Feature, Node, Parts
from tictactoe_server.http.assets import FOLDER, STYLE, Assets
from tictactoe_server.http.branding import load_branding
from tictactoe_server.http.pages import Pages
from tictactoe_server.operator.bans import Bans, Barred
from tictactoe_server.operator.control import Orders
from tictactoe_server.operator.drain import HANDOVER_MS, Drain
from tictactoe_server.operator.maintenance import LATE_SECONDS, Housekeeping, LoopLag, hourly
from tictactoe_server.operator.order import Order, ServerParts
from tictactoe_server.operator.people import expel_banned
from tictactoe_server.play.hello import HelloService
from tictactoe_server.play.history import PastGames
from tictactoe_server.play.joining import Joining
from tictactoe_server.play.lobby import PublicRooms
from tictactoe_server.play.moves import ChatService, Play
from tictactoe_server.play.names import Names
from tictactoe_server.records.tables import BANS, KEPT
from tictactoe_server.scheduler import Job, Tasks, every
from tictactoe_server.settings import Limits, Settings
from tictactoe_server.storage.memory import MemoryStore
from tictactoe_server.storage.schema import DamagedDatabase, SavesMissing
from tictactoe_server.storage.specs import Specs, Storage
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import CannotOpenStore, StoreUnavailable
from tictactoe_server.transport.admission import Admission
from tictactoe_server.transport.certificate import Certificate
from tictactoe_server.transport.connection import Connection, Receiver
from tictactoe_server.transport.listen import Links, open_sockets
from tictactoe_server.transport.listener import Listener

_STOP_SECONDS: Final = 5.0

log: Final = structlog.get_logger(__name__)


def kept_by(features: Sequence[Feature] = FEATURES) -> Specs:
    """Return the specs of all tables that a server with these features stores."""
    return Specs((*KEPT.tables, *(spec for feature in features for spec in feature.tables)), KEPT.games)


class Server:
    """A running server; use it with ``async with``.

    Entry may raise `OperatorError`. On exit, every client gets a notice, its connection is closed with code 1012, and
    the store is flushed and closed.

    Attributes:
        core: The core; like `parts` and `orders`, available only after entry.
        parts: The parts that orders and metrics use.
        orders: Carries out the operator's orders.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        store: Storage | None = None,
        limits: Limits | None = None,
        *,
        monotonic_ns: Callable[[], int] = clock.monotonic_ns,
        features: Sequence[Feature] | None = None,
        open_sockets: Callable[[str | None, int], list[socket.socket]] = open_sockets,
    ) -> None:
        """Prepare a server; `__aenter__` starts it.

        Args:
            store: Replaces the store that the settings specify.
            monotonic_ns: The clock for games and rate limits.
            features: The features of the server, by default all of them.
            open_sockets: Replaces the function that opens the listening sockets.
        """
        self._settings = settings or Settings()
        self._limits = limits or Limits()
        self._given_store = store
        self._monotonic_ns = monotonic_ns
        self._features = FEATURES if features is None else features
        self._specs = kept_by(self._features)
        self._open_sockets = open_sockets
        self._jobs = Tasks()
        self.port = self._settings.port
        self.certificate: Certificate | None = None

    @property
    def links(self) -> Links:
        settings = self._settings
        return Links(settings.host, self.port, self.certificate, has_page=settings.page)

    @property
    def url(self) -> str:
        return self.links.url

    async def __aenter__(self) -> Self:
        if self._settings.tls_cert is not None and self._settings.tls_key is not None:
            self.certificate = Certificate(self._settings.tls_cert, self._settings.tls_key)
        self._branding = load_branding(self._settings, FOLDER / STYLE)
        sockets = self._open_sockets(self._settings.host, self._settings.port)
        self.port = sockets[0].getsockname()[1]
        async with contextlib.AsyncExitStack() as undoing:
            for sock in sockets:
                undoing.callback(sock.close)
            store = self._given_store or await self._open_storage()
            undoing.push_async_callback(_close, store)
            self._build(store)
            try:
                await self.core.time.resume()
                await self._bans.load()
                for service in self._services:
                    await service.prepare()
                    undoing.push_async_callback(service.close)
            except StoreUnavailable as unavailable:
                raise CannotOpenStore(f"Cannot read the stored data: {unavailable}") from None
            undoing.pop_all()
        for job in self._list_jobs():
            self._jobs.start(job())
        for service in self._services:
            for job in service.jobs:
                service.tasks.start(job())
        await self._listener.listen(sockets)
        log.debug("listening", url=self.url)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        drain = self._drain
        if await self.core.rooms.elsewhere.leave():
            drain.back_ms = HANDOVER_MS
        self._broadcast(drain.notice())
        self.core.time.stop()  # slow peers delay the end, while nobody can move
        await self._listener.stop(
            CloseCode.SERVICE_RESTART, "stopping" if drain.is_final else "restarting", _STOP_SECONDS
        )
        for service in self._services:
            await service.close()
        await self._dispatcher.stop()
        await self.core.rooms.tasks.stop()
        self.core.scheduler.stop()
        await self._jobs.stop()
        await _close(self.core.store)
        log.debug("stopped")

    def _list_jobs(self) -> Iterator[Job]:
        """Yield the background tasks of the server itself; services have their own."""
        core, rooms = self.core, self.core.rooms
        yield rooms.elsewhere.run if rooms.elsewhere.is_several else rooms.restore
        yield core.time.run
        yield self._bans.run
        yield self.parts.lag.run
        yield partial(every, LATELY_SECONDS, self._pressure.fade)
        yield partial(hourly, rooms.restored, self._housekeeping.go_round)
        if self.certificate is not None:
            yield partial(self.certificate.run, self._limits.certificate_seconds)

    async def carry_out(self, order: Order) -> Any:
        """Carry out an operator's order, in a cluster on every server that it concerns. May raise `OrderRefused`."""
        return await self.orders.carry_out(order)

    def service(self, kind: type[ServiceKind]) -> ServiceKind:
        """Return the service of this class. Raise `OrderRefused` if the server has no such service."""
        return self.parts.service(kind)

    def hurry(self) -> None:
        """Abort all connections instead of waiting for clients to close them."""
        self._listener.cut_off()

    async def _open_storage(self) -> Storage:
        settings, specs = self._settings, self._specs
        for feature in self._features:
            if (opening := feature.open_store(settings, specs)) is not None:
                return await opening
        if settings.data is None:
            return MemoryStore(specs)
        try:
            return SqliteStore.open(settings.data, specs)
        except (DamagedDatabase, SavesMissing) as damaged:
            advice = filter(None, (feature.advise(settings) for feature in self._features))
            raise CannotOpenStore("\n".join([str(damaged), *advice])) from damaged

    def _build(self, store: Storage) -> None:
        settings, limits, monotonic_ns = self._settings, self._limits, self._monotonic_ns
        self._drain = drain = Drain(lambda: self.core.count_games(), self._broadcast)
        node = Node(
            settings=settings,
            store=store,
            port=self.port,
            url=self.url,
            drain=drain,
            monotonic_ns=monotonic_ns,
            answer_order=lambda order: self.orders.answer_line(order, is_from_another=True),
        )
        elsewhere = next(filter(None, (feature.connect(node) for feature in self._features)), RemoteServers())
        time = elsewhere.time or ServedTime(store, monotonic_ns)
        self.core = core = Core(store, time, limits, monotonic_ns, elsewhere, settings)
        self._pressure = Pressure(limits, monotonic_ns)
        self._bans = bans = Bans(store.table(BANS), elsewhere, self._jobs)
        names = Names(core)
        parts = Parts(
            core=core,
            settings=settings,
            specs=self._specs,
            title=self._branding.title,
            drain=drain,
            names=names,
            server=lambda: self.parts,
        )
        self._services: tuple[Service, ...] = (
            HelloService(core, names, bans, self._branding, shows_pages=settings.page),
            names,
            Joining(core, names, drain),
            Play(core, drain),
            ChatService(core),
            PublicRooms(core),
            PastGames(core, shows_pages=settings.page),
            *(service for feature in self._features for service in feature.make(parts)),
        )
        handlers, admitting = _handlers_of(self._services), set[type]().union(*(one.admits for one in self._services))
        self._dispatcher = Dispatcher(core.rooms, core.presence, core.allowances, self._pressure, handlers, admitting)
        self._prepare_listening()
        self._serve_operator()

    def _prepare_listening(self) -> None:
        settings, limits = self._settings, self._limits
        names = () if self.certificate is None else self.certificate.names
        # The literal beginnings of paths, such as "/e/" of "/e/([^/.]+)".
        prefixes = [re.match(r"/[/\w-]+", path) for service in self._services for path in service.routes]
        self._admission = admission = Admission(
            limits,
            settings,
            self._monotonic_ns,
            names=(socket.gethostname(), settings.host, *names),
            answer=lambda request: self._pages.answer(request),
            is_late=lambda: self.parts.lag.seconds > LATE_SECONDS,
            metered=tuple({prefix[0] for prefix in prefixes if prefix}),
        )
        self._listener = Listener(self._meet, admission, limits, self.certificate)

    def _serve_operator(self) -> None:
        core, settings = self.core, self._settings
        stored_in = "".join(options.shared_store for options in settings.features)
        own_folder = "nothing" if settings.data is None else str(settings.data.absolute())
        self.parts = parts = ServerParts(
            address=self.links.for_people,
            data=stored_in or own_folder,
            core=core,
            admission=self._admission,
            pressure=self._pressure,
            lag=LoopLag(),
            bans=self._bans,
            drain=self._drain,
            services=self._services,
        )
        self._pages = Pages(parts, self.links, Assets(branding=self._branding) if settings.page else None)
        self._bans.on_ban.add(partial(expel_banned, parts))
        self.orders = Orders(parts, [kind for feature in self._features for kind in feature.orders])
        self._housekeeping = Housekeeping(
            core.store, self._bans, lambda: core.current_players, settings.keep_history_days, core.hooks
        )

    def _meet(self, connection: Connection) -> Receiver:
        refusal = self._bans.refusal_of(connection.address)
        if refusal is not None:
            self.core.counters.refusals[ErrorCode.BANNED] += 1
            return Barred(connection, refusal)
        now = self.core.time.__call__  # a bound method is quicker to call than the object
        session = Session(connection, self._dispatcher, self._pressure, now, self.core.counters)
        self.core.presence.add(session)
        return session

    def _broadcast(self, frame: bytes) -> None:
        for connection in self._listener.connections:
            connection.push_frame(frame)


async def _close(store: Storage) -> None:
    try:
        await store.close()
    except StoreUnavailable as unavailable:
        log.error("store not closed in time", reason=str(unavailable))


def _handlers_of(services: Iterable[Service]) -> dict[type, Any]:
    """Return the handlers of all services, by type of request. Raise ValueError if two services handle a type."""
    handlers: dict[type, Any] = {}
    for service in services:
        for kind, handler in service.handles.items():
            if kind in handlers:
                raise ValueError(f"{type(service).__name__} handles {kind.__name__}, and so does another service.")
            handlers[kind] = handler
    return handlers
