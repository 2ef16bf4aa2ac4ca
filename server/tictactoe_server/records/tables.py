"""What a server keeps: the tables and the finished games, as every store is opened with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace

from tictactoe_protocol.guests import owner_of
from tictactoe_server import clock
from tictactoe_server.records.documents import GameDocuments, RoomDocuments
from tictactoe_server.rooms import FinishedGame, Player, Room
from tictactoe_server.rooms.finished import game_with_stand_in
from tictactoe_server.rooms.seating import with_stand_in
from tictactoe_server.storage.memory import MemoryStore
from tictactoe_server.storage.specs import NOBODY, Columns, GameSpec, Persons, Specs, TableSpec
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import Stored, Unreadable, Value

UNSEATED_DAYS: Final = 1
SEATED_DAYS: Final = 365  # for how long those are remembered who never took a seat, and those who did
FORMER_DAYS: Final = 7  # for how long a name is one's that was left for another, and rescue codes that were replaced
MAX_FORMER: Final = 10
NEW_DEVICE_DAYS: Final = 3
_SECONDS_A_DAY: Final = 86_400

log: Final = structlog.get_logger(__name__)


def today() -> int:
    """Return the number of the day, counted from 1970 (UTC)."""
    return int(clock.wall() // _SECONDS_A_DAY)


class KnownPlayer(Struct, frozen=True):
    """A player as kept, under the hash of their token: `seen` is the day on which they were last here."""

    player: Player
    seen: int
    is_seated: bool = False

    def days_left(self, day: int) -> int:
        """Return for how many days they are still remembered on that day, the day itself included.

        >>> KnownPlayer(Player("p", "ana"), 100).days_left(101), KnownPlayer(Player("p", "bo"), 9, True).days_left(375)
        (1, 0)
        """
        return (SEATED_DAYS if self.is_seated else UNSEATED_DAYS) + 1 - (day - self.seen)


class Claim(Struct, frozen=True):
    """A name as it was claimed, by a player's id; `seen` is the day on which it was last used.

    `left` is the day on which that player claimed another one, 0 for none.
    """

    name: str
    player: str
    seen: int
    left: int = 0

    @property
    def is_free(self) -> bool:
        """Whether it was unused, or left, for so long that anybody may claim it."""
        return today() - self.seen > SEATED_DAYS or 0 < self.left < today() - FORMER_DAYS


class KnownDevice(Struct, frozen=True):
    """A device: `key` is the hash of its token, by which its player is known, `client` its program.

    `since` is when it became one (s since 1970); `is_rescued` if by a rescue code.
    """

    key: str
    client: str
    since: float
    is_rescued: bool

    @property
    def id(self) -> str:
        """By what its player knows it."""
        return self.key[:6]

    def may_revoke(self, other: KnownDevice) -> bool:
        """Tell whether it may take away another device: a new one none that is older, unless a rescue code made it."""
        is_new = clock.wall() - self.since < NEW_DEVICE_DAYS * _SECONDS_A_DAY
        return self.is_rescued or self.since <= other.since or not is_new


class FormerCodes(Struct, frozen=True):
    """Hashes of rescue codes made at a time, in whose place others were `replaced` then (s since 1970)."""

    codes: tuple[str, ...]
    since: float
    replaced: float


class Account(Struct, frozen=True):
    """What lasts of a player: the `claimed` name, empty for none, salted hashes of rescue `codes`, the devices.

    `link` is the hash of the newest code for another device. The codes are from a time `since`, and `former` ones let
    a player in for a while longer, whoever had new ones made.
    """

    player: Player
    claimed: str = ""
    salt: str = ""
    codes: tuple[str, ...] = ()
    devices: tuple[KnownDevice, ...] = ()
    link: str = ""
    since: float = 0
    former: tuple[FormerCodes, ...] = ()

    def with_device(self, key: str, client: str = "", *, is_rescued: bool = False) -> Account:
        """Return the account with a device, which it may have already."""
        if any(device.key == key for device in self.devices):
            return self
        return replace(self, devices=(*self.devices, KnownDevice(key, client, clock.wall(), is_rescued)))

    def without_device(self, key: str) -> Account:
        """Return the account without a device."""
        return replace(self, devices=tuple(one for one in self.devices if one.key != key))

    def with_codes(self, codes: tuple[str, ...]) -> Account:
        """Return the account with new codes; of those before it keeps what is not over, first what was new longest."""
        now = clock.wall()
        former = (*self.former, FormerCodes(self.codes, self.since, now)) if self.codes else self.former
        kept = sorted((one for one in former if not _is_over(one)), key=lambda one: one.since - one.replaced)
        return replace(self, codes=codes, since=now, former=tuple(kept[:MAX_FORMER]))

    def without_code(self, code: str) -> Account | None:
        """Return the account once a code is used, None for what is none. A former one takes away all that are newer."""
        for one in (FormerCodes(self.codes, self.since, clock.wall()), *self.former):
            if code in one.codes and not _is_over(one):
                left = tuple(other for other in one.codes if other != code)
                older = tuple(other for other in self.former if other.since < one.since)
                return replace(self, codes=left, since=one.since, former=self.former if code in self.codes else older)
        return None


def _is_over(former: FormerCodes) -> bool:
    return clock.wall() - former.replaced > FORMER_DAYS * _SECONDS_A_DAY


class LinkCode(Struct, frozen=True):
    """What lets another device be a player, by the id, until a moment (s since 1970)."""

    player: str
    until: float

    @property
    def is_over(self) -> bool:
        return self.until < clock.wall()


class Ban(Struct, frozen=True):
    """Who is not let in, a player's id or a network, and why; times are in ms since 1970, None is for good."""

    subject: str
    reason: str
    since: int
    until: int | None = None


class Forgotten(Struct, frozen=True):
    """Who is forgotten: `stand_in` is the name and id that stand for them; `is_done` once they are named nowhere."""

    stand_in: str
    is_done: bool = False


def ban_or_none(stored: Stored[Ban]) -> Ban | None:
    """Return a ban that is kept, or None for a damaged one, which is logged."""
    if isinstance(stored.value, Unreadable):
        log.error("a damaged ban is left alone", subject=stored.key, reason=str(stored.value))
        return None
    return stored.value


_encode: Final = msgspec.json.Encoder().encode
_decode_player: Final = msgspec.json.Decoder(Player).decode
_rooms: Final = RoomDocuments(Room)
_games: Final = GameDocuments(FinishedGame)

encode_game: Final = _games.encode


def _in_json(name: str, noun: str, kind: type[Value], **more: Any) -> TableSpec[Value]:
    return TableSpec(name, noun, _encode, msgspec.json.Decoder(kind).decode, **more)


ROOMS: Final[TableSpec[Room]] = TableSpec(
    "rooms",
    "room",
    _rooms.encode,
    _rooms.decode,
    label="Room {key}",
    key_of=lambda room: room.code,
    persons=Persons(
        lambda room: {owner_of(seat.player) for seat in room.held_seats},
        with_stand_in,
        lambda room: {"room": room.code},
    ),
    forget=_rooms.forget,
)
"""By their codes."""

PLAYERS: Final = _in_json(
    "players",
    "player",
    KnownPlayer,
    label="The player under {key}",
    columns=Columns(
        ("seen", "seated"),
        split=lambda known: (_encode(known.player), known.seen, known.is_seated),
        join=lambda document, seen, seated: KnownPlayer(_decode_player(document), seen, bool(seated)),
    ),
    persons=Persons(
        lambda known: (known.player.id,), shown=lambda known: {"name": known.player.name, "seen": known.seen}
    ),
    lifetime_seconds=lambda known: max(1, known.days_left(today())) * _SECONDS_A_DAY,
)
"""By the hashes of their tokens. With a lifetime of a day at least, who was away for too long goes tomorrow."""

BANS: Final = _in_json(
    *("bans", "ban", Ban),
    label="The ban of {key}",
    key_of=lambda ban: ban.subject,
    persons=Persons(lambda ban: (ban.subject,), lambda ban, id, stand_in: ban),
)
"""By those who are banned, also who is forgotten."""

CLAIMS: Final = _in_json("claims", "claimed name", Claim, persons=Persons(lambda claim: (claim.player,)))
"""By the keys of names, of which each has one or two."""
ACCOUNTS: Final = _in_json(
    *("accounts", "account", Account),
    persons=Persons(
        lambda account: (account.player.id,),
        shown=lambda account: {
            "name": account.player.name,
            "claimed": account.claimed,
            "codes_left": len(account.codes),
            "devices": [{"client": one.client, "since": one.since} for one in account.devices],
        },
    ),
)
"""By the ids of players."""
LINKS: Final = _in_json(
    *("links", "linking code", LinkCode),
    persons=Persons(lambda link: (link.player,), shown=lambda link: {"until": link.until}),
)
"""By the hashes of the codes."""
FORGOTTEN: Final = _in_json("forgotten", "forgotten person", Forgotten, persons=NOBODY)
"""By the hashes of the ids; see `storage.specs`."""

SHARES: Final[TableSpec[FinishedGame]] = TableSpec(
    "shares",
    "shared game",
    _games.encode,
    _games.decode,
    columns=Columns(
        ("finished_at",),
        split=lambda game: (_games.encode(game), game.at),
        join=lambda document, at: _games.decode(document),
    ),
    is_bounded=True,
    persons=Persons(lambda game: game.people, game_with_stand_in),
)
"""Copies of finished games, for whoever knows the key: letters, digits, ``-`` and ``_``."""

GAMES: Final[GameSpec[FinishedGame]] = GameSpec(
    "games",
    "finished game",
    _games.encode,
    _games.decode,
    label="Game {key}",
    persons=Persons(lambda game: game.people, game_with_stand_in),
    people=lambda game: game.people,
    at=lambda game: game.at,
    place=lambda game: (game.room, game.game),
)

# Rooms first: whoever has a seat in one is copied after it.
KEPT: Final = Specs((ROOMS, PLAYERS, BANS, SHARES, CLAIMS, ACCOUNTS, LINKS, FORGOTTEN), GAMES)


def open_memory(specs: Specs = KEPT) -> MemoryStore:
    """Return a store that lasts as long as the process."""
    return MemoryStore(specs)


def open_folder(folder: Path | None, specs: Specs = KEPT) -> SqliteStore:
    """Return the store of a data folder; raises `CannotOpenStore`, see `SqliteStore.open`."""
    return SqliteStore.open(folder, specs)
