"""What is read past the servers is what lies in the stream, and a move that replaces another one is noticed."""

from __future__ import annotations

import asyncio
from pathlib import Path

from nats.js.api import RePublish, StreamConfig

from tests.cluster.nodes import STREAM, Nodes
from tests.server.tables import ANA, BO, CODE, Table, encode_room
from tictactoe_server.records.tables import encode_game
from tictactoe_server.rooms import Room, finished_game
from tools.soak.stream import Witness, read_games


def played(*cells: int) -> Room:
    return Table(ANA, BO).play(*cells)


async def test_games_that_are_on_and_games_that_ended_are_read_and_forks_are_noticed(tmp_path: Path) -> None:
    over = played(0, 3, 1, 4, 2)
    on = played(8)
    witness = Witness()
    async with Nodes(tmp_path, 1) as nodes:
        async with nodes.connected() as admin:
            jetstream = admin.jetstream()
            config = StreamConfig(name=STREAM, subjects=["$KV.rooms-0.>"], max_msgs_per_subject=1)
            config.republish = RePublish(src="$KV.rooms-0.>", dest="ev.rooms-0.>")
            await jetstream.add_stream(config)
            assert await read_games(nodes) == {}
            async with witness.looking_on(nodes):
                for room in (played(0), over, on):
                    await jetstream.publish(f"$KV.rooms-0.room.{CODE}", encode_room(room))
                await jetstream.publish(f"$KV.rooms-0.game.{CODE}-0-1", encode_game(finished_game(over, 0)))
                async with asyncio.timeout(10):
                    await witness.has_seen(3)
        assert await read_games(nodes) == {(CODE, 1): [(0, 3, 1, 4, 2), (8,)]}
    assert witness.forks == [f"game 1 of {CODE} had (0, 3, 1, 4, 2) (2) and has (8,) (3)"]
