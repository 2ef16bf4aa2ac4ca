"""Kills a process that saves, again and again, and counts the acknowledged saves that are not there afterwards.

A child saves many rooms at once and writes each acknowledgement to a pipe; every fifth save of a room archives a game
with it. The parent kills it in mid-run, opens what it left, and looks for every save that it was told of, and for
rooms that disagree with their archive. Usage: python -m tools.soak.store [--kills 50] [--saves 2000] [--folder DIR]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from tests.environment import environment
from tests.server.stored import keep, room_of
from tests.server.tables import Table
from tictactoe_protocol import MAX_LISTED_GAMES
from tictactoe_server.records.tables import ROOMS as SAVED
from tictactoe_server.records.tables import open_folder
from tictactoe_server.rooms import FinishedGame, Player, finished_game
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING

ROOMS = 40
SAVES_A_GAME = 5


@dataclass
class Findings:
    """What was acknowledged over all kills, and what was wrong afterwards."""

    kills: int = 0
    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.acknowledged:,} acknowledged saves: {len(self.lost)} lost, "
            f"{len(self.torn)} rooms at odds with their archive"
        )


def game_of(code: str, number: int) -> FinishedGame:
    """Return a finished game of a room, whose one player in the archive has the room's code for a name."""
    table = Table(Player(code, code), Player("pbo", "bo"))
    return replace(finished_game(table.play(0, 3, 1, 4, 2), 0), room=code, game=number)


async def save_for_ever(folder: Path) -> None:
    """Save all rooms at once, from where they are, and tell of each save that returned."""
    store = open_folder(folder)

    async def keep_saving(code: str) -> None:
        found = await store.table(SAVED).load(code)
        number, revision = (found[0].seq, found[1]) if found else (0, MISSING)
        while True:
            number += 1
            finished = game_of(code, number) if number % SAVES_A_GAME == 0 else None
            revision = await keep(store, room_of(code, number), revision, finished)
            os.write(1, b"%b %d\n" % (code.encode(), number))

    await asyncio.gather(*(keep_saving(f"K7M4{number}") for number in range(22, 22 + ROOMS)))


async def check(folder: Path, findings: Findings) -> None:
    """Open what the child left and compare it with what it said."""
    store = open_folder(folder)
    for code, number in findings.numbers.items():
        found = await store.table(SAVED).load(code)
        kept = found[0].seq if found else 0
        if kept < number:
            findings.lost.append(f"{code}: {number} was acknowledged, {kept} is there")
        if (games := await count_games(store, code)) != kept // SAVES_A_GAME:
            findings.torn.append(f"{code}: {kept} saves and {games} games")
    await store.close()


async def count_games(store: SqliteStore, player: str) -> int:
    total, before = 0, None
    while page := await store.games.games_of(player, MAX_LISTED_GAMES, before):
        total, before = total + len(page), page[-1][0]
    return total


def run(folder: Path, kills: int, saves: int) -> Findings:
    """Start, kill and check so many times, each after so many acknowledgements."""
    findings = Findings()
    for _ in range(kills):
        child = subprocess.Popen(
            [sys.executable, "-m", "tools.soak.store", "--child", str(folder)],
            stdout=subprocess.PIPE,
            env=environment(),
        )
        assert child.stdout
        acknowledged = 0
        for line in child.stdout:
            if not line.endswith(b"\n"):
                break
            key, number = line.decode().split()
            findings.numbers[key] = int(number)
            acknowledged += 1
            if acknowledged == saves:
                child.send_signal(signal.SIGKILL)
        child.stdout.close()
        if child.wait() != -signal.SIGKILL:
            raise SystemExit("the child ended by itself")
        findings.kills += 1
        findings.acknowledged += acknowledged
        asyncio.run(check(folder, findings))
    return findings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--saves", type=int, default=2000, help="how many to acknowledge before each kill")
    parser.add_argument("--folder", type=Path, help="a disk to run on, instead of the temporary one")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        asyncio.run(save_for_ever(options.child))
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        findings = run(Path(folder), options.kills, options.saves)
    print(findings)
    sys.exit(bool(findings.lost or findings.torn))


if __name__ == "__main__":
    main()
