"""What keys, clicks and the wheel mean in a room: that depends on what is going on there and on what is in hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

from tictactoe_client.input.cells import begins_anew, cell_of_key, find_column
from tictactoe_client.input.intents import BadInput, Look, Verb, VerbKind, parse_intent
from tictactoe_client.text.news import open_offers
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.room.banners import may_claim_by_key
from tictactoe_client.tui.room.deeds import Deeds
from tictactoe_client.tui.room.hints import example_cell
from tictactoe_client.tui.room.invitation import link_for_others
from tictactoe_client.tui.room.table import Situation, Table
from tictactoe_client.tui.room.view import RoomView
from tictactoe_engine import Keys, Rules, has_single_keys, parse_cell
from tictactoe_engine.errors import IllegalMove, UnknownNotation
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.wording import name_of

_LOOKING: Final = ("left", "right", "end", "home", "review", "mistake", "mistake_before", "up", "down")
_COUNTING: Final[Mapping[Situation, tuple[str, ...]]] = {
    "waiting": ("copy", "hide_code", "computer"),
    "playing": ("accept", "decline"),
    "watching": _LOOKING,
    "over": (*_LOOKING, "rematch", "save", "another"),
    "replay": (*_LOOKING, "aside_left", "aside_right", "save"),
}
"""What keys do, by what is going on, for one who holds a seat; all others look on."""
_ARROWS: Final = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


class RoomKeys:
    """Keys for one room; `view` knows where the board was drawn."""

    def __init__(self, desk: Desk, table: Table, deeds: Deeds, view: RoomView) -> None:
        self._desk = desk
        self._table = table
        self._room = table.room
        self._hand = table.hand
        self._deeds = deeds
        self._view = view
        self._does: Mapping[str, Callable[[], object]] = {
            "retry": desk.link.retry,
            "chat": table.hand.begin_chat,
            "command": self._begin_command,
            "help": deeds.open_help,
            "back": deeds.back,
            "accept": partial(self._answer, "yes"),
            "decline": partial(self._answer, "no"),
            "claim": partial(self._claim, "win"),
            "claim_draw": partial(self._claim, "draw"),
            "copy": self._copy_link,
            "hide_code": self._hide_code,
            "computer": deeds.to_computer,
            "left": partial(deeds.step, -1),
            "right": partial(deeds.step, 1),
            "up": partial(self._go_down, -1),
            "down": partial(self._go_down, 1),
            "home": partial(deeds.jump, 0),
            "end": deeds.at_present,
            "review": deeds.review,
            "mistake": partial(deeds.do, Look("mistake", 1)),
            "mistake_before": partial(deeds.do, Look("mistake", -1)),
            "aside_left": partial(self._shift, 0, -1),
            "aside_right": partial(self._shift, 0, 1),
            "rematch": partial(deeds.do, Verb("rematch")),
            "save": partial(deeds.do, Verb("save")),
            "another": deeds.to_another,
        }

    def press(self, key: str) -> None:
        """Take a key: for the line being typed, else for what is asked, else for the board."""
        state = self._room.state
        if self._hand.confirming is not None:
            self._press_confirming(key)
            return
        if self._hand.mode != "board":
            self._press_line(key)
            return
        if self._press_action(key, self._list_always()) or state is None:
            return
        if (self._table.record is not None and self._press_number(key)) or self._press_action(
            key, self._list_actions()
        ):
            return
        press = self._press_board if self._table.situation == "playing" else self._press_idle
        press(key, state)

    def paste(self, text: str) -> None:
        """Pasted text goes into the line that is open; at the board only while there is a move to type."""
        if self._hand.mode != "board":
            self._hand.line.type(text)
        elif self._room.plays:
            self._hand.ahead.type(text)

    def click(self, x: int, y: int) -> None:
        """A click places at once on 3x3; on larger boards it chooses, and a second one places.

        On what steps back in a watcher's head, it does.
        """
        state, grid, reviews = self._room.state, self._view.grid, self._table.review.is_on
        if state is None or grid is None or self._hand.mode != "board":
            return
        if y == 0 and x in self._view.back_at:
            self._deeds.step(-1)
            return
        cell = grid.find_cell(x - self._view.corner[0], y - self._view.corner[1])
        if cell is None:
            return
        situation = self._table.situation
        if situation == "replay" and not reviews:
            if cell in self._room.moves:
                self._deeds.jump(self._room.moves.index(cell) + 1)
        elif situation == "playing":
            chosen, columns = self._hand.cursor, state.rules.columns
            is_again = cell == chosen or (
                state.rules.gravity and chosen is not None and chosen % columns == cell % columns
            )
            is_sure = has_single_keys(state.rules.to_rules()) and not self._desk.settings.confirm
            self._hand.cursor = cell
            if is_again or is_sure:
                self._deeds.place(cell)
        elif situation == "watching" or reviews:
            self._place_or_point(cell)

    def scroll(self, lines: int) -> None:
        """The wheel moves the cursor, and so the board; in a record it steps."""
        if self._table.record is not None:
            self._deeds.step(lines)
        elif self._room.state is not None:
            self._hand.move_cursor((lines, 0), self._room.state)

    # -- actions, by what is going on -------------------------------------------------------------------------------

    def _press_action(self, key: str, actions: Iterable[str]) -> bool:
        """Do which of these actions this key is for; tell whether it was one."""
        action = next((action for action in actions if self._desk.keymap.does(key, action)), None)
        if action is not None:
            self._does[action]()
        return action is not None

    def _list_always(self) -> list[str]:
        """Return what can be done whatever goes on."""
        retry = ["retry"] if self._desk.link.phase == "away" else []
        chat = ["chat"] if self._table.record is None else []
        return [*retry, *chat, "command", "help", "back"]

    def _list_actions(self) -> tuple[str, ...]:
        """Return what can be done beside placing."""
        situation = self._table.situation
        if situation == "playing" and may_claim_by_key(self._table, self._desk.now()):
            return (*_COUNTING[situation], "claim", "claim_draw")
        holds_seat = self._room.seat is not None
        return _COUNTING[situation] if holds_seat or situation == "replay" else _LOOKING

    def _begin_command(self) -> None:
        self._hand.mode = "command"

    def _answer(self, answer: VerbKind) -> None:
        if self._room.state is not None and open_offers(self._room.state, self._room.viewer):
            self._hand.answered(self._desk.now())
        self._deeds.do(Verb(answer))

    def _claim(self, what: str) -> None:
        self._hand.answered(self._desk.now())
        self._deeds.do(Verb("claim", what))

    def _copy_link(self) -> None:
        link = link_for_others(self._desk, self._table)
        self._desk.copy(link)
        self._desk.say(f"Copied: {link}", "good")

    def _hide_code(self) -> None:
        self._hand.shows_code = not self._hand.shows_code

    def _go_down(self, by: int) -> None:
        """Go to the next worse move where values are shown; else move the board."""
        if self._table.review.is_on:
            self._deeds.compare(by)
        elif self._table.record is not None:
            self._shift(by, 0)
        else:
            self.scroll(by)

    def _shift(self, rows: int, columns: int) -> None:
        self._hand.cursor = self._view.scroll(rows, columns)

    def _press_number(self, key: str) -> bool:
        """Take a key of a move's number in a record; tell whether it was one."""
        ahead = self._hand.ahead
        if key.isascii() and key.isdigit():
            ahead.type(key)
        elif ahead.text and key == "enter":
            self._deeds.do(Look("at", int(ahead.clear())))
        elif ahead.text and key == "backspace":
            ahead.press(key)
        else:
            ahead.clear()
            return False
        return True

    def _press_idle(self, key: str, state: RoomState) -> None:
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

    # -- in a line, and when asked --------------------------------------------------------------------------------

    def _press_line(self, key: str) -> None:
        """Take a key while something is being typed after ``:`` or to be said; offers are answered meanwhile, too."""
        does, hand, typing = self._desk.keymap.does, self._hand, self._desk.keymap.typing
        if self._room.plays and (typing.does(key, "accept") or typing.does(key, "decline")):
            self._answer("yes" if typing.does(key, "accept") else "no")
        elif does(key, "back") or (does(key, "chat") and hand.mode == "chat"):
            if hand.mode == "chat" and not does(key, "back"):
                hand.unsaid = hand.line.text
            hand.mode = "board"
            hand.line.clear()
        elif key == "enter":
            mode, hand.mode = hand.mode, "board"
            text = hand.line.clear()
            if mode == "chat":
                self._deeds.chat(text)
            else:
                self._deeds.command(text)
        elif key == "backspace" and not hand.line.text:
            hand.mode = "board"
        else:
            hand.line.press(key)

    def _press_confirming(self, key: str) -> None:
        """Take the answer; any other key plays on and does no more: it might place a mark."""
        does = self._desk.keymap.does
        self._hand.answered(self._desk.now())
        if does(key, "confirm"):
            self._deeds.confirm()
            return
        self._hand.confirming = None
        if not does(key, "back"):
            self._desk.say("The game goes on.", "dim")

    # -- at the board ---------------------------------------------------------------------------------------------

    def _press_board(self, key: str, state: RoomState) -> None:
        """Take a key at the board: arrows, a cell by its key, or one more character of a typed move."""
        rules, ahead, does = state.rules.to_rules(), self._hand.ahead, self._desk.keymap.does
        character = " " if key == "space" else key
        arrow = next((step for action, step in _ARROWS.items() if does(key, action)), None)
        if arrow is not None:
            self._hand.move_cursor((0, arrow[1]) if rules.gravity else arrow, state)
        elif ahead.text and len(character) == 1:
            self._type(character, state, rules)
        elif self._is_quiet and (key == "enter" or does(key, "place")):
            return
        elif ahead.text and (key == "enter" or does(key, "place")):
            self._submit_ahead(rules)
        elif does(key, "place") and self._hand.cursor is not None:
            self._deeds.place(self._hand.cursor)
        elif does(key, "place"):
            self._hand.move_cursor((0, 0), state)
        elif len(character) == 1:
            self._type(character, state, rules)
        elif key == "backspace":
            ahead.press(key)

    @property
    def _is_quiet(self) -> bool:
        return self._hand.is_quiet(self._desk.now())

    def _type(self, character: str, state: RoomState, rules: Rules) -> None:
        """Take a character: a cell by its key, which takes the place of another one; else the next of a typed move."""
        ahead, keys = self._hand.ahead, self._desk.settings.keys
        typed = ahead.text.strip()
        cell, is_key_typed = cell_of_key(character, rules, keys), cell_of_key(typed, rules, keys) is not None
        if cell is not None and (not typed or is_key_typed):
            ahead.clear()
            self._press_cell_key(character, cell, state)
        elif not typed and character.isalpha() and has_single_keys(rules) and keys is Keys.LETTERS:
            self._desk.say(f"Here a letter places: qwe/asd/zxc. For a name such as b3: {self._colon}b3")
        elif character != " " or (typed and not is_key_typed):
            ahead.selected = begins_anew(ahead.text, character, rules)
            ahead.type(character)

    def _press_cell_key(self, key: str, cell: int, state: RoomState) -> None:
        """Place on the cell of this key at once; while it is not our move, keep the key as text."""
        if self._is_quiet:
            return
        if self._may_send:
            self._deeds.place(cell)
            return
        self._hand.ahead.type(key)
        if not self._room.is_my_turn:
            self._desk.say(f"It's {name_of(state, state.turn)}'s move. Enter plays {key} when it is yours.")

    @property
    def _may_send(self) -> bool:
        """Whether a move would go out now: it is ours, and none is on its way."""
        return self._room.is_my_turn and self._hand.pending is None

    def _place_or_point(self, cell: int) -> None:
        """Place; where values are shown, ask for that of the cell."""
        if self._table.review.is_on:
            self._hand.cursor = cell
        else:
            self._deeds.place(cell)

    @property
    def _colon(self) -> str:
        return self._desk.keymap.show("command")

    def _submit_ahead(self, rules: Rules) -> None:
        ahead = self._hand.ahead
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
