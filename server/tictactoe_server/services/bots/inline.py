"""Bots that search in the server's process, for repeatable runs."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final, cast

from tictactoe_engine.search import Budget, Memory
from tictactoe_server.services.bots.thinking import SEARCHES, result_of
from tictactoe_server.services.bots.workers import Answer, Priority, Workers

_NODES: Final = 500
_THINKING_SECONDS: Final = 0.02


class InlineWorkers(Workers):
    """Answers each question in place within a number of positions, which blocks the event loop."""

    def __init__(self) -> None:
        super().__init__(0, ())
        self._memory = Memory()

    async def ask(self, question: partial[Answer], priority: Priority, seconds: float, within: float) -> Answer | None:
        if within < _THINKING_SECONDS:
            return None
        await asyncio.sleep(_THINKING_SECONDS)
        budget = (Budget(nodes=_NODES),) if question.func in SEARCHES else ()
        return cast(Answer, result_of(partial(question, *budget), self._memory))
