"""The server as a whole: its parts put together, from the store outwards, and an orderly end."""

from __future__ import annotations

import contextlib
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import structlog

from tictactoe_protocol import CloseCode, ErrorCode
from tictactoe_server.admin.bans import Bans, Barred, banned
from tictactoe_server.admin.chores import LATE_SECONDS, Housekeeping, LoopLag, log_refusals
from tictactoe_server.admin.control import answer_line, carry_out
from tictactoe_server.admin.drain import HANDOVER_MS, Drain
from tictactoe_server.admin.orders.order import LimitsNow, Order, ServerParts
from tictactoe_server.admin.orders.people import hear_ban
from tictactoe_server.agenda import Tasks
from tictactoe_server.api.service import Api
from tictactoe_server.cluster import needing_nats
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.dispatcher import Dispatcher
from tictactoe_server.core.served_time import GRACE_SECONDS, ServedTime, Uninterrupted
from tictactoe_server.events.service import Tournaments
from tictactoe_server.http.assets import Assets
from tictactoe_server.http.pages import Pages
from tictactoe_server.people.accounts import Accounts
from tictactoe_server.records.tables import BANS, KEPT, open_folder, open_memory
from tictactoe_server.services.bots.bots import Bots
from tictactoe_server.services.bots.pool import ThinkingPool
from tictactoe_server.services.hello import Greeting
from tictactoe_server.services.history import PastGames
from tictactoe_server.services.lobby import PublicRooms
from tictactoe_server.services.play import Play, Talk
from tictactoe_server.services.review import Reviews
from tictactoe_server.services.visiting import Visiting
from tictactoe_server.sessions.pressure import Pressure
from tictactoe_server.sessions.session import Session
from tictactoe_server.settings import COUNTS, Limits, Settings, count_of
from tictactoe_server.storage.specs import Specs, Storage
from tictactoe_server.storage.store import CannotOpenStore, StoreUnavailable
from tictactoe_server.transport.admission import Admission
from tictactoe_server.transport.certificate import Certificate
from tictactoe_server.transport.connection import Connection, Receiver
from tictactoe_server.transport.listen import MachineNames, addresses_at, is_for_others, open_sockets, url_of
from tictactoe_server.transport.listener import Listener
from tictactoe_server.transport.rate_limit import used_of

if TYPE_CHECKING:
    from tictactoe_server.admin.metrics import MetricsServer
    from tictactoe_server.cluster.cluster import Cluster

_STOP_SECONDS: Final = 5.0

log: Final = structlog.get_logger(__name__)


def kept_by(services: Sequence[Service] = ()) -> Specs:
    """Return all that a server keeps which has these services beside the usual ones."""
    more = [spec for service in services for spec in service.tables]
    return Specs((*KEPT.tables, *Tournaments.tables, *more), KEPT.games)


class Server:
    """A running server; use it with ``async with``. `port`, `url` and `certificate` are known inside, and `carry_out`,
    which carries the operator's orders out, at all servers of the cluster where there are several. `parts` are what
    orders and `metrics` see of it, which are None where they are not shown.

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
        services: Sequence[Service] = (),
    ) -> None:
        """Prepare a server; `store` is used instead of the one that the settings name, `services` beside the usual."""
        self._settings = settings or Settings()
        self._limits = limits or Limits()
        self._given_store = store
        self._monotonic_ns = monotonic_ns
        self._more_services = services
        self._chores = Tasks()
        self.metrics: MetricsServer | None = None
        self._cluster: Cluster | None = None
        self.port = self._settings.port
        self.certificate: Certificate | None = None

    @property
    def url(self) -> str:
        """Where this machine reaches the server: with TLS by a name that the certificate is for."""
        host = None if self._settings.host in ("0.0.0.0", "::") else self._settings.host
        names = () if self.certificate is None else self.certificate.names
        if names and (host or "localhost") not in names:
            host = names[0]
        return url_of(host, self.port, secure=self.certificate is not None)

    @property
    def link(self) -> str:
        """The same for people: with the scheme of browsers where they are shown the page."""
        return self._link_of(self.url)

    def _link_of(self, url: str) -> str:
        return f"http{url.removeprefix('ws')}" if self._settings.page else url

    def links_for_others(self) -> list[str]:
        """Return how people on other machines reach a server that listens on all addresses, the best way first.

        That is by the machine's own addresses, with TLS by a name of the certificate.
        """
        host, certificate = self._settings.host, self.certificate
        if host not in (None, "0.0.0.0", "::"):
            return []
        hosts = addresses_at(host)
        if certificate is not None:
            hosts = [name for name in certificate.names if is_for_others(name)][:1]
        return [self._link_of(url_of(name, self.port, secure=certificate is not None)) for name in hosts]

    async def __aenter__(self) -> Self:
        if self._settings.tls_cert is not None and self._settings.tls_key is not None:
            self.certificate = Certificate(self._settings.tls_cert, self._settings.tls_key)
        sockets = open_sockets(self._settings.host, self._settings.port)
        self.port = sockets[0].getsockname()[1]
        async with contextlib.AsyncExitStack() as undoing:
            for sock in sockets:
                undoing.callback(sock.close)
            store = self._given_store or await self._open_storage()
            undoing.push_async_callback(store.close)
            self._build(store)
            try:
                await self.core.time.resume()
                await self._bans.load()
                await Accounts(store).renew_keys()
                if self.metrics is not None:
                    await self.metrics.open()
                    undoing.push_async_callback(self.metrics.close)
                if self._cluster is not None:
                    await self._cluster.open(partial(hear_ban, self.parts))
            except StoreUnavailable as unavailable:
                raise CannotOpenStore(f"What is kept cannot be read: {unavailable}") from None
            undoing.pop_all()
        chores = [
            self.core.registry.restore() if self._cluster is None else self._cluster.keep(),
            self.core.time.keep(),
            self.parts.lag.keep(),
            self._pressure.keep(),
            self._housekeeping.keep(self.core.registry.restored),
            log_refusals(self.core.tally),
            self.core.registry.log.keep(),
        ]
        if self.certificate is not None:
            chores.append(self.certificate.keep(self._limits.certificate_seconds))
        for work in chores:
            self._chores.start(work)
        if is_for_others(self._settings.host or ""):
            self._machine_names.start()
        await self._listener.listen(sockets)
        log.debug("listening", url=self.url)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._machine_names.stop()
        drain = self._drain
        if self._cluster is not None and await self._cluster.leave():
            drain.back_ms = HANDOVER_MS
        self._tell_all(drain.notice())
        await self._listener.stop(
            CloseCode.SERVICE_RESTART, "stopping" if drain.is_final else "restarting", _STOP_SECONDS
        )
        if self.metrics is not None:
            await self.metrics.close()
        for service in self._services:
            await service.close()
        await self._dispatcher.tasks.stop()
        await self.core.changes.tasks.stop()
        self.core.agenda.stop()
        await self._chores.stop()
        try:
            await self._store.close()
        except StoreUnavailable as unavailable:
            log.error("the store did not close in good time", reason=str(unavailable))
        log.debug("stopped")

    @property
    def cluster(self) -> Cluster:
        """The servers of which this is one; raises LookupError for one on its own."""
        if self._cluster is None:
            raise LookupError("This server is on its own.")
        return self._cluster

    async def until_drained(self) -> None:
        """Return when the operator has asked for an orderly end, and nothing is waited for any more."""
        await self._drain.until_over()

    def hurry(self) -> None:
        """Wait for no peer any more at the end."""
        self._listener.cut_off()

    async def _open_storage(self) -> Storage:
        """Return the store that the settings name, with the tables of all services; raises `CannotOpenStore`."""
        settings = self._settings
        specs = kept_by(self._more_services)
        if settings.store is None:
            return open_memory(specs) if settings.data is None else open_folder(settings.data, specs)
        with needing_nats():
            from tictactoe_server.cluster.jetstream.store import JetStreamStore
        return await JetStreamStore.open(
            settings.store,
            specs,
            credentials=settings.store_credentials,
            ca=settings.store_ca,
            data=settings.data,
            unsafe=settings.store_unsafe,
        )

    def _build(self, store: Storage) -> None:
        """Put the parts together, from the store outwards."""
        settings, limits = self._settings, self._limits
        self._store = store
        self.core = core = self._make_core(store)
        self._pressure = Pressure(limits, self._monotonic_ns)
        self._bans = bans = Bans(store.table(BANS))
        self._drain = drain = Drain(core.registry.count_games, self._tell_all)
        if self._cluster is not None:
            self._cluster.members.is_draining = lambda: drain.is_on
        self._pool = pool = ThinkingPool(settings.bot_workers, settings.bot_deadline_seconds)
        self.bots = Bots(pool, pause_seconds=settings.bot_pause_seconds)
        self._tournaments = tournaments = Tournaments(drain)
        self.api = Api(tournaments)
        greeting = Greeting(bans, shows_pages=settings.page)
        self._services: tuple[Service, ...] = (
            greeting,
            greeting.names,
            Visiting(greeting.note_seat, drain),
            Play(drain),
            Talk(),
            PublicRooms(),
            PastGames(shows_pages=settings.page),
            Reviews(pool),
            tournaments,
            self.api,
            self.bots,
            *self._more_services,
        )
        for service in self._services:
            service.start(core)
        self._dispatcher = Dispatcher(core, self._pressure, self._services)
        self._prepare_listening(core)
        self._serve_operator(core)

    def _make_core(self, store: Storage) -> Core:
        """Return the core; several servers that keep their rooms in the same store are a cluster."""
        settings, clock = self._settings, self._monotonic_ns
        terms = self._limits, round(settings.hold_seconds * 1000), clock
        if settings.store is None:
            return Core(store, ServedTime(store, clock), *terms)
        from tictactoe_server.cluster.cluster import GRACE_SECONDS, NOTE_SECONDS, Cluster
        from tictactoe_server.cluster.jetstream.store import JetStreamStore

        if not isinstance(store, JetStreamStore):
            raise CannotOpenStore(f"{settings.store} is no store of several servers.")
        clock = Uninterrupted(clock)  # in a cluster no time passes while this server is stopped
        served = ServedTime(store, clock, note_seconds=NOTE_SECONDS, grace_seconds=GRACE_SECONDS)
        core = Core(store, served, *terms)
        self._cluster = Cluster(store, f"{socket.gethostname()}:{self.port}", settings.advertise or self.url, core)
        return core

    def _prepare_listening(self, core: Core) -> None:
        """Prepare to listen, and to answer who asks in plain HTTP."""
        settings, limits = self._settings, self._limits
        self._admission = admission = Admission(limits, settings.origins, settings.trusted_proxies, self._monotonic_ns)
        admission.unready = self._unready
        admission.is_late = lambda: self.parts.lag.seconds > LATE_SECONDS
        admission.describe_ban = self._describe_ban
        admission.links_for_others = self.links_for_others
        names = () if self.certificate is None else self.certificate.names
        admission.names |= {name.lower() for name in (socket.gethostname(), settings.host, *names) if name}
        if settings.page:
            admission.pages = Pages(Assets(), core, admission, self._services).answer
        make: Callable[..., Connection] = Connection
        if settings.metrics is not None:
            from tictactoe_server.admin.metrics import MeteredConnection  # nothing else here needs its library

            make = partial(MeteredConnection, core.tally)
        self._machine_names = MachineNames(settings.host, admission.learn_names)
        self._listener = Listener(self._meet, admission, limits, self.certificate, make)

    def _serve_operator(self, core: Core) -> None:
        """Let the operator see and act upon all of it."""
        settings, cluster = self._settings, self._cluster
        self.parts = parts = ServerParts(
            address=self.link,
            data=_kept_in(settings),
            core=core,
            admission=self._admission,
            bots_waiting=lambda: self._pool.workers.waiting,
            lag=LoopLag(),
            bans=self._bans,
            drain=self._drain,
            limits=self._limits_now,
            limited=self._limited,
            unready=self._unready,
            list_events=self._tournaments.rows,
            end_event=self._tournaments.end,
            cluster=cluster,
        )
        self.carry_out: Callable[[Order], Awaitable[Any]] = partial(carry_out, parts)
        if cluster is not None:
            cluster.on_order = partial(answer_line, carry_out=partial(carry_out, parts, is_from_another=True))
        self._housekeeping = Housekeeping(core.store, self._bans, self._staying, settings.keep_history_days)
        if settings.metrics is not None:
            from tictactoe_server.admin.metrics import MetricsServer

            self.metrics = MetricsServer(*settings.metrics, parts)

    def _meet(self, connection: Connection) -> Receiver:
        """Return the session of a peer that has just arrived, unless its address is banned."""
        ban = self._bans.of_address(connection.address)
        if ban is not None:
            self.core.tally.refusals[ErrorCode.BANNED] += 1
            return Barred(connection, banned(ban))
        core = self.core
        session = Session(
            connection, self._dispatcher, self._pressure, self._limits, core.time, self._monotonic_ns, core.tally
        )
        core.presence.add(session)
        return session

    def _describe_ban(self, address: str) -> str | None:
        """Return what one from a banned address is told, else None."""
        ban = self._bans.of_address(address)
        return None if ban is None else banned(ban).message

    def _tell_all(self, frame: bytes) -> None:
        """Send a frame to everybody."""
        for connection in self._listener.connections:
            connection.push_frame(frame)

    def _unready(self) -> str | None:
        """Return why nobody had better be sent here now, or None."""
        owed_since = self._store.owed_since()
        if not self.core.registry.restored.is_set():
            return "starting"
        if self._drain.is_on:
            return "draining"
        if self._cluster is not None and not self._cluster.members.is_in:
            return "not in the cluster yet"
        if owed_since is not None and time.monotonic() - owed_since > GRACE_SECONDS:
            return "the store does not answer"
        return None

    def _staying(self) -> set[str]:
        """Return the ids of those who are here or have a seat."""
        return {player.id for _, player in self.core.presence.greeted}.union(self.core.registry.seats.players)

    def _limits_now(self) -> LimitsNow:
        """Return each limit by its name, and how much of it there is now: of one player or address, the most."""
        core, registry = self.core, self.core.registry
        counting = self._admission, self._pressure, core.allowances, registry.owners, registry.seats, self.api.streams
        now = {name: used for one in counting for name, used in used_of(one).items()} | {
            "connections": self._admission.connections,
            "rooms": registry.count,
            "watchers-per-room": max((len(live.watchers) for live in registry.by_code.values()), default=0),
        }
        return {name: (count_of(self._limits, name) or None, now.get(name)) for name in COUNTS}

    def _limited(self) -> Counter[str]:
        """Return how often each limit held something back."""
        return Counter({"pressure": self._pressure.shed}) + self.core.tally.limited + self._admission.refused


def _kept_in(settings: Settings) -> str:
    """Return where things are kept, for people to read."""
    if settings.store is not None:
        return settings.store.rpartition("@")[2]  # without what tells who we are
    return "nothing" if settings.data is None else str(settings.data.absolute())
