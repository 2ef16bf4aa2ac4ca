"""A room on the screen: it hears what happens there and draws it; keys and deeds are its collaborators'."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tictactoe_client.input.actions import Actions
from tictactoe_client.input.record import RecordActions, RecordedRoom
from tictactoe_client.online.events import Back, Change, Closed, Gone, Lost, Replaced, RoomEvent, Said, Updated
from tictactoe_client.online.room import Room
from tictactoe_client.text.news import announce_chat
from tictactoe_client.text.wording import name_of, seat_of
from tictactoe_client.tui.page import Desk, Page
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.room.deeds import GameDeeds
from tictactoe_client.tui.room.farewell import describe_farewell
from tictactoe_client.tui.room.going import Going
from tictactoe_client.tui.room.hand import Hand
from tictactoe_client.tui.room.help import list_room_help
from tictactoe_client.tui.room.keys import GameKeys
from tictactoe_client.tui.room.looking import Looking
from tictactoe_client.tui.room.review import Review
from tictactoe_client.tui.room.table import Table
from tictactoe_client.tui.room.view import GameView
from tictactoe_engine import format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState

if TYPE_CHECKING:
    from tictactoe_client.online.choice import Choice

_BACK_SHOWN_SECONDS = 5.0


class GamePage(Page):
    """One room, entered, or a recorded game, first seen after `ply` moves, which needs no server.

    `again` is what to enter for another opponent, if anything, `news` what is told at once.
    """

    def __init__(self, desk: Desk, room: Room, again: Choice | None = None, news: str = "", ply: int = 0) -> None:
        super().__init__(desk)
        client, settings = desk.link.client, replace(desk.settings, colour=False)
        self.room = room
        self.needs_server = not isinstance(room, RecordedRoom)
        if isinstance(room, RecordedRoom):
            actions: Actions = RecordActions(room, settings, ply, shows=True)
        else:
            actions = Actions(room, settings, shows=True)
        self.table = Table(room, actions, aborts=client is not None and "abort" in client.features)
        self.again = again
        self._hand = Hand()
        self._review = Review(room, actions, run=desk.start, tell=desk.say, redraw=desk.redraw)
        looking = Looking(desk, room, self.table, self._hand, self._review)
        self._going = going = Going(
            desk, room, self.table, self._hand, looking, page=self, again=again, sit_down=self._sit_down
        )
        deeds = self._deeds = GameDeeds(desk, room, actions, self.table, self._hand, looking, going)
        self._view = GameView(desk, self.table, self._hand, self._review, another=going.another)
        self._keys = GameKeys(desk, self.table, self._hand, self._review, looking, deeds, going, self._view)
        self._says_goodbye = False
        self._returned_until = 0.0
        self._returned: Back | None = None
        self._before_return: RoomState | None = None
        self._changes: list[Change] = []
        self._stop_hearing = room.subscribe(self._hear)
        self._note = news if self.table.record is not None else ""
        if news and not self._note:
            self.table.tell(news)
            self._hand.hear(news)
        if room.seat is not None:
            desk.link.keep_room(room.code)

    # -- what the desk asks ---------------------------------------------------------------------------------------

    @property
    def window_title(self) -> str:
        """Say in the window's title whose move it is."""
        if self.table.record is not None:
            return "replay: tictactoe"
        return "● your move: tictactoe" if self.table.is_my_turn else f"{self.room.code}: tictactoe"

    def list_help(self) -> list[str]:
        """Return the help for this room's board, once it is known."""
        if self.table.state is None:
            return super().list_help()
        return list_room_help(self.table.state, self.desk.keymap, self.desk.settings)

    @property
    def question(self) -> str:
        """What is asked before a game is lost."""
        return self._view.foot.question

    @property
    def seconds_to_change(self) -> float | None:
        """Clocks, holds, waits and notices count by the second."""
        state, now = self.table.state, self.desk.now()
        if self.table.record is not None:
            return None
        counts = self.desk.link.phase != "online" or bool(self._hand.returned)
        if state is not None:
            counts = counts or state.status == "waiting" or (state.clock is not None and state.status == "playing")
            counts = counts or any(self.table.hold_ms(mark, now) for mark in state.seats)
        return 1.0 if counts else None

    def _hear(self, event: RoomEvent) -> None:
        """Take what happens in this room."""
        match event:
            case Change():
                self._changes.append(event)
                return
            case Updated():
                self._take_update(event)
            case Said(line) if self._deeds.hears(line):
                self.table.hear(line)
                self._hand.hear(announce_chat(line))
            case Lost():
                self._hand.returned = ""
            case Back():
                self._returned, self._before_return = event, self.table.state
            case Gone(refused=refused):
                self._end_room(clean_text(refused.message))
            case Closed(reason):
                self._end_room(f"Room {self.room.code} is closed: {clean_text(reason)}")
            case Replaced():
                self._end_room("A newer connection of yours has taken over your seat.")
        self.desk.redraw()

    def connected(self) -> None:
        """On a wholly new conversation the room must be entered anew; that is for the home page to offer."""
        if self.needs_server:
            self.desk.go_home()

    def tick(self) -> None:
        """Take the welcome off when it has been read; over a line that is being typed it stays until that is done."""
        if self._returned_until <= self.desk.now() and self._hand.mode == "board":
            self._hand.returned = ""

    def closed(self) -> None:
        """Nothing of ours is left here."""
        self._stop_hearing()
        self._review.switch(on=False)
        if self.table.record is not None:
            return
        self.desk.last_game.note(self.table.state, self.table.viewer)
        if self._hand.errand is not None:
            self.desk.entering.give_up()
        self.desk.link.forget_room(self.room.code)

    def asks_first(self) -> bool:
        """Ask where the end of the program loses a game; the key that would end it counts like any other here."""
        self._hand.note_key()
        return self._going.asks_first()

    async def say_goodbye(self) -> str:
        """Leave, so that nobody waits for us in vain, and return what became of the game.

        A server that does not answer is not waited for.
        """
        state, address = self.table.state, self.desk.link.address
        if self.table.record is not None:
            return ""
        if not self._says_goodbye:
            self._says_goodbye = True
            self.desk.last_game.note(state, self.table.viewer)
        if state is None or self.room.ended is not None:
            return ""
        is_told = self.desk.link.phase == "online" and await self.room.say_goodbye()
        if is_told:
            self.desk.link.forget_room(self.room.code)
        return describe_farewell(state, self.table.viewer, address, is_told=is_told, aborts=self.table.aborts)

    # -- states ---------------------------------------------------------------------------------------------------

    def _take_update(self, update: Updated) -> None:
        old, state = update.old, update.state
        brought, self._changes = self._changes, []
        self.table.take(update, brought, self.desk.now())
        self._hand.follow(state)
        if not self.table.plays:
            self._hand.ahead.clear()
        self._review.look()
        if old is not None and (old.ply, old.turn, old.status) != (state.ply, state.turn, state.status):
            self.desk.hush()
            self._hand.returned = ""
        if self._returned is not None:
            self._welcome_back(state)
        was_mine = old is not None and old.turn is not None and old.turn == seat_of(old, self.room.viewer)
        if self.table.is_my_turn and not was_mine and (old is None or old.status != "waiting" or state.ply == 0):
            self.desk.ring()

    def _welcome_back(self, state: RoomState) -> None:
        returned, before, self._returned = self._returned, self._before_return, None
        assert returned is not None
        seconds = max(1, round(returned.seconds))
        missed = "Nothing was missed."
        if before is not None and state.last is not None and state.ply > before.ply:
            mark = state.board[state.last]
            if mark != self.table.seat:
                missed = f"{name_of(state, mark)} played {format_cell(state.last, state.rules.to_rules())}."
        tick = "" if self.desk.settings.ascii else "✓ "
        self._hand.returned = f"{tick}Back after {seconds} s. {missed}"
        self._returned_until = self.desk.now() + _BACK_SHOWN_SECONDS

    def _end_room(self, why: str) -> None:
        if self in self.desk.pages and self._hand.errand is None:
            self.desk.go_home()
            self.desk.say(why)

    # -- keys -----------------------------------------------------------------------------------------------------

    def press(self, key: str) -> None:
        """Take a key."""
        self._note = ""
        self._keys.press(key)

    def paste(self, text: str) -> None:
        """Take pasted text."""
        self._keys.paste(text)

    def click(self, x: int, y: int) -> None:
        """Take a click."""
        self._keys.click(x, y)

    def scroll(self, lines: int) -> None:
        """Take a turn of the wheel."""
        self._keys.scroll(lines)

    def needed_size(self) -> tuple[int, int]:
        """Return what the board needs."""
        return self._view.needed_size() or super().needed_size()

    def wanted_size(self, width: int, height: int) -> tuple[int, int]:
        """Return what the board can use with all that stands about it."""
        return self._view.wanted_size(width, height) or super().wanted_size(width, height)

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the room as it is, or as it was at the moment that is looked back at."""
        self._view.draw(picture, status or ((self._note, "warn") if self._note else None))

    def _sit_down(self, room: Room, news: str) -> None:
        self.desk.open(GamePage(self.desk, room, self.again, news))
