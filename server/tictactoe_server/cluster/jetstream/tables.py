"""The tables as keys of the stream, each by its spec; see `Table` for what is promised."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final, Generic

from tictactoe_server.cluster.jetstream.stream import TOMBSTONE, Entry, Stream, Write
from tictactoe_server.storage.specs import GameSpec, TableSpec
from tictactoe_server.storage.store import MISSING, Conflict, Stored, Unreadable, Value, Waiter, read_time

GAME: Final = "game."
TIME: Final = "time"
IDENTITY: Final = "cluster"

_PLAIN: Final = frozenset({"rooms", "players", "games"})
_HALVED: Final = frozenset({"shares"})
"""How keys are written as subjects: as they are, or each half as a word, by which it is found. All others in base64."""


class JetStreamTable(Generic[Value]):
    """Values under keys that begin with the name of their table, as one of it."""

    def __init__(self, stream: Stream, spec: TableSpec[Value], games: GameSpec[Any]) -> None:
        self.spec = spec
        self.prefix = spec.name.removesuffix("s") + "."
        self.expires = spec.lifetime_seconds is not None
        self._stream = stream
        self._games = games

    async def load(self, key: str) -> tuple[Value, int] | None:
        found = await self._stream.newest(self.subject_of(key))
        return found and (self.spec.read(key, found.document), found.sequence)

    async def load_all(
        self, is_wanted: Callable[[str], bool] = lambda key: True
    ) -> AsyncIterator[Sequence[Stored[Value]]]:
        """Return all that is kept and wanted, some at a time; what is changed meanwhile may be missing."""
        async for entries in self._stream.walk(self.prefix + ">"):
            yield [self.stored(entry) for entry in entries if is_wanted(self.key_of(entry.key))]

    async def first_key(self, prefix: str) -> str | None:
        """Return one of the keys that begin so; cheap for a first half where keys are written so."""
        rest = f"{prefix}.*" if self.spec.name in _HALVED else ">"
        async for entries in self._stream.walk(self.prefix + rest):
            for entry in entries:
                if self.key_of(entry.key).startswith(prefix):
                    return self.key_of(entry.key)
        return None

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        """Keep the value, and the finished game with it in one batch, and tell the waiter."""
        lifetime, before = self.spec.lifetime_seconds, None
        headers = {} if lifetime is None else {"Nats-TTL": f"{lifetime(value)}s"}
        if finished is not None:
            _, number = self._games.place(finished)
            name = self.subject_of(key).removeprefix(self.prefix)
            before = f"{GAME}{name}-{self._games.at(finished)}-{number}", self._games.encode(finished)
        document = self.spec.encode(value)
        self._stream.write(Write(self.subject_of(key), document, expected_revision, waiter, headers, before))

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        self.spec.forget(key)
        if expected_revision == MISSING:
            waiter.failed(Conflict(key))
        else:
            self._stream.write(Write(self.subject_of(key), b"", expected_revision, waiter, TOMBSTONE))

    def subject_of(self, key: str) -> str:
        """Return the key of the stream for one of the table's own."""
        if self.spec.name in _PLAIN:
            return self.prefix + key
        if self.spec.name in _HALVED:
            return f"{self.prefix}{key[: len(key) // 2]}.{key[len(key) // 2 :]}"
        return self.prefix + base64.urlsafe_b64encode(key.encode()).rstrip(b"=").decode()

    def key_of(self, subject: str) -> str:
        """Return the table's own key for one of the stream."""
        rest = subject.removeprefix(self.prefix)
        if self.spec.name in _PLAIN:
            return rest
        if self.spec.name in _HALVED:
            return rest.replace(".", "")
        return base64.urlsafe_b64decode(rest + "==").decode()

    def stored(self, entry: Entry) -> Stored[Value]:
        """Return what a message holds."""
        key = self.key_of(entry.key)
        try:
            return Stored(key, self.spec.read(key, entry.document), entry.sequence)
        except Unreadable as damaged:
            return Stored(key, damaged, MISSING)


async def noted_time(stream: Stream) -> int | None:
    """Return how long servers have run, as any of them noted it last, or None; raises `StoreUnavailable`."""
    found = await stream.newest(TIME)
    return read_time(found and found.document)
