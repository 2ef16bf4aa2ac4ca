"""A disk that is full: a clear answer, everything else goes on, and so do saves once there is room again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.faults.harness import Harness
from tests.peer import open_peer

if sys.platform == "win32":
    pytest.skip("Windows has no limit of file sizes", allow_module_level=True)

import resource

FULL = (1, resource.RLIM_INFINITY)
FREE = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


def limit_files(pid: int, limit: tuple[int, int]) -> None:
    """Let a process write files up to that size."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, limit)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits another process")
async def test_a_full_disk_is_unavailable_and_is_forgiven_without_a_restart(tmp_path: Path) -> None:
    async with Harness(tmp_path) as server:
        async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
            room = (await ana.ask("create"))["room"]
            await bo.ask("join", room=room)
            assert (await ana.ask("move", room=room, cell=4, ply=0))["type"] == "ok"
            await bo.state(ply=1)
            pid = server.pid
            limit_files(pid, FULL)
            for _ in range(2):
                error = await bo.ask("move", room=room, cell=0, ply=1)
                assert (error["code"], error["room"]) == ("unavailable", room)
                assert error["retry_ms"] > 0
            assert await ana.refusal("create") == "unavailable"
            assert (await ana.ask("sync", room=room))["moves"] == [4]
            assert (await ana.ask("chat", room=room, text="still here"))["type"] == "ok"
            await server.logged(lambda line: "the store refuses" in line)
            limit_files(pid, FREE)
            assert (await bo.ask("move", room=room, cell=0, ply=1))["type"] == "ok"
            assert (await ana.state(ply=2))["board"] == "O...X...."
            await server.logged(lambda line: "the store works again" in line)
            assert server.pid == pid
        await server.end()
        await server.start()
        async with open_peer(server.url, token=ana.welcome["token"]) as ana:
            assert (await ana.ask("join", room=room))["moves"] == [4, 0]
