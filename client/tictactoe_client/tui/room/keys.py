"""What keys, clicks and the wheel mean in a room: that depends on what is going on there and on what is in hand.

It sends nothing itself: whatever concerns the server is one of the `Deeds`.
"""

from __future__ import annotations

from tictactoe_client.board.board import BoardView
from tictactoe_client.input.intents import Look, Save, Verb, VerbKind
from tictactoe_client.text.news import open_offers
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.room.banners import may_claim_by_key
from tictactoe_client.tui.room.cell_keys import CellKeys
from tictactoe_client.tui.room.deeds import Deeds
from tictactoe_client.tui.room.desk import Desk
from tictactoe_client.tui.room.table import Table
from tictactoe_client.tui.room.view import RoomView
from tictactoe_client.tui.room.ways_out import WaysOut
from tictactoe_engine import has_single_keys
from tictactoe_protocol.pushes import RoomState


class RoomKeys:
    """Keys for one room; `view` knows where the board was drawn."""

    def __init__(self, desk: Desk, table: Table, deeds: Deeds, ways: WaysOut, view: RoomView) -> None:
        self._desk = desk
        self._table = table
        self._deeds = deeds
        self._ways = ways
        self._view = view
        self._cells = CellKeys(desk, table, deeds)

    def press(self, key: str) -> None:
        """Take a key: for the line being typed, else for what is asked, else for the board."""
        does, hand = self._desk.keymap.does, self._table.hand
        if hand.confirming is not None:
            self._press_confirming(key)
        elif hand.mode != "board":
            self._press_line(key)
        elif self._desk.link.phase == "away" and does(key, "retry"):
            self._desk.link.retry()
        elif does(key, "chat") and self._table.record is None:
            hand.begin_chat()
        elif does(key, "command"):
            hand.mode = "command"
        elif does(key, "help"):
            self._deeds.open_help()
        elif does(key, "back"):
            self._deeds.back()
        elif self._table.state is None or self._press_for_status(key, self._table.state):
            return
        else:
            self._cells.press(key, self._table.state)

    def paste(self, text: str) -> None:
        """Pasted text goes into the line that is open; at the board only while there is a move to type."""
        if self._table.hand.mode != "board":
            self._table.hand.line.type(text)
        elif self._table.plays:
            self._table.hand.ahead.type(text)

    def click(self, x: int, y: int) -> None:
        """A click places at once on 3x3; on larger boards it chooses, and a second one places.

        On what steps back in a watcher's head, it does.
        """
        state, fit = self._table.state, self._view.fit
        if state is None or fit is None or self._table.hand.mode != "board":
            return
        if y == 0 and x in self._view.back_at:
            self._deeds.step(-1)
            return
        if state.status != "playing" and not self._table.review.is_on and self._table.record is None:
            return
        view = BoardView.of(state)
        cell = fit.find_cell(x - self._view.corner[0], y - self._view.corner[1], view)
        if cell is None:
            return
        if self._table.record is not None and not self._table.review.is_on:
            if cell in self._table.moves:
                self._deeds.jump(self._table.moves.index(cell) + 1)
            return
        if self._table.looks_on:
            self._cells.place_or_point(cell)
            return
        small = has_single_keys(state.rules.to_rules())
        chosen, columns = self._table.hand.cursor, state.rules.columns
        is_same_column = state.rules.gravity and chosen is not None and chosen % columns == cell % columns
        is_second = cell == chosen or is_same_column
        self._table.hand.cursor = cell
        if (small and not self._desk.settings.confirm) or is_second:
            self._deeds.place(cell)

    def scroll(self, lines: int) -> None:
        """The wheel moves the cursor, and so the board; in a record it steps."""
        if self._table.record is not None:
            self._deeds.step(lines)
        elif self._table.state is not None:
            self._table.hand.move_cursor((lines, 0), self._table.state)

    # -- by what is going on --------------------------------------------------------------------------------------

    def _press_for_status(self, key: str, state: RoomState) -> bool:
        """Take the keys that belong to what is going on in the room; tell whether it was one."""
        keymap = self._desk.keymap
        if state.status == "waiting" and self._table.seat is not None:
            if not self._press_waiting(key):
                self._cells.press_at_rest(key, state)
            return True
        if self._table.record is not None:
            if not self._press_in_record(key) and not self._press_looking_on(key):
                self._cells.press_at_rest(key, state)
            return True
        if self._table.looks_on:
            if not self._press_looking_on(key) and not (state.status == "over" and self._press_over(key)):
                self._cells.press_at_rest(key, state)
            return True
        if self._press_offer(key, keymap):
            return True
        claim = "win" if keymap.does(key, "claim") else "draw" if keymap.does(key, "claim_draw") else None
        if claim is not None and may_claim_by_key(self._table, self._desk.now()):
            self._table.hand.answered(self._desk.now())
            self._deeds.do(Verb("claim", claim))
            return True
        return False

    def _press_offer(self, key: str, keymap: Keymap) -> bool:
        answer: VerbKind | None = "yes" if keymap.does(key, "accept") else "no" if keymap.does(key, "decline") else None
        if answer is not None:
            if self._table.state is not None and open_offers(self._table.state, self._table.viewer):
                self._table.hand.answered(self._desk.now())
            self._deeds.do(Verb(answer))
        return answer is not None

    def _press_waiting(self, key: str) -> bool:
        does = self._desk.keymap.does
        if does(key, "copy"):
            link = self._view.link_for_others()
            self._desk.copy(link)
            self._desk.say(f"Copied: {link}", "good")
        elif does(key, "hide_code"):
            self._table.hand.shows_code = not self._table.hand.shows_code
        elif does(key, "computer"):
            self._ways.to_computer()
        else:
            return False
        return True

    def _press_looking_on(self, key: str) -> bool:
        does, deeds = self._desk.keymap.does, self._deeds
        if does(key, "left"):
            deeds.step(-1)
        elif does(key, "right"):
            deeds.step(1)
        elif does(key, "end"):
            deeds.at_present()
        elif does(key, "home"):
            deeds.step(-len(self._table.moves))
        elif does(key, "review"):
            deeds.review()
        elif does(key, "mistake") or does(key, "mistake_before"):
            self._deeds.do(Look("mistake", 1 if does(key, "mistake") else -1))
        elif does(key, "up") or does(key, "down"):
            by = -1 if does(key, "up") else 1
            if self._table.review.is_on:
                deeds.compare(by)
            else:
                self.scroll(by)
        else:
            return False
        return True

    def _press_in_record(self, key: str) -> bool:
        """Take the keys of a record: the number of a move, another part of a large board, and saving."""
        does, ahead = self._desk.keymap.does, self._table.hand.ahead
        aside = does(key, "aside_right") - does(key, "aside_left")
        down = 0 if self._table.review.is_on else does(key, "down") - does(key, "up")
        if key.isascii() and key.isdigit():
            ahead.type(key)
        elif ahead.text and key == "enter":
            self._deeds.do(Look("at", int(ahead.clear())))
        elif ahead.text and key == "backspace":
            ahead.press(key)
        elif aside or down:
            self._table.hand.cursor = self._view.scroll(down, aside)
        elif does(key, "save"):
            self._deeds.do(Save())
        else:
            ahead.clear()
            return False
        return True

    def _press_over(self, key: str) -> bool:
        if self._table.seat is None:
            return False
        does = self._desk.keymap.does
        if does(key, "rematch"):
            self._deeds.do(Verb("rematch"))
        elif does(key, "save"):
            self._deeds.do(Save())
        elif does(key, "another"):
            self._ways.to_another()
        else:
            return False
        return True

    # -- in a line, and when asked --------------------------------------------------------------------------------

    def _press_line(self, key: str) -> None:
        """Take a key while something is being typed after ``:`` or to be said; offers are answered meanwhile, too."""
        does, hand = self._desk.keymap.does, self._table.hand
        if self._table.plays and self._press_offer(key, self._desk.keymap.typing):
            return
        if does(key, "back") or (does(key, "chat") and hand.mode == "chat"):
            if hand.mode == "chat" and not does(key, "back"):
                hand.unsaid = hand.line.text
            hand.mode = "board"
            hand.line.clear()
        elif key == "enter":
            mode, hand.mode = hand.mode, "board"
            text = hand.line.clear()
            if mode == "chat":
                self._deeds.chat(text)
            elif mode == "command":
                self._deeds.command(text)
        elif key == "backspace" and not hand.line.text:
            hand.mode = "board"
        else:
            hand.line.press(key)

    def _press_confirming(self, key: str) -> None:
        """Take the answer; any other key plays on and does no more: it might place a mark."""
        does = self._desk.keymap.does
        self._table.hand.answered(self._desk.now())
        if does(key, "confirm"):
            self._deeds.confirm()
            return
        self._table.hand.confirming = None
        if not does(key, "back"):
            self._desk.say("The game goes on.", "dim")
