"""The game on the table as somebody looks back in it: where they look, what is to be seen there, what moves were worth.

While a game runs its server says whether it tells what a position is worth; once it is over the engine here is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from tictactoe_client.board.board import BoardStyle, BoardView, render_board
from tictactoe_client.input.intents import BadInput, Look
from tictactoe_client.input.judge import Judge
from tictactoe_client.input.timeline import Timeline
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_client.text.wording import describe_cell, describe_turn, name_of
from tictactoe_client.text.worth import describe_mistake, review_position
from tictactoe_protocol.pushes import AnalysisState, RoomState

_LONG_SECONDS: Final = 2.0
_AFTERWARDS: Final = "Mistakes are told when the game is over."


class Past:
    """What one person sees of the game in `room`, at the moment of `timeline`.

    On the screen (`shows`) a moment that is looked at is seen and not told, and who plays sees the present. What takes
    long is announced by `tell`.
    """

    def __init__(
        self, room: Room, settings: Settings, *, shows: bool, tell: Callable[[str], object] | None = None
    ) -> None:
        self.timeline = Timeline()
        self._room = room
        self._settings = settings
        self._shows = shows
        self._tell = tell
        self._judge: Judge | None = None

    def look(self, look: Look, state: RoomState) -> list[str]:
        """Go where somebody wants, and return what is to be told of it."""
        if self._shows and self._room.plays:
            return ["While you play, the board shows the present."]
        self.timeline = self.timeline.follow(state.game, self._room.moves)
        there, count = self.timeline.find(look), len(self.timeline.moves)
        if look.kind == "at" and there > count:
            return [f"There is no move {there}: 0 to {count}."]
        if not 0 <= there <= count and not self._shows:
            return [self._describe_edge(is_end=there > count)]
        self.timeline = self.timeline.jump(there)
        return self.tell_moment(look)

    def tell_moment(self, look: Look | None = None) -> list[str]:
        """Return what is to be told of the moment that is looked at, after this wish; nothing where it is shown."""
        state = self._room.state
        if self._shows or state is None:
            return []
        is_at, is_live = look is not None and look.kind == "at", look is not None and look.kind == "live"
        turn = [describe_turn(state, self._room.viewer)] if is_live and state.status != "over" else []
        return [*self.describe_moment(state), *self._draw(state, is_wanted=is_at), *turn]

    def describe_moment(self, state: RoomState) -> list[str]:
        """Return the move that led to the moment that is looked at."""
        timeline = self.timeline
        if not timeline.here:
            return ["The start."]
        cell = timeline.moves[timeline.here - 1]
        who, where = self._name(state, state.board[cell]), describe_cell(cell, state.rules.to_rules())
        return [f"Move {timeline.here} of {len(timeline.moves)}: {who} plays {where}."]

    @property
    def judge(self) -> Judge | None:
        """Who judges the game on the table, once it is over and its moves are known; None before."""
        room = self._room
        if room.state is None or room.state.status != "over" or room.position is None:
            self._judge = None
        elif self._judge is None or self._judge.position != room.position:
            self._judge = Judge(room.position)
        return self._judge

    async def analyse(self, ply: int) -> AnalysisState:
        """Return what the position after `ply` moves is worth.

        Raises `Refused` where the server of a game that runs does not tell, and `BadInput` where fewer moves were made.
        """
        judge = self.judge
        if judge is None:
            return await self._room.analyse(ply)
        if ply > judge.position.ply:
            raise BadInput("bad_input", f"There are {judge.position.ply} moves, not {ply}.")
        return await judge.analyse(ply)

    async def weigh(self, ply: int | None, state: RoomState) -> list[str]:
        """Return what a position is worth, where its other moves lead, and whether the move before it was good."""
        rules, moves = state.rules.to_rules(), self._room.moves
        after = await self.analyse(self.timeline.here if ply is None else ply)
        if not 0 < after.ply <= len(moves):
            return review_position(after, None, None, rules)
        return review_position(after, await self.analyse(after.ply - 1), moves[after.ply - 1], rules)

    async def list_mistakes(self, state: RoomState) -> list[str]:
        """Return the moves that gave something away, in order."""
        if self.judge is None:
            return [_AFTERWARDS]
        self._announce(self.judge)
        rules = state.rules.to_rules()
        told = [describe_mistake(one.ply, one.cell, one.before, rules) for one in await self.judge.find_mistakes()]
        return told or ["No move gave anything away for sure."]

    async def look_at_mistake(self, by: int, state: RoomState) -> list[str]:
        """Go to where the next mistake was made, or with `by` -1 the one before, and return what it was."""
        if self.judge is None:
            return [_AFTERWARDS]
        self._announce(self.judge)
        here = self.timeline.here if self.timeline.is_back or by < 0 else -1
        mistake = await self.judge.find_mistake(here, by)
        if mistake is None:
            return [f"There is no mistake {'after' if by > 0 else 'before'} this moment."]
        self.timeline = self.timeline.jump(mistake.ply - 1)
        told = describe_mistake(mistake.ply, mistake.cell, mistake.before, state.rules.to_rules())
        return [told, *self._draw(state)]

    def _announce(self, judge: Judge) -> None:
        if self._tell is not None and judge.seconds_left >= _LONG_SECONDS:
            self._tell(f"Looking through the game: this takes up to {math.ceil(judge.seconds_left)} seconds.")

    def _draw(self, state: RoomState, *, is_wanted: bool = False) -> list[str]:
        """Return the board that is looked at, with its last move marked, where boards are drawn or this one wanted."""
        if self._shows or not (is_wanted or self._settings.draws_board):
            return []
        return render_board(BoardView.of(self.timeline.show(state)), BoardStyle(colour=self._settings.colour))

    def _describe_edge(self, *, is_end: bool) -> str:
        return "This is the latest move: p goes back." if is_end else "This is the start: n goes on."

    def _name(self, state: RoomState, mark: str) -> str:
        return name_of(state, mark)
