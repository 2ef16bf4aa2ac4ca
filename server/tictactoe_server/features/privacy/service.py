"""The export and the erasure of a player's data; the specs of the tables show which rows name the player.

An erasure first stores a hash of the player's id together with a stand-in, a name for the games that remain. Then it
disconnects the player and replaces the player's id everywhere. An erasure that was interrupted by a crash or undone by
restoring a backup is repeated at the next start. Requests from several players are answered at once, and their data is
erased together.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Final

import click
import structlog
from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.names import Export, Forget
from tictactoe_server.core.change import Call, reload
from tictactoe_server.core.core import Core, Service
from tictactoe_server.features.feature import Feature
from tictactoe_server.operator.bans import PLAYER_ID, expel
from tictactoe_server.operator.maintenance import hourly
from tictactoe_server.operator.order import Order, Row, ServerParts
from tictactoe_server.operator.people import find_connected
from tictactoe_server.people.accounts import Accounts
from tictactoe_server.play.history import games_before
from tictactoe_server.play.names import Names
from tictactoe_server.records.changes import change
from tictactoe_server.records.tables import FORGOTTEN, PLAYERS, ROOMS, Claim, Forgotten, today
from tictactoe_server.rooms.finished import FinishedGame
from tictactoe_server.rooms.room import Refused
from tictactoe_server.scheduler import wait_until
from tictactoe_server.storage.schema import reading
from tictactoe_server.storage.specs import NOBODY, Persons, Specs, Storage, hash_id
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import (
    MISSING,
    Conflict,
    StoreUnavailable,
    Table,
    Unreadable,
    delete,
    save,
    values_of,
)
from tictactoe_server.transport.rate_limit import RateLimits

LEAVING_SECONDS: Final = 3.0  # how long to wait until a forgotten player's connections are closed
AGAIN_SECONDS: Final = 30.0  # until an erasure is retried after an error of the store
FORGOTTEN_AT_ONCE: Final = 500  # absent players in one hour
UNKNOWN_DAYS: Final = 365  # the assumed age of the oldest backup, if the server makes none itself
_GAMES_AT_ONCE: Final = 50
_STEP_SECONDS: Final = 0.002  # between two batches of a table, for other tasks
_EXPORTS, _EXPORTS_OF_ADDRESS, _EXPORTS_MS = 30, 120, 60_000  # pages per player and per address, and per how many ms
_MAX_PAGE_BYTES: Final = 100_000

log: Final = structlog.get_logger(__name__)


class Erasure(Service):
    """Exports and erases the data of players, at their request or after `days` days of absence (None for never)."""

    def __init__(self, core: Core, specs: Specs, names: Names, days: int | None) -> None:
        self._specs = specs
        self._names = names
        self._days = days
        self.handles = {Forget: self.forget_me, Export: self.export}
        self._one_by_one, self._numbering = asyncio.Lock(), asyncio.Lock()
        self._waiting: dict[str, tuple[str, Forgotten]] = {}  # the next batch of erasures, by the hash of the id
        self._heard = set[str]()  # hashes of forgotten players who have to be disconnected from this server
        self._newest: int | None = None  # the largest number of any stand-in, or None if it is not known yet
        self._core = core
        self._kept = core.store.table(FORGOTTEN)
        self._exports = RateLimits(_EXPORTS, _EXPORTS_MS, core.monotonic_ns)
        self._exports_of_address = RateLimits(_EXPORTS_OF_ADDRESS, _EXPORTS_MS, core.monotonic_ns)
        self._elsewhere = core.rooms.elsewhere
        self._elsewhere.on_changed[ROOMS.name].add(self._reload_room)
        self._elsewhere.on_changed[FORGOTTEN.name].add(self._on_forgotten)
        self.jobs = (self._go_on, lambda: hourly(core.rooms.restored, self.go_round))

    async def forget_me(self, call: Call) -> None:
        """Store the player's request to be forgotten, reply, and erase the player's data afterwards."""
        id = call.player.id
        await self._names.check_device(call)
        kept = await self.begin(id)
        try:
            await self._revoke(id)
            call.answer()
        finally:
            if not self._waiting:
                self.tasks.start(self._finish_waiting())
            self._waiting[hash_id(id)] = id, kept

    async def _revoke(self, id: str) -> None:
        """Delete the player's tokens and rescue codes, so that nobody comes back during the erasure."""
        accounts = Accounts(self._core.store)
        await change(accounts.accounts, id, lambda old: None)
        for place, key in await self._core.store.keys_of((id,), is_exact=True):
            if place == PLAYERS.name:
                await change(accounts.players, key, lambda old: None)

    async def export(self, call: Call) -> None:
        """Reply with a page of the player's data. The first page has the data from the tables.

        Every page has some of the player's games, from the newest to the oldest.
        """
        self._core.allowances.consume(self._exports[call.player.id], "exports")
        self._core.allowances.consume(self._exports_of_address[call.session.address], "exports")
        id, before = call.player.id, call.request.before
        found: dict[str, Any] = {"player": id} | await self._tables_of(id) if before is UNSET else {}
        games, size = [], 0
        for _, game in await games_before(self._core.store.games, id, _GAMES_AT_ONCE, before):
            games.append(self._specs.games.persons_of.shown(game))
            size += len(self._specs.games.encode(game))
            before = game.id
            if size > _MAX_PAGE_BYTES:
                break
        call.answer(export=found | {"games": games}, before=before if games else UNSET)

    async def _tables_of(self, id: str) -> dict[str, Any]:
        keys = defaultdict[str, tuple[str, ...]](tuple)
        asleep = [code for code, people in self._core.rooms.asleep.items() if id in people]
        keys[ROOMS.name] = (*self._core.indexes.seats.codes_naming(id), *asleep)
        for place, key in await self._core.store.keys_of((id,)):
            keys[place] = *keys[place], key
        found: dict[str, Any] = {}
        for spec in self._specs.tables:
            for key in keys[spec.name]:
                with suppress(Unreadable):
                    row = await self._core.store.table(spec).load(key)
                    if row is not None and spec.persons_of.is_shown(row[0], id):
                        found.setdefault(spec.name, []).append(spec.persons_of.shown(row[0]))
        return found

    async def forget(self, id: str) -> str:
        """Forget a player: erase the data, and then return the stand-in. May raise `StoreUnavailable`."""
        kept = await self.begin(id)
        await self._finish({hash_id(id): kept}, (id,))
        return kept.stand_in

    async def go_round(self, day: int) -> None:
        """Forget the players who have been away for too long on `day`, and delete old hashes.

        In a cluster, a single server does this. May raise `StoreUnavailable`.
        """
        if not self._elsewhere.is_chosen("keep-players"):
            return
        if self._days is not None and (ids := await self._absent_since(day - self._days)):
            await self._finish({hash_id(id): await self.begin(id) for id in ids}, ids)
        oldest = max((days() for days in self._core.hooks.oldest_backup_days), default=UNKNOWN_DAYS)
        await drop_hashes(self._kept, day - oldest)  # a restored backup may still have these players

    async def _absent_since(self, day: int) -> list[str]:
        last_seen: dict[str, int] = {}
        async for _, known, _ in values_of(self._core.store.table(PLAYERS)):
            last_seen[known.player.id] = max(known.seen, last_seen.get(known.player.id, 0))
        staying = self._core.current_players
        return [id for id, last in last_seen.items() if last < day and id not in staying][:FORGOTTEN_AT_ONCE]

    async def begin(self, id: str) -> Forgotten:
        """Store the request to forget a player, so that the erasure is completed even after a crash."""
        key = hash_id(id)
        async with self._numbering:
            if self._newest is None:
                known = await _known(self._kept)
                self._newest = max((kept.number for kept in known.values()), default=0)
            self._newest += await self._kept.load(key) is None
            new = Forgotten(f"player-{self._newest}", day=today())
        kept: Forgotten = await change(
            self._kept, key, lambda old: replace(old, is_done=False, day=today()) if old else new
        )
        log.info("player forgotten", stand_in=kept.stand_in)
        return kept

    async def _finish_waiting(self) -> None:
        async with self._one_by_one:
            batch, self._waiting = self._waiting, {}
            try:
                await self._erase({key: kept for key, (_, kept) in batch.items()}, [id for id, _ in batch.values()])
            except StoreUnavailable as unavailable:
                log.warning("player not forgotten everywhere yet; retrying", reason=str(unavailable))
                self._core.scheduler.after(AGAIN_SECONDS, lambda: self.tasks.start(self._go_on()))

    async def _go_on(self) -> None:
        """Finish interrupted erasures. Only the hashes of the players' ids are known."""
        await self._core.rooms.restored.wait()
        while True:
            try:
                known = await _known(self._kept)
                await self._core.store.drop_copies(known)
                if left := {key: kept for key, kept in known.items() if not kept.is_done}:
                    await self._finish(left)
                return
            except StoreUnavailable as unavailable:
                log.warning("forgotten players not loaded yet; retrying", reason=str(unavailable))
                await asyncio.sleep(AGAIN_SECONDS)

    async def _finish(self, forgotten: Mapping[str, Forgotten], ids: Collection[str] = ()) -> None:
        async with self._one_by_one:
            await self._erase(forgotten, ids)

    async def _erase(self, forgotten: Mapping[str, Forgotten], ids: Collection[str]) -> None:
        """Disconnect players and erase their data.

        Args:
            forgotten: The players to erase, by the hashes of their ids.
            ids: The ids of all these players, or nothing if only the hashes are known.
        """
        stand_ins = {key: kept.stand_in for key, kept in forgotten.items()}
        await self._see_off(forgotten)
        await forget_in(self._core.store, self._specs, stand_ins, ids, self._elsewhere.notify)
        while await self._see_off(forgotten):  # a player reconnected before the token was deleted
            await forget_in(self._core.store, self._specs, stand_ins, ids, self._elsewhere.notify)
        await self._core.store.scrub()
        for key in forgotten:
            await change(self._kept, key, lambda old: old and replace(old, is_done=True))
            self._elsewhere.notify(FORGOTTEN.name, key)

    async def _see_off(self, keys: Collection[str]) -> bool:
        """Disconnect players from all servers, and return whether any of them was connected to this server.

        `keys` are the hashes of the players' ids.
        """
        presence = self._core.presence
        leaving = self._send_away(keys)
        for key in keys:
            self._elsewhere.broadcast_change(FORGOTTEN.name, key)
        await wait_until(lambda: leaving.isdisjoint(presence.ids), LEAVING_SECONDS)
        return bool(leaving)

    def _reload_room(self, code: str) -> None:
        if (live := self._core.rooms.by_code.get(code)) is not None:
            reload(live)

    def _on_forgotten(self, key: str) -> None:
        if not self._heard:
            self._core.scheduler.soon(self._send_heard_away)
        self._heard.add(key)
        self.tasks.start(self._drop_copies(key))

    async def _drop_copies(self, key: str) -> None:
        try:
            if self._newest is not None and (row := await self._kept.load(key)):
                self._newest = max(self._newest, row[0].number)
            await self._core.store.drop_copies((key,))
        except StoreUnavailable as unavailable:  # the copies are deleted at the next start
            log.warning("copies of games not deleted yet; retrying", reason=str(unavailable))

    def _send_heard_away(self) -> None:
        keys, self._heard = self._heard, set()
        self._send_away(keys)

    def _send_away(self, keys: Collection[str]) -> set[str]:
        """Disconnect this server's players whose ids have one of the hashes `keys`, and return their ids."""
        leaving = {id for id in self._core.presence.ids if hash_id(id) in keys}
        for session, player in self._core.presence.players:
            if player.id in leaving:
                expel(session.connection, Refused(ErrorCode.KICKED, "forgotten"), session.language)
        return leaving


async def drop_hashes(table: Table[Forgotten], before: int) -> None:
    """Delete the hashes of players forgotten before the day `before`.

    The newest hash stays in the table, because its number shows which numbers of stand-ins have been used.
    """
    known = [row async for row in values_of(table, _STEP_SECONDS)]
    for key, kept, revision in sorted(known, key=lambda row: row[1].number)[:-1]:
        if kept.is_done and kept.day < before:
            with suppress(Conflict):
                await delete(table, key, revision)


async def forget_again(folder: Path, specs: Specs, replaced: Path | None) -> int:
    """Forget players again in a restored database, and return the number of changed values. No server may use `folder`.

    May raise `CannotOpenStore` or `StoreUnavailable`. If the `replaced` database is damaged, raises sqlite3.Error or
    UnicodeDecodeError before anything is changed.

    Args:
        folder: The folder with the restored database.
        replaced: The database from before the restore, which lists the players forgotten since the backup, if any.
    """
    rows: list[tuple[str, str]] = []
    if replaced is not None:
        with reading(replaced) as connection:
            rows = connection.execute(f"SELECT key, document FROM {FORGOTTEN.name}").fetchall()
    known = [(key, FORGOTTEN.read(key, document)) for key, document in rows]
    store = SqliteStore.open(folder, specs)
    try:
        table = store.table(FORGOTTEN)
        for key, kept in known:
            with suppress(Conflict):
                await save(table, key, kept, MISSING)
        stand_ins = {key: kept.stand_in for key, kept in (await _known(table)).items()}
        found = await forget_in(store, specs, stand_ins)
        await store.scrub()
        return found
    finally:
        await store.close()


async def _known(table: Table[Forgotten]) -> dict[str, Forgotten]:
    return {key: kept async for key, kept, _ in values_of(table)}


async def forget_in(
    store: Storage,
    specs: Specs,
    stand_ins: Mapping[str, str],
    ids: Collection[str] = (),
    changed: Any = lambda table, key: None,
) -> int:
    """Replace forgotten players with their stand-ins in all tables and games, and return the number of changed values.

    May raise `StoreUnavailable`.

    Args:
        stand_ins: The stand-ins by the hashes of the players' ids.
        ids: The ids of all these players, if known. Then only indexed values that name them are read, not all values.
        changed: Called with the table's name and the key of each changed value.
    """

    @cache
    def stand_in_of(one: str) -> str | None:
        return stand_ins.get(hash_id(one))

    found = 0
    known = await store.keys_of(ids, is_exact=True) if ids else ()
    for spec in specs.tables:
        table, persons = store.table(spec), spec.persons_of
        has_all = persons is NOBODY or (persons.is_indexed and bool(ids))
        keys = sorted(key for place, key in known if place == spec.name) if has_all else None
        async for key, value in _values(table, keys):
            for one in persons.ids(value):
                if (stand_in := stand_in_of(one)) is not None:
                    if isinstance(value, Claim) and not value.is_free:
                        await Accounts(store).reserve(key)
                    await change(table, key, partial(_edit, persons, one, stand_in))
                    changed(spec.name, key)
                    found += 1
    persons = specs.games.persons_of
    async for number, game in _games(store, ids):
        for one in persons.ids(game):
            if (stand_in := stand_in_of(one)) is not None:
                await store.games.replace(number, persons.without(game, one, stand_in))
                found += 1
    return found


async def _values(table: Table[Any], keys: Collection[str] | None) -> AsyncIterator[tuple[str, Any]]:
    """Yield the keys and values in `table`, or only values with the given `keys`. Damaged values are left out."""
    if keys is None:
        async for key, value, _ in values_of(table, _STEP_SECONDS):
            yield key, value
        return
    for key in keys:
        with suppress(Unreadable):
            if row := await table.load(key):
                yield key, row[0]


def _edit(persons: Persons[Any], id: str, stand_in: str, value: Any) -> Any:
    return value and persons.without(value, id, stand_in)


async def _games(store: Storage, ids: Collection[str]) -> AsyncIterator[tuple[int, FinishedGame]]:
    """Yield the games by the players with these ids, or all games if `ids` is empty."""
    if not ids:
        async for _, number, game in store.games.after("", 2**62):
            yield number, game
        return
    numbers = dict[int, None]()
    for id in ids:
        before = None
        while some := await store.games.games_of(id, _GAMES_AT_ONCE, before):
            numbers |= dict.fromkeys(number for number, _ in some)
            before = some[-1][0]
    for number in numbers:
        if (game := await store.games.game(number)) is not None:
            yield number, game


class ForgetOrder(Order, frozen=True, tag="forget"):
    """Erase the personal data of a player. This cannot be undone.

    PLAYER is an id, the name of a connected player, or a claimed name. The name, the devices and the rescue codes are
    deleted. The player's games stay under another name; bans stay, too. Existing backups still contain the data; when
    one is restored, the player is forgotten again.
    """

    player: Annotated[str, click.Argument(["player"])]
    outcome = "Forgot {player}, who is now {stand_in} in stored games."
    question = "Forget {player}? The name, the devices and the rescue codes are deleted permanently."

    async def run_here(self, server: ServerParts) -> Row:
        id = self.player
        if not PLAYER_ID.fullmatch(id):
            claim = await Accounts(server.core.store).find_claim(id)
            id = await find_connected(id, server) if claim is None else claim.player
        return {"player": id, "stand_in": await server.service(Erasure).forget(id)}


FEATURE: Final = Feature(
    make=lambda parts: [Erasure(parts.core, parts.specs, parts.names, parts.settings.keep_players_days)],
    orders=(ForgetOrder,),
)
