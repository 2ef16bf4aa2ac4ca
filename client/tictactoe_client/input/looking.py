"""Looking back in a game and at what its moves were worth: the moment that is shown, and what is told of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from tictactoe_client.board.board import BoardView, render_board
from tictactoe_client.board.grid import BoardStyle
from tictactoe_client.input.intents import BadInput, Look
from tictactoe_client.input.past import Judge, Timeline
from tictactoe_client.online.errors import MovesUnknown
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_client.text.worth import review_position
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.happened import choices_at, placer
from tictactoe_protocol.pushes import AnalysisState, RoomState
from tictactoe_protocol.telling import tell
from tictactoe_protocol.wording import describe_cell, describe_turn, name_of

_LONG_SECONDS: Final = 2.0


class Looking:
    """The game of one room at the moment of `timeline`, for one who looks at it.

    On the screen (`shows`) a moment that is looked at is seen and not told, and who plays sees the present. What takes
    long is announced by `tell`.
    """

    at_start = "at the start"
    at_end = "at the end"
    """The ids of what is told where there is nothing further back, or on."""

    def __init__(self, room: Room, settings: Settings, tell: Callable[[str], object], *, shows: bool) -> None:
        self.room = room
        self.timeline = Timeline()
        self._settings = settings
        self._shows = shows
        self._tell = tell
        self._judge: Judge | None = None

    def look(self, look: Look, state: RoomState) -> list[str]:
        """Go where somebody wants, and return what is to be told of it."""
        if self._shows and self.room.plays:
            return [say("shows the present")]
        count = len(self.timeline.moves)
        there = count if look.kind == "live" else look.number + (self.timeline.here if look.kind == "by" else 0)
        if look.kind == "at" and there > count:
            return [say("no such move", n=there, all=count)]
        if not count and not self._shows:
            return [say("no move yet")]
        if not 0 <= there <= count and not self._shows:
            return [say(self.at_end if there > count else self.at_start)]
        self.timeline = self.timeline.jump(there)
        return [] if self._shows else self.tell_moment(look)

    def tell_moment(self, look: Look) -> list[str]:
        """Return all that is told of the moment that `look` led to."""
        state = self.room.state
        turn = [describe_turn(state, self.room.viewer)] if look.kind == "live" and state.status != "over" else []
        return [*self.describe_moment(state), *self.draw(state, is_wanted=look.kind == "at"), *turn]

    def describe_moment(self, state: RoomState) -> list[str]:
        """Return the move that led to the moment that is looked at, and what was chosen in the opening then."""
        timeline, here = self.timeline, self.timeline.here
        if not here:
            return [say("the start")]
        cell = timeline.moves[here - 1]
        mark, by = state.board[cell], placer(state, here - 1)
        name, where = self._name(state, by or mark), describe_cell(cell, state.rules.to_rules())
        id = "move of, placing" if by else "move of"
        told = say(id, n=here, all=len(timeline.moves), name=name, cell=where, mark=mark)
        return [told, *self._describe_choices(state, here)]

    def draw(self, state: RoomState, *, is_wanted: bool = False) -> list[str]:
        """Return the board that is looked at, with its last move marked, where boards are drawn or this one wanted."""
        if self._shows or not (is_wanted or self._settings.draws_board):
            return []
        return render_board(BoardView.of(self.timeline.show(state)), BoardStyle(colour=self._settings.colour))

    def list_choices(self, state: RoomState) -> list[str]:
        """Return what was chosen in the opening, each with the move that it followed."""
        plies = range(1, state.ply + 1) if state.chosen else ()
        chosen = ((ply, told) for ply in plies for told in self._describe_choices(state, ply))
        return [say("position after", n=ply, told=told) for ply, told in chosen]

    def _describe_choices(self, state: RoomState, ply: int) -> list[str]:
        return [tell(choice, self.room.viewer) for choice in choices_at(state, ply)]

    def _name(self, state: RoomState, mark: str) -> str:
        return name_of(state, mark)

    # -- what moves were worth --------------------------------------------------------------------------------------

    @property
    def judge(self) -> Judge | None:
        """Who judges the game on the board, once it is over and its moves are known; None before."""
        position = None
        if self.room.state.status == "over":
            with suppress(MovesUnknown):
                position = self.room.position
        if position is None:
            self._judge = None
        elif self._judge is None or self._judge.position != position:
            self._judge = Judge(position)
        return self._judge

    async def analyse(self, ply: int) -> AnalysisState:
        """Return what the position after `ply` moves is worth; while a game runs its server says whether it tells.

        Raises `Refused` where it does not, and `BadInput` where fewer moves were made.
        """
        judge = self.judge
        if judge is None:
            return await self.room.analyse(ply)
        if ply > judge.position.ply:
            raise BadInput(say("not so many moves", all=judge.position.ply, n=ply))
        return await judge.analyse(ply)

    async def describe_worth(self, ply: int, state: RoomState) -> list[str]:
        """Return what the position after so many moves is worth, and how the move that led to it compares."""
        rules, moves, after = state.rules.to_rules(), self.room.moves, await self.analyse(ply)
        if not 0 < after.ply <= len(moves) or placer(state, after.ply - 1):  # what opens compares with no best move
            return review_position(after, None, None, rules)
        return review_position(after, await self.analyse(after.ply - 1), moves[after.ply - 1], rules)

    async def list_mistakes(self, judge: Judge, state: RoomState) -> list[str]:
        """Return all that was given away for sure, a mistake a line."""
        self._announce(judge)
        rules, plies = state.rules.to_rules(), range(1, judge.position.ply + 1)
        return [mistake.describe(rules) async for mistake in judge.mistakes(plies)] or [say("nothing given away")]

    async def look_at_mistake(self, judge: Judge, by: int, state: RoomState) -> list[str]:
        """Go to the next mistake, with -1 to the one before, and return what is to be told of it."""
        self._announce(judge)
        here = self.timeline.here if self.timeline.is_back or by < 0 else -1
        plies = range(here + 2, judge.position.ply + 1) if by > 0 else range(here, 0, -1)
        mistake = await anext(judge.mistakes(plies), None)
        if mistake is None:
            return [say("no mistake after" if by > 0 else "no mistake before")]
        self.timeline = self.timeline.jump(mistake.ply - 1)
        return [mistake.describe(state.rules.to_rules()), *self.draw(state)]

    def _announce(self, judge: Judge) -> None:
        if judge.seconds_left >= _LONG_SECONDS:
            self._tell(say("looking through", n=math.ceil(judge.seconds_left)))
