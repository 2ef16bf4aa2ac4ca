"""Long games: what a move, taking one back, an analysis of an early position, a watcher and a restart cost."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from typing import Self
from urllib.parse import urlsplit

from tools.bench.asker import Asker, open_asker, open_askers, open_rooms
from tools.bench.growth.curve import Curve
from tools.bench.growth.probe import Probe
from tools.bench.load import Spin
from tools.bench.processes import IN_MEMORY, SERVER, Measured, started

SIZES = (100, 300, 990)
SIDE = 32
RULES = {"rows": SIDE, "columns": SIDE, "line": SIDE}
TIMES = 50
RELOADED_ROOMS = 20


async def measure(spin: Spin) -> None:
    await _questions(spin)
    await _reloading()


def cell_of(ply: int) -> int:
    """Return a cell for each ply so that the marks lie like the squares of a chessboard: no line before the 993rd."""
    row, column = divmod(ply, SIDE)
    return row * SIDE + (column + row) % SIDE


class LongGame:
    """Two players, `TIMES` who watch now and then, and the moves that lie on the board."""

    def __init__(self, players: list[Asker], watchers: list[Asker], code: str) -> None:
        self.players = players
        self.code = code
        self._watchers = watchers
        self._ply = 0

    @classmethod
    async def open(cls, url: str) -> Self:
        first, second, *watchers = await open_askers(url, 2 + TIMES)
        (code,) = await open_rooms(first, 1, rules=RULES, analysis="open")
        await second.ask("join", room=code)
        return cls([first, second], watchers, code)

    async def play(self, moves: int = TIMES) -> None:
        for _ in range(moves):
            mover = self.players[self._ply % 2]
            await mover.ask("move", room=self.code, cell=cell_of(self._ply), ply=self._ply)
            self._ply += 1

    async def undo(self) -> None:
        """Take the last move back, and play it again."""
        for _ in range(TIMES):
            asker, other = self.players[(self._ply - 1) % 2], self.players[self._ply % 2]
            await asker.ask("undo", room=self.code, action="offer")
            await other.ask("undo", room=self.code, action="accept")
            self._ply -= 1
            await self.play(1)

    async def watch(self) -> None:
        for watcher in self._watchers:
            await watcher.ask("watch", room=self.code)

    async def leave(self) -> None:
        for watcher in self._watchers:
            await watcher.ask("leave", room=self.code)

    async def analyse(self) -> None:
        """Ask about the first plies, each watcher once: a connection may not ask often."""
        for ply, watcher in enumerate(self._watchers):
            await watcher.ask("analyse", room=self.code, ply=ply)


async def _questions(spin: Spin) -> None:
    curve = Curve(
        f"a game of many moves on {SIDE}x{SIDE}: CPU ms, and the longest wait of another table's move meanwhile",
        "moves",
        ("a move", "an undo", "an analysis", "a watcher", "longest wait", "- its work"),
        ("a move", "an undo", "an analysis", "a watcher"),
    )
    for count in SIZES:
        with started((*SERVER, *IN_MEMORY, "--bot-deadline", "0.05")) as server:
            game = await LongGame.open(server.url)
            await game.play(count - TIMES)
            moving = await _cost(server, game.play)
            undoing = await _cost(server, game.undo) - moving
            watching = await _cost(server, game.watch)
            await game.analyse()
            analysing = await _cost(server, game.analyse)
            await game.leave()
            probe = await Probe.open(server, spin)
            await asyncio.sleep(0.2)
            probe.begin()
            await game.undo()
            await game.watch()
            curve.add(count, moving, undoing, analysing, watching, *probe.longest(), remark=probe.remark())
            await probe.close()
    curve.end()


async def _cost(server: Measured, act: Callable[[], Awaitable[None]]) -> float:
    """Return the CPU ms of one of `TIMES`."""
    await asyncio.sleep(0.02)  # the kernel's figure is exact once the process rests
    cpu = server.cpu_seconds()
    await act()
    await asyncio.sleep(0.02)
    return (server.cpu_seconds() - cpu) / TIMES * 1e3


async def _reloading() -> None:
    curve = Curve(
        f"{RELOADED_ROOMS} games of many moves, found again after a restart",
        "moves",
        ("start CPU s", "CPU ms a game"),
        ("CPU ms a game",),
    )
    base = 0.0
    for count in (0, *SIZES):
        with tempfile.TemporaryDirectory() as folder:
            command = (*SERVER, "--data", folder)
            with started(command) as server:
                games = [await LongGame.open(server.url) for _ in range(RELOADED_ROOMS)]
                await asyncio.gather(*(game.play(count) for game in games))
                tokens = [(player.welcome["token"], game.code) for game in games for player in game.players]
                port = str(urlsplit(server.url).port)
                server.kill()
            with started((*command, "--port", port)) as server:
                for token, code in tokens:
                    asker = await open_asker(server.url, token)
                    assert len((await asker.ask("join", room=code))["moves"]) == count
                used = server.cpu_seconds()
            base = base or used
            curve.add(count, used, (used - base) / RELOADED_ROOMS * 1e3 if count else None)
    curve.end()
