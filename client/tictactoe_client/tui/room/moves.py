"""How one moves: by the key of a cell, by its name, with the cursor, with the mouse; and why a move cannot be made now.

No key ever places other than what its cell shows.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final

from tictactoe_client.input.cells import begins_anew, cell_of_key, landing_cell
from tictactoe_client.input.intents import BadInput, Intent, Look, Place, describe_move
from tictactoe_client.text.wording import describe_unknown
from tictactoe_client.text.worth import rank_cells
from tictactoe_client.tui.program import Program
from tictactoe_client.tui.room.keys import action_of, example_cell, find_deed, list_sides
from tictactoe_client.tui.room.model import RoomModel
from tictactoe_engine import Keys, Rules, has_single_keys
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.choices import describe_reason
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.wording import describe_turn, name_of, next_mark

_WAYS_ON: Final = ("rematch", "another")


class MoveInput:
    """What keys and clicks at the board of `model` mean; `do` carries an intent out."""

    def __init__(self, program: Program, model: RoomModel, do: Callable[[Intent], object]) -> None:
        self._program = program
        self._model = model
        self._do = do

    # -- what is typed --------------------------------------------------------------------------------------------

    def type(self, character: str) -> None:
        """Take a character at the board: of a move, of a move's number in a record, else a cell to ask about."""
        model, rules = self._model, self._model.rules
        cell = cell_of_key(character, rules, self._program.settings.keys)
        if model.kind == "playing":
            self._type_move(character, cell, rules)
        elif model.record is not None and character.isascii() and character.isdigit():
            model.type(character)
        else:
            model.typed = ""
            self.enter() if cell is None else self.play_or_point(cell)

    def _type_move(self, character: str, cell: int | None, rules: Rules) -> None:
        """Place on the cell of this key, or keep the key while it is not our move; else go on with a typed move."""
        model, keys = self._model, self._program.settings.keys
        typed = model.typed.strip()
        is_key_typed = cell_of_key(typed, rules, keys) is not None
        if cell is not None and (not typed or is_key_typed):
            self._press_cell(character, cell)
        elif not typed and character.isalpha() and has_single_keys(rules) and keys is Keys.LETTERS:
            self._program.say(say("room letters place", typed=f"{self._colon}b3"))
        elif character != " " or (typed and not is_key_typed):
            if begins_anew(model.typed, character, rules):
                model.typed = ""
            model.type(character)

    def _press_cell(self, character: str, cell: int) -> None:
        model, state = self._model, self._model.room.state
        model.typed = ""
        if self._is_quiet:
            return
        if model.may_send or model.is_to_choose:
            self.play(cell)
            return
        model.type(character)
        if not model.room.is_my_turn:
            enter = self._program.keymap.show_key("enter")
            self._program.say(say("room typed ahead", name=name_of(state, state.turn), key=enter, typed=character))

    def enter(self) -> None:
        """Play what is typed, else at the cursor; go to the move whose number is typed in a record.

        Where one only looks on, say why nothing is placed.
        """
        model = self._model
        if model.kind == "playing":
            if self._is_quiet:
                return
            if model.typed:
                self._play_typed(model.typed.strip())
            elif model.cursor is not None:
                self.play(model.cursor)
            else:
                model.move_cursor(0, 0)
        elif model.typed:
            number, model.typed = int(model.typed), ""
            self._do(Look("at", number))
        elif model.review.is_on:
            self._program.say(say("room point", typed=f"{self._colon}{example_cell(model.rules)}"))
        else:
            self.play(0)

    def _play_typed(self, typed: str) -> None:
        """Play what was typed as a move; it stays while the move cannot be sent yet."""
        model = self._model
        intent = model.actions.parse(typed)
        if not isinstance(intent, Place) or model.may_send:
            model.typed = ""
        match intent:
            case Place(cell):
                self.play(cell)
            case BadInput(message=message):
                self._program.say(clean_text(message))
            case _ if len(typed.split(" ")[0]) > 1:
                self._program.say(say("room colon first", key=self._colon, typed=f"{self._colon}{typed}"))
            case _:
                self._program.say(describe_unknown(typed, describe_move(model.rules)))

    # -- the board ------------------------------------------------------------------------------------------------

    def play(self, cell: int) -> None:
        """Send a move where one may be sent; else say why not."""
        model, state = self._model, self._model.room.state
        if model.may_send:
            target = landing_cell(state, cell)
            model.pending = None if target is None else (target, next_mark(state) or "")
            self._do(Place(cell))
        elif why := model.choices.find_reason("place"):
            told = describe_reason(why, state)
            if model.is_to_choose:
                told = f"{describe_turn(state, model.room.viewer)}   {list_sides(model, self._program.keymap)}"
            self._program.say(f"{told}   {self._list_ways_on()}" if model.kind == "over" and model.seat else told)

    def play_or_point(self, cell: int) -> None:
        """Place; where values are shown, ask for that of the cell."""
        if self._model.review.is_on:
            self._model.cursor = cell
        else:
            self.play(cell)

    def click(self, cell: int) -> None:
        """Place at once on 3x3; on larger boards choose, and place by a second click; in a record go to that move."""
        model, rules = self._model, self._model.rules
        if model.kind == "replay" and not model.review.is_on:
            if cell in model.room.moves:
                model.look_at(model.room.moves.index(cell) + 1)
        elif model.kind == "playing":
            chosen, columns = model.cursor, rules.columns
            is_again = cell == chosen or (rules.gravity and chosen is not None and chosen % columns == cell % columns)
            model.cursor = cell
            if is_again or (has_single_keys(rules) and not self._program.settings.confirm):
                self.play(cell)
        elif model.kind == "watching" or model.review.is_on:
            self.play_or_point(cell)

    def compare(self, by: int) -> None:
        """Point at the next worse or better move of the moment, first at the best one."""
        model, analysis = self._model, self._model.review.analysis
        if analysis is not None and analysis.cells:
            cells = rank_cells(analysis)
            here = cells.index(model.cursor) + by if model.cursor in cells else 0
            model.cursor = cells[max(0, min(here, len(cells) - 1))]

    # -- answers --------------------------------------------------------------------------------------------------

    def explain(self, action: str, names: tuple[str, ...], state: RoomState) -> None:
        """Say why what a key is for cannot be done now."""
        choices = self._model.choices
        is_own = any(question.id in ("own draw", "own undo") for question in choices.questions)
        why = "why own offer" if action == "accept" and is_own else choices.find_reason(names[0])
        if why is not None:
            self._program.say(describe_reason(why, state))

    def _list_ways_on(self) -> str:
        """Return what one may do after the end, with the keys: ``r rematch   Esc home``."""
        model, show = self._model, self._program.keymap.show
        deeds = [
            deed for action in _WAYS_ON if (deed := find_deed(model, action)) and (deed.id != "new" or model.again)
        ]
        ways = [f"{show(action_of(deed))} {say(deed.label)}" for deed in deeds]
        return "   ".join([*ways, f"{show('back')} {say(model.way_back)}"])

    @property
    def _colon(self) -> str:
        return self._program.keymap.show("command")

    @property
    def _is_quiet(self) -> bool:
        """Whether a question was answered a moment ago, so that no key may place."""
        return monotonic() < self._model.quiet_until
