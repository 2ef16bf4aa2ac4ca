"""Files damaged in many ways: the store starts with everything, or refuses to start and changes nothing."""

import asyncio
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.server.cases import cases
from tests.server.laboratory import open_laboratory
from tests.server.stored import bans_in, change, finish, keep, keep_ban, keep_player, room_of, rooms_in, share, shared
from tests.server.tables import ANA, BO
from tictactoe_server.records.tables import KEPT, PLAYERS, ROOMS, Ban
from tictactoe_server.rooms.room import Player
from tictactoe_server.storage.folder import FILE_NAME
from tictactoe_server.storage.schema import DamagedDatabase
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, CannotOpenStore, Unreadable

CODES = [f"{letter}{number:05}" for letter in "ABCDEFGH" for number in range(22222, 22262)]
KEYS = [f"{number:064x}" for number in range(60)]
GAMES = 60
SHARE = "aB3-_dE5fG7hI9jK1mN3oP"
NUMBER_OF_SEEDS = 25
PAGE_BYTES = 4096


async def fill(folder: Path) -> None:
    """Store data of every kind: in `data` as a stopped server leaves it, in `killed` as a killed one."""
    store = SqliteStore.open(folder / "data", KEPT)
    for number, key in enumerate(KEYS):
        await keep_player(store, key, Player(f"p{number:010}", f"player-{number}"), MISSING)
    await keep_ban(store, Ban("192.0.2.1", "noise", 1))
    revisions = {code: await keep(store, room_of(code), MISSING) for code in CODES}
    for number in range(GAMES):
        game = await finish(store, f"Z{number + 22222}", ANA, BO)
    await share(store, SHARE, game)
    await store.close()
    store = SqliteStore.open(folder / "data", KEPT)
    for code in CODES[::4]:
        await keep(store, room_of(code, 2), revisions[code])
    shutil.copytree(folder / "data", folder / "killed")
    await store.close()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The two folders that `fill` makes."""
    folder = tmp_path_factory.mktemp("kept")
    asyncio.run(fill(folder))
    return folder


@pytest.fixture
def folder(kept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kept / "data", tmp_path / "data"))


async def serve(folder: Path) -> dict[str, int]:
    """Open the store, return how much of each kind it serves, and save a value that the next start must find."""
    store = SqliteStore.open(folder, KEPT)
    rooms = await rooms_in(store)
    served = {
        "rooms": len([code for code in CODES if code in rooms]),
        "games": len(await store.games.games_of(ANA.id, 100)),
        "players": len([key for key in KEYS if await store.table(PLAYERS).load(key) is not None]),
        "bans": len(await bans_in(store)),
        "shares": int(await shared(store, SHARE) is not None),
    }
    await finish(store, "NEWGAM", Player("pnew", "new"), BO)
    await store.close()
    again = SqliteStore.open(folder, KEPT)
    assert set(rooms) | {"NEWGAM"} <= set(await rooms_in(again))
    assert len(await again.games.games_of("pnew", 10)) == 1
    await again.close()
    return served


ALL = {"rooms": len(CODES), "games": GAMES, "players": len(KEYS), "bans": 1, "shares": 1}


def refuse(folder: Path) -> DamagedDatabase:
    """Check that the store refuses to open and changes nothing; return the error."""
    before = (folder / FILE_NAME).read_bytes()
    with pytest.raises(DamagedDatabase) as refused:
        SqliteStore.open(folder, KEPT)
    assert (folder / FILE_NAME).read_bytes() == before
    assert str(folder / FILE_NAME) in str(refused.value)
    return refused.value


def overwrite(folder: Path, place: int, content: bytes) -> None:
    with (folder / FILE_NAME).open("r+b") as file:
        file.seek(place)
        file.write(content)


def root_of(folder: Path, table: str) -> int:
    """Return the offset of a table's first page."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        (number,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    return (int(number) - 1) * PAGE_BYTES


@pytest.mark.parametrize(
    ("written", "damaged"),
    [(b"CREATE TABLE rooms", b"CREATE TABLE r\xffoms"), (b"CREATE TABLE journal (id", b"CREATE TABLE journal (ie")],
)
def test_a_damaged_name_of_a_table_or_column_is_refused(folder: Path, written: bytes, damaged: bytes) -> None:
    content = (folder / FILE_NAME).read_bytes()
    (folder / FILE_NAME).write_bytes(content.replace(written, damaged))
    refuse(folder)


async def test_a_damaged_key_loses_its_row_and_dependent_rows(folder: Path) -> None:
    overwrite(folder, (folder / FILE_NAME).read_bytes().index(b"C22230"), b"\xff")
    served = await serve(folder)
    assert len(CODES) - 40 < served["rooms"] < len(CODES)
    assert {**served, "rooms": len(CODES)} == ALL


@pytest.mark.parametrize("statement", cases("values of another kind"))
async def test_a_value_of_another_kind_costs_its_row_alone(
    folder: Path, statement: str, caplog: pytest.LogCaptureFixture
) -> None:
    change(folder / FILE_NAME, statement)
    store = SqliteStore.open(folder, KEPT)
    for key in KEYS:
        with suppress(Unreadable):
            await store.table(PLAYERS).load(key)
    await store.games.forget_before(1)
    assert len(await rooms_in(store)) >= len(CODES)
    assert len(await store.games.games_of(ANA.id, 100)) >= GAMES - 1
    assert "database failed" not in caplog.text
    await store.close()


async def test_damage_at_run_time_is_reported_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    await fill(tmp_path)
    async with open_laboratory(tmp_path / "data") as laboratory:
        store = laboratory.store
        assert await laboratory.pragma("cache_size = 0") == []
        overwrite(tmp_path / "data", root_of(tmp_path / "data", "archive_players"), b"\xff" * PAGE_BYTES)
        for _ in range(2):
            with pytest.raises(Unreadable):
                await store.games.games_of(ANA.id, 100)
        code = CODES[1]
        found = await store.table(ROOMS).load(code)
        assert found is not None
        await keep(store, room_of(code, 2), found[1])
    assert caplog.text.count("database is damaged: restart the server for advice") == 1
    refuse(tmp_path / "data")


def has_recover() -> bool:
    """Return True if this machine's sqlite3 program can recover; Debian 12's cannot."""
    if (program := shutil.which("sqlite3")) is None:
        return False
    command = [
        program,
        ":memory:",
        "SELECT count(*) FROM pragma_compile_options WHERE compile_options = 'ENABLE_DBPAGE_VTAB'",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "1"


@pytest.mark.skipif(not has_recover(), reason="there is no sqlite3 program that can recover")
@pytest.mark.parametrize("place", ["head", "players", "rooms"])
async def test_the_printed_command_recovers_all_readable_data(folder: Path, place: str) -> None:
    content = (folder / FILE_NAME).read_bytes()
    pages = {"head": 0, "players": root_of(folder, "players"), "rooms": content.index(b'["C22230"') & -PAGE_BYTES}
    overwrite(folder, pages[place], bytes(100))
    command = str(refuse(folder)).splitlines()[2].strip()
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder.parent)}
    await asyncio.to_thread(subprocess.run, ["sh", "-c", command], env=environment, check=True)
    served = await serve(folder)
    lost = {kind for kind, count in served.items() if count < ALL[kind]}
    assert lost == ({place} if place in ALL else set())
    assert served["rooms"] >= len(CODES) - 40


def flip(content: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 20, 1000))):
        content[chance.randrange(len(content))] = chance.randrange(256)


def cut(content: bytearray, chance: random.Random) -> None:
    del content[chance.randrange(1, len(content)) :]


def blank(content: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 5, 30))):
        place = chance.randrange(len(content) // PAGE_BYTES + 1) * PAGE_BYTES
        content[place : place + PAGE_BYTES] = bytes(len(content[place : place + PAGE_BYTES]))


@pytest.mark.parametrize(
    ("seed", "damage", "suffix"),
    [(seed, (flip, cut, blank)[seed % 3], ("", "", "", "-wal", "-shm")[seed % 5]) for seed in range(NUMBER_OF_SEEDS)],
)
async def test_whatever_happens_to_the_files_the_store_serves_or_refuses_and_changes_nothing(
    kept: Path, tmp_path: Path, seed: int, damage: Callable[[bytearray, random.Random], None], suffix: str
) -> None:
    folder = Path(shutil.copytree(kept / ("killed" if suffix else "data"), tmp_path / "data"))
    path = folder / f"{FILE_NAME}{suffix}"
    content = bytearray(path.read_bytes())
    damage(content, random.Random(seed))
    path.write_bytes(content)
    before = (folder / FILE_NAME).read_bytes()
    try:
        served = await serve(folder)
    except CannotOpenStore:
        assert (folder / FILE_NAME).read_bytes() == before
    else:
        assert served["rooms"] > len(CODES) * 9 // 10
