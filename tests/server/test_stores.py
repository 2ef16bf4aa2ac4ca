"""The contract of all stores, checked for each of them."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.peer import until
from tests.server.nats_node import empty_store
from tests.server.stored import ANA_KEY, finish, has_noted, keep, room_of
from tests.server.tables import ANA, BO
from tests.server.tables import Table as PlayedTable
from tictactoe_server.features.backups.copying import check_database, copy, folder_source, folder_target
from tictactoe_server.features.backups.files import back_up, database_in
from tictactoe_server.records.tables import (
    ACCOUNTS,
    GAMES,
    KEPT,
    PLAYERS,
    ROOMS,
    Account,
    Ban,
    Claim,
    Forgotten,
    KnownPlayer,
    LinkCode,
    Reserved,
    today,
)
from tictactoe_server.rooms.finished import finished_game
from tictactoe_server.rooms.room import Player
from tictactoe_server.storage.folder import FILE_NAME
from tictactoe_server.storage.memory import MemoryStore
from tictactoe_server.storage.specs import Specs, Storage, TableSpec
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, Conflict, Pending, Table, delete, save

CODE = "K7M4PQ"
SHARE_ID = "aB3-_dE5fG7hI9jK1mN3oP"
GAME = finished_game(PlayedTable(ANA, BO).play(0, 3, 1, 4, 2), 1_700_000_000_000)


@dataclass(frozen=True, slots=True)
class Note:
    """The value of a table that no store knows."""

    text: str
    stars: int


NOTES: TableSpec[Note] = TableSpec("notes", "note", msgspec.json.Encoder().encode, msgspec.json.Decoder(Note).decode)
WITH_NOTES = Specs((*KEPT.tables, NOTES), GAMES)

VALUES: dict[str, tuple[str, list[Any]]] = {
    "rooms": (CODE, [room_of(CODE, number) for number in range(3)]),
    "players": (ANA_KEY, [KnownPlayer(ANA, today()), KnownPlayer(BO, today() - 1, True), KnownPlayer(ANA, today())]),
    "bans": ("10.0.0.0/8", [Ban("10.0.0.0/8", reason, 1) for reason in ("noise", "words", "noise")]),
    "shares": (SHARE_ID, [replace(GAME, at=GAME.at + number) for number in range(3)]),
    "claims": ("anа ?", [Claim("ana", "p1", day) for day in (1, 2, 1)]),
    "accounts": (ANA.id, [Account(ANA, claimed) for claimed in ("", "ana", "")]),
    "reserved": (ANA_KEY, [Reserved(until) for until in (4e9, 4.5e9, 4e9)]),
    "links": (ANA_KEY, [LinkCode(ANA.id, until) for until in (1.0, 2.5, 1.0)]),
    "forgotten": (ANA_KEY, [Forgotten(stand_in) for stand_in in ("player-1", "player-2", "player-1")]),
    "notes": ("a note: 7/8, *.>", [Note("well", 3), Note("well", 4), Note("done", 3)]),
}


@pytest.fixture(params=["memory", "sqlite", "jetstream"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    opened: Storage
    match request.param:
        case "sqlite":
            opened = SqliteStore.open(tmp_path / "data", WITH_NOTES)
        case "jetstream":
            opened = await empty_store(request.getfixturevalue("node"), tmp_path / "data", WITH_NOTES)
        case _:
            opened = MemoryStore(WITH_NOTES)
    yield opened
    await opened.close()


@pytest.fixture(params=[ROOMS, PLAYERS, ACCOUNTS, NOTES], ids=lambda spec: spec.name)
def spec(request: pytest.FixtureRequest) -> TableSpec[Any]:
    return request.param  # type: ignore[no-any-return]


async def everything_in(table: Table[Any]) -> dict[str, tuple[Any, int]]:
    return {stored.key: (stored.value, stored.revision) async for some in table.load_all() for stored in some}


async def test_values_are_kept_by_compare_and_set(store: Storage, spec: TableSpec[Any]) -> None:
    table, (key, (first, second, third)) = store.table(spec), VALUES[spec.name]
    assert await table.load(key) is None
    with pytest.raises(Conflict):
        await save(table, key, first, 7)
    revisions = [await save(table, key, first, MISSING)]
    for wrong in (MISSING, revisions[0] + 1000):
        with pytest.raises(Conflict):
            await save(table, key, third, wrong)
    assert await table.load(key) == (first, revisions[0])
    revisions.append(await save(table, key, second, revisions[0]))
    for wrong in (MISSING, revisions[0]):
        with pytest.raises(Conflict):
            await save(table, key, third, wrong)
        with pytest.raises(Conflict):
            await delete(table, key, wrong)
    assert await table.load(key) == (second, revisions[1])
    assert await everything_in(table) == {key: (second, revisions[1])}
    await delete(table, key, revisions[1])
    assert await table.load(key) is None
    for gone in (revisions[1], MISSING):
        with pytest.raises(Conflict):
            await delete(table, key, gone)
    with pytest.raises(Conflict):
        await save(table, key, third, revisions[1])
    revisions.append(await save(table, key, third, MISSING))
    with pytest.raises(Conflict):
        await save(table, key, first, revisions[1])
    assert await table.load(key) == (third, revisions[2])
    assert revisions == sorted(set(revisions))
    assert revisions[0] > MISSING


async def test_whichever_value_there_is_can_be_replaced_and_deleted(store: Storage, spec: TableSpec[Any]) -> None:
    table, (key, (first, second, _)) = store.table(spec), VALUES[spec.name]
    await delete(table, key, None)
    await save(table, key, first, None)
    revision = await save(table, key, second, None)
    assert await table.load(key) == (second, revision)
    await delete(table, key, None)
    assert await everything_in(table) == {}


async def test_a_key_is_found_by_its_beginning(store: Storage, spec: TableSpec[Any]) -> None:
    table, (key, (value, *_)) = store.table(spec), VALUES[spec.name]
    beginning = key[: len(key) // 2]
    assert await table.first_key(beginning) is None
    await save(table, key, value, MISSING)
    assert await table.first_key(beginning) == key
    assert await table.first_key("~") is None
    await delete(table, key, None)
    assert await table.first_key(beginning) is None


async def test_tables_do_not_touch_each_other(store: Storage) -> None:
    for spec in WITH_NOTES.tables:
        key, (value, *_) = VALUES[spec.name]
        await save(store.table(spec), key, value, MISSING)
    for spec in WITH_NOTES.tables:
        key, (value, *_) = VALUES[spec.name]
        ((found, (kept, _)),) = (await everything_in(store.table(spec))).items()
        assert (found, kept) == (key, value)


async def test_a_game_that_a_save_ends_is_kept_with_it_in_any_table(store: Storage, spec: TableSpec[Any]) -> None:
    table, (key, (value, other, _)) = store.table(spec), VALUES[spec.name]
    pending, conflict = Pending(), Pending()
    table.save(key, value, MISSING, pending, GAME)
    await pending.future
    table.save(key, other, MISSING, conflict, GAME)
    with pytest.raises(Conflict):
        await conflict.future
    assert [game for _, game in await store.games.games_of(ANA.id, 10)] == [GAME]


async def test_games_are_found_by_room_and_number_even_if_a_code_was_reused(store: Storage) -> None:
    first = await finish(store, "AAAAAA", ANA, BO)
    await finish(store, "BBBBBB", ANA, BO)
    await delete(store.table(ROOMS), "AAAAAA", None)
    again = await finish(store, "AAAAAA", BO, ANA, at=1_800_000_000_000)
    found = await store.games.games_at("AAAAAA", 1)
    assert [game for _, game in found] == [first, again]
    assert [await store.games.game(id) for id, _ in found] == [first, again]
    assert await store.games.games_at("AAAAAA", 2) == await store.games.games_at("CCCCCC", 2**70) == []


async def test_games_of_a_player_come_newest_first_in_pages(store: Storage) -> None:
    codes = [f"AAAAA{number}" for number in range(2, 7)]
    for number, code in enumerate(codes):
        await finish(store, code, ANA, Player(f"p{number}", "somebody"), at=1_700_000_000_000 + number)
    await finish(store, "BBBBBB", BO, Player("pcy", "cy"))
    archive = store.games
    first = await archive.games_of(ANA.id, 3)
    rest = await archive.games_of(ANA.id, 3, first[-1][0])
    assert [game.room for _, game in (*first, *rest)] == codes[::-1]
    assert await archive.games_of(ANA.id, 3, rest[-1][0]) == []
    assert await archive.games_of("pNobody", 3) == []
    assert await archive.games_of(ANA.id, 0) == await archive.games_of(ANA.id, -1) == []
    assert [await archive.game(id) for id in (-1, 0, 2**80)] == [None] * 3
    assert [id for id, _ in await archive.games_of("p4", 3, 2**80)] == [first[0][0]]


async def test_reading_games_after_a_cursor_misses_none(store: Storage) -> None:
    cursor, rooms = "", list[str]()
    for number in range(7):
        await finish(store, f"AAAAA{number + 2}", ANA, BO)
        if number % 3 == 0:
            store.note_time(number)
            read = [(behind, game.room) async for behind, _, game in store.games.after(cursor, 2)]
            assert len(read) <= 2
            cursor, rooms = read[-1][0], rooms + [room for _, room in read]
    rest = [(behind, game.room) async for behind, _, game in store.games.after(cursor, 100)]
    assert sorted(rooms + [room for _, room in rest]) == [f"AAAAA{number + 2}" for number in range(7)]
    assert [found async for found in store.games.after(rest[-1][0], 100)] == []
    assert [found async for found in store.games.after("", 0)] == []


async def test_the_last_note_of_the_time_is_kept(store: Storage) -> None:
    assert await store.noted_time() is None
    store.note_time(1)
    store.note_time(2)
    await keep(store, room_of(CODE), MISSING)
    await until(lambda: has_noted(store, 2))


async def test_all_values_about_a_person_are_found_by_id(store: Storage) -> None:
    async def places() -> list[str]:
        return sorted(place for place, _ in await store.keys_of((ANA.id,), is_exact=True))

    for spec in WITH_NOTES.tables:
        key, (value, *_) = VALUES[spec.name]
        await save(store.table(spec), key, value, None)
    assert await places() == ["accounts", "links", "players", "shares"]
    players, accounts = store.table(PLAYERS), store.table(ACCOUNTS)
    await save(players, ANA_KEY, KnownPlayer(BO, today()), None)
    await delete(accounts, ANA.id, None)
    assert await places() == ["links", "shares"]
    found = await store.keys_of((BO.id, "nobody"), is_exact=True)
    assert sorted(found) == [("players", ANA_KEY), ("shares", SHARE_ID)]


async def test_a_database_without_the_index_of_persons_is_given_one(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path, WITH_NOTES)
    await save(store.table(ACCOUNTS), ANA.id, Account(ANA), MISSING)
    await store.close()
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        connection.execute("DROP TABLE persons")
    store = SqliteStore.open(tmp_path, WITH_NOTES)
    assert await store.keys_of((ANA.id,)) == [("accounts", ANA.id)]
    await store.close()


async def note_in(folder: Path) -> Note | None:
    store = SqliteStore.open(folder, WITH_NOTES)
    found = await store.table(NOTES).load("first")
    await store.close()
    return found and found[0]


async def test_a_new_table_is_backed_up_checked_and_moved_with_the_others(tmp_path: Path) -> None:
    folder, note = tmp_path / "data", Note("well", 3)
    store = SqliteStore.open(folder, WITH_NOTES)
    await save(store.table(NOTES), "first", note, MISSING)
    await keep(store, room_of(CODE), MISSING)
    await store.close()
    assert (await check_database(folder / FILE_NAME, WITH_NOTES)).sums["note"].count == 1
    (tmp_path / "restored").mkdir(mode=0o700)
    back_up(database_in(folder), tmp_path / "restored" / FILE_NAME)
    assert await note_in(tmp_path / "restored") == note
    async with folder_source(folder, WITH_NOTES) as source, folder_target(tmp_path / "moved", WITH_NOTES) as target:
        moved = await copy(source, target, WITH_NOTES)
    assert moved.sums["note"].count == 1
    assert await note_in(tmp_path / "moved") == note


async def test_memory_keeps_the_newest_games_and_forgets_the_players_of_the_others() -> None:
    store = MemoryStore(KEPT, max_games=3)
    for number in range(5):
        await finish(store, f"AAAAA{number + 2}", ANA, Player(f"p{number}", "somebody"))
    assert [game.room for _, game in await store.games.games_of(ANA.id, 10)] == ["AAAAA6", "AAAAA5", "AAAAA4"]
    assert await store.games.games_of("p1", 10) == []
    assert [id for id, _ in await store.games.games_of("p4", 10)] == [5]
    assert await store.games.game(1) is None
