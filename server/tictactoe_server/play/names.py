"""Claimed names, rescue codes, and players' devices.

If another player uses a claimed name, it is shown with a mark. Tokens and codes are never logged.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from textwrap import wrap
from typing import Final

import structlog
from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_protocol import ROOM_CODE_ALPHABET, BadName, ErrorCode, clean_text, parse_name
from tictactoe_protocol.guests import guest_id
from tictactoe_protocol.names import LINK_MS, MAX_DEVICES, RESCUE_CODES, ClaimName, Device, Devices, LinkDevice, Revoke
from tictactoe_protocol.requests import Hello
from tictactoe_protocol.room_codes import read_code
from tictactoe_server import clock
from tictactoe_server.core.change import Call
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.name_mask import give_name
from tictactoe_server.core.session import TRIES, TRIES_MS, Session
from tictactoe_server.operator.bans import expel
from tictactoe_server.people.accounts import Accounts, hash_rescue, hash_secret
from tictactoe_server.people.confusables import can_be_claimed, keys_of, mark_other
from tictactoe_server.play.checks import LEVELS
from tictactoe_server.records.changes import change
from tictactoe_server.records.tables import ACCOUNTS, PLAYERS, Account, KnownDevice, KnownPlayer, LinkCode, today
from tictactoe_server.rooms.room import Player, Refused
from tictactoe_server.scheduler import Tasks
from tictactoe_server.storage.store import MISSING, StoreUnavailable, save
from tictactoe_server.transport.rate_limit import RateLimits
from tictactoe_words.catalogue import say, speaking

_PAGE: Final = re.compile(r"tictactoe-page/(\w+)")  # the page's client name, with `navigator.platform`
_SYSTEMS: Final = {"MacIntel": "macOS", "Win32": "Windows"}
_CLAIMS_OF_ADDRESS: Final = 30  # per minute
_LINK_LENGTH: Final = 8
_RESCUE_LENGTH: Final = 16
_GROUP: Final = 4  # characters between two hyphens in a rescue code
_HOUSE_NAME: Final = re.compile(rf"(?:{'|'.join(LEVELS)})-bot[ _.'-]*\d*", re.IGNORECASE)
_CLOSING_SECONDS: Final = 1.0
_SECONDS_A_DAY: Final = 86_400
_OWNERS: Final = "owners"  # table name in the notices of claimed names, whose keys are the owner's id and name

log: Final = structlog.get_logger(__name__)


def name_program(client: str, language: str) -> str:
    """Return the name of a client program for people: that of a browser in a language, others as in `Hello`."""
    page = _PAGE.match(client)
    if page is None:
        return client
    with speaking(language):
        return say("name browser", system=_SYSTEMS.get(page[1], page[1]))


class Names(Service):
    """Handles requests about names and devices, and stores when players come and take a seat."""

    def __init__(self, core: Core) -> None:
        self._notes = Tasks()
        self.handles = {ClaimName: self.claim, LinkDevice: self.link, Devices: self.list_devices, Revoke: self.revoke}
        self._core = core
        self.kept = Accounts(core.store)
        self._tries = RateLimits(TRIES, TRIES_MS, core.monotonic_ns)
        self._claims = RateLimits(_CLAIMS_OF_ADDRESS, TRIES_MS, core.monotonic_ns)
        self._elsewhere = core.rooms.elsewhere
        on_changed = self._elsewhere.on_changed
        on_changed[PLAYERS.name].add(self._send_away)
        on_changed[ACCOUNTS.name].add(lambda player: self.tasks.start(self._notify_devices(player)))
        on_changed[_OWNERS].add(self._show_owner)

    async def close(self) -> None:
        if self._notes:
            await asyncio.wait(self._notes, timeout=_CLOSING_SECONDS)
        await super().close()

    # -- requests -----------------------------------------------------------------------------------------------

    async def claim(self, call: Call) -> None:
        if self._core.settings.hides_names:
            raise Refused(ErrorCode.NOT_ALLOWED, "names given")
        if call.session.connection.signed_on is not None:
            raise Refused(ErrorCode.NOT_ALLOWED, "signed on")
        player = Player(call.player.id, read_name(call.request.name))
        if not can_be_claimed(player.name):
            raise Refused(ErrorCode.BAD_NAME, "bare", path="name", name=player.name)
        await self._count_try(call)
        await self.check_device(call)
        own = await self.kept.find_claim(player.name)
        if (own is None or own.player != player.id) and await self.kept.is_reserved(player.name):
            raise Refused(ErrorCode.BAD_NAME, "deleted", path="name", name=player.name)
        taken = await self.kept.claim(player.name, player.id)
        if taken is not None:
            raise Refused(ErrorCode.BAD_NAME, "claimed", path="name", name=taken.name)
        codes = [draw_text(ROOM_CODE_ALPHABET, _RESCUE_LENGTH) for _ in range(RESCUE_CODES)]
        before = list[Account]()

        def claim(account: Account) -> Account:
            hashes = tuple(hash_rescue(code, account.salt) for code in codes)
            if account.codes == hashes:  # it is stored already
                return account
            before.append(account)
            return replace(account, player=player, claimed=player.name).with_codes(hashes)

        account = await self._open_account(call, claim)
        await asyncio.gather(self.kept.leave(before[-1], player.name), self.kept.rename_devices(account))
        log.info("name claimed", player=player.id)
        self._elsewhere.notify(_OWNERS, f"{player.id} {player.name}")
        call.answer(rescue=tuple("-".join(wrap(code, _GROUP)) for code in codes))

    async def link(self, call: Call) -> None:
        """Reply with a code that adds a device to this player. The code expires soon and replaces the previous code."""
        await self._count_try(call)
        account = await self._open_account(call)
        if len(account.devices) >= MAX_DEVICES:
            raise Refused(ErrorCode.NOT_ALLOWED, "devices", most=MAX_DEVICES)
        code, id = draw_text(ROOM_CODE_ALPHABET, _LINK_LENGTH), call.player.id
        await change(self.kept.links, account.link or "none", lambda old: None)
        await save(self.kept.links, hash_secret(code), LinkCode(id, clock.wall() + LINK_MS / 1000), MISSING)
        await change(self.kept.accounts, id, lambda old: replace(old or account, link=hash_secret(code)))
        call.answer(link_code=code, expires_ms=LINK_MS)

    async def list_devices(self, call: Call) -> None:
        session, found = call.session, []
        account = await self.kept.load_or_empty(call.player)
        account = account.with_device(session.device.secret, session.device.client)
        newer = account.newer_than(session.device.secret)
        for device in account.devices:
            known = await self.kept.players.load(device.key)
            if known is not None:
                last_seen = datetime.fromtimestamp(known[0].seen * _SECONDS_A_DAY, UTC).date().isoformat()
                is_own = device.key == session.device.secret
                program = name_program(device.client, session.language)
                found.append(Device(device.id, last_seen, is_own, program or UNSET, new=device in newer))
        call.answer(devices=tuple(found), claimed=account.claimed or UNSET, codes_left=len(account.codes))

    async def revoke(self, call: Call) -> None:
        """Remove one of the player's devices and close its connections."""
        account = await self.kept.load_or_empty(call.player)
        device = next((device for device in account.devices if device.id == call.request.device), None)
        if device is None:
            raise Refused(ErrorCode.NOT_ALLOWED, "device", path="device")
        await self.check_device(call, device)
        await change(self.kept.players, device.key, lambda old: None)
        left = await change(self.kept.accounts, call.player.id, lambda old: (old or account).without_device(device.key))
        await change(self.kept.links, left.link or "none", lambda old: None)
        log.info("device revoked", player=call.player.id, device=call.request.device)
        call.answer()
        self._elsewhere.notify(PLAYERS.name, device.key)

    async def check_device(self, call: Call, *others: KnownDevice) -> None:
        """Raise `Refused` if this device is too new for an action that cannot be undone; see `Account.trusts`.

        The player's older devices are notified, at once or with their next welcome.
        """
        session, player = call.session, call.player.id
        account = await self.kept.load(player) if session.connection.signed_on is None else None
        if account is None or account.trusts(key := session.device.secret, *others):
            return
        await change(self.kept.accounts, player, lambda old: old and old.with_attempt(key))
        self._elsewhere.notify(ACCOUNTS.name, player)
        raise Refused(ErrorCode.NOT_ALLOWED, "device new", path="device" if others else None)

    async def own_signed_on(self, player: Player) -> None:
        """Claim the name of a player whom a proxy has signed on, unless another player has claimed it."""
        claim = await self.kept.find_claim(player.name, own=player.id)
        if (claim is None or claim.player != player.id) and await self.kept.claim(player.name, player.id) is None:
            self._elsewhere.notify(_OWNERS, f"{player.id} {player.name}")

    # -- hello with a code ----------------------------------------------------------------------------------------

    async def admit(self, hello: Hello, key: str, session: Session) -> Player:
        """Redeem the code in a hello: add the device with the token hash `key` to a player, and return the player."""
        allowances, limits = self._core.allowances, (session.tries, self._tries[session.address])
        allowances.check_tries(*limits, "names")
        way = "rescue" if hello.link is UNSET else "link"
        try:
            if hello.link is not UNSET:
                player = await self._redeem_link(read_code(hello.link))
            else:
                player = await self._redeem_rescue(hello.name or "", read_code(hello.rescue or ""))
        except Refused as refused:
            if refused.code is ErrorCode.BAD_TOKEN:
                allowances.count_try(*limits, "names")
            raise

        def add(old: Account | None) -> Account | None:
            return old and old.with_device(key, clean_text(hello.client or ""), is_rescued=way == "rescue")

        account = await change(self.kept.accounts, player, add)
        if account is None:
            raise Refused(ErrorCode.BAD_TOKEN, way, path=way)
        log.info("device added", player=player, by=way)
        self._elsewhere.notify(ACCOUNTS.name, player)
        return Player(player, account.player.name)

    async def _redeem_link(self, code: str) -> str:
        taken = []

        def redeem(link: LinkCode | None) -> None:
            if link is None or link.is_over:
                raise Refused(ErrorCode.BAD_TOKEN, "link", path="link")
            taken.append(link.player)

        await change(self.kept.links, hash_secret(code), redeem)
        return taken[-1]

    async def _redeem_rescue(self, name: str, code: str) -> str:
        """Redeem a rescue code and return the id of the player who has claimed `name`."""
        claim = await self.kept.find_claim(name)
        account = claim and await self.kept.load(claim.player)
        hashed = hash_rescue(code, account.salt) if account else ""

        def use_up(old: Account | None) -> Account:
            after = old and old.without_code(hashed)
            if after is None:
                raise Refused(ErrorCode.BAD_TOKEN, "rescue", path="rescue")
            return after

        player = account.player.id if account else "nobody"
        await change(self.kept.accounts, player, use_up)
        return player

    async def name_guests(self, player: Player, names: Sequence[str]) -> tuple[Player, ...]:
        """Return a player's guests with the names that other players see; may raise `Refused` with ``bad_name``."""
        guests = []
        for index, text in enumerate(names):
            guest = replace(player, id=guest_id(player.id, index), name=read_name(text, f"guests[{index}]"))
            is_hidden = self._core.settings.hides_names
            name = give_name(guest.id) if is_hidden else (await self.kept.shown(guest))[0].name
            guests.append(replace(guest, name=name))
        return tuple(guests)

    def note(self, session: Session, *, is_seated: bool = False) -> None:
        """Store that a session's player visited today or, unless that is already stored, has taken a seat."""
        device = session.device
        if not (is_seated and device.is_seated):
            device.is_seated |= is_seated
            self._notes.start(self._note(device.secret, is_seated=is_seated))

    async def _note(self, key: str, *, is_seated: bool) -> None:
        """Store the visit or the seat. If the store fails, the next hello stores it."""

        def note(known: KnownPlayer | None) -> KnownPlayer | None:
            return known and KnownPlayer(known.player, max(known.seen, today()), known.is_seated or is_seated)

        try:
            await change(self.kept.players, key, note)
        except StoreUnavailable as unavailable:
            log.debug("player's visit not stored", reason=str(unavailable))

    async def _count_try(self, call: Call) -> None:
        consume = self._core.allowances.consume
        consume(self._tries[call.player.id], "names")
        consume(self._claims[call.session.address], "names")
        if await self.kept.players.load(call.session.device.secret) is None:
            raise Refused(ErrorCode.KICKED, "revoked")

    async def _open_account(self, call: Call, edit: Callable[[Account], Account] = lambda account: account) -> Account:
        device = call.session.device
        new = Account(Player(call.player.id, device.name), salt=secrets.token_hex(16))
        self.note(call.session, is_seated=True)

        def open(old: Account | None) -> Account:
            account = (old or new).with_device(device.secret, device.client)
            return edit(account if account.salt else replace(account, salt=new.salt))

        found: Account = await change(self.kept.accounts, call.player.id, open)
        return found

    async def _notify_devices(self, player: str) -> None:
        """Notify the player's devices on this server about newer devices."""
        sessions = self._core.presence.of_player(player)
        with suppress(StoreUnavailable):  # the next welcome has the news
            account = await self.kept.load(player) if sessions else None
            for session in sessions:
                if account is not None and (news := account.device_news(session.device.secret)):
                    session.announce(news)

    def _send_away(self, key: str) -> None:
        for session, _ in self._core.presence.players:
            if session.device.secret == key:
                expel(session.connection, Refused(ErrorCode.KICKED, "revoked"), session.language)

    def _show_owner(self, owner: str) -> None:
        """Update how players are shown after a claim: the owner by the plain name, others with that name by a mark."""
        id, name = owner.split(" ", 1)
        keys = set(keys_of(name))
        for session, player in self._core.presence.players:
            if player.id == id:
                session.player, session.device.name = replace(player, name=name), name
            elif not keys.isdisjoint(keys_of(session.device.name)):
                session.player = replace(player, name=mark_other(session.device.name))


def read_name(text: str, path: str = "name") -> str:
    """Return the name in `text`; if it is invalid or reserved for bots, raise `Refused` with the field `path`."""
    return own_name(parse_or_refuse(text, path), path)


def parse_or_refuse(text: str, path: str = "name") -> str:
    """Return the name in `text` in its normal form; if it is invalid, raise `Refused` with the field `path`."""
    try:
        return parse_name(text)
    except BadName as bad:
        raise Refused(ErrorCode.BAD_NAME, path=path, **bad.data) from None


def own_name(name: str, path: str = "name") -> str:
    """Return `name`, or raise `Refused` if it could be taken for the name of a bot."""
    parts = [keys_of(part) for part in name.split("-")]
    drawn = ("-".join(keys[number] for keys in parts) for number in (0, -1))
    if any(map(_HOUSE_NAME.fullmatch, (unicodedata.normalize("NFKC", name), *drawn))):
        raise Refused(ErrorCode.BAD_NAME, "taken", path=path, name=name)
    return name


def draw_text(alphabet: str, length: int) -> str:
    """Return an unguessable random string of characters from `alphabet`."""
    return "".join(secrets.choice(alphabet) for _ in range(length))
