"""A store that is wrong on purpose: it acknowledges saves before they are kept, to show that the checkers find out.

What is new is kept at once. Of what changes it writes the newest to the real store only with every so many saves.
"""

from __future__ import annotations

import asyncio

from tictactoe_server.stores import MISSING, GameRecord, MemoryStore, SqliteStore

SAVES_BETWEEN = 40
KEY_PREFIXES = ("room/", "player/")


class EarlyStore(MemoryStore):
    """Keeps in `inner` what it promised some saves ago; `fill` it with what is there before use."""

    def __init__(self, inner: SqliteStore) -> None:
        super().__init__()
        self._inner = inner
        self._kept: dict[str, int] = {}
        self._changed: dict[str, None] = {}
        self._saves = 0
        self._writing = asyncio.Lock()

    async def fill(self) -> None:
        """Read everything that is kept."""
        for prefix in KEY_PREFIXES:
            for key in await self._inner.keys(prefix):
                found = await self._inner.load(key)
                assert found
                await super().save(key, found[0], MISSING)
                self._kept[key] = found[1]

    async def save(
        self, key: str, document: bytes, expected_revision: int, *, archived: GameRecord | None = None
    ) -> int:
        revision = await super().save(key, document, expected_revision, archived=archived)
        self._changed[key] = None
        self._saves += 1
        if expected_revision == MISSING or self._saves % SAVES_BETWEEN == 0:
            async with self._writing:
                await self._write()
        return revision

    async def _write(self) -> None:
        changed, self._changed = self._changed, {}
        for key in changed:
            found = await self.load(key)
            assert found
            self._kept[key] = await self._inner.save(key, found[0], self._kept.get(key, MISSING))
