"""Names that last: claimed, brought back by codes, and shared by all devices of a player.

Others who bear a name that somebody has claimed are shown with a mark. No token and no code is logged.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import structlog
from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_protocol import ROOM_CODE_ALPHABET, ErrorCode
from tictactoe_protocol.names import LINK_MS, MAX_DEVICES, RESCUE_CODES, ClaimName, Device, Devices, LinkDevice, Revoke
from tictactoe_protocol.requests import Hello
from tictactoe_protocol.room_codes import read_code
from tictactoe_server.admin.bans import expel
from tictactoe_server.core.accounts import Accounts, change, hash_rescue, hash_secret
from tictactoe_server.core.answers import Call
from tictactoe_server.core.core import Core
from tictactoe_server.core.kept import PLAYERS, Account, LinkCode
from tictactoe_server.core.look_alikes import keys_of, mark_other
from tictactoe_server.core.rooms import Player, Refused
from tictactoe_server.core.service import Service
from tictactoe_server.core.session import Session
from tictactoe_server.storage.store import MISSING, save
from tictactoe_server.transport.rate_limit import RateLimits

TRIES: Final = 5
_CLAIMS_OF_ADDRESS: Final = 30  # each a minute
_MINUTE_MS: Final = 60_000
_LINK_LENGTH: Final = 8
_RESCUE_LENGTH: Final = 16
_GROUP: Final = 4
_SECONDS_A_DAY: Final = 86_400
_OWNERS: Final = "owners"  # what other servers are told of: a player's id and the name that they have claimed

log: Final = structlog.get_logger(__name__)


class Names(Service):
    """What players ask about names and devices, and what a hello needs of it.

    `read_name` refuses names that are no person's; `note_seat` is called with each session whose player is to be
    remembered.
    """

    def __init__(self, read_name: Callable[[str], str], note_seat: Callable[[Session], None]) -> None:
        self._read_name = read_name
        self._note_seat = note_seat
        self.handles = {
            ClaimName: self.claim,
            LinkDevice: self.link,
            Devices: self.list_devices,
            Revoke: self.revoke,
        }
        self._hashing = asyncio.Semaphore(1)

    def start(self, core: Core) -> None:
        self._core = core
        self.kept = Accounts(core.store)
        self._tries = RateLimits(TRIES, _MINUTE_MS, core.monotonic_ns)
        self._claims = RateLimits(_CLAIMS_OF_ADDRESS, _MINUTE_MS, core.monotonic_ns)
        self._elsewhere = core.registry.elsewhere
        self._elsewhere.on_changed.add(self._hear)

    # -- requests -----------------------------------------------------------------------------------------------

    async def claim(self, call: Call) -> None:
        """Give the player a name that nobody else has claimed, and three codes that bring it back, said once."""
        player = Player(call.player.id, self._read_name(call.request.name))
        await self._count_try(call)
        taken = await self.kept.claim(player.name, player.id)
        if taken is not None:
            raise Refused(ErrorCode.BAD_NAME, "claimed", path="name", name=taken.name)
        codes, salt = [_draw_code(_RESCUE_LENGTH) for _ in range(RESCUE_CODES)], secrets.token_hex(16)
        hashes = tuple([await self._hash(code, salt) for code in codes])
        account, before = await self._open_account(call), []

        def take(old: Account | None) -> Account:
            before.append(old or account)
            return replace(before[-1], claimed=player.name, salt=salt, codes=hashes)

        await change(self.kept.accounts, player.id, take)
        await self.kept.release(before[-1], but=player.name)
        await self.kept.rename(player)
        log.info("name claimed", name=player.name, player=player.id, before=before[-1].claimed)
        self._show_owner(player)
        self._elsewhere.tell_changed(_OWNERS, f"{player.id} {player.name}")
        call.answer(rescue=tuple(map(_in_groups, codes)))

    async def link(self, call: Call) -> None:
        """Give a code with which another device becomes this player, once and soon, in place of the one before."""
        await self._count_try(call)
        account = await self._open_account(call)
        if len(account.devices) >= MAX_DEVICES:
            raise Refused(ErrorCode.NOT_ALLOWED, "devices", most=MAX_DEVICES)
        code, id = _draw_code(_LINK_LENGTH), call.player.id
        await change(self.kept.links, account.link or "none", lambda old: None)
        await save(self.kept.links, hash_secret(code), LinkCode(id, time.time() + LINK_MS / 1000), MISSING)
        await change(self.kept.accounts, id, lambda old: replace(old or account, link=hash_secret(code)))
        call.answer(link_code=code, expires_ms=LINK_MS)

    async def list_devices(self, call: Call) -> None:
        """Say on which devices one is this player, and which name they have claimed."""
        session, found = call.session, []
        account = await self.kept.load(call.player.id) or Account(call.player)
        for device in account.with_device(session.secret, session.client).devices:
            known = await self.kept.players.load(device.key)
            if known is not None:
                seen = datetime.fromtimestamp(known[0].seen * _SECONDS_A_DAY, UTC).date().isoformat()
                found.append(Device(device.id, seen, device.key == session.secret, device.client or UNSET))
        call.answer(devices=tuple(found), claimed=account.claimed or UNSET, codes_left=len(account.codes))

    async def revoke(self, call: Call) -> None:
        """Let a device be this player no more; its connections end."""
        account = await self.kept.load(call.player.id) or Account(call.player)
        keys = {device.id: device.key for device in account.devices}
        if call.request.device not in keys:
            raise Refused(ErrorCode.NOT_ALLOWED, "device", path="device")
        key = keys[call.request.device]
        await change(self.kept.players, key, lambda old: None)
        left = tuple(device for device in account.devices if device.key != key)
        await change(self.kept.accounts, call.player.id, lambda old: replace(old or account, devices=left))
        await change(self.kept.links, account.link or "none", lambda old: None)
        log.info("device revoked", player=call.player.id, device=call.request.device)
        call.answer()
        self._send_away(key)
        self._elsewhere.tell_changed(PLAYERS.name, key)

    # -- for those who say hello ----------------------------------------------------------------------------------

    async def admit(self, hello: Hello, key: str, address: str) -> Player:
        """Return whose device says hello with a code, which is used up; `key` is the hash of its new token."""
        limit = self._tries[address]
        self._core.allowances.take(limit, "names")
        if hello.link is not UNSET:
            way, player = "link", await self._take_link(read_code(hello.link))
        else:
            way, player = "rescue", await self._take_rescue(hello.name or "", read_code(hello.rescue or ""))
        account = await change(self.kept.accounts, player, lambda old: old and old.with_device(key, hello.client or ""))
        if account is None:
            raise Refused(ErrorCode.BAD_TOKEN, way, path=way)
        limit.give_back()
        log.info("device added", player=player, by=way)
        return Player(player, account.player.name)

    async def _take_link(self, code: str) -> str:
        """Return the player for whose device a code was made, and let nobody else use it."""
        taken = []

        def take(link: LinkCode | None) -> None:
            if link is None or link.is_over:
                raise Refused(ErrorCode.BAD_TOKEN, "link", path="link")
            taken.append(link.player)

        await change(self.kept.links, hash_secret(code), take)
        return taken[-1]

    async def _take_rescue(self, name: str, code: str) -> str:
        """Return the player who has claimed a name, and use up the code that brings it back."""
        claim = await self.kept.find_claim(name)
        account = claim and await self.kept.load(claim.player)
        given = await self._hash(code, account.salt) if account else ""

        def use_up(old: Account | None) -> Account:
            if old is None or given not in old.codes:
                raise Refused(ErrorCode.BAD_TOKEN, "rescue", path="rescue")
            return replace(old, codes=tuple(one for one in old.codes if one != given))

        player = account.player.id if account else "nobody"
        await change(self.kept.accounts, player, use_up)
        return player

    # -- inside -------------------------------------------------------------------------------------------------

    async def _count_try(self, call: Call) -> None:
        """Count what must not be asked for often, and refuse it to a device that was revoked meanwhile."""
        take = self._core.allowances.take
        take(self._tries[call.player.id], "names")
        take(self._claims[call.session.address], "names")
        if await self.kept.players.load(call.session.secret) is None:
            raise Refused(ErrorCode.KICKED, "revoked")

    async def _open_account(self, call: Call) -> Account:
        """Return what lasts of a player, this device with it, and keep it from now on."""
        session, new = call.session, Account(Player(call.player.id, call.session.name))
        self._note_seat(session)
        found: Account = await change(
            self.kept.accounts, call.player.id, lambda old: (old or new).with_device(session.secret, session.client)
        )
        return found

    async def _hash(self, code: str, salt: str) -> str:
        """Return as what a rescue code is kept, one after the other: each takes much memory."""
        async with self._hashing:
            return await asyncio.to_thread(hash_rescue, code, salt)

    def _hear(self, table: str, key: str) -> None:
        """Take over what was done at another server: a device was revoked, or a name has a new owner."""
        if table == PLAYERS.name:
            self._send_away(key)
        elif table == _OWNERS:
            self._show_owner(Player(*key.split(" ", 1)))

    def _send_away(self, key: str) -> None:
        for session, _ in self._core.presence.greeted:
            if session.secret == key:
                expel(session.connection, Refused(ErrorCode.KICKED, "revoked"))

    def _show_owner(self, player: Player) -> None:
        """Show the owner of a name under it from now on, and those who are here and look like them with a mark."""
        keys = set(keys_of(player.name))
        for session, one in self._core.presence.greeted:
            if one.id == player.id:
                session.player, session.name = player, player.name
            elif not keys.isdisjoint(keys_of(session.name)):
                session.player = Player(one.id, mark_other(session.name))


def _draw_code(length: int) -> str:
    return "".join(secrets.choice(ROOM_CODE_ALPHABET) for _ in range(length))


def _in_groups(code: str) -> str:
    """Return a long code as people read it.

    >>> _in_groups("7KQ2M94FX3ZW8HTB")
    '7KQ2-M94F-X3ZW-8HTB'
    """
    return "-".join(code[start : start + _GROUP] for start in range(0, len(code), _GROUP))
