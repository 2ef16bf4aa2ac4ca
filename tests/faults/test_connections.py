"""Peers that do not read, and lines that are slow."""

from __future__ import annotations

from pathlib import Path

from tests.faults.harness import Harness
from tests.peer import open_peer, play_out
from tests.proxy import Link, Proxy


async def test_watchers_that_do_not_read_delay_nobody_and_end_with_the_newest_state(tmp_path: Path) -> None:
    async with (
        Harness(tmp_path) as server,
        Proxy(server.port) as proxy,
        open_peer(server.url, "ana") as ana,
        open_peer(server.url, "bo") as bo,
        open_peer(proxy.url, "eve") as eve,
        open_peer(proxy.url, "cy") as cy,
    ):
        room = (await ana.ask("create", rules="gomoku"))["room"]
        await bo.ask("join", room=room)
        for watcher in (eve, cy):
            await watcher.ask("watch", room=room)
        for link in proxy.links:
            link.down.hold_up()
        await play_out({"X": ana, "O": bo}, room, [0, 30, 1, 31, 2, 32, 3, 33])
        for link in proxy.links:
            link.down.go_on()
        for watcher in (eve, cy):
            assert (await watcher.state(ply=8))["last"] == 33


async def test_a_slow_and_narrow_line_changes_nothing_but_the_time(tmp_path: Path) -> None:
    def slow_down(link: Link) -> None:
        link.up.bytes_per_second = link.down.bytes_per_second = 20_000
        link.down.delay_seconds = 0.01

    async with Harness(tmp_path) as server, Proxy(server.port) as proxy:
        proxy.on_link = slow_down
        async with open_peer(proxy.url, "ana") as ana, open_peer(server.url, "bo") as bo:
            room = (await ana.ask("create"))["room"]
            await bo.ask("join", room=room)
            state = await play_out({"X": ana, "O": bo}, room, [4, 0, 8])
            assert state["board"] == "O...X...X"
