"""All that a store keeps, brought into another one that is empty: from one machine's folder to a cluster and back.

Everything is decoded on its way, so what is damaged is found here and not by a server later. What the other store
holds afterwards is read again and compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, Protocol

from tictactoe_server.storage.specs import Specs, TableSpec
from tictactoe_server.storage.store import Conflict, StoreUnavailable, Unreadable

AT_ONCE: Final = 500
_DIGEST_BYTES: Final = 16

Item = tuple[str, Any]
"""A key and a value; the key of a game is its number."""


class CannotMove(Exception):
    """Not everything could be brought over; the message is a sentence for the operator."""


@contextmanager
def refusing(words: str) -> Iterator[None]:
    """Say by `CannotMove`, with these words before it, what a store refuses inside."""
    try:
        yield
    except (StoreUnavailable, Conflict) as error:
        raise CannotMove(f"{words}: {error}") from error


class CopySource(Protocol):
    """What a store keeps, some at a time, games in their order, and how long servers have run (ms).

    `damage` has a line for each thing that cannot be read, as far as was read. Every method may raise `CannotMove`.
    """

    damage: list[str]

    def items(self, spec: TableSpec[Any]) -> AsyncIterator[Sequence[Item]]: ...
    async def time(self) -> int | None: ...
    async def close(self) -> None: ...


class CopyTarget(Protocol):
    """An empty store to be filled; games come with numbers from 1. All is kept after `close`.

    Every method may raise `CannotMove`.
    """

    async def write(self, spec: TableSpec[Any], items: Sequence[Item]) -> None: ...
    async def write_time(self, ms: int) -> None: ...
    async def close(self) -> None: ...


@dataclass(slots=True)
class Sum:
    """How many things, and a number that hardly any others have, in whichever order they come."""

    count: int = 0
    digest: int = 0

    def add(self, key: str, document: bytes) -> None:
        self.count += 1
        found = int.from_bytes(blake2b(b"%b %b" % (key.encode(), document), digest_size=_DIGEST_BYTES).digest())
        self.digest = (self.digest + found) % (1 << 8 * _DIGEST_BYTES)


@dataclass(slots=True)
class Contents:
    """What a store holds, summed up by the nouns of its specs."""

    time: int | None = None
    sums: defaultdict[str, Sum] = field(default_factory=lambda: defaultdict(Sum))


async def copy(
    source: CopySource, target: CopyTarget | None, specs: Specs, progress: Callable[[str, int], None]
) -> Contents:
    """Bring everything over and return what it was, with None for a target only that; raises `CannotMove`.

    The tables come in the order of their specs: whoever has a seat in a room is there, and of a room that goes on no
    game that it ends later. `progress` is told how many things with a noun are done.
    """
    contents = Contents()
    for spec in (*specs.tables, specs.games):
        found = contents.sums[spec.noun]
        async for items in source.items(spec):
            first = found.count + 1
            for key, value in items:
                found.add("" if spec is specs.games else key, spec.encode(value))
            if spec is specs.games:  # their numbers are each store's own
                items = [(str(number), game) for number, (_, game) in enumerate(items, first)]
            if target is not None:
                await target.write(spec, items)
            progress(spec.noun, found.count)
        if spec is specs.tables[0]:  # what rooms measure goes by it
            try:
                contents.time = await source.time()
            except Unreadable:
                source.damage.append("How long servers have run.")
    if target is not None and contents.time is not None:
        await target.write_time(contents.time)
    return contents
