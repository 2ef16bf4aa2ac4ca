"""The built-in engine as a Gomocup program, which reads commands and writes answers."""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from tictactoe_client.version import client_version
from tictactoe_engine import IllegalMove, InvalidRules, Position, Rules
from tictactoe_engine.opening import MORE, plies_of_choices
from tictactoe_engine.search import Budget
from tictactoe_engine.strategies import Level, side_chooser_of, strategy_of
from tictactoe_lab.brain.gomocup import LINE, read_cell, say_cell
from tictactoe_protocol import clean_text

_LEVEL_NAMES: Final = {"easy": Level.RANDOM, "medium": Level.RULES}
_HARD_SHARE: Final = 0.1
_DEFAULTS: Final = {"timeout_turn": 30_000, "timeout_match": 0, "time_left": 2**31 - 1, "rule": 0}
"""The values of ``INFO`` settings that the manager has not sent."""
_USED_SHARE: Final = 0.9
_MIN_SECONDS: Final = 0.02
_MOVES_AHEAD: Final = 20
"""Number of moves over which the remaining match time is spread."""
_NUMBER: Final = re.compile(r"\d{1,10}", re.ASCII)
_MAX_STONES: Final = 32 * 32


class _InvalidCommand(Exception):
    """The manager's command is invalid; the text follows ``ERROR``."""


def level_of(word: str) -> Level:
    """Return the level of that name, such as ``easy`` or ``rules``."""
    return _LEVEL_NAMES.get(word) or Level(word)


def share_of(level: Level) -> float:
    """Return the share of its time that a level uses."""
    return _HARD_SHARE if level is Level.HARD else 1.0


class PBrain:
    """One session with a manager, answered at `level`.

    Args:
        level: Name of the level that plays.
        read: Returns the manager's next line, or None at the end of the input.
        reply: Sends a line to the manager.
    """

    def __init__(self, level: str, read: Callable[[], Awaitable[str | None]], reply: Callable[[str], object]) -> None:
        self._level = level_of(level)
        self._read = read
        self._reply = reply
        self._info = dict(_DEFAULTS)
        self._size = (20, 20)
        self._moves: tuple[int, ...] = ()
        self._is_stopped = False

    async def run(self) -> None:
        """Answer commands until ``END`` or the end of the input; cancellation stops the search, too."""
        try:
            while (line := await self._read()) is not None:
                word, _, rest = line.strip().partition(" ")
                if word.upper() == "END":
                    return
                try:
                    await self._answer(word.upper(), rest.replace(" ", "" if "," in rest else " "))
                except (_InvalidCommand, InvalidRules, IllegalMove) as error:
                    self._reply(f"ERROR {error}")
        finally:
            self._is_stopped = True

    @property
    def _rules(self) -> Rules:
        if self._info["rule"] not in (0, 1):
            raise _InvalidCommand("unsupported rule")
        return Rules(*self._size, LINE, exact=self._info["rule"] == 1)

    async def _answer(self, word: str, rest: str) -> None:
        match word:
            case "START" | "RECTSTART":
                columns, _, rows = rest.partition(",")
                self._start(columns, rows if word == "RECTSTART" else columns)
            case "RESTART":
                self._moves = ()
                self._reply("OK")
            case "INFO":
                key, _, value = rest.lower().partition(" ")
                if key in _DEFAULTS and _NUMBER.fullmatch(value.strip()):
                    self._info[key] = int(value)
            case "BEGIN":
                await self._move(self._moves)
            case "TURN":
                await self._move((*self._moves, self._cell(rest)))
            case "BOARD":
                await self._move(await self._read_board())
            case "SWAP2BOARD":
                await self._open(tuple([self._cell(line) for line in await self._read_lines()]))
            case "TAKEBACK" if self._moves[-1:] == (self._cell(rest),):
                self._moves = self._moves[:-1]
                self._reply("OK")
            case "ABOUT":
                self._reply(f'name="tictactoe-{self._level}", version="{client_version()}"')
            case _ if word:
                self._reply(f"UNKNOWN {clean_text(word[:20])}")

    def _start(self, columns: str, rows: str) -> None:
        if not (_NUMBER.fullmatch(rows) and _NUMBER.fullmatch(columns)):
            raise _InvalidCommand("invalid size")
        Rules(int(rows), int(columns), LINE)
        self._size, self._moves = (int(rows), int(columns)), ()
        self._reply("OK")

    def _cell(self, text: str) -> int:
        cell = read_cell(text, self._rules)
        if cell is None:
            raise _InvalidCommand("invalid cell")
        return cell

    async def _read_lines(self) -> list[str]:
        """Return the lines before ``DONE``."""
        lines: list[str] = []
        while (line := await self._read()) is not None and line.strip().upper() != "DONE":
            lines = [*lines, line.strip()][:_MAX_STONES]
        return lines

    async def _read_board(self) -> tuple[int, ...]:
        """Read the stones of a ``BOARD`` command; return moves that lead to them, in the given order for each side."""
        stones: dict[str, list[int]] = {"1": [], "2": []}
        for line in await self._read_lines():
            cell, _, side = line.rpartition(",")
            if side not in stones:
                raise _InvalidCommand("invalid stone")
            stones[side].append(self._cell(cell))
        own, others = stones.values()
        if len(others) - len(own) not in (0, 1):
            raise _InvalidCommand("not the engine's turn")
        first, second = (others, own) if len(others) > len(own) else (own, others)
        return tuple(cell for turn in range(len(first)) for cell in (*first[turn : turn + 1], *second[turn : turn + 1]))

    async def _move(self, moves: tuple[int, ...]) -> None:
        position = Position.replay(self._rules, moves)
        cell = await self._choose(position)
        self._moves = (*moves, cell)
        self._reply(say_cell(cell, self._rules))

    async def _open(self, moves: tuple[int, ...]) -> None:
        """Answer ``SWAP2BOARD``: place stones, or take the better side of the opponent's opening."""
        rules = replace(self._rules, opening="swap2")
        if len(moves) not in (0, *plies_of_choices("swap2")):
            raise _InvalidCommand("unsupported opening")
        position = Position.replay(rules, moves, chosen=[MORE] if len(moves) > 3 else [])
        stones = position.opening.left if position.opening else 0
        if not stones:
            choose_side = side_chooser_of(self._level, self._budget())
            choice = await asyncio.to_thread(choose_side, position, random.Random())
            position, stones = position.choose(choice), {rules.marks[0]: 0, MORE: 2}.get(choice, 1)
        cells: list[str] = []
        for _ in range(stones):
            cell = await self._choose(position, stones)
            position = position.play(cell)
            cells.append(say_cell(cell, rules))
        self._reply(" ".join(cells) or "SWAP")

    async def _choose(self, position: Position, stones: int = 1) -> int:
        """Return the best cell, using 1 / `stones` of the time for a move."""
        if position.outcome is not None:
            raise _InvalidCommand("the game is over")
        choose = strategy_of(self._level, self._budget(stones))
        return await asyncio.to_thread(choose, position, random.Random())

    def _budget(self, stones: int = 1) -> Budget:
        """Return the search budget: most of a move's time limit, at most its share of the remaining match time."""
        info = self._info
        left_ms = info["time_left"] / _MOVES_AHEAD if info["timeout_match"] else math.inf
        share = _USED_SHARE * share_of(self._level) / stones
        seconds = max(_MIN_SECONDS, min(info["timeout_turn"], left_ms) / 1000 * share)
        return Budget(seconds=seconds, clock=self._clock)

    def _clock(self) -> float:
        """Return the current time, or infinity to end the search after cancellation."""
        return math.inf if self._is_stopped else time.monotonic()
