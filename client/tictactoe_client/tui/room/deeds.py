"""What one does at a table: place, say, ask, and look at other moments.

What the server has to hear goes out beside everything else, so that Esc works at once also where no answer comes.
"""

from __future__ import annotations

import time
from contextlib import suppress

from tictactoe_client.input.cells import landing_cell
from tictactoe_client.input.intents import Intent, Look, Place, Verb, VerbKind, describe_too_long
from tictactoe_client.online.errors import ClientError
from tictactoe_client.text.news import can_play_again, open_offers
from tictactoe_client.text.worth import rank_cells
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.room.table import Table
from tictactoe_engine import parse_cell
from tictactoe_engine.errors import IllegalMove, UnknownNotation
from tictactoe_protocol.codes import MAX_CHAT_LENGTH
from tictactoe_protocol.pushes import RoomState


class Deeds:
    """The deeds of one person at one table."""

    def __init__(self, desk: Desk, table: Table) -> None:
        self._desk = desk
        self._table = table
        self._room = table.room
        self._hand = table.hand

    # -- what the server hears ------------------------------------------------------------------------------------

    def place(self, cell: int) -> None:
        """Send a move where one may be sent; else say why not."""
        state = self._room.state
        if state is None:
            return
        if self._room.seat is not None and state.status == "over":
            self._desk.say(f"The game is over. {self._describe_ways_on(state)}.")
        elif why := self._table.actions.refuse_move(state):
            self._desk.say(why)
        elif self._hand.pending is None:
            target = landing_cell(state, cell)
            self._hand.pending = None if target is None else (target, state.turn or "")
            self._desk.start(self._move(cell))

    def _describe_ways_on(self, state: RoomState) -> str:
        show, another = self._desk.keymap.show, self._table.another
        ways = [f"{show('rematch')} rematch"] if can_play_again(state) else []
        ways += [f"{show('another')} {another}"] if another else []
        return f"{', '.join(ways)} or {show('back')}" if ways else f"{show('back')} goes home"

    async def _move(self, cell: int) -> None:
        """Let the move go out, and take it out of the cell again where it was not to be had."""
        try:
            if told := await self._tell(Place(cell)):
                self._desk.say(told)
                self._hand.pending = None
        except ClientError:
            self._hand.pending = None
            raise

    async def _tell(self, intent: Intent) -> str:
        """Carry an intent out, and return what was told at first."""
        told = (await self._table.actions.do(intent)).lines
        if len(told) > 1:
            self._table.tell(*told)
        return told[0] if told else ""

    def do(self, intent: Intent) -> None:
        """Do what is wanted beside everything else, and tell what comes of it."""
        self._desk.start(self._do(intent))

    async def _do(self, intent: Intent) -> None:
        before = self._table.actions.timeline
        told = await self._tell(intent)
        if self._table.actions.timeline is not before:
            if isinstance(intent, Look) and intent.kind == "mistake":
                self._table.review.switch(on=True)
            self._at_another_moment()
        if told:
            self._desk.say(told)
        self._desk.redraw()

    def answer(self, answer: VerbKind) -> None:
        """Answer an offer, or withdraw one's own; the keys that follow place nothing for a moment."""
        if self._room.state is not None and open_offers(self._room.state, self._room.viewer):
            self._hand.answered(time.monotonic())
        self.do(Verb(answer))

    def claim(self, what: str) -> None:
        """Claim the game of one who is gone; the keys that follow place nothing for a moment."""
        self._hand.answered(time.monotonic())
        self.do(Verb("claim", what))

    def chat(self, text: str) -> None:
        """Say something to everybody in the room; what is too long stays in the line to be made shorter."""
        text = text.strip()
        if len(text) > MAX_CHAT_LENGTH:
            self._hand.line.unsaid = text
            self._hand.line.begin_chat()
            self._desk.say(describe_too_long(text))
        elif text:
            self._desk.start(self._say(text))

    async def _say(self, text: str) -> None:
        """Say it; what is refused comes back into the line, or with the next one where a key was pressed meanwhile."""
        line, keys = self._hand.line, self._hand.keys
        if told := await self._tell(Verb("chat", text)):
            line.unsaid = text
            if self._hand.keys == keys and not line.mode:
                line.begin_chat()
            self._desk.say(told)

    # -- looking on and looking back ------------------------------------------------------------------------------

    def review(self) -> None:
        """Show what moves are worth, or no longer; at the end of a game from its last move on."""
        review = self._table.review
        if self._room.plays:
            self._desk.start(self._room.analyse())  # the server says what it says to one who plays
            return
        review.switch(on=not review.is_on)
        self._hand.cursor = None
        if self._table.situation == "over" and review.is_on and not self._table.actions.timeline.is_back:
            self.step(-1)

    def jump(self, ply: int) -> None:
        """Look at the moment after so many moves."""
        self._table.actions.timeline = self._table.actions.timeline.jump(ply)
        self._at_another_moment()

    def step(self, by: int) -> None:
        """Look at an earlier or later moment."""
        self.jump(self._table.actions.timeline.here + by)

    def at_present(self) -> None:
        """Look at the newest moment."""
        self.jump(len(self._room.moves))

    def _at_another_moment(self) -> None:
        self._hand.cursor = None
        if self._table.record is not None:
            self._hand.ahead = ""
        self._table.review.look()

    def compare(self, by: int) -> None:
        """Point at the next worse or better move of the moment, first at the best one."""
        analysis, cursor = self._table.review.analysis, self._hand.cursor
        if analysis is not None and analysis.cells:
            cells = rank_cells(analysis)
            here = cells.index(cursor) + by if cursor in cells else 0
            self._hand.cursor = cells[max(0, min(here, len(cells) - 1))]

    def place_or_point(self, cell: int) -> None:
        """Place; where values are shown, ask for that of the cell."""
        if self._table.review.is_on:
            self._hand.cursor = cell
        else:
            self.place(cell)

    def points_at(self, text: str, state: RoomState) -> bool:
        """Point at the cell of this name where values are shown; tell whether that was so."""
        if self._table.review.is_on:
            with suppress(IllegalMove, UnknownNotation):
                coordinates = self._desk.settings.coordinates
                self._hand.cursor = parse_cell(text, state.rules.to_rules(), coordinates=coordinates)
                return True
        return False
