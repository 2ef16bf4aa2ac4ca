"""What happens in a room is heard here, taken into its model, and drawn once for all that happened at once."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from tictactoe_client.board.board import drop_frames
from tictactoe_client.online import events
from tictactoe_client.text.talk import announce_chat
from tictactoe_client.tui.program import ClientScreen, Program
from tictactoe_client.tui.room.leaving import WaysOut
from tictactoe_client.tui.room.model import RoomModel
from tictactoe_engine import format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.wording import name_of, seat_of

_BACK_SHOWN_SECONDS = 5.0
_FRAME_SECONDS = 0.05
_MOST_FRAMES = 4
_SLOW_MS = 150
"""Over a link with a longer way than this nothing falls: it would come in fits."""
_MOST_CELLS_JUDGED = 42
"""On larger boards the turning point is not looked for: that takes too long."""


class Follower:
    """Follows a room for `screen`; `stop` ends that."""

    def __init__(self, program: Program, model: RoomModel, screen: ClientScreen, ways: WaysOut) -> None:
        self._program = program
        self._model = model
        self._screen = screen
        self._ways = ways
        self._back: events.Back | None = None
        self.stop = model.room.subscribe(self._hear)

    def tick(self) -> None:
        """Take note that time has passed; a welcome goes when it was read, or its line was closed."""
        if self._model.news.back_until <= monotonic() and not self._model.line.mode:
            self._model.news.back = ""
        if self._model.choices.questions:
            self._model.consider(monotonic())

    def _hear(self, event: events.RoomEvent) -> None:
        """Take what happens in this room; what a state changed comes with it."""
        model = self._model
        match event:
            case events.Change():
                return
            case events.Updated():
                self._take_update(event)
            case events.Said(line) if model.actions.muted.hears(line):
                model.news.say(announce_chat(line))
            case events.Lost():
                model.news.back, model.is_online = "", False
                model.consider(monotonic())
            case events.Back():
                self._program.status, self._back, model.is_online = None, event, True
                model.consider(monotonic())
            case events.RoomMoved(url=url):
                model.news.say(say("room is at", url=clean_text(url)))
            case events.Gone(refused=refused):
                self._ways.end(clean_text(refused.message))
            case events.Closed(reason):
                self._ways.end(say("room closed", room=model.room.code, reason=clean_text(reason).rstrip(".")))
            case events.Replaced():
                self._ways.end(say("taken over by card" if model.room.state.event else "taken over"))
        self._program.redraw()

    def _take_update(self, update: events.Updated) -> None:
        old, state, model, before = update.old, update.state, self._model, self._model.choices
        moved = [change for change in update.changes if isinstance(change, events.Moved)]
        model.follow(update, monotonic())
        model.review.look()
        if old is not None and (
            (old.ply, old.turn, old.status, old.chosen) != (state.ply, state.turn, state.status, state.chosen)
            or before.may("rematch") != model.choices.may("rematch")
        ):
            self._program.status = None
            model.news.back = ""
        if self._back is not None:
            self._welcome_back(self._back, moved, state)
            self._back = None
        if len(moved) == 1:
            self._let_fall(moved[0].cell, state)
        if events.Ended in map(type, update.changes):
            self._program.start(self._find_turning_point(state))
        was_mine = old is not None and old.turn is not None and old.turn == seat_of(old, model.room.viewer)
        if model.room.is_my_turn and not was_mine and (old is None or old.status != "waiting" or state.ply == 0):
            self._program.ring()

    def _welcome_back(self, back: events.Back, moved: Sequence[events.Moved], state: RoomState) -> None:
        missed = say("nothing missed")
        who = (moved[-1].by or moved[-1].mark) if moved else self._model.seat
        if who != self._model.seat:
            cell = format_cell(moved[-1].cell, self._model.rules)
            missed = say("room played meanwhile", name=name_of(state, who), cell=cell)
        told = say("room back after", seconds=max(1, round(back.seconds)))
        self._model.news.back = f"✓ {told} {missed}"
        self._model.news.back_until = monotonic() + _BACK_SHOWN_SECONDS

    def _let_fall(self, cell: int, state: RoomState) -> None:
        is_slow = (self._program.link.latency_ms or 0) > _SLOW_MS
        if state.rules.gravity and self._program.settings.motion and not is_slow and self._screen.is_current:
            self._model.falling = drop_frames(state.board, state.rules.columns, cell, _MOST_FRAMES)
            self._screen.set_timer(_FRAME_SECONDS, self._fall_on)

    def _fall_on(self) -> None:
        self._model.falling = self._model.falling[1:]
        self._screen.redraw()
        if self._model.falling:
            self._screen.set_timer(_FRAME_SECONDS, self._fall_on)

    async def _find_turning_point(self, state: RoomState) -> None:
        """Look for the last mistake of those who did not win; where that is quick, for what all moves were worth."""
        model, judge, result = self._model, self._model.actions.judge, state.result
        if judge is None or result is None or len(state.board) > _MOST_CELLS_JUDGED:
            return
        mistake = await judge.find_turning_point(result.winner)
        if not judge.seconds_left:
            [_ async for _ in judge.mistakes(range(1, judge.position.ply + 1))]
        if mistake is not None and model.room.state.game == state.game:
            model.turning_point = mistake.describe(model.rules)
        self._screen.redraw()
