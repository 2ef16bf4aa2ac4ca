"""The log of rated games as it is kept, extended and folded: each server by itself, from the same entries.

Whoever reads a game first that no entry names appends one, by compare-and-set. Nothing is counted, so nothing is lost
or doubled by a death: what is known is always the fold of what is kept.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence, Set
from contextlib import suppress
from typing import Final

import structlog
from msgspec.structs import replace

from tictactoe_protocol.ratings.checkpoints import (
    MAX_LINKS,
    START,
    Checkpoint,
    Links,
    extend_chain,
    leaf_of,
    link_of,
    sign_checkpoint,
)
from tictactoe_protocol.ratings.ladder import State, advance, newest_usable
from tictactoe_protocol.ratings.log import MOST_GAMES, RatedGame, Verdict, list_verdicts
from tictactoe_server.admin.orders.order import OrderRefused
from tictactoe_server.ratings.games import rated_game
from tictactoe_server.ratings.tables import (
    ENTRIES,
    LADDERS,
    SECRET_KEY,
    SECRETS,
    LoggedEntry,
    Secret,
    Snapshot,
    head_of,
    join,
    key_of,
    keys_of,
    split,
)
from tictactoe_server.records.changes import change
from tictactoe_server.storage.specs import Storage
from tictactoe_server.storage.store import MISSING, Conflict, delete, save

CHECKPOINT_GAMES: Final = 500
WHOLE_NEWEST, WHOLE_EVERY = 3, 16
"""Of how many of the newest snapshots, and of which others, the players are kept."""
NOTED_GAMES: Final = 1_000
"""After how many games, before the first that is rated, it is noted that they need not be read again."""

_GAMES_AT_ONCE: Final = 100  # about 3 ms of folding, after which others have their turn

Told = Callable[[State, State, Sequence[RatedGame]], None]

log: Final = structlog.get_logger(__name__)


class Folding:
    """The entries that are known, and the `state` that they come to.

    Salts are made of the `secret`. `told` is called with the states before and after some games of the log were rated,
    and with these.
    """

    def __init__(self, store: Storage, told: Told) -> None:
        self._store = store
        self._told = told
        self._entries, self._snapshots = store.table(ENTRIES), store.table(LADDERS)
        self._secrets = store.table(SECRETS)
        self.secret = Secret("")
        self._one_by_one = asyncio.Lock()
        self._wanted, self._loaded = 1, 0  # how often all was to be read, and which of these times it was
        self._told_entries = 0
        self._begin(State(), "", None)

    def forget(self) -> None:
        """Have all read again from the store at the next step; until then it is as it was."""
        self._wanted += 1

    @property
    def is_loaded(self) -> bool:
        """Whether all was read since it was last forgotten."""
        return self._loaded == self._wanted

    def _begin(self, state: State, cursor: str, checkpoint: Checkpoint | None) -> None:
        """Know a state, up to which cursor the games are read, the newest checkpoint, and no entry yet."""
        self.state, self.checkpoint = state, checkpoint
        self._log: list[LoggedEntry] = []
        self._links: list[str] = []  # of the checkpoints that the entries reach
        self._leaves: list[bytes] = []  # of the entries since
        self._named: set[str] = set()
        self._verdicts: tuple[Verdict, ...] = ()
        self._games: dict[str, RatedGame] = {}  # those that no snapshot holds, in the order in which they were read
        self._read_from: dict[str, str] = {}  # the cursor before each of them
        self._cursor = cursor
        self._passed = 0  # so many games since the last that were not rated, before there is an entry
        self._folded_games = 0

    @property
    def games(self) -> int:
        """How many games all entries have."""
        return len(self._named)

    @property
    def entries(self) -> int:
        """How many entries there are."""
        return len(self._log)

    async def step(self) -> None:
        """Read what is new, append what no entry names, and fold; raises `StoreUnavailable`."""
        async with self._one_by_one:
            await self._step()

    async def _step(self) -> None:
        if not self.is_loaded:
            await self._load()
        await self._read_entries()
        await self._read_games()
        while waiting := self._waiting():
            await self._append(waiting[:MOST_GAMES])
        await self._fold()

    async def needed_from(self) -> float:
        """Return when the first game ended that no snapshot holds (ms since 1970), without end where there is none."""
        await self.step()
        return min((game.at for game in self._games.values()), default=math.inf)

    async def judge(self, verdict: Verdict) -> Verdict:
        """Append a verdict under the next number, and fold it; raises `OrderRefused` and `StoreUnavailable`."""
        async with self._one_by_one:
            await self._step()
            while True:
                verdict = replace(verdict, seq=len(self._verdicts) + 1)
                await self._check(verdict)
                if await self._append(verdict=verdict):
                    break
            await self._fold()
        return verdict

    async def fold_all(self) -> tuple[Mapping[str, RatedGame], State, Sequence[LoggedEntry]]:
        """Return all games that are kept, what they come to with all entries from the first one on, and these.

        Nothing else is rated meanwhile. Raises `OrderRefused` where some are not kept any more.
        """
        async with self._one_by_one:
            await self._step()
            games = await self.read_all()
            if gone := self._named - games.keys():
                raise OrderRefused(f"{len(gone)} games are not kept any more, so not everything can be folded again.")
            return games, await self._advance(State(), games, len(self._log)), self._log.copy()

    async def read_all(self) -> dict[str, RatedGame]:
        """Return all rated games that are kept, by their ids."""
        found = dict[str, RatedGame]()
        async for _, _, game in self._store.games.after("", 2**62):
            if (rated := rated_game(game)) is not None:
                found[rated.id] = rated
        return found

    async def list_ids(self, since: int, until: int) -> list[str]:
        """Return the ids of the rated games that ended in this time (ms since 1970), in the order of the log."""
        ids = (id for entry in self._log for id in entry.games)
        return await asyncio.to_thread(lambda: [id for id in ids if since <= int(id.rpartition("-")[2]) < until])

    async def list_snapshots(self) -> AsyncIterator[Snapshot]:
        """Yield the snapshots that are kept, up to the newest checkpoint."""
        for number in range(1, 1 + (0 if self.checkpoint is None else self.checkpoint.number)):
            if (found := await self._snapshots.load(key_of(number))) is not None:
                yield found[0]

    def list_links(self, after: int) -> Links:
        """Return the links of the checkpoints that came after one of this number."""
        last = 0 if self.checkpoint is None else self.checkpoint.number
        return Links(after, tuple(self._links[after : min(last, after + MAX_LINKS)]))

    # -- what is kept -------------------------------------------------------------------------------------------

    async def _load(self) -> None:
        """Read the secret, the entries and the newest snapshot."""
        wanted = self._wanted
        if await self._secrets.load(SECRET_KEY) is None:
            with suppress(Conflict):
                await save(self._secrets, SECRET_KEY, Secret(secrets.token_hex(32)), MISSING)
        found = await self._secrets.load(SECRET_KEY)
        if found is None:
            raise LookupError("The secret of the ladders was deleted as it was made.")
        self.secret = found[0]
        rows = {row.key: row.value async for some in self._entries.load_all() for row in some}
        entries = list[LoggedEntry]()
        while isinstance(row := rows.get(key_of(len(entries) + 1)), LoggedEntry):
            entries.append(row)
        snapshot = await self._newest_usable(sum(len(entry.games) for entry in entries), entries)
        if snapshot is None:
            self._begin(State(), self.secret.cursor, None)
        else:
            self._begin(snapshot.state, snapshot.cursor, snapshot.checkpoint)
        for entry in entries:
            self._take(entry)
        self._folded_games = sum(len(entry.games) for entry in entries[: self.state.entries])
        self._loaded = wanted

    async def _newest_usable(
        self, count: int, entries: Sequence[LoggedEntry], games: Mapping[str, RatedGame] | None = None
    ) -> Snapshot | None:
        """Return the newest snapshot, up to that of so many games, that these entries go on from; or None."""
        verdicts = list_verdicts(entries)
        for one in range(count // CHECKPOINT_GAMES, 0, -1):
            snapshot = await self._load_snapshot(one)
            if snapshot is None:
                continue
            if snapshot.state.verdicts != verdicts:
                games = await self.read_all() if games is None else games
                if not newest_usable([snapshot.state], entries, games).entries:
                    continue
            return snapshot
        return None

    async def _load_snapshot(self, number: int) -> Snapshot | None:
        """Return the snapshot of this number, None where it is not there, or its players are not all kept."""
        first = await self._snapshots.load(key_of(number))
        if first is None:
            return None
        others = await asyncio.gather(*map(self._snapshots.load, keys_of(number, first[0])[1:]))
        parts = [found[0] for found in (first, *others) if found is not None]
        return join(parts) if len(parts) == first[0].parts else None

    def _take(self, logged: LoggedEntry) -> None:
        self._log.append(logged)
        self._named.update(logged.games)
        if logged.verdict is not None:
            self._verdicts += (logged.verdict,)
        self._leaves += map(bytes.fromhex, logged.leaves)
        if len(self._named) >= (len(self._links) + 1) * CHECKPOINT_GAMES:
            self._links.append(link_of(self._leaves).hex())
            self._leaves = []

    async def _read_entries(self) -> None:
        while (found := await self._entries.load(key_of(len(self._log) + 1))) is not None:
            self._take(found[0])

    async def _read_games(self) -> None:
        async for cursor, _, game in self._store.games.after(self._cursor, 2**62):
            if (rated := rated_game(game)) is not None:
                self._read_from.setdefault(rated.id, self._cursor)
                self._games[rated.id] = rated
            self._cursor, self._passed = cursor, self._passed + 1
        if not self._log and not self._games and self._passed >= NOTED_GAMES:
            self._passed = 0
            await change(self._secrets, SECRET_KEY, lambda old: old and replace(old, cursor=self._cursor))

    def _waiting(self) -> list[RatedGame]:
        found = [game for id, game in self._games.items() if id not in self._named]
        return sorted(found, key=lambda game: (game.at, game.id))

    async def _append(self, games: Sequence[RatedGame] = (), verdict: Verdict | None = None) -> bool:
        """Append an entry of games, or of a verdict, or read what another appended first; tell which."""
        named = {game.id: game for game in games} if verdict is None else {name_of(verdict): verdict}
        leaves = tuple(leaf_of(self.secret.salt(id), record).hex() for id, record in named.items())
        logged = LoggedEntry(tuple(game.id for game in games), verdict, leaves)
        try:
            await save(self._entries, key_of(len(self._log) + 1), logged, MISSING)
        except Conflict:
            await self._read_entries()
            return False
        self._take(logged)
        return True

    # -- the fold -----------------------------------------------------------------------------------------------

    async def _check(self, verdict: Verdict) -> None:
        """Raise `OrderRefused` for what is not there, and for what reaches behind the oldest game that is kept."""
        about = verdict
        while about.kind == "undo":
            if not 0 < about.undoes < about.seq:
                raise OrderRefused(f"There is no verdict {about.undoes} to be undone.")
            about = self._verdicts[about.undoes - 1]
        if about.kind == "void game" and about.of not in self._named:
            raise OrderRefused(f"There is no rated game {about.of}.")
        games = await self.read_all()
        if verdict.kind == "void player" and not any(verdict.of in game.players for game in games.values()):
            raise OrderRefused(f"No rated game that is kept was played by {verdict.of}.")
        gone = self._named - games.keys()
        oldest = min((game.at for game in games.values()), default=verdict.at)
        if about.of in gone if about.kind == "void game" else gone and about.since < oldest:
            raise OrderRefused("That reaches behind the oldest game that is kept, so nothing could be folded again.")
        start = await self._newest_usable(len(self._named), [*self._log, LoggedEntry(verdict=verdict)], games)
        if gone - (self._ids_of(start.state.entries) if start else set()):
            raise OrderRefused("Games that would have to be folded again for that are not kept any more.")

    async def _fold(self) -> None:
        if self.state.entries == len(self._log) and self.state.verdicts == self._verdicts:
            return
        if self.state.verdicts != self._verdicts:
            await self._start_again()
        while self.state.entries < len(self._log):
            before, start = self.state, self.state.entries
            due = (1 + self._folded_games // CHECKPOINT_GAMES) * CHECKPOINT_GAMES
            part = self._log[start : self._end_of_part(start, min(_GAMES_AT_ONCE, due - self._folded_games))]
            ids = [id for entry in part for id in entry.games]
            if missing := [id for id in ids if id not in self._games]:
                log.warning("a rated game is not read yet", game=missing[0])
                return
            self.state = advance(before, part, self._games, self._verdicts)
            self._folded_games += len(ids)
            if self.state.entries > self._told_entries:
                self._told_entries = self.state.entries
                self._told(before, self.state, [self._games[id] for id in ids])
            if self._folded_games >= due:
                await self._note()
            await asyncio.sleep(0)

    def _end_of_part(self, start: int, games: int) -> int:
        """Return the end of the entries from `start` on that have so many games together, or are the last."""
        end = start
        while end < len(self._log) and games > 0:
            games -= len(self._log[end].games)
            end += 1
        return end

    async def _advance(self, state: State, games: Mapping[str, RatedGame], end: int) -> State:
        """Return the state after so many entries, folded in parts between which others have their turn."""
        while state.entries < end:
            part = self._log[state.entries : min(end, self._end_of_part(state.entries, _GAMES_AT_ONCE))]
            state = advance(state, part, games, self._verdicts)
            await asyncio.sleep(0)
        return state

    async def _start_again(self) -> None:
        """Go back to the newest snapshot that no verdict changes, and fold up to where the state was."""
        games = await self.read_all()
        snapshot = await self._newest_usable(self._folded_games, self._log, games)
        start = State() if snapshot is None else snapshot.state
        state = replace(start, verdicts=self._verdicts)
        self.state = await self._advance(state, games, self.state.entries)
        self._games = {**games, **self._games}
        self._drop_games(self._ids_of(start.entries))

    def _ids_of(self, entries: int) -> set[str]:
        return {id for entry in self._log[:entries] for id in entry.games}

    def _drop_games(self, done: Set[str]) -> None:
        """Forget the games with these ids."""
        self._games = {id: game for id, game in self._games.items() if id not in done}
        self._read_from = {id: cursor for id, cursor in self._read_from.items() if id in self._games}

    async def _note(self) -> None:
        """Keep a snapshot with a signed checkpoint, unless another server has done so."""
        state, last = self.state, self.checkpoint
        number, chain = (1, START) if last is None else (last.number + 1, bytes.fromhex(last.chain))
        chain = extend_chain(chain, bytes.fromhex(self._links[number - 1]))
        secret = bytes.fromhex(self.secret.hex)
        checkpoint = await asyncio.to_thread(lambda: sign_checkpoint(secret, number, chain, state.digest))
        done = self._ids_of(state.entries)
        cursor = next((self._read_from.get(id, "") for id in self._games if id not in done), self._cursor)
        first, *others = await asyncio.to_thread(split, Snapshot(state, cursor, checkpoint))
        key, *keys = keys_of(number, first)
        if await self._snapshots.load(key) is None:
            for other, part in zip(keys, others, strict=True):
                with suppress(Conflict):  # another server has kept the same
                    await save(self._snapshots, other, part, MISSING)
        with suppress(Conflict):
            await save(self._snapshots, key, first, MISSING)
        found = await self._snapshots.load(key)
        first = first if found is None else found[0]
        self._drop_games(done)
        self.checkpoint = first.checkpoint
        await self._thin(number - WHOLE_NEWEST)

    async def _thin(self, newest: int) -> None:
        """Keep the players of older snapshots no longer, from this number down to where that is done already."""
        for number in range(newest, 0, -1):
            key = key_of(number)
            found = await self._snapshots.load(key) if number % WHOLE_EVERY else None
            if found is not None and not found[0].parts:
                return
            if found is not None:
                for other in keys_of(number, found[0])[1:]:
                    await delete(self._snapshots, other, None)
                await change(self._snapshots, key, lambda old: old and head_of(old))


def name_of(verdict: Verdict) -> str:
    """Return by what id a verdict has its salt."""
    return f"verdict-{verdict.seq}"
