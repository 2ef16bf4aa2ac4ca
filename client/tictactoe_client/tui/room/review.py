"""Fetches the analysis of the moment on the screen and caches it; only one request runs at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_client.input.actions import Actions
from tictactoe_client.online.errors import Refused
from tictactoe_engine.opening import MORE
from tictactoe_protocol.pushes import AnalysisState

SETTLE_SECONDS: Final = 0.2
"""The delay before a moment is analysed; longer than the repeat interval of a held arrow key."""

Moment = tuple[int, tuple[int, ...], tuple[str, ...], tuple[str, ...]]
"""A position: the game's number, its moves so far, the marks of players who are out, and the opening's choices."""


class Review:
    """The analysis of the moment that the timeline of `actions` shows.

    Attributes:
        is_on: Whether values are shown, which is impossible during our own game.
        better: The best continuation instead of each mistake, by the number of moves before the mistake.
    """

    def __init__(
        self,
        actions: Actions,
        *,
        run: Callable[[Coroutine[Any, Any, None]], object],
        tell: Callable[[str], object],
        redraw: Callable[[], object],
        settle_seconds: float = SETTLE_SECONDS,
    ) -> None:
        self._room = actions.room
        self._actions = actions
        self._run = run
        self._tell = tell
        self._redraw = redraw
        self._settle_seconds = settle_seconds
        self.is_on = False
        self._is_asking = False
        self.better: dict[int, tuple[int, ...]] = {}
        self._known: dict[Moment | None, AnalysisState | None] = {}

    @property
    def analysis(self) -> AnalysisState | None:
        return self._known.get(self._moment()) if self.is_on else None

    @property
    def is_waiting(self) -> bool:
        return self._missing() is not None

    def switch(self, *, on: bool) -> None:
        """Show or hide values; showing them after a game also looks for the game's mistakes in the background."""
        if on and not self.is_on:
            self.better.clear()
            self._run(self._find_mistakes())
        self.is_on = on
        self.look()

    async def _find_mistakes(self) -> None:
        if (judge := self._actions.judge) is not None:
            for ply in range(1, judge.position.ply + 1):
                if self.is_on and await judge.judge_move(ply) is not None:
                    self.better[ply - 1] = await judge.find_line(ply - 1)
                if self.is_on:
                    self._redraw()

    def look(self) -> None:
        """Fetch the analysis if it is needed; called when another moment may be shown. Hide values during our game."""
        if self._room.plays:
            self.is_on = False
        if self.is_on and not self._is_asking and self._missing() is not None:
            self._is_asking = True
            self._run(self._keep_asking())

    async def _keep_asking(self) -> None:
        """Fetch analyses until the moment on the screen has one; retry silently if the server asks us to wait."""
        try:
            while (moment := self._missing()) is not None:
                await asyncio.sleep(self._settle_seconds)
                if moment != self._missing():
                    continue
                try:
                    analysis = await self._actions.analyse(len(moment[1]))
                    self._known[moment] = analysis if self._fits(analysis, moment[1]) else None
                except Refused as refused:
                    if refused.retry_ms is not None:
                        await asyncio.sleep(refused.retry_ms / 1000)
                        continue
                    self._known[moment] = None
                    self._tell(refused.message)
                self._redraw()
        finally:
            self._is_asking = False

    def _fits(self, analysis: AnalysisState, moves: tuple[int, ...]) -> bool:
        """Return True if an analysis fits the position after these moves; a takeback may have changed the position."""
        state = self._room.state
        if analysis.ply != len(moves) or analysis.turn not in (None, *state.rules.marks):
            return False
        if analysis.before and not self._fits(replace(analysis.before, before=UNSET), moves):
            return False
        if not set(analysis.best_options) <= analysis.options.keys() <= {*state.rules.marks, MORE}:
            return False
        return set(analysis.best) <= analysis.cells.keys() <= set(range(len(state.board))) - set(moves)

    def _missing(self) -> Moment | None:
        moment = self._moment() if self.is_on else None
        return None if moment in self._known else moment

    def _moment(self) -> Moment | None:
        """Return the moment on the screen, or None if there is nothing to analyse since no move can follow."""
        state, timeline = self._room.state, self._actions.timeline
        if state.status == "waiting" or timeline.game != state.game:
            return None
        if state.status == "over" and not timeline.is_back:
            return None
        out = tuple(mark for mark, seat in state.seats.items() if seat is not None and seat.out)
        return state.game, timeline.moves[: timeline.here], out, state.chosen or ()
