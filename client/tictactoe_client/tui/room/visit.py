"""Being in a room: what happens there is heard here, and drawn once for all that happened at once; and the ways out.

What keys and clicks mean there is the `screen`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

from msgspec.structs import asdict

from tictactoe_client.board.board import drop_frames
from tictactoe_client.exits import note_game
from tictactoe_client.input.actions import Actions
from tictactoe_client.input.cells import landing_cell
from tictactoe_client.input.intents import Intent, Look, Place, Verb, describe_too_long
from tictactoe_client.input.record import RecordActions, RecordedRoom
from tictactoe_client.online import events
from tictactoe_client.online.client import Choice
from tictactoe_client.online.errors import ClientError
from tictactoe_client.online.room import Room
from tictactoe_client.settings import ExitCode
from tictactoe_client.text.arrival import describe_closing, describe_giving_up, describe_room_moved
from tictactoe_client.text.choices import can_play_again, open_offers
from tictactoe_client.text.talk import announce_chat
from tictactoe_client.text.worth import rank_cells
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.drawn import DrawnScreen
from tictactoe_client.tui.errands import describe_errand
from tictactoe_client.tui.room.ending import describe_farewell
from tictactoe_client.tui.room.review import Review
from tictactoe_client.tui.room.table import Table
from tictactoe_client.tui.room.view import RoomView
from tictactoe_engine import format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.codes import MAX_CHAT_LENGTH
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.requests import ClockFields
from tictactoe_protocol.wording import name_of, seat_of

_BACK_SHOWN_SECONDS = 5.0
_FRAME_SECONDS = 0.05
_MOST_FRAMES = 4
_SLOW_MS = 150
"""Over a link with a longer way than this nothing falls: it would come in fits."""
_MOST_CELLS_JUDGED = 42
"""On larger boards the turning point is not looked for: that takes too long."""


class Visit(DrawnScreen):
    """One room, entered, or a recorded game, first seen after `ply` moves, which needs no server.

    `again` is what to enter for another opponent, if anything, `news` what is told at once.
    """

    def __init__(self, desk: Desk, room: Room, again: Choice | None = None, news: str = "", ply: int = 0) -> None:
        client, settings = desk.link.client, replace(desk.settings, colour=False)
        aborts = client is not None and "abort" in client.features
        if isinstance(room, RecordedRoom):
            actions: Actions = RecordActions(room, settings, shows=True, tell=desk.say)
            actions.timeline = actions.timeline.jump(ply)
        else:
            actions = Actions(room, settings, shows=True, aborts=aborts, tell=desk.say)
        review = Review(actions, run=desk.start, tell=desk.say, redraw=self.redraw)
        self.room = room
        self.table = Table(room, actions, review, again)
        self.hand = self.table.hand
        self.view = RoomView(desk, self.table)
        super().__init__(self.hand.line)
        self.is_room = self.needs_server = self.table.record is None
        self._says_goodbye = False
        self.returned_until = 0.0
        self._returned: events.Back | None = None
        self._changes: list[events.Change] = []
        self._stop_hearing = room.subscribe(self._hear)
        self._news = news
        if room.seat is not None:
            desk.link.keep_room(room.code)

    def on_mount(self) -> None:
        if self._news and self.table.record is not None:
            self.desk.say(self._news)
        elif self._news:
            self._tell(self._news)

    # -- what happens in the room ---------------------------------------------------------------------------------

    def _hear(self, event: events.RoomEvent) -> None:
        """Take what happens in this room; what changed is drawn when all of one state has been told."""
        match event:
            case events.Change():
                self._changes.append(event)
                return
            case events.Updated():
                self._take_update(event)
            case events.Said(line) if self.table.actions.muted.hears(line):
                self._tell(announce_chat(line))
            case events.Lost():
                self.hand.returned = ""
            case events.Back():
                self.desk.status = None
                self._returned = event
            case events.RoomMoved(url=url):
                self._tell(describe_room_moved(url))
            case events.Gone(refused=refused):
                self._end_room(clean_text(refused.message))
            case events.Closed(reason):
                self._end_room(describe_closing(self.room.code, reason))
            case events.Replaced():
                self._end_room(say("taken over"))
        self.desk.redraw()

    def _tell(self, line: str) -> None:
        """Show a line until the next key, and keep it with what was said."""
        self.table.tell(line)
        self.hand.hear(line)

    def _take_update(self, update: events.Updated) -> None:
        old, state, table = update.old, update.state, self.table
        brought, self._changes = self._changes, []
        table.take(update, brought, monotonic())
        self.hand.follow(state)
        if not self.room.plays:
            self.hand.ahead, self.hand.question = "", None
        table.review.look()
        if old is not None and _moment(old) != _moment(state):
            self.desk.status = None
            self.hand.returned = ""
        if self._returned is not None:
            self._welcome_back(self._returned, old, state)
            self._returned = None
        if len(moved := [change for change in brought if isinstance(change, events.Moved)]) == 1:
            self._let_fall(moved[0].cell, state)
        if any(isinstance(change, events.Ended) for change in brought):
            self.desk.start(self._find_turning_point(state))
        was_mine = old is not None and old.turn is not None and old.turn == seat_of(old, self.room.viewer)
        if self.room.is_my_turn and not was_mine and (old is None or old.status != "waiting" or state.ply == 0):
            self.desk.ring()

    def _welcome_back(self, returned: events.Back, old: RoomState | None, state: RoomState) -> None:
        missed = say("nothing missed")
        if old is not None and state.last is not None and state.ply > old.ply:
            mark = state.board[state.last]
            if mark != self.room.seat:
                missed = f"{name_of(state, mark)} played {format_cell(state.last, state.rules.to_rules())}."
        self.hand.returned = f"✓ Back after {max(1, round(returned.seconds))} s. {missed}"
        self.returned_until = monotonic() + _BACK_SHOWN_SECONDS

    def _let_fall(self, cell: int, state: RoomState) -> None:
        is_slow = (self.desk.link.latency_ms or 0) > _SLOW_MS
        if state.rules.gravity and self.desk.settings.motion and not is_slow and self.is_current:
            self.table.falling = drop_frames(state.board, state.rules.columns, cell, _MOST_FRAMES)
            self.set_timer(_FRAME_SECONDS, self._fall_on)

    def _fall_on(self) -> None:
        self.table.falling = self.table.falling[1:]
        self.redraw()
        if self.table.falling:
            self.set_timer(_FRAME_SECONDS, self._fall_on)

    async def _find_turning_point(self, state: RoomState) -> None:
        judge, result = self.table.actions.judge, state.result
        if judge is None or result is None or len(state.board) > _MOST_CELLS_JUDGED:
            return
        mistake = await judge.find_turning_point(result.winner)
        if mistake is not None and self.room.state is not None and self.room.state.game == state.game:
            self.table.turning_point = mistake.describe(state.rules.to_rules())
            self.redraw()

    def _end_room(self, why: str) -> None:
        if self in self.desk.screens and not self.desk.errands.errand:
            self.desk.go_home()
            self.desk.say(why)

    # -- what the program asks ------------------------------------------------------------------------------------

    @property
    def window_title(self) -> str:
        if self.table.record is not None:
            return "replay: tictactoe"
        return "● your move: tictactoe" if self.room.is_my_turn else f"{self.room.code}: tictactoe"

    def connected(self) -> None:
        """On a wholly new conversation the room must be entered anew; that is for the home page to offer."""
        if self.table.record is None:
            self.desk.go_home()

    def closed(self) -> None:
        self._stop_hearing()
        self.desk.last_game = note_game(self.desk.last_game, self.room.state, self.room.viewer)
        self.desk.errands.give_up()
        self.table.review.switch(on=False)
        self.desk.link.forget_room(self.room.code)

    def describe_loss(self, reason: str) -> str:
        if not self.room.plays:
            return ""
        return describe_giving_up(self.room.state, self.room.viewer, self.desk.link.cluster.given.first, reason)

    def note_person(self) -> None:
        self.hand.note_key()

    async def say_goodbye(self, *, gives_up: bool) -> str:
        """Leave where one `gives_up`, so that nobody waits for us in vain, and return what became of the game.

        A server that does not answer is not waited for.
        """
        state, client = self.room.state, self.desk.link.client
        if not self._says_goodbye:
            self._says_goodbye = True
            self.desk.last_game = note_game(self.desk.last_game, state, self.room.viewer)
        if client is None or state is None or self.room.ended is not None or self.table.record is not None:
            return ""
        has_left = gives_up and await self.room.say_goodbye()
        if has_left:
            self.desk.link.forget_room(self.room.code)
        return describe_farewell(state, client, has_left=has_left, aborts=self.table.actions.aborts)

    # -- what the server hears ------------------------------------------------------------------------------------

    def play(self, cell: int) -> None:
        """Send a move where one may be sent; else say why not."""
        state = self.room.state
        if state is None:
            return
        if self.room.seat is not None and state.status == "over":
            self.desk.say(f"The game is over. {self._describe_ways_on(state)}.")
        elif why := self.table.actions.describe_obstacle(state):
            self.desk.say(why)
        elif self.hand.pending is None:
            target = landing_cell(state, cell)
            self.hand.pending = None if target is None else (target, state.turn or "")
            self.do(Place(cell))

    def _describe_ways_on(self, state: RoomState) -> str:
        show, another = self.desk.keymap.show, self.table.another
        ways = [f"{show('rematch')} rematch"] if can_play_again(state) else []
        ways += [f"{show('another')} {another}"] if another else []
        return f"{', '.join(ways)} or {show('back')}" if ways else f"{show('back')} goes home"

    def answer(self, verb: Verb) -> None:
        """Answer what is offered, or claim the game; the keys that follow place nothing for a moment."""
        state = self.room.state
        if verb.kind == "claim" or (state is not None and open_offers(state, self.room.viewer)):
            self.hand.answered(monotonic())
        self.do(verb)

    def say(self, text: str) -> None:
        """Say something to everybody in the room; what is too long stays in the line to be made shorter."""
        text = text.strip()
        if len(text) > MAX_CHAT_LENGTH:
            self.hand.line.begin_chat(text)
            self.desk.say(describe_too_long(text))
        elif text:
            self.do(Verb("chat", text))

    def do(self, intent: Intent) -> None:
        """Do what is wanted beside everything else, and tell what comes of it."""
        self.desk.start(self._do(intent))

    async def _do(self, intent: Intent) -> None:
        """A move that was not to be had goes out of its cell again; what was not said comes back into the line.

        It waits for the next line where a key was pressed meanwhile.
        """
        timeline, line, keys = self.table.actions.timeline, self.hand.line, self.hand.keys
        told: Sequence[str] = ()
        waits = isinstance(intent, Place) or (isinstance(intent, Verb) and intent.kind == "chat")
        is_offline = self.desk.link.phase == "away" and not waits  # what else needs the server is refused
        try:
            told = (await self.table.actions.do(intent, is_offline=is_offline)).lines
        except ClientError:
            self.hand.pending = None if isinstance(intent, Place) else self.hand.pending
            raise
        match intent:
            case Place() if told:
                self.hand.pending = None
            case Verb("chat", text) if told:
                line.unsaid = text
                if self.hand.keys == keys and not line.mode:
                    line.begin_chat()
            case Look("mistake") if self.table.actions.timeline is not timeline:
                self.table.review.switch(on=True)
        if self.table.actions.timeline is not timeline:
            self._at_another_moment()
            self.desk.redraw()
        if len(told) > 1:
            self.table.tell(*told)
        if told:
            self.desk.say(told[0])

    # -- looking on and looking back ------------------------------------------------------------------------------

    def switch_values(self) -> None:
        """Show what moves are worth, or no longer; at the end of a game from its last move on."""
        review = self.table.review
        if self.room.plays:
            self.desk.start(self.room.analyse())  # the server says what it says to one who plays
            return
        review.switch(on=not review.is_on)
        self.hand.cursor = None
        if self.table.situation == "over" and review.is_on and not self.table.actions.timeline.is_back:
            self.step(-1)

    def jump(self, ply: int) -> None:
        self.table.actions.timeline = self.table.actions.timeline.jump(ply)
        self._at_another_moment()

    def step(self, by: int) -> None:
        self.jump(self.table.actions.timeline.here + by)

    def at_present(self) -> None:
        self.jump(len(self.room.moves))

    def _at_another_moment(self) -> None:
        self.hand.cursor = None
        if self.table.record is not None:
            self.hand.ahead = ""
        self.table.review.look()

    def compare(self, by: int) -> None:
        """Point at the next worse or better move of the moment, first at the best one."""
        analysis, cursor = self.table.review.analysis, self.hand.cursor
        if analysis is not None and analysis.cells:
            cells = rank_cells(analysis)
            here = cells.index(cursor) + by if cursor in cells else 0
            self.hand.cursor = cells[max(0, min(here, len(cells) - 1))]

    def play_or_point(self, cell: int) -> None:
        """Place; where values are shown, ask for that of the cell."""
        if self.table.review.is_on:
            self.hand.cursor = cell
        else:
            self.play(cell)

    # -- ways out -------------------------------------------------------------------------------------------------

    @property
    def _loses_game(self) -> bool:
        return self.room.plays and self.desk.link.phase != "away"

    def ask_before(self, kind: str, deed: Callable[[], object]) -> None:
        """Do this, asking first where it loses the game."""
        if self._loses_game:
            self.hand.question = kind, deed
        else:
            deed()

    def asks_first(self, leave: Callable[[], None]) -> bool:
        """Ask before the program ends, with the board in sight, where that loses a game; tell whether it is asked."""
        if not self._loses_game or (self.hand.question is not None and self.hand.question[0] == "quit"):
            return False
        self.desk.go_back_to(self)
        self.hand.question = "quit", leave
        return True

    def go_home(self) -> None:
        """Go home at once; the server hears of it meanwhile.

        A game that goes on without a connection is not lost by this: the program ends and says how to come back.
        """
        if self.desk.link.phase == "away" and self.room.plays:
            self.desk.leave(ExitCode.CONNECTION_LOST)
            return
        self.desk.close(self)
        if self.room.ended is None:
            self.desk.start(self.room.leave())

    def go_to_another(self) -> None:
        """Look for another opponent in the same way as before, asking where that loses a game."""
        again = self.table.again
        if again is None:
            self.desk.say("There is nobody to look for here.")
            return
        errand = "Opening a private room" if again.private and not again.bots else "Looking for another opponent"
        self.ask_before("another", partial(self._set_out, errand, again))

    def go_to_computer(self) -> None:
        """Open the same room again with the computer in the free seats; the waiting one closes.

        Only a room that opens can have bots, so it has another code, of which those are told who sent the old one.
        """
        state = self.room.state
        if state is None:
            return
        rules, terms = state.rules.to_rules(), state.time_control
        same = Choice(
            "create",
            rules,
            ClockFields(**asdict(terms)) if terms is not None else None,
            state.visibility == "private",
            self.room.seat,
            ("medium",) * (len(rules.marks) - 1),
            analysis="open" if state.analysis == "open" else "closed",
            chat="players" if state.chat == "players" else "all",
        )
        self._set_out(describe_errand(same), same, "Room {} now, with the computer.")

    def _set_out(self, errand: str, choice: Choice, news: str = "") -> None:
        if not self.desk.errands.errand:
            coming = self.desk.errands.fetch(errand, choice.enter)
            self.desk.start(self._go_over(coming, news, may_lose=self.room.plays))

    async def _go_over(self, coming: Coroutine[Any, Any, Room | None], news: str, *, may_lose: bool) -> None:
        """Enter the other room, tell the news with its code there, and leave this one.

        Whoever has gone home meanwhile wants neither room. Where a game has begun here meanwhile it is played, unless
        one was to be lost anyway, which `may_lose` says.
        """
        try:
            room = await coming
        except ClientError:
            if self.room.ended is not None and self in self.desk.screens:
                self.desk.go_home()
            raise
        if room is None or room is self.room:
            return
        if self.room.plays and not may_lose:
            self.desk.say("Somebody has come meanwhile: the game is on.")
            await room.leave()
            return
        self.desk.close(self)
        self.desk.open(type(self)(self.desk, room, self.table.again, news.format(room.code)))
        if self.room.ended is None:
            await self.room.leave()


def _moment(state: RoomState) -> tuple[object, ...]:
    """Return what makes things that were said untrue once it is otherwise."""
    return state.ply, state.turn, state.status, can_play_again(state)
