"""A run: the lives of the servers, the people who use them, and the final checks."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import time
import traceback
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import structlog

from tests.fakes import features_with
from tests.simulation.groups import Crowd, Cup, Friends, Group, League
from tests.simulation.ledger import HOLD_SECONDS, Ledger, ServedTime
from tests.simulation.network import Network
from tests.simulation.people import Person
from tests.simulation.storage import Disk, Nodes
from tests.simulation.trouble import Trouble
from tests.simulation.world import MACHINE, START_SECONDS, Process, World
from tictactoe_engine.search import Budget, Memory
from tictactoe_server.features.bots.thinking import SEARCHES, result_of
from tictactoe_server.features.bots.workers import Workers
from tictactoe_server.rooms.room import is_expired
from tictactoe_server.server import Server
from tictactoe_server.settings import Limits, Settings
from tictactoe_server.storage.store import CannotOpenStore

PORT: Final = 8765
THINKING_SECONDS: Final = 0.02
GROUPS: Final = 3
TROUBLED_SECONDS: Final = 500.0, 125.0  # with one server, and in a cluster, where each second costs more
CALM_SECONDS: Final = 1_800.0  # within which every game ends after the last trouble
EXPECTED_ERRORS: Final = ("database failed", "store not closed in time")


@dataclass
class Result:
    """What came of a seed: broken promises, a digest of everything that happened, and figures."""

    seed: int
    violations: list[str]
    story: list[str]
    digest: str
    counts: dict[str, int]


class InlineWorkers(Workers):
    """Answers each question within a fixed number of positions instead of a time, so that runs are repeatable."""

    def __init__(self) -> None:
        super().__init__(0, ())
        self._memory = Memory()

    async def ask(self, question: partial[Any], priority: object, seconds: float, within: float) -> Any:
        if within < THINKING_SECONDS:
            return None
        await asyncio.sleep(THINKING_SECONDS)
        budget = (Budget(nodes=500),) if question.func in SEARCHES else ()
        return result_of(partial(question, *budget), self._memory)


class Host:
    """A server.

    Attributes:
        address: Its address when it connects to others.
        life: How often the server was started.
    """

    def __init__(self, site: Site, number: int) -> None:
        self.site, self.world, self.ledger = site, site.world, site.ledger
        self.name, self.port, self.address = f"server {number + 1}", PORT + number, f"10.8.0.{number + 1}"
        self.life = 0
        self.process: Process | None = None
        self.server: Server | None = None
        self._served = ServedTime() if site.is_cluster else site.ledger.served
        self.up, self.stopped, self._is_to_stop = (asyncio.Event() for _ in range(3))
        self.stopped.set()

    @property
    def is_down(self) -> bool:
        return not self.up.is_set()

    @property
    def is_clock_ending(self) -> bool:
        """Whether a clock runs out within half a second."""
        core = None if self.is_down or self.server is None else self.server.core
        return core is not None and any(
            is_expired(live.room, core.time() + 500) for live in core.rooms.by_code.values()
        )

    async def start(self) -> None:
        """Start the server unless it runs, as often as it fails to start, and wait until it is up."""
        while self.is_down:
            if self._is_to_stop.is_set():
                await self.stopped.wait()
            if self.stopped.is_set():
                self.life += 1
                self.world.trace("life", self.life)
                self.ledger.tell(f"{self.name} starts (life {self.life})")
                self._is_to_stop.clear()
                self.stopped.clear()
                self.process = Process(f"{self.name} {self.life}", self.address)
                self.world.create_task(self._serve(), context=self.process.context)
            await asyncio.sleep(1.0)

    async def stop(self) -> None:
        self.site.note_trouble(10.0)
        self._is_to_stop.set()
        await self.stopped.wait()

    def crash(self, *, is_power: bool) -> None:
        """Kill the server between two callbacks; with `is_power` the machine, which loses unsynced commits."""
        process = self.process
        if process is None or process.is_dead or self.stopped.is_set():
            return
        self.ledger.count("power losses" if is_power else "kills")
        self.ledger.tell(f"the power of {self.name} fails" if is_power else f"{self.name} is killed")
        self.site.note_trouble(5.0)
        self.site.storage.has_lost_power = is_power
        self._served.end(self.world.time())
        self.world.trace("crash", is_power)
        for person in self.site.people:
            if person.is_connected and person.port == self.port:
                person.lose(person.peer)  # which they may notice much later
        process.kill()
        self._note_stopped()
        self.site.network.drop_process(process, resets=not is_power)

    async def _serve(self) -> None:
        storage = self.site.storage.begin_life()
        settings = Settings(host="127.0.0.1", port=self.port, page=False, hold_seconds=HOLD_SECONDS, **storage)
        try:
            self.server = server = Server(
                settings,
                await self.site.storage.open_store(),
                Limits(),
                open_sockets=self.site.network.open_sockets,
                features=features_with(InlineWorkers()),
            )
            self._served.begin(self.world.time())
            async with server:
                self.world.call_soon(self.up.set, context=self.world.outside)
                await self._is_to_stop.wait()
                self.up.clear()
            self._served.end(self.world.time())
        except Exception as error:
            if not (self.site.storage.may_fail_to_open and isinstance(error, CannotOpenStore)):
                self.world.fail(traceback.format_exc())
            self.ledger.tell(f"{self.name} cannot start: {error}")
        self.world.call_soon(self._note_stopped, context=self.world.outside)

    def _note_stopped(self) -> None:
        self.up.clear()
        self.stopped.set()

    def check_leaks(self) -> None:
        server = self.server
        if server is None:
            return
        kept: dict[str, Any] = {
            "sessions": server.core.presence,
            "connections": server._listener.connections,
            "changes": server.core.rooms.tasks,
            "requests": server._dispatcher.tasks,
            "people in rooms": [(*live.players, *live.watchers) for live in server.core.rooms.by_code.values()],
        }
        left = {name: len(list(filter(None, some))) for name, some in kept.items()}
        if any(left.values()):
            self.ledger.fail(f"Everybody has gone, but {self.name} still has {left}.")


class Site:
    """The servers, what stores their rooms, the network around them and all their users.

    Attributes:
        is_cluster: Whether several servers share the rooms, which learn of some changes later.
        is_closing: Whether all users finish their games, fast and without fuss, and stop.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.network = Network(world)
        self.is_closing = self.loses_answers = False
        self.troubled_until = 0.0
        servers = world.chance("servers").choice((1, 1, 1, 1, 1, 1, 1, 1, 2, 3))
        self.is_cluster = servers > 1
        self.ledger = Ledger(world.time, is_cluster=self.is_cluster)
        self.storage = Nodes(world, self.network) if self.is_cluster else Disk(world, self.ledger.served)
        if self.is_cluster:
            self.ledger.served.begin(world.time())
            world.create_task(self._keep_checking_owners())
        self.hosts = [Host(self, number) for number in range(servers)]
        self.ports = tuple(host.port for host in self.hosts)
        self.trouble = Trouble(self)
        makers = world.chance("groups").choices((Friends, Crowd, League, Cup), (11, 4, 3, 3), k=GROUPS)
        self.groups: list[Group] = [make(self, number) for number, make in enumerate(makers)]
        self.people: list[Person] = [one for group in self.groups for one in (*group.players, *group.others)]
        self._collect_log()

    @property
    def life(self) -> int:
        return 0 if self.is_cluster else self.hosts[0].life

    async def start(self) -> None:
        await asyncio.gather(*(host.start() for host in self.hosts))

    def note_trouble(self, seconds: float) -> None:
        """Note that answers may be missing or late for the next `seconds`."""
        self.troubled_until = max(self.troubled_until, self.world.time() + seconds)

    async def run(self) -> None:
        """Run all users, for a while in trouble and then in calm, and check the result."""
        await self.start()
        jobs = [self.world.create_task(person.run()) for person in self.people]
        self.trouble.start()
        await self._wait(jobs, TROUBLED_SECONDS[self.is_cluster])
        await self.trouble.end()
        self.is_closing = True
        if not await self._wait(jobs, CALM_SECONDS):
            self.ledger.fail(f"Never came to an end: {[person.name for person in self.people if not person.is_done]}.")
        for person in self.people:
            person.peer.give_up()
        await asyncio.sleep(70.0)
        for host in self.hosts:
            host.check_leaks()
            await host.stop()
        await self.start()
        for group in self.groups:
            await group.settle()
        for host in self.hosts:
            await host.stop()

    async def _wait(self, jobs: list[asyncio.Task[None]], seconds: float) -> bool:
        """Wait for jobs, or raise the first error of any; return whether all are done."""
        done, left = await asyncio.wait(jobs, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        for job in done:
            job.result()
        return not left

    async def _keep_checking_owners(self) -> None:
        """Check that each room is at one server of the cluster, except for a while after trouble."""
        while True:
            await asyncio.sleep(2.0)
            if self.troubled_until >= self.world.time():
                continue
            owners = defaultdict(list)
            for host in self.hosts:
                for code in host.server.core.rooms.by_code if host.server is not None and not host.is_down else ():
                    owners[code].append(host.name)
            for code, names in owners.items():
                if len(names) > 1:
                    self.ledger.fail(f"{' and '.join(names)} both have the room {code}.", code)
            for person in self.people:
                for code in sorted(person.peer.rooms - owners.keys()) if person.is_connected else ():
                    self.ledger.fail(f"No server has the room of {person.name}, who is connected.", code)

    def _collect_log(self) -> None:
        def collect(logger: object, level: str, event: Any) -> Any:
            error = event.pop("exc_info", None)
            self.world.trace("log", level, event.get("event"))
            if level == "debug":
                raise structlog.DropEvent
            if event["event"] == "database failed":
                self.ledger.served.begin_gap(self.world.time(), is_certain=False)
            elif event["event"] == "database recovered":
                self.ledger.served.end_gap(self.world.time())
            text = f"the server logs ({level}) {event}"
            self.ledger.tell(text, event.get("room", ""))
            if level in ("error", "critical", "exception") or error:
                if error:
                    found = error if isinstance(error, BaseException) else sys.exception()
                    text += "\n" + "".join(traceback.format_exception(found))
                if not any(words in text.lower() for words in EXPECTED_ERRORS):
                    self.world.fail(text)
            raise structlog.DropEvent

        structlog.configure(processors=[collect], cache_logger_on_first_use=False)
        handler = logging.Handler()
        handler.emit = lambda record: self.world.fail(f"{record.name} logged {handler.format(record)}")  # type: ignore[method-assign]
        logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


def play(seed: int) -> Result:
    """Return what comes of a seed. The process must have called `world.install` before it imported the server."""
    gc.disable()  # finalizers run at the same moments whatever was allocated before
    started = time.process_time()
    world = World(seed)
    asyncio.set_event_loop(world)
    site, found = Site(world), world.errors
    try:
        world.run_until_complete(site.run())
    except (Exception, asyncio.CancelledError) as error:
        found.append("".join(traceback.format_exception(error))[-3000:])
    failures = site.ledger.failures
    found = [failure for failure, _ in failures] or found
    story = list(site.ledger.story_of(failures[0][1] if failures else "")) if found else []
    counts = {**site.ledger.counts, **site.storage.counts, "lives": sum(host.life for host in site.hosts)}
    counts["virtual seconds"] = round(MACHINE.now - START_SECONDS)
    counts["cpu ms"] = round(1000 * (time.process_time() - started))
    site.storage.remove()
    return Result(seed, found, story, world.digest, counts)
