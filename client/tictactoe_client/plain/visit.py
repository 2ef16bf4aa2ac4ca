"""One person's visit to a room in plain mode: what happens there, what is typed and what time brings, printed.

Which of the three comes next is `game`'s, what a typed line does `actions`', and what time brings `reminders`'.
"""

from __future__ import annotations

import asyncio
import contextlib

from tictactoe_client.exits import exit_code_of
from tictactoe_client.input.actions import Actions, Outcome
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import EXPULSIONS, Interrupted, Refused
from tictactoe_client.online.events import (
    Back,
    Change,
    Closed,
    Dropped,
    Gone,
    Lost,
    Replaced,
    RoomEvent,
    Said,
    Told,
    Updated,
)
from tictactoe_client.online.room import Room
from tictactoe_client.online.stream import Stream
from tictactoe_client.plain.reminders import Reminders
from tictactoe_client.session import Enter, Session
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.keyboard import Keyboard
from tictactoe_client.streams.output import Output, is_terminal, print_error
from tictactoe_client.text.arrival import (
    TAKEN_OVER,
    describe_attempts,
    describe_closing,
    describe_going,
    describe_return,
    greet,
    set_scene,
)
from tictactoe_client.text.news import (
    Muted,
    announce,
    announce_chat,
    cost_of_going,
    describe_choices,
    describe_push,
    describe_ways_on,
    find_absent,
)
from tictactoe_client.text.wording import describe_turn, has_moved_on, seat_of
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState


class Visit:
    """A visit to one room or, with ``new``, to several; `seats` writes down where one sits.

    `room` and its `events` are None on the way from one room to the next, `exit_code` until the visit is over. While
    `is_offline` there is no connection; while `is_unsettled` the state may not show yet what was asked for last.
    """

    def __init__(
        self, client: Client, settings: Settings, keyboard: Keyboard, output: Output, seats: Session | None = None
    ) -> None:
        self.room: Room | None = None
        self.events: Stream[RoomEvent] | None = None
        self.exit_code: int | None = None
        self.is_offline = False
        self.is_unsettled = False
        self._client = client
        self._viewer = client.player
        self._address = client.address
        self._settings = settings
        self._keyboard = keyboard
        self._output = output
        self._seats = seats
        self._aborts = "abort" in client.features
        self._muted = Muted(client.player)
        self._actions: Actions | None = None
        self._reminders = Reminders(client.player, settings)
        self._changes: list[Change] = []
        self._away_seconds: float | None = None
        self._leaves_at: float | None = None
        self._has_asked_before_interrupt = False

    @property
    def state(self) -> RoomState | None:
        """The newest state, or None."""
        return None if self.room is None else self.room.state

    @property
    def is_away(self) -> bool:
        """Whether there is no connection, or what was missed without it has not been told yet."""
        return self.is_offline or self._away_seconds is not None

    @property
    def has_kept_move(self) -> bool:
        """Whether a move was kept for the return."""
        return self._actions is not None and self._actions.kept is not None

    async def enter(self, enter: Enter) -> None:
        """Go into a room."""
        room = self.room = await (enter(self._client) if self._seats is None else self._seats.enter(enter))
        self.events, piped = room.events(), not is_terminal(0)
        self._actions = Actions(
            room, self._settings, muted=self._muted, piped=piped, aborts=self._aborts, tell=self._output.print
        )
        self._reminders = Reminders(self._viewer, self._settings)

    def hear(self, event: RoomEvent) -> None:
        """Tell what happens in the room, and what becomes of the connection."""
        match event:
            case Change():
                self._changes.append(event)
            case Updated():
                self._take_update(event)
            case Said(line) if self._muted.hears(line):
                self._tell(announce_chat(line))
                self._prompt()
            case Told(push) if getattr(push, "code", None) not in EXPULSIONS:
                self._tell(describe_push(push))
                self._prompt()
            case Lost(hold_seconds=hold_seconds):
                self.is_offline = True
                if self._away_seconds is None:
                    self._output.print(describe_attempts(hold_seconds))
                self._away_seconds = None
                self._reminders.lose_connection(_now())
            case Back(seconds=seconds):
                self.is_offline, self._away_seconds = False, seconds
                if self._client.address != self._address:
                    self._address = self._client.address
                    self._output.print(f"Now at {self._address.url}.")
            case Gone(room, refused):
                self._tell(f"Room {room} is gone: {clean_text(refused.message)}")
                self._finish(ExitCode.NO_ROOM)
            case Closed(reason) if self.room is not None:
                self._tell(describe_closing(self.room.code, reason))
                is_over = self.state is not None and self.state.status == "over"
                self._finish(None if is_over else ExitCode.NO_ROOM)
            case Replaced():
                self._tell(TAKEN_OVER)
                self._finish(ExitCode.REFUSED)

    def _take_update(self, update: Updated) -> None:
        """Tell what one state has brought, show the board where that helps, and end the visit with the game."""
        actions = self._actions
        if actions is None:
            return
        changes, self._changes = self._changes, []
        old, state, viewer = update.old, update.state, self._viewer
        if old is None:
            client = self._client
            lines = greet(state, update.moves, viewer, self._settings, client.address, client.latency_seconds)
        else:
            if update.after_loss:
                actions.unblamed |= {change.mark for change in changes if isinstance(change, Dropped)}
            actions.unblamed &= find_absent(state)
            news = announce(changes, viewer, after_loss=update.after_loss) + describe_choices(old, state, viewer)
            lines = self._tell_with_return(news, state)
        has_moved = old is None or has_moved_on(old, state)
        lines += set_scene(old, state, viewer, self._settings) if has_moved else []
        self._output.print(*lines)
        self._reminders.take(old, state, _now(), came_back=update.after_loss)
        if state.status == "over" and has_moved and (self._keyboard.has_ended or not self._settings.asks):
            self._finish(None)
        elif state.status == "over" and has_moved:
            self._output.print(describe_ways_on(state, viewer))
        if lines:
            self._prompt()

    def _tell_with_return(self, news: list[str], state: RoomState) -> list[str]:
        """Return news, after the return that they prove; whoever was away is told also that nothing was missed."""
        away, self._away_seconds = self._away_seconds, None
        if away is None:
            return news
        back = describe_return(away)
        return [back, *news] if news else [f"{back} Nothing was missed. {describe_turn(state, self._viewer)}"]

    async def take_line(self, line: str | None) -> None:
        """Do what a typed line asks for; None is the end of the input."""
        state, actions = self.state, self._actions
        if state is None or actions is None:
            return
        if line is None:
            self._take_end_of_input(state)
            return
        self._note_typed()
        await self._follow(await actions.do_line(line), state)

    def take_line_offline(self, line: str, *, is_sending: bool) -> None:
        """Answer a line while there is no connection; with `is_sending` an earlier one still waits for its answer."""
        if self._actions is None:
            return
        self._note_typed()
        self._output.print(*self._actions.do_line_offline(line, is_sending=is_sending).lines)
        self._prompt()

    async def play_kept_move(self) -> None:
        """Play the move that was kept, where the game still stands as it did."""
        if self.state is not None and self._actions is not None:
            await self._follow(await self._actions.play_kept(), self.state)

    async def _follow(self, outcome: Outcome, state: RoomState) -> None:
        """Print what came of an action, and go where it leads."""
        self._output.print(*outcome.lines)
        self.is_unsettled = not outcome.lines
        if outcome.going == "leave":
            await self.leave()
        elif outcome.going == "new":
            await self._find_another(state)
        elif outcome.lines:
            self._prompt()

    async def settle(self) -> None:
        """Wait until the server has said all that the last request brought."""
        self.is_unsettled = False
        with contextlib.suppress(Refused):
            await self._client.ping()

    def _take_end_of_input(self, state: RoomState) -> None:
        """Say what becomes of a game that is not over, and from when on, as no line can come any more."""
        if state.status == "over":
            self._finish(None)
        elif seat_of(state, self._viewer) is None:
            self._output.print("The input has ended: watching to the end of the game.")
        elif self._settings.stay:
            self._output.print("The input has ended: staying to the end of the game.")
        else:
            seconds = self._settings.leaving_seconds
            cost = cost_of_going(state, self._viewer, aborts=self._aborts)
            told = f", which {cost}s the game" if cost else ""
            self._output.print(f"The input has ended: leaving in {seconds:g} s{told}. (With --stay the client stays.)")
            self._leaves_at = _now() + seconds

    def ask_before_interrupt(self) -> bool:
        """Ask once, on a terminal, where Ctrl-C would lose a running game; tell whether that was done now."""
        self._output.note_interrupt()
        state = None if self.is_offline else self.state
        is_asked = self._settings.asks and is_terminal(0, 1) and not self._has_asked_before_interrupt
        cost = "" if state is None else cost_of_going(state, self._viewer, aborts=self._aborts)
        if not cost or not is_asked:
            return False
        self._has_asked_before_interrupt = True
        self._output.print(f"Leaving now {cost}s the game. Ctrl-C again to leave.")
        self._prompt()
        return True

    async def leave(self) -> None:
        """Go, and give the seat up; without a connection it is held for a while, and stays written down."""
        state, room = self.state, self.room
        if self.is_offline:
            self._leave_seat_behind()
            self._output.print(describe_going(state, self._viewer, self._client.address))
            self._finish(ExitCode.CONNECTION_LOST)
            return
        if room is not None:
            await room.leave()
            self._output.print(f"You left room {room.code}. Goodbye.")
        is_live = state is not None and state.status == "playing" and seat_of(state, self._viewer)
        self._finish(ExitCode.ABANDONED if is_live and self._settings.result_code else None)

    async def _find_another(self, state: RoomState) -> None:
        """Leave for another opponent by the same rules."""
        if self.room is not None:
            await self.room.leave()
            if self._seats is not None:
                self._seats.forget_room(self.room.code)
        self.room = self.events = self._actions = None
        self._reminders = Reminders(self._viewer, self._settings)
        self._output.print("Looking for another opponent.")
        try:
            await self.enter(lambda client: client.match(state.rules.to_rules()))
        except (Refused, Interrupted) as failure:
            print_error(clean_text(failure.message))
            self._finish(ExitCode.REFUSED)

    async def give_up_seat(self) -> None:
        """Leave the room, so that nobody waits for us in vain; a server that does not answer is not waited for."""
        if self.is_offline:
            self._leave_seat_behind()
        elif self.room is not None:
            await self.room.say_goodbye()

    def _leave_seat_behind(self) -> None:
        if self._seats is not None:
            self._seats.leave_behind()

    async def pass_time(self) -> None:
        """Do what it is time for."""
        if self._leaves_at is not None and _now() >= self._leaves_at:
            await self.leave()
        elif self.state is not None and (lines := self._reminders.speak(self.state, _now())):
            self._output.print(*lines)
            self._prompt()

    def seconds_left(self) -> float | None:
        """Return in how many seconds `pass_time` has something to do, or None."""
        moments = [moment for moment in (self._leaves_at, self._reminders.next_at) if moment is not None]
        return max(0.0, min(moments) - _now()) if moments else None

    def _note_typed(self) -> None:
        """Take note of a line: whoever types plays on, and is asked anew at the next Ctrl-C."""
        self._output.note_typed()
        self._has_asked_before_interrupt = False

    def _tell(self, line: str) -> None:
        """Print what is said beside states, after the return that it proves."""
        away, self._away_seconds = self._away_seconds, None
        self._output.print(*([] if away is None else [describe_return(away)]), line)

    def _prompt(self) -> None:
        """Show a prompt to a player from whom something is awaited; others may type all the same."""
        room, state = self.room, self.state
        is_seated = room is not None and room.seat is not None
        if room is not None and state is not None and is_seated and (room.is_my_turn or state.status == "over"):
            self._output.prompt()

    def _finish(self, code: ExitCode | None) -> None:
        """End the visit with this code, with None by the game's result."""
        by_result = exit_code_of(self.state, self._viewer, with_result=self._settings.result_code)
        self.exit_code = by_result if code is None else code


def _now() -> float:
    return asyncio.get_running_loop().time()
