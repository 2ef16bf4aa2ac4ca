"""Claimed names, and the devices of each player, in the store.

Secrets are stored only as SHA-256 hashes. A fast hash is enough, because tokens and rescue codes are random, and codes
that link a device expire soon.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from typing import cast

from msgspec.structs import replace

from tictactoe_server import clock
from tictactoe_server.people.confusables import keys_of, mark_other
from tictactoe_server.records import tables
from tictactoe_server.records.changes import change
from tictactoe_server.rooms.room import Player
from tictactoe_server.storage.specs import Storage, hash_id
from tictactoe_server.storage.store import values_of


class Accounts:
    """Reads and changes accounts and claimed names. Every coroutine may raise `StoreUnavailable`.

    Changes are made by compare-and-set, so that every server in a cluster may make them.
    """

    def __init__(self, store: Storage) -> None:
        self.claims, self.accounts = store.table(tables.CLAIMS), store.table(tables.ACCOUNTS)
        self.links, self.players = store.table(tables.LINKS), store.table(tables.PLAYERS)
        self.reserved = store.table(tables.RESERVED)

    async def load(self, player: str) -> tables.Account | None:
        found = await self.accounts.load(player)
        return found and found[0]

    async def load_or_empty(self, player: Player) -> tables.Account:
        return await self.load(player.id) or tables.Account(player)

    async def find_claim(self, name: str, own: str = "") -> tables.Claim | None:
        """Return the claim of a name that `name` may be confused with, or None if there is none.

        Args:
            own: The id of a player, whose own claim is returned only if no other player has such a claim.
        """
        found = await asyncio.gather(*map(self.claims.load, keys_of(name)))
        claims = [row[0] for row in found if row is not None and not row[0].is_free]
        return min(claims, key=lambda claim: claim.player == own, default=None)

    async def shown(self, player: Player) -> tuple[Player, tables.Claim | None]:
        """Return a player as others see them, and the claim that their name may be confused with, or None.

        The player's own claim is marked as used today. If another player has the claim, the returned name is marked.
        """
        claim = await self.find_claim(player.name, own=player.id)
        if claim is not None and claim.player != player.id:
            return Player(player.id, mark_other(player.name)), claim
        if claim is not None and claim.seen < tables.today():
            await self._change(keys_of(claim.name), player.id, lambda own: replace(own, seen=tables.today()))
        return player, claim

    async def is_reserved(self, name: str) -> bool:
        """Return True if a recently deleted player had this name."""
        found = await asyncio.gather(*(self.reserved.load(hash_id(key)) for key in keys_of(name)))
        return any(row is not None and not row[0].is_over for row in found)

    async def reserve(self, key: str) -> None:
        """Reserve a key of a deleted player's name: names with this key cannot be claimed for `RESERVED_DAYS`."""
        reserved = tables.Reserved(clock.wall() + tables.RESERVED_DAYS * 86_400)
        await change(self.reserved, hash_id(key), lambda old: reserved)

    async def claim(self, name: str, player: str) -> tables.Claim | None:
        """Claim all keys of a name for a player; if another player has claimed one of them, return that claim."""
        own, keys = tables.Claim(name, player, tables.today()), keys_of(name)

        def claim_free(old: tables.Claim | None) -> tables.Claim:
            return own if old is None or old.is_free or old.player == player else old

        for count, key in enumerate(keys):
            claim: tables.Claim = await change(self.claims, key, claim_free)
            if claim != own:
                await self._change(keys[:count], player, lambda own: None)
                return claim
        return None

    async def release(self, account: tables.Account) -> None:
        await self._change(keys_of(account.claimed), account.player.id, lambda own: None)

    async def leave(self, account: tables.Account, for_name: str) -> None:
        """Release an account's claimed name after `FORMER_DAYS`, except for the keys that it shares with `for_name`."""
        if account.claimed:
            keys = [key for key in keys_of(account.claimed) if key not in keys_of(for_name)]
            await self._change(keys, account.player.id, lambda own: replace(own, left=tables.today()))

    async def rename(self, player: Player) -> tables.Account:
        """Rename a player on all devices; return the stored account, or an empty account if the player has none."""
        account = await change(self.accounts, player.id, lambda old: old and replace(old, player=player))
        if account:
            await self.rename_devices(account)
        return cast(tables.Account, account or tables.Account(player))

    async def rename_devices(self, account: tables.Account) -> None:
        await asyncio.gather(*(self._assign_device(device.key, account.player) for device in account.devices))

    async def devices_of(self, player: str) -> list[str]:
        """Return the hashes of the tokens of a player's devices."""
        return [key async for key, known, _ in values_of(self.players) if known.player.id == player]

    async def merge(self, player: str, devices: Iterable[str], into: tables.Account) -> None:
        """Move a player's devices to the account `into`. This takes effect at each device's next hello.

        Args:
            devices: The hashes of the devices' tokens.
        """
        for key in devices:

            def add(old: tables.Account | None, key: str = key) -> tables.Account:
                return (old or into).with_device(key)

            await self._assign_device(key, into.player)
            await change(self.accounts, into.player.id, add)
        await change(self.accounts, player, lambda old: None)

    async def _change(
        self, keys: Iterable[str], player: str, edit: Callable[[tables.Claim], tables.Claim | None]
    ) -> None:

        def edit_own(old: tables.Claim | None) -> tables.Claim | None:
            return edit(old) if old and old.player == player else old

        await asyncio.gather(*(change(self.claims, key, edit_own) for key in keys))

    async def _assign_device(self, key: str, player: Player) -> None:
        await change(self.players, key, lambda old: old and tables.KnownPlayer(player, old.seen, is_seated=True))


def hash_secret(secret: str) -> str:
    """Return the hash that is stored for a token or for a code that links a device."""
    return hashlib.sha256(secret.encode()).hexdigest()


def hash_signed_on(name: str) -> str:
    """Return the hash that is stored for a user name from a trusted proxy. No token has the same hash."""
    return hashlib.sha256(b"\xff" + name.encode()).hexdigest()


def hash_rescue(code: str, salt: str) -> str:
    """Return the salted hash of a rescue code. A fast hash is enough, because the code has 80 random bits."""
    return hashlib.sha256(bytes.fromhex(salt) + code.encode()).hexdigest()
