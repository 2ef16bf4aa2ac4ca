"""The log of rated games. Selects finished games, appends them to the log, and computes ("folds") ladders from it.

Theory of operation. The ladders are a function of the log alone, so all servers compute the same ladders. Nothing is
counted up, so a crash can neither lose a game nor count one twice. A rated game passes through these states:

- unnamed: the game is stored like any finished game, but no entry of the log contains its id;
- named: an entry contains its id. The first server to read the game appends the entry, by compare-and-set;
- folded: the ladders in `state` include the game; the next snapshot of the ladders will, too.

Entries are never changed, reordered or deleted. An operator's verdict is another entry. If it changes games that are
already folded, the ladders are folded again from the last snapshot before these games. A game may be deleted from the
store only once a snapshot includes it. Every server of a cluster does all of this by itself, and nothing else writes
the log.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from typing import Final

import structlog
from msgspec.structs import replace

from tictactoe_protocol.codes import EVENT_DRAW_PLY
from tictactoe_protocol.ratings.ladder import State, advance, is_usable
from tictactoe_protocol.ratings.log import MOST_GAMES, Entry, RatedGame, Verdict, list_verdicts
from tictactoe_server.features.ratings.tables import ENTRIES, LADDERS, Snapshot, join, key_of, keys_of, split
from tictactoe_server.operator.order import OrderRefused
from tictactoe_server.rooms.finished import FinishedGame
from tictactoe_server.rooms.room import Purpose, Room, Terms
from tictactoe_server.storage.specs import Storage
from tictactoe_server.storage.store import MISSING, Conflict, delete, save

RATED_ENDS: Final = frozenset({"line", "full", "resigned", "timeout", "claimed", "agreed"})  # values of `Result.reason`
SNAPSHOT_GAMES: Final = 500  # rated games from one snapshot to the next
RECENT_SNAPSHOTS: Final = 3  # the newest snapshots, all of which are kept
KEPT_SNAPSHOTS: Final = 16  # of the older snapshots, every 16th is kept
UNRATED_GAMES: Final = 1_000  # until a first game is rated, the reading position is saved after this many games
_GAMES_PER_STEP: Final = 100  # about 3 ms of folding, after which other tasks run

log: Final = structlog.get_logger(__name__)


_TERMS: Final = Terms(games_count="at opening", draw_from=EVENT_DRAW_PLY, undo=False, rematch=False, guests=False)
RATED: Final = Purpose("rated", {"rated": True}, _TERMS)


def is_rated(room: Room | FinishedGame) -> bool:
    """Return True if a room or a finished game was opened for a rated game."""
    return room.purpose.name == RATED.name


def rated_game(game: FinishedGame) -> RatedGame | None:
    """Return a finished game in the form that ladders use, or None if it does not count for a ladder.

    A game counts if it was opened as rated, each player has acted, and it ended as in `RATED_ENDS`. A draw that the
    players agreed before move `EVENT_DRAW_PLY` does not count.
    """
    marks, reason = tuple(game.players), game.result.reason
    has_everybody_acted = len(game.moves) + len(game.chosen) >= len(marks)
    is_early = reason == "agreed" and len(game.moves) < EVENT_DRAW_PLY
    is_fair = reason in RATED_ENDS and not is_early and has_everybody_acted
    if not is_rated(game) or game.rules.preset is None or not is_fair:
        return None
    first, second = marks
    if game.chosen and game.chosen[-1] == second:
        first, second = second, first
    score = 0.5 if game.result.winner is None else float(game.result.winner == first)
    players = game.players[first].player, game.players[second].player
    return RatedGame(game.id, game.at, game.rules.preset, players, score)


class Folding:
    """The log's entries, and the `state` of the ladders after these entries.

    Args:
        on_rated: Called with the state before and after some games were folded, and with these games.
    """

    def __init__(self, store: Storage, on_rated: Callable[[State, State, Sequence[RatedGame]], None]) -> None:
        self._store = store
        self._on_rated = on_rated
        self._entries, self._snapshots = store.table(ENTRIES), store.table(LADDERS)
        self._lock = asyncio.Lock()
        self._wanted_load, self._done_load = 1, 0
        self._announced_entries = 0
        self._has_folded = False
        self._reset(State(), "")

    def invalidate(self) -> None:
        """Make the next step read everything from the store again."""
        self._wanted_load += 1

    @property
    def is_loaded(self) -> bool:
        """Whether everything has been read since the last `invalidate`."""
        return self._done_load == self._wanted_load

    def _reset(self, state: State, cursor: str) -> None:
        """Begin at a state before any entries are added, and with the position of the next finished game to read."""
        self.state = state
        self._log: list[Entry] = []
        self._named: set[str] = set()
        self._verdicts: tuple[Verdict, ...] = ()
        self._games: dict[str, RatedGame] = {}  # games that are in no snapshot yet, in the order of reading
        self._read_from: dict[str, str] = {}  # the reading position before each of these games
        self._cursor = cursor
        self._unrated_games = 0
        self._folded_games = 0

    @property
    def games(self) -> int:
        return len(self._named)

    async def step(self) -> None:
        """Read new entries and games, append games that no entry names, and fold; may raise `StoreUnavailable`."""
        async with self._lock:
            await self._step()
            self._has_folded = True

    async def catch_up(self) -> None:
        """Take a step unless one has succeeded since the server started; may raise `StoreUnavailable`."""
        if not self._has_folded:
            await self.step()

    async def _step(self) -> None:
        if not self.is_loaded:
            await self._load()
        await self._read_entries()
        await self._read_games()
        while unnamed := self._list_unnamed():
            await self._append(Entry(tuple(game.id for game in unnamed[:MOST_GAMES])))
        await self._fold()

    async def needed_from(self) -> float:
        """Return when the earliest game ended that is in no snapshot (ms since 1970), or infinity if all games are.

        Games from then on must not be deleted from the store.
        """
        await self.step()
        return min((game.at for game in self._games.values()), default=math.inf)

    async def judge(self, verdict: Verdict) -> Verdict:
        """Append a verdict under the next number, fold, and return the verdict.

        May raise `OrderRefused` or `StoreUnavailable`.
        """
        async with self._lock:
            await self._step()
            while True:
                verdict = replace(verdict, seq=len(self._verdicts) + 1)
                await self._check(verdict)
                if await self._append(Entry(verdict=verdict)):
                    break
            await self._fold()
        return verdict

    async def fold_all(self) -> tuple[Mapping[str, RatedGame], State, Sequence[Entry]]:
        """Fold the whole log from its first entry; return all stored games, the state and the entries.

        No other game is rated in the meantime. Raise `OrderRefused` if some games are no longer stored.
        """
        async with self._lock:
            await self._step()
            games = await self.read_all()
            if missing := self._named - games.keys():
                raise OrderRefused(
                    f"{len(missing)} rated games are no longer stored, so the ratings cannot be computed again."
                )
            return games, await self._advance(State(), games, len(self._log)), self._log.copy()

    async def read_all(self) -> dict[str, RatedGame]:
        found = dict[str, RatedGame]()
        async for _, _, game in self._store.games.after("", 2**62):
            if (rated := rated_game(game)) is not None:
                found[rated.id] = rated
        return found

    async def _load(self) -> None:
        wanted = self._wanted_load
        rows = {row.key: row.value async for some in self._entries.load_all() for row in some}
        entries = list[Entry]()
        while isinstance(row := rows.get(key_of(len(entries) + 1)), Entry):
            entries.append(row)
        snapshot = await self._find_usable(sum(len(entry.games) for entry in entries), entries)
        self._reset(snapshot.state, snapshot.cursor)
        for entry in entries:
            self._add(entry)
        self._folded_games = sum(len(entry.games) for entry in entries[: self.state.entries])
        self._done_load = wanted

    async def _find_usable(
        self, count: int, entries: Sequence[Entry], games: Mapping[str, RatedGame] | None = None
    ) -> Snapshot:
        """Return the newest usable snapshot with at most `count` games, or an empty snapshot.

        A snapshot is usable if no later verdict among the `entries` changes a game in it.
        """
        verdicts = list_verdicts(entries)
        for number in range(count // SNAPSHOT_GAMES, -1, -1):
            snapshot = await self._load_snapshot(number)
            if snapshot is None:
                continue
            if number and snapshot.state.verdicts != verdicts:
                games = await self.read_all() if games is None else games
                if not is_usable(snapshot.state, entries, games):
                    continue
            return snapshot
        return Snapshot(State(), "", "")

    async def _load_snapshot(self, number: int) -> Snapshot | None:
        """Return the snapshot with this number, or None if any of its parts is missing."""
        first = await self._snapshots.load(key_of(number))
        if first is None:
            return None
        others = await asyncio.gather(*map(self._snapshots.load, keys_of(number, first[0])[1:]))
        parts = [found[0] for found in (first, *others) if found is not None]
        return join(parts) if len(parts) == first[0].parts else None

    def _add(self, entry: Entry) -> None:
        self._log.append(entry)
        self._named.update(entry.games)
        if entry.verdict is not None:
            self._verdicts += (entry.verdict,)

    async def _read_entries(self) -> None:
        while (found := await self._entries.load(key_of(len(self._log) + 1))) is not None:
            self._add(found[0])

    async def _read_games(self) -> None:
        async for cursor, _, game in self._store.games.after(self._cursor, 2**62):
            if (rated := rated_game(game)) is not None:
                self._read_from.setdefault(rated.id, self._cursor)
                self._games[rated.id] = rated
            self._cursor, self._unrated_games = cursor, self._unrated_games + 1
        if not self._log and not self._games and self._unrated_games >= UNRATED_GAMES:
            self._unrated_games = 0
            await save(self._snapshots, key_of(0), Snapshot(State(), self._cursor, State().digest), None)

    def _list_unnamed(self) -> list[RatedGame]:
        found = [game for id, game in self._games.items() if id not in self._named]
        return sorted(found, key=lambda game: (game.at, game.id))

    async def _append(self, entry: Entry) -> bool:
        """Append an entry and return True. If another server appends one first, read that entry and return False."""
        try:
            await save(self._entries, key_of(len(self._log) + 1), entry, MISSING)
        except Conflict:
            await self._read_entries()
            return False
        self._add(entry)
        return True

    async def _check(self, verdict: Verdict) -> None:
        """Raise `OrderRefused` if a verdict's subject is unknown, or if it needs games that are no longer stored."""
        subject = verdict
        while subject.kind == "undo":
            if not 0 < subject.undoes < subject.seq:
                raise OrderRefused(f"There is no verdict {subject.undoes} to undo.")
            subject = self._verdicts[subject.undoes - 1]
        if subject.kind == "void game" and subject.of not in self._named:
            raise OrderRefused(f"There is no rated game {subject.of}.")
        games = await self.read_all()
        if verdict.kind == "void player" and not any(verdict.of in game.players for game in games.values()):
            raise OrderRefused(f"{verdict.of} has played no rated game that is still stored.")
        missing = self._named - games.keys()
        oldest = min((game.at for game in games.values()), default=verdict.at)
        if subject.of in missing if subject.kind == "void game" else missing and subject.since < oldest:
            raise OrderRefused(
                "The verdict would change games that are no longer stored, so the ratings cannot be computed again."
            )
        start = await self._find_usable(len(self._named), [*self._log, Entry(verdict=verdict)], games)
        if missing - self._list_ids(start.state.entries):
            raise OrderRefused(
                "Some games since the last usable snapshot are no longer stored; ratings cannot be computed again."
            )

    async def _fold(self) -> None:
        if self.state.entries == len(self._log) and self.state.verdicts == self._verdicts:
            return
        if self.state.verdicts != self._verdicts:
            await self._refold()
        while self.state.entries < len(self._log):
            before, start = self.state, self.state.entries
            due = (1 + self._folded_games // SNAPSHOT_GAMES) * SNAPSHOT_GAMES
            part = self._log[start : self._end_of_part(start, min(_GAMES_PER_STEP, due - self._folded_games))]
            ids = [id for entry in part for id in entry.games]
            if missing := [id for id in ids if id not in self._games]:
                log.warning("rated game not found in the store yet", game=missing[0])
                return
            self.state = advance(before, part, self._games, self._verdicts)
            self._folded_games += len(ids)
            if self.state.entries > self._announced_entries:
                self._announced_entries = self.state.entries
                self._on_rated(before, self.state, [self._games[id] for id in ids])
            if self._folded_games >= due:
                await self._save_snapshot(self._folded_games // SNAPSHOT_GAMES)
            await asyncio.sleep(0)

    def _end_of_part(self, start: int, games: int) -> int:
        """Return the index after the first entries, from `start` on, that together have at least this many games."""
        end = start
        while end < len(self._log) and games > 0:
            games -= len(self._log[end].games)
            end += 1
        return end

    async def _advance(self, state: State, games: Mapping[str, RatedGame], end: int) -> State:
        """Return the state after the first `end` entries of the log. Other tasks run between the steps."""
        while state.entries < end:
            part = self._log[state.entries : min(end, self._end_of_part(state.entries, _GAMES_PER_STEP))]
            state = advance(state, part, games, self._verdicts)
            await asyncio.sleep(0)
        return state

    async def _refold(self) -> None:
        """Apply new verdicts: fold again from the newest usable snapshot, up to the entries of the current state."""
        games = await self.read_all()
        start = (await self._find_usable(self._folded_games, self._log, games)).state
        state = replace(start, verdicts=self._verdicts)
        self.state = await self._advance(state, games, self.state.entries)
        self._games = {**games, **self._games}
        self._drop_games(self._list_ids(start.entries))

    def _list_ids(self, entries: int) -> set[str]:
        return {id for entry in self._log[:entries] for id in entry.games}

    def _drop_games(self, ids: Set[str]) -> None:
        self._games = {id: game for id, game in self._games.items() if id not in ids}
        self._read_from = {id: cursor for id, cursor in self._read_from.items() if id in self._games}

    async def _save_snapshot(self, number: int) -> None:
        """Store the state as a snapshot unless another server has done so, and drop its games from memory."""
        state, folded = self.state, self._list_ids(self.state.entries)
        cursor = next((self._read_from.get(id, "") for id in self._games if id not in folded), self._cursor)
        digest = await asyncio.to_thread(lambda: state.digest)
        first, *others = await asyncio.to_thread(split, Snapshot(state, cursor, digest))
        key, *keys = keys_of(number, first)
        if await self._snapshots.load(key) is None:  # the first part is saved last: once it exists, all parts do
            for other, part in zip((*keys, key), (*others, first), strict=True):
                with suppress(Conflict):  # another server has stored an equal part
                    await save(self._snapshots, other, part, MISSING)
        self._drop_games(folded)
        await self._delete_old(number - RECENT_SNAPSHOTS)

    async def _delete_old(self, newest: int) -> None:
        """Delete snapshots from number `newest` down to the first that is already deleted, except for every 16th."""
        for number in range(newest, 0, -1):
            if number % KEPT_SNAPSHOTS == 0:
                continue
            found = await self._snapshots.load(key_of(number))
            if found is None:
                return
            for key in reversed(keys_of(number, found[0])):
                await delete(self._snapshots, key, None)
