"""The results of a save on NATS when the servers fail, and that the next save succeeds."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from tests.peer import until
from tests.server.fake_nats import FakeNats
from tests.server.nats_node import check_refusal
from tests.server.stored import keep, room_of
from tictactoe_server import clock
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.features.backups.streams import copied_streams
from tictactoe_server.features.cluster.members import Members
from tictactoe_server.features.cluster.messages import Heartbeat
from tictactoe_server.features.jetstream.link import Link
from tictactoe_server.features.jetstream.store import JetStreamStore
from tictactoe_server.features.jetstream.stream import outcome_of
from tictactoe_server.records.tables import KEPT, ROOMS
from tictactoe_server.rooms.room import Room
from tictactoe_server.storage.store import MISSING, CannotOpenStore, Conflict, NotStored, StoreUnavailable, Unsettled

CODE = "K7M4PQ"
LINK_SECONDS = 0.3


@pytest.fixture
async def nats() -> AsyncIterator[FakeNats]:
    async with FakeNats() as fake:
        yield fake


@pytest.fixture
async def store(nats: FakeNats) -> AsyncIterator[JetStreamStore]:
    opened = await JetStreamStore.open(nats.url, KEPT, patience_seconds=LINK_SECONDS)
    yield opened
    await opened.close()


async def stored(store: JetStreamStore) -> tuple[Room, int]:
    while True:
        with contextlib.suppress(StoreUnavailable):
            found = await store.table(ROOMS).load(CODE)
            assert found is not None
            return found
        await asyncio.sleep(0.01)


async def test_a_save_with_a_lost_answer_is_unknown_until_a_load(nats: FakeNats, store: JetStreamStore) -> None:
    old = await keep(store, room_of(CODE, 1), MISSING)
    nats.faults.append("cut")
    with pytest.raises(StoreUnavailable) as caught:
        await keep(store, room_of(CODE, 2), old)
    assert type(caught.value) is StoreUnavailable
    assert store.owed_since() is not None
    room, revision = await stored(store)
    assert room == room_of(CODE, 2)
    with pytest.raises(Conflict):
        await keep(store, room_of(CODE, 3), old)
    await keep(store, room_of(CODE, 3), revision)
    assert store.owed_since() is None


def refusal(code: int) -> bytes:
    return b'{"error":{"code":400,"err_code":%d,"description":"why"}}' % code


@pytest.mark.parametrize(
    ("answers", "error"),
    [
        ([b"what?", b"{}", b'{"stream":"rooms-0"}', b'{"stream":"rooms-0","seq":0}'], StoreUnavailable),
        ([refusal(10008)], StoreUnavailable),
        ([refusal(10071)], Conflict),
        ([refusal(10164)], Unsettled),
        ([refusal(code) for code in (10023, 10054, 10077)], NotStored),
    ],
    ids=["no answer", "unknown", "conflict", "in process", "refused"],
)
def test_the_outcome_of_a_write_follows_from_the_answer(answers: list[bytes], error: type[Exception]) -> None:
    for answer in answers:
        assert type(outcome_of("key", answer)) is error
    assert outcome_of("key", b'{"stream":"rooms-0","seq":7}') == 7


async def test_a_server_waits_while_another_makes_the_identity_of_all(nats: FakeNats, store: JetStreamStore) -> None:
    nats.faults.extend([10164, 10164])
    first = await store.identity()
    assert (nats.faults, await store.identity()) == (deque(), first)


async def test_a_server_that_answers_too_late_is_not_left(nats: FakeNats) -> None:
    link = await Link.open(nats.url, patience_seconds=LINK_SECONDS)
    nats.holds_echoes = True
    with pytest.raises(StoreUnavailable):
        await link.flush()
    nats.release()
    nats.holds_echoes = False
    await link.flush()
    assert nats.connections == 1
    assert link.away_since is None
    await link.close()


async def test_a_server_that_was_cut_off_stores_nothing_until_it_knows_the_time_of_the_others(
    store: JetStreamStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tictactoe_server.features.cluster.members.GONE_SECONDS", 60.0)
    time_served = ServedTime(store)
    members = Members(store.link, "here", "ws://here", time_served)
    heartbeat = Heartbeat("other", "other", "ws://other", 10_000, [], 0)
    members.on_heartbeat(heartbeat)
    revision = await keep(store, room_of(CODE, 1), MISSING)

    for is_known in (True, False):
        if not is_known:
            members.lose("other")
        members._last_heard_at -= 120.0
        members.listen_anew()  # as when the connection is restored
        with pytest.raises(NotStored):
            await keep(store, room_of(CODE, 2), revision)
        members.on_heartbeat(replace(heartbeat, time=40_000))
        assert time_served() >= 40_000
        revision = await keep(store, room_of(CODE, 2), revision)

    members.lose("other")
    members._last_heard_at = members._listening_since = clock.monotonic() - 120.0
    await keep(store, room_of(CODE, 3), revision)


async def test_announced_servers_are_used_as_fallbacks(nats: FakeNats) -> None:
    async with FakeNats() as other:
        other.others = [nats.url.removeprefix("nats://")]
        link = await Link.open(other.url, patience_seconds=LINK_SECONDS)
    await until(lambda: nats.connections and link.is_connected)
    await link.request("$JS.API.STREAM.INFO.rooms-0")
    await link.close()


async def test_credentials_are_not_sent_to_a_server_without_tls(nats: FakeNats) -> None:
    async def call_as(who: str) -> None:
        await check_refusal(nats.url.replace("nats://", f"tls://{who}"), "no TLS")

    await asyncio.gather(*map(call_as, ("ana:secret@", "secret@", "")))
    assert nats.connections >= 3
    assert nats.introductions == []


async def test_an_unanswerable_read_is_unavailable(nats: FakeNats, store: JetStreamStore) -> None:
    await keep(store, room_of(CODE), MISSING)
    nats.read_error = 10008
    with pytest.raises(StoreUnavailable):
        await store.table(ROOMS).load(CODE)


async def test_silence_to_a_question_for_many_is_no_answer_that_there_are_none(nats: FakeNats) -> None:
    link = await Link.open(nats.url, patience_seconds=LINK_SECONDS)
    nats.freeze()
    with pytest.raises(StoreUnavailable):
        await link.request_many("$JS.API.DIRECT.GET.rooms-0", b"{}")
    await link.close()


async def test_copying_into_a_stream_retries_and_writes_once(nats: FakeNats) -> None:
    async with copied_streams(nats.url, None, None, KEPT, to_fill=True) as target:
        nats.faults.extend(["nobody", "cut"])
        await asyncio.gather(*(target.put(ROOMS, code, room_of(code)) for code in ("AAAAAA", "BBBBBB", "CCCCCC")))
    assert sorted(key for key in nats.kept if ".room." in key) == [
        f"$KV.rooms-0.room.{code}" for code in ("AAAAAA", "BBBBBB", "CCCCCC")
    ]
    assert nats.sequence == 5  # with the layout, which an empty stream is given


async def test_a_copy_never_ends_between_a_game_and_its_room(nats: FakeNats, store: JetStreamStore) -> None:
    async with copied_streams(nats.url, None, None, KEPT) as source:

        async def read_rooms() -> list[str]:
            return [stored.key async for some in source.load_all(ROOMS) for stored in some]

        nats.keep(f"$KV.rooms-0.game.{CODE}-1-1", b"the game that the room ended")
        reading = asyncio.ensure_future(read_rooms())
        await asyncio.wait({reading}, timeout=0.2)  # it would be over
        await keep(store, room_of(CODE), MISSING)
        assert await reading == [CODE]


async def test_a_store_waits_to_be_readable_and_reports_why_it_is_not(nats: FakeNats) -> None:
    nats.read_error = 10008
    with pytest.raises(CannotOpenStore, match=r"Cannot use the stream .*: error 10008"):
        await JetStreamStore.open(nats.url, KEPT, opening_seconds=2, unsafe=True)
    before = nats.refused
    opening = asyncio.create_task(JetStreamStore.open(nats.url, KEPT, unsafe=True))
    await until(lambda: nats.refused > before)
    nats.read_error = None
    await (await opening).close()


async def test_an_incomplete_copy_never_denies_that_a_game_exists(
    nats: FakeNats, store: JetStreamStore, caplog: pytest.LogCaptureFixture
) -> None:
    assert await store.games.games_at(CODE, 1) == []
    nats.freeze()
    with pytest.raises(StoreUnavailable):
        await store.games.games_at(CODE, 1)
    assert "finished games not copied yet; retrying" in caplog.text


@pytest.mark.parametrize("turns_away", [False, True])
async def test_a_link_closes_its_connections_whenever_it_is_closed(nats: FakeNats, *, turns_away: bool) -> None:
    nats.turns_away = turns_away
    for turns in range(40):
        opening = asyncio.create_task(Link.open(nats.url))
        for _ in range(turns):
            await asyncio.sleep(0)
        opening.cancel()
        for link in await asyncio.gather(opening, return_exceptions=True):
            if isinstance(link, Link):
                await link.close()
    await until(lambda: not nats.clients)
