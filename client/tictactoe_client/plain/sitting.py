"""One person's visit to a room in plain mode: what the server says, what is typed and what time brings, printed.

What is news is decided in `transcript`, what time brings in `reminders`, and what a typed line does in `actions`.
Which of the three comes next is `plain`'s.
"""

from __future__ import annotations

import asyncio
import contextlib

from msgspec import UNSET

from tictactoe_client.exits import exit_code_of
from tictactoe_client.input.actions import Actions, Outcome
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import EXPULSIONS, Interrupted, Refused
from tictactoe_client.online.events import Back, ConnectionEvent, Gone, Lost
from tictactoe_client.online.house import reachable_address
from tictactoe_client.online.messages import Message
from tictactoe_client.online.room import Room
from tictactoe_client.plain.parting import Parting
from tictactoe_client.plain.reminders import Reminders
from tictactoe_client.session import Enter, Session
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.keyboard import Keyboard
from tictactoe_client.streams.output import Output, is_terminal, print_error
from tictactoe_client.text.arrival import describe_attempts, describe_going, describe_return
from tictactoe_client.text.muted import Muted
from tictactoe_client.text.news import announce_chat, describe_announcement, describe_notice
from tictactoe_client.text.transcript import Transcript, has_moved_on
from tictactoe_client.text.wording import seat_of
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import Announcement, ChatLine, Closed, Error, Notice, Replaced, RoomState


class Sitting:
    """A visit to one room or, with ``new``, to several; `seats` writes down where one sits.

    `room` is None on the way from one room to the next, `exit_code` None until the visit is over. While `is_offline`
    there is no connection; while `is_unsettled` the state may not show yet what was asked for last.
    """

    def __init__(
        self, client: Client, settings: Settings, keyboard: Keyboard, screen: Output, seats: Session | None = None
    ) -> None:
        self.room: Room | None = None
        self.exit_code: int | None = None
        self.is_offline = False
        self.is_unsettled = False
        self._client = client
        self._address = client.address
        self._settings = settings
        self._keyboard = keyboard
        self._screen = screen
        self._seats = seats
        self._viewer = client.player
        self._aborts = "abort" in client.features
        self._muted = Muted(client.player)
        self._actions: Actions | None = None
        self._transcript = Transcript(client.player, settings)
        self._reminders = Reminders(client.player, settings)
        self._parting = Parting(client.player, settings, screen, aborts=self._aborts)
        self._away_seconds: float | None = None

    @property
    def state(self) -> RoomState | None:
        """The newest state that was told, or None."""
        return self._transcript.state

    async def enter(self, enter: Enter) -> None:
        """Go into a room."""
        room = await (enter(self._client) if self._seats is None else self._seats.enter(enter))
        self.room = room
        self._actions = Actions(room, self._settings, muted=self._muted, piped=not is_terminal(0), aborts=self._aborts)
        self._transcript = Transcript(self._viewer, self._settings, room.moves)
        self._reminders = Reminders(self._viewer, self._settings)

    async def hear(self, message: Message) -> None:
        """Tell what the server has said, or what has become of the connection."""
        push, room = message.push, self.room
        if message.event is not None:
            self._hear_of_connection(message.event)
        if room is None or getattr(push, "room", room.code) not in (room.code, UNSET):
            return
        if isinstance(push, RoomState):
            await self._take_state(push, room)
        elif isinstance(push, ChatLine):
            if self._muted.hears(push):
                self._tell(announce_chat(push))
                self._prompt()
        elif isinstance(push, Closed):
            self._tell(f"Room {room.code} is closed: {clean_text(push.reason).rstrip('.')}.")
            is_over = self.state is not None and self.state.status == "over"
            self._finish(None if is_over else ExitCode.NO_ROOM)
        elif isinstance(push, Replaced):
            self._tell("A newer connection of yours has taken over your seat.")
            self._finish(ExitCode.REFUSED)
        elif isinstance(push, Notice):
            self._tell(describe_notice(push))
        elif isinstance(push, Announcement):
            self._tell(describe_announcement(push))
            self._prompt()
        elif isinstance(push, Error) and push.id is UNSET and push.code not in EXPULSIONS:
            self._tell(clean_text(push.message))

    def _hear_of_connection(self, event: ConnectionEvent) -> None:
        now = asyncio.get_running_loop().time()
        if isinstance(event, Lost):
            self.is_offline = True
            if self._away_seconds is None:
                self._screen.print(describe_attempts(event.hold_seconds))
            self._away_seconds = None
            self._reminders.lose_connection(now)
        elif isinstance(event, Back):
            self.is_offline, self._away_seconds = False, event.seconds
            if self._client.address != self._address:
                self._address = self._client.address
                self._screen.print(f"Now at {self._address.url}.")
        elif isinstance(event, Gone) and self.room is not None and event.room == self.room.code:
            self._tell(f"Room {event.room} is gone: {clean_text(event.refused.message)}")
            self._finish(ExitCode.NO_ROOM)

    async def _take_state(self, state: RoomState, room: Room) -> None:
        transcript, old = self._transcript, self.state
        if transcript.is_old(state):
            self._tell_return()
            return
        moves = await self._ask_for_moves(room) if transcript.needs_moves(state) else None
        if old is None:
            client = self._client
            address = reachable_address(client.address) if state.status == "waiting" else client.address
            lines = transcript.arrive(state, moves, address, client.latency_seconds)
        else:
            away, self._away_seconds = self._away_seconds, None
            declined = frozenset[str]() if self._actions is None else self._actions.take_declined(state)
            lines = transcript.go_on(state, moves, away, declined)
        lines += transcript.set_scene(old)
        self._screen.print(*lines)
        self._reminders.take(state, asyncio.get_running_loop().time())
        if state.status == "over" and (old is None or has_moved_on(old, state)):
            self._take_end()
        if lines:
            self._prompt()

    async def _ask_for_moves(self, room: Room) -> tuple[int, ...] | None:
        """Return all moves of the game on the table, or None where even the server does not tell in time."""
        with contextlib.suppress(Refused, TimeoutError):
            async with asyncio.timeout(self._settings.timeout_seconds):
                return await room.sync()
        return None

    def _take_end(self) -> None:
        if self._keyboard.has_ended or not self._settings.asks:
            self._finish(None)
        else:
            self._screen.print(*self._transcript.ways_on())

    async def take_line(self, line: str | None) -> None:
        """Do what a typed line asks for; None is the end of the input."""
        state, room, actions = self.state, self.room, self._actions
        if state is None or room is None or actions is None:
            return
        if line is None:
            if state.status == "over":
                self._finish(None)
            else:
                self._parting.take_end_of_input(state, asyncio.get_running_loop().time())
            return
        self._screen.note_typed()
        self._parting.note_typed()
        actions.unblamed = self._transcript.unblamed
        await self._follow(await actions.do_line(line), state, room)

    async def _follow(self, outcome: Outcome, state: RoomState, room: Room) -> None:
        """Print what came of an action, and go where it leads."""
        self._screen.print(*outcome.lines)
        self.is_unsettled = not outcome.lines
        if outcome.going == "leave":
            await self.leave()
        elif outcome.going == "new":
            await self._find_another(state, room)
        elif outcome.lines:
            self._prompt()

    def take_line_offline(self, line: str, *, is_sending: bool) -> None:
        """Answer a line while there is no connection; with `is_sending` an earlier one still waits for its answer."""
        state, transcript, actions = self.state, self._transcript, self._actions
        if state is None or actions is None:
            return
        self._screen.note_typed()
        self._parting.note_typed()
        actions.unblamed = transcript.unblamed
        self._screen.print(*actions.do_line_offline(line, is_sending=is_sending).lines)
        self._prompt()

    @property
    def is_away(self) -> bool:
        """Whether there is no connection, or what was missed without it has not been told yet."""
        return self.is_offline or self._away_seconds is not None

    @property
    def has_kept_move(self) -> bool:
        """Whether a move was kept for the return."""
        return self._actions is not None and self._actions.kept is not None

    async def play_kept_move(self) -> None:
        """Play the move that was kept, where the game still stands as it did."""
        state, room, actions = self.state, self.room, self._actions
        if state is not None and room is not None and actions is not None:
            await self._follow(await actions.play_kept(), state, room)

    def ask_before_interrupt(self) -> bool:
        """Ask once where Ctrl-C would lose a running game, and tell whether that was done now."""
        is_asked = self._parting.ask_before_interrupt(None if self.is_offline else self.state)
        if is_asked:
            self._prompt()
        return is_asked

    async def settle(self) -> None:
        """Wait until the server has said all that the last request brought."""
        self.is_unsettled = False
        with contextlib.suppress(Refused):
            await self._client.ping()

    async def leave(self) -> None:
        """Go, and give the seat up; without a connection it is held for a while, and stays written down."""
        state, room = self.state, self.room
        if self.is_offline:
            self._leave_seat_behind()
            self._screen.print(describe_going(state, self._viewer, self._client.address))
            self._finish(ExitCode.CONNECTION_LOST)
            return
        if room is not None:
            await room.leave()
            self._screen.print(f"You left room {room.code}. Goodbye.")
        is_live = state is not None and state.status == "playing" and seat_of(state, self._viewer)
        self._finish(ExitCode.ABANDONED if is_live and self._settings.result_code else None)

    async def _find_another(self, state: RoomState, room: Room) -> None:
        await room.leave()
        if self._seats is not None:
            self._seats.forget_room(room.code)
        self.room, self._transcript = None, Transcript(self._viewer, self._settings)
        self._reminders = Reminders(self._viewer, self._settings)
        self._screen.print("Looking for another opponent.")
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
        now = asyncio.get_running_loop().time()
        if self._parting.leaves_at is not None and now >= self._parting.leaves_at:
            await self.leave()
        elif lines := self._reminders.speak(now):
            self._screen.print(*lines)
            self._prompt()

    def seconds_left(self) -> float | None:
        """Return in how many seconds `pass_time` has something to do, or None."""
        moments = [moment for moment in (self._parting.leaves_at, self._reminders.next_at) if moment is not None]
        return max(0.0, min(moments) - asyncio.get_running_loop().time()) if moments else None

    def _tell(self, line: str) -> None:
        """Print what the server says beside states, after the return that it proves."""
        self._tell_return()
        self._screen.print(line)

    def _tell_return(self) -> None:
        """Say that the connection is back, where that has not been told."""
        away, self._away_seconds = self._away_seconds, None
        if away is not None:
            self._screen.print(describe_return(away))

    def _prompt(self) -> None:
        """Show a prompt to a player from whom something is awaited; others may type all the same."""
        state = self.state
        own = None if state is None else seat_of(state, self._viewer)
        if state is not None and own is not None and (state.turn == own or state.status == "over"):
            self._screen.prompt()

    def _finish(self, code: ExitCode | None) -> None:
        """End the sitting with this code, with None by the game's result."""
        by_result = exit_code_of(self.state, self._viewer, with_result=self._settings.result_code)
        self.exit_code = by_result if code is None else code
