"""What every store promises: one suite, run against each of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from tests.fakes import TroubledStore
from tictactoe_server.stores import MISSING, Conflict, MemoryStore, Store

STORES: dict[str, Callable[[], Store]] = {"memory": MemoryStore, "troubled, without trouble": TroubledStore}
KEY = "room/K7M4PQ"


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    opened = STORES[request.param]()
    yield opened
    await opened.close()


async def test_a_document_comes_back_as_it_was_saved_with_its_revision(store: Store) -> None:
    document = bytes(range(256)) * 400
    revision = await store.save(KEY, document, MISSING)
    assert await store.load(KEY) == (document, revision)


async def test_what_was_never_saved_is_none(store: Store) -> None:
    assert await store.load(KEY) is None


async def test_the_revision_grows_with_every_save(store: Store) -> None:
    revisions = [MISSING]
    for number in range(5):
        revisions.append(await store.save(KEY, str(number).encode(), revisions[-1]))
    assert revisions == sorted(set(revisions))
    assert await store.load(KEY) == (b"4", revisions[-1])


async def test_a_save_over_an_old_revision_is_a_conflict_and_writes_nothing(store: Store) -> None:
    first = await store.save(KEY, b"first", MISSING)
    second = await store.save(KEY, b"second", first)
    for stale in (first, MISSING, second + 1000):
        with pytest.raises(Conflict):
            await store.save(KEY, b"lost", stale)
    assert await store.load(KEY) == (b"second", second)


async def test_creating_where_something_is_is_a_conflict(store: Store) -> None:
    await store.save(KEY, b"here", MISSING)
    with pytest.raises(Conflict):
        await store.save(KEY, b"too late", MISSING)


async def test_saving_over_what_is_not_there_is_a_conflict(store: Store) -> None:
    with pytest.raises(Conflict):
        await store.save(KEY, b"nobody", 7)
    assert await store.load(KEY) is None


async def test_a_deleted_document_is_gone_and_can_be_made_anew(store: Store) -> None:
    revision = await store.save(KEY, b"old", MISSING)
    await store.delete(KEY, revision)
    assert await store.load(KEY) is None
    again = await store.save(KEY, b"new", MISSING)
    assert again > revision
    assert await store.load(KEY) == (b"new", again)


async def test_a_revision_from_before_the_deletion_fits_no_more(store: Store) -> None:
    old = await store.save(KEY, b"old", MISSING)
    await store.delete(KEY, old)
    with pytest.raises(Conflict):
        await store.save(KEY, b"ghost", old)
    await store.save(KEY, b"new", MISSING)
    with pytest.raises(Conflict):
        await store.save(KEY, b"ghost", old)


async def test_deleting_over_an_old_revision_or_twice_is_a_conflict(store: Store) -> None:
    first = await store.save(KEY, b"first", MISSING)
    second = await store.save(KEY, b"second", first)
    with pytest.raises(Conflict):
        await store.delete(KEY, first)
    assert await store.load(KEY) == (b"second", second)
    await store.delete(KEY, second)
    with pytest.raises(Conflict):
        await store.delete(KEY, second)


async def test_keys_are_found_by_their_beginning(store: Store) -> None:
    for key in ("room/AAAAAA", "room/BBBBBB", "player/abc"):
        await store.save(key, b"x", MISSING)
    assert sorted(await store.keys("room/")) == ["room/AAAAAA", "room/BBBBBB"]
    assert await store.keys("player/") == ["player/abc"]
    assert await store.keys("nothing/") == []
    assert len(await store.keys("")) == 3


async def test_a_deleted_key_is_listed_no_more(store: Store) -> None:
    revision = await store.save(KEY, b"x", MISSING)
    await store.delete(KEY, revision)
    assert await store.keys("room/") == []


async def test_keys_do_not_touch_each_other(store: Store) -> None:
    one = await store.save("room/AAAAAA", b"a", MISSING)
    other = await store.save("room/BBBBBB", b"b", MISSING)
    await store.save("room/AAAAAA", b"aa", one)
    assert await store.load("room/BBBBBB") == (b"b", other)


async def test_of_many_who_save_over_one_revision_exactly_one_wins(store: Store) -> None:
    start = await store.save(KEY, b"start", MISSING)
    results = await asyncio.gather(
        *(store.save(KEY, str(number).encode(), start) for number in range(20)), return_exceptions=True
    )
    winners = [(number, result) for number, result in enumerate(results) if isinstance(result, int)]
    assert len(winners) == 1
    assert sum(isinstance(result, Conflict) for result in results) == 19
    assert await store.load(KEY) == (str(winners[0][0]).encode(), winners[0][1])
