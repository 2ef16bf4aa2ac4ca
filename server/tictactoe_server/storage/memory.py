"""A store that lasts as long as the process: for tests, and for rooms that nobody needs tomorrow."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from itertools import islice
from typing import Final, Generic

from tictactoe_protocol import MAX_LISTED_GAMES
from tictactoe_server.rooms import FinishedGame, Player, Room
from tictactoe_server.storage.figures import WriteFigures
from tictactoe_server.storage.idleness import FORGOTTEN_AT_ONCE, is_idle, today
from tictactoe_server.storage.store import MISSING, Ban, Conflict, Stored, Value, Waiter

MAX_GAMES: Final = 20_000
"""How many finished games are kept; the oldest make room."""


class MemoryArchive:
    """Finished games in a dictionary; see `Archive` for what the methods promise."""

    def __init__(self, max_games: int = MAX_GAMES) -> None:
        self._max_games = max_games
        self._games: dict[int, FinishedGame] = {}
        self._newest = 0
        self._by_player: defaultdict[str, deque[int]] = defaultdict(deque)
        self._shared: dict[str, FinishedGame] = {}

    async def games_of(self, player: str, limit: int, before: int | None = None) -> list[tuple[int, FinishedGame]]:
        """Return a player's games with their ids, newest first."""
        ids = (id for id in reversed(self._by_player.get(player, ())) if before is None or id < before)
        return [(id, self._games[id]) for id in islice(ids, max(0, min(limit, MAX_LISTED_GAMES)))]

    async def game(self, id: int) -> FinishedGame | None:
        """Return one game, or None where there is none."""
        return self._games.get(id)

    def keep(self, game: FinishedGame) -> None:
        """Take a game in, in place of the oldest where there are too many."""
        self._newest += 1
        self._games[self._newest] = game
        for player in game.people:
            self._by_player[player].append(self._newest)
        if len(self._games) > self._max_games:
            self._drop(next(iter(self._games)))

    async def forget_before(self, at: int) -> bool:
        """Forget some of the games that ended before a moment."""
        old = [id for id, game in islice(self._games.items(), FORGOTTEN_AT_ONCE) if game.at < at]
        for id in old:
            self._drop(id)
        self._shared = {id: game for id, game in self._shared.items() if game.at >= at}
        return len(old) == FORGOTTEN_AT_ONCE

    async def share(self, id: str, game: FinishedGame) -> None:
        """Keep a copy under an id, in place of the oldest where there are too many."""
        self._shared[id] = game
        if len(self._shared) > self._max_games:
            del self._shared[next(iter(self._shared))]

    async def shared_id(self, half: str) -> str | None:
        """Return the id that begins so and under which a copy is kept, or None."""
        return next((id for id in self._shared if id.startswith(half)), None)

    async def unshare(self, id: str) -> None:
        """Forget what is kept under such an id."""
        self._shared.pop(id, None)

    async def shared(self, id: str) -> FinishedGame | None:
        """Return what is kept under such an id, or None."""
        return self._shared.get(id)

    def _drop(self, id: int) -> None:
        for player in self._games.pop(id).people:
            games = self._by_player[player]
            games.remove(id)  # the first, but where clocks went back: a player's games stand in the order of all
            if not games:
                del self._by_player[player]


class MemoryTable(Generic[Value]):
    """Values in a dictionary; see `Table` for what the methods promise."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[Value, int]] = {}
        self._revision = MISSING

    async def load(self, key: str) -> tuple[Value, int] | None:
        """Return the value and its revision, or None where there is none."""
        return self._values.get(key)

    def save(self, key: str, value: Value, expected_revision: int, waiter: Waiter) -> None:
        """Keep the value and tell the waiter at once."""
        current = self._values.get(key)
        if (MISSING if current is None else current[1]) != expected_revision:
            waiter.failed(Conflict(key))
            return
        self._revision = revision = self._revision + 1
        self._values[key] = (value, revision)
        waiter.stored(revision)

    def delete(self, key: str, expected_revision: int, waiter: Waiter) -> None:
        """Forget the value and tell the waiter at once."""
        if expected_revision == MISSING or not self._is_at(key, expected_revision):
            waiter.failed(Conflict(key))
            return
        del self._values[key]
        waiter.stored(MISSING)

    def _is_at(self, key: str, revision: int) -> bool:
        current = self._values.get(key)
        return (MISSING if current is None else current[1]) == revision


class MemoryPlayers(MemoryTable[Player]):
    """The players; see `Players` for what the methods promise."""

    def __init__(self, archive: MemoryArchive) -> None:
        super().__init__()
        self._archive = archive
        self._seen: dict[str, tuple[int, bool]] = {}
        self._sweep: Iterator[str] = iter(())

    def save(self, key: str, value: Player, expected_revision: int, waiter: Waiter) -> None:
        """Keep the player, who is here today, and tell the waiter at once."""
        if expected_revision == MISSING and key not in self._values:
            self._seen[key] = (today(), False)
        super().save(key, value, expected_revision, waiter)

    def see(self, key: str, *, is_seated: bool = False) -> None:
        """Note that a player is here today."""
        if key in self._values:
            self._seen[key] = (today(), is_seated or self._seen[key][1])

    async def forget_idle(self, after: str, today: int, stay: Collection[str]) -> str | None:
        """Forget some of those who were not here for long."""
        if not after:
            self._sweep = iter(list(self._values))
        key = None
        for key in islice(self._sweep, FORGOTTEN_AT_ONCE):
            found = self._values.get(key)
            if found is None or found[0].id in stay:
                continue
            day, is_seated = self._seen[key]
            if is_idle(day, today, is_seated=is_seated) and not await self._archive.games_of(found[0].id, 1):
                del self._values[key], self._seen[key]
        return key


class MemoryBans:
    """The bans; see `BanList` for what the methods promise."""

    def __init__(self) -> None:
        self._bans: dict[str, Ban] = {}

    async def load_all(self) -> list[Ban]:
        """Return all."""
        return list(self._bans.values())

    async def keep(self, ban: Ban) -> None:
        """Keep a ban."""
        self._bans[ban.subject] = ban

    async def forget(self, subject: str) -> None:
        """Forget a ban."""
        self._bans.pop(subject, None)


class MemoryRooms(MemoryTable[Room]):
    """The rooms, and the archive that their finished games go to; see `Rooms` for what the methods promise."""

    def __init__(self, archive: MemoryArchive) -> None:
        super().__init__()
        self._archive = archive

    async def load_all(self) -> AsyncIterator[Sequence[Stored[Room]]]:
        """Return all that is kept."""
        yield [Stored(code, room, revision) for code, (room, revision) in self._values.items()]

    def save(
        self, key: str, value: Room, expected_revision: int, waiter: Waiter, finished: FinishedGame | None = None
    ) -> None:
        """Keep the room, and the finished game with it, and tell the waiter at once."""
        if finished is not None and self._is_at(key, expected_revision):
            self._archive.keep(finished)
        super().save(key, value, expected_revision, waiter)


class MemoryStore:
    """Everything in dictionaries; see `Storage` for what the methods promise."""

    def __init__(self, max_games: int = MAX_GAMES) -> None:
        self.archive = MemoryArchive(max_games)
        self.rooms = MemoryRooms(self.archive)
        self.players = MemoryPlayers(self.archive)
        self.bans = MemoryBans()
        self.figures = WriteFigures()
        self._time: int | None = None

    def owed_since(self) -> float | None:
        """Return None: nothing ever waits."""
        return None

    def note_time(self, ms: int) -> None:
        """Keep the time over the note before."""
        self._time = ms

    async def noted_time(self) -> int | None:
        """Return the last note, or None."""
        return self._time

    async def close(self) -> None:
        """Do nothing: there is nothing to write."""
