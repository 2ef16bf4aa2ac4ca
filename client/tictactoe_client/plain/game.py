"""Plain mode: a game as a transcript that only ever grows, one fact a line, for pipes, logs and screen readers."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, TypeVar

from tictactoe_client.exits import dismiss, exit_code_of
from tictactoe_client.input.actions import Actions, Outcome
from tictactoe_client.input.intents import is_farewell
from tictactoe_client.online import events
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import EXPULSIONS, ConnectionLost, Interrupted, Refused
from tictactoe_client.online.room import Room
from tictactoe_client.plain.reminders import Reminders
from tictactoe_client.session import Enter, Session
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.keyboard import Keyboard, asking_before_interrupt
from tictactoe_client.streams.output import Output, OutputFailed, is_terminal, print_error
from tictactoe_client.text import arrival
from tictactoe_client.text.news import announce, cost_of_going, describe_choices, describe_ways_on, find_absent
from tictactoe_client.text.talk import Muted, announce_chat, describe_push
from tictactoe_client.text.wording import NOTHING_MISSED, describe_turn, has_moved_on, seat_of
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState

_LINES_AHEAD: Final = 64
"""How many typed lines are kept while there is no connection, so that one that says leave is found."""

Result = TypeVar("Result")


class PlainGame:
    """One run of plain mode, from entering a room to the exit code; `seats` writes down where one sits.

    What the room, the keyboard and what is being done have to say comes into one `_inbox`; else time passes. There is
    no room on the way from one to the next; while `_is_unsettled` the state may not show yet what was asked for last.
    """

    def __init__(
        self, client: Client, settings: Settings, keyboard: Keyboard, output: Output, seats: Session | None = None
    ) -> None:
        self._client = client
        self._viewer = client.player
        self._address = client.address
        self._settings = settings
        self._keyboard = keyboard
        self._output = output
        self._seats = seats
        self._aborts = "abort" in client.features
        self._muted = Muted(client.player)
        self._reminders = Reminders(client.player, settings)
        self._room: Room | None = None
        self._actions: Actions | None = None
        self._inbox: asyncio.Queue[tuple[Room, events.RoomEvent] | asyncio.Task[Any]] = asyncio.Queue()
        self._changes: list[events.Change] = []
        self._typed: deque[str | None] = deque()
        self._reading: asyncio.Task[str | None] | None = None
        self._acting: asyncio.Task[None] | None = None
        self._exit_code: int | None = None
        self._has_read_all = False
        self._is_offline = False
        self._is_unsettled = False
        self._away_seconds: float | None = None
        self._leaves_at: float | None = None
        self._has_asked_before_interrupt = False

    @property
    def _state(self) -> RoomState | None:
        return None if self._room is None else self._room.state

    # -- coming and going -----------------------------------------------------------------------------------------

    async def run(self, enter: Enter) -> int:
        """Enter a room, play or watch, and return the exit code; when cancelled, give the seat up first."""
        try:
            if not await self._enter_or_watch(enter):
                return ExitCode.NO_ROOM
            with asking_before_interrupt(self._ask_before_interrupt):
                while self._exit_code is None:
                    await self._take_next()
            return self._exit_code
        except ConnectionLost as lost:
            if not lost.gave_up:
                raise
            print_error(arrival.describe_giving_up(self._state, self._viewer, self._client.address, lost.reason))
            return ExitCode.CONNECTION_LOST
        except asyncio.CancelledError:
            try:
                self._output.print("Goodbye.")
            finally:
                await self._give_up_seat()
            raise
        except OutputFailed:
            await self._give_up_seat()
            raise
        finally:
            await dismiss(self._reading, self._acting)
            if self._reading is not None and not self._reading.cancelled():
                self._typed.append(self._reading.result())
            self._keyboard.give_back([line for line in self._typed if line is not None])

    async def _enter_or_watch(self, enter: Enter) -> bool:
        """Enter a room; one that is full may be watched, by whoever can be asked and says so."""
        try:
            await self._enter(enter)
        except Refused as refused:
            room = refused.room
            if refused.code != "room_full" or room is None or not (self._settings.asks and is_terminal(0)):
                raise
            self._output.print(f"{clean_text(refused.message)} Type watch or yes to do that; anything else goes.")
            self._output.prompt()
            line = await self._keyboard.read_line()
            self._output.note_typed()
            if line is None or line.strip().lower() not in ("watch", "yes", "y"):
                return False
            await self._enter(lambda client: client.watch(room))
        return True

    async def _enter(self, enter: Enter) -> None:
        room = self._room = await (enter(self._client) if self._seats is None else self._seats.enter(enter))
        room.subscribe(lambda event: self._inbox.put_nowait((room, event)))  # the first to ask hears all
        piped, tell = not is_terminal(0), self._output.print
        self._actions = Actions(room, self._settings, muted=self._muted, piped=piped, aborts=self._aborts, tell=tell)
        self._reminders = Reminders(self._viewer, self._settings)

    async def _leave(self) -> None:
        """Go, and give the seat up; without a connection it is held for a while, and stays written down."""
        state, room = self._state, self._room
        if self._is_offline:
            await self._give_up_seat()
            self._output.print(arrival.describe_going(state, self._viewer, self._client.address))
            self._finish(ExitCode.CONNECTION_LOST)
            return
        if room is not None:
            await room.leave()
            self._output.print(f"You left room {room.code}. Goodbye.")
        is_live = state is not None and state.status == "playing" and seat_of(state, self._viewer)
        self._finish(ExitCode.ABANDONED if is_live and self._settings.result_code else None)

    async def _find_another(self, room: Room, state: RoomState) -> None:
        await room.leave()
        if self._seats is not None:
            self._seats.forget_room(room.code)
        self._room = self._actions = None
        self._reminders = Reminders(self._viewer, self._settings)
        self._output.print("Looking for another opponent.")
        try:
            await self._enter(lambda client: client.match(state.rules.to_rules()))
        except (Refused, Interrupted) as failure:
            print_error(clean_text(failure.message))
            self._finish(ExitCode.REFUSED)

    async def _give_up_seat(self) -> None:
        """Leave the room, so that nobody waits for us in vain; a server that does not answer is not waited for."""
        if not self._is_offline and self._room is not None:
            await self._room.say_goodbye()
        elif self._is_offline and self._seats is not None:
            self._seats.leave_behind()

    def _ask_before_interrupt(self) -> bool:
        """Ask once, on a terminal, where Ctrl-C would lose a running game; tell whether that was done now."""
        self._output.note_interrupt()
        state = None if self._is_offline else self._state
        is_asked = self._settings.asks and is_terminal(0, 1) and not self._has_asked_before_interrupt
        cost = "" if state is None else cost_of_going(state, self._viewer, aborts=self._aborts)
        if not cost or not is_asked:
            return False
        self._has_asked_before_interrupt = True
        self._tell(f"Leaving now {cost}s the game. Ctrl-C again to leave.")
        return True

    def _finish(self, code: ExitCode | None) -> None:
        """End the visit with this code, with None by the game's result."""
        by_result = exit_code_of(self._state, self._viewer, with_result=self._settings.result_code)
        self._exit_code = by_result if code is None else code

    # -- whose turn it is: the room's, the keyboard's or time's ---------------------------------------------------

    async def _take_next(self) -> None:
        """Deal with the next thing. Lines wait for what the server has to say about the one before."""
        if self._acting is None and self._inbox.empty() and (deed := self._next_deed()) is not None:
            self._acting = self._begin(deed)
        has_place = len(self._typed) < (_LINES_AHEAD if self._is_offline else 1)
        if self._reading is None and has_place and not self._has_read_all:
            self._reading = self._begin(self._keyboard.read_line())
        moments = [moment for moment in (self._leaves_at, self._reminders.next_at) if moment is not None]
        try:
            async with asyncio.timeout_at(min(moments, default=None)):
                item = await self._inbox.get()
        except TimeoutError:
            await self._pass_time()
            return
        if item is self._reading:
            self._reading = None
            await self._take_typed(item.result())
        elif isinstance(item, asyncio.Task):
            self._acting = item.result()
        elif item[0] is self._room:
            self._hear(item[1])

    def _begin(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Do it beside everything else; when it is done, it comes into the inbox."""
        task = asyncio.create_task(work)
        task.add_done_callback(self._inbox.put_nowait)
        return task

    def _next_deed(self) -> Coroutine[Any, Any, None] | None:
        """Return what is to be done now for whoever types, or None.

        A move that was kept waits until the return has been told, and so does the end of the input; whatever was typed
        after the move waits for it.
        """
        room, actions, state = self._room, self._actions, self._state
        if room is None or actions is None or state is None:
            return None
        is_away = self._is_offline or self._away_seconds is not None
        if actions.kept is not None:
            return None if is_away else self._follow(actions.play_kept, room, state)
        line = self._typed[0] if self._typed else None
        if not self._typed or (line is None and is_away):
            return None
        if self._is_unsettled and (line is None or not actions.needs_nobody(line)):
            return self._settle()
        self._typed.popleft()
        if line is None:
            return self._take_end_of_input(state)
        self._note_typed()
        return self._follow(lambda: actions.do_line(line), room, state)

    async def _take_typed(self, line: str | None) -> None:
        """Take a line up; while there is no connection it is answered at once, and whoever wants to go goes."""
        actions, self._has_read_all = self._actions, line is None
        if line is None or not self._is_offline:
            self._typed.append(line)
        elif is_farewell(line):
            self._output.note_typed()
            await self._leave()
        elif actions is None or self._state is None or actions.needs_nobody(line):
            self._typed.append(line)
        else:
            self._note_typed()
            self._tell(*actions.do_line_offline(line, is_sending=self._acting is not None).lines)

    async def _follow(self, deed: Callable[[], Awaitable[Outcome]], room: Room, state: RoomState) -> None:
        outcome = await deed()
        self._is_unsettled = not outcome.lines
        if outcome.lines:
            self._output.print(*outcome.lines)
            self._prompt()
        if outcome.going == "leave":
            await self._leave()
        elif outcome.going == "new":
            await self._find_another(room, state)

    async def _settle(self) -> None:
        """Wait until the server has said all that the last request brought."""
        self._is_unsettled = False
        with contextlib.suppress(Refused):
            await self._client.ping()

    async def _take_end_of_input(self, state: RoomState) -> None:
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

    async def _pass_time(self) -> None:
        if self._leaves_at is not None and _now() >= self._leaves_at:
            await self._leave()
        elif self._state is not None and (lines := self._reminders.speak(self._state, _now())):
            self._tell(*lines)

    # -- what happens in the room, and to the connection ----------------------------------------------------------

    def _hear(self, event: events.RoomEvent) -> None:
        match event:
            case events.Change():
                self._changes.append(event)
            case events.Updated() if self._actions is not None:
                self._take_update(event, self._actions)
            case events.Said(line) if self._muted.hears(line):
                self._tell(announce_chat(line))
            case events.Told(push) if getattr(push, "code", None) not in EXPULSIONS:
                self._tell(describe_push(push))
            case events.Lost():
                self._is_offline = True
                if self._away_seconds is None:
                    holds_seat = self._room is not None and self._room.seat is not None
                    self._output.print(arrival.describe_attempts(event, holds_seat=holds_seat))
                self._away_seconds = None
                self._reminders.lose_connection(_now())
            case events.Back(seconds=seconds):
                self._is_offline, self._away_seconds = False, seconds
                if self._client.address != self._address:
                    self._address = self._client.address
                    self._output.print(f"Now at {self._address.url}.")
            case events.Gone(room, refused):
                self._finish(ExitCode.NO_ROOM)
                self._tell(f"Room {room} is gone: {clean_text(refused.message)}")
            case events.Closed(reason) if self._room is not None:
                is_over = self._state is not None and self._state.status == "over"
                self._finish(None if is_over else ExitCode.NO_ROOM)
                self._tell(arrival.describe_closing(self._room.code, reason))
            case events.Replaced():
                self._finish(ExitCode.REFUSED)
                self._tell(arrival.TAKEN_OVER)
            case events.Cut(lost):
                raise lost

    def _take_update(self, update: events.Updated, actions: Actions) -> None:
        """Tell what one state has brought, show the board where that helps, and end the visit with the game."""
        changes, self._changes = self._changes, []
        old, state, viewer = update.old, update.state, self._viewer
        if old is None:
            client = self._client
            lines = arrival.greet(state, update.moves, viewer, self._settings, client.address, client.latency_seconds)
        else:
            if update.after_loss:
                actions.unblamed |= {change.mark for change in changes if isinstance(change, events.Dropped)}
            actions.unblamed &= find_absent(state)
            news = announce(changes, viewer, after_loss=update.after_loss) + describe_choices(old, state, viewer)
            lines = self._prove_return(*news)
            if lines and not news:
                lines = [f"{lines[0]} {NOTHING_MISSED} {describe_turn(state, viewer)}"]
        has_moved = old is None or has_moved_on(old, state)
        lines += arrival.set_scene(old, state, viewer, self._settings) if has_moved else []
        self._output.print(*lines)
        self._reminders.take(old, state, _now(), came_back=update.after_loss)
        if state.status == "over" and has_moved and (self._has_read_all or not self._settings.asks):
            self._finish(None)
        elif state.status == "over" and has_moved:
            self._output.print(describe_ways_on(state, viewer))
        if lines:
            self._prompt()

    # -- printing -------------------------------------------------------------------------------------------------

    def _prove_return(self, *lines: str) -> list[str]:
        """Return what is said, after the return that it proves where one was away."""
        away, self._away_seconds = self._away_seconds, None
        return [*([] if away is None else [arrival.describe_return(away)]), *lines]

    def _tell(self, *lines: str) -> None:
        """Print what is said beside states."""
        self._output.print(*self._prove_return(*lines))
        self._prompt()

    def _prompt(self) -> None:
        """Show a prompt to a player from whom something is awaited; others may type all the same."""
        room, state = self._room, self._state
        if self._exit_code is not None or room is None or state is None or room.seat is None:
            return
        if room.is_my_turn or state.status == "over":
            self._output.prompt()

    def _note_typed(self) -> None:
        """Take note of a line: whoever types plays on, and is asked anew at the next Ctrl-C."""
        self._output.note_typed()
        self._has_asked_before_interrupt = False


def _now() -> float:
    return asyncio.get_running_loop().time()
