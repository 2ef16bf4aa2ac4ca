"""A room on the screen: what its keys, the mouse and the wheel mean there, and the drawing of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.geometry import Region

from tictactoe_client.input.cells import begins_anew, cell_of_key
from tictactoe_client.input.intents import BadInput, Look, Place, Query, Verb
from tictactoe_client.text.answers import describe_last
from tictactoe_client.text.choices import can_play_again
from tictactoe_client.text.help import Topic, list_room_help
from tictactoe_client.text.wording import describe_unknown
from tictactoe_client.tui.foot import bind, draw_keys, find_keys, fit_keys
from tictactoe_client.tui.keymap import ACTIONS, SITUATIONS
from tictactoe_client.tui.page import HelpPage
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.room.banners import describe_question, may_claim_by_key
from tictactoe_client.tui.room.hints import example_cell, name_keys
from tictactoe_client.tui.room.panel import link_for_others
from tictactoe_client.tui.room.visit import Visit
from tictactoe_engine import Keys, Rules, has_single_keys
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.wording import name_of

_KEYS: Final[Mapping[str, tuple[str, Callable[[RoomScreen], object]]]] = {
    "confirm": ("", lambda room: room.decide("confirm")),
    "retry": ("try the connection now", lambda room: room.desk.link.retry()),
    "chat": ("chat", lambda room: room.open_chat()),
    "command": ("command", lambda room: room.hand.line.begin_command()),
    "help": ("help", lambda room: room.desk.open(HelpPage(room.list_help()))),
    "back": ("", lambda room: room.back()),
    "accept": ("accept what is offered", lambda room: room.answer(Verb("yes"))),
    "decline": ("decline what is offered", lambda room: room.answer(Verb("no"))),
    "claim": ("claim the win", lambda room: room.answer(Verb("claim", "win"))),
    "claim_draw": ("call it a draw", lambda room: room.answer(Verb("claim", "draw"))),
    "copy": ("copy the link", lambda room: room.copy_link()),
    "hide_code": ("hide the code", lambda room: room.hide_code()),
    "computer": ("let the computer sit in", lambda room: room.go_to_computer()),
    "left": ("", lambda room: room.go(0, -1)),
    "right": ("", lambda room: room.go(0, 1)),
    "up": ("", lambda room: room.go(-1, 0)),
    "down": ("", lambda room: room.go(1, 0)),
    "home": ("the first move", lambda room: room.jump(0)),
    "end": ("the newest move", lambda room: room.at_present()),
    "review": ("what moves are worth", lambda room: room.switch_values()),
    "mistake": ("the next mistake", lambda room: room.do(Look("mistake", 1))),
    "mistake_before": ("the mistake before", lambda room: room.do(Look("mistake", -1))),
    "aside_left": ("", lambda room: room.shift(0, -1)),
    "aside_right": ("", lambda room: room.shift(0, 1)),
    "rematch": ("rematch", lambda room: room.do(Verb("rematch"))),
    "save": ("save", lambda room: room.do(Verb("save"))),
    "another": ("look for another opponent", lambda room: room.go_to_another()),
    "place": ("", lambda room: room.enter()),
}
"""What the keys of a room do, with a name for those who look for it by that; of two with one key the first counts."""

_WHEN: Final = {
    "replay": "in a replay",
    "waiting": "while you wait for others",
    "playing": "in a game",
    "watching": "while you watch",
    "over": "after a game",
}
"""When that is, as the table of what counts calls it."""
_LINE_KEYS: Final = {key: name for name in ("back", "accept", "decline") for key in ACTIONS[name]}
"""What counts in a line by the keys that it comes with, where one's own are text there."""


class RoomScreen(Visit):
    """One room as one sees it and has it in hand."""

    BINDINGS: ClassVar[list[BindingType]] = [bind(name, f"do('{name}')", label) for name, (label, _) in _KEYS.items()]

    # -- what is drawn --------------------------------------------------------------------------------------------

    def needed_size(self) -> tuple[int, int]:
        return self.view.needed_size()

    def describe_question(self) -> str:
        return describe_question(self.table, self.desk.keymap)

    def place(self, width: int, height: int) -> Region:
        return self.view.place(width, height)

    def paint(self, page: Picture) -> None:
        state, desk = self.table.shown(), self.desk
        self.view.draw(page, desk.status)
        if state is not None:
            hints = find_keys(self, name_keys(self.table, state, desk))
            draw_keys(page, fit_keys(hints, page.width - 2, ("help",)))

    def tick(self) -> None:
        """Show what time changes; a welcome goes when it was read, over a line that is typed when that is done."""
        if self.returned_until <= monotonic() and not self.hand.line.mode:
            self.hand.returned = ""
        super().tick()

    # -- keys -----------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tell whether a key counts at the moment."""
        name, hand, table = parameters[0], self.hand, self.table
        if hand.question is not None:
            return name in SITUATIONS["when you are asked"]
        if hand.line.mode:
            return name in SITUATIONS["while you type"] and (name in ("back", "chat") or self.room.plays)
        looks_on = self.room.seat is None and table.record is None
        match name:
            case "place":
                return True  # what places says at every board why it does not
            case "retry":
                return self.desk.link.phase == "away"
            case "claim" | "claim_draw":
                return may_claim_by_key(table, monotonic())
            case _ if name not in SITUATIONS[_WHEN["watching" if looks_on else table.situation]]:
                return False
            case "rematch":
                return self.room.state is not None and can_play_again(self.room.state)
            case "another":
                return bool(table.another)
            case "hide_code":
                return self.desk.settings.colour and not self.desk.settings.ascii
        return True

    def action_do(self, name: str) -> None:
        _KEYS[name][1](self)

    async def on_key(self, event: events.Key) -> None:
        """Take each key when what the one before it was for is done: as fast as they come, none means another thing."""
        active = self.active_bindings.get(event.key)
        if active is not None and active.node is not self:
            return
        event.stop()
        event.prevent_default()
        if self.is_small and self.hand.question is None:
            return
        name = (active.binding.id or "") if active is not None else ""
        text = (event.character or "") if event.is_printable and "alt+" not in event.key else ""
        if self.hand.question is not None:
            self.decide(name)
        elif self.hand.line.mode:
            await self._type_in_line(event.key, text, name)
        elif text and (not name or (name == "place" and self.hand.ahead)):
            self.type(text)
        elif name:
            self.action_do(name)
        elif event.key == "backspace":
            self.hand.ahead = self.hand.ahead[:-1]
        elif event.key == "enter" and self.hand.ahead:
            self.enter()
        self.desk.redraw()

    def decide(self, name: str) -> None:
        """Take the answer to a question; any other key plays on and does no more: it might place a mark."""
        if self.hand.question is None:
            return
        (_, deed), self.hand.question = self.hand.question, None
        self.hand.answered(monotonic())
        if name == "confirm":
            deed()
        elif name != "back":
            self.desk.say("The game goes on.", "dim")

    async def _type_in_line(self, key: str, text: str, name: str) -> None:
        """Take a key while something is being said or commanded: a character is text there, whatever else it is for."""
        line = self.hand.line
        if text:
            line.write(text)
        elif name := name or _LINE_KEYS.get(key, ""):
            if self.check_action("do", (name,)):
                self.action_do(name)
        elif key == "enter" and line.mode == "chat":
            self.say(line.submit())
        elif key == "enter":
            self.command(line.submit())
        elif key == "backspace" and not line.value:
            line.close()
        else:
            await line.press(key)

    def open_chat(self) -> None:
        """Open the line, or leave it for the board with what is typed kept; complete a command in it."""
        line = self.hand.line
        if line.mode == "command":
            line.fill(line.completion or line.value)
        elif line.mode:
            line.unsaid = line.close()
        else:
            line.begin_chat()

    def back(self) -> None:
        """Take Esc, where nothing is asked: drop what is typed, hide values, return to the present, else leave."""
        if self.hand.line.mode:
            self.hand.line.close()
        elif self.desk.errands.errand:
            self.go_home()
        elif self.hand.ahead:
            self.hand.ahead = ""
        elif self.table.review.is_on:
            self.switch_values()
            if self.table.situation == "over":
                self.at_present()
        elif self.table.actions.timeline.is_back and self.table.record is None:
            self.at_present()
        else:
            self.ask_before("leave", self.go_home)

    def command(self, text: str) -> None:
        """Carry out what was typed after ``:``; what costs the game is asked about first."""
        words, state = text.strip(), self.room.state
        if not words or state is None:
            return
        match intent := self.table.actions.parse(f":{words}"):
            case _ if words.lower() == "review":
                self.switch_values()
            case BadInput(code="too_long"):
                self.say(words.partition(" ")[2])
            case BadInput():
                self.desk.say(intent.message)
            case Verb(kind="chat"):
                self.say(intent.argument)
            case Place():
                self.play_or_point(intent.cell)
            case Verb(kind="resign") if self.room.plays:
                self.hand.question = "resign", partial(self.do, intent)
            case Verb(kind="leave" | "quit"):
                self.hand.ahead = ""
                self.at_present()
                self.back()
            case Verb(kind="new"):
                self.go_to_another()
            case Query(kind="help"):
                self.action_do("help")
            case Query(kind="board"):
                self.at_present()
                self.desk.say(describe_last(state, self.room.viewer), "title")
            case _:
                self.do(intent)

    def list_help(self) -> Sequence[Topic]:
        state, settings = self.room.state, self.desk.settings
        if state is None:
            return ()
        show = partial(self.desk.keymap.show, ascii_only=settings.ascii)
        return list_room_help(state.rules.to_rules(), settings, show, plays=self.room.seat is not None)

    def copy_link(self) -> None:
        link = link_for_others(self.desk, self.table)
        self.desk.copy_to_clipboard(link)
        self.desk.say(f"Copied: {link}", "good")

    def hide_code(self) -> None:
        self.hand.shows_code = not self.hand.shows_code

    def go(self, rows: int, columns: int) -> None:
        """Move the cursor of one who plays; else step, and compare what moves are worth or move the board."""
        state = self.room.state
        if state is not None and self.table.situation == "playing":
            self.hand.move_cursor((0 if state.rules.gravity else rows, columns), state)
        elif columns:
            self.step(columns)
        elif self.table.review.is_on:
            self.compare(rows)
        elif self.table.record is not None:
            self.shift(rows, 0)
        else:
            self.scroll(rows)

    def shift(self, rows: int, columns: int) -> None:
        self.hand.cursor = self.view.scroll(rows, columns)

    # -- at the board ---------------------------------------------------------------------------------------------

    def type(self, character: str) -> None:
        """Take a character at the board: of a move, of a move's number in a record, else a cell to ask about."""
        state, hand = self.room.state, self.hand
        if state is None:
            return
        rules = state.rules.to_rules()
        cell = cell_of_key(character, rules, self.desk.settings.keys)
        if self.table.situation == "playing":
            self._type_move(character, cell, state, rules)
        elif self.table.record is not None and character.isascii() and character.isdigit():
            hand.type_ahead(character)
        else:
            hand.ahead = ""
            self.enter() if cell is None else self.play_or_point(cell)

    def _type_move(self, character: str, cell: int | None, state: RoomState, rules: Rules) -> None:
        """Place on the cell of this key, or keep the key while it is not our move; else go on with a typed move."""
        hand, keys = self.hand, self.desk.settings.keys
        typed = hand.ahead.strip()
        is_key_typed = cell_of_key(typed, rules, keys) is not None
        if cell is not None and (not typed or is_key_typed):
            hand.ahead = ""
            if self._is_quiet:
                return
            if self._may_send:
                self.play(cell)
                return
            hand.type_ahead(character)
            if not self.room.is_my_turn:
                name = name_of(state, state.turn)
                self.desk.say(f"It's {name}'s move. Enter plays {character} when it is yours.")
        elif not typed and character.isalpha() and has_single_keys(rules) and keys is Keys.LETTERS:
            self.desk.say(f"Here a letter places: qwe/asd/zxc. For a name such as b3: {self._colon}b3")
        elif character != " " or (typed and not is_key_typed):
            if begins_anew(hand.ahead, character, rules):
                hand.ahead = ""
            hand.type_ahead(character)

    def enter(self) -> None:
        """Play what is typed, else at the cursor; go to the move whose number is typed in a record.

        Where one only looks on, say why nothing is placed.
        """
        state, hand = self.room.state, self.hand
        if state is None:
            return
        if self.table.situation == "playing":
            if self._is_quiet:
                return
            if hand.ahead:
                self._submit_ahead(hand.ahead.strip())
            elif hand.cursor is not None:
                self.play(hand.cursor)
            else:
                hand.move_cursor((0, 0), state)
        elif hand.ahead:
            number, hand.ahead = int(hand.ahead), ""
            self.do(Look("at", number))
        elif self.table.review.is_on:
            cell = example_cell(state.rules.to_rules())
            self.desk.say(f"{self._colon}{cell} or a click tells what a cell is worth.")
        else:
            self.play(0)

    def _submit_ahead(self, typed: str) -> None:
        """Play what was typed as a move; it stays while the move cannot be sent yet."""
        intent = self.table.actions.parse(typed)
        if not isinstance(intent, Place) or self._may_send:
            self.hand.ahead = ""
        match intent:
            case Place(cell):
                self.play(cell)
            case BadInput(message=message):
                self.desk.say(clean_text(message))
            case _ if len(typed.split(" ")[0]) > 1:
                self.desk.say(f"Commands begin with {self._colon}   {self._colon}{typed}")
            case _:
                self.desk.say(describe_unknown(typed, "A move looks like b2. ? for help."))

    @property
    def _is_quiet(self) -> bool:
        """Whether a question was answered a moment ago, so that no key may place."""
        return monotonic() < self.hand.quiet_until

    @property
    def _may_send(self) -> bool:
        """Whether a move would go out now: it is ours, and none is on its way."""
        return self.room.is_my_turn and self.hand.pending is None

    @property
    def _colon(self) -> str:
        return self.desk.keymap.show("command")

    # -- the mouse ------------------------------------------------------------------------------------------------

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text goes into the line that is open; at the board only while there is a move to type."""
        if self.hand.line.mode:
            self.hand.line.write(event.text)
        elif self.room.plays:
            self.hand.type_ahead(event.text)
        self.desk.redraw()

    def on_click(self, event: events.Click) -> None:
        """Take a click; beside the stage there is nothing to click."""
        if (place := self.find(event)) is not None and self.hand.is_at_board:
            self.click(*place)
            self.desk.redraw()

    def on_mouse_scroll_down(self) -> None:
        self.scroll(1)
        self.desk.redraw()

    def on_mouse_scroll_up(self) -> None:
        self.scroll(-1)
        self.desk.redraw()

    def click(self, x: int, y: int) -> None:
        """Place at once on 3x3; on larger boards choose, and place by a second click; step back in a watcher's head."""
        state, grid, hand = self.room.state, self.view.grid, self.hand
        if state is None or grid is None:
            return
        if y == 0 and x in self.view.back_at:
            self.step(-1)
            return
        cell = grid.find_cell(x - self.view.corner[0], y - self.view.corner[1])
        situation, reviews = self.table.situation, self.table.review.is_on
        if cell is None:
            return
        if situation == "replay" and not reviews:
            if cell in self.room.moves:
                self.jump(self.room.moves.index(cell) + 1)
        elif situation == "playing":
            chosen, columns = hand.cursor, state.rules.columns
            is_again = cell == chosen or (
                state.rules.gravity and chosen is not None and chosen % columns == cell % columns
            )
            is_sure = has_single_keys(state.rules.to_rules()) and not self.desk.settings.confirm
            hand.cursor = cell
            if is_again or is_sure:
                self.play(cell)
        elif situation == "watching" or reviews:
            self.play_or_point(cell)

    def scroll(self, lines: int) -> None:
        """The wheel moves the cursor, and so the board; in a record it steps."""
        if self.table.record is not None:
            self.step(lines)
        elif self.room.state is not None:
            self.hand.move_cursor((lines, 0), self.room.state)
