"""The database beyond the contract of all stores: batches, flushes, failing and silent disks, kills."""

import asyncio
import contextlib
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.peer import until
from tests.server.laboratory import Laboratory, open_laboratory
from tests.server.stored import ANA_KEY, finish, forget, has_noted, keep, room_of, rooms_in
from tests.server.tables import ANA, BO
from tictactoe_server import clock
from tictactoe_server.records.tables import KEPT, PLAYERS, ROOMS, KnownPlayer, today
from tictactoe_server.rooms.finished import FinishedGame
from tictactoe_server.storage.folder import FILE_NAME
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, Conflict, StoreBusy, StoreUnavailable, save
from tictactoe_server.storage.writer import MAX_BATCH

PATIENCE_SECONDS = 120
CODE, OTHER, THIRD = "K7M4PQ", "K7M4PR", "K7M4PS"
CODES = [f"K7M{number + 10_000}" for number in range(3 * MAX_BATCH)]
BROKEN = sqlite3.OperationalError("disk I/O error")
BROKEN.sqlite_errorcode = sqlite3.SQLITE_IOERR


@pytest.fixture
async def laboratory(tmp_path: Path) -> AsyncIterator[Laboratory]:
    async with open_laboratory(tmp_path) as opened:
        yield opened


async def until_it_saves(store: SqliteStore, code: str) -> None:
    """Save a room as soon as the store accepts it; a failed attempt may have been stored."""
    while True:
        with contextlib.suppress(StoreUnavailable):
            with contextlib.suppress(Conflict):
                await keep(store, room_of(code), MISSING)
            return
        await asyncio.sleep(0.01)


async def test_a_conflict_in_a_batch_fails_that_save_alone(laboratory: Laboratory) -> None:
    first, second, third = await laboratory.save_all([CODE, CODE, OTHER])
    assert isinstance(second, Conflict)
    assert await laboratory.store.table(ROOMS).load(CODE) == (room_of(CODE), first)
    assert await laboratory.store.table(ROOMS).load(OTHER) == (room_of(OTHER), third)
    assert laboratory.database.commits == 1


async def test_an_unwritable_value_fails_alone(laboratory: Laboratory) -> None:
    first, second, third = await laboratory.save_all([CODE, "\ud800", OTHER])
    assert isinstance(second, UnicodeEncodeError)
    assert isinstance(first, int)
    assert isinstance(third, int)
    assert set(await rooms_in(laboratory.store)) == {CODE, OTHER}


async def test_a_failing_callback_does_not_affect_others(laboratory: Laboratory) -> None:
    class Careless:
        def stored(self, revision: int) -> None:
            raise RuntimeError("a bug")

        def failed(self, error: Exception) -> None:
            raise RuntimeError("a bug") from error

    await laboratory.hold()
    laboratory.store.table(ROOMS).save(CODE, room_of(CODE), MISSING, Careless())
    other = asyncio.ensure_future(keep(laboratory.store, room_of(OTHER), MISSING))
    await asyncio.sleep(0)
    laboratory.go_on()
    assert await other > MISSING


async def test_a_full_queue_is_busy_and_writes_nothing(tmp_path: Path) -> None:
    async with open_laboratory(tmp_path, max_waiting=5) as laboratory:
        outcomes = await laboratory.save_all(CODES[:9])
        assert {type(outcome) for outcome in outcomes} == {int, StoreBusy}
        assert len(await rooms_in(laboratory.store)) == [type(outcome) for outcome in outcomes].count(int)


async def test_a_fresh_connection_and_a_mended_one_flush_every_save(laboratory: Laboratory) -> None:
    for is_mended in (False, True):
        if is_mended:
            laboratory.database.failures.append(BROKEN)
            with pytest.raises(StoreUnavailable):
                await keep(laboratory.store, room_of(CODE), MISSING)
        await keep(laboratory.store, room_of(OTHER if is_mended else THIRD), MISSING)
        assert await laboratory.pragma("journal_mode") == [("wal",)]
        assert await laboratory.pragma("synchronous") == [(2,)]
        assert await laboratory.pragma("fullfsync") == [(1,)]
    assert laboratory.database.connections == 2


async def test_a_note_alone_waits_for_no_flush_and_a_save_after_it_does(laboratory: Laboratory) -> None:
    laboratory.store.note_time(1)
    await until(lambda: has_noted(laboratory.store, 1))
    assert laboratory.database.transactions == [False]
    assert await laboratory.pragma("synchronous") == [(1,)]
    await keep(laboratory.store, room_of(CODE), MISSING)
    assert laboratory.database.transactions == [False, True]
    assert await laboratory.pragma("synchronous") == [(2,)]


async def rows_in(laboratory: Laboratory, table: str) -> int:
    ((count,),) = await laboratory.writer.ask(
        lambda database, _: database.execute(f"SELECT count(*) FROM {table}").fetchall()
    )
    return int(count)


async def fold(laboratory: Laboratory) -> None:
    """Note the time and fold pending games."""
    before = len(laboratory.database.transactions)
    laboratory.store.note_time(1)
    while True:
        await laboratory.store.noted_time()
        if len(laboratory.database.transactions) > before:
            return


async def test_a_room_that_rests_is_folded_into_its_table_and_the_journal_stays_short(laboratory: Laboratory) -> None:
    store = laboratory.store
    resting = await keep(store, room_of(CODE), MISSING)
    revision = await keep(store, room_of(OTHER), MISSING)
    for number in range(2, 20):
        await fold(laboratory)
        revision = await keep(store, room_of(OTHER, number), revision)
    assert (await rows_in(laboratory, "rooms"), await rows_in(laboratory, "journal")) == (1, 2)
    assert await store.table(ROOMS).load(CODE) == (room_of(CODE), resting)
    assert await store.table(ROOMS).load(OTHER) == (room_of(OTHER, 19), revision)
    await keep(store, room_of(CODE, 2), resting)
    await forget(store, OTHER, revision)
    for _ in range(3):
        await fold(laboratory)
    assert await rooms_in(store) == {CODE: room_of(CODE, 2)}
    assert await rows_in(laboratory, "rooms") == 1


async def test_finished_games_are_read_alike_from_the_journal_and_from_the_tables(tmp_path: Path) -> None:
    games: list[FinishedGame] = []
    for turn in range(3):
        async with open_laboratory(tmp_path) as laboratory:
            archive = laboratory.store.games
            for code in CODES[3 * turn : 3 * turn + 3]:
                games.insert(0, await finish(laboratory.store, code, ANA, BO))
                if code == CODES[3 * turn]:
                    assert await rows_in(laboratory, "archive") < len(games)
                    await fold(laboratory)
                    assert await rows_in(laboratory, "archive") == len(games)
            newest_first = [(len(games) - index, game) for index, game in enumerate(games)]
            assert await archive.games_of(ANA.id, 50) == newest_first
            assert await archive.games_of(BO.id, 2, before=len(games)) == newest_first[1:3]
            for id, game in enumerate(reversed(games), 1):
                assert await archive.game(id) == game
            assert await archive.game(len(games) + 1) is None
            if turn == 1:  # as after a kill: nothing is folded at the end
                laboratory.database.failures += [sqlite3.OperationalError("disk I/O error")] * 10


async def test_an_unresponsive_disk_fails_waiting_saves_and_can_recover(tmp_path: Path) -> None:
    async with open_laboratory(tmp_path, patience_seconds=0.02) as laboratory:
        await laboratory.hold()
        with pytest.raises(StoreUnavailable):
            await keep(laboratory.store, room_of(CODE), MISSING)
        with pytest.raises(StoreUnavailable):
            await laboratory.store.table(ROOMS).load(CODE)
        laboratory.go_on()
        await until_it_saves(laboratory.store, OTHER)
        assert set(await rooms_in(laboratory.store)) == {OTHER}


async def test_the_store_owes_an_answer_for_as_long_as_the_disk_refuses(laboratory: Laboratory) -> None:
    store = laboratory.store
    await laboratory.pragma("query_only = ON")
    for code in (CODE, OTHER):
        with pytest.raises(StoreUnavailable):
            await keep(store, room_of(code), MISSING)
        assert store.owed_since() is not None
    await laboratory.pragma("query_only = OFF")
    await keep(store, room_of(CODE), MISSING)
    assert store.owed_since() is None


async def test_the_thread_survives_a_failed_rollback(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with open_laboratory(tmp_path, patience_seconds=0.1) as laboratory:
        revision = await keep(laboratory.store, room_of(CODE), MISSING)
        laboratory.database.failures.append(MemoryError())
        laboratory.database.recover = _die  # type: ignore[method-assign]
        with pytest.raises(StoreUnavailable):
            await keep(laboratory.store, room_of(OTHER), MISSING)
        assert "store thread failed" in caplog.text
        del laboratory.database.recover
        await until_it_saves(laboratory.store, THIRD)
        assert await laboratory.store.table(ROOMS).load(CODE) == (room_of(CODE), revision)
        assert set(await rooms_in(laboratory.store)) == {CODE, THIRD}
        assert laboratory.store.owed_since() is None


def _die(error: Exception) -> None:
    raise SystemError("no way on")


async def test_closing_with_an_unresponsive_disk_raises_and_unlocks_later(tmp_path: Path) -> None:
    laboratory = Laboratory(tmp_path, patience_seconds=0.02)
    await until_it_saves(laboratory.store, CODE)
    await laboratory.hold()
    with pytest.raises(StoreUnavailable):
        await laboratory.store.close()
    laboratory.go_on()
    assert await asyncio.to_thread(laboratory.database.closed.wait, PATIENCE_SECONDS)
    while True:
        with contextlib.suppress(Exception):
            again = SqliteStore.open(tmp_path, KEPT)
            break
        await asyncio.sleep(0.01)
    assert set(await rooms_in(again)) == {CODE}
    await again.close()


async def test_closing_completes_pending_saves_and_refuses_new_ones(laboratory: Laboratory, tmp_path: Path) -> None:
    await laboratory.hold()
    saves = [asyncio.ensure_future(keep(laboratory.store, room_of(code), MISSING)) for code in CODES]
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(laboratory.store.close())
    await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable, match="closed"):
        await laboratory.store.table(ROOMS).load(CODE)
    with pytest.raises(StoreUnavailable, match="closed"):
        await keep(laboratory.store, room_of(CODE), MISSING)
    laboratory.store.note_time(1)
    laboratory.go_on()
    assert len(await asyncio.gather(*saves)) == len(CODES)
    await closing
    await laboratory.store.close()
    async with open_laboratory(tmp_path) as again:
        assert len(await rooms_in(again.store)) == len(CODES)
        assert await rows_in(again, "rooms") == len(CODES)


async def test_a_full_database_still_serves_loads(laboratory: Laboratory, caplog: pytest.LogCaptureFixture) -> None:
    store = laboratory.store
    revision = await keep(store, room_of(CODE), MISSING)
    await laboratory.pragma("max_page_count = 1")
    outcomes = await laboratory.save_all(CODES[:200])
    assert {type(outcome) for outcome in outcomes} == {StoreUnavailable}
    assert await store.table(ROOMS).load(CODE) == (room_of(CODE), revision)
    assert set(await rooms_in(store)) == {CODE}
    await laboratory.pragma("max_page_count = 100000")
    revision = await keep(store, room_of(CODE, 2), revision)
    await laboratory.save_all(CODES[:200])
    assert await store.table(ROOMS).load(CODE) == (room_of(CODE, 2), revision)
    assert len(await rooms_in(store)) == 201
    assert caplog.text.count("database failed") == caplog.text.count("database recovered") == 1


async def test_a_refused_write_changes_no_revision_and_reloads_nothing(laboratory: Laboratory) -> None:
    store = laboratory.store
    journal = await laboratory.writer.ask(lambda _, journal: journal)
    revision = await keep(store, room_of(CODE), MISSING)
    for refused in (
        keep(store, room_of(CODE, 2), revision),
        finish(store, THIRD, ANA, BO),
        forget(store, CODE, revision),
    ):
        laboratory.database.failures = [sqlite3.OperationalError("database or disk is full")]
        with pytest.raises(StoreUnavailable):
            await refused
    laboratory.database.failures = [sqlite3.OperationalError("database or disk is full")]
    await fold(laboratory)
    assert await laboratory.writer.ask(lambda _, journal: journal) is journal
    assert await store.table(ROOMS).load(CODE) == (room_of(CODE), revision)
    assert await keep(store, room_of(CODE, 3), revision) > revision
    game = await finish(store, THIRD, ANA, BO)
    for _ in range(2):
        await fold(laboratory)
        assert await store.games.games_of(ANA.id, 10) == [(1, game)]
    assert await rows_in(laboratory, "journal") == 1


async def test_a_database_that_vanished_is_not_replaced_by_an_empty_one(laboratory: Laboratory, tmp_path: Path) -> None:
    revision = await keep(laboratory.store, room_of(CODE), MISSING)
    laboratory.database.failures.append(BROKEN)
    with pytest.raises(StoreUnavailable, match="I/O"):
        await keep(laboratory.store, room_of(CODE, 2), revision)
    laboratory.database.connection.close()
    os.rename(tmp_path / FILE_NAME, tmp_path / "elsewhere")
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="has been removed"):
            await keep(laboratory.store, room_of(OTHER), MISSING)
        with pytest.raises(StoreUnavailable, match="has been removed"):
            await laboratory.store.table(ROOMS).load(CODE)
    assert not (tmp_path / FILE_NAME).exists()
    os.rename(tmp_path / "elsewhere", tmp_path / FILE_NAME)
    assert await laboratory.store.table(ROOMS).load(CODE) == (room_of(CODE), revision)
    assert await keep(laboratory.store, room_of(CODE, 3), revision) > revision


@pytest.mark.parametrize("is_folded", [False, True])
async def test_revisions_ignore_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_folded: bool) -> None:
    store = SqliteStore.open(tmp_path, KEPT)
    room = await keep(store, room_of("K7M4PQ"), MISSING)
    player = await save(store.table(PLAYERS), ANA_KEY, KnownPlayer(ANA, today()), MISSING)
    if is_folded:
        await store.close()
    else:
        shutil.copytree(tmp_path, tmp_path / "killed", ignore=shutil.ignore_patterns("killed"))
        await store.close()
    monkeypatch.setattr(clock, "wall", lambda: 1.0)
    again = SqliteStore.open(tmp_path if is_folded else tmp_path / "killed", KEPT)
    assert await keep(again, room_of("K7M4PQ", 2), room) > room
    assert await save(again.table(PLAYERS), ANA_KEY, KnownPlayer(ANA, today() + 1), player) > player
    await again.close()
