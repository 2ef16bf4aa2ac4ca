"""Copies that a running server makes by itself: made in time, read back, told, and the oldest gone."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.peer import until
from tests.server.stored import keep, room_of, rooms_in
from tests.server.test_backup import restore
from tests.server.test_lost_data import damage
from tictactoe_server.admin import backups
from tictactoe_server.admin.backups import BackupFailed, Backups, list_backups
from tictactoe_server.admin.orders.status import Status
from tictactoe_server.records.tables import open_folder
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.folder import FILE_NAME
from tictactoe_server.storage.store import MISSING


async def kept(folder: Path) -> Path:
    store = open_folder(folder)
    await keep(store, room_of("K7M4PQ"), MISSING)
    await store.close()
    return folder


async def test_a_server_makes_copies_that_restore_and_says_how_old_the_newest_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups, "FIRST_SECONDS", 0)
    data, target = await kept(tmp_path / "data"), tmp_path / "copies"
    settings = Settings(host="127.0.0.1", port=0, data=data, backup_to=target, backup_every_seconds=1)
    async with Server(settings) as server:
        assert server.parts.backups is not None
        await until(lambda: list_backups(target))
        told = Status().describe(await server.carry_out(Status()))
        assert f" in {target}" in told
        assert server.parts.backups.age_seconds < 50
    store = restore(sorted(target.iterdir())[0], tmp_path / "restored")
    assert [*await rooms_in(store)] == ["K7M4PQ"]
    await store.close()


async def test_the_newest_copies_stay_and_what_was_cut_off_goes(tmp_path: Path) -> None:
    data, target = await kept(tmp_path / "data"), tmp_path / "copies"
    target.mkdir()
    for name in ("tictactoe-2026-01-02T000000Z.sqlite3", "tictactoe-2026-01-01T000000Z.sqlite3", "of-somebody-else"):
        (target / name).touch()
    (target / "tictactoe-2026-01-03T000000Z.sqlite3.x.partial").touch()
    copy = await Backups(data, target, 60, keep=2).make()
    assert {path.name for path in target.iterdir()} == {
        copy.name,
        "tictactoe-2026-01-02T000000Z.sqlite3",
        "of-somebody-else",
    }


async def test_a_full_disk_and_damaged_data_are_told_and_the_old_copies_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, target = await kept(tmp_path / "data"), tmp_path / "copies"
    target.mkdir()
    old = target / "tictactoe-2026-01-01T000000Z.sqlite3"
    old.touch()
    making = Backups(data, target, 60, keep=1)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1 << 20))
    with pytest.raises(BackupFailed, match=r"has 1 MB left; a backup needs 256 MB\."):
        await making.make()
    monkeypatch.undo()
    damage(data, b"K7M4PQ")
    with pytest.raises(BackupFailed, match=r"damaged"):
        await making.make()
    assert old.exists()


async def test_a_copy_that_cannot_be_read_back_is_none(tmp_path: Path) -> None:
    data, target = await kept(tmp_path / "data"), tmp_path / "copies"
    with closing(sqlite3.connect(data / FILE_NAME)) as database, database:
        database.execute("INSERT INTO journal (batch) VALUES ('nonsense')")
    making = Backups(data, target, 60, keep=1)
    with pytest.raises(BackupFailed, match=r"A line of the journal"):
        await making.make()
    assert (list_backups(target), making.made_at) == ([], None)


async def test_files_of_others_and_backups_dated_in_the_future_never_stop_the_backups(tmp_path: Path) -> None:
    data, target = await kept(tmp_path / "data"), tmp_path / "copies"
    target.mkdir()
    strays = [
        "tictactoe-before-moving-2026-11-28T152730Z.sqlite3",
        "tictactoe-2999-01-01T000000Z.sqlite3",
        "tictactoe-2026-13-01T000000Z.sqlite3",
        "tictactoe-Z.sqlite3",
    ]
    for name in strays:
        (target / name).touch()
    (target / "tictactoe-2026-01-01T000000Z.sqlite3").mkdir()
    making = Backups(data, target, 60, keep=1)
    assert making.age_seconds < 50 * 366 * 86_400
    copy = await making.make()
    assert list_backups(target) == [copy]
    assert 0 <= making.age_seconds < 50
    assert "; tictactoe-2999-01-01T000000Z.sqlite3 is dated in the future and does not count" in making.describe()
    assert {path.name for path in target.iterdir()} >= {*strays, copy.name}
