"""Who is who: a secret token makes a connection the same player again. The store keeps its hash alone."""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
import string
import unicodedata
from typing import Final

from msgspec import UNSET, UnsetType

from tictactoe_protocol import BadName, ErrorCode, parse_name
from tictactoe_server.core.allowances import Allowances
from tictactoe_server.core.session import Session
from tictactoe_server.rooms import Player, Refused
from tictactoe_server.services.bots.levels import LEVEL_NAMES
from tictactoe_server.storage.store import MISSING, Conflict, save
from tictactoe_server.storage.store import Players as KnownPlayers

_ID_ALPHABET: Final = string.ascii_letters + string.digits
_ID_LENGTH: Final = 10
_TOKEN_BYTES: Final = 24
_ATTEMPTS: Final = 8
_HOUSE_NAME: Final = re.compile(rf"(?:{'|'.join(LEVEL_NAMES)})-bot[ _.'-]*\d*", re.IGNORECASE)
_GUEST_ALPHABET: Final = "abcdefghijkmnpqrstuvwxyz"


class Players:
    """Makes players and recognises them."""

    def __init__(self, players: KnownPlayers, allowances: Allowances) -> None:
        self._players = players
        self._allowances = allowances

    def note(self, token: str) -> str:
        """Note that a player is here today, and return the key by which the store knows them."""
        key = _key_of(token)
        self._players.see(key)
        return key

    def note_seat(self, session: Session) -> None:
        """Note that a session's player takes a seat, unless that is known."""
        if session.key is not None:
            self._players.see(session.key, is_seated=True)
            session.key = None

    async def welcome(self, name: str | UnsetType, token: str | UnsetType, address: str) -> tuple[Player, str]:
        """Return the player who says hello from that address, and their token.

        Without a token that is a new player; with one, the same as before, under the new name if one is given.
        Raises `Refused` with ``bad_name``, ``bad_token``, ``rate_limited`` or ``busy``.
        """
        chosen = None if name is UNSET else _checked_name(name)
        if token is UNSET:
            own = _own_name(chosen) if chosen else _guest_name()
            self._allowances.take_new_player(address)
            return await self._make(own)
        for _ in range(_ATTEMPTS):
            with contextlib.suppress(Conflict):
                return await self._recognise(chosen, token), token
        raise Refused(ErrorCode.BUSY, "Too many connections of yours say hello at once.", retry_ms=500)

    async def _recognise(self, name: str | None, token: str) -> Player:
        """Return the player whose token this is, under the new name if there is one; may raise `Conflict`."""
        key = _key_of(token)
        found = await self._players.load(key)
        if found is None:
            raise Refused(ErrorCode.BAD_TOKEN, "This server does not know that token.", path="token")
        player, revision = found
        if name is not None and name != player.name:
            player = Player(player.id, _own_name(name))
            await save(self._players, key, player, revision)
        return player

    async def _make(self, name: str) -> tuple[Player, str]:
        player = Player("p" + _random_text(_ID_ALPHABET, _ID_LENGTH), name)
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        await save(self._players, _key_of(token), player, MISSING)
        return player, token


def _checked_name(name: str) -> str:
    try:
        return parse_name(name)
    except BadName as bad:
        raise Refused(ErrorCode.BAD_NAME, bad.message, path="name") from None


def _own_name(name: str) -> str:
    """Return a name that a person may take: not one of the house's own players, however it is written."""
    if _HOUSE_NAME.fullmatch(unicodedata.normalize("NFKC", name)):
        raise Refused(ErrorCode.BAD_NAME, f"{name} is a player of the house: choose another name.", path="name")
    return name


def _guest_name() -> str:
    return f"guest-{_random_text(_GUEST_ALPHABET, 4)}"


def _key_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _random_text(alphabet: str, length: int) -> str:
    return "".join(secrets.choice(alphabet) for _ in range(length))
