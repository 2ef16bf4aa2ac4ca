"""Blocks: a player hides the challenges and the chat of another player, and is not matched with that player."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.challenges import MAX_BLOCKS
from tictactoe_server.core.change import Call
from tictactoe_server.core.core import Core, Service
from tictactoe_server.play.checks import find_player
from tictactoe_server.records.mirror import Mirror
from tictactoe_server.rooms.room import Refused
from tictactoe_server.scheduler import every
from tictactoe_server.storage.specs import Persons, TableSpec


class Blocks(Struct, frozen=True, omit_defaults=True):
    """The ids of the players whom `player` blocks, and whether that includes challenges of `strangers`."""

    player: str
    blocked: tuple[str, ...] = ()
    strangers: bool = False

    def without(self, id: str, stand_in: str) -> Blocks | None:
        """Return the blocks without a forgotten player, or None if the blocks are that player's own."""
        return None if id == self.player else replace(self, blocked=tuple(one for one in self.blocked if one != id))


BLOCKS: Final[TableSpec[Blocks]] = TableSpec(
    *("blocks", "block list", msgspec.json.encode, msgspec.json.Decoder(Blocks).decode),
    key_of=lambda blocks: blocks.player,
    persons=Persons(
        lambda blocks: (blocks.player, *blocks.blocked), Blocks.without, owner=lambda blocks: blocks.player
    ),
)
"""Lists of blocks by the id of the blocking player."""


class Blocking(Service):
    """Stores blocks, and caches the blocks of all connected players."""

    def __init__(self, core: Core) -> None:
        core.hooks.mute_checks.append(self.is_deaf)
        core.hooks.match_checks.append(self.are_apart)
        self._core = core
        table, elsewhere, of_player = core.store.table(BLOCKS), core.rooms.elsewhere, core.presence.of_player
        self._stored = Mirror(table, BLOCKS.name, elsewhere, self.tasks, lambda key, value: bool(of_player(key)))
        self.jobs = (lambda: every(60.0, self._drop_absent),)

    async def block(self, call: Call) -> None:
        """Block or unblock a player or strangers, and reply with all of the sender's blocks."""
        id, other = call.player.id, call.request.player
        if other is not UNSET:
            other = await find_player(self._core, other)
        if other == id:
            raise Refused(ErrorCode.NOT_ALLOWED, "self", path="player")

        def edit(old: Blocks | None) -> Blocks | None:
            blocked = [one for one in (old.blocked if old else ()) if one != other]
            if call.request.on and len(blocked) >= MAX_BLOCKS:
                raise Refused(ErrorCode.NOT_ALLOWED, "blocks", most=MAX_BLOCKS)
            blocked += [other] if call.request.on and other is not UNSET else []
            strangers = old is not None and old.strangers if call.request.strangers is UNSET else call.request.strangers
            return Blocks(id, tuple(blocked), strangers) if blocked or strangers else None

        row = await self.load(id)
        if other is not UNSET or call.request.strangers is not UNSET:
            is_new = (call.request.on and other not in (UNSET, *row.blocked)) or (
                call.request.strangers is True and not row.strangers
            )
            if not is_new:  # new blocks are never rate-limited, so that a harassed player can act at once
                self._core.allowances.count_offer(call.player)
            row = await self._stored.change(id, edit) or Blocks(id)
        call.answer(blocks=row.blocked, strangers=row.strangers or UNSET)

    def is_deaf(self, player: str, other: str) -> bool:
        """Return True if `player`, who is connected, blocks the player `other`."""
        blocks = self._stored.get(player)
        return blocks is not None and other in blocks.blocked

    async def are_apart(self, player: str, other: str) -> bool:
        """Return True if one of two players blocks the other; may raise `StoreUnavailable`."""
        return other in (await self.load(player)).blocked or player in (await self.load(other)).blocked

    async def load(self, player: str) -> Blocks:
        """Return a player's blocks; may raise `StoreUnavailable`."""
        is_cached = self._core.presence.of_player(player) and not self._core.rooms.elsewhere.is_several
        return (self._stored.get(player) if is_cached else await self._stored.read(player)) or Blocks(player)

    def _drop_absent(self) -> None:
        for blocks in self._stored:
            if not self._core.presence.of_player(blocks.player):
                self._stored.forget(blocks.player)
