import asyncio
import contextlib
from pathlib import Path

import pytest

from tests.cluster.nodes import READY_SECONDS, Nodes
from tests.server.commands import run_command
from tests.server.nats_node import Node, empty_store, empty_streams, make_anew, opened
from tests.server.stored import finish, keep, room_of, rooms_in
from tests.server.tables import ANA, BO
from tictactoe_server.features.cluster.messages import HEARTBEATS, Heartbeat, encode
from tictactoe_server.features.jetstream import streams as sharding
from tictactoe_server.features.jetstream.link import Link
from tictactoe_server.features.jetstream.stream import Stream, StreamError, StreamInfo
from tictactoe_server.features.jetstream.streams import make_streams, name_of, share_out, spread_leaders
from tictactoe_server.records.tables import ROOMS
from tictactoe_server.storage.specs import Storage
from tictactoe_server.storage.store import MISSING, CannotOpenStore

CODES = [f"AAAA{first}{second}" for first in "ABCD" for second in "ABCDEF"]


class Reader:
    """Reads the log from its last position, and records what it read."""

    def __init__(self) -> None:
        self.cursor = ""
        self.read: dict[int, str] = {}

    async def read_on(self, store: Storage) -> list[str]:
        """Read new entries, and return their rooms; no id may come twice."""
        fresh = list[str]()
        async for cursor, id, game in store.games.after(self.cursor, 1_000):
            assert id not in self.read
            assert await store.games.game(id) == game
            self.cursor, self.read[id] = cursor, game.room
            fresh.append(game.room)
        return sorted(fresh)


async def share_out_anew(node: Node, count: int) -> int:
    link = await Link.open(node.url)
    try:
        return await share_out(link, count)
    finally:
        await link.close()


async def test_new_rooms_are_spread_evenly(node: Node) -> None:
    store = await empty_store(node, count=4)
    codes = [code for number in range(400) if store.streams.is_next(code := f"{number:06}")]
    streams = [store.streams.of(f"room.{code}") for code in codes]
    assert len(codes) > 50
    assert max(map(streams.count, store.streams.all)) - min(map(streams.count, store.streams.all)) <= 1
    await store.close()


async def test_a_room_and_its_games_are_in_one_stream_and_each_stream_has_some(node: Node) -> None:
    store = await empty_store(node, count=4)
    for code in CODES:
        await finish(store, code, ANA, BO)
    for stream in store.streams.all:
        found = [entry.key async for some in stream.walk(">") for entry in some]
        rooms = {key.partition(".")[2] for key in found if key.startswith("room.")}
        games = {key.partition(".")[2].partition("-")[0] for key in found if key.startswith("game.")}
        assert rooms == games != set()
    await store.close()


@pytest.mark.parametrize("first", [1, 4])
async def test_redistributing_rooms_neither_skips_nor_repeats_log_entries(node: Node, first: int) -> None:
    store, reader = await empty_store(node, count=first), Reader()
    for code in CODES:
        await finish(store, code, ANA, BO)
        await keep(store, room_of("B" + code[1:], 2), MISSING)
    assert await reader.read_on(store) == CODES
    rooms, games = await rooms_in(store), await store.games.games_of(ANA.id, 100)
    for number, count in enumerate((8, 3, 3)):
        await store.close()
        assert (await share_out_anew(node, count) > 0) == (number < 2)
        store = await opened(node)
        assert await rooms_in(store) == rooms
        assert all([await store.table(ROOMS).load(code) for code in rooms])
        assert await store.games.games_of(ANA.id, 100) == games
        assert await reader.read_on(store) == []
        later = f"CCCC{number}A"
        await finish(store, later, BO, ANA)
        assert await reader.read_on(store) == [later]
        rooms, games = await rooms_in(store), await store.games.games_of(ANA.id, 100)
    await store.close()


async def test_an_interrupted_redistribution_blocks_servers(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await empty_store(node, count=2)
    for code in CODES:
        await keep(store, room_of(code, 3), MISSING)
    rooms = await rooms_in(store)
    await store.close()
    move, moved = sharding._move, list[object]()

    async def move_some(*what: object) -> None:
        moved.append(what)
        if len(moved) > 5:
            raise OSError("the power is gone")
        await move(*what)  # type: ignore[arg-type]

    for count in (5, 2):  # on to the end, and back
        monkeypatch.setattr(sharding, "_move", move_some)
        with pytest.raises(OSError, match="power"):
            await share_out_anew(node, 5)
        with pytest.raises(CannotOpenStore, match="reshard 5"):
            await opened(node)
        monkeypatch.setattr(sharding, "_move", move)
        moved.clear()
        await share_out_anew(node, count)
        store = await opened(node)
        assert await rooms_in(store) == rooms
        await store.close()
        await share_out_anew(node, 2)


async def test_streams_of_version_1_are_refused_and_stay_as_they_are(node: Node) -> None:
    link = await Link.open(node.url)
    await empty_streams(link, 0)
    first = Stream(link, name_of(0))
    await make_anew(first, {})
    await first.put("room.K7M4PQ", b"{}", MISSING)
    before = await first.info()
    with pytest.raises(CannotOpenStore, match=r"rooms-0 in .* was written by version 1"):
        await opened(node)
    with pytest.raises(CannotOpenStore, match="written by version 1"):
        await make_streams(link, 4, 1)
    said = await asyncio.to_thread(run_command, "cluster", "init", "--store", node.url, "--replicas", "1")
    assert (said.exit_code, "Retrying" in said.output) == (1, False)
    assert (await first.info()).state == before.state
    await link.request(f"$JS.API.STREAM.DELETE.{first.name}")
    await link.close()


async def test_moved_entries_keep_ids_and_readers_cursors(node: Node, tmp_path: Path) -> None:
    store, reader = await empty_store(node, count=4), Reader()
    for number, code in enumerate(CODES):
        await finish(store, code, ANA, BO, at=1_700_000_000_000 + number)
    await reader.read_on(store)
    await finish(store, "CCCCCC", ANA, BO, at=1_800_000_000_000)  # which the reader has not read yet
    games = await store.games.games_of(ANA.id, 100)
    await store.close()
    folder = str(tmp_path / "backup")
    assert (await asyncio.to_thread(run_command, "move", node.url, folder)).exit_code == 0
    link = await Link.open(node.url)
    await empty_streams(link, 3)
    await link.close()
    back = await asyncio.to_thread(run_command, "move", folder, node.url)
    assert back.exit_code == 0, back.output
    store = await opened(node)
    assert await store.games.games_of(ANA.id, 100) == games
    assert await reader.read_on(store) == ["CCCCCC"]
    await finish(store, "DDDDDD", ANA, BO, at=1_800_000_000_001)
    assert await reader.read_on(store) == ["DDDDDD"]
    assert await store.games.forget_before(1_700_000_000_005) is False
    assert [game.room for _, game in await store.games.games_of(ANA.id, 100)] == ["DDDDDD", "CCCCCC", *CODES[:4:-1]]
    await store.close()
    store = await opened(node)  # into a new copy, from the streams' present content
    assert len(await store.games.games_of(ANA.id, 100)) == len(CODES) - 5 + 2
    await store.close()


async def test_the_nodes_lead_about_as_many_streams_each(tmp_path: Path) -> None:
    async with Nodes(tmp_path) as nodes:
        link = await Link.open(nodes.admin_url)
        streams = await make_streams(link, 4)
        led = [(await one.info()).cluster.leader for one in streams.all]
        assert sorted(led.count(name) for name in set(led)) == [1, 1, 2]
        async with asyncio.timeout(READY_SECONDS):
            while others := [one for one in streams.all if await nodes.leader(one.name) != nodes.nodes[0]]:
                for one in others:  # a node that is behind declines to lead, and is asked again
                    with contextlib.suppress(StreamError):
                        await one.ask("STREAM.LEADER.STEPDOWN.", {"placement": {"preferred": "n0"}}, StreamInfo)
                await asyncio.sleep(0.2)
        await spread_leaders(streams)
        led = [(await one.info()).cluster.leader for one in streams.all]
        assert sorted(led.count(name) for name in set(led)) == [1, 1, 2]
        await link.close()


async def test_sharing_out_is_refused_while_a_server_lives_and_check_tells_of_each_stream(node: Node) -> None:
    await (await empty_store(node, count=2)).close()
    link = await Link.open(node.url)
    heartbeat = encode(Heartbeat("a1b2", "one", "ws://127.0.0.1:1", 0, ["a1b2"], 0))
    command = asyncio.create_task(asyncio.to_thread(run_command, "cluster", "reshard", "4", "--store", node.url))
    while not command.done():
        link.publish(HEARTBEATS, heartbeat)
        await asyncio.sleep(0.1)
    assert command.result().exit_code == 1
    assert "Stop these servers first: one." in command.result().output
    await link.close()
    for words in ("The cluster now has 4 streams for rooms; moved 0 rooms.",) * 2:
        assert words in (await asyncio.to_thread(run_command, "cluster", "reshard", "4", "--store", node.url)).output
    said = (await asyncio.to_thread(run_command, "cluster", "check", "--store", node.url)).output
    assert [line.partition(":")[0] for line in said.splitlines() if line.startswith("Stream ")] == [
        f"Stream rooms-{number}" for number in range(4)
    ]
    assert ", leader " in said
    again = await asyncio.to_thread(run_command, "cluster", "init", "--store", node.url, "--streams", "8")
    assert "To change the number of streams: tictactoe-server cluster reshard 8" in again.output
