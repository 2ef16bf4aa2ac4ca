"""Virtual time: an event loop that jumps to its next timer, processes that can be killed, and threads as coroutines.

Nothing here waits. Each turn of the loop costs `TURN_SECONDS` of virtual time, and all chance comes from the seed, so
two runs with the same seed do the same things at the same moments.
"""

from __future__ import annotations

import asyncio
import contextvars
import hashlib
import heapq
import os
import random
import socket
import time
import traceback
from asyncio import base_events
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

import greenlet

from tictactoe_server import clock

TURN_SECONDS: Final = 2e-5
START_SECONDS: Final = 1_000.0
"""Virtual time at the start. Times near the Unix epoch's would be coarser than the resolution of asyncio's clock."""
START_WALL_SECONDS: Final = 1_800_000_000.0

_process: contextvars.ContextVar[Process | None] = contextvars.ContextVar("process", default=None)
_thread: contextvars.ContextVar[Thread | None] = contextvars.ContextVar("thread", default=None)


class Machine:
    """What all processes of a run share.

    Attributes:
        now: Virtual time in seconds.
        wall_offset: What the wall clock shows beyond `now`, in seconds.
        entropy: The source of `os.urandom`.
    """

    def __init__(self) -> None:
        self.now = START_SECONDS
        self.wall_offset = START_WALL_SECONDS
        self.entropy = random.Random(0)


MACHINE: Final = Machine()


def install() -> None:
    """Replace the clocks and the entropy of this Python process; call it before the server is imported."""
    clock.monotonic = lambda: MACHINE.now
    clock.monotonic_ns = lambda: round(MACHINE.now * 1e9)
    clock.wall = time.time = lambda: MACHINE.now + MACHINE.wall_offset  # libraries write dates, too
    clock.cpu = lambda: 0.0
    urandom: Any = lambda size: MACHINE.entropy.randbytes(size)  # noqa: E731
    os.urandom = urandom
    socket.gethostname = lambda: "simulated"
    random._urandom = urandom  # type: ignore[attr-defined]


class Process:
    """A simulated operating-system process: everything that its first coroutine starts, directly or not."""

    def __init__(self, world: World, name: str, address: str = "") -> None:
        self.name = name
        self.address = address
        self.is_dead = False
        self.frozen_until = 0.0
        self.postponed = 0
        self.tasks: dict[asyncio.Task[Any], None] = {}
        self.threads: list[Thread] = []
        self._world = world
        self.context = contextvars.copy_context()
        self.context.run(_process.set, self)

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        return self._world.create_task(work, context=self.context)

    def kill(self) -> None:
        """End the process now, between two callbacks; no `finally` of its coroutines runs."""
        self.is_dead = True
        self._world.bury(self)
        for thread in self.threads:
            thread.kill()

    def freeze(self, seconds: float) -> None:
        """Run nothing of the process for a while; everything that is due meanwhile runs afterwards, in order."""
        self.frozen_until = self._world.time() + seconds
        self._world.postpone(self)


def current_process() -> Process | None:
    """Return the process of the running code, or None for code of the simulation itself."""
    return _process.get()


class World(base_events.BaseEventLoop):
    """The event loop of a run.

    Attributes:
        outside: The context of code that belongs to no process.
        errors: Errors of the server, and exceptions that nobody caught, with their tracebacks.
        paused_seconds: For how long the whole machine has been stopped so far.
        connect: Connects a protocol to a port of the network; see `Network.connect`.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed
        self.errors: list[str] = []
        self.paused_seconds = 0.0
        self.outside = contextvars.copy_context()
        self._due: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, int, asyncio.Handle]] = []
        self._timer_count = 0
        self._hash = hashlib.sha256()
        self.connect: Any = None
        self._dead_tasks: list[asyncio.Task[Any]] = []
        self._readers: dict[Any, tuple[Callable[..., object], tuple[Any, ...], contextvars.Context]] = {}
        MACHINE.now, MACHINE.wall_offset = START_SECONDS, START_WALL_SECONDS
        MACHINE.entropy = self.chance("entropy")
        random.seed(f"{seed}:random")
        self.set_exception_handler(self._note_error)

    def chance(self, name: str) -> random.Random:
        """Return the random numbers of one part of the simulation, independent of all other parts."""
        return random.Random(f"{self.seed}:{name}")

    def trace(self, *what: object) -> None:
        """Add to the digest what happened now."""
        self._hash.update(f"{MACHINE.now:.6f} {what}\n".encode())

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()[:16]

    def pause(self, seconds: float) -> None:
        """Stop the whole machine for a while: no code runs, and time passes."""
        MACHINE.now += seconds
        self.paused_seconds += seconds

    def bury(self, process: Process) -> None:
        """Cancel all callbacks of a killed process, and keep its tasks from being finalized."""
        for handle in (*self._due, *(handle for _, _, handle in self._timers)):
            if _process_of(handle) is process:
                handle.cancel()
        for task in process.tasks:
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            self._dead_tasks.append(task)

    def postpone(self, process: Process) -> None:
        """Let everything of a process that is due before it is thawed run then."""
        queue = [*((0.0, 0, handle) for handle in self._due), *sorted(self._timers)]
        self._due.clear()
        self._timers.clear()
        for when, _, handle in queue:
            if _process_of(handle) is process:
                self._schedule(self._thaw(process, when), handle)
            elif when:
                self._schedule(when, handle)
            else:
                self._due.append(handle)

    def _thaw(self, process: Process, when: float) -> float:
        """Return when a callback of a process may run that is due at `when`."""
        if when >= process.frozen_until:
            return when
        process.postponed += 1
        return process.frozen_until + process.postponed * 1e-6

    # -- what asyncio asks of an event loop -----------------------------------------------------------------------

    def time(self) -> float:
        return MACHINE.now

    def _run_once(self) -> None:
        """Run everything that is due, or jump to the next timer if nothing is."""
        due, timers = self._due, self._timers
        while timers and timers[0][2]._cancelled:
            heapq.heappop(timers)
        if not due:
            if not timers:
                raise RuntimeError("Nothing is scheduled any more: everything waits for something that cannot happen.")
            MACHINE.now = max(MACHINE.now, timers[0][0])
        MACHINE.now += TURN_SECONDS
        while timers and timers[0][0] <= MACHINE.now:
            due.append(heapq.heappop(timers)[2])
        for _ in range(len(due)):
            if not due:  # a process was frozen
                return
            handle = due.popleft()
            if not handle._cancelled:
                handle._run()

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> asyncio.Handle:  # type: ignore[override]
        process = current_process() if context is None else context.get(_process)
        if process is not None and process.frozen_until > MACHINE.now:
            return self.call_at(MACHINE.now, callback, *args, context=context)
        handle = asyncio.Handle(callback, args, self, context)
        if process is None or not process.is_dead:
            self._due.append(handle)
        return handle

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        process = current_process() if context is None else context.get(_process)
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        if process is None:
            self._schedule(when, handle)
        elif not process.is_dead:
            self._schedule(self._thaw(process, when), handle)
        return handle

    def _schedule(self, when: float, handle: asyncio.Handle) -> None:
        self._timer_count += 1
        heapq.heappush(self._timers, (when, self._timer_count, handle))

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)

    def create_task(self, coro: Any, *, name: Any = None, context: Any = None) -> asyncio.Task[Any]:
        task = super().create_task(coro, name=name, context=context)
        process = context.get(_process) if context is not None else current_process()
        if process is not None:
            process.tasks[task] = None
            task.add_done_callback(lambda task: process.tasks.pop(task, None))
        return task

    def run_in_executor(self, executor: object, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Run a function in one piece after a short random time, in place of a thread."""
        future = self.create_future()

        def run() -> None:
            if future.done():
                return
            try:
                future.set_result(func(*args))
            except Exception as error:
                future.set_exception(error)

        self.call_later(MACHINE.entropy.uniform(0.0005, 0.01), run)
        return future

    def add_reader(  # type: ignore[override]
        self, fd: Any, callback: Callable[..., object], *args: Any
    ) -> None:
        self._readers[fd] = callback, args, contextvars.copy_context()
        if fd.waiting:
            self.notify_readable(fd)

    def remove_reader(self, fd: Any) -> bool:
        return self._readers.pop(fd, None) is not None

    def notify_readable(self, fd: Any) -> None:
        if fd in self._readers:
            callback, args, context = self._readers[fd]
            self.call_soon(callback, *args, context=context)

    async def create_connection(self, protocol_factory: Any, host: str, port: int, **options: Any) -> Any:  # type: ignore[override]
        """Connect the running process to a port of the simulated network."""
        process, protocol = current_process(), protocol_factory()
        if process is None:
            raise RuntimeError("Only a simulated process may connect.")
        return await self.connect(port, protocol, process.name, process.address), protocol

    async def connect_accepted_socket(self, protocol_factory: Callable[[], Any], sock: Any, **tls: Any) -> Any:
        protocol = protocol_factory()
        sock.open(protocol)
        return sock, protocol

    def fail(self, found: str) -> None:
        """Note an error of the server, and end the run."""
        self.errors.append(found)
        self.stop()

    def _note_error(self, loop: object, context: dict[str, Any]) -> None:
        error = context.get("exception")
        trace = "".join(traceback.format_exception(error)) if error is not None else ""
        self.fail(f"{context['message']}\n{trace}")


def _process_of(handle: Any) -> Process | None:
    process: Process | None = handle._context.get(_process)
    return process


class Killed(BaseException):
    """Ends a simulated thread; no `except Exception` catches it."""


class Thread:
    """Stands in for `threading.Thread`: runs on a stack of its own whenever the loop resumes it."""

    def __init__(self, target: Callable[[], object], name: str = "", daemon: bool = True) -> None:
        self._target = target
        self._world = asyncio.get_running_loop()
        self._greenlet = greenlet.greenlet(self._run)
        self._greenlet.gr_context = contextvars.copy_context()
        process = current_process()
        if process is not None:
            process.threads.append(self)

    def start(self) -> None:
        self._world.call_later(5e-5, self.resume)

    def resume(self) -> None:
        """Continue the thread until it pauses again; called by the loop."""
        if not self._greenlet.dead:
            self._greenlet.parent = greenlet.getcurrent()
            self._greenlet.switch()

    def pause(self) -> None:
        """Return to the loop until somebody resumes the thread; called on the thread itself."""
        self._greenlet.parent.switch()

    def sleep(self, seconds: float) -> None:
        self._world.call_later(seconds, self.resume)
        self.pause()

    def kill(self) -> None:
        if self._greenlet and not self._greenlet.dead:
            self._greenlet.parent = greenlet.getcurrent()
            self._greenlet.throw(Killed)

    def join(self, timeout: float | None = None) -> None:
        """Return at once: the store's thread has ended when it is joined."""

    def _run(self) -> None:
        _thread.set(self)
        try:
            self._target()
        except Killed:
            pass
        except Exception as error:
            self._world.call_exception_handler({"message": "a thread ended", "exception": error})


def current_thread() -> Thread | None:
    """Return the simulated thread that runs now, or None on the event loop."""
    return _thread.get()


class Queue:
    """Stands in for `queue.SimpleQueue` between the loop and one thread."""

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._waiting: Thread | None = None

    def put(self, item: Any) -> None:
        self._items.append(item)
        if self._waiting is not None:
            thread, self._waiting = self._waiting, None
            asyncio.get_running_loop().call_later(5e-5, thread.resume)

    def get(self) -> Any:
        thread = current_thread()
        if thread is None:
            raise RuntimeError("Only a simulated thread may wait for a queue.")
        while not self._items:
            self._waiting = thread
            thread.pause()
        return self._items.pop(0)
