"""One run: the lives of a server, the people who use it, and what is checked at the end."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
import traceback
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from tests.simulation.disk import Disk
from tests.simulation.ledger import Ledger, Violation
from tests.simulation.network import Network
from tests.simulation.people import Person, Table
from tests.simulation.trouble import Trouble
from tests.simulation.world import MACHINE, START_SECONDS, Process, World
from tictactoe_server.server import Server, kept_by
from tictactoe_server.services.bots.inline import InlineWorkers
from tictactoe_server.services.bots.pool import ThinkingPool
from tictactoe_server.settings import Limits, Settings

PORT: Final = 8765
CALM_SECONDS: Final = 1_800.0
"""Every game ends within so long after the last trouble."""
EXPECTED_ERRORS: Final = ("the store refuses", "the database failed", "the store did not close in good time")
"""Errors that a server may log, because they say that its disk is in trouble."""


@dataclass
class Result:
    """What came of a seed: broken promises, a digest of everything that happened, and figures."""

    seed: int
    violations: list[str] = field(default_factory=list)
    story: list[str] = field(default_factory=list)
    digest: str = ""
    trouble: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    virtual_seconds: float = 0.0
    cpu_seconds: float = 0.0


class Site:
    """One server's machine, the network around it and everybody who uses it.

    Attributes:
        life: How often the server was started.
        ports: Where people connect.
        is_closing: Whether everybody is to come to an end.
        has_late_history: Whether finished games may appear in the history later than they end.
    """

    def __init__(self, world: World, kinds: tuple[str, ...] = (), *, tables: int = 4, games: int = 6) -> None:
        self.world = world
        self.ledger = Ledger(world.time)
        self.network = Network(world)
        self.disk = Disk(world, self.ledger.served)
        self.ports = (PORT,)
        self.life = 0
        self.is_closing = self.has_late_history = self.loses_answers = False
        self.trouble = Trouble(self, kinds)
        self.groups = [Table(self, number, games=games) for number in range(tables)]
        self._process: Process | None = None
        self._server: Server | None = None
        self._troubled_until = 0.0
        self._was_power_lost = False
        self._starting: asyncio.Task[None] | None = None
        self._up, self._stopped = asyncio.Event(), asyncio.Event()
        self._has_begun = self._is_to_stop = asyncio.Event()
        self._stopped.set()
        self._collect_log()

    @property
    def people(self) -> list[Person]:
        return [person for group in self.groups for person in group.people]

    # -- the server's lives ----------------------------------------------------------------------------------------

    @property
    def is_down(self) -> bool:
        return not self._up.is_set()

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
        self.note_trouble(10.0)
        process = self._process
        self._is_to_stop.set()
        await self._stopped.wait()
        if process is self._process and process is not None and not process.is_dead:
            self._was_power_lost = False

    def crash(self, *, is_power: bool, resets: bool) -> None:
        """Kill the server between two callbacks; with `is_power` the machine, with what was not synced to its disk."""
        process = self._process
        if process is None or process.is_dead or self._stopped.is_set():
            return
        self.ledger.count("power losses" if is_power else "kills")
        self.ledger.tell("the power fails" if is_power else "the server is killed")
        self._up.clear()
        self.note_trouble(5.0)
        self._was_power_lost = is_power
        self.ledger.served.end(self.world.time())
        self.world.trace("crash", is_power)
        process.kill()
        self._stopped.set()
        self._has_begun.set()
        self.network.drop_process(process, resets=resets)

    async def _start(self) -> None:
        await self._stopped.wait()
        self.disk.begin_life(after_power_loss=self._was_power_lost)
        self._was_power_lost = False
        self.life += 1
        self.world.trace("life", self.life)
        self.ledger.tell(f"the server starts (life {self.life})")
        self._is_to_stop, self._stopped, self._has_begun = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._process = Process(self.world, f"server {self.life}")
        self._process.start(self._serve())
        await self._has_begun.wait()

    async def _serve(self) -> None:
        try:
            settings = Settings(host="127.0.0.1", port=PORT, data=self.disk.folder, demo=False, page=False)
            self._server = server = Server(
                settings,
                self.disk.open_store(kept_by(())),
                Limits(),
                open_sockets=self.network.open_sockets,
                pool=ThinkingPool(InlineWorkers()),
            )
            self.ledger.served.begin(self.world.time())
            async with server:
                self.world.call_soon(self._note_up, context=self.world.outside)
                await self._is_to_stop.wait()
                self._up.clear()
            self.ledger.served.end(self.world.time())
        except Exception:
            self.ledger.failures_of_server(traceback.format_exc())
            self.world.stop()
        self.world.call_soon(self._stopped.set, context=self.world.outside)

    def _note_up(self) -> None:
        self._up.set()
        self._has_begun.set()

    def set_wall_clock(self, seconds: float) -> None:
        """Move the wall clock."""
        MACHINE.wall_offset += seconds

    # -- trouble ---------------------------------------------------------------------------------------------------

    def note_trouble(self, seconds: float) -> None:
        """Note that answers may be missing or late for so long."""
        self._troubled_until = max(self._troubled_until, self.world.time() + seconds)

    def was_troubled_since(self, moment: float) -> bool:
        return self._troubled_until >= moment

    # -- the run ---------------------------------------------------------------------------------------------------

    async def run(self, seconds: float) -> None:
        """Let everybody play, for `seconds` in trouble and then in calm, and check what is left."""
        await self.start()
        jobs = [self.world.create_task(person.run()) for person in self.people]
        self.trouble.start()
        await self._wait(jobs, seconds)
        await self.trouble.end()
        self.is_closing = True
        for group in self.groups:
            group.hurry()
        if not await self._wait(jobs, CALM_SECONDS):
            self.ledger.fail(f"Never came to an end: {[person.name for person in self.people if not person.is_done]}.")
        for person in self.people:
            if person.peer is not None:
                person.peer.give_up()
        await asyncio.sleep(70.0)
        self._check_leaks()
        await self.stop()
        await self.start()
        for group in self.groups:
            await group.settle(self)
        await self.stop()

    async def _wait(self, jobs: list[asyncio.Task[None]], seconds: float) -> bool:
        """Wait for jobs, or raise the first error of any; return whether all are done."""
        done, left = await asyncio.wait(jobs, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        for job in done:
            job.result()
        return not left

    def _check_leaks(self) -> None:
        """Check that nothing is kept for people who have gone."""
        server = self._server
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
        if any(left.values()):
            self.ledger.fail(f"Everybody has gone, but the server still has {left}.")

    # -- the server's log ------------------------------------------------------------------------------------------

    def _collect_log(self) -> None:
        def collect(logger: object, level: str, event: Any) -> Any:
            error = event.pop("exc_info", None)
            self.world.trace("log", level, event.get("event"))
            if level == "debug":
                raise structlog.DropEvent
            text = f"the server logs ({level}) {event}"
            self.ledger.tell(text)
            if level in ("error", "critical", "exception") or error:
                if error:
                    text += "\n" + traceback.format_exc()
                if not any(words in text.lower() for words in EXPECTED_ERRORS):
                    self.ledger.failures_of_server(text)
                    self.world.stop()
            raise structlog.DropEvent

        structlog.configure(processors=[collect], cache_logger_on_first_use=False)
        logging.basicConfig(handlers=[_ViolationHandler(self)], level=logging.WARNING, force=True)


class _ViolationHandler(logging.Handler):
    """Takes everything that a library logs as a warning or worse for a broken promise."""

    def __init__(self, site: Site) -> None:
        super().__init__()
        self._site = site

    def emit(self, record: logging.LogRecord) -> None:
        self._site.ledger.failures_of_server(f"{record.name} logged {self.format(record)}")
        self._site.world.stop()


def play(seed: int, *, seconds: float = 900.0, tables: int = 4, games: int = 6, kinds: tuple[str, ...] = ()) -> Result:
    """Return what comes of a seed. The process must have called `world.install` before it imported the server."""
    gc.disable()  # finalizers run at the same moments whatever was allocated before
    started = time.process_time()
    world = World(seed)
    asyncio.set_event_loop(world)
    result = Result(seed)
    site: Site | None = None

    async def run() -> None:
        nonlocal site
        site = Site(world, kinds, tables=tables, games=games)
        await site.run(seconds)

    try:
        _run(world, run())
    except Violation:
        pass
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        if site is None or not site.ledger.failures:
            world.errors.append("".join(traceback.format_exception(error))[-3000:])
    if site is not None:
        failures = site.ledger.failures
        result.violations = [failure.found for failure in failures]
        result.story = (
            list(site.ledger.story_of(failures[0].room if failures else "")) if failures or world.errors else []
        )
        result.counts = {
            **site.ledger.counts,
            "commits": site.disk.commits,
            "lost commits": site.disk.lost,
            "lives": site.life,
        }
        result.trouble = site.trouble.kinds
        site.disk.remove()
    result.violations += world.errors
    result.digest = world.digest
    result.virtual_seconds = MACHINE.now - START_SECONDS
    result.cpu_seconds = time.process_time() - started
    return result


def _run(world: World, work: Coroutine[Any, Any, None]) -> None:
    world.run_until_complete(work)
