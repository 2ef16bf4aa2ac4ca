"""Carries out commands in a room, whether pressed, typed or clicked; also leaves the room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from time import monotonic
from typing import cast

from tictactoe_client.input.cells import cell_of_key, landing_cell
from tictactoe_client.input.intents import BadInput, describe_move
from tictactoe_client.input.plans import describe_usage
from tictactoe_client.input.ways import Choice
from tictactoe_client.online.errors import ClientError
from tictactoe_client.settings import ExitCode
from tictactoe_client.text.help import Topic, list_room_help
from tictactoe_client.text.talk import list_sentences
from tictactoe_client.text.wording import describe_unknown
from tictactoe_client.tui.page import HelpPage
from tictactoe_client.tui.program import ClientScreen, Program
from tictactoe_client.tui.room.model import RoomModel, example_cell, find_deed
from tictactoe_client.tui.room.picture import RoomView
from tictactoe_engine import Keys, Rules, has_single_keys
from tictactoe_protocol import clean_text
from tictactoe_words.catalogue import say
from tictactoe_words.choices import Deed, describe_reason
from tictactoe_words.commands import IN_ROOMS, Intent, Look, Place, Query, Verb, VerbKind, word_of
from tictactoe_words.wording import explain_rules, name_of
from tictactoe_words.worth import rank_cells


class RoomCommands:
    """The commands in the room of `model`, which `screen` shows in its widget `view`."""

    def __init__(self, program: Program, model: RoomModel, view: RoomView, screen: ClientScreen) -> None:
        self.model = model
        self.line = model.line
        self._program = program
        self._view = view
        self._screen = screen
        self._quit: Callable[[], object] = lambda: None

    def act(self, action: str) -> None:
        """Carry out a key's action, or say why it is impossible now."""
        (command, key), deed = IN_ROOMS[action], find_deed(self.model, action)
        if command.means is None and command.pressed_for and deed is None:
            if (why := self.model.choices.find_reason(command.pressed_for[0])) is not None:
                self._program.say(describe_reason(why, self.model.room.state))
        elif key.does:
            method, *numbers = key.does.split()
            attrgetter(method)(self)(*map(int, numbers))
        elif deed is not None and isinstance(command.means, Verb):
            self.perform(deed)
        elif command.means is not None:
            self.carry_out(command.means)

    def perform(self, deed: Deed) -> None:
        if deed.id != "new" and deed.argument not in ("", "offer", "ask", "withdraw"):
            self.model.note_answer(monotonic())
        self.carry_out(Verb(cast(VerbKind, deed.id), deed.argument))

    def decide(self, action: str) -> None:
        """Answer the question; any other key means no and has no other effect, since it might place a mark."""
        self.model.note_answer(monotonic())
        if action == "back":
            self.model.actions.confirming = ""
        elif action == "give_up" and self.model.actions.confirming == "leave" and self.model.room.keeps_seat:
            self.do(Verb("resign"))
        else:
            self.do(Verb("yes" if action == "confirm" else "no"))

    def ask_to_quit(self, leave: Callable[[], object]) -> bool:
        """Ask for confirmation if ending the program gives up a game; return False if no question is needed.

        `leave` is called if the person confirms.
        """
        self._quit = leave
        return self.model.actions.confirming != "quit" and self.model.actions.ask_before("quit")

    def retry(self) -> None:
        self._program.session.retry()

    def help(self) -> None:
        self._program.open(HelpPage(self.list_help()))

    def switch_code(self) -> None:
        self.model.shows_code = not self.model.shows_code

    def look_at(self, ply: int | None = None) -> None:
        self.model.look_at(len(self.model.room.moves) if ply is None else ply)

    def back(self) -> None:
        """Handle Esc: close what is open, clear typed text, hide values, return to the present, or leave the room."""
        model = self.model
        if model.line.mode:
            model.line.close()
        elif self._program.ways_in.waits_for:
            self.go_home()
        elif model.typed:
            model.typed = ""
        elif model.review.is_on:
            self.switch_values()
            if model.kind == "over":
                self.look_at()
        elif model.actions.timeline.is_back and model.record is None:
            self.look_at()
        else:
            self.do(Verb("leave"))

    def go(self, rows: int, columns: int) -> None:
        """Handle arrow keys: move the cursor during our game; otherwise step through or compare moves, or scroll."""
        model = self.model
        if model.kind == "playing":
            model.move_cursor(0 if model.rules.gravity else rows, columns)
        elif columns:
            self.step(columns)
        elif model.review.is_on:
            self.compare(rows)
        elif model.record is not None:
            self.shift(rows, 0)
        else:
            self.scroll(rows)

    def shift(self, rows: int, columns: int) -> None:
        self.model.cursor = self._view.scroll(rows, columns)

    def step(self, by: int) -> None:
        self.model.look_at(self.model.actions.timeline.here + by)

    def switch_values(self) -> None:
        model, state = self.model, self.model.room.state
        why = model.choices.find_reason("review")
        if why is not None and not model.review.is_on:
            self._program.say(describe_reason(why, state))
        elif model.room.plays:
            self.do(Query("value"))
        else:
            model.review.switch(on=not model.review.is_on)
            model.cursor = None
            if model.kind == "over" and model.review.is_on and not model.actions.timeline.is_back:
                self.step(-1)

    def list_help(self) -> Sequence[Topic]:
        model, rules, show = self.model, self.model.rules, self._program.keymap.show
        plays = model.room.seat is not None
        topics = list_room_help(rules, self._program.settings, show, plays=plays, now=model.choices)
        sentences = [say(f"rules of {rules.preset}")] if rules.preset else explain_rules(rules)
        named = say(f"name of {rules.preset or 'custom'}"), tuple(("", sentence) for sentence in sentences)
        talk = tuple((key, say(f"sentence {id}")) for key, id in model.room.sentences.items() if key.isdigit())
        how = describe_usage(self._colon)
        plan = [(say("plan title"), ((f"{self._colon}{word_of('plan')}", how),))] if model.room.keeps_seat else []
        return [*([named] if sentences else []), *topics, *plan, *([(say("topic talk"), talk)] if talk else [])]

    def copy(self) -> None:
        link = self._view.link
        self._program.copy_to_clipboard(link)
        self._program.say(say("page copied", text=link), "good")

    def scroll(self, lines: int) -> None:
        """Handle the mouse wheel: move the cursor, or step through a record."""
        if self.model.record is not None:
            self.step(lines)
        else:
            self.model.move_cursor(lines, 0)

    def switch_line(self) -> None:
        """Open or close the chat line, or say why chat is impossible."""
        why, room = self.model.choices.find_reason("chat"), self.model.room
        if why not in (None, "why offline") and not self.line.mode:
            self._program.say(describe_reason(why, room.state))
            return
        self.line.switch()
        if self.line.mode == "chat" and room.sentences:
            self._program.say(list_sentences())

    def say(self, text: str) -> None:
        if text.strip():
            self.do(Verb("chat", text.strip()))

    def command(self, text: str) -> None:
        if text.strip():
            self.carry_out(self.model.actions.parse(f":{text}"))

    def carry_out(self, command: Intent | BadInput) -> None:
        """Carry out a command: moves, values and help on the screen itself, all others in the background."""
        match command:
            case Query("value", None):
                self.switch_values()
            case Place(cell):
                self.play_or_point(cell)
            case Query("help"):
                self.help()
            case _:
                self.do(command)

    def do(self, command: Intent | BadInput) -> None:
        """Carry out a command in a background task, and show its result."""
        self._program.start(self._do(command))

    async def _do(self, command: Intent | BadInput) -> None:
        """Carry out a command and show its result; take a failed move off the board, put failed chat into the line."""
        model, line = self.model, self.model.line
        timeline, keys = model.actions.timeline, model.news.keys
        try:
            outcome = await model.actions.do(command)
        except ClientError:
            model.pending = None if isinstance(command, Place) else model.pending
            raise
        lines = outcome.lines
        match command:
            case Place() if lines:
                model.pending = None
            case Verb("chat", text) if text and lines and model.choices.find_reason("chat") in (None, "why offline"):
                line.unsaid = text
                if model.news.keys == keys and not line.mode:
                    line.begin_chat()
            case Look("mistake") if model.actions.timeline is not timeline:
                model.review.switch(on=True)
        if model.actions.timeline is not timeline or command == Query("board"):
            model.note_look()
        if len(lines) > 1:
            model.news.tell(*lines)
        if lines:
            self._program.say(lines[0], "title" if command == Query("board") else "warn")
        self._program.redraw()
        going = {"leave": self.leave, "new": self.go_to_another, "quit": self._quit}
        going["next"] = self._program.action_call
        if outcome.going is not None:
            going[outcome.going]()

    def type(self, character: str) -> None:
        """Handle a character: the key of a cell, a part of a move, or in a record a digit of a move number."""
        model, rules = self.model, self.model.rules
        cell = cell_of_key(character, rules, self._program.settings.keys)
        if model.kind == "playing":
            self._type_move(character, cell, rules)
        elif model.record is not None and character.isascii() and character.isdigit():
            model.type(character)
        else:
            model.typed = ""
            self.enter() if cell is None else self.play_or_point(cell)

    def _type_move(self, character: str, cell: int | None, rules: Rules) -> None:
        """Place a mark on the key's cell, hold the key until our turn, or extend a typed move."""
        model, keys = self.model, self._program.settings.keys
        typed = model.typed.strip()
        is_key_typed = cell_of_key(typed, rules, keys) is not None
        if cell is not None and (not typed or is_key_typed):
            self._press_cell(character, cell)
        elif not typed and character.isalpha() and has_single_keys(rules) and keys is Keys.LETTERS:
            self._program.say(say("room letters place", typed=f"{self._colon}b3"))
        elif character != " " or (typed and not is_key_typed):
            model.type(character)

    def _press_cell(self, character: str, cell: int) -> None:
        model, state = self.model, self.model.room.state
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
        """Play the typed move or the cursor's cell, or go to the typed move number; tell watchers why they cannot."""
        model = self.model
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
            self.do(Look("at", number))
        elif model.review.is_on:
            self._program.say(say("room point", typed=f"{self._colon}{example_cell(model.rules)}"))
        else:
            self.play(0)

    def _play_typed(self, typed: str) -> None:
        """Play the typed move; keep the text if it is a move that has to wait for our turn."""
        model = self.model
        command = model.actions.parse(typed)
        if not isinstance(command, Place) or model.may_send or model.is_to_choose:
            model.typed = ""
        match command:
            case Place(cell):
                self.play(cell)
            case BadInput(message=message):
                self._program.say(clean_text(message))
            case _ if len(typed.split(" ")[0]) > 1:
                self._program.say(say("room colon first", key=self._colon, typed=f"{self._colon}{typed}"))
            case _:
                self._program.say(describe_unknown(typed, describe_move(model.rules)))

    def play(self, cell: int) -> None:
        """Play a cell, or say why that is impossible; do nothing while a move is pending."""
        model, state = self.model, self.model.room.state
        if model.pending is None:
            target = landing_cell(state, cell) if model.may_send else None
            mark = state.opening.places if state.opening else state.turn
            model.pending = None if target is None else (target, mark or "")
            self.do(Place(cell))

    def play_or_point(self, cell: int) -> None:
        """Place a mark on a cell, or select the cell if values are shown."""
        if self.model.review.is_on:
            self.model.cursor = cell
        else:
            self.play(cell)

    def click(self, cell: int) -> None:
        """Place a mark on the clicked cell, on larger boards at the second click; in a record, go to its move."""
        model, rules = self.model, self.model.rules
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
        """Select the next worse or better move in the analysis, at first the best."""
        model, analysis = self.model, self.model.review.analysis
        if analysis is not None and analysis.cells:
            cells = rank_cells(analysis)
            here = cells.index(model.cursor) + by if model.cursor in cells else 0
            model.cursor = cells[max(0, min(here, len(cells) - 1))]

    @property
    def _colon(self) -> str:
        return self._program.keymap.show("command")

    @property
    def _is_quiet(self) -> bool:
        """Whether a question was just answered, so that keys must not place marks."""
        return monotonic() < self.model.quiet_until

    def go_home(self) -> None:
        """Go home and leave the room in the background; during a game without a connection, end the program instead."""
        if self._program.session.phase == "away" and self.model.room.plays:
            self._program.leave(ExitCode.CONNECTION_LOST)
            return
        self._program.close(self._screen)
        if self.model.room.ended is None:
            self._program.start(self.model.room.leave())

    def leave(self) -> None:
        """Go home; if our seat is kept, reconnect, since the server counts us as present until we disconnect."""
        room, session = self.model.room, self._program.session
        is_kept = room.keeps_seat and room.ended is None and session.phase == "online"
        self.go_home()
        if is_kept:
            self._program.start(session.greet_again())

    def end(self, why: str) -> None:
        if self._screen in self._program.screens and not self._program.ways_in.waits_for:
            self._program.close(self._screen)
            self._program.say(why)

    def go_to_another(self) -> None:
        if (again := self.model.actions.again) is not None:
            self._set_out(again)

    def go_to_computer(self) -> None:
        """Move from the waiting room to a new one with bots in the free seats."""
        room, state = self.model.room, self.model.room.state
        same = Choice.like(
            *(room, "create"),
            private=state.visibility == "private",
            seat=room.seat,
            bots=("medium",) * (len(self.model.rules.marks) - 1),
            analysis="open" if state.analysis == "open" else "closed",
            chat="players" if state.chat == "players" else "all",
            rated=False,
        )
        self._set_out(same, "room with computer")

    def _set_out(self, choice: Choice, news: str = "") -> None:
        if not self._program.ways_in.waits_for:
            self._program.start(self._go_over(choice, news))

    async def _go_over(self, choice: Choice, news: str) -> None:
        """Enter another room, show `news` with its code, and leave this one; stay if the person gives up waiting."""
        program, left = self._program, self.model.room
        try:
            room = await program.ways_in.move_on(left, choice)
        except ClientError:
            if left.ended is not None and self._screen in program.screens:
                program.go_home()
            raise
        if room is None:
            return
        program.close(self._screen)
        program.open_room(room, choice, program.screens[-1], say(news, code=room.code) if news else "")
        if left.ended is None:
            await left.leave(gives_up=not left.plays)
