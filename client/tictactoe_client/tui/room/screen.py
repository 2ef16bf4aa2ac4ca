"""A room on the screen: what happens there is heard here, and drawn once for all that happened at once.

Keys and clicks are `keys`', what one does by them is `deeds`', how it looks is `view`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from textual import events
from textual.geometry import Region

from tictactoe_client.board.board import drop_frames
from tictactoe_client.input.actions import Actions
from tictactoe_client.input.record import RecordActions, RecordedRoom
from tictactoe_client.online.client import Choice
from tictactoe_client.online.events import (
    Back,
    Change,
    Closed,
    Ended,
    Gone,
    Lost,
    Moved,
    Replaced,
    RoomEvent,
    Said,
    Updated,
)
from tictactoe_client.online.room import Room
from tictactoe_client.text.arrival import TAKEN_OVER, describe_closing, describe_giving_up
from tictactoe_client.text.help import Topic, list_room_help
from tictactoe_client.text.news import can_play_again
from tictactoe_client.text.talk import announce_chat
from tictactoe_client.text.wording import NOTHING_MISSED
from tictactoe_client.text.worth import describe_mistake
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.room.banners import confirm_banner
from tictactoe_client.tui.room.deeds import Deeds
from tictactoe_client.tui.room.ending import describe_farewell
from tictactoe_client.tui.room.keys import RoomKeys
from tictactoe_client.tui.room.review import Review
from tictactoe_client.tui.room.table import Table
from tictactoe_client.tui.room.view import RoomView
from tictactoe_client.tui.screen import DrawnScreen
from tictactoe_engine import format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.wording import name_of, seat_of

_BACK_SHOWN_SECONDS = 5.0
_FRAME_SECONDS = 0.05
_MOST_FRAMES = 4
_SLOW_MS = 150
"""Over a link with a longer way than this nothing falls: it would come in fits."""
_MOST_CELLS_JUDGED = 42
"""On larger boards the turning point is not looked for: that takes too long."""


class RoomScreen(DrawnScreen):
    """One room, entered, or a recorded game, first seen after `ply` moves, which needs no server.

    `again` is what to enter for another opponent, if anything, `news` what is told at once.
    """

    def __init__(self, desk: Desk, room: Room, again: Choice | None = None, news: str = "", ply: int = 0) -> None:
        super().__init__()
        client, settings = desk.link.client, replace(desk.settings, colour=False)
        self.is_room = self.needs_server = not isinstance(room, RecordedRoom)
        aborts = client is not None and "abort" in client.features
        if isinstance(room, RecordedRoom):
            actions: Actions = RecordActions(room, settings, shows=True, tell=desk.say)
            actions.timeline = actions.timeline.jump(ply)
        else:
            actions = Actions(room, settings, shows=True, aborts=aborts, tell=desk.say)
        review = Review(room, actions, run=desk.start, tell=desk.say, redraw=self.redraw)
        self.room = room
        self.again = again
        self.table = Table(room, actions, review)
        self._desk = desk
        self._deeds = Deeds(desk, self.table, self, again, self.sit_down)
        self._view = RoomView(desk, self.table, another=self._deeds.another)
        self._keys = RoomKeys(desk, self.table, self._deeds, self._view)
        self._says_goodbye = False
        self._returned_until = 0.0
        self._returned: Back | None = None
        self._changes: list[Change] = []
        self._stop_hearing = room.subscribe(self._hear)
        self._note = news if self.table.record is not None else ""
        if news and not self._note:
            self.table.tell(news)
            self.table.hand.hear(news)
        if room.seat is not None:
            desk.link.keep_room(room.code)

    # -- what happens in the room ---------------------------------------------------------------------------------

    def _hear(self, event: RoomEvent) -> None:
        """Take what happens in this room; what changed is drawn when all of one state has been told."""
        match event:
            case Change():
                self._changes.append(event)
                return
            case Updated():
                self._take_update(event)
            case Said(line) if self.table.actions.muted.hears(line):
                said = announce_chat(line)
                self.table.tell(said)
                self.table.hand.hear(said)
            case Lost():
                self.table.hand.returned = ""
            case Back():
                self._desk.hush()
                self._returned = event
            case Gone(refused=refused):
                self._end_room(clean_text(refused.message))
            case Closed(reason):
                self._end_room(describe_closing(self.room.code, reason))
            case Replaced():
                self._end_room(TAKEN_OVER)
        self._desk.redraw()

    def _take_update(self, update: Updated) -> None:
        old, state, table = update.old, update.state, self.table
        brought, self._changes = self._changes, []
        table.take(update, brought, self._desk.now())
        table.hand.follow(state)
        if not self.room.plays:
            table.hand.ahead.clear()
        table.review.look()
        if old is not None and _moment(old) != _moment(state):
            self._desk.hush()
            table.hand.returned = ""
        if self._returned is not None:
            self._welcome_back(self._returned, old, state)
            self._returned = None
        if len(moved := [change for change in brought if isinstance(change, Moved)]) == 1:
            self._let_fall(moved[0].cell, state)
        if any(isinstance(change, Ended) for change in brought):
            self._desk.start(self._find_turning_point(state))
        was_mine = old is not None and old.turn is not None and old.turn == seat_of(old, self.room.viewer)
        if self.room.is_my_turn and not was_mine and (old is None or old.status != "waiting" or state.ply == 0):
            self._desk.ring()

    def _welcome_back(self, returned: Back, old: RoomState | None, state: RoomState) -> None:
        missed = NOTHING_MISSED
        if old is not None and state.last is not None and state.ply > old.ply:
            mark = state.board[state.last]
            if mark != self.room.seat:
                missed = f"{name_of(state, mark)} played {format_cell(state.last, state.rules.to_rules())}."
        tick = "" if self._desk.settings.ascii else "✓ "
        self.table.hand.returned = f"{tick}Back after {max(1, round(returned.seconds))} s. {missed}"
        self._returned_until = self._desk.now() + _BACK_SHOWN_SECONDS

    def _let_fall(self, cell: int, state: RoomState) -> None:
        """Show a mark on its way down, where marks fall and whoever looks wants to see it."""
        is_slow = (self._desk.link.latency_ms or 0) > _SLOW_MS
        if state.rules.gravity and self._desk.settings.motion and not is_slow and self.is_in_sight:
            self.table.falling = drop_frames(state.board, state.rules.columns, cell, _MOST_FRAMES)
            self.set_timer(_FRAME_SECONDS, self._fall_on)

    def _fall_on(self) -> None:
        self.table.falling = self.table.falling[1:]
        self.redraw()
        if self.table.falling:
            self.set_timer(_FRAME_SECONDS, self._fall_on)

    async def _find_turning_point(self, state: RoomState) -> None:
        """Find out where the game that is over was decided, to tell it beside the board."""
        judge, result = self.table.actions.judge, state.result
        if judge is None or result is None or len(state.board) > _MOST_CELLS_JUDGED:
            return
        mistake = await judge.find_turning_point(result.winner)
        if mistake is not None and self.room.state is not None and self.room.state.game == state.game:
            rules = state.rules.to_rules()
            self.table.turning_point = describe_mistake(mistake.ply, mistake.cell, mistake.before, rules)
            self.redraw()

    def _end_room(self, why: str) -> None:
        if self in self._desk.screens and self.table.hand.errand is None:
            self._desk.go_home()
            self._desk.say(why)

    # -- what the program asks ------------------------------------------------------------------------------------

    @property
    def window_title(self) -> str:
        """Say in the window's title whose move it is."""
        if self.table.record is not None:
            return "replay: tictactoe"
        return "● your move: tictactoe" if self.room.is_my_turn else f"{self.room.code}: tictactoe"

    def connected(self) -> None:
        """On a wholly new conversation the room must be entered anew; that is for the home page to offer."""
        if self.table.record is None:
            self._desk.go_home()

    def closed(self) -> None:
        """Nothing of ours is left here."""
        self._stop_hearing()
        self._desk.last_game.note(self.room.state, self.room.viewer)
        if self.table.hand.errand is not None:
            self._desk.errands.give_up()
        self.table.review.switch(on=False)
        self._desk.link.forget_room(self.room.code)

    def describe_loss(self, reason: str) -> str:
        """Say that the game could not be gone back to, where we play one."""
        if not self.room.plays:
            return ""
        return describe_giving_up(self.room.state, self.room.viewer, self._desk.link.address, reason)

    def asks_first(self) -> bool:
        """Ask where the end of the program loses a game."""
        return self._deeds.asks_first()

    def note_person(self) -> None:
        """Take what was told for seen, before a drawing tells what comes next."""
        self._note = ""
        self.table.hand.note_key()

    async def say_goodbye(self) -> str:
        """Leave, so that nobody waits for us in vain, and return what became of the game.

        A server that does not answer is not waited for.
        """
        state, address = self.room.state, self._desk.link.address
        if not self._says_goodbye:
            self._says_goodbye = True
            self._desk.last_game.note(state, self.room.viewer)
        if state is None or self.room.ended is not None or self.table.record is not None:
            return ""
        is_told = self._desk.link.phase == "online" and await self.room.say_goodbye()
        if is_told:
            self._desk.link.forget_room(self.room.code)
        return describe_farewell(state, self.room.viewer, address, is_told=is_told, aborts=self.table.actions.aborts)

    def sit_down(self, room: Room, news: str) -> None:
        """Open the screen of another room, and tell the news there."""
        self._desk.open(RoomScreen(self._desk, room, self.again, news))

    def list_help(self) -> Sequence[Topic]:
        """Return the help for this room's board, once it is known."""
        state, settings = self.room.state, self._desk.settings
        if state is None:
            return ()
        show = partial(self._desk.keymap.show, ascii_only=settings.ascii)
        return list_room_help(state.rules.to_rules(), settings, show, plays=self.room.seat is not None)

    # -- what is drawn --------------------------------------------------------------------------------------------

    def needed_size(self) -> tuple[int, int]:
        """Return the smallest window for this room's board, or for its invitation."""
        return self._view.needed_size()

    def describe_question(self) -> str:
        """Return what is asked before a game is given up."""
        asked = confirm_banner(self.table, self._desk.keymap)
        return asked[0] if asked is not None else ""

    def place(self, width: int, height: int) -> Region:
        """Return where the room stands in a window of this size."""
        return self._view.place(width, height)

    def paint(self, page: Picture) -> None:
        """Draw the room."""
        self._view.draw(page, self._desk.status or ((self._note, "warn") if self._note else None))

    def tick(self) -> None:
        """Show what time changes; a welcome goes when it was read, over a line that is typed when that is done."""
        hand, state, now = self.table.hand, self.room.state, self._desk.now()
        if self.table.record is not None or state is None:
            return
        has_returned = bool(hand.returned)
        if self._returned_until <= now and hand.mode == "board":
            hand.returned = ""
        is_timed = state.status == "waiting" or (state.clock is not None and state.status == "playing")
        is_held = any(self.table.hold_ms(mark, now) for mark in state.seats)
        if is_timed or is_held or has_returned or self._desk.link.phase != "online":
            self._desk.redraw()

    # -- keys -----------------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Take a key: a character, or the name of another one."""
        event.stop()
        event.prevent_default()
        character = event.character or ""
        is_text = len(character) == 1 and character.isprintable() and character != " " and "alt+" not in event.key
        if not self.is_small:
            self._desk.attempt(self._keys.press, character if is_text else event.key)

    def on_paste(self, event: events.Paste) -> None:
        """Take pasted text."""
        self._desk.attempt(self._keys.paste, event.text)

    def on_click(self, event: events.Click) -> None:
        """Take a click; beside the stage there is nothing to click."""
        if (place := self.find(event)) is not None:
            self._desk.attempt(self._keys.click, *place)

    def on_mouse_scroll_down(self) -> None:
        """Take a turn of the wheel."""
        self._desk.attempt(self._keys.scroll, 1)

    def on_mouse_scroll_up(self) -> None:
        """Take a turn of the wheel."""
        self._desk.attempt(self._keys.scroll, -1)


def _moment(state: RoomState) -> tuple[object, ...]:
    """Return what makes things that were said untrue once it is otherwise."""
    return state.ply, state.turn, state.status, can_play_again(state)
