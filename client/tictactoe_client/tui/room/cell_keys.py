"""Keys that name cells: arrows and Enter, the keys that the cells show, and cells that are typed in full."""

from __future__ import annotations

from tictactoe_client.input.cells import begins_anew, cell_of_key, find_column
from tictactoe_client.input.intents import BadInput, parse_intent
from tictactoe_client.text.wording import name_of
from tictactoe_client.tui.hints import example_cell
from tictactoe_client.tui.room.deeds import Deeds
from tictactoe_client.tui.room.desk import Desk
from tictactoe_client.tui.room.table import Table
from tictactoe_engine import Keys, Rules, has_single_keys, parse_cell
from tictactoe_engine.errors import IllegalMove, UnknownNotation
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState

_ARROWS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


class CellKeys:
    """What a key means at one board; who looks on points at cells instead of placing."""

    def __init__(self, desk: Desk, table: Table, deeds: Deeds) -> None:
        self._desk = desk
        self._table = table
        self._deeds = deeds

    def press(self, key: str, state: RoomState) -> None:
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
            self.place_or_point(cell)
            return
        self._table.hand.ahead.type(key)
        if state is not None and not self._table.is_my_turn:
            self._desk.say(f"It's {name_of(state, state.turn)}'s move. Enter plays {key} when it is yours.")

    @property
    def _may_send(self) -> bool:
        """Whether a move would go out now: it is ours, and none is on its way."""
        return self._table.is_my_turn and self._table.hand.pending is None

    def place_or_point(self, cell: int) -> None:
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

    def press_at_rest(self, key: str, state: RoomState) -> None:
        """Take a key that would place if there were anything to place."""
        rules = state.rules.to_rules()
        cell = cell_of_key(key, rules, self._desk.settings.keys)
        if cell is not None:
            self.place_or_point(cell)
        elif len(key) > 1 and not self._desk.keymap.does(key, "place"):
            return
        elif self._table.review.is_on:
            self._desk.say(f"{self._colon}{example_cell(rules)} or a click tells what a cell is worth.")
        else:
            self._deeds.place(0)
