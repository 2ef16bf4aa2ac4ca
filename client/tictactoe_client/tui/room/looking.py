"""Looking on and looking back: which moment is shown, whether with what its moves are worth, and which cell of it.

It changes only what is shown; the values come from `Review`, and moves are nothing that it could make.
"""

from __future__ import annotations

from tictactoe_client.input.intents import Look
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
        if state is not None and state.status == "over" and self._review.is_on and table.shown_ply is None:
            self.step(-1)

    def close_review(self) -> bool:
        """Hide the values, and after the end of the game return to it; tell whether they were shown."""
        if not self._review.is_on:
            return False
        self.review()
        if self._table.state is not None and self._table.state.status == "over":
            self.at_present()
        return True

    def step(self, by: int) -> None:
        """Look at an earlier or later moment."""
        self._table.step(by)
        self._look()

    def at_present(self) -> None:
        """Look at the newest moment."""
        self._table.look_at_present()
        self._look()

    def at_last_move(self) -> None:
        """Look at the last move, wherever a board that scrolls stood, and say which it was."""
        self.at_present()
        if self._table.state is not None:
            self._desk.say(describe_last(self._table.state, self._table.viewer), "title")

    def go(self, look: Look) -> None:
        """Go to the moment that was asked for in words; who plays has the present before them."""
        table, count = self._table, len(self._table.moves)
        if table.plays:
            self._desk.say("While you play, the board shows the present.")
        elif look.kind == "live":
            self.at_present()
        elif look.kind == "by":
            self.step(look.number)
        elif look.number > count:
            self._desk.say(f"There is no move {look.number}: 0 to {count}.")
        else:
            self.step(look.number - (count if table.shown_ply is None else table.shown_ply))

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

    def _look(self) -> None:
        self._hand.cursor = None
        self._review.look()

    async def _ask_while_playing(self) -> None:
        """Let the server say what it says to one who plays."""
        await self._room.analyse()
