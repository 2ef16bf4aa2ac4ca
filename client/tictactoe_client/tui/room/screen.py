"""The screen of a room: handles keys, clicks and the room's events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Final

from textual.app import ComposeResult
from textual.events import Click, Key, Paste

from tictactoe_client.board.board import drop_frames
from tictactoe_client.exits import note_game
from tictactoe_client.input.actions import Actions
from tictactoe_client.input.record import RecordActions, RecordedRoom
from tictactoe_client.input.ways import Choice
from tictactoe_client.online import events
from tictactoe_client.online.room import Room
from tictactoe_client.text.arrival import describe_farewell, describe_giving_up
from tictactoe_client.tui.program import ClientScreen, Program
from tictactoe_client.tui.room.keys import RoomCommands
from tictactoe_client.tui.room.model import RoomModel, find_action, find_deed
from tictactoe_client.tui.room.picture import RoomView
from tictactoe_client.tui.room.review import Review
from tictactoe_engine import format_cell
from tictactoe_protocol.challenges import Challenged
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.rated import Rated
from tictactoe_words.catalogue import say
from tictactoe_words.choices import describe_deed
from tictactoe_words.commands import ACTIONS, SITUATIONS
from tictactoe_words.openings import mover_of
from tictactoe_words.wording import name_of, seat_of

_ELSEWHERE: Final = frozenset({"share", "join"})
"""The actions that other pages handle."""
_LINE_KEYS: Final = {key: name for name in SITUATIONS["talking"] for key in ACTIONS.get(name, ())}
"""The actions of the open line by default key; they also work if the user's own keys would type text there."""
_BACK_SHOWN_SECONDS = 5.0
_FRAME_SECONDS = 0.05
_MOST_FRAMES = 4
_SLOW_MS = 150
"""Above this latency, falling marks are not animated, because the animation would stutter."""
_MOST_CELLS_JUDGED = 42
"""On larger boards, finding the turning point takes too long."""


class RoomScreen(ClientScreen):
    """A room; or a recorded game, which needs no server.

    Args:
        again: How to find another opponent after the game, or None.
        news: A message to show at once, or "".
        ply: The number of moves after which a record is shown first.
    """

    def __init__(self, program: Program, room: Room, again: Choice | None = None, news: str = "", ply: int = 0) -> None:
        settings = replace(program.settings, colour=False)
        if isinstance(room, RecordedRoom):
            actions: Actions = RecordActions(room, settings, shows=True, tell=program.say)
            actions.timeline = actions.timeline.jump(ply)
        else:
            client = program.session.client
            actions = Actions(room, settings, client=client, again=again, shows=True, tell=program.say)
            actions.colon = program.keymap.show("command")
        review = Review(actions, run=program.start, tell=program.say, redraw=self.redraw)
        self.room = room
        self.model = RoomModel(actions, review)
        super().__init__()
        self.canvas = RoomView(program, self.model)
        self.commands = RoomCommands(program, self.model, self.canvas, self)
        self._program = program
        self.needs_server = self.model.record is None
        self._back: events.Back | None = None
        self._stop_hearing = room.subscribe(self._hear)
        self._news = news
        self._has_noted = False

    def on_mount(self) -> None:
        if self._news:
            tell = self.model.news.say if self.model.record is None else self.program.say
            tell(self._news)

    def compose(self) -> ComposeResult:
        yield self.canvas

    def draw(self) -> None:
        self.canvas.draw()

    def tick(self) -> None:
        """Update clocks; hide the notice of the restored connection after a while."""
        if self.model.news.back_until <= monotonic() and not self.model.line.mode:
            self.model.news.back = ""
        if self.model.choices.questions:
            self.model.consider(monotonic())
        super().tick()

    def _hear(self, event: events.RoomEvent) -> None:
        model = self.model
        match event:
            case events.Happening() | events.Missed():
                return
            case events.Updated():
                self._take_update(event)
            case events.Told(Rated() as push):
                lines = model.actions.describe_event(event)
                model.news.say(*(lines[:1] if model.room.viewer in push.players else lines))
            case events.Told(Challenged()) if model.room.plays and (challenge := self.program.describe_challenge()):
                model.news.say(challenge[0])
            case events.Lost():
                model.news.back = ""
                model.consider(monotonic())
            case events.Back():
                self._program.status, self._back = None, event
                model.consider(monotonic())
            case events.RoomUnanswered(there=there):
                model.unanswered = there
            case events.Gone() | events.Closed() | events.Replaced():
                self.commands.end(*model.actions.describe_event(event))
            case events.Said() | events.RoomMoved():
                model.news.say(*model.actions.describe_event(event))
        self._program.redraw()

    def _take_update(self, update: events.Updated) -> None:
        old, state, model, before = update.old, update.state, self.model, self.model.choices
        news = {happening.type: happening for happening in update.news if isinstance(happening, events.Happening)}
        model.follow(update, monotonic())
        model.review.look()
        if old is not None and (
            (old.ply, old.turn, old.status, old.chosen) != (state.ply, state.turn, state.status, state.chosen)
            or before.may("rematch") != model.choices.may("rematch")
        ):
            self._program.status = None
            model.news.back = ""
        if self._back is not None:
            self._welcome_back(self._back, state, has_moved=old is not None and old.moves != state.moves)
            self._back = None
        if "moved" in news and news["moved"].cell == state.last:
            self._let_fall(news["moved"].cell or 0, state)
        if "ended" in news:
            self._program.start(self._find_turning_point(state))
        was_mine = old is not None and old.turn is not None and old.turn == seat_of(old, model.room.viewer)
        is_mine = bool(model.room.viewer) and model.room.is_my_turn
        if is_mine and not was_mine and (old is None or old.status != "waiting" or state.ply == 0):
            self._program.ring()

    def _welcome_back(self, back: events.Back, state: RoomState, *, has_moved: bool) -> None:
        missed = say("nothing missed")
        who = mover_of(state) if has_moved else None
        if state.last is not None and who not in (None, self.model.room.seat):
            cell = format_cell(state.last, self.model.rules)
            missed = say("room played meanwhile", name=name_of(state, who), cell=cell)
        back_after = say("room back after", seconds=max(1, round(back.seconds)))
        self.model.news.back = f"✓ {back_after} {missed}"
        self.model.news.back_until = monotonic() + _BACK_SHOWN_SECONDS

    def _let_fall(self, cell: int, state: RoomState) -> None:
        if not (state.rules.gravity and self._program.settings.motion and self.is_current):
            return
        if (self._program.session.latency_ms or 0) <= _SLOW_MS:
            self.model.falling = drop_frames(state.board, state.rules.columns, cell, _MOST_FRAMES)
            self.set_timer(_FRAME_SECONDS, self._fall_on)

    def _fall_on(self) -> None:
        self.model.falling = self.model.falling[1:]
        self.redraw()
        if self.model.falling:
            self.set_timer(_FRAME_SECONDS, self._fall_on)

    async def _find_turning_point(self, state: RoomState) -> None:
        """Find the loser's last mistake, and if that is quick, judge all other moves, too."""
        model, judge, result = self.model, self.model.actions.judge, state.result
        if judge is None or result is None or len(state.board) > _MOST_CELLS_JUDGED:
            return
        mistake = await judge.find_turning_point(result.winner)
        if not judge.seconds_left:
            [_ async for _ in judge.mistakes(range(1, judge.position.ply + 1))]
        if mistake is not None and model.room.state.game == state.game:
            model.turning_point = mistake.describe(model.rules)
        self.redraw()

    async def on_key(self, event: Key) -> None:
        """Handle a key. Keys are handled one at a time, so that fast typing does not change their meaning."""
        event.stop()
        event.prevent_default()
        model = self.model
        if self.canvas.is_small and not model.actions.confirming:
            return
        text = (event.character or "") if event.is_printable and "alt+" not in event.key else ""
        action = find_action(model, self._program.keymap, event.key, text)
        if model.actions.confirming:
            self.commands.decide(action)
        elif model.line.mode:
            await self._type_in_line(event.key, text, action)
        elif text and (not action or (action == "place" and model.typed)):
            self.commands.type(text)
        elif action == "place":
            self.commands.enter()
        elif action:
            self.commands.act(action)
        elif event.key == "backspace":
            model.typed = model.typed[:-1]
        elif event.key == "enter" and model.typed:
            self.commands.enter()
        self._program.redraw()

    async def _type_in_line(self, key: str, text: str, action: str) -> None:
        line = self.model.line
        if text:
            line.write(text)
        elif action := action or _LINE_KEYS.get(key, ""):
            self.commands.act(action)
        elif key == "enter" and line.mode == "chat":
            self.commands.say(line.submit())
        elif key == "enter":
            self.commands.command(line.submit())
        elif key == "backspace" and not line.value:
            line.close()
        else:
            await line.press(key)

    def on_paste(self, event: Paste) -> None:
        """Paste into the open line, or during our game into the typed move."""
        if self.model.line.mode:
            self.model.line.write(event.text)
        elif self.model.room.plays:
            self.model.type(event.text)
        self.program.redraw()

    def on_click(self, event: Click) -> None:
        if self.model.line.mode or self.model.actions.confirming:
            return
        if self.canvas.is_way_back(event.screen_offset):
            self.commands.step(-1)
        elif (cell := self.canvas.find_cell(event.screen_offset)) is not None:
            self.commands.click(cell)
        self.program.redraw()

    def on_mouse_scroll_down(self) -> None:
        self.commands.scroll(1)
        self.program.redraw()

    def on_mouse_scroll_up(self) -> None:
        self.commands.scroll(-1)
        self.program.redraw()

    def describe_key(self, label: str) -> str:
        state = self.room.state
        deed = next((deed for deed in self.model.choices.deeds if deed.label == label), None)
        return say(label) if deed is None else describe_deed(deed, state)

    @property
    def window_title(self) -> str:
        if self.model.record is not None:
            return say("title replay")
        return say("title your move") if self.room.is_my_turn else say("window title of", page=self.room.code)

    def connected(self) -> None:
        """Close the room when a new session starts; the home screen offers to enter the room again."""
        if self.model.record is None:
            self.program.go_home()

    def opened(self) -> None:
        """Enter the room again if we left it to visit a room on another server."""
        room = self.room
        if room.ended == "left":
            self._program.close(self)
            if room.plays or room.is_watching:
                choice = Choice("watch" if room.is_watching else "join", code=room.code)
                self._program.ways_in.go(choice, self._program.screens[-1])

    def closed(self) -> None:
        self._stop_hearing()
        self._note_game()
        self.program.ways_in.give_up()
        self.model.review.switch(on=False)
        self.program.session.forget_room(self.room.code)

    def describe_loss(self, reason: str) -> str:
        first = self.program.session.cluster.given.first
        return describe_giving_up(self.room.state, self.room.viewer, first, reason) if self.model.room.plays else ""

    def note_person(self) -> None:
        self.model.news.note_key()

    def asks_first(self, leave: Callable[[], None]) -> bool:
        asks = self.room.ended is None and self.commands.ask_to_quit(leave)
        if asks:
            self.program.go_back_to(self)  # show the board behind the question
        return asks

    def takes(self, action: str) -> bool:
        return find_deed(self.model, action) is not None

    def gives_way(self) -> bool:
        model = self.model
        is_free = not ((model.room.plays and not model.room.keeps_seat) or model.line.mode or model.actions.confirming)
        if is_free:
            self.commands.go_home()
        return is_free

    async def say_goodbye(self, *, gives_up: bool) -> str:
        """Leave the room if `gives_up`, waiting at most a second; return the last line for the terminal."""
        client = self.program.session.client
        if not self._has_noted:
            self._has_noted = True
            self._note_game()
        if client is None or self.room.ended is not None or self.model.record is not None:
            return ""
        has_left = gives_up and not self.room.keeps_seat and await self.room.say_goodbye()
        if has_left:
            self.program.session.forget_room(self.room.code)
        return describe_farewell(self.room, client, has_left=has_left)

    def _note_game(self) -> None:
        self.program.last_game = note_game(self.program.last_game, self.room.state, self.room.viewer)
