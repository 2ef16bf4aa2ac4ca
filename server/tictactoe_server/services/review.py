"""What positions are worth, for afterwards and for those who watch the computer: never in a running game of people."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from tictactoe_engine import Position
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import AnalysisState
from tictactoe_protocol.requests import Analyse, Review
from tictactoe_protocol.reviewed import Reviewed, carry
from tictactoe_server.core.core import Call, Core, Service
from tictactoe_server.records.tables import SHARES
from tictactoe_server.rooms import Refused
from tictactoe_server.rooms.finished import final_position
from tictactoe_server.services.bots.pool import ThinkingPool
from tictactoe_server.services.history import find_own, find_shared


class Reviews(Service):
    """Answers what a position of a room's or of a finished game is worth; the search runs where the bots think."""

    def __init__(self, pool: ThinkingPool) -> None:
        self._pool = pool
        self._reviewed = Reviewed()
        self.handles = {Analyse: self.analyse, Review: self.review}

    def start(self, core: Core) -> None:
        self._core = core

    async def analyse(self, call: Call) -> None:
        """Answer with the analysis of the position that was asked for, the current one where that is not said.

        Raises `Refused` for one who has a seat in a game that is on, for all where it is one of people or its terms
        allow for no hints, for moves that were not played, and where no answer is to be had in time. In a room for
        lessons the game may be on.
        """
        room, request = call.live.room, call.request
        self._core.allowances.take(call.session.rates.analyses, "analyse")
        if room.status == "playing" and room.analysis != "open":
            if room.mark_of(call.player.id) is not None:
                raise Refused(ErrorCode.NOT_ALLOWED, "own analysis")
            if room.people >= 2 or not room.terms.hints:
                raise Refused(ErrorCode.NOT_ALLOWED, "analysis")
        await self._answer(call, room.position, request.ply)

    async def review(self, call: Call) -> None:
        """Answer the same for a finished game that the player played in, or that somebody shares; refuses any other."""
        request: Review = call.request
        self._core.allowances.take(call.session.rates.analyses, "analyse")
        if request.replay is not UNSET and request.game_id is UNSET:
            game = await find_shared(self._core.store.table(SHARES), request.replay, "replay")
        elif request.game_id is not UNSET and request.replay is UNSET:
            game = await find_own(self._core.store.games, call.player, request.game_id)
        else:
            raise Refused(ErrorCode.BAD_MESSAGE, "review", path="game_id")
        await self._answer(call, final_position(game), request.ply)

    async def _answer(self, call: Call, last: Position, ply: int | UnsetType) -> None:
        """Answer with the analysis of a game after so many moves or its `last`, and what follows from those before."""
        count = last.ply if ply is UNSET else ply
        if count > last.ply:
            raise Refused(ErrorCode.STALE, "analysis", path="ply", ply=count, played=last.ply)
        position, known = last.at(count), self._reviewed.of(last)
        if count not in known:
            before = UNSET if position.unchosen is None else await self._find(position.unchosen)
            known[count] = await self._find(position, before)
            carry(known, last)
        call.answer(analysis=known[count])

    async def _find(self, position: Position, before: AnalysisState | UnsetType = UNSET) -> AnalysisState:
        found = await self._pool.analyse(position)
        if found is None:
            raise Refused(ErrorCode.BUSY, "analysis", retry_ms=1000)
        return AnalysisState.of(position, found, before)
