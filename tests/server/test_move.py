import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from tests.server.commands import Ran, run_command
from tests.server.nats_node import Node, empty_store
from tests.server.stored import (
    ANA_KEY,
    change,
    finish,
    keep,
    keep_ban,
    keep_player,
    room_of,
    seat,
    share,
)
from tests.server.tables import ANA, BO
from tictactoe_engine import PRESETS
from tictactoe_protocol.events import EventOpen
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.features.backups.copying import Contents, copy, folder_source
from tictactoe_server.features.backups.streams import copied_streams
from tictactoe_server.features.jetstream.link import Link
from tictactoe_server.features.jetstream.store import JetStreamStore
from tictactoe_server.features.tournaments.event import open_event
from tictactoe_server.features.tournaments.event_store import EVENTS
from tictactoe_server.records.tables import Ban, KnownPlayer, today
from tictactoe_server.rooms.room import Player
from tictactoe_server.server import kept_by
from tictactoe_server.storage.folder import FILE_NAME
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, save

BO_KEY = "b" * 64
SHARE_ID = "aB3-_dE5fG7hI9jK1mN3oP"
BANS = [Ban("10.0.0.0/8", "noise", 1), Ban("p5K2dW8xQnA", "", 2, 3)]
SERVED_MS = 123_456_789
ALL = kept_by()
FRIDAY = open_event(
    "K7M4PR",
    ANA.id,
    EventOpen(kind="round_robin", title="Friday", clock=ClockFields(move_ms=10_000), bots=("easy", "hard")),
    PRESETS["classic"],
    now=5,
    seed=1,
    secret="none",
)


@pytest.fixture
def url(node: Node) -> str:
    async def make() -> None:
        await (await empty_store(node)).close()

    asyncio.run(make())
    return node.url


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    asyncio.run(fill(folder))
    seen = f"CAST(json_set(CAST(document AS TEXT), '$.seen', {today() - 200}) AS BLOB)"
    change(folder / FILE_NAME, f"UPDATE players SET document = {seen} WHERE key = '{BO_KEY}'")
    return folder


async def fill(folder: Path, count: int = 3) -> None:
    store = SqliteStore.open(folder, ALL)
    for number in range(count):
        await keep(store, room_of(f"AAAA{number // 10}{number % 10}", number), MISSING)
    await keep_player(store, ANA_KEY, ANA, MISSING)
    await keep_player(store, BO_KEY, BO, MISSING)
    await seat(store, BO_KEY)
    for code in ("BBBBBB", "CCCCCC", "DDDDDD"):
        await finish(store, code, ANA, BO)
    for ban in BANS:
        await keep_ban(store, ban)
    ((_, game),) = await store.games.games_of(ANA.id, 1)
    await share(store, SHARE_ID, game)
    await save(store.table(EVENTS), FRIDAY.code, FRIDAY, MISSING)
    store.note_time(SERVED_MS)
    await store.close()


async def play_on(folder: Path) -> None:
    store = SqliteStore.open(folder, ALL)
    await finish(store, "EEEEEE", ANA, BO)
    assert [game.room for _, game in await store.games.games_of(ANA.id, 2)] == ["EEEEEE", "DDDDDD"]
    await store.close()


def move(source: Path | str, target: Path | str) -> Ran:
    return run_command("move", str(source), str(target))


async def contents_of(place: Path | str) -> Contents:
    opened = folder_source(place, ALL) if isinstance(place, Path) else copied_streams(place, None, None, ALL)
    async with opened as source:
        return await copy(source, None, ALL)


def test_a_folder_can_be_copied_into_a_stream_and_back(folder: Path, url: str, tmp_path: Path) -> None:
    before = asyncio.run(contents_of(folder))
    there = move(folder, url)
    assert there.exit_code == 0, there.output
    assert "Copied and compared: 6 rooms, 2 players, 2 bans, 1 shared game, 1 event, 3 finished games." in there.output
    back = move(url, tmp_path / "back")
    assert back.exit_code == 0, back.output
    assert asyncio.run(contents_of(folder)) == asyncio.run(contents_of(tmp_path / "back")) == before
    with closing(sqlite3.connect(tmp_path / "back" / FILE_NAME)) as database:
        found = database.execute("SELECT key, document FROM players ORDER BY key").fetchall()
    players = [(key, msgspec.json.decode(document, type=KnownPlayer)) for key, document in found]
    assert [(key, known.seen, known.is_seated) for key, known in players] == [
        (ANA_KEY, today(), False),
        (BO_KEY, today() - 200, True),
    ]
    asyncio.run(play_on(tmp_path / "back"))


def test_a_game_that_was_forgotten_does_not_come_back_from_the_journal(folder: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(folder / FILE_NAME)) as database:
        ((document,),) = database.execute("SELECT document FROM archive WHERE id = 3").fetchall()
        lines = [b"+ %d %b" % (id, document) for id in (1, 3, 4)]
        database.execute("INSERT INTO journal (batch) VALUES (?)", (b"\n".join(lines),))
        database.execute("DELETE FROM archive WHERE id IN (1, 3)")
        database.commit()

    ran = move(folder, tmp_path / "other")
    assert ran.exit_code == 0, ran.output
    assert ", 2 finished games." in ran.output

    async def served() -> list[int]:
        store = SqliteStore.open(folder, ALL)
        found = await store.games.games_of(ANA.id, 10)
        await store.close()
        return [id for id, _ in found]

    assert asyncio.run(served()) == [4, 2]


def test_an_unknown_table_is_named_and_left_out(folder: Path, tmp_path: Path) -> None:
    change(folder / FILE_NAME, "CREATE TABLE mottos (key TEXT PRIMARY KEY, document BLOB NOT NULL)")
    ran = move(folder, tmp_path / "other")
    assert ran.exit_code == 1
    assert "Not copied: Table mottos: unknown to this version.\n" in ran.output
    assert "Copied and compared: 6 rooms" in ran.output


def test_a_non_empty_target_is_refused_and_not_changed(folder: Path, url: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    asyncio.run(fill(other, 1))
    before = asyncio.run(contents_of(other))
    refused = move(folder, other)
    assert refused.exit_code == 1
    assert "not empty" in refused.output
    assert asyncio.run(contents_of(other)) == before
    assert move(folder, url).exit_code == 0
    again = move(other, url)
    assert again.exit_code == 1
    assert "not empty: they contain 17 documents" in again.output


def test_a_folder_in_use_or_without_a_database_cannot_be_moved(folder: Path, url: str, tmp_path: Path) -> None:
    async def try_it() -> Ran:
        store = SqliteStore.open(folder, ALL)
        try:
            return await asyncio.to_thread(move, folder, url)
        finally:
            await store.close()

    refused = asyncio.run(try_it())
    assert refused.exit_code == 1
    assert "is in use by another server" in refused.output
    nothing = move(tmp_path / "nothing", url)
    assert nothing.exit_code == 1
    assert "There is no database in" in nothing.output
    assert not (tmp_path / "nothing").exists()
    assert move(folder, folder).exit_code == 1
    assert move(folder, url).exit_code == 0


def test_damaged_values_are_reported_and_not_copied(folder: Path, url: str, tmp_path: Path) -> None:
    change(
        folder / FILE_NAME,
        "UPDATE rooms SET document = 5 WHERE key = 'AAAA00'",
        "UPDATE archive SET document = X'00' WHERE id = 2",
    )
    there = move(folder, url)
    assert there.exit_code == 1
    assert "Not copied: The room AAAA00: Not a room" in there.output
    assert "Not copied: The finished game 2: Not a finished game" in there.output
    assert "Copied and compared: 5 rooms, 2 players, 2 bans, 1 shared game, 1 event, 2 finished games." in there.output

    async def damage() -> None:
        link = await Link.open(url)
        await link.request("$KV.rooms-0.room.AAAA01", b"nonsense")
        await link.request(f"$KV.rooms-0.player.{ANA_KEY}", b"nonsense")
        await link.close()

    asyncio.run(damage())
    back = move(url, tmp_path / "back")
    assert back.exit_code == 1
    assert "Not copied: The room AAAA01: Not a room" in back.output
    assert "Copied and compared: 4 rooms, 1 player, 2 bans, 1 shared game, 1 event, 2 finished games." in back.output


def test_a_copy_of_a_stream_includes_concurrent_writes(node: Node, url: str, tmp_path: Path) -> None:
    codes = [f"AAA{first}{second}{third}" for first in "23456" for second in "23456" for third in "23456"]

    async def read_amid_writes() -> Contents:
        store = await JetStreamStore.open(url, ALL, unsafe=True)
        revisions = {code: await keep(store, room_of(code, 1), MISSING) for code in codes}
        async with copied_streams(url, None, None, ALL) as source:
            for code in codes:  # each is behind the source's current position
                await keep(store, room_of(code, 2), revisions[code])
            await finish(store, "BBBBBB", ANA, BO)
            await keep_player(store, ANA_KEY, Player(ANA.id, "ana"), MISSING)
            found = await copy(source, None, ALL)
        await store.close()
        return found

    found = asyncio.run(read_amid_writes())
    assert found == asyncio.run(contents_of(url))
    assert found.sums["room"].count == len(codes) + 1
    assert found.sums["finished game"].count == found.sums["player"].count == 1
