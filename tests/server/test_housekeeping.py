import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.peer import open_peer, play_out
from tests.server.stored import finish, keep_player, seat
from tests.server.tables import ANA, BO
from tictactoe_server.core.hooks import Hooks
from tictactoe_server.core.remote import RemoteServers
from tictactoe_server.features.privacy.service import drop_hashes
from tictactoe_server.operator.bans import Bans
from tictactoe_server.operator.maintenance import Housekeeping
from tictactoe_server.records.tables import BANS, FORGOTTEN, KEPT, PLAYERS, Forgotten, today
from tictactoe_server.rooms.room import Player
from tictactoe_server.scheduler import Tasks
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.memory import MemoryStore
from tictactoe_server.storage.specs import Storage
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, save

DAY_MS = 86_400_000
FINISHED_AT = 1_700_000_000_000


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    opened: Storage = MemoryStore(KEPT) if request.param == "memory" else SqliteStore.open(tmp_path, KEPT)
    yield opened
    await opened.close()


async def go_round(
    store: Storage, days: int, *stay: str, history_days: float | None = None, hooks: Hooks | None = None
) -> None:
    """Delete everything that is too old after this many days."""
    housekeeping = Housekeeping(
        store=store,
        bans=Bans(store.table(BANS), RemoteServers(), Tasks()),
        stay=lambda: stay,
        history_days=history_days,
        hooks=hooks or Hooks(),
        step_seconds=0,
    )
    await housekeeping.go_round(today() + days)


async def known(store: Storage, *keys: str) -> list[str]:
    return [key for key in keys if await store.table(PLAYERS).load(key) is not None]


async def until_folded(store: Storage, count: int) -> None:
    """Wait until `count` games are in the database's tables; they move there with a note of the time."""
    if isinstance(store, SqliteStore):
        statement = "SELECT count(*) FROM archive"
        while await store._writer.ask(lambda database, _: database.execute(statement).fetchone()[0]) < count:
            store.note_time(1)


async def meet(store: Storage, *keys: str, is_seated: bool = False) -> None:
    for key in keys:
        await keep_player(store, key, Player(f"id-{key}", key), MISSING)
        if is_seated:
            await seat(store, key)


async def test_unseated_players_are_forgotten_after_a_day_and_others_after_a_year(store: Storage) -> None:
    await meet(store, "guest")
    await meet(store, "ana", is_seated=True)
    await go_round(store, 1)
    assert await known(store, "guest", "ana") == ["guest", "ana"]
    await go_round(store, 2)
    assert await known(store, "guest", "ana") == ["ana"]
    await go_round(store, 365)
    assert await known(store, "ana") == ["ana"]
    await go_round(store, 366)
    assert await known(store, "ana") == []


async def test_connected_players_and_players_with_games_are_kept(store: Storage) -> None:
    await meet(store, "guest", "here")
    await keep_player(store, "ana", ANA, MISSING)
    await finish(store, "K7M4PQ", ANA, BO)
    await until_folded(store, 1)
    await go_round(store, 1000, "id-here")
    assert await known(store, "guest", "here", "ana") == ["here", "ana"]


async def test_many_are_forgotten_step_by_step(store: Storage) -> None:
    keys = [f"{number:03}" for number in range(350)]
    await meet(store, *keys)
    await go_round(store, 2, "id-123")
    assert await known(store, *keys) == ["123"]


async def test_finished_games_are_kept_for_as_long_as_is_wanted_or_needed(store: Storage) -> None:
    async def needed_from() -> float:
        return FINISHED_AT - 1

    age_days = (time.time_ns() // 1_000_000 - FINISHED_AT) / DAY_MS
    codes = [f"K7M4{number}" for number in range(20, 30)]
    for code in codes:
        await finish(store, code, ANA, BO)
    await until_folded(store, len(codes))
    await go_round(store, 0)
    await go_round(store, 0, history_days=age_days + 1)
    assert len(await store.games.games_of(ANA.id, 100)) == len(codes)
    hooks = Hooks()
    hooks.games_needed_from.append(needed_from)
    await go_round(store, 0, history_days=age_days - 1, hooks=hooks)
    assert len(await store.games.games_of(ANA.id, 100)) == len(codes), "a feature needs them"
    await go_round(store, 0, history_days=age_days - 1)
    assert await store.games.games_of(ANA.id, 100) == []
    assert await store.games.game(1) is None
    game = await finish(store, "M2XWQ7", ANA, BO)
    assert await store.games.games_of(ANA.id, 100) == [(len(codes) + 1, game)]


async def test_hashes_of_the_forgotten_go_with_the_backups_that_had_them_except_the_newest(store: Storage) -> None:
    table = store.table(FORGOTTEN)
    for key, kept in {
        "old": Forgotten("player-1", is_done=True, day=today()),
        "not done": Forgotten("player-2", day=today()),
        "young": Forgotten("player-3", is_done=True, day=today() + 5),
        "newest": Forgotten("player-10", is_done=True, day=today()),
    }.items():
        await save(table, key, kept, MISSING)
    await drop_hashes(table, today())
    assert await table.load("old") is not None
    await drop_hashes(table, today() + 1)
    assert [key for key in ("old", "not done", "young", "newest") if not await table.load(key)] == ["old"]


async def test_a_server_records_visits_and_taken_seats(tmp_path: Path) -> None:
    async with Server(Settings(host="127.0.0.1", port=0, data=tmp_path)) as server:
        async with open_peer(server.url, "ana") as ana, open_peer(server.url, "fan") as fan:
            room = (await ana.ask("create"))["room"]
            await fan.ask("watch", room=room)
            async with open_peer(server.url, "bo") as bo:
                await bo.ask("join", room=room)
                await play_out({"X": ana, "O": bo}, room, [4])
        tokens = {peer.welcome["name"]: peer.welcome["token"] for peer in (ana, bo, fan)}
    store = SqliteStore.open(tmp_path, KEPT)
    await go_round(store, 2)
    await store.close()
    async with Server(Settings(host="127.0.0.1", port=0, data=tmp_path)) as server:
        for name, token in tokens.items():
            async with open_peer(server.url, token=token) as again:
                assert again.welcome["type"] == ("error" if name == "fan" else "welcome"), name
