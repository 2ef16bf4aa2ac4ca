"""A room on the screen: waiting for others, playing, watching, and looking back at what was played."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tictactoe_client.board import BoardView
from tictactoe_client.dialogue import Dialogue
from tictactoe_client.errors import ClientError, Refused
from tictactoe_client.events import Back, Gone
from tictactoe_client.guide import describe_giving_up
from tictactoe_client.messages import Message
from tictactoe_client.room import Room
from tictactoe_client.settings import ExitCode
from tictactoe_client.tui.banners import game_banner, may_claim_by_letter
from tictactoe_client.tui.board_area import find_cell
from tictactoe_client.tui.game_view import GameView
from tictactoe_client.tui.page import Desk, Page
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.table import Table
from tictactoe_client.wording import list_free, name_of
from tictactoe_engine import FREE, Keys, Rules, format_cell, has_single_keys, parse_cell
from tictactoe_engine.errors import IllegalMove, UnknownNotation
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import ChatLine, Closed, Notice, Replaced, RoomState

if TYPE_CHECKING:
    from tictactoe_client.choosing import Choice

GOODBYE_SECONDS = 1.0
_ARROWS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
_BACK_SHOWN_SECONDS = 5.0


class GamePage(Page):
    """One room, entered; `again` is what to enter for another opponent, if anything."""

    def __init__(self, desk: Desk, room: Room, again: Choice | None = None) -> None:
        super().__init__(desk)
        assert desk.link.client is not None
        self.room = room
        self.table = Table(room.code, desk.link.client.player, room.moves)
        self.again = again
        self._dialogue = Dialogue(desk.settings, self.table.viewer, asks_back=False)
        self._view = GameView(desk, self.table, can_find_another=again is not None)
        self._said_hello_until = 0.0
        self._returned: Back | None = None
        self._before_return: RoomState | None = None
        if room.state is not None:
            self._take_state(room.state)
        if room.seat is not None:
            desk.link.keep_seat(room.code, room.seat)

    # -- what the desk asks ---------------------------------------------------------------------------------------

    @property
    def window_title(self) -> str:
        """Say in the window's title whose move it is."""
        return "● your move: tictactoe" if self.table.is_my_turn else f"{self.room.code}: tictactoe"

    @property
    def seconds_to_change(self) -> float | None:
        """Clocks, holds, waits and notices count by the second."""
        state, now = self.table.state, self.desk.now()
        counts = self.desk.link.phase != "online" or now < self._said_hello_until
        if state is not None:
            counts = counts or state.status == "waiting" or (state.clock is not None and state.status == "playing")
            counts = counts or any(self.table.hold_ms(mark, now) for mark in state.seats)
        return 1.0 if counts else None

    def hear(self, message: Message) -> None:
        """Take what concerns this room."""
        push, event = message.push, message.event
        if isinstance(event, Back):
            self._returned, self._before_return = event, self.table.state
        elif isinstance(event, Gone) and event.room == self.room.code:
            self._end_room(clean_text(event.refused.message))
        elif isinstance(push, Notice):
            self.desk.say("The server is about to restart.")
        if getattr(push, "room", None) != self.room.code:
            return
        if isinstance(push, RoomState):
            self._take_state(push)
        elif isinstance(push, ChatLine):
            self.table.hear(push)
        elif isinstance(push, Closed):
            self._end_room(f"Room {self.room.code} is closed: {clean_text(push.reason)}")
        elif isinstance(push, Replaced):
            self._end_room("A newer connection of yours has taken over your seat.")

    def connected(self) -> None:
        """On a wholly new conversation the room must be entered anew; that is for the home page to offer."""
        self.desk.go_home()

    def tick(self) -> None:
        """Take the welcome off when it has been read."""
        if 0 < self._said_hello_until <= self.desk.now():
            self._said_hello_until = 0.0
            self.desk.hush()

    def closed(self) -> None:
        """Nothing of ours is left here."""
        self.desk.link.forget_seat(self.room.code)

    async def say_goodbye(self) -> None:
        """Leave, so that nobody waits for us in vain; a server that does not answer is not waited for."""
        if self.desk.link.phase != "online" or self.room.ended is not None:
            return
        try:
            async with asyncio.timeout(GOODBYE_SECONDS):
                await self.room.leave()
        except (TimeoutError, ClientError):
            return
        self.desk.link.forget_seat(self.room.code)

    # -- states ---------------------------------------------------------------------------------------------------

    def _take_state(self, state: RoomState) -> None:
        was_mine, old = self.table.is_my_turn, self.table.state
        if self.table.take(state, self.desk.now()):
            self.desk.run(self._learn_moves())
        if self._view.pending is not None and (state.board[self._view.pending[0]] != FREE or state.status != "playing"):
            self._view.pending = None
        if self._view.cursor is not None and self._view.cursor >= len(state.board):
            self._view.cursor = None
        if old is not None and (old.ply, old.turn, old.status) != (state.ply, state.turn, state.status):
            self.desk.hush()
        if self._returned is not None:
            self._welcome_back(state)
        if self.table.is_my_turn and not was_mine and (old is None or old.status != "waiting" or state.ply == 0):
            self.desk.ring()
        if old is not None and old.game != state.game and self.table.seat is not None:
            self.desk.link.keep_seat(self.room.code, self.table.seat)

    async def _learn_moves(self) -> None:
        moves = await self.room.sync()
        state = self.table.state
        if state is not None and len(moves) >= len(self.table.moves):
            self.table.moves = moves[: state.ply]
        self.desk.redraw()

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
        self.desk.say(f"{tick}Back after {seconds} s. {missed}", "good")
        self._said_hello_until = self.desk.now() + _BACK_SHOWN_SECONDS

    def _end_room(self, why: str) -> None:
        if self in self.desk.pages:
            self.desk.go_home()
            self.desk.say(why)

    # -- keys -----------------------------------------------------------------------------------------------------

    def press(self, key: str) -> None:
        """Take a key: for the line being typed, else for what is asked, else for the board."""
        does = self.desk.keymap.does
        if does(key, "leave"):
            self._leave_hard()
        elif self._view.mode != "board":
            self._press_line(key)
        elif self._view.confirming is not None:
            self._press_confirming(key)
        elif self.desk.link.phase == "away" and key == "r":
            self.desk.link.retry()
        elif does(key, "chat"):
            self._view.mode = "chat"
        elif does(key, "command"):
            self._view.mode = "command"
        elif does(key, "help"):
            self._open_help()
        elif does(key, "back"):
            self._go_back()
        elif self.table.state is None or self._press_for_status(key, self.table.state):
            return
        else:
            self._press_ahead(key, self.table.state)

    def paste(self, text: str) -> None:
        """Pasted text goes into the line that is open."""
        (self._view.ahead if self._view.mode == "board" else self._view.line).type(text)

    def click(self, x: int, y: int) -> None:
        """A click places at once on 3x3; on larger boards it chooses, and a second one places."""
        state = self.table.state
        if state is None or self._view.fit is None or state.status != "playing" or self._view.mode != "board":
            return
        view = BoardView.of(state)
        cell = find_cell(x - self._view.corner[0], y - self._view.corner[1], view, self._view.fit)
        if cell is None:
            return
        small = has_single_keys(state.rules.to_rules())
        is_second = cell == self._view.cursor
        self._view.cursor = cell
        if (small and not self.desk.settings.confirm) or is_second:
            self._place(cell)

    def scroll(self, lines: int) -> None:
        """The wheel moves the cursor, and so the board."""
        if self.table.state is not None:
            self._move_cursor((lines, 0), self.table.state)

    def _press_for_status(self, key: str, state: RoomState) -> bool:
        """Take the keys that belong to what is going on in the room; tell whether it was one."""
        keymap = self.desk.keymap
        if state.status == "waiting" and self.table.seat is not None:
            return self._press_waiting(key)
        if state.status == "over" or self.table.seat is None:
            if self._press_looking_back(key):
                return True
            if state.status == "over" and self.table.seat is not None:
                return self._press_over(key)
            return False
        action = "accept" if keymap.does(key, "accept") else "decline" if keymap.does(key, "decline") else None
        if action is not None:
            self._answer_offer(action, state)
            return True
        banner = game_banner(self.table, keymap, self.desk.now())
        if banner is not None and "claim" in banner[0] and may_claim_by_letter(self.table) and key in ("w", "d"):
            self._command("claim" if key == "w" else "claim draw")
            return True
        return False

    def _press_waiting(self, key: str) -> bool:
        if key == "y":
            link = self._view.link_for_others()
            self.desk.copy(link)
            self.desk.say(f"Copied: {link}", "good")
        elif key == "Q":
            self._view.shows_code = not self._view.shows_code
        elif key == "b":
            self.desk.run(self._let_computer_in())
        else:
            return False
        return True

    def _press_looking_back(self, key: str) -> bool:
        does = self.desk.keymap.does
        if does(key, "left"):
            self.table.step(-1)
        elif does(key, "right"):
            self.table.step(1)
        elif does(key, "end"):
            self.table.look_at_present()
        elif does(key, "home"):
            self.table.step(-len(self.table.moves))
        else:
            return False
        return True

    def _press_over(self, key: str) -> bool:
        if key == "r":
            self._command("rematch")
        elif key == "v":
            self.table.step(-1)
        elif key == "s":
            self._command("save")
        elif key == "n" and self.again is not None:
            self.desk.run(self._find_another())
        else:
            return False
        return True

    def _press_ahead(self, key: str, state: RoomState) -> None:
        """Take a key at the board: arrows, a cell by its key, or one more character of a typed move."""
        rules = state.rules.to_rules()
        keymap = self.desk.keymap
        arrow = next((step for action, step in _ARROWS.items() if keymap.does(key, action)), None)
        if arrow is not None:
            self._move_cursor(arrow, state)
        elif key == "enter" and self._view.ahead.text:
            self._submit_ahead(rules)
        elif keymap.does(key, "place"):
            if self._view.cursor is None:
                self._move_cursor((0, 0), state)
            else:
                self._place(self._view.cursor)
        elif has_single_keys(rules) and len(key) == 1:
            self._press_cell_key(key, rules)
        elif len(key) == 1 or key == "backspace":
            self._view.ahead.press(key)

    def _press_cell_key(self, key: str, rules: Rules) -> None:
        keys = self.desk.settings.keys if key.isdigit() and self.desk.settings.keys != Keys.LETTERS else Keys.PHONE
        try:
            self._place(parse_cell(key, rules, keys=keys if key.isdigit() else Keys.LETTERS))
        except IllegalMove as illegal:
            self.desk.say(illegal.message)
        except UnknownNotation:
            self.desk.say(f'I don\'t know "{key}". A move is 1-9 or qwe/asd/zxc; commands begin with :   ? for help.')

    def _submit_ahead(self, rules: Rules) -> None:
        settings = self.desk.settings
        try:
            cell = parse_cell(self._view.ahead.text, rules, coordinates=settings.coordinates)
        except (IllegalMove, UnknownNotation) as bad:
            self.desk.say(clean_text(bad.message))
            self._view.ahead.clear()
            return
        if self.table.is_my_turn:
            self._view.ahead.clear()
        self._place(cell)

    def _move_cursor(self, step: tuple[int, int], state: RoomState) -> None:
        """Move the cursor; the first time it stands on the last move, else in the centre."""
        rows, columns = state.rules.rows, state.rules.columns
        if self._view.cursor is None:
            self._view.cursor = state.last if state.last is not None else (rows // 2) * columns + columns // 2
            if state.last is None:
                return
        row, column = divmod(self._view.cursor, columns)
        row = min(max(row + step[0], 0), rows - 1)
        column = min(max(column + step[1], 0), columns - 1)
        self._view.cursor = row * columns + column

    def _press_line(self, key: str) -> None:
        """Take a key while something is being typed after ``:`` or to be said."""
        does = self.desk.keymap.does
        if does(key, "back") or (does(key, "chat") and self._view.mode == "chat"):
            self._view.mode = "board"
            self._view.line.clear()
        elif key == "enter":
            mode, self._view.mode = self._view.mode, "board"
            text = self._view.line.clear()
            if mode == "chat" and text.strip():
                self._command(f"chat {text}")
            elif mode == "command":
                self._command(text)
        elif key == "backspace" and not self._view.line.text:
            self._view.mode = "board"
        else:
            self._view.line.press(key)

    # -- deeds ----------------------------------------------------------------------------------------------------

    def _place(self, cell: int) -> None:
        """Send a move where one may be sent; else say why not."""
        state = self.table.state
        if state is None:
            return
        if self.table.seat is None:
            self.desk.say("You are watching: only players move.")
        elif state.status == "over":
            self.desk.say("The game is over. r rematch, n new opponent or Esc.")
        elif state.status == "waiting":
            self.desk.say("The game has not begun: a seat is free.")
        elif not self.table.is_my_turn:
            self.desk.say(f"It's {name_of(state, state.turn)}'s move.")
        elif self._view.pending is None:
            self._view.pending = (cell, state.turn or "")
            self.desk.run(self._send_move(cell, state))

    async def _send_move(self, cell: int, state: RoomState) -> None:
        try:
            await self.room.move(cell, ply=state.ply)
        except Refused as refused:
            free = f" {list_free(state, 9)}" if refused.code in ("occupied", "blocked", "floating") else ""
            self.desk.say(f"{clean_text(refused.message)}{free}")
            self._view.pending = None
        except ClientError:
            self._view.pending = None
            raise

    def _command(self, text: str) -> None:
        words = text.strip().lower()
        state = self.table.state
        if not words or state is None:
            return
        if words in ("resign", "leave", "quit", "exit") and self.table.is_live and words != "resign":
            self._view.confirming = "leave"
        elif words == "resign" and self.table.is_live:
            self._view.confirming = "resign"
        elif words in ("leave", "quit", "exit"):
            self._go_back()
        elif words == "new":
            if self.again is not None:
                self.desk.run(self._find_another())
        elif words in ("help", "h", "?"):
            self._open_help()
        else:
            self.desk.run(self._converse(text, state))

    async def _converse(self, text: str, state: RoomState) -> None:
        answer = await self._dialogue.answer(f":{text}", state, self.room)
        if len(answer.lines) > 1:
            self.table.talk.extend(answer.lines)
        if answer.lines:
            self.desk.say(answer.lines[0])
        self.desk.redraw()

    def _answer_offer(self, action: str, state: RoomState) -> None:
        if state.offers.draw not in (None, self.table.seat):
            self._command(f"draw {action}")
        elif state.offers.undo not in (None, self.table.seat):
            self._command(f"undo {action}")
        else:
            self.desk.say("There is no offer to answer.")

    def _open_help(self) -> None:
        from tictactoe_client.tui.help_page import HelpPage

        self.desk.open(HelpPage(self.desk, self.table.state))

    def _go_back(self) -> None:
        """Esc: drop what is typed, return to the present, else leave the room, asking where that loses a game."""
        if self._view.ahead.text:
            self._view.ahead.clear()
        elif self.table.shown_ply is not None:
            self.table.look_at_present()
        elif self.table.is_live:
            self._view.confirming = "leave"
        else:
            self._leave_page()

    def _leave_hard(self) -> None:
        """Ctrl+C: ask where it loses a game; the second time there is no asking."""
        if self.table.is_live and self._view.confirming != "quit":
            self._view.confirming = "quit"
        else:
            self.desk.leave(ExitCode.INTERRUPTED)

    def _press_confirming(self, key: str) -> None:
        what, self._view.confirming = self._view.confirming, None
        if key not in ("enter", "y"):
            return
        if what == "resign":
            self.desk.run(self.room.resign())
        elif what == "quit":
            self.desk.leave(ExitCode.INTERRUPTED)
        else:
            self._leave_page()

    def _leave_page(self) -> None:
        """Go home at once; the server hears of it meanwhile."""
        if self.desk.pages[-1] is self:
            self.desk.close_page()
        if self.room.ended is None and self.desk.link.phase == "online":
            self.desk.run(self.room.leave())
        elif self.desk.link.phase == "away" and self.table.seat is not None:
            address = self.desk.link.address
            text = describe_giving_up(self.table.state, self.table.viewer, address, "you left while it was lost")
            self.desk.leave(ExitCode.CONNECTION_LOST, text)

    async def _find_another(self) -> None:
        client, again = self.desk.link.client, self.again
        if client is None or again is None:
            return
        await self.room.leave()
        self.desk.close_page()
        self.desk.open(GamePage(self.desk, await again.enter(client), again))

    async def _let_computer_in(self) -> None:
        """Open the same room again with the computer in the free seats; the waiting one closes."""
        client, state = self.desk.link.client, self.table.state
        if client is None or state is None:
            return
        rules, seat = state.rules.to_rules(), self.table.seat
        room = await client.create(rules, seat=seat, bots=("medium",) * (len(rules.marks) - 1), private=True)
        await self.room.leave()
        self.desk.close_page()
        self.desk.open(GamePage(self.desk, room, self.again))

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the room as it is, or as it was at the moment that is looked back at."""
        self._view.draw(picture, status)
