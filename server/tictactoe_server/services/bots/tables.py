"""The tables of small boards: each is solved once, by whoever can, and the latest used are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from tictactoe_engine import Rules
from tictactoe_engine.search import Table

_MAX_KEPT: Final = 256  # of 20 KB each: 5 MB


class Tables:
    """Tables by their rules. `solve` answers None where it cannot now."""

    def __init__(self, solve: Callable[[Rules], Coroutine[Any, Any, Table | None]], max_kept: int = _MAX_KEPT) -> None:
        self._solve = solve
        self._max_kept = max_kept
        self._solved: dict[Rules, asyncio.Task[Table | None]] = {}

    async def table_of(self, rules: Rules) -> Table | None:
        """Return the table, at once where it is at hand; None where it could not be solved now, for all who wait."""
        task = self._solved.pop(rules, None)
        if task is None or (task.done() and task.result() is None):
            task = asyncio.create_task(self._solve(rules))
        self._solved[rules] = task  # the latest used are last
        if len(self._solved) > self._max_kept:
            del self._solved[next(iter(self._solved))]
        return await asyncio.shield(task)
