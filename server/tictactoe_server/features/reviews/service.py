"""Analyses of positions.

Everyone can analyse a finished game. Players can analyse a running game only in a room that is open for analysis;
watchers can also analyse a running game with at most one person in it if hints are allowed.
"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET, UnsetType

from tictactoe_engine import Position
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import AnalysisState
from tictactoe_protocol.requests import Analyse, Review
from tictactoe_protocol.reviewed import Reviewed, carry
from tictactoe_server.core.change import Call
from tictactoe_server.core.core import Core, Service
from tictactoe_server.features.feature import Feature
from tictactoe_server.play.history import find_own, find_shared
from tictactoe_server.records.tables import SHARES
from tictactoe_server.rooms.finished import final_position
from tictactoe_server.rooms.room import Refused
from tictactoe_server.transport.rate_limit import RateLimits
from tictactoe_words.catalogue import speaking
from tictactoe_words.worth import add_words

ANALYSES: Final = 10
ANALYSES_MS: Final = 10_000


class Reviews(Service):
    """Answers requests for analyses of running and finished games, which the bots' worker processes compute."""

    def __init__(self, core: Core) -> None:
        self._reviewed = Reviewed()
        self.handles = {Analyse: self.analyse, Review: self.review}
        self._core = core
        self._analyses = RateLimits(ANALYSES, ANALYSES_MS, core.monotonic_ns)

    async def analyse(self, call: Call) -> None:
        """Reply with the analysis of the requested position in the room's game, by default the current position.

        Raises `Refused`:

        - while the game is running, unless the room is open for analysis: to the game's players, and to everyone if
          two or more people play or the room allows no hints;
        - for a position after more moves than have been played;
        - if the search takes too long.
        """
        room = call.live.room
        self._core.allowances.consume(self._analyses[call.player.id], "analyse")
        if room.status == "playing" and room.analysis != "open":
            if room.mark_of(call.player.id) is not None:
                raise Refused(ErrorCode.NOT_ALLOWED, "own analysis")
            if room.people >= 2 or not room.terms.hints:
                raise Refused(ErrorCode.NOT_ALLOWED, "analysis")
        await self._answer(call, room.position)

    async def review(self, call: Call) -> None:
        request: Review = call.request
        self._core.allowances.consume(self._analyses[call.player.id], "analyse")
        if request.replay is not UNSET and request.game_id is UNSET:
            game = await find_shared(self._core.store.table(SHARES), request.replay, "replay")
        elif request.game_id is not UNSET and request.replay is UNSET:
            game = await find_own(self._core.store.games, call.player, request.game_id)
        else:
            raise Refused(ErrorCode.BAD_MESSAGE, "review", path="game_id")
        await self._answer(call, final_position(game))

    async def _answer(self, call: Call, last: Position) -> None:
        """Reply with the analysis of the requested position in a game whose last position is `last`.

        Analyses of positions in the same game are remembered and reused.
        """
        ply, language = call.request.ply, call.session.language
        count = last.ply if ply is UNSET else ply
        if count > last.ply:
            raise Refused(ErrorCode.STALE, "analysis", path="ply", ply=count, played=last.ply)
        position, known = last.at(count), self._reviewed.of(last)
        if count not in known:
            before = UNSET if position.unchosen is None else await self._find(position.unchosen)
            known[count] = await self._find(position, before)
            carry(known, last)
        analysis = known[count]
        if language:
            played = last.moves[count] if count < last.ply else None
            with speaking(language):
                analysis = add_words(analysis, last.rules, played, in_stones=call.request.stones)
        call.answer(analysis=analysis)

    async def _find(self, position: Position, before: AnalysisState | UnsetType = UNSET) -> AnalysisState:
        analysts = self._core.hooks.analysts
        if not analysts:
            raise Refused(ErrorCode.NOT_ALLOWED, "no bots")
        found = await analysts[0](position)
        if found is None:
            raise Refused(ErrorCode.BUSY, "analysis", retry_ms=1000)
        return AnalysisState.of(position, found, before)


FEATURE: Final = Feature(make=lambda parts: [Reviews(parts.core)])
