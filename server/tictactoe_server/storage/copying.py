"""All that a store keeps, brought into another one that is empty: from one machine's folder to a cluster and back.

A store says how all of a table is read from it, and how a value is kept in it. Everything is decoded on its way, so
what is damaged is found here and not by a server later. What the other store holds afterwards is read again and
compared.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, Protocol

from tictactoe_server.storage.specs import Specs, TableSpec
from tictactoe_server.storage.store import Conflict, Stored, StoreUnavailable, Unreadable

AT_ONCE: Final = 500
_DIGEST_BYTES: Final = 16


class CannotMove(Exception):
    """Not everything could be brought over; the message is a sentence for the operator."""


@contextmanager
def refusing(words: str) -> Iterator[None]:
    """Say by `CannotMove`, with these words before it, what a store refuses inside."""
    try:
        yield
    except (StoreUnavailable, Conflict) as error:
        raise CannotMove(f"{words}: {error}") from error


class CopyEnd(Protocol):
    """A store at one end of a copy: it is read, games in their order, or was empty and is filled, games from 1 on.

    `damage` has a line for each thing that was found to be damaged, `refusal` are the words before what it refuses. All
    that was put is kept when it is closed.
    """

    refusal: str
    damage: list[str]

    def load_all(self, spec: TableSpec[Any]) -> AsyncIterator[Sequence[Stored[Any]]]: ...
    def describe(self, spec: TableSpec[Any], key: str) -> str: ...
    async def noted_time(self) -> int | None: ...
    def put(self, spec: TableSpec[Any], key: str, value: Any) -> Awaitable[object]: ...
    async def put_time(self, ms: int) -> None: ...


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
    source: CopyEnd,
    target: CopyEnd | None,
    specs: Specs,
    progress: Callable[[str, int], None] = lambda noun, count: None,
) -> Contents:
    """Bring everything over and return what it was, with None for a target only that; raises `CannotMove`.

    The tables come in the order of their specs: whoever has a seat in a room is there, and of a room that goes on no
    game that it ends later. `progress` is told how many things with a noun are done.
    """
    contents = Contents()
    with refusing(source.refusal):
        for spec in (*specs.tables, specs.games):
            found = contents.sums[spec.noun]
            async for some in source.load_all(spec):
                writes = []
                for key, value in ((stored.key, stored.value) for stored in some):
                    if isinstance(value, Unreadable):
                        source.damage.append(f"{source.describe(spec, key)}: {value}")
                        continue
                    is_game = spec is specs.games  # their numbers are each store's own
                    found.add("" if is_game else key, spec.encode(value))
                    if target is not None:
                        writes.append(target.put(spec, str(found.count) if is_game else key, value))
                if target is not None:
                    with refusing(target.refusal):
                        await asyncio.gather(*writes)
                progress(spec.noun, found.count)
            if spec is specs.tables[0]:  # what rooms measure goes by it
                try:
                    contents.time = await source.noted_time()
                except Unreadable:
                    source.damage.append("How long servers have run.")
    if target is not None and contents.time is not None:
        with refusing(target.refusal):
            await target.put_time(contents.time)
    return contents
