"""One server of a run: its lives, one after another, on the same port."""

from __future__ import annotations

import asyncio
import traceback
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from tests.simulation.disk import Disk
from tests.simulation.ledger import HOLD_SECONDS, ServedTime
from tests.simulation.world import Process
from tictactoe_engine.search import Budget, Memory
from tictactoe_server.rooms.clock import is_expired
from tictactoe_server.server import Server, kept_by
from tictactoe_server.services.bots.pool import ThinkingPool
from tictactoe_server.services.bots.thinking import SEARCHES, result_of
from tictactoe_server.services.bots.workers import Answer, Priority, Workers
from tictactoe_server.settings import Limits, Settings
from tictactoe_server.storage.specs import Storage
from tictactoe_server.storage.store import CannotOpenStore

if TYPE_CHECKING:
    from tests.simulation.run import Site

PORT: Final = 8765
_NODES: Final = 500
_THINKING_SECONDS: Final = 0.02


class InlineWorkers(Workers):
    """Answers each question within a fixed number of positions instead of a time, so that runs are repeatable."""

    def __init__(self) -> None:
        super().__init__(0, ())
        self._memory = Memory()

    async def ask(self, question: partial[Answer], priority: Priority, seconds: float, within: float) -> Answer | None:
        if within < _THINKING_SECONDS:
            return None
        await asyncio.sleep(_THINKING_SECONDS)
        budget = (Budget(nodes=_NODES),) if question.func in SEARCHES else ()
        return cast(Answer, result_of(partial(question, *budget), self._memory))


class Host:
    """A server, which a subclass gives its settings and its store.

    Attributes:
        served: The time that its rooms are charged for.
        address: Its address when it connects to others.
        life: How often the server was started.
    """

    def __init__(self, site: Site, served: ServedTime, name: str = "the server", port: int = PORT) -> None:
        self.site = site
        self.world = site.world
        self.ledger = site.ledger
        self.served = served
        self.name = name
        self.port = port
        self.address = f"10.8.0.{port - PORT + 1}"
        self.life = 0
        self.process: Process | None = None
        self.server: Server | None = None
        self._was_power_lost = False
        self._starting: asyncio.Task[None] | None = None
        self._up, self._stopped = asyncio.Event(), asyncio.Event()
        self._has_begun = self._is_to_stop = asyncio.Event()
        self._stopped.set()

    def begin_life(self, *, after_power_loss: bool) -> Settings:
        """Return the settings of the next life."""
        raise NotImplementedError

    async def open_store(self) -> Storage:
        """Return the store of the current life; called in the server's process."""
        raise NotImplementedError

    @property
    def may_fail_to_start(self) -> bool:
        """Whether the store may be unreachable now."""
        return True

    @property
    def is_down(self) -> bool:
        return not self._up.is_set()

    @property
    def rooms(self) -> set[str]:
        """The codes of the rooms that this server believes to have."""
        return set() if self.is_down or self.server is None else set(self.server.core.registry.by_code)

    @property
    def is_clock_ending(self) -> bool:
        """Whether a clock runs out within half a second."""
        if self.is_down or self.server is None:
            return False
        core = self.server.core
        return any(is_expired(live.room, core.time() + 500) for live in core.registry.by_code.values())

    async def wait_until_up(self) -> None:
        await self._up.wait()

    async def start(self) -> None:
        """Start the server, unless it is up or starting, and wait until it is up or has failed to start."""
        if self.is_down and (self._starting is None or self._starting.done()):
            self._starting = self.world.create_task(self._start())
        if self._starting is not None:
            await asyncio.shield(self._starting)

    async def stop(self) -> None:
        """Stop the server in good order."""
        self.site.note_trouble(10.0)
        process = self.process
        self._is_to_stop.set()
        await self._stopped.wait()
        if process is self.process and process is not None and not process.is_dead:
            self._was_power_lost = False

    def crash(self, *, is_power: bool, resets: bool) -> None:
        """Kill the server between two callbacks; with `is_power` the machine, which loses unsynced commits."""
        process = self.process
        if process is None or process.is_dead or self._stopped.is_set():
            return
        self.ledger.count("power losses" if is_power else "kills")
        self.ledger.tell(f"the power of {self.name} fails" if is_power else f"{self.name} is killed")
        self._up.clear()
        self.site.note_trouble(5.0)
        self._was_power_lost = is_power
        self.served.end(self.world.time())
        self.world.trace("crash", is_power)
        for person in self.site.people:
            if person.peer is not None and person.is_connected and person.port == self.port:
                person.lose(person.peer)  # which they may notice much later
        process.kill()
        self._stopped.set()
        self._has_begun.set()
        self.site.network.drop_process(process, resets=resets)

    async def _start(self) -> None:
        await self._stopped.wait()
        settings = self.begin_life(after_power_loss=self._was_power_lost)
        self._was_power_lost = False
        self.life += 1
        self.world.trace("life", self.life)
        self.ledger.tell(f"{self.name} starts (life {self.life})")
        self._is_to_stop, self._stopped, self._has_begun = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.process = Process(self.world, f"{self.name} {self.life}", self.address)
        self.process.start(self._serve(settings))
        await self._has_begun.wait()

    async def _serve(self, settings: Settings) -> None:
        try:
            self.server = server = Server(
                settings,
                await self.open_store(),
                Limits(),
                open_sockets=self.site.network.open_sockets,
                pool=ThinkingPool(InlineWorkers()),
            )
            self.served.begin(self.world.time())
            async with server:
                self.world.call_soon(self._note_up, context=self.world.outside)
                await self._is_to_stop.wait()
                self._up.clear()
            self.served.end(self.world.time())
        except Exception as error:
            if not (self.may_fail_to_start and isinstance(error, CannotOpenStore)):
                self.world.fail(traceback.format_exc())
            self.ledger.tell(f"{self.name} cannot start: {error}")
        self.world.call_soon(self._note_stopped, context=self.world.outside)

    def _note_stopped(self) -> None:
        self._up.clear()
        self._stopped.set()
        self._has_begun.set()

    def _note_up(self) -> None:
        self._up.set()
        self._has_begun.set()

    def check_leaks(self) -> None:
        """Check that nothing is kept for people who have gone."""
        server = self.server
        if server is None:
            return
        rooms = server.core.registry.by_code.values()
        left = {
            "sessions": len(list(server.core.presence)),
            "connections": len(server._listener.connections),
            "changes": len(server.core.changes.tasks),
            "requests": len(server._dispatcher.tasks),
            "players in rooms": sum(len(live.players) for live in rooms),
            "watchers": sum(len(live.watchers) for live in rooms),
        }
        most = self.ledger.count_changes(self.life)
        if most and server.core.changes.moves > most:
            self.ledger.fail(f"{self.name} has counted {server.core.changes.moves} moves, of {most} changes in all.")
        if any(left.values()):
            self.ledger.fail(f"Everybody has gone, but {self.name} still has {left}.")


class DiskHost(Host):
    """A single server with a data folder on a simulated disk."""

    def __init__(self, site: Site, disk: Disk) -> None:
        super().__init__(site, site.ledger.served)
        self.disk = disk

    def begin_life(self, *, after_power_loss: bool) -> Settings:
        self.disk.begin_life(after_power_loss=after_power_loss)
        return Settings(
            host="127.0.0.1",
            port=self.port,
            data=self.disk.folder,
            demo=False,
            page=False,
            hold_seconds=HOLD_SECONDS,
        )

    @property
    def may_fail_to_start(self) -> bool:
        return self.world.time() < self.disk.refuses_until + 5.0

    async def open_store(self) -> Storage:
        return self.disk.open_store(kept_by(()))
