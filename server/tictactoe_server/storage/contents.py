"""All that a store keeps, brought into another one that is empty: from one machine's folder to a cluster and back.

Everything is decoded on its way, so what is damaged is found here and not by a server later. What the other store
holds afterwards is read again and compared.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, Literal, NamedTuple, Protocol, assert_never

from tictactoe_server.rooms import FinishedGame, Player, Room
from tictactoe_server.storage.documents import encode_ban, encode_game, encode_player, encode_room
from tictactoe_server.storage.store import Ban

Kind = Literal["rooms", "players", "bans", "shares", "games"]
KINDS: Final[tuple[Kind, ...]] = ("rooms", "players", "bans", "shares", "games")
"""In this order: whoever has a seat in a room is there, and of a room that goes on no game that it ends later."""

AT_ONCE: Final = 500
_DIGEST_BYTES: Final = 16


class CannotMove(Exception):
    """Not everything could be brought over; the message is a sentence for the operator."""


class KnownPlayer(NamedTuple):
    """A player under the hash of the token, last here on the day `seen`, counted from 1970 (UTC)."""

    key: str
    player: Player
    seen: int
    is_seated: bool


class SharedGame(NamedTuple):
    """A finished game under the id by which it is shared."""

    id: str
    game: FinishedGame


Item = Room | KnownPlayer | Ban | SharedGame | FinishedGame


class Source(Protocol):
    """What a store keeps, to be read; `damage` has a line for each thing that cannot be, as far as was read.

    Every method may raise `CannotMove`.
    """

    damage: list[str]

    def read(self, kind: Kind) -> AsyncIterator[Sequence[Item]]:
        """Yield all of a kind, some at a time, games in their order."""
        ...

    async def time(self) -> int | None:
        """Return how long servers have run (ms), or None where nobody noted it."""
        ...

    async def close(self) -> None:
        """Let go of the store."""
        ...


class Target(Protocol):
    """An empty store to be filled; every method may raise `CannotMove`."""

    async def write(self, items: Sequence[Item]) -> None:
        """Keep all of these, which are of one kind."""
        ...

    async def write_time(self, ms: int) -> None:
        """Keep how long servers have run."""
        ...

    async def close(self) -> None:
        """Let go of the store, everything being kept."""
        ...


@dataclass(slots=True)
class Sum:
    """How many things, and a number that hardly any others have, in whichever order they come."""

    count: int = 0
    digest: int = 0

    def add(self, item: Item) -> None:
        """Count one."""
        self.count += 1
        found = int.from_bytes(blake2b(_encode(item), digest_size=_DIGEST_BYTES).digest())
        self.digest = (self.digest + found) % (1 << 8 * _DIGEST_BYTES)


@dataclass(slots=True)
class Contents:
    """What a store holds, summed up."""

    time: int | None = None
    sums: dict[Kind, Sum] = field(default_factory=lambda: {kind: Sum() for kind in KINDS})


async def copy(source: Source, target: Target | None, progress: Callable[[Kind, int], None]) -> Contents:
    """Bring everything over and return what it was, with None for a target only that; raises `CannotMove`.

    `progress` is told how many of a kind are done.
    """
    contents = Contents()
    for kind in KINDS:
        found = contents.sums[kind]
        async for items in source.read(kind):
            for item in items:
                found.add(item)
            if target is not None:
                await target.write(items)
            progress(kind, found.count)
        if kind == "rooms":  # what they measure goes by it
            contents.time = await source.time()
    if target is not None and contents.time is not None:
        await target.write_time(contents.time)
    return contents


def _encode(item: Item) -> bytes:
    match item:
        case Room():
            return encode_room(item)
        case KnownPlayer():
            return b"%b %d %d %b" % (item.key.encode(), item.seen, item.is_seated, encode_player(item.player))
        case Ban():
            return encode_ban(item)
        case SharedGame():
            return b"%b %b" % (item.id.encode(), encode_game(item.game))
        case FinishedGame():
            return encode_game(item)
        case _:
            assert_never(item)
