"""Files damaged in many ways: the store comes up with every row that can be read, and plays on."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.server.cases import cases
from tests.server.stored import bans_in, change, finish, keep, keep_ban, keep_player, room_of, rooms_in, share, shared
from tests.server.tables import ANA, BO
from tictactoe_server.records.tables import PLAYERS, Ban, open_folder
from tictactoe_server.rooms import Player
from tictactoe_server.storage.damage.pages import PAGE_BYTES, DatabasePages
from tictactoe_server.storage.folder import FILE_NAME
from tictactoe_server.storage.store import MISSING, CannotOpenStore, Unreadable

CODES = [f"{letter}{number:05}" for letter in "ABCDEFGH" for number in range(22222, 22262)]
KEYS = [f"{number:064x}" for number in range(60)]
GAMES = 60
SHARE = "aB3-_dE5fG7hI9jK1mN3oP"
NUMBER_OF_SEEDS = 25


async def fill(folder: Path) -> None:
    """Keep some of everything: in `data` as a server leaves it that ends, in `killed` as one that was killed."""
    store = open_folder(folder / "data")
    for number, key in enumerate(KEYS):
        await keep_player(store, key, Player(f"p{number:010}", f"player-{number}"), MISSING)
    await keep_ban(store, Ban("192.0.2.1", "noise", 1))
    revisions = {code: await keep(store, room_of(code), MISSING) for code in CODES}
    for number in range(GAMES):
        game = await finish(store, f"Z{number + 22222}", ANA, BO)
    await share(store, SHARE, game)
    await store.close()
    store = open_folder(folder / "data")
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
    """A copy of what a server left that was closed."""
    return Path(shutil.copytree(kept / "data", tmp_path / "data"))


async def play_on(folder: Path) -> dict[str, int]:
    """Open the store, and return how much of each it serves; what is kept then is there the next time, too."""
    store = open_folder(folder)
    rooms = await rooms_in(store)
    served = {
        "rooms": len([code for code in CODES if code in rooms]),
        "games": len(await store.games.games_of(ANA.id, 100)),
        "players": len([key for key in KEYS if await store.table(PLAYERS).load(key) is not None]),
        "bans": len(await bans_in(store)),
        "shares": int(await shared(store, SHARE) is not None),
    }
    await finish(store, "NEWGAM", Player("pnew", "new"), BO)
    await store.games.forget_before(1)
    await store.close()
    again = open_folder(folder)
    assert set(rooms) | {"NEWGAM"} <= set(await rooms_in(again))
    assert len(await again.games.games_of("pnew", 10)) == 1
    assert len(await again.games.games_of(ANA.id, 100)) == served["games"]
    await again.close()
    return served


ALL = {"rooms": len(CODES), "games": GAMES, "players": len(KEYS), "bans": 1, "shares": 1}


def first_page(content: bytearray, statement: str, folder: Path) -> int:
    """Return where the first page of a table begins."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        (number,) = connection.execute(statement).fetchone()
    assert isinstance(number, int)
    return (number - 1) * PAGE_BYTES


def root_of(table: str) -> str:
    return f"SELECT rootpage FROM sqlite_schema WHERE name = '{table}'"


def aside(folder: Path) -> Path:
    return folder / f"{FILE_NAME}.damaged-1"


async def test_every_row_is_read_from_the_pages_as_sqlite_reads_it(kept: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(kept / "killed", tmp_path / "data"))
    with closing(DatabasePages(folder / FILE_NAME)) as pages:
        found = [row for row in pages.rows() if row is not None]
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        for table in ("rooms", "players", "bans", "shares", "server", "archive_players"):
            rows = set(connection.execute(f"SELECT * FROM {table}"))
            assert rows <= {row.values for row in found if row.id is None}
        for table in ("archive", "journal"):
            rows = set(connection.execute(f"SELECT * FROM {table}"))
            assert rows <= {(row.id, *row.values[1:]) for row in found}


async def test_a_key_that_is_no_text_any_more_keeps_nobody_from_starting(folder: Path) -> None:
    content = bytearray((folder / FILE_NAME).read_bytes())
    place = content.index(b"C22230")
    content[place] = 0xFF
    (folder / FILE_NAME).write_bytes(content)
    assert await play_on(folder) == ALL  # the room says itself which it is
    assert aside(folder).read_bytes() == content


@pytest.mark.parametrize("size", [0, 10, 60, 500, PAGE_BYTES, PAGE_BYTES + 1, "half", "last page", "last byte"])
async def test_a_file_that_was_cut_gives_what_is_left_of_it(folder: Path, size: int | str) -> None:
    content = (folder / FILE_NAME).read_bytes()
    sizes = {"half": len(content) // 2, "last page": len(content) - PAGE_BYTES, "last byte": len(content) - 1}
    cut = content[: sizes[size] if isinstance(size, str) else size]
    (folder / FILE_NAME).write_bytes(cut)
    served = await play_on(folder)
    assert served["rooms"] >= sum(b'["%b"' % code.encode() in cut for code in CODES) - 20
    assert served == ALL or not cut or aside(folder).read_bytes() == cut


@pytest.mark.parametrize("fill", [b"\0", b"\xff"])
async def test_without_its_first_page_a_file_gives_all_the_rest(folder: Path, fill: bytes) -> None:
    content = (folder / FILE_NAME).read_bytes()
    (folder / FILE_NAME).write_bytes(fill * PAGE_BYTES + content[PAGE_BYTES:])
    assert await play_on(folder) == ALL


@pytest.mark.parametrize("table", ["rooms", "players", "archive", "archive_players"])
async def test_without_the_page_that_leads_to_a_table_all_others_are_read(folder: Path, table: str) -> None:
    content = bytearray((folder / FILE_NAME).read_bytes())
    place = first_page(content, root_of(table), folder)
    content[place : place + PAGE_BYTES] = bytes(PAGE_BYTES)
    (folder / FILE_NAME).write_bytes(content)
    served = await play_on(folder)
    assert sum(served.values()) >= sum(ALL.values()) - 20
    assert aside(folder).exists()


@pytest.mark.parametrize("place", [3, 16, 18, 19, 21, 28, 44, 56, 63, 68])
async def test_a_bit_in_the_head_of_the_file_costs_nothing(folder: Path, place: int) -> None:
    content = bytearray((folder / FILE_NAME).read_bytes())
    content[place] ^= 4
    (folder / FILE_NAME).write_bytes(content)
    assert await play_on(folder) == ALL


@pytest.mark.parametrize(
    ("written", "damaged"),
    [(b"CREATE TABLE rooms", b"CREATE TABLE r\xffoms"), (b"CREATE TABLE journal (id", b"CREATE TABLE journal (ie")],
)
async def test_a_table_whose_name_or_column_is_damaged_costs_nothing(
    folder: Path, written: bytes, damaged: bytes
) -> None:
    content = (folder / FILE_NAME).read_bytes()
    (folder / FILE_NAME).write_bytes(content.replace(written, damaged))
    assert await play_on(folder) == ALL


@pytest.mark.parametrize("statement", cases("values of another kind"))
async def test_a_value_of_another_kind_costs_its_row_alone(folder: Path, statement: str) -> None:
    change(folder / FILE_NAME, statement)
    store = open_folder(folder)
    for key in KEYS:
        with suppress(Unreadable):
            await store.table(PLAYERS).load(key)
    await store.games.forget_before(1)
    assert len(await rooms_in(store)) >= len(CODES)
    assert len(await store.games.games_of(ANA.id, 100)) >= GAMES - 1
    await store.close()


async def test_a_file_of_zeros_is_put_aside_and_an_empty_one_takes_its_place(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / FILE_NAME).write_bytes(bytes(40_000))
    assert sum((await play_on(folder)).values()) == 0
    assert aside(folder).read_bytes() == bytes(40_000)
    assert str(aside(folder)) in str(caplog.records[0].__dict__)


def test_what_is_no_database_is_refused_with_what_to_do(folder: Path) -> None:
    (folder / FILE_NAME).write_bytes(b"no database" * 1000)
    with pytest.raises(CannotOpenStore, match="Move it away to start without it, or restore a backup"):
        open_folder(folder)
    assert (folder / FILE_NAME).read_bytes() == b"no database" * 1000


# -- at random ------------------------------------------------------------------------------------------------------


def flip(content: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 20, 1000))):
        content[chance.randrange(len(content))] = chance.randrange(256)


def cut(content: bytearray, chance: random.Random) -> None:
    del content[chance.randrange(len(content)) :]


def blank(content: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 5, 30))):
        place = chance.randrange(len(content) // PAGE_BYTES + 1) * PAGE_BYTES
        content[place : place + PAGE_BYTES] = bytes(len(content[place : place + PAGE_BYTES]))


def each_seed() -> Iterator[tuple[int, Callable[[bytearray, random.Random], None], str]]:
    for seed in range(NUMBER_OF_SEEDS):
        yield seed, (flip, cut, blank)[seed % 3], ("", "", "", "-wal", "-shm")[seed % 5]


@pytest.mark.parametrize(("seed", "damage", "suffix"), list(each_seed()))
async def test_whatever_happens_to_the_files_it_starts_and_plays_on(
    kept: Path, tmp_path: Path, seed: int, damage: Callable[[bytearray, random.Random], None], suffix: str
) -> None:
    folder = Path(shutil.copytree(kept / ("killed" if suffix else "data"), tmp_path / "data"))
    path = folder / f"{FILE_NAME}{suffix}"
    content = bytearray(path.read_bytes())
    damage(content, random.Random(seed))
    path.write_bytes(content)
    served = await play_on(folder)
    if suffix or damage is flip:
        assert served["rooms"] > 0
