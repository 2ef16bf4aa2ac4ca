"""Copies of a database: of a running server, and after a kill."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.server.stored import child, keep, room_of, rooms_in
from tests.server.test_lost_data import damage, fill
from tictactoe_server.records.tables import open_folder
from tictactoe_server.storage.backup import CannotBackUp, back_up
from tictactoe_server.storage.folder import FILE_NAME
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


SAVE_AND_STAY = """
    from tests.server.tables import ANA, BO
    for number in range(50):
        await finish(store, f"K7M4{number + 20}", ANA, BO)
    print("saved", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    await keep(store, room_of("LATERS"), MISSING)
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
    return open_folder(folder)


async def check_restored(store: SqliteStore, *more: str) -> None:
    rooms = await rooms_in(store)
    assert set(rooms) == {f"K7M4{number + 20}" for number in range(50)} | set(more)
    assert len(await store.games.games_of("pana", 100)) == 50
    await keep(store, room_of("NEWONE"), MISSING)
    await store.close()


async def test_backups_of_a_running_and_of_a_killed_server_restore_and_change_nothing_of_it(tmp_path: Path) -> None:
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
    before = contents(data)  # of the killed process
    back_up(data, tmp_path / "later")
    assert contents(data) == before
    await check_restored(restore(tmp_path / "later", tmp_path / "again"), "LATERS")
    assert names_in(tmp_path) == ["again", "backup", "data", "later", "restored"]


async def test_a_backup_and_its_name_are_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await open_folder(tmp_path / "data").close()
    flushed: list[tuple[int, int]] = []

    def fsync(descriptor: int) -> None:
        found = os.fstat(descriptor)
        flushed.append((found.st_dev, found.st_ino))

    monkeypatch.setattr(os, "fsync", fsync)
    back_up(tmp_path / "data", tmp_path / "backup")
    for path in (tmp_path / "backup", tmp_path):
        assert (path.stat().st_dev, path.stat().st_ino) in flushed


async def test_a_backup_never_overwrites(tmp_path: Path) -> None:
    await open_folder(tmp_path / "data").close()
    (tmp_path / "backup").write_text("mine")
    with pytest.raises(CannotBackUp, match="exists"):
        back_up(tmp_path / "data", tmp_path / "backup")
    assert (tmp_path / "backup").read_text() == "mine"


def test_a_backup_of_nothing_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(CannotBackUp, match="no database"):
        back_up(tmp_path / "data", tmp_path / "backup")
    assert names_in(tmp_path) == []


async def test_a_backup_into_a_folder_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    await open_folder(tmp_path / "data").close()
    with pytest.raises(CannotBackUp, match="No such"):
        back_up(tmp_path / "data", tmp_path / "nowhere" / "backup")


async def test_a_damaged_database_is_not_passed_off_as_a_backup(tmp_path: Path) -> None:
    data = tmp_path / "data"
    await fill(data)
    damage(data, b'["C22230"')
    with pytest.raises(CannotBackUp, match="damaged"):
        back_up(data, tmp_path / "backup")
    assert names_in(tmp_path) == ["data"]
