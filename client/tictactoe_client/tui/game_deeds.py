"""What one does in a room: place, command, answer, leave, go to another one. Keys and clicks lead here.

It knows nothing of keys and draws nothing; what came of a deed is told on the desk's status line or by the next state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tictactoe_client.dialogue import Dialogue
from tictactoe_client.errors import ClientError, Refused
from tictactoe_client.guide import describe_giving_up
from tictactoe_client.room import Room
from tictactoe_client.settings import ExitCode
from tictactoe_client.tui.hand import Hand
from tictactoe_client.tui.looking import Looking
from tictactoe_client.tui.page import Desk, Page
from tictactoe_client.tui.table import Table
from tictactoe_client.wording import list_free, name_of
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState

if TYPE_CHECKING:
    from tictactoe_client.choosing import Choice


class GameDeeds:
    """The deeds of one person in one room, seen on `page`; `sit_down` opens the page of another room."""

    def __init__(
        self,
        desk: Desk,
        room: Room,
        table: Table,
        hand: Hand,
        looking: Looking,
        *,
        page: Page,
        again: Choice | None,
        sit_down: Callable[[Room], None],
    ) -> None:
        self._desk = desk
        self._room = room
        self._table = table
        self._hand = hand
        self._looking = looking
        self._page = page
        self._again = again
        self._sit_down = sit_down
        self._dialogue = Dialogue(desk.settings, table.viewer, asks_back=False)

    # -- at the board ---------------------------------------------------------------------------------------------

    def place(self, cell: int) -> None:
        """Send a move where one may be sent; else say why not."""
        state = self._table.state
        if state is None:
            return
        if self._table.seat is None:
            self._desk.say("You are watching: only players move.")
        elif state.status == "over":
            show = self._desk.keymap.show
            new = f", {show('another')} new opponent" if self._again is not None else ""
            self._desk.say(f"The game is over. {show('rematch')} rematch{new} or {show('back')}.")
        elif state.status == "waiting":
            self._desk.say("The game has not begun: a seat is free.")
        elif not self._table.plays:
            self._desk.say("You are out of the game; the others play on.")
        elif not self._table.is_my_turn:
            self._desk.say(f"It's {name_of(state, state.turn)}'s move.")
        elif self._hand.pending is None:
            self._hand.pending = (cell, state.turn or "")
            self._desk.run(self._send_move(cell, state))

    async def _send_move(self, cell: int, state: RoomState) -> None:
        try:
            await self._room.move(cell, ply=state.ply)
        except Refused as refused:
            free = f" {list_free(state, 9)}" if refused.code in ("occupied", "blocked", "floating") else ""
            self._desk.say(f"{clean_text(refused.message)}{free}")
            self._hand.pending = None
        except ClientError:
            self._hand.pending = None
            raise

    # -- in words -------------------------------------------------------------------------------------------------

    def command(self, text: str) -> None:
        """Carry out what was typed after ``:``; what costs the game is asked about first."""
        words = text.strip().lower()
        state = self._table.state
        if not words or state is None:
            return
        if words in ("resign", "leave", "quit", "exit") and self._table.is_live and words != "resign":
            self._hand.confirming = "leave"
        elif words == "resign" and self._table.is_live:
            self._hand.confirming = "resign"
        elif words in ("leave", "quit", "exit"):
            self.go_back()
        elif words == "new":
            self.find_another()
        elif words in ("help", "h", "?"):
            self.open_help()
        elif words == "review":
            self._looking.review()
        elif self._looking.points_at(words, state):
            return
        else:
            self._desk.run(self._converse(text, state))

    async def _converse(self, text: str, state: RoomState) -> None:
        answer = await self._dialogue.answer(f":{text}", state, self._room)
        if len(answer.lines) > 1:
            self._table.talk.extend(answer.lines)
        if answer.lines:
            self._desk.say(answer.lines[0])
        self._desk.redraw()

    def answer_offer(self, action: str) -> None:
        """Accept or decline what the other side offers."""
        state = self._table.state
        if state is None:
            return
        if state.offers.draw not in (None, self._table.seat):
            self.command(f"draw {action}")
        elif state.offers.undo not in (None, self._table.seat):
            self.command(f"undo {action}")
        else:
            self._desk.say("There is no offer to answer.")

    def confirm(self) -> None:
        """Do what was asked about."""
        what, self._hand.confirming = self._hand.confirming, None
        if what == "resign":
            self._desk.run(self._room.resign())
        elif what == "quit":
            self._desk.leave(ExitCode.INTERRUPTED)
        elif what == "leave":
            self._leave_page()

    def open_help(self) -> None:
        """Lay the page of keys and words on top."""
        from tictactoe_client.tui.help_page import HelpPage

        self._desk.open(HelpPage(self._desk, self._table.state))

    # -- going away -----------------------------------------------------------------------------------------------

    def go_back(self) -> None:
        """Drop what is typed, return to the present, else leave the room, asking where that loses a game."""
        if self._hand.ahead.text:
            self._hand.ahead.clear()
        elif self._table.shown_ply is not None:
            self._looking.at_present()
        elif self._table.is_live:
            self._hand.confirming = "leave"
        else:
            self._leave_page()

    def leave_hard(self) -> None:
        """End the program, asking where that loses a game; the second time there is no asking."""
        if self._table.is_live and self._hand.confirming != "quit":
            self._hand.confirming = "quit"
        else:
            self._desk.leave(ExitCode.INTERRUPTED)

    def _leave_page(self) -> None:
        """Go home at once; the server hears of it meanwhile."""
        desk = self._desk
        if desk.pages[-1] is self._page:
            desk.close_page()
        if self._room.ended is None and desk.link.phase == "online":
            desk.run(self._room.leave())
        elif desk.link.phase == "away" and self._table.seat is not None:
            reason = "you left while it was lost"
            text = describe_giving_up(self._table.state, self._table.viewer, desk.link.address, reason)
            desk.leave(ExitCode.CONNECTION_LOST, text)

    # -- another room ---------------------------------------------------------------------------------------------

    def find_another(self) -> None:
        """Leave, and look for another opponent in the same way as before."""
        if self._again is not None:
            self._desk.run(self._find_another(self._again))

    def let_computer_in(self) -> None:
        """Open the same room again with the computer in the free seats; the waiting one closes."""
        self._desk.run(self._let_computer_in())

    async def _find_another(self, again: Choice) -> None:
        client = self._desk.link.client
        if client is None:
            return
        await self._room.leave()
        self._desk.close_page()
        self._sit_down(await again.enter(client))

    async def _let_computer_in(self) -> None:
        client, state = self._desk.link.client, self._table.state
        if client is None or state is None:
            return
        rules, seat = state.rules.to_rules(), self._table.seat
        room = await client.create(rules, seat=seat, bots=("medium",) * (len(rules.marks) - 1), private=True)
        await self._room.leave()
        self._desk.close_page()
        self._sit_down(room)
