"""Virtual time: an event loop that jumps to its next timer, processes that can be killed, and threads as coroutines.

Nothing here waits. Each turn of the loop costs `TURN_SECONDS` of virtual time, and all chance comes from the seed, so
two runs with the same seed do the same things at the same moments.
"""

from __future__ import annotations

import asyncio
import contextvars
import hashlib
import heapq
import math
import os
import random
import socket
import time
import traceback
from asyncio import base_events
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import greenlet

from tictactoe_server import clock

TURN_SECONDS: Final = 2e-5
START_SECONDS: Final = 1_000.0  # times near the Unix epoch's would be coarser than the resolution of asyncio's clock
MACHINE: Final = SimpleNamespace(now=START_SECONDS, wall_offset=1.8e9, entropy=random.Random(0))
"""The virtual time, the wall clock's lead over it, and the source of `os.urandom`."""

_process: contextvars.ContextVar[Process | None] = contextvars.ContextVar("process", default=None)


def install() -> None:
    """Replace the clocks and the entropy of this Python process; call it before the server is imported."""
    clock.monotonic = lambda: MACHINE.now
    clock.monotonic_ns = lambda: round(MACHINE.now * 1e9)
    clock.wall = time.time = lambda: MACHINE.now + MACHINE.wall_offset  # libraries write dates, too
    clock.cpu = lambda: 0.0
    os.urandom = random._urandom = lambda size: MACHINE.entropy.randbytes(size)  # type: ignore[attr-defined]
    socket.gethostname = lambda: "simulated"


class Process:
    """A simulated operating-system process: everything that its first coroutine starts, directly or not.

    Attributes:
        frozen_until: None of its code runs before this time.
    """

    def __init__(self, name: str, address: str = "") -> None:
        self.name = name
        self.address = address
        self.frozen_until = 0.0
        self.threads: list[Thread] = []
        self.context = contextvars.copy_context()
        self.context.run(_process.set, self)

    @property
    def is_dead(self) -> bool:
        return self.frozen_until == math.inf

    def kill(self) -> None:
        """End the process now, between two callbacks; no `finally` of its coroutines runs."""
        self.frozen_until = math.inf
        _KEPT.extend(asyncio.all_tasks())
        for thread in self.threads:
            thread.kill()


_KEPT: Final[list[asyncio.Task[Any]]] = []  # which must not be finalized


def current_process() -> Process | None:
    """Return the process of the running code, or None for code of the simulation itself."""
    return _process.get()


class World(base_events.BaseEventLoop):
    """The event loop of a run.

    Attributes:
        outside: The context of code that belongs to no process.
        errors: Errors of the server, and uncaught exceptions, with their tracebacks.
        paused_seconds: For how long the whole machine has been stopped so far.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed
        self.errors: list[str] = []
        self.paused_seconds = 0.0
        self.outside = contextvars.copy_context()
        self.connect: Any = None  # see `Network.connect`
        self._due: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, int, asyncio.Handle]] = []
        self._timer_count = 0
        self._hash = hashlib.sha256()
        MACHINE.entropy = self.chance("entropy")
        random.seed(f"{seed}:random")
        self.set_exception_handler(self._note_error)

    def chance(self, name: str) -> random.Random:
        """Return the random numbers of a part of the simulation, independent of all other parts."""
        return random.Random(f"{self.seed}:{name}")

    def trace(self, *what: object) -> None:
        self._hash.update(f"{MACHINE.now:.6f} {what}\n".encode())

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()[:16]

    def pause(self, seconds: float) -> None:
        """Stop the whole machine for a while: no code runs, and time passes."""
        MACHINE.now += seconds
        self.paused_seconds += seconds

    def fail(self, found: str) -> None:
        self.errors.append(found)
        self.stop()

    def _note_error(self, loop: object, context: dict[str, Any]) -> None:
        error = context.get("exception")
        trace = "".join(traceback.format_exception(error)) if error is not None else ""
        self.fail(f"{context['message']}\n{trace}")

    def time(self) -> float:
        return float(MACHINE.now)

    def _run_once(self) -> None:
        """Run everything that is due, or jump to the next timer if nothing is."""
        due, timers = self._due, self._timers
        while timers and timers[0][2]._cancelled:
            heapq.heappop(timers)
        if not due:
            MACHINE.now = max(MACHINE.now, timers[0][0])
        MACHINE.now += TURN_SECONDS
        while timers and timers[0][0] <= MACHINE.now:
            due.append(heapq.heappop(timers)[2])
        for _ in range(len(due)):
            handle = due.popleft()
            if handle._cancelled:
                continue
            process = handle._context.get(_process)  # type: ignore[attr-defined]
            if process is None or process.frozen_until <= MACHINE.now:
                handle._run()
            elif not process.is_dead:
                self._schedule(process.frozen_until, handle)

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> asyncio.Handle:  # type: ignore[override]
        handle = asyncio.Handle(callback, args, self, context)
        self._due.append(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        self._schedule(when, handle)
        return handle

    def _schedule(self, when: float, handle: asyncio.Handle) -> None:
        self._timer_count += 1
        heapq.heappush(self._timers, (when, self._timer_count, handle))

    def run_in_executor(self, executor: object, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Run a function as a whole after a short random time, instead of in a thread."""

        async def run() -> Any:
            await asyncio.sleep(MACHINE.entropy.uniform(0.0005, 0.01))
            return func(*args)

        return self.create_task(run())

    def add_reader(self, fd: Any, callback: Callable[..., object], *args: Any) -> None:  # type: ignore[override]
        context = contextvars.copy_context()
        fd.notify = lambda: self.call_soon(callback, *args, context=context)
        if fd.waiting:
            fd.notify()

    def remove_reader(self, fd: Any) -> bool:
        fd.notify = lambda: None
        return True

    async def create_connection(self, protocol_factory: Any, host: str, port: int, **options: Any) -> Any:  # type: ignore[override]
        process: Any = current_process()
        protocol = protocol_factory()
        return await self.connect(port, protocol, process.name, process.address), protocol

    async def connect_accepted_socket(self, protocol_factory: Callable[[], Any], sock: Any, **tls: Any) -> Any:
        protocol = protocol_factory()
        sock.open(protocol)
        return sock, protocol


class Thread(greenlet.greenlet):  # type: ignore[misc]
    """Stands in for `threading.Thread`: runs on a stack of its own whenever the loop resumes it."""

    def __init__(self, target: Callable[[], object], name: str = "", daemon: bool = True) -> None:
        super().__init__(target)
        self.gr_context = contextvars.copy_context()
        self._world = asyncio.get_running_loop()
        process: Any = current_process()
        process.threads.append(self)

    def start(self) -> None:
        self._world.call_later(5e-5, self.resume)

    def resume(self) -> None:
        """Continue the thread until it pauses again; called by the loop."""
        self.parent = greenlet.getcurrent()
        self.switch()

    def pause(self) -> None:
        """Return to the loop until `resume` is called; called on the thread itself."""
        self.parent.switch()

    def sleep(self, seconds: float) -> None:
        self._world.call_later(seconds, self.resume)
        self.pause()

    def kill(self) -> None:
        if not self.dead:
            self.parent = greenlet.getcurrent()
            self.throw()

    def join(self) -> None:
        """Return at once: the store's thread has ended when it is joined."""


class Queue(deque[Any]):
    """Stands in for `queue.SimpleQueue` between the loop and one thread."""

    _reader: Any = None  # the waiting thread

    def put(self, item: Any) -> None:
        self.append(item)
        if self._reader is not None:
            asyncio.get_running_loop().call_later(5e-5, self._reader.resume)
            self._reader = None

    def get(self) -> Any:
        while not self:
            self._reader = greenlet.getcurrent()
            self._reader.pause()
        return self.popleft()
