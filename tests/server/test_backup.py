import os
import shutil
import stat
from pathlib import Path

import pytest

from tests.peer import until
from tests.server.stored import change, child, keep, room_of, rooms_in
from tictactoe_server import OperatorError
from tictactoe_server.features.backups import service as backups
from tictactoe_server.features.backups.files import back_up, database_in
from tictactoe_server.features.backups.service import BackupOptions, Backups, list_backups
from tictactoe_server.operator.status import Status
from tictactoe_server.records.tables import KEPT
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.folder import FILE_NAME
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING

PAGE_BYTES = 4096


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
    """Return the content of the database and its log, without the file of shared memory."""
    return {path.name: path.read_bytes() for path in folder.glob(f"{FILE_NAME}*") if not path.name.endswith("-shm")}


def restore(backup: Path, folder: Path) -> SqliteStore:
    """Put a copy into a new folder, as an operator would, and open it."""
    folder.mkdir(mode=0o700)
    (folder / FILE_NAME).write_bytes(backup.read_bytes())
    return SqliteStore.open(folder, KEPT)


async def check_restored(store: SqliteStore, *more: str) -> None:
    rooms = await rooms_in(store)
    assert set(rooms) == {f"K7M4{number + 20}" for number in range(50)} | set(more)
    assert len(await store.games.games_of("pana", 100)) == 50
    await keep(store, room_of("NEWONE"), MISSING)
    await store.close()


async def test_backups_of_running_and_killed_servers_restore_without_changing_them(tmp_path: Path) -> None:
    data, backup = tmp_path / "data", tmp_path / "backup"
    with child(data, SAVE_AND_STAY) as process:
        assert process.stdout.readline() == "saved\n"
        before = contents(data)
        assert set(before) == {FILE_NAME, f"{FILE_NAME}-wal"}
        back_up(database_in(data), backup)
        assert contents(data) == before
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "later\n"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    await check_restored(restore(backup, tmp_path / "restored"))
    before = contents(data)  # of the killed process
    back_up(database_in(data), tmp_path / "later")
    assert contents(data) == before
    await check_restored(restore(tmp_path / "later", tmp_path / "again"), "LATERS")
    assert names_in(tmp_path) == ["again", "backup", "data", "later", "restored"]


async def test_a_backup_and_its_name_are_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await SqliteStore.open(tmp_path / "data", KEPT).close()
    flushed: list[tuple[int, int]] = []

    def fsync(descriptor: int) -> None:
        found = os.fstat(descriptor)
        flushed.append((found.st_dev, found.st_ino))

    monkeypatch.setattr(os, "fsync", fsync)
    back_up(database_in(tmp_path / "data"), tmp_path / "backup")
    for path in (tmp_path / "backup", tmp_path):
        assert (path.stat().st_dev, path.stat().st_ino) in flushed


async def test_a_backup_needs_a_database_and_a_folder_and_overwrites_nothing(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="no database"):
        back_up(database_in(tmp_path / "data"), tmp_path / "backup")
    assert names_in(tmp_path) == []
    await SqliteStore.open(tmp_path / "data", KEPT).close()
    with pytest.raises(OperatorError, match="No such"):
        back_up(database_in(tmp_path / "data"), tmp_path / "nowhere" / "backup")
    (tmp_path / "backup").write_text("mine")
    with pytest.raises(OperatorError, match="exists"):
        back_up(database_in(tmp_path / "data"), tmp_path / "backup")
    assert (tmp_path / "backup").read_text() == "mine"


@pytest.fixture(autouse=True)
def usual_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let backups take as long as anything else beside busy programs."""
    monkeypatch.setattr(backups, "NICE", 0)


@pytest.fixture
async def data(tmp_path: Path) -> Path:
    store = SqliteStore.open(tmp_path / "data", KEPT)
    await keep(store, room_of("K7M4PQ"), MISSING)
    await store.close()
    return tmp_path / "data"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "copies").mkdir()
    return tmp_path / "copies"


@pytest.mark.features
async def test_a_server_backs_up(data: Path, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backups, "FIRST_SECONDS", 0)
    settings = Settings(host="127.0.0.1", port=0, data=data, features=(BackupOptions(to=target, every_seconds=3_600),))
    async with Server(settings) as server:
        backing_up = server.service(Backups)
        await until(lambda: list_backups(target))
        status = Status().describe(await server.carry_out(Status()))
        assert f" in {target}" in status
        assert backing_up.age_seconds < 50
    store = restore(target / names_in(target)[0], tmp_path / "restored")
    assert [*await rooms_in(store)] == ["K7M4PQ"]
    await store.close()


async def test_the_newest_backups_stay_and_unfinished_ones_are_deleted(data: Path, target: Path) -> None:
    for name in ("tictactoe-2026-01-02T000000Z.sqlite3", "tictactoe-2026-01-01T000000Z.sqlite3", "of-somebody-else"):
        (target / name).touch()
    (target / "tictactoe-2026-01-03T000000Z.sqlite3.x.partial").touch()
    backup = await Backups(data, target, 60, keep=2).make()
    assert names_in(target) == sorted([backup.name, "tictactoe-2026-01-02T000000Z.sqlite3", "of-somebody-else"])


async def test_failures_keep_backups(data: Path, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = target / "tictactoe-2026-01-01T000000Z.sqlite3"
    old.touch()
    making = Backups(data, target, 60, keep=1)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1 << 20))
    with pytest.raises(OperatorError, match=r"has 1 MB of free space; a backup requires 256 MB\."):
        await making.make()
    monkeypatch.undo()
    damage(data, b"K7M4PQ")
    with pytest.raises(OperatorError, match=r"damaged"):
        await making.make()
    assert names_in(target) == [old.name]


async def test_a_backup_that_cannot_be_read_back_is_deleted(data: Path, target: Path) -> None:
    change(data / FILE_NAME, "INSERT INTO journal (batch) VALUES ('nonsense')")
    making = Backups(data, target, 60, keep=1)
    with pytest.raises(OperatorError, match=r"A line of the journal"):
        await making.make()
    assert (list_backups(target), making.made_at) == ([], None)


async def test_files_of_others_and_backups_dated_in_the_future_never_stop_the_backups(data: Path, target: Path) -> None:
    strays = [
        "tictactoe-before-moving-2026-11-28T152730Z.sqlite3",
        "tictactoe-2999-01-01T000000Z.sqlite3",
        "tictactoe-2026-13-01T000000Z.sqlite3",
        "tictactoe-Z.sqlite3",
        "tictactoe-notes.partial",
    ]
    for name in strays:
        (target / name).touch()
    folders = ["tictactoe-2026-01-01T000000Z.sqlite3", "tictactoe-2026-01-01T000000Z.sqlite3.partial"]
    for name in folders:
        (target / name).mkdir()
    making = Backups(data, target, 60, keep=1)
    assert making.age_seconds < 50 * 366 * 86_400
    assert making.oldest_days == 90
    (target / "tictactoe-2020-01-01T000000Z.sqlite3").touch()
    assert making.oldest_days > 2_000
    backup = await making.make()
    assert list_backups(target) == [backup]
    assert 0 <= making.age_seconds < 50
    assert "; tictactoe-2999-01-01T000000Z.sqlite3 is ignored: its date is in the future" in making.status()["backup"]
    assert {*names_in(target)} >= {*strays, *folders, backup.name}


def damage(folder: Path, text: bytes) -> None:
    """Overwrite the page of a database that holds this text."""
    path = folder / FILE_NAME
    content = bytearray(path.read_bytes())
    page = content.index(text) // PAGE_BYTES * PAGE_BYTES
    content[page : page + PAGE_BYTES] = b"\xff" * PAGE_BYTES
    path.write_bytes(content)
