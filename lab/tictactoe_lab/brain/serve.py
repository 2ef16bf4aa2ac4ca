"""Our engine for others: it answers the Gomocup protocol on standard input and output, as their managers start it."""

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

_IN_PLAIN_WORDS: Final = {"easy": Level.RANDOM, "medium": Level.RULES}
_SHARE_OF_HARD: Final = 0.1
_USUAL: Final = {"timeout_turn": 30_000, "timeout_match": 0, "time_left": 2**31 - 1, "rule": 0}
"""What counts where a manager does not say it."""
_SHARE: Final = 0.9
_LEAST_SECONDS: Final = 0.02
_MOVES_AHEAD: Final = 20
"""Among so many moves the time of a match is shared out."""
_NUMBER: Final = re.compile(r"\d{1,10}", re.ASCII)
_MOST_STONES: Final = 32 * 32


class _Wrong(Exception):
    """A manager wants what cannot be; the text follows ``ERROR``."""


def level_of(word: str) -> Level:
    """Return the level of that name, by strategy or in plain words."""
    return _IN_PLAIN_WORDS.get(word) or Level(word)


def share_of(level: Level) -> float:
    """Return for which part of its time a level thinks."""
    return _SHARE_OF_HARD if level is Level.HARD else 1.0


class PBrain:
    """One game as its manager tells it, line by line, answered at a level."""

    def __init__(self, level: str, read: Callable[[], Awaitable[str | None]], reply: Callable[[str], object]) -> None:
        self._level = level_of(level)
        self._read = read
        self._reply = reply
        self._told = dict(_USUAL)
        self._size = (20, 20)
        self._moves: tuple[int, ...] = ()
        self._is_stopped = False

    async def run(self) -> None:
        """Answer until ``END`` or the end of the input; when cancelled, think no more."""
        try:
            while (line := await self._read()) is not None:
                word, _, rest = line.strip().partition(" ")
                if word.upper() == "END":
                    return
                try:
                    await self._answer(word.upper(), rest.replace(" ", "" if "," in rest else " "))
                except (_Wrong, InvalidRules, IllegalMove) as wrong:
                    self._reply(f"ERROR {wrong}")
        finally:
            self._is_stopped = True

    @property
    def _rules(self) -> Rules:
        if self._told["rule"] not in (0, 1):
            raise _Wrong("no such rule")
        return Rules(*self._size, LINE, exact=self._told["rule"] == 1)

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
                if key in _USUAL and _NUMBER.fullmatch(value.strip()):
                    self._told[key] = int(value)
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
            raise _Wrong("no size")
        Rules(int(rows), int(columns), LINE)
        self._size, self._moves = (int(rows), int(columns)), ()
        self._reply("OK")

    def _cell(self, text: str) -> int:
        cell = read_cell(text, self._rules)
        if cell is None:
            raise _Wrong("no such cell")
        return cell

    async def _read_lines(self) -> list[str]:
        """Return the lines up to ``DONE``."""
        lines: list[str] = []
        while (line := await self._read()) is not None and line.strip().upper() != "DONE":
            lines = [*lines, line.strip()][:_MOST_STONES]
        return lines

    async def _read_board(self) -> tuple[int, ...]:
        """Return moves that lead to the stones of the lines that follow, those of each side in their order."""
        stones: dict[str, list[int]] = {"1": [], "2": []}
        for line in await self._read_lines():
            cell, _, side = line.rpartition(",")
            if side not in stones:
                raise _Wrong("no such stone")
            stones[side].append(self._cell(cell))
        own, others = stones.values()
        if len(others) - len(own) not in (0, 1):
            raise _Wrong("not the engine's turn")
        first, second = (others, own) if len(others) > len(own) else (own, others)
        return tuple(cell for turn in range(len(first)) for cell in (*first[turn : turn + 1], *second[turn : turn + 1]))

    async def _move(self, moves: tuple[int, ...]) -> None:
        position = Position.replay(self._rules, moves)
        cell = await self._choose(position)
        self._moves = (*moves, cell)
        self._reply(say_cell(cell, self._rules))

    async def _open(self, moves: tuple[int, ...]) -> None:
        """Answer with the stones of an opening by swap2, or with the side that is better after those of the other."""
        rules = replace(self._rules, opening="swap2")
        if len(moves) not in (0, *plies_of_choices("swap2")):
            raise _Wrong("no such opening")
        position = Position.replay(rules, moves, chosen=[MORE] if len(moves) > 3 else [])
        stones = position.opening.left if position.opening else 0
        if not stones:
            choose_side = side_chooser_of(self._level, self._budget())
            take = await asyncio.to_thread(choose_side, position, random.Random())
            position, stones = position.choose(take), {rules.marks[0]: 0, MORE: 2}.get(take, 1)
        cells: list[str] = []
        for _ in range(stones):
            cell = await self._choose(position, stones)
            position = position.play(cell)
            cells.append(say_cell(cell, rules))
        self._reply(" ".join(cells) or "SWAP")

    async def _choose(self, position: Position, stones: int = 1) -> int:
        """Return the best cell, as one of so many for which there is time."""
        if position.outcome is not None:
            raise _Wrong("the game is over")
        choose = strategy_of(self._level, self._budget(stones))
        return await asyncio.to_thread(choose, position, random.Random())

    def _budget(self, stones: int = 1) -> Budget:
        """Return how long to think: most of what a move may take, and of a match's rest a part."""
        told = self._told
        left_ms = told["time_left"] / _MOVES_AHEAD if told["timeout_match"] else math.inf
        share = _SHARE * share_of(self._level) / stones
        seconds = max(_LEAST_SECONDS, min(told["timeout_turn"], left_ms) / 1000 * share)
        return Budget(seconds=seconds, clock=self._clock)

    def _clock(self) -> float:
        """Return the time, which is at its end once nobody waits for an answer."""
        return math.inf if self._is_stopped else time.monotonic()
