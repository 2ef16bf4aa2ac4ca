import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.server.cases import cases
from tests.server.commands import run_command
from tests.server.stored import change, finish, keep, keep_ban, keep_player, room_of, rooms_in, share
from tests.server.tables import ANA, BO
from tests.server.test_backup import names_in
from tictactoe_server import OperatorError
from tictactoe_server.features.backups.copying import check_database
from tictactoe_server.features.backups.files import back_up, database_in, restore_backup
from tictactoe_server.records.tables import KEPT, Ban
from tictactoe_server.rooms.room import Player
from tictactoe_server.storage.folder import FILE_NAME
from tictactoe_server.storage.schema import DamagedDatabase
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, CannotOpenStore


async def fill(folder: Path, *codes: str) -> None:
    """Store rooms, a player, a ban, and a finished game that is shared."""
    store = SqliteStore.open(folder, KEPT)
    for code in codes:
        await keep(store, room_of(code), MISSING)
    await keep_player(store, "a" * 64, Player("p0123456789", "ana"), MISSING)
    await keep_ban(store, Ban("192.0.2.0/24", "noise", 1))
    await share(store, "aB3-_dE5fG7hI9jK1mN3oP", await finish(store, "F2N3SH", ANA, BO))
    await store.close()


async def codes_in(folder: Path) -> set[str]:
    store = SqliteStore.open(folder, KEPT)
    try:
        return set(await rooms_in(store))
    finally:
        await store.close()


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    await fill(tmp_path / "data", "K7M4PQ")
    back_up(database_in(tmp_path / "data"), tmp_path / "copy")
    return tmp_path / "data"


async def test_a_backup_replaces_the_data(folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    copy = tmp_path / "copy"
    store = SqliteStore.open(folder, KEPT)
    for number in range(20, 60):
        await keep(store, room_of(f"M2XW{number}"), MISSING)
    await store.close()
    (aside,) = restore_backup(folder, copy)
    assert await codes_in(folder) == {"K7M4PQ", "F2N3SH"}
    (again,) = restore_backup(folder, copy)
    assert again != aside
    assert copy.is_file()
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    aside.rename(other / FILE_NAME)
    assert len(await codes_in(other)) == 42


async def test_the_log_of_a_replaced_database_moves_with_it(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    (folder / f"{FILE_NAME}-wal").write_bytes(b"of the old one")
    aside = restore_backup(folder, copy)
    assert {"", "-wal"} <= {path.name.removeprefix(aside[0].name) for path in aside}
    assert await codes_in(folder) == {"K7M4PQ", "F2N3SH"}


async def test_an_empty_place_is_restored_into_as_well(folder: Path, tmp_path: Path) -> None:
    assert restore_backup(tmp_path / "new", folder.parent / "copy") == []
    assert await codes_in(tmp_path / "new") == {"K7M4PQ", "F2N3SH"}


async def test_what_is_restored_belongs_to_the_owner_of_the_folder(folder: Path, tmp_path: Path) -> None:
    copy, new = tmp_path / "copy", tmp_path / "of a service"
    new.mkdir(mode=0o700)
    owner = 10001 if os.geteuid() == 0 else os.geteuid()  # only root can give files away
    os.chown(new, owner, -1)
    for place in (folder, new):
        restore_backup(place, copy)
        files = [path for path in place.iterdir() if "replaced" not in path.name]
        assert {path.stat().st_uid for path in files} == {place.stat().st_uid}
    assert new.stat().st_uid == owner


async def test_nothing_is_restored_under_a_server_that_runs(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    store = SqliteStore.open(folder, KEPT)
    before = names_in(folder)
    with pytest.raises(CannotOpenStore, match="is in use by another server"):
        restore_backup(folder, copy)
    assert names_in(folder) == before
    await store.close()


async def test_restoring_an_invalid_copy_changes_nothing(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    database = (folder / FILE_NAME).read_bytes()
    empty, text, foreign, newer, torn = (tmp_path / name for name in ("empty", "text", "foreign", "newer", "torn"))
    empty.touch()
    text.write_text("no database")
    change(foreign, "CREATE TABLE recipes (name TEXT)")
    newer.write_bytes(copy.read_bytes())
    change(newer, "PRAGMA user_version = 99")
    torn.write_bytes(copy.read_bytes()[:-4096])
    for bad in (empty, text, foreign, torn, tmp_path / "missing", tmp_path):
        with pytest.raises(OperatorError):
            restore_backup(folder, bad)
    with pytest.raises(CannotOpenStore, match="has schema"):
        restore_backup(folder, newer)
    assert (folder / FILE_NAME).read_bytes() == database
    assert [name for name in names_in(folder) if "restored" in name or "replaced" in name] == []


async def test_checking_a_folder_works_while_a_server_runs(tmp_path: Path) -> None:
    await fill(tmp_path, "K7M4PQ", "M2XWQ7")
    store = SqliteStore.open(tmp_path, KEPT)
    await keep(store, room_of("R5T6Y7"), MISSING)
    found = await check_database(tmp_path / FILE_NAME, KEPT)
    await store.close()
    assert [found.sums[noun].count for noun in ("room", "player", "finished game")] == [4, 1, 1]
    assert found.damage == []


@pytest.mark.parametrize(("statement", "words"), cases("damaged things"))
async def test_each_damaged_thing_is_named(tmp_path: Path, statement: str, words: str) -> None:
    await fill(tmp_path, "K7M4PQ", "M2XWQ7")
    change(tmp_path / FILE_NAME, statement)
    before = (tmp_path / FILE_NAME).read_bytes()
    (line,) = (await check_database(tmp_path / FILE_NAME, KEPT)).damage
    assert line.startswith(words)
    assert (tmp_path / FILE_NAME).read_bytes() == before


async def test_damaged_pages_are_named(tmp_path: Path) -> None:
    await fill(tmp_path, *(f"M2XW{number}" for number in range(20, 90)))
    path = tmp_path / FILE_NAME
    whole = path.read_bytes()
    with closing(sqlite3.connect(path)) as database:
        roots = [number * 4096 for (number,) in database.execute("SELECT rootpage FROM sqlite_schema WHERE rootpage")]
    for end in roots:
        path.write_bytes(whole[: end - 4096] + b"\xff" * 4096 + whole[end:])
        with pytest.raises(DamagedDatabase):
            await check_database(path, KEPT)
    path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(DamagedDatabase, match="file is not a database"):
        await check_database(path, KEPT)
    with pytest.raises(OperatorError):
        database_in(tmp_path / "nothing")


@pytest.mark.parametrize("is_backup", [False, True])
def test_check_names_the_command_that_repairs_a_damaged_database(tmp_path: Path, is_backup: bool) -> None:
    damaged = tmp_path / "tictactoe.sqlite3"
    damaged.write_bytes(b"no database at all" * 1000)
    checked = run_command("--data", str(tmp_path), "check", *([str(damaged)] if is_backup else []))
    assert checked.exit_code == 1
    assert (
        f"The {'backup' if is_backup else 'database'} {damaged} is damaged: file is not a database." in checked.output
    )
    assert f"sqlite3 -readonly {damaged} .recover | sqlite3 {tmp_path / 'recovered.sqlite3'}" in checked.output
    assert (f"--data {tmp_path} restore" in checked.output) is not is_backup
    assert ("Use another backup." in checked.output) is is_backup
