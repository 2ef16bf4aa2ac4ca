"""The tables that every store has: rooms, players, names, accounts, bans and games."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from tictactoe_protocol.guests import owner_of
from tictactoe_protocol.names import DeviceNews
from tictactoe_server import clock
from tictactoe_server.records.documents import RoomDocuments, decode_game, encode_game
from tictactoe_server.rooms.finished import FinishedGame, game_with_stand_in
from tictactoe_server.rooms.room import CASUAL, Player, Room
from tictactoe_server.rooms.seating import with_stand_in
from tictactoe_server.storage.specs import NOBODY, GameSpec, Persons, Specs, TableSpec
from tictactoe_server.storage.store import Value

UNSEATED_DAYS: Final = 1  # absent players who never took a seat are deleted after this time
SEATED_DAYS: Final = 365  # other absent players are deleted, and unused names released, after this time
FORMER_DAYS: Final = 7  # a player's former name and replaced rescue codes stay valid for this time
MAX_FORMER: Final = 10
NEW_DEVICE_DAYS: Final = 3
RESERVED_DAYS: Final = 30  # the name of a deleted player cannot be claimed for this time
_SECONDS_A_DAY: Final = 86_400


def today() -> int:
    """Return the number of days since 1970 (UTC)."""
    return int(clock.wall() // _SECONDS_A_DAY)


class KnownPlayer(Struct, frozen=True):
    """A stored player."""

    player: Player
    seen: int  # the day of the last visit, as in `today`
    is_seated: bool = False  # whether the player ever took a seat

    def days_left(self, day: int) -> int:
        """Return the number of days from `day`, inclusive, until the player is deleted.

        >>> KnownPlayer(Player("p", "ana"), 100).days_left(101), KnownPlayer(Player("p", "bo"), 9, True).days_left(375)
        (1, 0)
        """
        return (SEATED_DAYS if self.is_seated else UNSEATED_DAYS) + 1 - (day - self.seen)


class Claim(Struct, frozen=True):
    """A name that a player has claimed. Days are as in `today`."""

    name: str
    player: str  # the player's id
    seen: int  # the day of the last use
    left: int = 0  # the day when the player changed to another name, or 0

    @property
    def is_free(self) -> bool:
        return today() - self.seen > SEATED_DAYS or 0 < self.left < today() - FORMER_DAYS


class KnownDevice(Struct, frozen=True):
    """A device that belongs to a player."""

    key: str  # the hash of the device's token
    client: str  # the client program
    since: float  # the time of the first sign-on (s since 1970)
    is_rescued: bool  # whether a rescue code added the device
    has_tried: bool = False  # whether the device attempted something irreversible and was refused

    @property
    def id(self) -> str:
        return self.key[:6]

    def may_revoke(self, other: KnownDevice) -> bool:
        """Return False if this device is new, was not added by a rescue code, and `other` is older."""
        return self.is_rescued or self.since <= other.since or not self.is_new

    @property
    def is_new(self) -> bool:
        return clock.wall() - self.since < NEW_DEVICE_DAYS * _SECONDS_A_DAY


class Reserved(Struct, frozen=True):
    """The reservation of a deleted player's name, `until` a time (s since 1970)."""

    until: float

    @property
    def is_over(self) -> bool:
        return self.until < clock.wall()


class FormerCodes(Struct, frozen=True):
    """A former set of rescue codes. Times are in s since 1970."""

    codes: tuple[str, ...]  # the salted hashes of the codes
    since: float  # when the codes were created
    replaced: float  # when new codes replaced them


class Account(Struct, frozen=True):
    """A player's name, devices and rescue codes."""

    player: Player
    claimed: str = ""  # the claimed name
    salt: str = ""
    codes: tuple[str, ...] = ()  # salted hashes of the rescue codes
    devices: tuple[KnownDevice, ...] = ()
    link: str = ""  # the hash of the newest code for linking a device
    since: float = 0  # the creation time of the rescue codes (s since 1970)
    former: tuple[FormerCodes, ...] = ()  # replaced codes stay valid for some days, in case a thief replaced them

    def device(self, key: str) -> KnownDevice | None:
        return next((device for device in self.devices if device.key == key), None)

    def trusts(self, key: str, *others: KnownDevice) -> bool:
        """Return True if a device may do something irreversible that affects `others`, by default all devices.

        See `KnownDevice.may_revoke`.
        """
        own = self.device(key)
        return not self.devices or (own is not None and all(map(own.may_revoke, others or self.devices)))

    def newer_than(self, key: str) -> list[KnownDevice]:
        own = self.device(key)
        return [device for device in self.devices if own is not None and device.is_new and device.since > own.since]

    def device_news(self, key: str) -> DeviceNews | UnsetType:
        """Return the news about newer devices for the player who uses the device `key`."""
        newer = self.newer_than(key)
        if any(device.has_tried for device in newer):
            return "device_refused"
        return "device_added" if newer else UNSET

    def with_attempt(self, key: str) -> Account:
        """Return the account with the device `key` marked as having attempted something irreversible."""
        devices = (replace(device, has_tried=True) if device.key == key else device for device in self.devices)
        return replace(self, devices=tuple(devices))

    def with_device(self, key: str, client: str = "", *, is_rescued: bool = False) -> Account:
        """Return the account with a device added. Idempotent."""
        if any(device.key == key for device in self.devices):
            return self
        return replace(self, devices=(*self.devices, KnownDevice(key, client, clock.wall(), is_rescued)))

    def without_device(self, key: str) -> Account:
        return replace(self, devices=tuple(device for device in self.devices if device.key != key))

    def with_codes(self, codes: tuple[str, ...]) -> Account:
        """Return the account with new rescue codes.

        Of the former codes that are still valid, the `MAX_FORMER` sets that were in use longest are kept.
        """
        now = clock.wall()
        former = (*self.former, FormerCodes(self.codes, self.since, now)) if self.codes else self.former
        valid = sorted((old for old in former if not _is_over(old)), key=lambda old: old.since - old.replaced)
        return replace(self, codes=codes, since=now, former=tuple(valid[:MAX_FORMER]))

    def without_code(self, code: str) -> Account | None:
        """Return the account after the use of a rescue code, or None if the code is invalid.

        The use of a former code revokes all codes that were created later.
        """
        for group in (FormerCodes(self.codes, self.since, clock.wall()), *self.former):
            if code in group.codes and not _is_over(group):
                left = tuple(other for other in group.codes if other != code)
                older = tuple(old for old in self.former if old.since < group.since)
                return replace(self, codes=left, since=group.since, former=self.former if code in self.codes else older)
        return None


def _is_over(former: FormerCodes) -> bool:
    return clock.wall() - former.replaced > FORMER_DAYS * _SECONDS_A_DAY


class LinkCode(Struct, frozen=True):
    """A code that adds a device to a player."""

    player: str  # the player's id
    until: float  # when the code expires (s since 1970)

    @property
    def is_over(self) -> bool:
        return self.until < clock.wall()


class Ban(Struct, frozen=True):
    """A ban. Times are in ms since 1970."""

    subject: str  # a player's id, or a network
    reason: str
    since: int
    until: int | None = None  # None for a permanent ban


class Forgotten(Struct, frozen=True):
    """A player whose data has been erased, or is still to be erased from some values."""

    stand_in: str  # the name and id that replace the player's, such as ``player-7``
    is_done: bool = False  # whether the player is erased from all values
    day: int = 0  # the day of the request, as in `today`

    @property
    def number(self) -> int:
        return int(self.stand_in.removeprefix("player-"))


_encode: Final = msgspec.json.Encoder().encode
_rooms: Final = RoomDocuments()


def _in_json(name: str, noun: str, kind: type[Value], **more: Any) -> TableSpec[Value]:
    return TableSpec(name, noun, _encode, msgspec.json.Decoder(kind).decode, **more)


ROOMS: Final[TableSpec[Room]] = TableSpec(
    "rooms",
    "room",
    _rooms.encode,
    _rooms.decode,
    key_of=lambda room: room.code,
    persons=Persons(
        lambda room: {owner_of(seat.player) for seat in room.held_seats},
        with_stand_in,
        lambda room: {"room": room.code},
        is_indexed=False,  # `Seats` indexes them in memory
    ),
    forget=_rooms.forget,
)

PLAYERS: Final = _in_json(
    "players",
    "player",
    KnownPlayer,
    persons=Persons(
        lambda known: (known.player.id,), shown=lambda known: {"name": known.player.name, "seen": known.seen}
    ),
    lifetime_seconds=lambda known: max(1, known.days_left(today())) * _SECONDS_A_DAY,
)
"""The keys are the hashes of the players' tokens."""

BANS: Final = _in_json(
    *("bans", "ban", Ban),
    key_of=lambda ban: ban.subject,
    persons=Persons(lambda ban: (ban.subject,), lambda ban, id, stand_in: ban),  # bans of forgotten players stay
)

CLAIMS: Final = _in_json("claims", "claimed name", Claim, persons=Persons(lambda claim: (claim.player,)))
"""The keys come from `people.confusables.keys_of`, which returns one or two keys for a name."""
RESERVED: Final = _in_json(
    *("reserved", "reserved name", Reserved),
    persons=NOBODY,
    lifetime_seconds=lambda reserved: max(1, round(reserved.until - clock.wall())),
)
"""The keys are hashes of the keys of `CLAIMS`."""
ACCOUNTS: Final = _in_json(
    *("accounts", "account", Account),
    persons=Persons(
        lambda account: (account.player.id,),
        shown=lambda account: {
            "name": account.player.name,
            "claimed": account.claimed,
            "codes_left": len(account.codes),
            "devices": [{"client": device.client, "since": device.since} for device in account.devices],
        },
    ),
)
"""The keys are players' ids."""
LINKS: Final = _in_json(
    *("links", "linking code", LinkCode),
    persons=Persons(lambda link: (link.player,), shown=lambda link: {"until": link.until}),
)
"""The keys are the hashes of the codes."""
FORGOTTEN: Final = _in_json("forgotten", "forgotten person", Forgotten, persons=NOBODY)
"""The keys are the hashes of the players' ids; see `storage.specs`."""

_PLAYERS_OF_GAME: Final[Persons[FinishedGame]] = Persons(
    lambda game: game.people,
    game_with_stand_in,
    lambda game: msgspec.to_builtins(replace(game, purpose=CASUAL)) | game.purpose.fields,
)

SHARES: Final[TableSpec[FinishedGame]] = TableSpec(
    "shares",
    "shared game",
    encode_game,
    decode_game,
    is_bounded=True,
    persons=_PLAYERS_OF_GAME,
)
"""Copies of finished games. The keys are secret and consist of letters, digits, ``-`` and ``_``."""

GAMES: Final[GameSpec[FinishedGame]] = GameSpec(
    "games",
    "finished game",
    encode_game,
    decode_game,
    persons=_PLAYERS_OF_GAME,
    people=lambda game: game.people,
    at=lambda game: game.at,
    place=lambda game: (game.room, game.game),
)

# Rooms come first, so that players with a seat are copied after their rooms.
KEPT: Final = Specs((ROOMS, PLAYERS, BANS, SHARES, CLAIMS, RESERVED, ACCOUNTS, LINKS, FORGOTTEN), GAMES)
