"""Copies of a database: made of a running server, after a kill, and before an older one is brought forward."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import sqlite3
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.peer import open_peer
from tests.server.stored import ANA_KEY, keep, room_of, rooms_in
from tests.server.tables import ANA
from tests.server.test_lost_data import CODES, damage, fill
from tests.server.test_sqlite_store import child
from tictactoe_server.records.tables import KEPT, PLAYERS, KnownPlayer, open_folder, today
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.backup import CannotBackUp, back_up
from tictactoe_server.storage.copying import check_database
from tictactoe_server.storage.folder import FILE_NAME
from tictactoe_server.storage.schema import MIGRATIONS, SCHEMA, open_database, version_of
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, CannotOpenStore

FIXTURES = Path(__file__).parent.parent / "fixtures"
OLD_DATABASE, OLD_CONTENT = FIXTURES / "version-1.0.0.sqlite3.gz", FIXTURES / "version-1.0.0.json"
COPY_NAME = f"{FILE_NAME}.schema-1"


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


async def check_restored(store: SqliteStore) -> None:
    rooms = await rooms_in(store)
    assert set(rooms) == {f"K7M4{number + 20}" for number in range(50)}
    assert {room.status for room in rooms.values()} == {"over"}
    assert len(await store.games.games_of("pana", 100)) == 50
    await keep(store, room_of("NEWONE"), MISSING)
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


# -- older versions -------------------------------------------------------------------------------------------------


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A data folder that version 1.0.0 left, with rooms in every situation."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    (folder / FILE_NAME).write_bytes(gzip.decompress(OLD_DATABASE.read_bytes()))
    return folder


CONTENT: dict[str, Any] = json.loads(OLD_CONTENT.read_text(encoding="utf-8"))


def what_stays(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state without what a restart changes: who is here, when, and how often the room was stored."""
    seats = {
        mark: seat and {key: value for key, value in seat.items() if key not in ("online", "hold_ms")}
        for mark, seat in state["seats"].items()
    }
    return {**state, "seats": seats, "seq": 0, "watchers": 0, "clock": None}


async def test_a_folder_of_version_1_0_0_comes_up_with_every_room_seat_clock_and_game(old: Path) -> None:
    settings = Settings("127.0.0.1", 0, data=old, bot_pause_seconds=60)
    async with Server(settings) as server, open_peer(server.url, "eve") as eve:
        for name, found in CONTENT["rooms"].items():
            was = found["state"]
            watched = await eve.ask("watch", room=was["room"])
            state = await eve.state(room=was["room"])
            assert watched["moves"] == found["moves"], name
            assert what_stays(state) == what_stays(was), name
            if was["clock"] is not None:
                assert state["clock"]["running"] == was["clock"]["running"]
                for mark, left in was["clock"]["remaining_ms"].items():
                    assert left - 60_000 < state["clock"]["remaining_ms"][mark] <= left + 2_000
        for name, player in CONTENT["players"].items():
            async with open_peer(server.url, token=player["token"]) as peer:
                assert (peer.welcome["player"], peer.welcome["name"]) == (player["player"], name)
                held = {(seat["room"], seat["seat"]) for seat in peer.welcome["rooms"]}
                assert held == {
                    (found["state"]["room"], mark)
                    for found in CONTENT["rooms"].values()
                    for mark, seat in found["state"]["seats"].items()
                    if seat and seat["player"] == player["player"] and not seat.get("left")
                    if found["state"]["status"] != "over"
                }
                if name == "ana":
                    assert (await peer.ask("history"))["games"] == CONTENT["history"]
                    game = CONTENT["history"][0]["id"]
                    assert (await peer.ask("record", game=game))["record"] == CONTENT["record"]
        ana, room = CONTENT["players"]["ana"], CONTENT["rooms"]["clock by seat"]["state"]["room"]
        async with open_peer(server.url, token=ana["token"]) as peer:
            await peer.ask("join", room=room)
            assert (await peer.ask("move", room=room, cell=1, ply=4))["type"] == "ok"


async def test_a_copy_of_the_older_database_stays_beside_the_new_one(
    old: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = gzip.decompress(OLD_DATABASE.read_bytes())
    assert (await check_database(old / FILE_NAME, KEPT)).counts["rooms"] == len(CONTENT["rooms"])
    await open_folder(old).close()
    assert version_of(old / FILE_NAME) == SCHEMA
    assert str(old / COPY_NAME) in str([record.__dict__ for record in caplog.records])
    with (
        contextlib.closing(sqlite3.connect(old / COPY_NAME)) as copy,
        contextlib.closing(sqlite3.connect(":memory:")) as original,
    ):
        original.deserialize(before)
        for table in ("documents", "archive", "archive_players", "server", "counters"):
            rows = f"SELECT * FROM {table}"
            assert copy.execute(rows).fetchall() == original.execute(rows).fetchall()
    await open_folder(old).close()
    assert names_in(old) == sorted(["server.lock", FILE_NAME, COPY_NAME])


async def test_what_is_only_in_the_log_of_an_older_database_is_brought_forward_too(old: Path) -> None:
    with contextlib.closing(sqlite3.connect(old / FILE_NAME)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("DELETE FROM documents WHERE key LIKE 'room/%' AND key > 'room/K'")
        connection.commit()
        copied = contents(old)
    for name, content in copied.items():
        (old / name).write_bytes(content)
    store = open_folder(old)
    left = len(await rooms_in(store))
    await store.close()
    assert 0 < left < len(CONTENT["rooms"])
    with contextlib.closing(sqlite3.connect(old / COPY_NAME)) as copy:
        assert copy.execute("SELECT count(*) FROM documents WHERE key LIKE 'room/%'").fetchone() == (left,)


async def test_without_a_copy_an_older_database_is_left_as_it_is(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (old / FILE_NAME).read_bytes()

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(CannotOpenStore, match="No space left"):
        open_folder(old)
    assert (old / FILE_NAME).read_bytes() == before
    assert COPY_NAME not in names_in(old)


async def test_a_damaged_older_database_gives_what_is_whole(old: Path) -> None:
    content = bytearray((old / FILE_NAME).read_bytes())
    room = CONTENT["rooms"]["clock by move"]["state"]["room"]
    page = content.index(b'"room":{"code":"' + room.encode()) // 4096 * 4096
    content[page : page + 4096] = b"\xff" * 4096
    (old / FILE_NAME).write_bytes(content)
    store = open_folder(old)
    found = await rooms_in(store)
    assert 0 < len(found) < len(CONTENT["rooms"])
    assert room not in found
    assert len(await store.games.games_of(CONTENT["players"]["ana"]["player"], 10)) == len(CONTENT["history"])
    await store.close()
    assert (old / f"{FILE_NAME}.damaged-1").read_bytes() == content


async def test_an_older_schema_is_brought_forward_with_its_rooms(tmp_path: Path) -> None:
    store = open_folder(tmp_path)
    await keep(store, room_of(CODES[0]), MISSING)
    await store.close()
    longer = (*MIGRATIONS, ("ALTER TABLE archive ADD COLUMN rating INTEGER", "CREATE TABLE ratings (player TEXT)"))
    with contextlib.closing(open_database(tmp_path / FILE_NAME, longer)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA + 1,)
        assert connection.execute("SELECT code FROM rooms").fetchall() == [(CODES[0],)]
        assert connection.execute("SELECT rating FROM archive").fetchall() == []


async def test_the_players_of_an_older_schema_are_here_today_and_outlive_the_next_sweep(tmp_path: Path) -> None:
    with contextlib.closing(open_database(tmp_path / FILE_NAME, MIGRATIONS[:2])) as connection:
        connection.execute("INSERT INTO players VALUES (?, 1, ?)", (ANA_KEY, msgspec.json.encode(ANA)))
    store = open_folder(tmp_path)
    assert await store.table(PLAYERS).load(ANA_KEY) == (KnownPlayer(ANA, today(), is_seated=True), 1)
    await store.close()


def test_a_step_forward_that_fails_is_taken_back_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    open_database(path).close()
    with pytest.raises(CannotOpenStore):
        open_database(path, (*MIGRATIONS, ("CREATE TABLE ratings (player TEXT)", "CREATE TABLE ratings (again TEXT)")))
    with contextlib.closing(open_database(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA,)
