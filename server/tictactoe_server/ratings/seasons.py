"""How strong people were between two dates, and how strong bots are: by all their games together, with error bars.

One is reckoned at a time, beside everything else, with a rest after it, and remembered for a short while: whoever asks
how often takes no more than a fifth of the server's time.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from tictactoe_engine.records import GameRecord, RecordError, format_record, parse_records
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.rated import LadderRow
from tictactoe_protocol.ratings.bradley_terry import Strength, measure_strengths
from tictactoe_protocol.ratings.log import Judge, RatedGame
from tictactoe_server.admin.orders.order import OrderRefused
from tictactoe_server.agenda import Tasks
from tictactoe_server.http.sheets import format_csv
from tictactoe_server.ratings.folding import Folding
from tictactoe_server.ratings.games import rated_game
from tictactoe_server.rooms import FinishedGame, Refused
from tictactoe_server.storage.specs import NOBODY, Storage, TableSpec
from tictactoe_server.storage.store import GameLog, Table, save

MOST_PLAYERS: Final = 200
"""Of how many at most a table is made: it takes a second then, and with the third power of them."""
MOST_GAMES: Final = 20_000
REMEMBERED_SECONDS: Final = 30.0

_MOST_WAITING: Final = 4
_MOST_OF_ADDRESS: Final = 2
_RESTS: Final = 4  # times as long as the season before took
_GAMES_AT_ONCE: Final = 50
_MOST_FILE_BYTES: Final = 100_000_000
_ALWAYS: Final = (0, 2**53)
_DAY_MS: Final = 86_400_000
_NAME_WIDTH: Final = 25

Span = tuple[int, int]
"""From when on, and until when (ms since 1970)."""


class SeasonRow(Struct, frozen=True):
    """One player: `error` is by how much the rating may be off to either side, in 19 of 20 cases."""

    place: int
    player: str
    name: str
    rating: float
    error: float
    games: int


class Season(Struct, frozen=True):
    """What so many games by some rules come to, between two moments (ms since 1970): the best first."""

    rules: str
    since: int
    until: int
    games: int
    rows: tuple[SeasonRow, ...]


class BotGame(Struct, frozen=True):
    """A game of a cup: the names of the players by their turns, and their places."""

    rules: str
    players: tuple[str, ...]
    places: tuple[int, ...]


BOT_GAMES: Final[TableSpec[BotGame]] = TableSpec(
    *("bot_games", "game of bots", msgspec.json.encode, msgspec.json.Decoder(BotGame).decode),
    keys="[0-9a-f]{32}",
    persons=NOBODY,
)
"""By hashes of their records, so that each is there once."""


class Seasons:
    """Measures seasons of the games that are folded, and bots by the games that were imported.

    `name_of` returns the name of a player by the id.
    """

    def __init__(
        self, folding: Folding, store: Storage, tasks: Tasks, name_of: Callable[[str], Awaitable[str]]
    ) -> None:
        self._folding, self._tasks, self._name_of = folding, tasks, name_of
        self._games: GameLog[FinishedGame] = store.games
        self._bots: Table[BotGame] = store.table(BOT_GAMES)
        self._turn = asyncio.Lock()
        self._rests_until = 0.0
        self._known: dict[tuple[str, Span | None], tuple[float, asyncio.Task[Season], str]] = {}
        self._bot_games: tuple[float, asyncio.Task[list[BotGame]]] | None = None

    async def measure(self, key: str, span: Span | None, address: str = "") -> Season:
        """Return the table of a ladder's games that ended in this time, of whoever they count for by all verdicts.

        Without a time it is that of all games of bots by these rules. Raises `Refused` where some of the games are not
        kept any more, where there are none of bots, where they are too many, and while others wait, or some do for the
        `address`, empty for the operator's.
        """
        now = time.monotonic()
        self._known = {one: known for one, known in self._known.items() if _is_known(known, now)}
        if (key, span) not in self._known:
            waiting = [other for _, task, other in self._known.values() if not task.done()]
            if len(waiting) >= _MOST_WAITING or (address and waiting.count(address) >= _MOST_OF_ADDRESS):
                raise Refused(ErrorCode.RATE_LIMITED, "season busy", retry_ms=1_000)
            task = self._tasks.start(self._measure(key, span))
            self._known[key, span] = now + REMEMBERED_SECONDS, task, address
        return await asyncio.shield(self._known[key, span][1])

    async def list_bots(self) -> list[str]:
        """Return the rules by which bots have played, in their order."""
        return sorted({game.rules for game in await self._list_bot_games()})

    async def import_cups(self, files: Iterable[str]) -> dict[str, int]:
        """Keep the games of files that `tictactoe-client cup` has written; return how many of them are new.

        A game that is there already counts once. Raises `OrderRefused`, and has kept nothing then.
        """
        found = [one for file in files for one in await asyncio.to_thread(_read_cup, Path(file))]
        kept = {row.key async for some in self._bots.load_all() for row in some}
        new = {key: game for key, game in found if key not in kept}
        if len(kept) + len(new) > MOST_GAMES:
            raise OrderRefused(f"There would be more than {MOST_GAMES} games of bots.")
        for key, game in new.items():
            await save(self._bots, key, game, None)  # in place of itself, where two import it at once
        self._known = {key: known for key, known in self._known.items() if key[1] is not None}
        self._bot_games = None
        return {"games": len(found), "new": len(new)}

    async def _measure(self, key: str, span: Span | None) -> Season:
        async with self._turn:
            await asyncio.sleep(self._rests_until - time.monotonic())
            begun = time.monotonic()
            try:
                games = await (self._read_bots(key) if span is None else self._read(key, span))
                _check_size(len({player for game in games for player in game.players}), MOST_PLAYERS)
                found = await asyncio.to_thread(measure_strengths, games)
            finally:
                self._rests_until = (now := time.monotonic()) + _RESTS * (now - begun)
        names = [one.player if span is None else await self._name_of(one.player) for one in found]
        return Season(key, *(span or _ALWAYS), len(games), _rows_of(found, names))

    async def _read(self, key: str, span: Span) -> list[RatedGame]:
        """Return the games that count and ended in this time; what an id names is read for itself."""
        await self._folding.step()
        ids = await self._folding.list_ids(*span)
        _check_size(len(ids), MOST_GAMES)
        judge, found = Judge(self._folding.state.verdicts), list[RatedGame]()
        for count, id in enumerate(ids):
            room, number, _ = id.rsplit("-", 2)
            rated = [rated_game(game) for _, game in await self._games.games_at(room, int(number)) if game.id == id]
            if not rated or rated[0] is None:
                raise Refused(ErrorCode.NOT_ALLOWED, "season gone")
            if rated[0].rules == key and (judged := judge.judge(rated[0])) is not None:
                found.append(judged)
            if count % _GAMES_AT_ONCE == 0:
                await asyncio.sleep(0)
        return found

    async def _read_bots(self, key: str) -> list[RatedGame]:
        games = [game for game in await self._list_bot_games() if game.rules == key]
        if not games:
            raise Refused(ErrorCode.NOT_ALLOWED, "no bots", rules=key)
        return [RatedGame("", 0, key, game.players, game.places) for game in games]

    async def _list_bot_games(self) -> list[BotGame]:
        """Return all games of bots, which are read no more often than seasons are measured anew."""
        now = time.monotonic()
        if self._bot_games is None or not _is_known(self._bot_games, now):
            self._bot_games = now + REMEMBERED_SECONDS, self._tasks.start(self._read_bot_games())
        return await asyncio.shield(self._bot_games[1])

    async def _read_bot_games(self) -> list[BotGame]:
        return [row.value async for some in self._bots.load_all() for row in some if isinstance(row.value, BotGame)]


def _check_size(count: int, most: int) -> None:
    if count > most:
        raise Refused(ErrorCode.NOT_ALLOWED, "season large", players=MOST_PLAYERS, games=MOST_GAMES)


def _is_known(known: Sequence[Any], now: float) -> bool:
    """Tell whether a task, behind a moment (s), is under way or has ended well, and is remembered until later."""
    until, task = known[:2]
    return bool(until > now and not (task.done() and (task.cancelled() or task.exception() is not None)))


def _rows_of(found: Sequence[Strength], names: Sequence[str]) -> tuple[SeasonRow, ...]:
    return tuple(
        SeasonRow(place, one.player, name, round(one.rating, 1), round(one.error, 1), one.games)
        for place, (one, name) in enumerate(zip(found, names, strict=True), 1)
    )


def _read_cup(file: Path) -> list[tuple[str, BotGame]]:
    """Return the games of a cup's file with their keys; raises `OrderRefused`."""
    try:
        with file.open("rb") as opened:
            text = opened.read(_MOST_FILE_BYTES).decode()
        records = parse_records(text)
    except OSError as error:
        raise OrderRefused(f"{file} cannot be read: {error.strerror}.") from None
    except (RecordError, UnicodeDecodeError) as error:
        raise OrderRefused(f"{file} has no records: {error}.") from None
    found = [_bot_game(record) for record in records]
    if None in found or not found:
        raise OrderRefused(f"{file} is no file of a cup by rules that have a name.")
    keys = (hashlib.sha256(format_record(record).encode()).hexdigest()[:32] for record in records)
    return [(key, game) for key, game in zip(keys, found, strict=True) if game is not None]


def _bot_game(record: GameRecord) -> BotGame | None:
    """Return who had which place, None for what is no finished game of a cup."""
    rules, result, names = record.rules.preset, record.result, dict(record.players)
    marks = tuple(record.rules.marks)
    if record.event != "cup" or rules is None or result is None or names.keys() != {*marks} or result.nobody_wins:
        return None
    if len(set(names.values())) != len(marks):
        return None
    return BotGame(rules, tuple(names[mark] for mark in marks), tuple(1 + (mark != result.winner) for mark in marks))


def parse_span(since: str | None, until: str | None) -> Span:
    """Return the time from the first of two days to the end of the other, in UTC; all before or after one that is None.

    Raises `Refused` for what is no date as in 2026-01-31, and where the second comes first.
    """
    try:
        start = _ALWAYS[0] if since is None else _ms_of(since)
        end = _ALWAYS[1] if until is None else _ms_of(until) + _DAY_MS
    except ValueError:
        start, end = 1, 0
    if start >= end:
        raise Refused(ErrorCode.NOT_ALLOWED, "season dates")
    return start, end


def _ms_of(text: str) -> int:
    """Return when a day begins; raises ValueError."""
    return round(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()) * 1000


def describe_season(season: Season) -> list[str]:
    """Return the lines of a season, of at most 80 columns."""
    rows = [describe_row(row, row.error) for row in season.rows]
    return [f"{season.rules}: {season.games} games", "", *(rows or ["Nobody has played."])]


def describe_row(row: SeasonRow | LadderRow, error: float) -> str:
    """Return the line of a row whose rating may be off by so much."""
    return f"{row.place:>4}  {row.name:{_NAME_WIDTH}} {row.rating:>5.0f}  ±{error:<4.0f} {row.games} games"


def format_rows(rows: Sequence[Struct], kind: type[Struct]) -> bytes:
    """Return rows of a kind as CSV, under the names of their fields."""
    return format_csv((kind.__struct_fields__, *map(astuple, rows)))
