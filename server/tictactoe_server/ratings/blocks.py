"""Blocks: a player hides the challenges and the chat of another player."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import UNSET, Struct

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.challenges import MAX_BLOCKS, Block
from tictactoe_server.agenda import every
from tictactoe_server.core.core import Call, Core, Service
from tictactoe_server.records.changes import change
from tictactoe_server.rooms import Refused
from tictactoe_server.services.checks import find_player
from tictactoe_server.storage.specs import Persons, TableSpec
from tictactoe_server.storage.store import StoreUnavailable


class Blocks(Struct, frozen=True):
    """The ids of the players whom `player` blocks."""

    player: str
    blocked: tuple[str, ...] = ()

    def without(self, id: str, stand_in: str) -> Blocks | None:
        """Return the row without a forgotten player, or None if the row is theirs."""
        return None if id == self.player else Blocks(self.player, tuple(one for one in self.blocked if one != id))


BLOCKS: Final[TableSpec[Blocks]] = TableSpec(
    *("blocks", "list of blocks", msgspec.json.encode, msgspec.json.Decoder(Blocks).decode),
    key_of=lambda blocks: blocks.player,
    persons=Persons(
        lambda blocks: (blocks.player, *blocks.blocked), Blocks.without, owner=lambda blocks: blocks.player
    ),
)
"""By the id of the blocking player."""


class Blocking(Service):
    """Stores blocks, and caches the blocks of all connected players."""

    tables = (BLOCKS,)

    def __init__(self) -> None:
        self.handles = {Block: self.block}
        self._known: dict[str, frozenset[str]] = {}

    def start(self, core: Core) -> None:
        self._core, self._table, self._elsewhere = core, core.store.table(BLOCKS), core.registry.elsewhere
        self._elsewhere.on_changed.add(self._hear)
        self.tasks.start(every(60.0, self._drop_absent))

    async def block(self, call: Call) -> None:
        """Block a player or end the block, and answer with all blocks."""
        id, other = call.player.id, call.request.player
        if other is not UNSET:
            other = await find_player(self._core, other)
        if other == id:
            raise Refused(ErrorCode.NOT_ALLOWED, "self", path="player")

        def edit(old: Blocks | None) -> Blocks | None:
            blocked = [one for one in (old.blocked if old else ()) if one != other]
            if call.request.on and len(blocked) >= MAX_BLOCKS:
                raise Refused(ErrorCode.NOT_ALLOWED, "blocks", most=MAX_BLOCKS)
            blocked += [other] if call.request.on else []
            return Blocks(id, tuple(blocked)) if blocked else None

        if other is not UNSET:
            if not call.request.on or other in await self.load(id):  # who is bothered may block everybody at once
                self._core.allowances.take_offer(call.player)
            await change(self._table, id, edit)
            self._elsewhere.tell_changed(BLOCKS.name, id)
        call.answer(blocks=await self.know(id))

    def is_deaf(self, player: str, other: str) -> bool:
        """Return True if a connected player blocks another one."""
        return other in self._known.get(player, ())

    async def load(self, player: str) -> Collection[str]:
        """Return the ids of the players whom a player blocks; raises `StoreUnavailable`."""
        found = await self._table.load(player)
        return () if found is None else found[0].blocked

    async def know(self, player: str) -> Collection[str]:
        """Load and cache the blocks of a connected player, and return them; raises `StoreUnavailable`."""
        blocked = await self.load(player)
        self._known.pop(player, None)
        if blocked:
            self._known[player] = frozenset(blocked)
        return blocked

    def _hear(self, table: str, key: str) -> None:
        if table == BLOCKS.name and self._core.presence.of_player(key):
            self.tasks.start(self._reload(key))

    async def _reload(self, player: str) -> None:
        with suppress(StoreUnavailable):  # the old blocks count until the player's next connection
            await self.know(player)

    def _drop_absent(self) -> None:
        self._known = {id: blocked for id, blocked in self._known.items() if self._core.presence.of_player(id)}
