"""All servers of a cluster are restarted one after the other, with somebody in a game in each of the three faces."""

from __future__ import annotations

import contextlib
from pathlib import Path

from tests.end_to_end.clients import run_client
from tests.limits import uncounted
from tests.peer import until
from tests.server.nats_node import empty_store, node_in
from tests.tui.conftest import OpenScreen
from tictactoe_client import Room, connect
from tictactoe_client.input.ways import Choice
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


async def until_moves(room: Room, count: int) -> None:
    await until(lambda: room.state.ply >= count)


async def test_who_plays_in_any_face_through_a_rolling_restart_misses_nothing_and_loses_no_connection(
    tmp_path: Path, open_screen: OpenScreen
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        node = stack.enter_context(node_in(tmp_path))
        await (await empty_store(node)).close()
        settings = Settings(host="127.0.0.1", port=0, store=node.url, store_unsafe=True)
        first, second = [await stack.enter_async_context(contextlib.AsyncExitStack()) for _ in range(2)]
        one = await first.enter_async_context(Server(settings, limits=uncounted()))
        two = await second.enter_async_context(Server(settings, limits=uncounted()))
        await until(lambda: len(one.cluster.members.urls) == len(two.cluster.members.urls) == 2)
        rooms = []
        for _ in range(3):
            bo = await stack.enter_async_context(connect(one.url, name="bo", reconnect=True))
            rooms.append(await bo.create("classic", seat="O"))
        codes = [room.code for room in rooms]
        screen = await stack.enter_async_context(open_screen(one.url, Choice("join", code=codes[0])))
        plain = await stack.enter_async_context(run_client("join", codes[1], "-n", "cy", "-s", one.url))
        script = await stack.enter_async_context(run_client("join", codes[2], "--json", "-s", one.url))

        async def play(cells: tuple[int, int], ply: int) -> None:
            """Have each face play a cell, and its opponent the other, of which it hears."""
            await screen.do(str(cells[0] + 1))
            plain.type(str(cells[0] + 1))
            script.send(type="move", cell=cells[0])
            for room in rooms:
                await until_moves(room, ply + 1)
                await room.move(cells[1])
            await screen.until("Your move, X.")
            await plain.until("bo plays ")
            await script.message(type="room", ply=ply + 2)

        await screen.until("Your move, X.")
        await plain.until("Your move, X.")
        await script.message(type="room", status="playing")
        await play((0, 3), 0)
        await first.aclose()
        assert await plain.until("The room is at") == f"The room is at {two.url} now."
        assert (await script.message(type="moved"))["url"] == two.url
        await play((1, 6), 2)
        three = await first.enter_async_context(Server(settings, limits=uncounted()))
        await until(lambda: len(two.cluster.members.urls) == len(three.cluster.members.urls) == 2)
        await second.aclose()
        assert await plain.until("The room is at") == f"The room is at {three.url} now."
        await screen.until(three.url)
        await play((5, 7), 4)
        for room in rooms:
            await until_moves(room, 6)
            assert room.moves == (0, 3, 1, 6, 5, 7)
        assert not any("onnection" in line for line in (screen.text, *plain.lines[2:]))
        assert not any('"disconnected"' in line for line in script.lines)
