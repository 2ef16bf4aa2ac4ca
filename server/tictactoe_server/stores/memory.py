"""A store that lasts as long as the process: for tests, and for rooms that nobody needs tomorrow."""

from __future__ import annotations

from tictactoe_server.stores.store import MISSING, Conflict


class MemoryStore:
    """Documents in a dictionary; see `Store` for what the methods promise."""

    def __init__(self) -> None:
        self._documents: dict[str, tuple[bytes, int]] = {}
        self._revision = MISSING

    async def load(self, key: str) -> tuple[bytes, int] | None:
        """Return the document and its revision, or None where there is none."""
        return self._documents.get(key)

    async def save(self, key: str, document: bytes, expected_revision: int) -> int:
        """Keep the document and return its new revision; raises `Conflict`."""
        self._check(key, expected_revision)
        self._revision += 1
        self._documents[key] = (document, self._revision)
        return self._revision

    async def delete(self, key: str, expected_revision: int) -> None:
        """Forget the document; raises `Conflict`, also where it is gone already."""
        self._check(key, expected_revision)
        self._documents.pop(key, None)

    async def keys(self, prefix: str) -> list[str]:
        """Return the keys that begin with `prefix`, in no order."""
        return [key for key in self._documents if key.startswith(prefix)]

    async def close(self) -> None:
        """Do nothing: there is nothing to write."""

    def _check(self, key: str, expected_revision: int) -> None:
        current = self._documents.get(key)
        if (current[1] if current else MISSING) != expected_revision:
            raise Conflict(key)
