"""Plays the games of a cup, several at once if wanted, until all are played or the test is decided."""

from __future__ import annotations

import asyncio
import math
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from typing import Final

from tictactoe_client.exits import dismiss
from tictactoe_engine import Position, Rules
from tictactoe_engine.records import GameRecord, GameResult
from tictactoe_lab.brain.engine import Engine, EngineFailed, EngineSilent
from tictactoe_lab.brain.gomocup import Time, time_for_move
from tictactoe_lab.brain.serve import share_of
from tictactoe_lab.cup import bot
from tictactoe_lab.cup.file import CupFile, Terms, make_record
from tictactoe_lab.cup.plan import Entrant, Game

LAG_MS: Final = 1_000
"""Grace period after an engine's time for a move."""
_NUMBER: Final = re.compile(r"\d+")


class Bot(Engine):
    """The built-in bot as an engine: it is sent whole positions and plays any rules."""

    def __init__(self, *arguments: object) -> None:
        super().__init__((sys.executable, "-P", bot.__file__, *map(str, arguments)), 0, lambda _: None)

    async def set_up(self, rules: Rules) -> None:
        """Start the process."""
        await self._start()

    async def decide(self, position: Position, time: Time) -> int | str:
        """Return the bot's move or choice; raise `EngineFailed`. Its budget is an argument, so `time` is ignored."""
        number = int(await self._ask(_NUMBER, pickle.dumps(position).hex()))
        return position.options[number] if position.options else number

    async def end(self) -> None:
        """Kill the process; it cannot be interrupted while it searches."""
        self.kill()
        await super().end()


async def run(
    games: Iterator[Game], terms: Terms, file: CupFile, count: Callable[[GameRecord], bool], concurrency: int
) -> None:
    """Play the games, saving and counting each one, until `count` returns False; discard unfinished games."""
    is_decided = False

    async def play_on() -> None:
        nonlocal is_decided
        for game in games:
            played = await _play(game, terms)
            if not is_decided:  # otherwise another game has just decided the test
                file.append(record := make_record(game, terms, *played))
                is_decided = not count(record)
            if is_decided:
                return

    tasks = [asyncio.create_task(play_on(), name="tictactoe cup") for _ in range(concurrency)]
    try:
        for task in asyncio.as_completed(tasks):
            await task
            if is_decided:
                return
    finally:
        await dismiss(*tasks)


async def _play(game: Game, terms: Terms) -> tuple[Position, GameResult, str]:
    """Play a game; return its last position, its result, and the reason if the loser's engine failed."""
    players = [_seat(entrant, game, terms) for entrant in game.players]
    time = time_for_move(round((terms.seconds or 0) * 1000), LAG_MS)
    position, marks = game.opening, game.opening.rules.marks
    mark = marks[0]
    try:
        for mark, player in zip(marks, players, strict=True):  # noqa: B007
            await player.set_up(position.rules)
        while position.turn is not None:
            mark = position.turn
            act = await players[marks.index(position.sits_now(mark))].decide(position, time)
            position = position.choose(act) if isinstance(act, str) else position.play(act)
    except EngineFailed as failed:
        result = GameResult("timeout" if isinstance(failed, EngineSilent) else "resigned", marks.replace(mark, ""))
        return position, result, f"{failed.message} {failed.detail}".strip()
    finally:
        await asyncio.gather(*(player.end() for player in players))
    assert position.outcome is not None
    return position, GameResult(position.outcome.reason, position.outcome.winner), ""


def _seat(entrant: Entrant, game: Game, terms: Terms) -> Engine:
    if entrant.level is None:
        return Engine(entrant.command, 0, lambda _: None)
    share = share_of(entrant.level)
    nodes, seconds = math.ceil((terms.nodes or 0) * share), (terms.seconds or 0) * share
    return Bot(entrant.level, nodes, seconds, f"{terms.seed} {game.id} {entrant.name}")
