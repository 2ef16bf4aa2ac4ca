"""What positions are worth, for afterwards and for those who watch the computer: never in a running game of people."""

from __future__ import annotations

from msgspec import UNSET

from tictactoe_engine.search import Value
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import AnalysisState, CellValue
from tictactoe_protocol.requests import Analyse
from tictactoe_server.core.answers import Call
from tictactoe_server.core.core import Core
from tictactoe_server.core.rooms import Refused
from tictactoe_server.core.service import Service
from tictactoe_server.services.bots.pool import ThinkingPool


class Reviews(Service):
    """Answers what a position of a room's game is worth; the search runs where the bots think."""

    def __init__(self, pool: ThinkingPool) -> None:
        self._pool = pool
        self.handles = {Analyse: self.analyse}

    def start(self, core: Core) -> None:
        self._allowances = core.allowances

    async def analyse(self, call: Call) -> None:
        """Answer with the analysis of the position that was asked for, the current one where that is not said.

        Raises `Refused` for one who has a seat in a game that is on, for all where it is one of people, for moves
        that were not played, and where no answer is to be had in time. In a room for lessons the game may be on.
        """
        room, request = call.live.room, call.request
        self._allowances.take(call.session.analyses, "analyse")
        if room.status == "playing" and room.analysis != "open":
            if room.mark_of(call.player.id) is not None:
                raise Refused(ErrorCode.NOT_ALLOWED, "own analysis")
            if room.people >= 2:
                raise Refused(ErrorCode.NOT_ALLOWED, "analysis")
        count = room.position.ply if request.ply is UNSET else request.ply
        if count > room.position.ply:
            raise Refused(ErrorCode.STALE, "analysis", path="ply", ply=count, played=room.position.ply)
        position = room.position.at(count)
        found = await self._pool.analyse(position)
        if found is None:
            raise Refused(ErrorCode.BUSY, "analysis", retry_ms=1000)
        cells, worth = {cell: _value_of(value) for cell, value in found.cells.items()}, _value_of(found.value)
        state = AnalysisState(position.ply, position.turn, worth, cells, found.best_cells, found.is_solved)
        call.answer(analysis=state)


def _value_of(value: Value) -> CellValue:
    return CellValue(value.kind, value.plies, value.estimate)
