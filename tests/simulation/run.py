"""One run: the lives of a server, the people who use it, and the final checks."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from tests.simulation.contests import Cup, League
from tests.simulation.crowd import Crowd
from tests.simulation.disk import Disk
from tests.simulation.host import DiskHost, Host
from tests.simulation.ledger import Ledger
from tests.simulation.network import Network
from tests.simulation.people import Person, Table
from tests.simulation.trouble import Trouble
from tests.simulation.world import MACHINE, START_SECONDS, World

CALM_SECONDS: Final = 1_800.0
"""The time after the last trouble within which every game ends."""
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
    """One server, the network around it and all its users.

    Attributes:
        hosts: The server; in a cluster there are several.
        ports: Where people connect.
        is_closing: Whether all users finish their games and stop.
        is_cluster: Whether several servers share the rooms, which learn of some changes later.
    """

    def __init__(self, world: World, kinds: tuple[str, ...] = (), *, tables: int = 3, games: int = 6) -> None:
        self.world = world
        self.ledger = Ledger(world.time)
        self.network = Network(world)
        self.is_closing = self.is_cluster = self.loses_answers = False
        self._troubled_until = 0.0
        self.hosts = self._make_hosts()
        self.ports = tuple(host.port for host in self.hosts)
        self.trouble = self._make_trouble(kinds)
        self.groups = self._gather(tables, games)
        self._collect_log()

    def _make_hosts(self) -> list[Host]:
        self.disk = Disk(self.world, self.ledger.served)
        return [DiskHost(self, self.disk)]

    def _make_trouble(self, kinds: tuple[str, ...]) -> Trouble:
        return Trouble(self, kinds)

    def _gather(self, tables: int, games: int) -> list[Table | Crowd]:
        """Return who uses the server, by chance of the seed."""
        chance = self.world.chance("groups")
        makers = chance.choices((Table, Crowd, League, Cup), (11, 4, 3, 3), k=tables)
        return [make(self, number, games=games) for number, make in enumerate(makers)]

    @property
    def people(self) -> list[Person]:
        return [person for group in self.groups for person in group.people]

    # -- the server ------------------------------------------------------------------------------------------------

    @property
    def life(self) -> int:
        """How often the server was started."""
        return self.hosts[0].life

    async def wait_until_up(self) -> None:
        await self.hosts[0].wait_until_up()

    async def start(self) -> None:
        """Start what is down."""
        for host in self.hosts:
            while host.is_down:
                await host.start()

    async def stop(self) -> None:
        """Stop every server in good order."""
        for host in self.hosts:
            await host.stop()

    def heal(self) -> None:
        """End all trouble."""
        self.disk.heal()

    def set_wall_clock(self, seconds: float) -> None:
        """Move the wall clock."""
        MACHINE.wall_offset += seconds

    # -- trouble ---------------------------------------------------------------------------------------------------

    def note_trouble(self, seconds: float) -> None:
        """Note that answers may be missing or late for the next `seconds`."""
        self._troubled_until = max(self._troubled_until, self.world.time() + seconds)

    def was_troubled_since(self, moment: float) -> bool:
        return self._troubled_until >= moment

    # -- the run ---------------------------------------------------------------------------------------------------

    async def run(self, seconds: float) -> None:
        """Run all users, for `seconds` in trouble and then in calm, and check the result."""
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
        for host in self.hosts:
            host.check_leaks()
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

    def count(self) -> dict[str, int]:
        """Return figures for the summary of a run."""
        return {"commits": self.disk.commits, "lost commits": self.disk.lost, "lives": self.life}

    def remove(self) -> None:
        """Delete the files of the run."""
        self.disk.remove()

    # -- the server's log ------------------------------------------------------------------------------------------

    def _collect_log(self) -> None:
        def collect(logger: object, level: str, event: Any) -> Any:
            error = event.pop("exc_info", None)
            self.world.trace("log", level, event.get("event"))
            if level == "debug":
                raise structlog.DropEvent
            if event["event"] == "the store refuses":
                self.ledger.served.note_refusal(self.world.time())
            elif event["event"] == "the store works again":
                self.ledger.served.note_refusal_over(self.world.time())
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


def play(
    seed: int,
    *,
    seconds: float = 900.0,
    tables: int = 3,
    games: int = 6,
    kinds: tuple[str, ...] = (),
    make_site: Callable[..., Site] = Site,
) -> Result:
    """Return what comes of a seed. The process must have called `world.install` before it imported the server."""
    gc.disable()  # finalizers run at the same moments whatever was allocated before
    started = time.process_time()
    world = World(seed)
    asyncio.set_event_loop(world)
    result = Result(seed)
    site: Site | None = None

    async def run() -> None:
        nonlocal site
        site = make_site(world, kinds, tables=tables, games=games)
        await site.run(seconds)

    try:
        world.run_until_complete(run())
    except (Exception, asyncio.CancelledError) as error:
        world.errors.append("".join(traceback.format_exception(error))[-3000:])
    result.violations = world.errors
    if site is not None:
        if failures := site.ledger.failures:
            result.violations = [found for found, _ in failures]
        if result.violations:
            result.story = list(site.ledger.story_of(failures[0][1] if failures else ""))
        result.counts = {**site.ledger.counts, **site.count()}
        result.trouble = site.trouble.kinds
        site.remove()
    result.digest = world.digest
    result.virtual_seconds = MACHINE.now - START_SECONDS
    result.cpu_seconds = time.process_time() - started
    return result
