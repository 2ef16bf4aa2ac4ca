"""A room on the screen: its keys, its mouse and its line, and what is done by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Final

from textual import events
from textual.binding import ActiveBinding, Binding
from textual.geometry import Region

from tictactoe_client.input.actions import Actions
from tictactoe_client.input.intents import BadInput, Intent, Look, Place, Query, Verb, describe_too_long
from tictactoe_client.input.record import RecordActions, RecordedRoom
from tictactoe_client.online.client import Choice
from tictactoe_client.online.errors import ClientError
from tictactoe_client.online.room import Room
from tictactoe_client.text.answers import describe_last
from tictactoe_client.text.help import Topic, list_room_help
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.drawn import DrawnScreen
from tictactoe_client.tui.keymap import ACTIONS
from tictactoe_client.tui.page import HelpPage
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.room.following import Follower
from tictactoe_client.tui.room.foot import describe_question
from tictactoe_client.tui.room.keys import DEEDS, find_action, find_deed, list_actions
from tictactoe_client.tui.room.leaving import WaysOut
from tictactoe_client.tui.room.model import RoomModel
from tictactoe_client.tui.room.moves import MoveInput
from tictactoe_client.tui.room.panel import link_for_others
from tictactoe_client.tui.room.review import Review
from tictactoe_client.tui.room.view import RoomView
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.choices import Deed, describe_reason
from tictactoe_protocol.codes import MAX_CHAT_LENGTH

_NAMED: Final = {"chat": "deed chat", "copy": "deed copy", "command": "key command", "help": "key help"}
"""What keys that are for no deed are called in the list of commands."""
_LINE_KEYS: Final = {key: name for name in ("back", "accept", "decline") for key in ACTIONS[name]}
"""What counts in a line by the keys that it comes with, where one's own are text there."""


class RoomScreen(DrawnScreen):
    """One room, entered, or a recorded game, first seen after `ply` moves, which needs no server.

    `again` is what to enter for another opponent, if anything, `news` what is told at once.
    """

    def __init__(self, desk: Desk, room: Room, again: Choice | None = None, news: str = "", ply: int = 0) -> None:
        client, settings = desk.link.client, replace(desk.settings, colour=False)
        features = client.features if client is not None else frozenset()
        if isinstance(room, RecordedRoom):
            actions: Actions = RecordActions(room, settings, shows=True, tell=desk.say)
            actions.timeline = actions.timeline.jump(ply)
        else:
            actions = Actions(room, settings, shows=True, aborts="abort" in features, tell=desk.say)
        review = Review(actions, run=desk.start, tell=desk.say, redraw=self.redraw)
        self.room = room
        self.model = RoomModel(room, actions, review, again, features)
        self.view = RoomView(desk, self.model)
        self.moves = MoveInput(desk, self.model, self.do)
        super().__init__(self.model.line)
        self.ways = WaysOut(desk, self.model, self, lambda room, news: RoomScreen(desk, room, again, news))
        self.is_room = self.needs_server = self.model.record is None
        self._follower = Follower(desk, self.model, self, self.ways)
        self._news = news
        if room.seat is not None:
            desk.link.keep_room(room.code)

    def on_mount(self) -> None:
        if self._news and self.model.record is not None:
            self.desk.say(self._news)
        elif self._news:
            self.model.news.say(self._news)

    # -- what is drawn --------------------------------------------------------------------------------------------

    def needed_size(self) -> tuple[int, int]:
        return self.view.needed_size()

    def describe_question(self) -> str:
        return describe_question(self.model, self.desk.keymap)

    def place(self, width: int, height: int) -> Region:
        return self.view.place(width, height)

    def paint(self, page: Picture) -> None:
        self.view.draw(page, self.desk.status)

    def tick(self) -> None:
        self._follower.tick()
        super().tick()

    # -- keys -----------------------------------------------------------------------------------------------------

    async def on_key(self, event: events.Key) -> None:
        """Take each key when what the one before it was for is done: as fast as they come, none means another thing."""
        event.stop()
        event.prevent_default()
        model = self.model
        if self.is_small and model.question is None:
            return
        text = (event.character or "") if event.is_printable and "alt+" not in event.key else ""
        action = find_action(model, self.desk.keymap, event.key, text)
        if model.question is not None:
            self.decide(action)
        elif model.line.mode:
            await self._type_in_line(event.key, text, action)
        elif text and (not action or (action == "place" and model.typed)):
            self.moves.type(text)
        elif action:
            self.act(action)
        elif event.key == "backspace":
            model.typed = model.typed[:-1]
        elif event.key == "enter" and model.typed:
            self.moves.enter()
        self.desk.redraw()

    def act(self, action: str) -> None:
        """Do what a key is for; where that is a deed that is not possible, say why."""
        if action in DEEDS and action != "mistake_before":
            deed, state = find_deed(self.model, action), self.room.state
            if deed is not None:
                self.perform(deed)
            elif state is not None:
                self.moves.explain(action, DEEDS[action], state)
        else:
            _ACTS[action](self)

    def perform(self, deed: Deed) -> None:
        """Do one of the deeds that are possible."""
        match deed.id:
            case "place" | "chat" | "review" | "copy" | "leave":
                _ACTS[deed.id](self)
            case "mistakes":
                self.do(Look("mistake", 1))
            case "new":
                self.ways.go_to_another()
            case "computer":
                self.ways.go_to_computer()
            case "resign":
                self.model.question = "resign", partial(self.do, Verb("resign"))
            case "draw" | "undo" | "claim" | "rematch" | "save":
                if deed.argument not in ("", "offer", "ask", "withdraw"):
                    self.model.note_answer(monotonic())
                self.do(Verb(deed.id, deed.argument))

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys that count now, for those who look for them by what they are called; the program's first."""
        bindings = dict(super().active_bindings)
        for action in list_actions(self.model):
            deed, keys = find_deed(self.model, action), self.desk.keymap.keys_of(action)
            label = deed.label if deed is not None else "" if action in DEEDS else _NAMED.get(action, "")
            for key in keys if label else ():
                binding = Binding(key, f"act('{action}')", label, id=action)
                bindings.setdefault(key, ActiveBinding(self, binding, enabled=True, tooltip=""))
        return bindings

    def decide(self, action: str) -> None:
        """Take the answer to a question; any other key plays on and does no more: it might place a mark."""
        if self.model.question is None:
            return
        (_, deed), self.model.question = self.model.question, None
        self.model.note_answer(monotonic())
        if action == "confirm":
            deed()
        elif action != "back":
            self.desk.say(say("room plays on"), "dim")

    def back(self) -> None:
        """Take Esc, where nothing is asked: drop what is typed, hide values, return to the present, else leave."""
        model = self.model
        if model.line.mode:
            model.line.close()
        elif self.desk.errands.errand:
            self.ways.go_home()
        elif model.typed:
            model.typed = ""
        elif model.review.is_on:
            self.switch_values()
            if model.kind == "over":
                model.look_at(len(self.room.moves))
        elif model.is_back and model.record is None:
            model.look_at(len(self.room.moves))
        else:
            self.ways.ask_before("leave", self.ways.go_home)

    def go(self, rows: int, columns: int) -> None:
        """Move the cursor of one who plays; else step, and compare what moves are worth or move the board."""
        model = self.model
        if model.kind == "playing":
            is_falling = model.rules is not None and model.rules.gravity
            model.move_cursor(0 if is_falling else rows, columns)
        elif columns:
            self.step(columns)
        elif model.review.is_on:
            self.moves.compare(rows)
        elif model.record is not None:
            self.shift(rows, 0)
        else:
            self.scroll(rows)

    def shift(self, rows: int, columns: int) -> None:
        self.model.cursor = self.view.scroll(rows, columns)

    def step(self, by: int) -> None:
        self.model.look_at(self.model.actions.timeline.here + by)

    def switch_values(self) -> None:
        """Show what moves are worth, or no longer; at the end of a game from its last move on."""
        model, state = self.model, self.room.state
        why = model.choices.find_reason("review")
        if why is not None and state is not None and not model.review.is_on:
            self.desk.say(describe_reason(why, state))
        elif model.plays:
            self.do(Query("value"))
        else:
            model.review.switch(on=not model.review.is_on)
            model.cursor = None
            if model.kind == "over" and model.review.is_on and not model.is_back:
                self.step(-1)

    def list_help(self) -> Sequence[Topic]:
        rules, settings = self.model.rules, self.desk.settings
        show = partial(self.desk.keymap.show, ascii_only=settings.ascii)
        return () if rules is None else list_room_help(rules, settings, show, plays=self.model.seat is not None)

    def copy_link(self) -> None:
        link = link_for_others(self.desk, self.model)
        self.desk.copy_to_clipboard(link)
        self.desk.say(say("room copied", link=link), "good")

    def hide_code(self) -> None:
        self.model.shows_code = not self.model.shows_code

    # -- the line -------------------------------------------------------------------------------------------------

    async def _type_in_line(self, key: str, text: str, action: str) -> None:
        """Take a key while something is being said or commanded: a character is text there, whatever else it is for."""
        line = self.model.line
        if text:
            line.write(text)
        elif action := action or _LINE_KEYS.get(key, ""):
            self.act(action)
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
        line = self.model.line
        if line.mode == "command":
            line.fill(line.completion or line.value)
        elif line.mode:
            line.unsaid = line.close()
        else:
            line.begin_chat()

    def say(self, text: str) -> None:
        """Say something to everybody in the room; what is too long stays in the line to be made shorter."""
        text = text.strip()
        if len(text) > MAX_CHAT_LENGTH:
            self.model.line.begin_chat(text)
            self.desk.say(describe_too_long(text))
        elif text:
            self.do(Verb("chat", text))

    def command(self, text: str) -> None:
        """Carry out what was typed after ``:``; what costs the game is asked about first."""
        words, state = text.strip(), self.room.state
        if not words or state is None:
            return
        match intent := self.model.actions.parse(f":{words}"):
            case BadInput(code="too_long"):
                self.say(words.partition(" ")[2])
            case BadInput():
                self.desk.say(intent.message)
            case Query("value", None):
                self.switch_values()
            case Verb(kind="chat"):
                self.say(intent.argument)
            case Place():
                self.moves.play_or_point(intent.cell)
            case Verb(kind="resign") if self.model.plays:
                self.model.question = "resign", partial(self.do, intent)
            case Verb(kind="leave" | "quit"):
                self.model.typed = ""
                self.model.look_at(len(self.room.moves))
                self.back()
            case Verb(kind="new"):
                self.ways.go_to_another()
            case Query(kind="help"):
                self.act("help")
            case Query(kind="board"):
                self.model.look_at(len(self.room.moves))
                self.desk.say(describe_last(state, self.room.viewer), "title")
            case _:
                self.do(intent)

    # -- what is carried out --------------------------------------------------------------------------------------

    def do(self, intent: Intent) -> None:
        """Do what is wanted beside everything else, and tell what comes of it."""
        self.desk.start(self._do(intent))

    async def _do(self, intent: Intent) -> None:
        """A move that was not to be had goes out of its cell again; what was not said comes back into the line.

        It waits for the next line where a key was pressed meanwhile.
        """
        model, line = self.model, self.model.line
        timeline, keys = model.actions.timeline, model.news.keys
        told: Sequence[str] = ()
        waits = isinstance(intent, Place) or (isinstance(intent, Verb) and intent.kind == "chat")
        is_offline = self.desk.link.phase == "away" and not waits  # what else needs the server is refused
        try:
            told = (await model.actions.do(intent, is_offline=is_offline)).lines
        except ClientError:
            model.pending = None if isinstance(intent, Place) else model.pending
            raise
        match intent:
            case Place() if told:
                model.pending = None
            case Verb("chat", text) if told:
                line.unsaid = text
                if model.news.keys == keys and not line.mode:
                    line.begin_chat()
            case Look("mistake") if model.actions.timeline is not timeline:
                model.review.switch(on=True)
        if model.actions.timeline is not timeline:
            model.note_look()
            self.desk.redraw()
        if len(told) > 1:
            model.news.tell(*told)
        if told:
            self.desk.say(told[0])

    # -- the mouse ------------------------------------------------------------------------------------------------

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text goes into the line that is open; at the board only while there is a move to type."""
        if self.model.line.mode:
            self.model.line.write(event.text)
        elif self.model.plays:
            self.model.type(event.text)
        self.desk.redraw()

    def on_click(self, event: events.Click) -> None:
        """Take a click; beside the stage there is nothing to click."""
        place, model = self.find(event), self.model
        if place is None or model.line.mode or model.question is not None:
            return
        if self.view.is_way_back(*place):
            self.step(-1)
        elif (cell := self.view.find_cell(*place)) is not None:
            self.moves.click(cell)
        self.desk.redraw()

    def on_mouse_scroll_down(self) -> None:
        self.scroll(1)
        self.desk.redraw()

    def on_mouse_scroll_up(self) -> None:
        self.scroll(-1)
        self.desk.redraw()

    def scroll(self, lines: int) -> None:
        """The wheel moves the cursor, and so the board; in a record it steps."""
        if self.model.record is not None:
            self.step(lines)
        else:
            self.model.move_cursor(lines, 0)

    # -- what the program asks ------------------------------------------------------------------------------------

    @property
    def window_title(self) -> str:
        if self.model.record is not None:
            return say("title replay")
        return say("title your move") if self.room.is_my_turn else say("title room", code=self.room.code)

    def connected(self) -> None:
        """On a wholly new conversation the room must be entered anew; that is for the home page to offer."""
        if self.model.record is None:
            self.desk.go_home()

    def closed(self) -> None:
        self._follower.stop()
        self.ways.note_game(self.room.state)
        self.desk.errands.give_up()
        self.model.review.switch(on=False)
        self.desk.link.forget_room(self.room.code)

    def describe_loss(self, reason: str) -> str:
        return self.ways.describe_loss(reason)

    def note_person(self) -> None:
        self.model.news.note_key()

    def asks_first(self, leave: Callable[[], None]) -> bool:
        return self.ways.asks_first(leave)

    async def say_goodbye(self, *, gives_up: bool) -> str:
        return await self.ways.say_goodbye(gives_up=gives_up)


_ACTS: Final[Mapping[str, Callable[[RoomScreen], object]]] = {
    "retry": lambda room: room.desk.link.retry(),
    "chat": lambda room: room.open_chat(),
    "command": lambda room: room.model.line.begin_command(),
    "help": lambda room: room.desk.open(HelpPage(room.list_help())),
    "back": lambda room: room.back(),
    "leave": lambda room: room.ways.ask_before("leave", room.ways.go_home),
    "copy": lambda room: room.copy_link(),
    "hide_code": lambda room: room.hide_code(),
    "left": lambda room: room.go(0, -1),
    "right": lambda room: room.go(0, 1),
    "up": lambda room: room.go(-1, 0),
    "down": lambda room: room.go(1, 0),
    "home": lambda room: room.model.look_at(0),
    "end": lambda room: room.model.look_at(len(room.room.moves)),
    "review": lambda room: room.switch_values(),
    "mistake_before": lambda room: room.do(Look("mistake", -1)),
    "aside_left": lambda room: room.shift(0, -1),
    "aside_right": lambda room: room.shift(0, 1),
    "place": lambda room: room.moves.enter(),
}
"""What the keys do that are for no deed, and those for deeds that are more than to ask the server."""
