"""The interfaces that every store has, and the ways in which it says no."""

from __future__ import annotations

from typing import Final, Protocol

from tictactoe_server.stores.archive import Archive, GameRecord

MISSING: Final[int] = 0
"""The revision of a document that is not there: `save` with it creates, and only creates."""


class Conflict(Exception):
    """The document has another revision than expected; nothing was written. Load it and try again."""


class StoreUnavailable(Exception):
    """The store cannot answer now. A save that raises this may or may not have happened: load to find out."""


class StoreBusy(StoreUnavailable):
    """More waits for the store than it can do in good time; nothing was written. Try again a little later."""


class Unreadable(StoreUnavailable):
    """What was asked for is damaged in the store itself. Asking again will not help; other keys are not affected."""


class CannotOpenStore(Exception):
    """The store cannot be opened, and nothing was changed; the message is a sentence for the operator."""


class Store(Protocol):
    """Documents by key, each with a revision that grows; what `save` returned from is kept.

    Keys are short ASCII texts like ``room/K7M4PQ``, documents up to about 100 KiB of bytes. A key that is deleted and
    made again never has a revision that it had before. Every method may raise `StoreUnavailable`.
    """

    async def load(self, key: str) -> tuple[bytes, int] | None:
        """Return the document and its revision, or None where there is none."""
        ...

    async def save(
        self, key: str, document: bytes, expected_revision: int, *, archived: GameRecord | None = None
    ) -> int:
        """Keep the document and return its new revision; raises `Conflict`.

        `archived` is a game that is finished by this very change: it goes into the archive with it, or neither does.
        """
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


class Notes(Protocol):
    """Small facts about the server itself, such as when it was last alive, that may be a second old after a crash."""

    def note(self, key: str, value: bytes) -> None:
        """Write a value soon, over the one before. It costs no wait and never fails; a lost power supply may lose it.

        It outlives the death of the process a moment later, with the next save or by itself.
        """
        ...

    async def noted(self, key: str) -> bytes | None:
        """Return the last value that was written, or None; raises `StoreUnavailable`."""
        ...


class Storage(Store, Archive, Notes, Protocol):
    """Everything that one server keeps: documents, finished games and notes."""
