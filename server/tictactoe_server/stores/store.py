"""The interface that every store has, and the two ways in which it says no."""

from __future__ import annotations

from typing import Final, Protocol

MISSING: Final = 0
"""The revision of a document that is not there: `save` with it creates, and only creates."""


class Conflict(Exception):
    """The document has another revision than expected; nothing was written. Load it and try again."""


class StoreUnavailable(Exception):
    """The store cannot answer now. A save that raises this may or may not have happened: load to find out."""


class Store(Protocol):
    """Documents by key, each with a revision that grows; what `save` returned from is kept.

    Keys are short ASCII texts like ``room/K7M4PQ``, documents up to about 100 KiB of bytes. Every method may raise
    `StoreUnavailable`.
    """

    async def load(self, key: str) -> tuple[bytes, int] | None:
        """Return the document and its revision, or None where there is none."""
        ...

    async def save(self, key: str, document: bytes, expected_revision: int) -> int:
        """Keep the document and return its new revision; raises `Conflict`."""
        ...

    async def delete(self, key: str, expected_revision: int) -> None:
        """Forget the document; raises `Conflict`, also where it is gone already."""
        ...

    async def keys(self, prefix: str) -> list[str]:
        """Return the keys that begin with `prefix`, in no order."""
        ...

    async def close(self) -> None:
        """Write what is still to be written and let go."""
        ...
