"""The command `cup`: a local match or round robin, with its progress on the terminal."""

from __future__ import annotations

import math
import re
import shlex
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from typing import Final

from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_client.streams.output import Output, print_error, print_own
from tictactoe_engine import PRESETS
from tictactoe_engine.records import GameRecord
from tictactoe_lab.brain.gomocup import check_playable
from tictactoe_lab.brain.serve import level_of
from tictactoe_lab.cup.file import FAILED, CupFile, Terms
from tictactoe_lab.cup.plan import Entrant, list_games, list_openings
from tictactoe_lab.cup.running import run
from tictactoe_lab.cup.strength import LIMIT
from tictactoe_lab.cup.table import Results, draw_table
from tictactoe_protocol import clean_text
from tictactoe_words.catalogue import say
from tictactoe_words.wording import describe_reason, format_duration

_FILE: Final = "tictactoe-cup.txt"
_ROUNDS: Final = 10
_MOST_ROUNDS: Final = 50_000  # a test usually ends earlier
_NAMED_ENGINE: Final = re.compile(r"([\w.-]{1,32})=(.+)")
_TEST: Final = re.compile(r"(-?\d{1,3}(?:\.\d+)?),(-?\d{1,3}(?:\.\d+)?)", re.ASCII)
_SECONDS_BETWEEN_TABLES: Final = 0.2


async def play_cup(
    settings: Settings,
    rules: str | None,
    bots: tuple[str, ...],
    brains: tuple[str, ...],
    rounds: int | None,
    move_seconds: float | None,
    nodes: int | None,
    sprt: str | None,
    concurrency: int,
    out: str | None,
    openings: int | None,
    seed: int,
) -> int:
    """Play a cup, or resume the one in its file. Invalid options are refused before the file is created."""
    entrants = [*_list_entrants(bots, brains)]
    many, played = len(entrants), PRESETS[rules or "gomoku"]
    test = _TEST.fullmatch(sprt or "0,1")
    if test is None or float(test[1]) >= float(test[2]):
        raise Misuse(say("cup test bad", text=sprt))
    if many < 2 or (sprt and many != 2):
        raise Misuse(say("cup alone" if many < 2 else "cup test of two"))
    if len(played.marks) != 2:
        raise Misuse(say("cup marks"))
    if brains:
        check_playable(played)
    if nodes and (brains or move_seconds):
        raise Misuse(say("cup nodes"))
    terms = Terms(None if nodes else move_seconds or 1.0, nodes, seed)
    rounds = rounds or (_MOST_ROUNDS if sprt else _ROUNDS)
    games = list_games(entrants, list_openings(played, openings, seed), rounds)
    first = next(games)
    differences = (float(test[1]), float(test[2])) if sprt else None
    progress = _Progress(settings, [entrant.name for entrant in entrants], rounds * many * (many - 1), differences)
    with closing(CupFile(out or _FILE)) as file:
        finished, due = file.resume(chain([first], games), terms)
        try:
            if progress.begin(finished, file.name):
                await run(due, terms, file, progress.count, concurrency)
        finally:
            progress.end(file.name)
    return progress.exit_code


def _list_entrants(bots: Sequence[str], brains: Sequence[str]) -> Iterator[Entrant]:
    """Yield the entrants, with ``#2`` and so on added to repeated names."""
    entrants = [Entrant(level, level_of(level)) for level in bots]
    for text in brains:
        name, command = match.groups() if (match := _NAMED_ENGINE.fullmatch(text)) else ("", text)
        words: tuple[str, ...] = ()
        with suppress(ValueError):  # unclosed quotes
            words = tuple(shlex.split(command))
        if not words or shutil.which(words[0]) is None:
            raise Misuse(say("engine not found", command=clean_text("".join(words[:1]) or command or '""')))
        entrants.append(Entrant(name or clean_text(Path(words[0]).name)[:32], None, words))
    used = Counter[str]()
    for entrant in entrants:
        used[entrant.name] += 1
        yield entrant if used[entrant.name] == 1 else entrant._replace(name=f"{entrant.name}#{used[entrant.name]}")


class _Progress:
    """Shows the progress of a cup: as a live table, one line per game, or JSON."""

    def __init__(self, settings: Settings, names: Sequence[str], games: int, test: tuple[float, float] | None) -> None:
        self._settings, self._results, self._games, self._test = settings, Results(names), games, test
        self._is_live, self._is_json = settings.mode == "screen", settings.mode == "json"
        self._resumed = self._lines = 0
        self._began = self._drawn = 0.0

    def begin(self, kept: Sequence[GameRecord], file: str) -> bool:
        """Count the games already played; return True if more are needed."""
        for record in kept:
            self._results.add(record)
        self._resumed, self._began = len(kept), time.monotonic()
        if kept and not self._is_json and not self._settings.quiet:
            Output().print(say("cup resumed", n=len(kept), file=file))
        return self._is_wanted

    def count(self, record: GameRecord) -> bool:
        """Count and show a game; return True if more are needed."""
        self._results.add(record)
        result, why = record.result, dict(record.tags).get(FAILED)
        assert result is not None
        one, other = (f"{name} ({mark})" for mark, name in record.players)
        if result.winner == record.rules.marks[1]:
            one, other = other, one
        values = {"done": len(self._results.games), "games": self._games, "one": one, "other": other}
        values |= {"how": describe_reason(result.reason), "n": len(record.moves), "number": record.round}
        lines = [say("cup won" if result.winner else "cup drawn", **values)]
        lines += [say("cup failed", name=other, number=record.round, why=why)] if why else []
        if self._is_json:
            end = {"result": result.winner or "draw", "reason": result.reason, "failed": why}
            print_own("cup_game", number=record.round, players=dict(record.players), moves=len(record.moves), **end)
        elif self._is_live:
            self._draw(*lines[1:])
        elif not self._settings.quiet:
            Output().print(*lines)
        return self._is_wanted

    def end(self, file: str) -> None:
        """Show the final table and, if the cup is unfinished, how to resume it."""
        played = len(self._results.games)
        if self._is_json:
            rows = [{key: _finite(value) for key, value in row._asdict().items()} for row in self._results.list_rows()]
            ratio = self._ratio if self._test else None
            print_own("cup", played=played, games=self._games, table=rows, ratio=ratio, limit=LIMIT)
            return
        self._draw(is_last=True)
        if played < self._games and self._is_wanted:
            print_error(say("cup goes on", file=file))

    def _draw(self, *told: str, is_last: bool = False) -> None:
        """Print `told` and the table, on a terminal over the previous table; skip it if the last one was just drawn."""
        if not (told or is_last or time.monotonic() - self._drawn > _SECONDS_BETWEEN_TABLES):
            return
        table = [*draw_table(self._results.list_rows(), in_ascii=self._settings.ascii), *self._describe_test()]
        if self._is_live:
            columns, lines = shutil.get_terminal_size()
            table = [*table[: lines - 2], *([] if is_last else [self._describe_rest()])]
            table = [line[: columns - 1] for line in table]
            above = f"\x1b[{self._lines}A\x1b[J" if self._lines else ""
            self._lines, table[0] = len(table), above + "\n".join((*told, table[0]))
        Output().print(*table)
        self._drawn = time.monotonic()

    def _describe_test(self) -> list[str]:
        if self._test is None:
            return []
        ratio, (name, other), (elo0, elo1) = self._ratio, self._results.names, self._test
        if not self._is_wanted and ratio <= 0:
            elo0, elo1 = elo1, elo0  # the smaller difference holds
        values = {"name": name, "other": other, "elo0": f"{elo0:g}", "elo1": f"{elo1:g}"}
        id = "cup test" if self._is_wanted else "cup test better"
        return [say(id, ratio=f"{ratio:.2f}", limit=f"{LIMIT:.2f}", **values)]

    def _describe_rest(self) -> str:
        """Describe how many games are left, and the time they will take at the present pace."""
        played = len(self._results.games)
        seconds = (time.monotonic() - self._began) / max(1, played - self._resumed) * (self._games - played)
        return say("cup rest", done=played, games=self._games, left=format_duration(int(seconds * 1000)))

    @property
    def _ratio(self) -> float:
        return 0.0 if self._test is None else self._results.measure_ratio(*self._test)

    @property
    def _is_wanted(self) -> bool:
        return abs(self._ratio) < LIMIT

    @property
    def exit_code(self) -> ExitCode:
        """The exit code, which reports whether an engine failed."""
        return ExitCode.ENGINE if any(self._results.failed.values()) else ExitCode.NORMAL


def _finite(value: object) -> object:
    return None if isinstance(value, float) and math.isinf(value) else value  # JSON has no infinity
