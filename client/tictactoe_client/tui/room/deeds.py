"""What one does in a room: place, command, answer, confirm, and go away.

What the server has to hear goes out beside everything else, so that Esc works at once also where no answer comes.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from msgspec.structs import asdict

from tictactoe_client.input.cells import landing_cell
from tictactoe_client.input.intents import BadInput, Intent, Look, Place, Query, Verb, describe_too_long
from tictactoe_client.online.client import Choice
from tictactoe_client.online.errors import ClientError
from tictactoe_client.online.room import Room
from tictactoe_client.session import Enter
from tictactoe_client.settings import ExitCode
from tictactoe_client.text.answers import describe_last
from tictactoe_client.text.news import can_play_again
from tictactoe_client.text.worth import rank_cells
from tictactoe_client.tui.desk import ClientScreen, Desk
from tictactoe_client.tui.errands import describe_errand
from tictactoe_client.tui.room.table import Table
from tictactoe_client.tui.screen import HelpScreen
from tictactoe_engine import parse_cell
from tictactoe_engine.errors import IllegalMove, UnknownNotation
from tictactoe_protocol.codes import MAX_CHAT_LENGTH
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.requests import ClockFields


class Deeds:
    """The deeds of one person in one room, seen on `screen`; `again` is what to enter for another opponent, if any.

    `sit_down` opens the screen of another room, with news to tell there.
    """

    def __init__(
        self,
        desk: Desk,
        table: Table,
        screen: ClientScreen,
        again: Choice | None,
        sit_down: Callable[[Room, str], None],
    ) -> None:
        self._desk = desk
        self._table = table
        self._room = table.room
        self._hand = table.hand
        self._screen = screen
        self._again = again
        self._sit_down = sit_down

    # -- at the board ---------------------------------------------------------------------------------------------

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
        show, another = self._desk.keymap.show, self.another
        ways = [f"{show('rematch')} rematch"] if can_play_again(state) else []
        ways += [f"{show('another')} {another}"] if another else []
        back = show("back")
        return f"{', '.join(ways)} or {back}" if ways else f"{back} goes home"

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

    # -- looking on and looking back --------------------------------------------------------------------------------

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
        self._table.review.look()

    def compare(self, by: int) -> None:
        """Point at the next worse or better move of the moment, first at the best one."""
        analysis, cursor = self._table.review.analysis, self._hand.cursor
        if analysis is not None and analysis.cells:
            cells = rank_cells(analysis)
            here = cells.index(cursor) + by if cursor in cells else 0
            self._hand.cursor = cells[max(0, min(here, len(cells) - 1))]

    def _points_at(self, text: str, state: RoomState) -> bool:
        """Point at the cell of this name where values are shown; tell whether that was so."""
        if self._table.review.is_on:
            with suppress(IllegalMove, UnknownNotation):
                coordinates = self._desk.settings.coordinates
                self._hand.cursor = parse_cell(text, state.rules.to_rules(), coordinates=coordinates)
                return True
        return False

    # -- in words -------------------------------------------------------------------------------------------------

    def command(self, text: str) -> None:
        """Carry out what was typed after ``:``; what costs the game is asked about first."""
        words, state = text.strip(), self._room.state
        if not words or state is None:
            return
        if words.lower() == "review":
            self.review()
            return
        if self._points_at(words, state):
            return
        match intent := self._table.actions.parse(f":{words}"):
            case BadInput(code="too_long"):
                self.chat(words.partition(" ")[2])
            case BadInput():
                self._desk.say(intent.message)
            case Verb(kind="chat"):
                self.chat(intent.argument)
            case Place():
                self.place(intent.cell)
            case Verb(kind="resign") if self._room.plays:
                self._hand.confirming = "resign"
            case Verb(kind="leave" | "quit"):
                self._hand.ahead.clear()
                self.at_present()
                self.back()
            case Verb(kind="new"):
                self.to_another()
            case Query(kind="help"):
                self.open_help()
            case Query(kind="board"):
                self.at_present()
                self._desk.say(describe_last(state, self._room.viewer), "title")
            case _:
                self.do(intent)

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

    def chat(self, text: str) -> None:
        """Say something to everybody in the room; what is too long stays in the line to be made shorter."""
        text = text.strip()
        if len(text) > MAX_CHAT_LENGTH:
            self._hand.unsaid = text
            self._hand.begin_chat()
            self._desk.say(describe_too_long(text))
        elif text:
            self._desk.start(self._say(text))

    async def _say(self, text: str) -> None:
        """Say it; what is refused comes back into the line, or with the next one where a key was pressed meanwhile."""
        hand, keys = self._hand, self._hand.keys
        if told := await self._tell(Verb("chat", text)):
            hand.unsaid = text
            if hand.keys == keys and hand.mode == "board":
                hand.begin_chat()
            self._desk.say(told)

    def back(self) -> None:
        """Drop what is typed, hide values, return to the present, else leave, asking where that loses a game."""
        if self._hand.errand is not None:
            self.home()
        elif self._hand.ahead.text:
            self._hand.ahead.clear()
        elif self._table.review.is_on:
            self.review()
            if self._table.situation == "over":
                self.at_present()
        elif self._table.actions.timeline.is_back and self._table.record is None:
            self.at_present()
        elif self._loses_game:
            self._hand.confirming = "leave"
        else:
            self.home()

    def confirm(self) -> None:
        """Do what was asked about."""
        what = self._hand.confirming
        if what == "resign":
            self.do(Verb("resign"))
        elif what == "quit":
            self._desk.quit_after_all()
        elif what == "another":
            self.to_another()
        elif what == "leave":
            self.home()
        self._hand.confirming = None

    def open_help(self) -> None:
        """Lay the page of keys and words on top."""
        self._desk.open(HelpScreen(self._screen.list_help()))

    # -- ways out -----------------------------------------------------------------------------------------------------

    def asks_first(self) -> bool:
        """Ask before the program ends, with the board in sight, where that loses a game; tell whether it is asked."""
        if not self._loses_game or self._hand.confirming == "quit":
            return False
        self._desk.go_back_to(self._screen)
        self._hand.confirming = "quit"
        return True

    def home(self) -> None:
        """Go home at once; the server hears of it meanwhile.

        A game that goes on without a connection is not lost by this: the program ends and says how to come back.
        """
        if self._desk.link.phase == "away" and self._room.plays:
            self._desk.leave(ExitCode.CONNECTION_LOST)
            return
        self._close_page()
        if self._room.ended is None:
            self._desk.start(self._room.leave())

    def to_another(self) -> None:
        """Look for another opponent in the same way as before, asking where that loses a game."""
        if self._again is None:
            self._desk.say("There is nobody to look for here.")
        elif self._loses_game and self._hand.confirming != "another":
            self._hand.confirming = "another"
        else:
            again = self._again
            errand = "Opening a private room" if again.private and not again.bots else "Looking for another opponent"
            self._set_out(errand, again.enter)

    def to_computer(self) -> None:
        """Open the same room again with the computer in the free seats; the waiting one closes.

        Only a room that opens can have bots, so it has another code, of which those are told who sent the old one.
        """
        state = self._room.state
        if state is not None:
            rules, terms = state.rules.to_rules(), state.time_control
            clock = ClockFields(**asdict(terms)) if terms is not None else None
            bots = ("medium",) * (len(rules.marks) - 1)
            same = Choice(
                "create",
                rules,
                clock,
                state.visibility == "private",
                self._room.seat,
                bots,
                analysis="open" if state.analysis == "open" else "closed",
                chat="players" if state.chat == "players" else "all",
            )
            self._set_out(describe_errand(same), same.enter, "Room {} now, with the computer.")

    @property
    def another(self) -> str:
        """What would be played next with somebody else, in words; empty for nothing."""
        again = self._again
        if again is None:
            return ""
        return "new game" if again.bots else "new private room" if again.private else "new opponent"

    @property
    def _loses_game(self) -> bool:
        return self._room.plays and self._desk.link.phase != "away"

    def _close_page(self) -> None:
        while self._screen in self._desk.screens:
            is_first = self._desk.screens[0] is self._desk.screens[-1]
            self._desk.close_page()
            if is_first:
                return

    def _set_out(self, errand: str, enter: Enter, news: str = "") -> None:
        if not self._desk.errands.errand:
            self._hand.errand = errand
            coming = self._desk.errands.fetch(errand, enter)
            self._desk.start(self._go_over(coming, news, may_lose=self._room.plays))

    async def _go_over(self, coming: Coroutine[Any, Any, Room | None], news: str, *, may_lose: bool) -> None:
        """Enter the other room, tell the news with its code there, and leave this one.

        Whoever has gone home meanwhile wants neither room. Where a game has begun here meanwhile it is played, unless
        one was to be lost anyway, which `may_lose` says.
        """
        try:
            room = await coming
        except ClientError:
            if self._room.ended is not None and self._screen in self._desk.screens:
                self._desk.go_home()
            raise
        finally:
            self._hand.errand = None
        if room is None or room is self._room:
            return
        if self._room.plays and not may_lose:
            self._desk.say("Somebody has come meanwhile: the game is on.")
            await room.leave()
            return
        self._close_page()
        self._sit_down(room, news.format(room.code))
        if self._room.ended is None:
            await self._room.leave()
