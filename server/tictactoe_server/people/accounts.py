"""Claimed names, and the devices of each player, as the store keeps them.

Secrets are stored as SHA-256 hashes only: tokens and rescue codes are random, and link codes expire soon.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from typing import cast

from msgspec.structs import replace

from tictactoe_server import clock
from tictactoe_server.people.confusables import keys_of, mark_other
from tictactoe_server.records.changes import change
from tictactoe_server.records.tables import (
    ACCOUNTS,
    CLAIMS,
    LINKS,
    PLAYERS,
    RESERVED,
    RESERVED_DAYS,
    Account,
    Claim,
    KnownPlayer,
    Reserved,
    today,
)
from tictactoe_server.rooms import Player
from tictactoe_server.storage.specs import Storage, hash_id
from tictactoe_server.storage.store import values_of


class Accounts:
    """Changes are made by compare-and-set, so any server may make them. Methods raise `StoreUnavailable`."""

    def __init__(self, store: Storage) -> None:
        self.claims, self.accounts = store.table(CLAIMS), store.table(ACCOUNTS)
        self.links, self.players = store.table(LINKS), store.table(PLAYERS)
        self.reserved = store.table(RESERVED)

    async def load(self, player: str) -> Account | None:
        found = await self.accounts.load(player)
        return found and found[0]

    async def load_or_empty(self, player: Player) -> Account:
        return await self.load(player.id) or Account(player)

    async def find_claim(self, name: str, but: str = "") -> Claim | None:
        """Return a claim that `name` is confusable with, other players' before that of the player `but`, or None."""
        found = await asyncio.gather(*map(self.claims.load, keys_of(name)))
        claims = [row[0] for row in found if row is not None and not row[0].is_free]
        return min(claims, key=lambda claim: claim.player == but, default=None)

    async def shown(self, player: Player) -> tuple[Player, Claim | None]:
        """Return a player as others see them, and the claim of their name; refresh the claim if it is their own."""
        claim = await self.find_claim(player.name, but=player.id)
        if claim is not None and claim.player != player.id:
            return Player(player.id, mark_other(player.name)), claim
        if claim is not None and claim.seen < today():
            await self._change(keys_of(claim.name), player.id, lambda own: replace(own, seen=today()))
        return player, claim

    async def is_reserved(self, name: str) -> bool:
        """Return True for the name of a player who was deleted lately."""
        found = await asyncio.gather(*(self.reserved.load(hash_id(key)) for key in keys_of(name)))
        return any(row is not None and not row[0].is_over for row in found)

    async def reserve(self, key: str) -> None:
        """Keep a key of a name from being claimed for `RESERVED_DAYS`."""
        reserved = Reserved(clock.wall() + RESERVED_DAYS * 86_400)
        await change(self.reserved, hash_id(key), lambda old: reserved)

    async def claim(self, name: str, player: str) -> Claim | None:
        """Claim a name for a player by all of its keys, or return another player's claim that prevents it."""
        own, keys = Claim(name, player, today()), keys_of(name)

        def take(old: Claim | None) -> Claim:
            return own if old is None or old.is_free or old.player == player else old

        for count, key in enumerate(keys):
            kept: Claim = await change(self.claims, key, take)
            if kept != own:
                await self._change(keys[:count], player, lambda own: None)
                return kept
        return None

    async def release(self, account: Account) -> None:
        await self._change(keys_of(account.claimed), account.player.id, lambda own: None)

    async def leave(self, account: Account, for_name: str) -> None:
        """Free the name of an account in a week, except for the keys that it shares with the new name."""
        if account.claimed:
            keys = [key for key in keys_of(account.claimed) if key not in keys_of(for_name)]
            await self._change(keys, account.player.id, lambda own: replace(own, left=today()))

    async def rename(self, player: Player) -> Account:
        """Rename a player on all devices; return the stored account, or an empty account."""
        account = await change(self.accounts, player.id, lambda old: old and replace(old, player=player))
        if account:
            await self.rename_devices(account)
        return cast(Account, account or Account(player))

    async def rename_devices(self, account: Account) -> None:
        await asyncio.gather(*(self._assign_device(device.key, account.player) for device in account.devices))

    async def devices_of(self, player: str) -> list[str]:
        """Return the token hashes of a player's devices."""
        return [key async for key, known, _ in values_of(self.players) if known.player.id == player]

    async def merge(self, player: str, devices: Iterable[str], into: Account) -> None:
        """Give all devices of a player to the account `into`, from their next hello on."""
        for key in devices:

            def add(old: Account | None, key: str = key) -> Account:
                return (old or into).with_device(key)

            await self._assign_device(key, into.player)
            await change(self.accounts, into.player.id, add)
        await change(self.accounts, player, lambda old: None)

    async def _change(self, keys: Iterable[str], player: str, edit: Callable[[Claim], Claim | None]) -> None:

        def edit_own(old: Claim | None) -> Claim | None:
            return edit(old) if old and old.player == player else old

        await asyncio.gather(*(change(self.claims, key, edit_own) for key in keys))

    async def _assign_device(self, key: str, player: Player) -> None:
        await change(self.players, key, lambda old: old and KnownPlayer(player, old.seen, is_seated=True))


def hash_secret(secret: str) -> str:
    """Return the stored hash of a token or a link code."""
    return hashlib.sha256(secret.encode()).hexdigest()


def hash_signed_on(name: str) -> str:
    """Return the stored hash of a name that a proxy vouches for; no token has the same hash."""
    return hashlib.sha256(b"\xff" + name.encode()).hexdigest()


def hash_rescue(code: str, salt: str) -> str:
    """Return the stored hash of a rescue code; its 80 random bits need no slow hash."""
    return hashlib.sha256(bytes.fromhex(salt) + code.encode()).hexdigest()
