"""The finished games: each server answers from a copy of its own, which follows those of the stream.

A game's id is the sequence of its message. The copy takes games in that order, so it goes on behind its newest one.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

import msgspec
import structlog

from tictactoe_server.rooms import FinishedGame
from tictactoe_server.stores.documents import decode_game, encode_game
from tictactoe_server.stores.jetstream.link import Link, LinkError
from tictactoe_server.stores.jetstream.stream import DELETE_SUBJECT, TOMBSTONE, Stream
from tictactoe_server.stores.jetstream.tables import GAME, SHARE, share_key, shared_id_of
from tictactoe_server.stores.jetstream.writes import Writes
from tictactoe_server.stores.sqlite import SqliteArchive
from tictactoe_server.stores.store import StoreUnavailable, Unreadable

_AT_ONCE: Final = 250
_MAX_FRESH: Final = 10_000
_PATIENCE_SECONDS: Final = 1.0

log: Final = structlog.get_logger(__name__)


class JetStreamArchive:
    """The copy; see `Archive` for what the methods promise. Let `keep` run beside it.

    `position` returns the sequence up to which `take` has been told everything, and behind which it will be.
    """

    def __init__(
        self, link: Link, stream: Stream, writes: Writes, copy: SqliteArchive, position: Callable[[], int]
    ) -> None:
        self._link = link
        self._stream = stream
        self._writes = writes
        self._copy = copy
        self._position = position
        self._fresh: list[tuple[int, bytes]] = []
        self._is_behind = True
        self._own = self._reached = 0
        self._news = asyncio.Event()
        self._progress = asyncio.Event()

    async def games_of(self, player: str, limit: int, before: int | None = None) -> list[tuple[int, FinishedGame]]:
        """Return a player's games with their ids, newest first."""
        await self._until_own()
        return await self._copy.games_of(player, limit, before)

    async def game(self, id: int) -> FinishedGame | None:
        """Return one game, or None where there is none."""
        await self._until_own()
        return await self._copy.game(id)

    async def forget_before(self, at: int) -> bool:
        """Forget some of the games that ended before a moment, here and in the stream."""
        ids = await self._copy.before(at)
        if ids:
            ids += await self._shared_before(at)
        requests = [self._link.request(DELETE_SUBJECT, _encode({"seq": id, "no_erase": True})) for id in ids]
        for answer in await asyncio.gather(*requests, return_exceptions=True):
            if isinstance(answer, LinkError):
                raise StoreUnavailable(str(answer)) from answer
        return await self._copy.forget_before(at)

    async def share(self, id: str, game: FinishedGame) -> None:
        """Keep a copy under an id."""
        await self._writes.carry_out(share_key(id), encode_game(game))

    async def shared_id(self, half: str) -> str | None:
        """Return the id that begins so and under which a copy is kept, or None."""
        found = await self._stream.next(f"{SHARE}{half}.*", 0)
        while found is not None and found.document is None:
            found = await self._stream.next(f"{SHARE}{half}.*", found.sequence)
        return None if found is None else shared_id_of(found.key)

    async def unshare(self, id: str) -> None:
        """Forget what is kept under such an id."""
        await self._writes.carry_out(share_key(id), b"", TOMBSTONE)

    async def shared(self, id: str) -> FinishedGame | None:
        """Return what is kept under such an id, or None; raises `Unreadable` for a damaged one."""
        found = await self._stream.newest(share_key(id))
        return None if found is None or found.document is None else decode_game(found.document)

    def archived(self, id: int) -> None:
        """Take note of a game that this server has just kept: what is answered from now on includes it, soon."""
        self._own = max(self._own, id)

    def take(self, id: int, document: bytes) -> None:
        """Let a game follow those before it into the copy."""
        if len(self._fresh) >= _MAX_FRESH:
            self._fresh.clear()
            self._is_behind = True
        self._fresh.append((id, document))
        self._news.set()

    async def keep(self) -> None:
        """Copy what comes until cancelled; what fails is tried again."""
        while True:
            try:
                if self._is_behind:
                    await self._catch_up()
                else:
                    await self._news.wait()
                    self._news.clear()
                    games, self._fresh = self._fresh, []
                    await self._copy_all(games)
            except StoreUnavailable as unavailable:
                log.warning("finished games could not be copied yet", reason=str(unavailable))
                self._is_behind = True
                await asyncio.sleep(_PATIENCE_SECONDS)

    async def _catch_up(self) -> None:
        """Copy what the stream has and the copy has not."""
        upto = self._position()
        self._fresh.clear()
        self._is_behind = False
        after = await self._copy.newest()
        async for entries in self._stream.walk(GAME + ">", after, upto):
            await self._copy_all([(entry.sequence, entry.document) for entry in entries if entry.document is not None])
        self._reach(upto)

    async def _copy_all(self, games: list[tuple[int, bytes]]) -> None:
        for first in range(0, len(games), _AT_ONCE):
            some = games[first : first + _AT_ONCE]
            await self._copy.take(some)
            self._reach(some[-1][0])

    async def _shared_before(self, at: int) -> list[int]:
        """Return the sequences of the shared copies of games that ended before a moment."""
        found = []
        async for entries in self._stream.walk(SHARE + ">", 0, await self._stream.last_sequence()):
            for entry in entries:
                with contextlib.suppress(Unreadable):
                    if entry.document is not None and decode_game(entry.document).at < at:
                        found.append(entry.sequence)
        return found

    def _reach(self, id: int) -> None:
        self._reached = max(self._reached, id)
        self._progress.set()
        self._progress = asyncio.Event()

    async def _until_own(self) -> None:
        """Wait until the copy has what this server has kept itself, or for as long as anybody would."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_SECONDS):
                while self._reached < self._own:
                    await self._progress.wait()


_encode: Final = msgspec.json.Encoder().encode
