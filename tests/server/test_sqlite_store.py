"""What every store promises, asked of each; then what the database promises beyond: disks, crashes, locks, backups."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import stat
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.soak import store as soak
from tictactoe_server.stores import (
    MISSING,
    CannotBackUp,
    CannotOpenStore,
    Conflict,
    FolderInUse,
    GameRecord,
    MemoryStore,
    NewerSchema,
    SqliteStore,
    Storage,
    StoreBusy,
    StoreUnavailable,
    Unreadable,
    back_up,
)
from tictactoe_server.stores.commits import MAX_BATCH, Committer, Job
from tictactoe_server.stores.database import Database
from tictactoe_server.stores.schema import FILE_NAME, MIGRATIONS, SCHEMA, open_database

PATIENCE_SECONDS = 30


@pytest.fixture(params=["memory", "sqlite", "sqlite without a folder"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    opened: Storage
    if request.param == "memory":
        opened = MemoryStore()
    else:
        opened = SqliteStore.open(tmp_path / "data" if request.param == "sqlite" else None)
    yield opened
    await opened.close()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def record(room: str = "K7M4PQ", *players: str, document: bytes = b"{}") -> GameRecord:
    return GameRecord(room, 1, 1_700_000_000_000, players or ("pAna", "pBo"), document)


# -- every store: documents ---------------------------------------------------------------------------------------


async def test_a_saved_document_is_loaded_with_its_revision(store: Storage) -> None:
    revision = await store.save("room/A", b"\x00one\xff", MISSING)
    assert await store.load("room/A") == (b"\x00one\xff", revision)
    assert revision > MISSING


async def test_a_document_that_is_not_there_is_none(store: Storage) -> None:
    assert await store.load("room/A") is None


async def test_a_save_with_the_right_revision_replaces_the_document(store: Storage) -> None:
    first = await store.save("room/A", b"one", MISSING)
    second = await store.save("room/A", b"two", first)
    assert second > first
    assert await store.load("room/A") == (b"two", second)


async def test_a_save_with_another_revision_conflicts_and_changes_nothing(store: Storage) -> None:
    first = await store.save("room/A", b"one", MISSING)
    second = await store.save("room/A", b"two", first)
    for wrong in (MISSING, first, second + 1):
        with pytest.raises(Conflict):
            await store.save("room/A", b"three", wrong)
    assert await store.load("room/A") == (b"two", second)


async def test_a_save_of_what_is_gone_conflicts(store: Storage) -> None:
    revision = await store.save("room/A", b"one", MISSING)
    await store.delete("room/A", revision)
    with pytest.raises(Conflict):
        await store.save("room/A", b"two", revision)
    assert await store.load("room/A") is None


async def test_a_key_made_again_never_has_an_old_revision(store: Storage) -> None:
    first = await store.save("room/A", b"one", MISSING)
    await store.delete("room/A", first)
    assert await store.save("room/A", b"two", MISSING) > first


async def test_a_delete_with_another_revision_conflicts_and_deletes_nothing(store: Storage) -> None:
    revision = await store.save("room/A", b"one", MISSING)
    for wrong in (MISSING, revision + 1):
        with pytest.raises(Conflict):
            await store.delete("room/A", wrong)
    assert await store.load("room/A") == (b"one", revision)


async def test_a_second_delete_conflicts(store: Storage) -> None:
    revision = await store.save("room/A", b"one", MISSING)
    await store.delete("room/A", revision)
    with pytest.raises(Conflict):
        await store.delete("room/A", revision)


async def test_keys_are_listed_by_prefix(store: Storage) -> None:
    for key in ("room/A", "room/B", "player/A", "room", "rooms/C"):
        await store.save(key, b"", MISSING)
    assert sorted(await store.keys("room/")) == ["room/A", "room/B"]
    assert len(await store.keys("")) == 5
    assert await store.keys("room/A/") == []


async def test_of_many_savers_at_once_one_wins(store: Storage) -> None:
    revision = await store.save("room/A", b"", MISSING)
    saves = (store.save("room/A", b"%d" % number, revision) for number in range(50))
    outcomes = await asyncio.gather(*saves, return_exceptions=True)
    (winner,) = [number for number, outcome in enumerate(outcomes) if not isinstance(outcome, Conflict)]
    assert await store.load("room/A") == (b"%d" % winner, outcomes[winner])


async def test_a_large_document_comes_back_whole(store: Storage) -> None:
    document = os.urandom(100 * 1024)
    await store.save("room/A", document, MISSING)
    loaded = await store.load("room/A")
    assert loaded
    assert loaded[0] == document


# -- every store: finished games and notes ------------------------------------------------------------------------


async def test_an_archived_game_is_found_by_its_id(store: Storage) -> None:
    id = await store.archive_game(record(document=b"\x00moves"))
    found = await store.game(id)
    assert found
    assert (found.id, found.record) == (id, record(document=b"\x00moves"))


@pytest.mark.parametrize("id", [-1, 0, 17, 2**80])
async def test_a_game_that_is_not_there_is_none(store: Storage, id: int) -> None:
    await store.archive_game(record())
    assert await store.game(id) is None


async def test_games_of_a_player_come_newest_first_in_pages(store: Storage) -> None:
    ids = [await store.archive_game(record("ROOM", "pAna", f"p{number}")) for number in range(5)]
    await store.archive_game(record("ROOM", "pBo", "pCy"))
    first = await store.games_of("pAna", 3)
    rest = await store.games_of("pAna", 3, first[-1].id)
    assert [game.id for game in (*first, *rest)] == ids[::-1]
    assert await store.games_of("pAna", 3, rest[-1].id) == []
    assert await store.games_of("pNobody", 3) == []
    assert [game.id for game in await store.games_of("p4", 3, 2**80)] == [ids[4]]


@pytest.mark.parametrize("limit", [-1, 0])
async def test_no_games_are_listed_for_a_limit_of_none(store: Storage, limit: int) -> None:
    await store.archive_game(record())
    assert await store.games_of("pAna", limit) == []


async def test_one_who_plays_both_sides_finds_the_game_once(store: Storage) -> None:
    id = await store.archive_game(record("ROOM", "pAna", "pAna"))
    assert [game.id for game in await store.games_of("pAna", 10)] == [id]


async def test_a_save_archives_the_finished_game_with_it(store: Storage) -> None:
    await store.save("room/A", b"over", MISSING, archived=record())
    assert [game.record for game in await store.games_of("pBo", 10)] == [record()]


async def test_a_save_that_conflicts_archives_nothing(store: Storage) -> None:
    revision = await store.save("room/A", b"", MISSING)
    with pytest.raises(Conflict):
        await store.save("room/A", b"over", revision + 1, archived=record())
    with pytest.raises(Conflict):
        await store.save("room/A", b"over", MISSING, archived=record())
    assert await store.games_of("pAna", 10) == []


async def test_the_last_note_is_kept(store: Storage) -> None:
    assert await store.noted("alive") is None
    store.note("alive", b"1")
    store.note("alive", b"2")
    await store.save("room/A", b"", MISSING)
    assert await store.noted("alive") == b"2"
    assert await store.noted("other") is None
    assert await store.keys("alive") == []


# -- the database: batches ----------------------------------------------------------------------------------------


class WatchedDatabase(Database):
    """A real database that notes its transactions, and whose next commits can be told to fail."""

    def __init__(self, path: Path | None) -> None:
        super().__init__(path)
        self.transactions: list[tuple[int, bool]] = []
        self.commits = 0
        self.failures: list[Exception] = []
        self.closed = threading.Event()

    def begin(self, changes: int, *, durable: bool) -> None:
        self.transactions.append((changes, durable))
        super().begin(changes, durable=durable)

    def commit(self) -> None:
        if self.failures:
            raise self.failures.pop()
        super().commit()
        self.commits += 1

    def close(self) -> None:
        super().close()
        self.closed.set()


class Ask(Job):
    """Anything that a test wants done on the store's thread."""

    __slots__ = ("function",)
    writes = False

    def __init__(self, function: Callable[[Database], Any]) -> None:
        self.function = function

    def perform(self, database: Database) -> object:
        return self.function(database)


class Laboratory:
    """A store whose parts a test can reach; `hold` keeps its thread busy until `go_on`."""

    def __init__(self, folder: Path, **limits: Any) -> None:
        self.database = WatchedDatabase(folder / FILE_NAME)
        self.committer = Committer(self.database, **limits)
        self.store = SqliteStore(self.committer, None)
        self._gates: list[threading.Event] = []

    async def pragma(self, text: str) -> None:
        await self.committer.submit(Ask(lambda database: database.execute(f"PRAGMA {text}").fetchall()))

    async def hold(self) -> None:
        """Return when the thread waits."""
        loop, waits, gate = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
        self._gates.append(gate)

        def wait(database: Database) -> None:
            loop.call_soon_threadsafe(waits.set)
            gate.wait()

        self.committer.submit(Ask(wait)).cancel()
        await waits.wait()

    def go_on(self) -> None:
        while self._gates:
            self._gates.pop().set()

    async def save_all(self, *keys: str) -> list[Any]:
        """Save all keys in one batch and return what became of each."""
        await self.hold()
        saves = [asyncio.ensure_future(self.store.save(key, b"new", MISSING)) for key in keys]
        await asyncio.sleep(0)
        self.go_on()
        return await asyncio.gather(*saves, return_exceptions=True)


@pytest.fixture
async def laboratory(tmp_path: Path) -> AsyncIterator[Laboratory]:
    built = Laboratory(tmp_path)
    yield built
    built.go_on()
    await built.store.close()


async def test_all_that_waits_is_saved_in_one_transaction(laboratory: Laboratory) -> None:
    outcomes = await laboratory.save_all(*(f"room/{number}" for number in range(100)))
    assert laboratory.database.transactions == [(100, True)]
    assert outcomes == sorted(set(outcomes))


async def test_a_batch_has_a_limit(laboratory: Laboratory) -> None:
    await laboratory.save_all(*(f"room/{number}" for number in range(2 * MAX_BATCH)))
    assert max(changes for changes, _ in laboratory.database.transactions) <= MAX_BATCH
    assert len(await laboratory.store.keys("room/")) == 2 * MAX_BATCH


async def test_a_conflict_in_a_batch_fails_that_save_alone(laboratory: Laboratory) -> None:
    first, second, third = await laboratory.save_all("room/A", "room/A", "room/B")
    assert isinstance(second, Conflict)
    assert await laboratory.store.load("room/A") == (b"new", first)
    assert await laboratory.store.load("room/B") == (b"new", third)
    assert laboratory.database.commits == 1


async def test_a_failed_commit_fails_its_whole_batch_and_the_next_one_works(laboratory: Laboratory) -> None:
    laboratory.database.failures.append(sqlite3.OperationalError("disk I/O error"))
    outcomes = await laboratory.save_all("room/A", "room/B", "room/C")
    assert [type(outcome) for outcome in outcomes] == [StoreUnavailable] * 3
    assert await laboratory.store.keys("") == []
    assert all(isinstance(outcome, int) for outcome in await laboratory.save_all("room/A", "room/B"))


async def test_what_cannot_be_written_at_all_fails_alone(laboratory: Laboratory) -> None:
    first, second, third = await laboratory.save_all("room/A", "room/\ud800", "room/B")
    assert isinstance(second, UnicodeEncodeError)
    assert isinstance(first, int)
    assert isinstance(third, int)


async def test_a_save_whose_game_cannot_be_archived_is_not_kept(laboratory: Laboratory) -> None:
    with pytest.raises(OverflowError):
        await laboratory.store.save("room/A", b"over", MISSING, archived=GameRecord("A", 2**70, 0, ("pAna",), b""))
    assert await laboratory.store.load("room/A") is None
    assert await laboratory.store.games_of("pAna", 10) == []


async def test_a_saver_that_stops_waiting_disturbs_nobody(laboratory: Laboratory) -> None:
    await laboratory.hold()
    saves = [asyncio.ensure_future(laboratory.store.save(key, b"", MISSING)) for key in ("room/A", "room/B")]
    await asyncio.sleep(0)
    saves[0].cancel()
    laboratory.go_on()
    outcomes = await asyncio.gather(*saves, return_exceptions=True)
    assert isinstance(outcomes[0], asyncio.CancelledError)
    assert isinstance(outcomes[1], int)


async def test_a_full_queue_is_busy_and_writes_nothing(tmp_path: Path) -> None:
    laboratory = Laboratory(tmp_path, max_waiting=5)
    await laboratory.hold()
    saves = [asyncio.ensure_future(laboratory.store.save(f"room/{number}", b"", MISSING)) for number in range(9)]
    await asyncio.sleep(0)
    laboratory.store.note("alive", b"1")
    laboratory.go_on()
    outcomes = await asyncio.gather(*saves, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {int, StoreBusy}
    assert len(await laboratory.store.keys("")) == [type(outcome) for outcome in outcomes].count(int)
    assert await laboratory.store.noted("alive") is None
    await laboratory.store.close()


async def test_a_silent_disk_is_told_to_those_who_wait_and_is_forgiven(tmp_path: Path) -> None:
    laboratory = Laboratory(tmp_path, patience_seconds=0.02)
    await laboratory.hold()
    with pytest.raises(StoreUnavailable):
        await laboratory.store.save("room/A", b"", MISSING)
    with pytest.raises(StoreUnavailable):
        await laboratory.store.load("room/A")
    laboratory.go_on()
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            with contextlib.suppress(StoreUnavailable):
                await laboratory.store.save("room/B", b"", MISSING)
                break
            await asyncio.sleep(0)
    assert await laboratory.store.keys("") == ["room/B"]
    await laboratory.store.close()


async def test_closing_on_a_silent_disk_ends_with_an_error_and_does_the_rest_once_it_answers(tmp_path: Path) -> None:
    laboratory = Laboratory(tmp_path, patience_seconds=0.02)
    await laboratory.store.save("room/A", b"", MISSING)
    await laboratory.hold()
    with pytest.raises(StoreUnavailable):
        await laboratory.store.close()
    laboratory.go_on()
    assert await asyncio.to_thread(laboratory.database.closed.wait, PATIENCE_SECONDS)
    assert names_in(tmp_path) == [FILE_NAME]


# -- the database: notes ------------------------------------------------------------------------------------------


async def test_a_note_alone_waits_for_no_flush_and_a_save_after_it_does(laboratory: Laboratory) -> None:
    laboratory.store.note("alive", b"1")
    await laboratory.store.noted("alive")
    await laboratory.store.save("room/A", b"", MISSING)
    assert laboratory.database.transactions == [(1, False), (1, True)]
    mode = await laboratory.committer.submit(Ask(lambda database: database.execute("PRAGMA synchronous").fetchone()))
    assert mode == (2,)


async def test_a_note_goes_with_the_saves_that_wait(laboratory: Laboratory) -> None:
    await laboratory.hold()
    laboratory.store.note("alive", b"1")
    save = asyncio.ensure_future(laboratory.store.save("room/A", b"", MISSING))
    await asyncio.sleep(0)
    laboratory.go_on()
    await save
    assert laboratory.database.transactions == [(2, True)]
    assert await laboratory.store.noted("alive") == b"1"


# -- the database: closing and opening ----------------------------------------------------------------------------


async def test_everything_is_there_after_closing_and_opening(tmp_path: Path) -> None:
    first = SqliteStore.open(tmp_path / "data")
    revision = await first.save("room/A", b"one", MISSING, archived=record())
    first.note("alive", b"17")
    await first.close()
    second = SqliteStore.open(tmp_path / "data")
    assert await second.load("room/A") == (b"one", revision)
    assert [game.record for game in await second.games_of("pAna", 10)] == [record()]
    assert await second.noted("alive") == b"17"
    assert await second.save("room/A", b"two", revision) > revision
    await second.close()


async def test_a_store_without_a_folder_keeps_nothing() -> None:
    first = SqliteStore.open(None)
    await first.save("room/A", b"one", MISSING)
    await first.close()
    second = SqliteStore.open(None)
    assert await second.keys("") == []
    await second.close()


async def test_closing_does_what_waits_and_takes_no_more(laboratory: Laboratory, tmp_path: Path) -> None:
    await laboratory.hold()
    saves = [asyncio.ensure_future(laboratory.store.save(f"room/{n}", b"", MISSING)) for n in range(3 * MAX_BATCH)]
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(laboratory.store.close())
    await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable, match="closed"):
        await laboratory.store.load("room/A")
    laboratory.store.note("alive", b"1")
    laboratory.go_on()
    assert len(await asyncio.gather(*saves)) == 3 * MAX_BATCH
    await closing
    await laboratory.store.close()
    assert names_in(tmp_path) == [FILE_NAME]
    again = Laboratory(tmp_path)
    assert len(await again.store.keys("room/")) == 3 * MAX_BATCH
    await again.store.close()


def test_revisions_go_on_after_a_crash_also_where_the_last_document_is_gone(tmp_path: Path) -> None:
    revisions = []
    for _ in range(3):
        database = Database(tmp_path / FILE_NAME)
        database.begin(1, durable=True)
        revisions.append(database.next_revision())
        database.commit()
        database.connection.close()
    assert revisions == sorted(set(revisions))


def test_data_are_for_their_owner_alone(tmp_path: Path) -> None:
    async def save() -> None:
        store = SqliteStore.open(tmp_path / "some" / "data")
        await store.save("room/A", b"", MISSING)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "some" / "data").iterdir()}
        assert set(modes.values()) == {0o600}, modes
        await store.close()

    asyncio.run(save())
    assert stat.S_IMODE((tmp_path / "some" / "data").stat().st_mode) == 0o700


async def test_a_folder_that_is_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("mine")
    with pytest.raises(CannotOpenStore, match=r"data"):
        SqliteStore.open(tmp_path / "data")
    assert (tmp_path / "data").read_text() == "mine"


# -- the database: whose file it is -------------------------------------------------------------------------------


async def test_a_second_store_on_a_folder_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    first = SqliteStore.open(tmp_path)
    with pytest.raises(FolderInUse) as refused:
        SqliteStore.open(tmp_path)
    assert (refused.value.folder, refused.value.pid) == (tmp_path, os.getpid())
    assert str(tmp_path) in str(refused.value)
    assert str(os.getpid()) in str(refused.value)
    await first.save("room/A", b"", MISSING)
    await first.close()
    await SqliteStore.open(tmp_path).close()


async def test_a_folder_is_free_again_after_its_process_was_killed(tmp_path: Path) -> None:
    with child(tmp_path, "print('open', flush=True); sys.stdin.read()") as process:
        assert process.stdout
        assert process.stdout.readline() == "open\n"
        with pytest.raises(FolderInUse, match=str(process.pid)):
            SqliteStore.open(tmp_path)
        process.kill()
        process.wait()
    await SqliteStore.open(tmp_path).close()


async def test_a_folder_that_could_not_be_opened_is_not_held(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database" * 100)
    for _ in range(2):
        with pytest.raises(CannotOpenStore, match="not a database"):
            SqliteStore.open(tmp_path)


def write_foreign(path: Path, *statements: str) -> bytes:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path.read_bytes()


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(CannotOpenStore, match="not a database"):
        open_database(path)
    assert path.read_bytes() == b"no database" * 1000


def test_the_database_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    before = write_foreign(path, "CREATE TABLE songs (title)")
    with pytest.raises(CannotOpenStore, match="another program"):
        open_database(path)
    assert path.read_bytes() == before


def test_a_newer_schema_is_refused_with_both_numbers_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    open_database(path).close()
    before = write_foreign(path, "PRAGMA user_version = 99")
    with pytest.raises(NewerSchema) as refused:
        open_database(path)
    assert (refused.value.found, refused.value.known) == (99, SCHEMA)
    assert "99" in str(refused.value)
    assert str(SCHEMA) in str(refused.value)
    assert path.read_bytes() == before


async def test_an_older_schema_is_brought_forward_with_its_documents(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path)
    await store.save("room/A", b"one", MISSING)
    await store.close()
    longer = (*MIGRATIONS, ("ALTER TABLE archive ADD COLUMN rating INTEGER", "CREATE TABLE ratings (player TEXT)"))
    with contextlib.closing(open_database(tmp_path / FILE_NAME, longer)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA + 1,)
        assert connection.execute("SELECT key, document FROM documents").fetchall() == [("room/A", b"one")]
        assert connection.execute("SELECT rating FROM archive").fetchall() == []


def test_a_step_forward_that_fails_is_taken_back_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    open_database(path).close()
    with pytest.raises(CannotOpenStore):
        open_database(path, (*MIGRATIONS, ("CREATE TABLE ratings (player TEXT)", "CREATE TABLE ratings (again TEXT)")))
    with contextlib.closing(open_database(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA,)


# -- the database: disks that refuse ------------------------------------------------------------------------------


async def test_a_full_database_refuses_saves_serves_loads_and_goes_on_when_there_is_room(
    laboratory: Laboratory,
) -> None:
    store = laboratory.store
    revision = await store.save("room/A", b"one", MISSING)
    await laboratory.pragma("max_page_count = 1")
    with pytest.raises(StoreUnavailable, match="full"):
        await store.save("room/B", bytes(100_000), MISSING)
    assert await store.load("room/A") == (b"one", revision)
    assert await store.load("room/B") is None
    revision = await store.save("room/A", b"two", revision)
    await laboratory.pragma("max_page_count = 100000")
    await store.save("room/B", bytes(100_000), MISSING)
    assert await store.load("room/A") == (b"two", revision)


async def test_a_disk_that_became_read_only_refuses_saves_and_serves_loads(laboratory: Laboratory) -> None:
    store = laboratory.store
    revision = await store.save("room/A", b"one", MISSING)
    await laboratory.pragma("query_only = ON")
    with pytest.raises(StoreUnavailable, match="readonly"):
        await store.save("room/A", b"two", revision)
    assert await store.load("room/A") == (b"one", revision)
    await laboratory.pragma("query_only = OFF")
    await store.save("room/A", b"two", revision)


async def test_another_program_that_locks_the_file_makes_it_unavailable_for_as_long(
    laboratory: Laboratory, tmp_path: Path
) -> None:
    await laboratory.pragma("busy_timeout = 1")
    with contextlib.closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            await laboratory.store.save("room/A", b"", MISSING)
        assert await laboratory.store.load("room/A") is None
        other.execute("ROLLBACK")
        await laboratory.store.save("room/A", b"", MISSING)


async def test_a_connection_that_broke_is_made_anew(laboratory: Laboratory) -> None:
    revision = await laboratory.store.save("room/A", b"one", MISSING)
    broken = laboratory.database.connection
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    laboratory.database.failures.append(error)
    with pytest.raises(StoreUnavailable, match="I/O"):
        await laboratory.store.save("room/A", b"two", revision)
    later = await laboratory.store.save("room/A", b"three", revision)
    assert later > revision
    assert laboratory.database.connection is not broken


async def test_a_database_that_vanished_is_not_replaced_by_an_empty_one(laboratory: Laboratory, tmp_path: Path) -> None:
    revision = await laboratory.store.save("room/A", b"one", MISSING)
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    laboratory.database.failures.append(error)
    with pytest.raises(StoreUnavailable, match="I/O"):
        await laboratory.store.save("room/A", b"two", revision)
    laboratory.database.connection.close()
    os.rename(tmp_path / FILE_NAME, tmp_path / "elsewhere")
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="gone"):
            await laboratory.store.save("room/B", b"", MISSING)
        with pytest.raises(StoreUnavailable, match="gone"):
            await laboratory.store.load("room/A")
    assert names_in(tmp_path) == ["elsewhere"]
    os.rename(tmp_path / "elsewhere", tmp_path / FILE_NAME)
    assert await laboratory.store.load("room/A") == (b"one", revision)
    assert await laboratory.store.save("room/A", b"three", revision) > revision


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of file sizes")
async def test_a_limit_of_the_file_size_loses_nothing_that_was_saved(tmp_path: Path) -> None:
    script = """
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
        saved = 0
        try:
            while saved < 1000:
                await store.save(f"room/{saved}", bytes(5_000), MISSING)
                saved += 1
        except StoreUnavailable:
            pass
        assert 0 < saved < 1000
        assert len([key for key in await store.keys("room/") if await store.load(key)]) == saved
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await store.save("after/room", b"", MISSING)
        print("saved", saved, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    with child(tmp_path, script) as process:
        (saved,) = [int(line.split()[1]) for line in process.stdout if line.startswith("saved")]
    store = SqliteStore.open(tmp_path)
    assert len(await store.keys("room/")) == saved
    assert await store.load("after/room")
    await store.close()


async def fill_pages(folder: Path) -> list[str]:
    """Save documents that each fill a page of the file, and return their keys."""
    store = SqliteStore.open(folder)
    keys = [f"room/{number:02}" for number in range(20)]
    for key in keys:
        await store.save(key, key.encode() * 400, MISSING)
    await store.close()
    return keys


def damage_page_of(path: Path, key: str) -> None:
    content = bytearray(path.read_bytes())
    page = content.index(key.encode() * 400) // 4096 * 4096
    content[page : page + 64] = b"\xff" * 64
    path.write_bytes(content)


async def test_a_damaged_page_is_unreadable_and_harms_no_other_key(tmp_path: Path) -> None:
    keys = await fill_pages(tmp_path)
    damage_page_of(tmp_path / FILE_NAME, keys[7])
    store = SqliteStore.open(tmp_path)
    with pytest.raises(Unreadable):
        await store.load(keys[7])
    for key in keys[:7] + keys[8:]:
        assert (await store.load(key) or (b"",))[0] == key.encode() * 400
    await store.close()


async def test_a_save_on_a_damaged_page_fails_alone_in_its_batch(tmp_path: Path) -> None:
    keys = await fill_pages(tmp_path)
    store = SqliteStore.open(tmp_path)
    revisions = {key: loaded[1] for key in keys if (loaded := await store.load(key))}
    await store.close()
    damage_page_of(tmp_path / FILE_NAME, keys[7])
    laboratory = Laboratory(tmp_path)
    await laboratory.hold()
    saves = [asyncio.ensure_future(laboratory.store.save(key, b"new", revisions[key])) for key in keys]
    await asyncio.sleep(0)
    laboratory.go_on()
    outcomes = dict(zip(keys, await asyncio.gather(*saves, return_exceptions=True), strict=True))
    assert isinstance(outcomes.pop(keys[7]), Unreadable)
    for key, revision in outcomes.items():
        assert await laboratory.store.load(key) == (b"new", revision)
    await laboratory.store.close()


# -- the database: kills and backups ------------------------------------------------------------------------------


@contextlib.contextmanager
def child(folder: Path, script: str) -> Any:
    """Run a script, in an event loop and with an open `store`, in a process of its own."""
    program = f"import asyncio, os, signal, sys\nfrom {SqliteStore.__module__.rpartition('.')[0]} import *\n"
    program += f"async def main():\n    store = SqliteStore.open(Path({str(folder)!r}))\n"
    program = "from pathlib import Path\n" + program + textwrap.indent(textwrap.dedent(script), "    ")
    process = subprocess.Popen(
        [sys.executable, "-c", program + "\nasyncio.run(main())\n"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()


def test_a_kill_in_mid_run_loses_no_acknowledged_save(tmp_path: Path) -> None:
    findings = soak.run(tmp_path, kills=3, saves=400)
    assert (findings.lost, findings.torn) == ([], [])
    assert findings.acknowledged >= 3 * 400


SAVE_AND_STAY = """
    game = GameRecord("R", 1, 0, ("pAna",), b"")
    for number in range(50):
        await store.save(f"room/{number}", b"%d" % number * 500, MISSING, archived=game)
    print("saved", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    await store.save("later", b"", MISSING)
    print("later", flush=True)
    sys.stdin.read()
"""


def contents(folder: Path) -> dict[str, bytes]:
    """Return what the database and its log hold; the file of shared memory is no part of them."""
    return {path.name: path.read_bytes() for path in folder.glob(f"{FILE_NAME}*") if not path.name.endswith("-shm")}


def restore(backup: Path, folder: Path) -> SqliteStore:
    """Put a copy into a new folder, as an operator would, and open it."""
    folder.mkdir(mode=0o700)
    (folder / FILE_NAME).write_bytes(backup.read_bytes())
    return SqliteStore.open(folder)


async def check_restored(store: SqliteStore) -> None:
    assert len(await store.keys("")) == 50
    for number in range(50):
        assert (await store.load(f"room/{number}") or (b"",))[0] == b"%d" % number * 500
    assert len(await store.games_of("pAna", 100)) == 50
    await store.save("room/new", b"", MISSING)
    await store.close()


async def test_a_backup_of_a_running_server_restores_and_changes_nothing_of_it(tmp_path: Path) -> None:
    data, backup = tmp_path / "data", tmp_path / "backup"
    with child(data, SAVE_AND_STAY) as process:
        assert process.stdout.readline() == "saved\n"
        before = contents(data)
        assert set(before) == {FILE_NAME, f"{FILE_NAME}-wal"}
        back_up(data, backup)
        assert contents(data) == before
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "later\n"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    await check_restored(restore(backup, tmp_path / "restored"))
    assert names_in(tmp_path) == ["backup", "data", "restored"]


async def test_a_backup_after_a_kill_has_what_is_only_in_the_log(tmp_path: Path) -> None:
    data, backup = tmp_path / "data", tmp_path / "backup"
    with child(data, SAVE_AND_STAY) as process:
        assert process.stdout.readline() == "saved\n"
    before = contents(data)
    back_up(data, backup)
    assert contents(data) == before
    await check_restored(restore(backup, tmp_path / "restored"))


async def test_a_backup_never_overwrites(tmp_path: Path) -> None:
    await SqliteStore.open(tmp_path / "data").close()
    (tmp_path / "backup").write_text("mine")
    with pytest.raises(CannotBackUp, match="exists"):
        back_up(tmp_path / "data", tmp_path / "backup")
    assert (tmp_path / "backup").read_text() == "mine"


def test_a_backup_of_nothing_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(CannotBackUp, match="no database"):
        back_up(tmp_path / "data", tmp_path / "backup")
    assert names_in(tmp_path) == []


async def test_a_backup_into_a_folder_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    await SqliteStore.open(tmp_path / "data").close()
    with pytest.raises(CannotBackUp, match="No such"):
        back_up(tmp_path / "data", tmp_path / "nowhere" / "backup")


async def test_a_damaged_database_is_not_passed_off_as_a_backup(tmp_path: Path) -> None:
    data = tmp_path / "data"
    keys = await fill_pages(data)
    damage_page_of(data / FILE_NAME, keys[7])
    with pytest.raises(CannotBackUp, match="damaged"):
        back_up(data, tmp_path / "backup")
    assert names_in(tmp_path) == ["data"]
