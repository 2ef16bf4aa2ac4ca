"""What every store promises, asked of each of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.fakes import TroubledStore
from tests.server.nats_node import Node, empty_store, node_in
from tests.server.stored import ANA_KEY, finish, forget, keep, room_of, rooms_in, until_noted
from tests.server.tables import ANA, BO
from tictactoe_server.rooms import Player
from tictactoe_server.storage.memory import MemoryStore
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, Conflict, Storage, save

CODE = "K7M4PQ"
SHARE_ID = "aB3-_dE5fG7hI9jK1mN3oP"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with node_in(tmp_path_factory.mktemp("nats")) as node:
        yield node


@pytest.fixture(params=["memory", "troubled, without trouble", "sqlite", "sqlite without a folder", "jetstream"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    opened: Storage
    match request.param:
        case "memory":
            opened = MemoryStore()
        case "sqlite":
            opened = SqliteStore.open(tmp_path / "data")
        case "sqlite without a folder":
            opened = SqliteStore.open(None)
        case "jetstream":
            opened = await empty_store(request.getfixturevalue("node"), tmp_path / "data")
        case _:
            opened = TroubledStore()
    yield opened
    await opened.close()


# -- rooms ------------------------------------------------------------------------------------------------------


async def test_a_saved_room_is_loaded_with_its_revision(store: Storage) -> None:
    room = room_of(CODE, 5)
    revision = await keep(store, room, MISSING)
    assert revision > MISSING
    assert await store.rooms.load(CODE) == (room, revision)


async def test_a_room_that_is_not_there_is_none(store: Storage) -> None:
    assert await store.rooms.load(CODE) is None


async def test_a_save_with_the_right_revision_replaces_the_room_and_the_revision_grows(store: Storage) -> None:
    revisions = [MISSING]
    for number in range(5):
        revisions.append(await keep(store, room_of(CODE, number), revisions[-1]))
    assert revisions == sorted(set(revisions))
    assert await store.rooms.load(CODE) == (room_of(CODE, 4), revisions[-1])


async def test_a_save_with_another_revision_conflicts_and_changes_nothing(store: Storage) -> None:
    first = await keep(store, room_of(CODE, 1), MISSING)
    second = await keep(store, room_of(CODE, 2), first)
    for wrong in (MISSING, first, second + 1000):
        with pytest.raises(Conflict):
            await keep(store, room_of(CODE, 3), wrong)
    assert await store.rooms.load(CODE) == (room_of(CODE, 2), second)


async def test_saving_over_what_is_not_there_conflicts(store: Storage) -> None:
    with pytest.raises(Conflict):
        await keep(store, room_of(CODE), 7)
    assert await store.rooms.load(CODE) is None


async def test_a_forgotten_room_is_gone_and_what_is_made_anew_has_no_old_revision(store: Storage) -> None:
    old = await keep(store, room_of(CODE, 1), MISSING)
    await forget(store, CODE, old)
    assert await store.rooms.load(CODE) is None
    assert await rooms_in(store) == {}
    with pytest.raises(Conflict):
        await keep(store, room_of(CODE, 2), old)
    again = await keep(store, room_of(CODE, 3), MISSING)
    assert again > old
    with pytest.raises(Conflict):
        await keep(store, room_of(CODE, 4), old)
    assert await store.rooms.load(CODE) == (room_of(CODE, 3), again)


async def test_forgetting_with_another_revision_or_twice_conflicts(store: Storage) -> None:
    first = await keep(store, room_of(CODE, 1), MISSING)
    second = await keep(store, room_of(CODE, 2), first)
    for wrong in (MISSING, first, second + 1):
        with pytest.raises(Conflict):
            await forget(store, CODE, wrong)
    assert await store.rooms.load(CODE) == (room_of(CODE, 2), second)
    await forget(store, CODE, second)
    for gone in (second, MISSING):
        with pytest.raises(Conflict):
            await forget(store, CODE, gone)


async def test_all_rooms_are_listed_as_they_are_now(store: Storage) -> None:
    revisions = {code: await keep(store, room_of(code), MISSING) for code in ("AAAAAA", "BBBBBB", "CCCCCC")}
    await save(store.players, ANA_KEY, ANA, MISSING)
    await keep(store, room_of("BBBBBB", 9), revisions["BBBBBB"])
    await forget(store, "CCCCCC", revisions["CCCCCC"])
    assert await rooms_in(store) == {"AAAAAA": room_of("AAAAAA"), "BBBBBB": room_of("BBBBBB", 9)}


async def test_rooms_do_not_touch_each_other(store: Storage) -> None:
    one = await keep(store, room_of("AAAAAA"), MISSING)
    other = await keep(store, room_of("BBBBBB"), MISSING)
    await keep(store, room_of("AAAAAA", 2), one)
    assert await store.rooms.load("BBBBBB") == (room_of("BBBBBB"), other)


async def test_of_many_savers_at_once_one_wins(store: Storage) -> None:
    revision = await keep(store, room_of(CODE), MISSING)
    saves = (keep(store, room_of(CODE, number), revision) for number in range(50))
    outcomes = await asyncio.gather(*saves, return_exceptions=True)
    (winner,) = [number for number, outcome in enumerate(outcomes) if not isinstance(outcome, Conflict)]
    assert await store.rooms.load(CODE) == (room_of(CODE, winner), outcomes[winner])


# -- players ----------------------------------------------------------------------------------------------------


async def test_players_are_kept_by_compare_and_set_too(store: Storage) -> None:
    assert await store.players.load(ANA_KEY) is None
    first = await save(store.players, ANA_KEY, ANA, MISSING)
    with pytest.raises(Conflict):
        await save(store.players, ANA_KEY, BO, MISSING)
    renamed = Player(ANA.id, "Anastasia")
    second = await save(store.players, ANA_KEY, renamed, first)
    assert second > first
    with pytest.raises(Conflict):
        await save(store.players, ANA_KEY, BO, first)
    assert await store.players.load(ANA_KEY) == (renamed, second)
    assert await rooms_in(store) == {}


# -- finished games and the time ----------------------------------------------------------------------------------


async def test_a_save_archives_the_finished_game_with_it(store: Storage) -> None:
    game = await finish(store, "AAAAAA", ANA, BO)
    ((id, found),) = await store.archive.games_of(BO.id, 10)
    assert found == game
    assert await store.archive.game(id) == game


async def test_a_save_that_conflicts_archives_nothing(store: Storage) -> None:
    revision = await keep(store, room_of(CODE), MISSING)
    for wrong in (revision + 1, MISSING):
        with pytest.raises(Conflict):
            await finish(store, CODE, ANA, BO, over=wrong)
    assert await store.archive.games_of(ANA.id, 10) == []


@pytest.mark.parametrize("id", [-1, 0, 17, 2**80])
async def test_a_game_that_is_not_there_is_none(store: Storage, id: int) -> None:
    await finish(store, "AAAAAA", ANA, BO)
    assert await store.archive.game(id) is None


async def test_games_of_a_player_come_newest_first_in_pages(store: Storage) -> None:
    codes = [f"AAAAA{number}" for number in range(2, 7)]
    for number, code in enumerate(codes):
        await finish(store, code, ANA, Player(f"p{number}", "somebody"))
    await finish(store, "BBBBBB", BO, Player("pcy", "cy"))
    archive = store.archive
    first = await archive.games_of(ANA.id, 3)
    rest = await archive.games_of(ANA.id, 3, first[-1][0])
    assert [game.room for _, game in (*first, *rest)] == codes[::-1]
    assert await archive.games_of(ANA.id, 3, rest[-1][0]) == []
    assert await archive.games_of("pNobody", 3) == []
    assert [id for id, _ in await archive.games_of("p4", 3, 2**80)] == [first[0][0]]


async def test_a_shared_game_is_kept_under_its_id_until_that_is_taken_back(store: Storage) -> None:
    game, other = await finish(store, "AAAAAA", ANA, BO), await finish(store, "BBBBBB", BO, ANA)
    archive = store.archive
    assert await archive.shared(SHARE_ID) is None
    await archive.unshare(SHARE_ID)
    for _ in range(2):
        await archive.share(SHARE_ID, game)
        await archive.share(f"{SHARE_ID}2", other)
        assert (await archive.shared(SHARE_ID), await archive.shared(f"{SHARE_ID}2")) == (game, other)
        await archive.unshare(SHARE_ID)
        assert (await archive.shared(SHARE_ID), await archive.shared(f"{SHARE_ID}2")) == (None, other)
    assert [found for _, found in await archive.games_of(ANA.id, 10)] == [other, game]


async def test_the_id_of_a_shared_game_is_found_by_its_first_half(store: Storage) -> None:
    game, archive = await finish(store, "AAAAAA", ANA, BO), store.archive
    half, other = SHARE_ID[: len(SHARE_ID) // 2], "zzzzz-_zzzz"
    assert await archive.shared_id(half) is None
    for tail in ("abcdefghijk", "-_CDEFGHIJK"):
        await archive.share(half + tail, game)
        await archive.share(other + tail, game)
        assert (await archive.shared_id(half), await archive.shared_id(other)) == (half + tail, other + tail)
        await archive.unshare(half + tail)
        assert (await archive.shared_id(half), await archive.shared_id(other)) == (None, other + tail)
        await archive.unshare(other + tail)


async def test_a_shared_game_is_forgotten_with_the_game(store: Storage) -> None:
    game = await finish(store, "AAAAAA", ANA, BO)
    younger = replace(game, at=game.at + 1)
    await store.archive.share(SHARE_ID, game)
    await store.archive.share(f"{SHARE_ID}2", younger)
    async with asyncio.timeout(30):
        while await store.archive.shared(SHARE_ID) is not None:  # which is later
            await store.archive.forget_before(game.at + 1)
            await asyncio.sleep(0.05)
    assert await store.archive.shared(f"{SHARE_ID}2") == younger


@pytest.mark.parametrize("limit", [-1, 0])
async def test_no_games_are_listed_for_a_limit_of_none(store: Storage, limit: int) -> None:
    await finish(store, "AAAAAA", ANA, BO)
    assert await store.archive.games_of(ANA.id, limit) == []


async def test_the_last_note_of_the_time_is_kept(store: Storage) -> None:
    assert await store.noted_time() is None
    store.note_time(1)
    store.note_time(2)
    await keep(store, room_of(CODE), MISSING)
    await until_noted(store, 2)


async def test_a_store_that_works_owes_nothing(store: Storage) -> None:
    room = room_of(CODE)
    revision = await keep(store, room, MISSING)
    await keep(store, replace(room, seq=2), revision)
    assert store.owed_since() is None


# -- what only memory does --------------------------------------------------------------------------------------


async def test_memory_keeps_the_newest_games_and_forgets_the_players_of_the_others() -> None:
    store = MemoryStore(max_games=3)
    for number in range(5):
        await finish(store, f"AAAAA{number + 2}", ANA, Player(f"p{number}", "somebody"))
    assert [game.room for _, game in await store.archive.games_of(ANA.id, 10)] == ["AAAAA6", "AAAAA5", "AAAAA4"]
    assert await store.archive.games_of("p1", 10) == []
    assert [id for id, _ in await store.archive.games_of("p4", 10)] == [5]
    assert await store.archive.game(1) is None
