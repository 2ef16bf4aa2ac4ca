"""The data folder: one server at a time, for its owner only, no links, and no other version's data."""

import asyncio
import contextlib
import os
import shutil
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from tests.server.stored import change, child, keep, room_of
from tictactoe_server.features.backups.copying import check_database, folder_source
from tictactoe_server.features.backups.files import back_up, database_in, restore_backup
from tictactoe_server.records.tables import KEPT
from tictactoe_server.storage.folder import FILE_NAME, LOCK_NAME, DataFolder
from tictactoe_server.storage.schema import APPLICATION_ID, SCHEMA
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, CannotOpenStore

CODE = "K7M4PQ"
VERSION_1_ID = 0x74746F65


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_everything_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "data"
    store = SqliteStore.open(folder, KEPT)
    await keep(store, room_of(CODE), MISSING)
    assert {path.name: mode_of(path) for path in folder.iterdir()} == {
        LOCK_NAME: 0o600,
        FILE_NAME: 0o600,
        f"{FILE_NAME}-wal": 0o600,
        f"{FILE_NAME}-shm": 0o600,
    }
    assert mode_of(folder) == 0o700
    await store.close()


def test_loose_permissions_of_the_folder_are_tightened(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    asyncio.run(SqliteStore.open(tmp_path, KEPT).close())
    tmp_path.chmod(0o777)
    for name in (FILE_NAME, LOCK_NAME):
        (tmp_path / name).chmod(0o666)
    asyncio.run(SqliteStore.open(tmp_path, KEPT).close())
    assert mode_of(tmp_path) == 0o700
    assert mode_of(tmp_path / FILE_NAME) == mode_of(tmp_path / LOCK_NAME) == 0o600
    assert caplog.text.count("file permissions restricted") == 3


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_of_another_user_is_used_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    asyncio.run(SqliteStore.open(tmp_path, KEPT).close())
    os.chown(tmp_path, 12345, -1)
    tmp_path.chmod(0o777)
    asyncio.run(SqliteStore.open(tmp_path, KEPT).close())
    assert mode_of(tmp_path) == 0o777
    assert "belongs to another user" in caplog.text


@pytest.mark.parametrize("name", [LOCK_NAME, FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", f"{FILE_NAME}-journal"])
async def test_a_file_that_is_a_link_is_not_opened(tmp_path: Path, name: str) -> None:
    mine = tmp_path / "mine"
    mine.write_text("precious")
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "data" / name).symlink_to(mine)
    with pytest.raises(CannotOpenStore, match="link"):
        SqliteStore.open(tmp_path / "data", KEPT)
    assert mine.read_text() == "precious"
    (tmp_path / "data" / name).unlink()
    await SqliteStore.open(tmp_path / "data", KEPT).close()


async def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "data").symlink_to(tmp_path / "private")
    store = SqliteStore.open(tmp_path / "data", KEPT)
    await keep(store, room_of(CODE), MISSING)
    with pytest.raises(CannotOpenStore, match="is in use by another server"):
        SqliteStore.open(tmp_path / "private", KEPT)
    await store.close()
    assert mode_of(tmp_path / "private") == 0o700


async def test_a_second_store_on_a_folder_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    first = SqliteStore.open(tmp_path, KEPT)
    with pytest.raises(CannotOpenStore, match="is in use by another server") as refused:
        SqliteStore.open(tmp_path, KEPT)
    assert str(tmp_path) in str(refused.value)
    assert str(os.getpid()) in str(refused.value)
    await keep(first, room_of(CODE), MISSING)
    await first.close()
    await SqliteStore.open(tmp_path, KEPT).close()


async def test_a_folder_is_free_again_after_its_process_was_killed(tmp_path: Path) -> None:
    with child(tmp_path, "print('open', flush=True); sys.stdin.read()") as process:
        assert process.stdout
        assert process.stdout.readline() == "open\n"
        with pytest.raises(CannotOpenStore, match=f"is in use by another server, process {process.pid}"):
            SqliteStore.open(tmp_path, KEPT)
        process.kill()
        process.wait()
    await SqliteStore.open(tmp_path, KEPT).close()


async def test_the_database_stays_locked_when_the_process_opens_and_closes_it_once_more(tmp_path: Path) -> None:
    first = SqliteStore.open(tmp_path / "one", KEPT)
    (tmp_path / "one" / FILE_NAME).read_bytes()
    with contextlib.closing(sqlite3.connect(tmp_path / "one" / FILE_NAME)) as other:
        other.execute("SELECT * FROM rooms").fetchall()
    (tmp_path / "two").mkdir()
    os.link(tmp_path / "one" / FILE_NAME, tmp_path / "two" / FILE_NAME)
    with child(tmp_path / "two", "print('open', flush=True)") as process:
        assert process.stdout
        assert "open" not in process.stdout.read().splitlines()
        assert process.wait() != 0
    await first.close()


async def test_a_file_other_than_a_database_is_not_changed_or_locked(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(b"no database" * 1000)
    for _ in range(2):
        with pytest.raises(CannotOpenStore, match="not a database"):
            SqliteStore.open(tmp_path, KEPT)
    assert path.read_bytes() == b"no database" * 1000


def test_the_names_of_new_files_are_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        flushed.append(os.path.realpath(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    folder = DataFolder(tmp_path)
    folder.hold(FILE_NAME)
    if sys.platform == "linux":
        assert flushed == [str(tmp_path)] * 2
        folder.hold(FILE_NAME)
        assert len(flushed) == 2
    folder.release()


def test_another_programs_database_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    change(path, "CREATE TABLE songs (title)")
    before = path.read_bytes()
    with pytest.raises(CannotOpenStore, match="another program"):
        SqliteStore.open(tmp_path, KEPT)
    assert path.read_bytes() == before


@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize(
    ("id", "schema", "reason"),
    [
        (VERSION_1_ID, 4, "version 1 of tictactoe-server"),
        (APPLICATION_ID, 99, f"schema 99, but this version supports schemas up to {SCHEMA}"),
        (5, 0, "another program"),
    ],
)
def test_what_another_version_or_program_wrote_is_refused_and_not_changed(
    tmp_path: Path, id: int, schema: int, reason: str, *, is_killed: bool
) -> None:
    original, folder = tmp_path / "original", tmp_path / "data"
    original.mkdir()
    path = folder / FILE_NAME
    change(original / FILE_NAME, f"PRAGMA application_id = {id}", f"PRAGMA user_version = {schema}")
    with contextlib.closing(sqlite3.connect(original / FILE_NAME)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE rooms (key TEXT)")
        if is_killed:
            shutil.copytree(original, folder)
    if not is_killed:
        shutil.copytree(original, folder)
    assert (folder / f"{FILE_NAME}-wal").exists() == is_killed
    folder.chmod(0o755)
    before = snapshot(folder)
    for use in (
        lambda: SqliteStore.open(folder, KEPT),
        lambda: back_up(database_in(folder), tmp_path / "backup"),
        lambda: restore_backup(folder, path),
        lambda: asyncio.run(check_database(path, KEPT)),
        lambda: asyncio.run(read_folder(folder)),
    ):
        with pytest.raises(CannotOpenStore, match=reason):
            use()
    assert snapshot(folder) == before


async def read_folder(folder: Path) -> None:
    async with folder_source(folder, KEPT):
        pass


def snapshot(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Return the content, mode and modification time of each file and of the folder itself."""
    return {
        path.name: (path.read_bytes() if path.is_file() else b"", path.stat().st_mode, path.stat().st_mtime_ns)
        for path in (folder, *folder.iterdir())
    }
