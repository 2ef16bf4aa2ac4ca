"""The clients of the long runs do as players do: who has patience with an end notices that a server is dead."""

from __future__ import annotations

from pathlib import Path

from tests.faults.harness import Harness
from tools.soak.fleet import Fleet


async def test_clients_with_patience_leave_a_frozen_server_and_play_on_when_it_is_back(tmp_path: Path) -> None:
    async with Harness(tmp_path) as server:
        fleet = Fleet(2, server.when_listening, watchers=1, patience_seconds=1.0)
        try:
            await fleet.start()
            await fleet.until(lambda: fleet.ledger.acknowledged >= 20)
            server.freeze()
            await fleet.until(lambda: all(client.connections and not client.is_connected for client in fleet.clients))
            server.thaw()
            goal = fleet.ledger.acknowledged + 20
            await fleet.until(lambda: fleet.ledger.acknowledged >= goal)
            await fleet.stop()
        finally:
            await fleet.abandon()
        assert fleet.ledger.violations == []


async def test_those_of_a_room_come_by_different_addresses(tmp_path: Path) -> None:
    async with Harness(tmp_path) as server:
        calls = {"one": 0, "other": 0}

        async def by_one() -> str:
            calls["one"] += 1
            return server.url

        async def by_other() -> str:
            calls["other"] += 1
            return server.url

        fleet = Fleet(3, by_one, by_other)
        try:
            await fleet.start()
            assert calls == {"one": 3, "other": 3}
            await fleet.stop()
        finally:
            await fleet.abandon()
