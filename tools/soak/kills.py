"""Kills the server in the middle of play, again and again, and looks for every acknowledged command afterwards."""

from __future__ import annotations

import random
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.faults.harness import COMMAND, Harness
from tools.soak.fleet import Fleet
from tools.soak.ledger import Ledger


@dataclass
class Kills:
    """What came of it."""

    kills: int
    ledger: Ledger
    has_stalled: bool = False
    """Whether play came to a stop for good: players who were told of a move that is gone wait for each other."""

    @property
    def has_failed(self) -> bool:
        return self.has_stalled or bool(self.ledger.violations)

    def __str__(self) -> str:
        return "\n".join((f"{self.kills} kills, {self.ledger.report()}", *self.ledger.violations[:20]))


async def run(
    folder: Path,
    *,
    kills: int,
    commands: int,
    rooms: int,
    watchers: int = 0,
    seed: int = 0,
    command: tuple[str, ...] = COMMAND,
    options: tuple[str, ...] = (),
) -> Kills:
    """Let `rooms` play until `commands` are acknowledged, and kill the server `kills` times on the way."""
    choice = random.Random(seed)
    async with Harness(folder, *options, command=command) as server:
        fleet = Fleet(rooms, server.when_listening, watchers=watchers, seed=seed)
        try:
            await fleet.start()
            for kill in range(kills):
                goal = commands * (kill + choice.random()) / (kills + 1)
                await fleet.until(lambda goal=goal: fleet.ledger.acknowledged >= goal)  # type: ignore[misc]
                await server.end(signal.SIGKILL)
                await server.start()
                print(f"kill {kill + 1}: {fleet.ledger.report()}", file=sys.stderr)
            await fleet.until(lambda: fleet.ledger.acknowledged >= commands)
            await fleet.stop()
        except TimeoutError:
            if not fleet.ledger.violations:
                raise
            return Kills(kills, fleet.ledger, has_stalled=True)
        finally:
            await fleet.abandon()
    return Kills(kills, fleet.ledger)
