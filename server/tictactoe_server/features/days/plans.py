"""Conditional moves: "if O plays B2, I play C3", played by the server as soon as they apply.

A plan belongs to a player in one game of a room. It is visible only to its author, ends with the game, and is dropped
when the opponent plays something else. The server that has the room plays it; a reply that a crash has prevented is
played after the start.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Final

import msgspec
import structlog
from msgspec import UNSET, Struct

from tictactoe_engine import IllegalMove, Position
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.days import Plan
from tictactoe_protocol.guests import owner_of
from tictactoe_protocol.pushes import Closed
from tictactoe_protocol.requests import Move
from tictactoe_server.core.change import Call, RoomChange
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.features.days.service import DayGames
from tictactoe_server.records.mirror import Mirror
from tictactoe_server.rooms.room import Player, Refused, Room
from tictactoe_server.storage.specs import Persons, TableSpec
from tictactoe_server.storage.store import StoreUnavailable

log: Final = structlog.get_logger(__name__)

Branches = tuple[tuple[int, ...], ...]


class StoredPlan(Struct, frozen=True):
    """A player's plan.

    Attributes:
        game: The number of the game in the room.
        ply: The number of moves before the first cell of each branch.
        branches: Cells in the order of play, the opponent's move first.
    """

    room: str
    player: str
    game: int
    ply: int
    branches: Branches

    def rest(self, room: Room) -> Branches:
        """Return what the branches still contain in the current position, or nothing if none of them applies."""
        if room.game != self.game or room.result is not None or room.position.ply < self.ply:
            return ()
        played = room.position.moves[self.ply :]
        rests = (branch[len(played) :] for branch in self.branches if branch[: len(played)] == played)
        return tuple(rest for rest in rests if rest)


PLANS: Final[TableSpec[StoredPlan]] = TableSpec(
    *("plans", "plan", msgspec.json.encode, msgspec.json.Decoder(StoredPlan).decode),
    key_of=lambda plan: _key(plan.room, plan.player),
    persons=Persons(lambda plan: (owner_of(plan.player),)),
)
"""Conditional moves by the code of the room and the id of the player."""


def _key(room: str, player: str) -> str:
    return f"{room} {player}"


class Plans(Service):
    """Stores conditional moves and plays them."""

    def __init__(self, core: Core, games: DayGames) -> None:
        self._games = games
        self.handles = {Plan: self.plan}
        self._core = core
        self._plans = Mirror(core.store.table(PLANS), PLANS.name, core.rooms.elsewhere, self.tasks)
        core.rooms.on_long_game.add(self._follow)
        core.rooms.on_close.add(self._on_close)
        self.jobs = (self._plans.run, self._catch_up)

    async def plan(self, call: Call) -> None:
        """Store, delete or only return the plan of a player in the room."""
        room, player, moves = call.live.room, call.player, call.request.moves
        mark = room.require_mark(player)
        key = _key(room.code, player.id)
        if moves is not UNSET and moves:
            room.check_active(mark)
            if not room.keeps_seats or room.position.turn == mark or room.position.opening is not None:
                raise Refused(ErrorCode.NOT_ALLOWED, "plan" if room.keeps_seats else "plan days")
            for number, branch in enumerate(moves):
                _check_branch(room.position, branch, f"moves[{number}]")
            plan = StoredPlan(room.code, player.id, room.game, room.position.ply, moves)
            await self._plans.change(key, lambda old: plan)
            self._follow(call.live)  # the opponent may have moved meanwhile
        elif moves is not UNSET:
            await self._plans.change(key, lambda old: None)
        stored = self._plans.get(key)
        call.answer(plan=() if stored is None else stored.rest(call.live.room))

    def _follow(self, live: LiveRoom) -> None:
        """Play the next move of a plan if it applies, and drop plans that no longer do."""
        room = live.room
        for seat in () if live.is_gone else room.held_seats:
            plan = self._plans.get(_key(room.code, seat.player))
            if plan is None:
                continue
            rest = plan.rest(room)
            if not rest:
                self.tasks.start(self._drop(plan))
            elif room.seat(room.position.turn) is seat and not seat.left:
                self.tasks.start(self._play(live, Player(seat.player, seat.name), rest[0][0]))

    async def _play(self, live: LiveRoom, player: Player, cell: int) -> None:
        room = live.room.code
        try:
            move = Move(room=room, cell=cell, ply=live.room.position.ply)
            await RoomChange(live, self._core.time(), player, move).until_settled()
        except Refused as refused:  # the player was faster
            log.debug("planned move not played", room=room, code=refused.code)
        except StoreUnavailable:
            log.warning("planned move not stored; retrying", room=room)
            self._core.scheduler.after(1.0, partial(self._follow, live))

    async def _drop(self, plan: StoredPlan) -> None:
        with suppress(StoreUnavailable):  # it is dropped after the next change
            await self._plans.change(_key(plan.room, plan.player), lambda old: None if old == plan else old)

    def _on_close(self, live: LiveRoom, why: Closed) -> None:
        for seat in live.room.held_seats:
            if (plan := self._plans.get(_key(live.room.code, seat.player))) is not None:
                self.tasks.start(self._drop(plan))

    async def _catch_up(self) -> None:
        """Wake the sleeping games that lack a planned reply after a crash."""
        for loaded in (self._plans.loaded, self._games.games.loaded, self._core.rooms.restored):
            await loaded.wait()
        for plan in [*self._plans]:
            game = self._games.games.get(plan.room)
            if game is not None and game.players.get(game.turn) == plan.player:
                with suppress(Refused, StoreUnavailable):
                    self._follow(await self._core.rooms.find(plan.room))


def _check_branch(position: Position, branch: tuple[int, ...], path: str) -> None:
    """Raise `Refused` unless the cells of a branch can be played one after another."""
    for number, cell in enumerate(branch):
        try:
            position = position.play(cell)
        except IllegalMove as illegal:
            raise Refused(ErrorCode(illegal.code), path=f"{path}[{number}]", **illegal.data) from None
