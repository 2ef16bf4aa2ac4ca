"""Looking on and looking back: which moment is shown, whether with what its moves are worth, and which cell of it.

It changes only what is shown; the values come from `Review`, and moves are nothing that it could make.
"""

from __future__ import annotations

from tictactoe_client.input.timeline import Timeline
from tictactoe_client.online.room import Room
from tictactoe_client.text.answers import describe_last
from tictactoe_client.text.worth import rank_cells
from tictactoe_client.tui.page import Desk
from tictactoe_client.tui.room.hand import Hand
from tictactoe_client.tui.room.review import Review
from tictactoe_client.tui.room.table import Table
from tictactoe_engine import parse_cell
from tictactoe_engine.errors import IllegalMove, UnknownNotation
from tictactoe_protocol.pushes import RoomState


class Looking:
    """Moves one person's eye over one table; the cursor in their hand is the cell that they point at."""

    def __init__(self, desk: Desk, room: Room, table: Table, hand: Hand, review: Review) -> None:
        self._desk = desk
        self._room = room
        self._table = table
        self._hand = hand
        self._review = review

    def review(self) -> None:
        """Show what moves are worth, or no longer; at the end of a game from its last move on."""
        table, state = self._table, self._table.state
        if table.plays:
            self._desk.start(self._ask_while_playing())
            return
        self._review.switch(on=not self._review.is_on)
        self._hand.cursor = None
        if state is not None and state.status == "over" and self._review.is_on and not table.timeline.is_back:
            self.step(-1)

    def show_values(self) -> None:
        """Show what moves are worth, from wherever one looks."""
        self._review.switch(on=True)

    def close_review(self) -> bool:
        """Hide the values, and after the end of the game return to it; tell whether they were shown."""
        if not self._review.is_on:
            return False
        self.review()
        if self._table.record is None and self._table.state is not None and self._table.state.status == "over":
            self.at_present()
        return True

    def jump(self, ply: int) -> None:
        """Look at the moment after so many moves."""
        self._go(self._table.timeline.jump(ply))

    def step(self, by: int) -> None:
        """Look at an earlier or later moment."""
        self._go(self._table.timeline.step(by))

    def at_present(self) -> None:
        """Look at the newest moment."""
        self.jump(len(self._table.moves))

    def at_last_move(self) -> None:
        """Look at the last move, wherever a board that scrolls stood, and say which it was."""
        self.at_present()
        if self._table.state is not None:
            self._desk.say(describe_last(self._table.state, self._table.viewer), "title")

    def at_another_moment(self) -> None:
        """Take note that another moment is looked at: nothing is pointed at there yet."""
        self._hand.cursor = None
        self._review.look()

    def compare(self, by: int) -> None:
        """Point at the next worse or better move of the moment, first at the best one."""
        analysis = self._review.analysis if self._review.is_on else None
        if analysis is None or not analysis.cells:
            return
        cells = rank_cells(analysis)
        here = cells.index(self._hand.cursor) + by if self._hand.cursor in cells else 0
        self._hand.cursor = cells[max(0, min(here, len(cells) - 1))]

    def points_at(self, text: str, state: RoomState) -> bool:
        """Point at the cell of this name where values are shown; tell whether that was so."""
        if not self._review.is_on:
            return False
        try:
            cell = parse_cell(text, state.rules.to_rules(), coordinates=self._desk.settings.coordinates)
        except (IllegalMove, UnknownNotation):
            return False
        self._hand.cursor = cell
        return True

    def _go(self, timeline: Timeline) -> None:
        self._table.timeline = timeline
        self.at_another_moment()

    async def _ask_while_playing(self) -> None:
        """Let the server say what it says to one who plays."""
        await self._room.analyse()
