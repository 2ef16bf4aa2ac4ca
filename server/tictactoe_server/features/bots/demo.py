"""A demonstration game between bots, shown on the first page while no other game is running.

The game is not in a room: it is not listed, counted or stored, and cannot be joined. Each server has its own game,
which runs while a session subscribes to it. Its questions to the bots' workers come after all others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Final

from msgspec import UNSET

from tictactoe_engine import PRESETS, Position
from tictactoe_engine.strategies import Level
from tictactoe_protocol.pushes import LiveBoard, Result
from tictactoe_server.core.core import Core, Service
from tictactoe_server.features.bots.pool import ThinkingPool
from tictactoe_server.features.bots.workers import Priority
from tictactoe_server.rooms.view import live_board

GAMES: Final = ("connect-four", "gomoku", "four")
PACE_SECONDS: Final = 1.0
AHEAD_MOVES: Final = 10
"""The number of moves already played when a game is first shown."""
OVER_SECONDS: Final = 6.0
_CLOCK_SECONDS: Final = 0.25  # the bots search for a share of it


class Demo(Service):
    """Plays demonstration games while a subscriber wants them."""

    def __init__(self, pool: ThinkingPool) -> None:
        self._pool = pool
        self._show: Callable[[LiveBoard | None], None] = lambda board: None
        self._playing: asyncio.Task[None] | None = None

    def start(self, core: Core) -> None:
        core.hooks.on_demo_wanted.add(self.want)

    def want(self, is_wanted: bool, show: Callable[[LiveBoard | None], None]) -> None:
        """Start or stop the game; `show` shows its boards, or None when it stops."""
        self._show = show
        if is_wanted and self._playing is None:
            self._playing = self.tasks.start(self._play_on())
        elif not is_wanted and self._playing is not None:
            self._playing.cancel()
            self._playing = None
            self._show(None)

    async def _play_on(self) -> None:
        for game in count(1):
            await self._play(game)

    async def _play(self, game: int) -> None:
        """Play the game with the number `game`.

        The level of the first player changes with every game, and the rules with every second game.
        """
        rules = PRESETS[GAMES[game // 2 % len(GAMES)]]
        first, second = (Level.HARD, Level.RULES) if game % 2 else (Level.RULES, Level.HARD)
        levels = dict(zip(rules.marks, (first, second), strict=True))
        names = {mark: "hard-bot" if level is Level.HARD else "medium-bot" for mark, level in levels.items()}
        position = Position.start(rules)
        while len(position.moves) < AHEAD_MOVES:
            following = position.play(await self._pool.choose(position, Level.RULES))
            if following.outcome is not None:
                break
            position = following
            await asyncio.sleep(0)
        while True:
            outcome = position.outcome
            result = UNSET if outcome is None else Result(outcome.winner, outcome.reason, outcome.line)
            self._show(live_board(position, room="", game=game, turn=position.turn, names=names, result=result))
            if outcome is not None:
                await asyncio.sleep(OVER_SECONDS)
                return
            await asyncio.sleep(PACE_SECONDS)
            level = levels[position.turn or ""]
            cell = await self._pool.choose(position, level, clock_seconds=_CLOCK_SECONDS, priority=Priority.DEMO)
            position = position.play(cell)
