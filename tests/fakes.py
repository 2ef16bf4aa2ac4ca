"""Small typed doubles for the seams of the server, such as a clock that stands still or a store that has trouble."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from tictactoe_server.stores import GameRecord, MemoryStore

Operation = Literal["load", "save", "delete", "keys"]


class FakeClock:
    """A monotonic clock in ns, like `time.monotonic_ns`; it stands still until `advance`."""

    def __init__(self) -> None:
        self._now_ms = 1_000_000

    def __call__(self) -> int:
        return self._now_ms * 1_000_000

    def advance(self, ms: int) -> None:
        self._now_ms += ms


class TroubledStore(MemoryStore):
    """A memory store that raises on demand; see `Store` for what the methods promise otherwise.

    `fail` plans the failures of one operation on the keys that begin with `prefix`; `is_silent_about_success` makes a
    planned failure of `save` come after the document was kept, as when only the store's reply is lost.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_silent_about_success = False
        self._failures: dict[Operation, tuple[str, Exception, int]] = {}
        self._before_save: Callable[[], Awaitable[None]] | None = None

    def fail(self, operation: Operation, error: Exception, *, prefix: str = "room/", times: int = 1) -> None:
        """Let the next `times` calls raise `error`."""
        self._failures[operation] = (prefix, error, times)

    def heal(self) -> None:
        """Forget all planned failures."""
        self._failures.clear()
        self.is_silent_about_success = False

    def before_next_save(self, action: Callable[[], Awaitable[None]]) -> None:
        """Run `action` just before the next save, as if somebody else were quicker."""
        self._before_save = action

    async def load(self, key: str) -> tuple[bytes, int] | None:
        self._fail_if_planned("load", key)
        return await super().load(key)

    async def save(
        self, key: str, document: bytes, expected_revision: int, *, archived: GameRecord | None = None
    ) -> int:
        if self._before_save is not None:
            action, self._before_save = self._before_save, None
            await action()
        if self.is_silent_about_success:
            revision = await super().save(key, document, expected_revision, archived=archived)
            self._fail_if_planned("save", key)
            return revision
        self._fail_if_planned("save", key)
        return await super().save(key, document, expected_revision, archived=archived)

    async def delete(self, key: str, expected_revision: int) -> None:
        self._fail_if_planned("delete", key)
        await super().delete(key, expected_revision)

    async def keys(self, prefix: str) -> list[str]:
        self._fail_if_planned("keys", prefix)
        return await super().keys(prefix)

    def _fail_if_planned(self, operation: Operation, key: str) -> None:
        prefix, error, times = self._failures.get(operation, ("", Exception(), 0))
        if times > 0 and key.startswith(prefix):
            self._failures[operation] = (prefix, error, times - 1)
            raise error
