"""The tables of small boards: each is solved once, by whoever can, and the latest used are kept."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

from tictactoe_engine import Rules
from tictactoe_engine.search import Table

_MAX_KEPT: Final = 256
"""Of 20 KB each: 5 MB."""


class Tables:
    """Tables by their rules. `solve` answers None where it cannot now."""

    def __init__(self, solve: Callable[[Rules], Awaitable[Table | None]], max_kept: int = _MAX_KEPT) -> None:
        self._solve = solve
        self._max_kept = max_kept
        self._kept: OrderedDict[Rules, Table] = OrderedDict()
        self._solving: dict[Rules, asyncio.Task[Table | None]] = {}

    async def table_of(self, rules: Rules) -> Table | None:
        """Return the table, at once where it is at hand; None where it could not be solved now, for all who wait."""
        if rules in self._kept:
            self._kept.move_to_end(rules)
            return self._kept[rules]
        if rules not in self._solving:
            self._solving[rules] = asyncio.create_task(self._solve_and_keep(rules))
        return await asyncio.shield(self._solving[rules])

    async def _solve_and_keep(self, rules: Rules) -> Table | None:
        try:
            table = await self._solve(rules)
        finally:
            del self._solving[rules]
        if table is not None:
            self._kept[rules] = table
            if len(self._kept) > self._max_kept:
                self._kept.popitem(last=False)
        return table
