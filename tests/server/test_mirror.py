from collections.abc import AsyncIterator

import pytest

from tests.fakes import TroubledStore
from tests.peer import until
from tictactoe_server.core.remote import RemoteServers
from tictactoe_server.features.tournaments.event_store import EVENTS
from tictactoe_server.records.mirror import Mirror
from tictactoe_server.records.tables import BANS, KEPT, Ban
from tictactoe_server.scheduler import Tasks
from tictactoe_server.storage.memory import MemoryStore
from tictactoe_server.storage.store import StoreUnavailable

NOISE, SPAM = Ban("pana", "noise", 1), Ban("pana", "spam", 2)


class Peers(RemoteServers):
    """Two servers of a cluster, whose notices arrive unless they are lost."""

    is_several = True
    other: RemoteServers | None = None

    def broadcast_change(self, table: str, key: str) -> None:
        if self.other is not None:
            self.other.on_changed[table](key)


@pytest.fixture
async def tasks() -> AsyncIterator[Tasks]:
    tasks = Tasks()
    yield tasks
    await tasks.stop()


async def test_a_change_is_seen_here_at_once_and_elsewhere_after_its_notice(tasks: Tasks) -> None:
    table, here, there = MemoryStore(KEPT).table(BANS), Peers(), Peers()
    here.other = there
    seen = list[tuple[Ban | None, Ban | None]]()
    own = Mirror(table, BANS.name, here, tasks)
    own.on_change.add(lambda key, before, after: seen.append((before, after)))
    other = Mirror(table, BANS.name, there, tasks)
    await own.load()
    await other.load()
    assert await own.change("pana", lambda old: NOISE) == NOISE == own.get("pana")
    await until(lambda: other.get("pana") == NOISE)
    assert await other.change("pana", lambda old: SPAM) == SPAM
    assert await own.change("pana", lambda old: None if old == SPAM else old) is None, "a change sees the newest value"
    await until(lambda: other.get("pana") is None)
    assert seen == [(None, NOISE), (NOISE, None)]


async def test_a_deleted_value_does_not_come_back_with_a_late_read(tasks: Tasks) -> None:
    mirror = Mirror(MemoryStore(KEPT).table(BANS), BANS.name, RemoteServers(), tasks)
    await mirror.change("pana", lambda old: NOISE)
    held = mirror.holder("pana")
    revision = held.revision
    await mirror.change("pana", lambda old: None)
    held.adopt(NOISE, revision)
    assert mirror.get("pana") is None


async def test_a_table_is_loaded_again_until_the_store_answers(tasks: Tasks, store: TroubledStore) -> None:

    store.events.trouble.fail("load_all", StoreUnavailable("away"), times=3)
    mirror = Mirror(store.table(EVENTS), EVENTS.name, RemoteServers(), tasks)
    tasks.start(mirror.run())
    await mirror.loaded.wait()
