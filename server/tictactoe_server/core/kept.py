"""What a server keeps: the tables and the finished games, as every store is opened with them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace

from tictactoe_server.core.documents import GameDocuments, RoomDocuments
from tictactoe_server.core.rooms import FinishedGame, Player, Room
from tictactoe_server.storage.memory import MemoryStore
from tictactoe_server.storage.specs import Columns, GameSpec, Specs, TableSpec
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import Stored, Unreadable

UNSEATED_DAYS: Final = 1
SEATED_DAYS: Final = 365  # for how long those are remembered who never took a seat, and those who did
_SECONDS_A_DAY: Final = 86_400

log: Final = structlog.get_logger(__name__)


def today() -> int:
    """Return the number of the day, counted from 1970 (UTC)."""
    return int(time.time() // _SECONDS_A_DAY)


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
    """A name as it was claimed, by a player's id; `seen` is the day on which it was last used."""

    name: str
    player: str
    seen: int

    @property
    def is_free(self) -> bool:
        """Whether it was unused for so long that anybody may claim it."""
        return today() - self.seen > SEATED_DAYS


class KnownDevice(Struct, frozen=True):
    """A device: `key` is the hash of its token, by which its player is known, `client` its program."""

    key: str
    client: str

    @property
    def id(self) -> str:
        """By what its player knows it."""
        return self.key[:6]


class Account(Struct, frozen=True):
    """What lasts of a player: the `claimed` name, empty for none, salted hashes of rescue `codes`, the devices.

    `link` is the hash of the newest code for another device.
    """

    player: Player
    claimed: str = ""
    salt: str = ""
    codes: tuple[str, ...] = ()
    devices: tuple[KnownDevice, ...] = ()
    link: str = ""

    def with_device(self, key: str, client: str = "") -> Account:
        """Return the account with a device, which it may have already."""
        if any(device.key == key for device in self.devices):
            return self
        return replace(self, devices=(*self.devices, KnownDevice(key, client)))


class LinkCode(Struct, frozen=True):
    """What lets another device be a player, by the id, until a moment (s since 1970)."""

    player: str
    until: float

    @property
    def is_over(self) -> bool:
        return self.until < time.time()


class Ban(Struct, frozen=True):
    """Who is not let in, a player's id or a network, and why; times are in ms since 1970, None is for good."""

    subject: str
    reason: str
    since: int
    until: int | None = None


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


ROOMS: Final[TableSpec[Room]] = TableSpec(
    "rooms",
    "room",
    _rooms.encode,
    _rooms.decode,
    label="Room {key}",
    keys="[0-9A-Z]{6}",
    key_of=lambda room: room.code,
    forget=_rooms.forget,
)
"""By their codes."""

PLAYERS: Final[TableSpec[KnownPlayer]] = TableSpec(
    "players",
    "player",
    _encode,
    msgspec.json.Decoder(KnownPlayer).decode,
    label="The player under {key}",
    keys="[0-9a-f]{64}",
    columns=Columns(
        ("seen", "seated"),
        split=lambda known: (_encode(known.player), known.seen, known.is_seated),
        join=lambda document, seen, seated: KnownPlayer(_decode_player(document), seen, bool(seated)),
        usual=lambda: (today(), 1),
    ),
    lifetime_seconds=lambda known: max(1, known.days_left(today())) * _SECONDS_A_DAY,
)
"""By the hashes of their tokens. With a lifetime of a day at least, who was away for too long goes tomorrow."""

BANS: Final[TableSpec[Ban]] = TableSpec(
    "bans",
    "ban",
    _encode,
    msgspec.json.Decoder(Ban).decode,
    label="The ban of {key}",
    key_of=lambda ban: ban.subject,
)
"""By those who are banned."""

CLAIMS: Final = TableSpec("claims", "claimed name", _encode, msgspec.json.Decoder(Claim).decode)
"""By the keys of names, of which each has one or two."""
ACCOUNTS: Final = TableSpec("accounts", "account", _encode, msgspec.json.Decoder(Account).decode)
"""By the ids of players."""
LINKS: Final = TableSpec("links", "linking code", _encode, msgspec.json.Decoder(LinkCode).decode)
"""By the hashes of the codes."""

SHARES: Final[TableSpec[FinishedGame]] = TableSpec(
    "shares",
    "shared game",
    _games.encode,
    _games.decode,
    keys=r"[\w-]{22}",
    columns=Columns(
        ("finished_at",),
        split=lambda game: (_games.encode(game), game.at),
        join=lambda document, at: _games.decode(document),
        usual=lambda: (0,),
    ),
    is_bounded=True,
)
"""Copies of finished games, for whoever knows the key: letters, digits, ``-`` and ``_``."""

GAMES: Final[GameSpec[FinishedGame]] = GameSpec(
    _games.encode,
    _games.decode,
    people=lambda game: game.people,
    at=lambda game: game.at,
    place=lambda game: (game.room, game.game),
)

# Rooms first: whoever has a seat in one is copied after it.
KEPT: Final = Specs((ROOMS, PLAYERS, BANS, SHARES, CLAIMS, ACCOUNTS, LINKS), GAMES)


def open_memory(specs: Specs = KEPT) -> MemoryStore:
    """Return a store that lasts as long as the process."""
    return MemoryStore(specs)


def open_folder(folder: Path | None, specs: Specs = KEPT) -> SqliteStore:
    """Return the store of a data folder; raises `CannotOpenStore`, see `SqliteStore.open`."""
    return SqliteStore.open(folder, specs)
