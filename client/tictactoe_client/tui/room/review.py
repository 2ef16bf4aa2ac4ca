"""The worth of the moment that is looked at, asked for when the eye rests there, and remembered.

A server that searches for it lets nobody ask often: one question at a time, never twice for the same moment.
"""

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
"""How long a moment is looked at before it is asked for: longer than an arrow key that repeats takes."""

Moment = tuple[int, tuple[int, ...], tuple[str, ...], tuple[str, ...]]
"""A position: the game's number, the moves that lead there, who is out of the game, and what was chosen in it."""


class Review:
    """The worth of what `actions` look at; `run` does work beside, `tell` shows a refusal, `redraw` what has come.

    `better` is how the game had better gone on from the moments of mistakes.
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
        self._is_on = False
        self._is_asking = False
        self.better: dict[int, tuple[int, ...]] = {}
        self._known: dict[Moment | None, AnalysisState | None] = {}

    @property
    def is_on(self) -> bool:
        """Whether values are shown; never to one who plays the game."""
        return self._is_on and not self._room.plays

    @property
    def analysis(self) -> AnalysisState | None:
        """What the moment that is looked at is worth, None where that is not shown or not known."""
        return self._known.get(self._moment()) if self.is_on else None

    @property
    def is_waiting(self) -> bool:
        return self._missing() is not None

    def switch(self, *, on: bool) -> None:
        """Show values, or no longer; of a game that is over mistakes are looked for meanwhile."""
        if on and not self._is_on:
            self.better.clear()
            self._run(self._find_mistakes())
        self._is_on = on
        self.look()

    async def _find_mistakes(self) -> None:
        if (judge := self._actions.judge) is not None:
            for ply in range(1, judge.position.ply + 1):
                if self.is_on and await judge.judge_move(ply) is not None:
                    self.better[ply - 1] = await judge.find_line(ply - 1)
                if self.is_on:
                    self._redraw()

    def look(self) -> None:
        """Take note that another moment may be looked at."""
        if self._room.plays:
            self._is_on = False
        if not self._is_asking and self._missing() is not None:
            self._is_asking = True
            self._run(self._keep_asking())

    async def _keep_asking(self) -> None:
        """Ask for what is still looked at after a little, until it is known; what passes is waited out in silence."""
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
        """Tell whether an answer is about the position after these moves: one may have been taken back meanwhile."""
        state = self._room.state
        if analysis.ply != len(moves) or analysis.turn not in (None, *state.rules.marks):
            return False
        if analysis.before and not self._fits(replace(analysis.before, before=UNSET), moves):
            return False
        if not set(analysis.best_options) <= analysis.options.keys() <= {*state.rules.marks, MORE}:
            return False
        return set(analysis.best) <= analysis.cells.keys() <= set(range(len(state.board))) - set(moves)

    def _missing(self) -> Moment | None:
        """Return the moment that is looked at where its values are wanted and not known."""
        moment = self._moment() if self.is_on else None
        return None if moment in self._known else moment

    def _moment(self) -> Moment | None:
        """Return what is looked at, or None where nobody moves next or the moves are not known."""
        state, timeline = self._room.state, self._actions.timeline
        if state.status == "waiting" or timeline.game != state.game:
            return None
        if not self._room.knows_moves or (state.status == "over" and not timeline.is_back):
            return None
        out = tuple(mark for mark, seat in state.seats.items() if seat is not None and seat.out)
        return state.game, timeline.moves[: timeline.here], out, state.chosen or ()
