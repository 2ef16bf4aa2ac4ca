"""What keys, clicks and the wheel mean in a room: that depends on what is going on there and on what is in hand."""

from __future__ import annotations

from tictactoe_client.board.board import BoardView
from tictactoe_client.input.cells import begins_anew, cell_of_key, find_column
from tictactoe_client.input.intents import BadInput, Look, Verb, VerbKind, parse_intent
from tictactoe_client.text.news import open_offers
from tictactoe_client.text.wording import name_of
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.room.deeds import Deeds
from tictactoe_client.tui.room.foot import may_claim_by_key
from tictactoe_client.tui.room.hints import example_cell
from tictactoe_client.tui.room.table import Table
from tictactoe_client.tui.room.view import RoomView
from tictactoe_engine import Keys, Rules, has_single_keys, parse_cell
from tictactoe_engine.errors import IllegalMove, UnknownNotation
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState

_ARROWS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


class RoomKeys:
    """Keys for one room; `view` knows where the board was drawn."""

    def __init__(self, desk: Desk, table: Table, deeds: Deeds, view: RoomView) -> None:
        self._desk = desk
        self._table = table
        self._deeds = deeds
        self._view = view

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
            self._press_board(key, self._table.state)

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
            self._place_or_point(cell)
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
                self._press_at_rest(key, state)
            return True
        if self._table.record is not None:
            if not self._press_in_record(key) and not self._press_looking_on(key):
                self._press_at_rest(key, state)
            return True
        if self._table.looks_on:
            if not self._press_looking_on(key) and not (state.status == "over" and self._press_over(key)):
                self._press_at_rest(key, state)
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
            self._deeds.to_computer()
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
            self._deeds.do(Verb("save"))
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
            self._deeds.do(Verb("save"))
        elif does(key, "another"):
            self._deeds.to_another()
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

    # -- at the board ------------------------------------------------------------------------------------------------

    def _press_board(self, key: str, state: RoomState) -> None:
        """Take a key at the board: arrows, a cell by its key, or one more character of a typed move."""
        rules, hand = state.rules.to_rules(), self._table.hand
        keymap = self._desk.keymap
        character = " " if key == "space" else key
        is_typing = bool(hand.ahead.text)
        arrow = next((step for action, step in _ARROWS.items() if keymap.does(key, action)), None)
        if arrow is not None:
            hand.move_cursor((0, arrow[1]) if rules.gravity else arrow, state)
        elif is_typing and len(character) == 1:
            self._type(character, rules)
        elif is_typing and (key == "enter" or keymap.does(key, "place")):
            self._submit_ahead(rules)
        elif keymap.does(key, "place"):
            self._place_at_cursor(state)
        elif len(character) == 1:
            self._type(character, rules)
        elif key == "backspace":
            hand.ahead.press(key)

    def _place_at_cursor(self, state: RoomState) -> None:
        """Place where the cursor stands; where there is none yet, show it first."""
        if self._table.hand.is_quiet(self._desk.now()):
            return
        if self._table.hand.cursor is None:
            self._table.hand.move_cursor((0, 0), state)
        else:
            self._deeds.place(self._table.hand.cursor)

    def _type(self, character: str, rules: Rules) -> None:
        """Take a character: a cell by its key, which takes the place of another one; else the next of a typed move."""
        ahead, keys = self._table.hand.ahead, self._desk.settings.keys
        typed = ahead.text.strip()
        cell = cell_of_key(character, rules, keys)
        if cell is not None and (not typed or cell_of_key(typed, rules, keys) is not None):
            ahead.clear()
            self._press_cell_key(character, cell)
        elif not typed and character.isalpha() and has_single_keys(rules) and keys is Keys.LETTERS:
            self._desk.say(f"Here a letter places: qwe/asd/zxc. For a name such as b3: {self._colon}b3")
        elif character != " " or (typed and cell_of_key(typed, rules, keys) is None):
            ahead.selected = begins_anew(ahead.text, character, rules)
            ahead.type(character)

    def _press_cell_key(self, key: str, cell: int) -> None:
        """Place on the cell of this key at once; while it is not our move, keep the key as text."""
        state = self._table.state
        if self._table.hand.is_quiet(self._desk.now()):
            return
        if not self._table.plays or self._may_send:
            self._place_or_point(cell)
            return
        self._table.hand.ahead.type(key)
        if state is not None and not self._table.is_my_turn:
            self._desk.say(f"It's {name_of(state, state.turn)}'s move. Enter plays {key} when it is yours.")

    @property
    def _may_send(self) -> bool:
        """Whether a move would go out now: it is ours, and none is on its way."""
        return self._table.is_my_turn and self._table.hand.pending is None

    def _place_or_point(self, cell: int) -> None:
        """Place; where values are shown, ask for that of the cell."""
        if self._table.review.is_on:
            self._table.hand.cursor = cell
        else:
            self._deeds.place(cell)

    @property
    def _colon(self) -> str:
        return self._desk.keymap.show("command")

    def _submit_ahead(self, rules: Rules) -> None:
        ahead = self._table.hand.ahead
        if self._table.hand.is_quiet(self._desk.now()):
            return
        try:
            cell = self._find_typed(ahead.text, rules)
        except (IllegalMove, UnknownNotation) as bad:
            told = None if isinstance(bad, IllegalMove) else self._explain_word(ahead.text, rules)
            self._desk.say(clean_text(told or bad.message))
            ahead.clear()
            return
        if self._may_send:
            ahead.clear()
        self._deeds.place(cell)

    def _explain_word(self, text: str, rules: Rules) -> str | None:
        """Return what was perhaps meant by a word that is no cell, or how commands begin; None where it is neither."""
        try:
            parse_intent(text, rules)
        except BadInput as bad:
            return bad.message
        is_command = len(text.split(" ")[0]) > 1
        return f"Commands begin with {self._colon}   {self._colon}{text}" if is_command else None

    def _find_typed(self, text: str, rules: Rules) -> int:
        """Return the cell of this key or name; where marks fall, of a column's name one of its cells."""
        cell = cell_of_key(text.strip(), rules, self._desk.settings.keys)
        if cell is not None:
            return cell
        column = find_column(text, rules) if rules.gravity else None
        return parse_cell(text, rules, coordinates=self._desk.settings.coordinates) if column is None else column

    def _press_at_rest(self, key: str, state: RoomState) -> None:
        """Take a key that would place if there were anything to place."""
        rules = state.rules.to_rules()
        cell = cell_of_key(key, rules, self._desk.settings.keys)
        if cell is not None:
            self._place_or_point(cell)
        elif len(key) > 1 and not self._desk.keymap.does(key, "place"):
            return
        elif self._table.review.is_on:
            self._desk.say(f"{self._colon}{example_cell(rules)} or a click tells what a cell is worth.")
        else:
            self._deeds.place(0)
