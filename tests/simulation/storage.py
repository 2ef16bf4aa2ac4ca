"""Where servers store their data: a real SQLite database on a disk in trouble, or three simulated NATS nodes.

The nodes never lose what they stored; writes may be late, and answers late, lost or errors. The disk is slow, silent or
full, or loses its power.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import greenlet
import msgspec

from tests.server.fake_nats import STREAM, Client, FakeNats, Fault, Headers, Kept
from tests.simulation.ledger import ServedTime
from tests.simulation.network import NEAR_PORTS, Network
from tests.simulation.world import Queue, Thread, World
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.features.cluster.feature import ClusterOptions
from tictactoe_server.features.jetstream.store import JetStreamStore
from tictactoe_server.features.jetstream.streams import FORMAT, LAYOUT, Layout
from tictactoe_server.server import kept_by
from tictactoe_server.storage.database import Database
from tictactoe_server.storage.folder import DataFolder
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.writer import Writer

GRACE_SECONDS: Final = 1.4  # a commit that takes longer may stop the server's `ServedTime`
_SURVIVING: Final = ("tictactoe.sqlite3", "tictactoe.sqlite3-wal", "server.lock")
_MAX_COMMIT_SECONDS: Final = 1.0
FAULTS: Final[tuple[Fault | int, ...]] = ("lost write", "lost ack", "late ack", "in process", "nobody", 10077)
URL: Final = "nats://" + ",".join(f"127.0.0.1:{port}" for port in NEAR_PORTS)


class Disk:
    """The disk of a single server. Each life of the server works on a copy of the previous life's files.

    Attributes:
        silent_until: Commits do not return before this time.
        refuses_until: Until this time commits fail with the chances `early_refusals` and `late_refusals`, before or
            after they took effect.
        crash_at: After how many commits more the power fails, and whether "before commit" or "after commit".
        is_recording: Whether the files are copied before the first commit that a loss of power may undo.
        has_lost_power: Whether commits that the disk was not told to keep may be gone in the next life.
    """

    def __init__(self, world: World, served: ServedTime) -> None:
        self.world = world
        self._served = served
        self._chance = world.chance("disk")
        memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
        self._root = Path(tempfile.mkdtemp(prefix="simulated-", dir=memory))
        self._folder = self._root / "0"
        self._folder.mkdir(mode=0o700)
        self.on_power_loss: Callable[[], None] = lambda: None
        self.counts: Counter[str] = Counter()
        self._median_seconds = self._chance.choice((0.0003, 0.002, 0.010))
        self._lives = 0
        self.has_lost_power = False
        self._synced: Path | None = None
        self.heal()

    def heal(self) -> None:
        self.crash_at: tuple[int, str] | None = None
        self.is_recording = False
        self.silent_until = self.refuses_until = self.early_refusals = self.late_refusals = 0.0

    def begin_life(self) -> dict[str, Any]:
        """Give the next life a folder with the files that survived the last one; return the settings that name it."""
        source = self._folder
        if self.has_lost_power and self._synced is not None and self._chance.random() < 0.7:
            source = self._synced
        self._lives += 1
        self._folder = self._root / str(self._lives)
        _copy(source, self._folder)
        self._forget_synced()
        self.is_recording = self.has_lost_power = False
        self.crash_at = None
        return {"data": self._folder, "features": (BotOptions(demo=False),)}

    async def open_store(self) -> SqliteStore:
        held, specs = DataFolder(self._folder), kept_by()
        held.hold_database()
        database = SimulatedDatabase(held, specs)
        database.disk = self
        return SqliteStore(Writer(database, thread=Thread, queue=Queue), specs)  # type: ignore[arg-type]

    def commit(self, commit: Callable[[], None], *, is_durable: bool) -> None:
        """Commit on the store's thread, with everything that may go wrong meanwhile."""
        thread: Thread = greenlet.getcurrent()
        started_at, paused, life = self.world.time(), self.world.paused_seconds, self._lives
        self._crash_if_due(thread, "before commit")
        self.refuse(self.early_refusals, "database or disk is full", sqlite3.SQLITE_FULL)
        if is_durable:
            thread.sleep(self._draw_seconds())
        elif self.is_recording and self._synced is None:
            self._synced = self._root / "synced"
            _copy(self._folder, self._synced)
        while self.world.time() < self.silent_until:
            thread.sleep(self.silent_until - self.world.time() + 0.001)
        commit()
        self.counts["commits"] += 1
        if is_durable:
            self._forget_synced()
            self._served.commits.append(self.world.time())
        self.world.trace("commit", is_durable)
        if self.world.time() - started_at > GRACE_SECONDS and life == self._lives:
            is_certain = self.world.paused_seconds == paused
            self._served.begin_gap(started_at + GRACE_SECONDS, self.world.time(), is_certain=is_certain)
        self.refuse(self.late_refusals, "disk I/O error", sqlite3.SQLITE_IOERR)
        self._crash_if_due(thread, "after commit")
        if is_durable:
            thread.sleep(self._draw_seconds() / 4)

    @property
    def may_fail_to_open(self) -> bool:
        return self.world.time() < self.refuses_until + 5.0

    def remove(self) -> None:
        shutil.rmtree(self._root, ignore_errors=True)

    def _draw_seconds(self) -> float:
        return min(_MAX_COMMIT_SECONDS, self._median_seconds * self._chance.lognormvariate(0.0, 0.8))

    def refuse(self, chance: float, message: str, code: int) -> None:
        if self.world.time() < self.refuses_until and self._chance.random() < chance:
            error = sqlite3.OperationalError(message)
            error.sqlite_errorcode = code
            raise error

    def _crash_if_due(self, thread: Thread, step: str) -> None:
        if self.crash_at is None or self.crash_at[1] != step:
            return
        self.crash_at = self.crash_at[0] - 1, step
        if self.crash_at[0] == 0:
            self.world.call_soon(self.on_power_loss, context=self.world.outside)
            thread.pause()  # until it is killed

    def _forget_synced(self) -> None:
        if self._synced is not None:
            shutil.rmtree(self._synced)
            self._synced = None


class SimulatedDatabase(Database):
    disk: Disk | None = None

    def _attempt(self, work: Callable[..., Any], *, durable: bool | None = None) -> Any:
        def read(*args: Any) -> Any:
            if self.disk is not None:  # reads fail like commits do after they took effect
                self.disk.refuse(self.disk.late_refusals, "disk I/O error", sqlite3.SQLITE_IOERR)
            return work(*args)

        return super()._attempt(read if durable is None else work, durable=durable)

    def commit(self) -> None:
        if self.disk is None:
            super().commit()
        else:
            self.disk.commit(super().commit, is_durable=self._is_durable)


def _copy(source: Path, target: Path) -> None:
    target.mkdir(mode=0o700)
    for path in [source / name for name in _SURVIVING]:
        if path.exists():
            shutil.copy(path, target)


class Nodes(FakeNats):
    """The nodes, which share everything that is stored.

    Attributes:
        faulty_until: Until when writes may meet one of `FAULTS`.
        leaderless_until: Until when the stream does not answer, or only with an error if `is_refusing`.
    """

    may_fail_to_open = True
    has_lost_power = False

    def __init__(self, world: World, network: Network) -> None:
        super().__init__()
        self.world = world
        self.counts: Counter[str] = Counter()
        self.is_refusing = False
        self.heal()
        self._chance = world.chance("store")
        self._median_seconds = self._chance.choice((0.0005, 0.003, 0.012))
        for port in NEAR_PORTS:
            network.makers[port] = partial(Client, self)
        self.keep(f"$KV.{STREAM}.{LAYOUT}", msgspec.json.encode(Layout(FORMAT)))

    def heal(self) -> None:
        self.faulty_until = self.leaderless_until = 0.0
        self.copied = None

    def begin_life(self) -> dict[str, Any]:
        return {"features": (BotOptions(demo=False), ClusterOptions(store=URL))}

    async def open_store(self) -> JetStreamStore:
        specs = kept_by()
        copy = SqliteStore(Writer(Database(None, specs), thread=Thread, queue=Queue), specs)  # type: ignore[arg-type]
        return await JetStreamStore.open(URL, specs, copy=copy)

    def remove(self) -> None: ...

    def take(self, client: Client, subject: str, reply: str, headers: Headers, data: bytes) -> None:
        is_for_leader = subject.startswith(("$KV.", "$JS.API.STREAM."))
        if not is_for_leader or self.world.time() >= self.leaderless_until:
            super().take(client, subject, reply, headers, data)
        elif self.is_refusing and reply:
            self.send(reply, b"", {"": "503"})

    def _write(self, reply: str, write: Kept) -> None:
        is_spared = write.subject.endswith(".time")
        if self.world.time() < self.faulty_until and self._chance.random() < 0.5 and not is_spared:
            fault = self._chance.choice(FAULTS)
            self.faults.append(fault)
            self.counts[f"writes {fault}"] += 1
            self.world.call_later(self._chance.uniform(0.02, 4.0), self.release)
        super()._write(reply, write)

    def _keep(self, write: Kept) -> Kept:
        kept = super()._keep(write)
        self.counts["commits"] += 1
        self.world.trace("stored", kept.subject, kept.sequence)
        return kept

    def _say(self, reply: str, content: dict[str, Any]) -> None:
        if reply:
            seconds = min(0.5, self._median_seconds * self._chance.lognormvariate(0.0, 0.7))
            self.world.call_later(seconds, self.send, reply, json.dumps(content).encode())
