"""What one does in a room: place, command, answer, confirm, and go away.

What the server has to hear goes out beside everything else, so that Esc works at once also where no answer comes.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from msgspec.structs import asdict

from tictactoe_client.input.cells import landing_cell
from tictactoe_client.input.intents import BadInput, Intent, Look, Place, Query, Verb, describe_too_long
from tictactoe_client.input.past import Timeline
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
from tictactoe_client.tui.room.hints import describe_another
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
        self._screen = screen
        self._again = again
        self._sit_down = sit_down

    # -- at the board ---------------------------------------------------------------------------------------------

    def place(self, cell: int) -> None:
        """Send a move where one may be sent; else say why not."""
        table, state = self._table, self._table.state
        if state is None:
            return
        if table.seat is not None and state.status == "over":
            self._desk.say(f"The game is over. {self._describe_ways_on(state)}.")
        elif why := table.actions.refuse_move(state):
            self._desk.say(why)
        elif table.hand.pending is None:
            target = landing_cell(state, cell) if state.rules.gravity else cell
            table.hand.pending = None if target is None else (target, state.turn or "")
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
            told = (await self._table.actions.do(Place(cell))).lines
        except ClientError:
            self._table.hand.pending = None
            raise
        if told:
            self._table.hand.pending = None
            self._desk.say(told[0])

    # -- looking on and looking back --------------------------------------------------------------------------------

    def review(self) -> None:
        """Show what moves are worth, or no longer; at the end of a game from its last move on."""
        table, state = self._table, self._table.state
        if table.plays:
            self._desk.start(self._ask_while_playing())
            return
        self._table.review.switch(on=not self._table.review.is_on)
        self._table.hand.cursor = None
        if state is not None and state.status == "over" and self._table.review.is_on and not table.timeline.is_back:
            self.step(-1)

    def close_review(self) -> bool:
        """Hide the values, and after the end of the game return to it; tell whether they were shown."""
        if not self._table.review.is_on:
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

    def _at_another_moment(self) -> None:
        """Point at nothing yet."""
        self._table.hand.cursor = None
        self._table.review.look()

    def compare(self, by: int) -> None:
        """Point at the next worse or better move of the moment, first at the best one."""
        analysis = self._table.review.analysis if self._table.review.is_on else None
        if analysis is None or not analysis.cells:
            return
        cells = rank_cells(analysis)
        here = cells.index(self._table.hand.cursor) + by if self._table.hand.cursor in cells else 0
        self._table.hand.cursor = cells[max(0, min(here, len(cells) - 1))]

    def points_at(self, text: str, state: RoomState) -> bool:
        """Point at the cell of this name where values are shown; tell whether that was so."""
        if not self._table.review.is_on:
            return False
        try:
            cell = parse_cell(text, state.rules.to_rules(), coordinates=self._desk.settings.coordinates)
        except (IllegalMove, UnknownNotation):
            return False
        self._table.hand.cursor = cell
        return True

    def _go(self, timeline: Timeline) -> None:
        self._table.timeline = timeline
        self._at_another_moment()

    async def _ask_while_playing(self) -> None:
        """Let the server say what it says to one who plays."""
        await self._table.room.analyse()

    # -- in words -------------------------------------------------------------------------------------------------

    def command(self, text: str) -> None:
        """Carry out what was typed after ``:``; what costs the game is asked about first."""
        words, state = text.strip(), self._table.state
        if not words or state is None:
            return
        if words.lower() == "review":
            self.review()
            return
        if self.points_at(words, state):
            return
        intent = self._table.actions.parse(f":{words}")
        match intent:
            case BadInput(code="too_long"):
                self.chat(words.partition(" ")[2])
            case BadInput():
                self._desk.say(intent.message)
            case Verb(kind="chat"):
                self.chat(intent.argument)
            case Place():
                self.place(intent.cell)
            case Verb(kind="resign") if self._table.plays:
                self._table.hand.confirming = "resign"
            case Verb(kind="leave" | "quit"):
                self._leave()
            case Verb(kind="new"):
                self.to_another()
            case Query(kind="help"):
                self.open_help()
            case Query(kind="board"):
                self.at_last_move()
            case _:
                self.do(intent)

    def do(self, intent: Intent) -> None:
        """Do what is wanted beside everything else, and tell what comes of it."""
        self._desk.start(self._do(intent))

    def chat(self, text: str) -> None:
        """Say something to everybody in the room; what is too long stays in the line to be made shorter."""
        text = text.strip()
        if len(text) > MAX_CHAT_LENGTH:
            self._table.hand.unsaid = text
            self._table.hand.begin_chat()
            self._desk.say(describe_too_long(text))
        elif text:
            self._desk.start(self._say(text))

    async def _say(self, text: str) -> None:
        """Say it; what is refused comes back into the line, or with the next one where a key was pressed meanwhile."""
        hand, keys = self._table.hand, self._table.hand.keys
        if told := (await self._table.actions.do(Verb("chat", text))).lines:
            hand.unsaid = text
            if hand.keys == keys and hand.mode == "board":
                hand.begin_chat()
            self._desk.say(told[0])

    async def _do(self, intent: Intent) -> None:
        before = self._table.actions.timeline
        told = (await self._table.actions.do(intent)).lines
        if self._table.actions.timeline is not before:
            if intent == Look("mistake", 1) or intent == Look("mistake", -1):
                self._table.review.switch(on=True)
            self._at_another_moment()
        if len(told) > 1:
            self._table.tell(*told)
        if told:
            self._desk.say(told[0])
        self._desk.redraw()

    def back(self) -> None:
        """Drop what is typed, hide values, return to the present, else leave, asking where that loses a game."""
        hand, table = self._table.hand, self._table
        if hand.errand is not None:
            self.home()
        elif hand.ahead.text:
            hand.ahead.clear()
        elif self.close_review():
            return
        elif table.timeline.is_back and table.record is None:
            self.at_present()
        else:
            self.leave()

    def confirm(self) -> None:
        """Do what was asked about."""
        what = self._table.hand.confirming
        if what == "resign":
            self.do(Verb("resign"))
        elif what == "quit":
            self._desk.quit_after_all()
        elif what == "another":
            self.to_another()
        elif what == "leave":
            self.home()
        self._table.hand.confirming = None

    def _leave(self) -> None:
        """Leave the room in so many words: from wherever one looks, and asking where it loses a game."""
        self._table.hand.ahead.clear()
        self.at_present()
        self.back()

    def open_help(self) -> None:
        """Lay the page of keys and words on top."""
        self._desk.open(HelpScreen(self._screen.list_help()))

    # -- ways out -----------------------------------------------------------------------------------------------------

    def leave(self) -> None:
        """Go home, asking where that loses a game."""
        if self._loses_game():
            self._table.hand.confirming = "leave"
        else:
            self.home()

    def asks_first(self) -> bool:
        """Ask before the program ends, with the board in sight, where that loses a game; tell whether it is asked."""
        if not self._loses_game() or self._table.hand.confirming == "quit":
            return False
        while self._desk.screens[-1] is not self._screen:
            self._desk.close_page()
        self._table.hand.confirming = "quit"
        return True

    def home(self) -> None:
        """Go home at once; the server hears of it meanwhile.

        A game that goes on without a connection is not lost by this: the program ends and says how to come back.
        """
        if self._desk.link.phase == "away" and self._table.plays:
            self._desk.leave(ExitCode.CONNECTION_LOST)
            return
        self._close_page()
        if self._table.room.ended is None:
            self._desk.start(self._table.room.leave())

    def to_another(self) -> None:
        """Look for another opponent in the same way as before, asking where that loses a game."""
        if self._again is None:
            self._desk.say("There is nobody to look for here.")
        elif self._loses_game() and self._table.hand.confirming != "another":
            self._table.hand.confirming = "another"
        else:
            again = self._again
            errand = "Opening a private room" if again.private and not again.bots else "Looking for another opponent"
            self._set_out(errand, again.enter)

    def to_computer(self) -> None:
        """Open the same room again with the computer in the free seats; the waiting one closes.

        Only a room that opens can have bots, so it has another code, of which those are told who sent the old one.
        """
        state, seat = self._table.state, self._table.seat
        if state is not None:
            rules, terms = state.rules.to_rules(), state.time_control
            clock = ClockFields(**asdict(terms)) if terms is not None else None
            bots = ("medium",) * (len(rules.marks) - 1)
            same = Choice(
                "create",
                rules,
                clock,
                state.visibility == "private",
                seat,
                bots,
                analysis="open" if state.analysis == "open" else "closed",
                chat="players" if state.chat == "players" else "all",
            )
            self._set_out(describe_errand(same), same.enter, "Room {} now, with the computer.")

    @property
    def another(self) -> str:
        """What would be played next with somebody else, in words; empty for nothing."""
        return describe_another(self._again)

    def _loses_game(self) -> bool:
        return self._table.plays and self._desk.link.phase != "away"

    def _close_page(self) -> None:
        while self._screen in self._desk.screens:
            is_first = self._desk.screens[0] is self._desk.screens[-1]
            self._desk.close_page()
            if is_first:
                return

    def _set_out(self, errand: str, enter: Enter, news: str = "") -> None:
        if not self._desk.errands.errand:
            self._table.hand.errand = errand
            coming = self._desk.errands.fetch(errand, enter)
            self._desk.start(self._go_over(coming, news, may_lose=self._table.plays))

    async def _go_over(self, coming: Coroutine[Any, Any, Room | None], news: str, *, may_lose: bool) -> None:
        """Enter the other room, tell the news with its code there, and leave this one.

        Whoever has gone home meanwhile wants neither room. Where a game has begun here meanwhile it is played, unless
        one was to be lost anyway, which `may_lose` says.
        """
        try:
            room = await coming
        except ClientError:
            if self._table.room.ended is not None and self._screen in self._desk.screens:
                self._desk.go_home()
            raise
        finally:
            self._table.hand.errand = None
        if room is None or room is self._table.room:
            return
        if self._table.plays and not may_lose:
            self._desk.say("Somebody has come meanwhile: the game is on.")
            await room.leave()
            return
        self._close_page()
        self._sit_down(room, news.format(room.code))
        if self._table.room.ended is None:
            await self._table.room.leave()
