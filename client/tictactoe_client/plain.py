"""Plain mode: a game as a transcript that only ever grows, one fact a line, for pipes, logs and screen readers.

It listens to the server, the keyboard and the time, and decides when a fact is news. The words themselves come from
`announcer` and `guide`, and what a typed line does is decided in `dialogue`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from tictactoe_client.announcer import announce, announce_chat, follow_moves
from tictactoe_client.choices import absent_opponents, describe_choices, describe_claim
from tictactoe_client.client import Client
from tictactoe_client.dialogue import Dialogue
from tictactoe_client.errors import ClientError, ConnectionLost, Refused
from tictactoe_client.events import Back, Event, Gone, Lost
from tictactoe_client.guide import (
    describe_arrival,
    describe_controls,
    describe_giving_up,
    describe_progress,
    describe_return,
    describe_score,
    draw_board,
)
from tictactoe_client.invite import reachable_address
from tictactoe_client.keyboard import Keyboard
from tictactoe_client.messages import Message, Messages
from tictactoe_client.results import exit_code_of
from tictactoe_client.room import Room
from tictactoe_client.screen import Screen, print_error
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.wording import describe_turn, format_duration, name_of, seat_of
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import ChatLine, Closed, Notice, Replaced, RoomState

GOODBYE_SECONDS = 1.0


class PlainGame:
    """One sitting in plain mode, in one room or, with ``new``, in several."""

    def __init__(self, client: Client, settings: Settings, keyboard: Keyboard, screen: Screen) -> None:
        self._client = client
        self._settings = settings
        self._keyboard = keyboard
        self._screen = screen
        self._dialogue = Dialogue(settings, client.player)
        self._room: Room | None = None
        self._state: RoomState | None = None
        self._moves: tuple[int, ...] = ()
        self._exit_code: int | None = None
        self._leaves_at: float | None = None
        self._waiting_since = 0.0
        self._speaks_at: float | None = None
        self._claims_at: float | None = None
        self._returned: Back | None = None

    async def run(self, enter: Callable[[Client], Awaitable[Room]]) -> int:
        """Enter a room, play or watch, and return the exit code; when cancelled, give the seat up first."""
        messages = self._client.messages()
        hearing = asyncio.create_task(_next(messages))
        reading: asyncio.Task[str | None] | None = asyncio.create_task(self._keyboard.read_line())
        acting: asyncio.Task[None] | None = None
        try:
            self._sit_down(await enter(self._client))
            while self._exit_code is None:
                awaited: set[asyncio.Task[Any]] = {hearing} if acting is None or self._room is not None else set()
                if acting is not None:
                    awaited.add(acting)
                elif reading is not None and self._state is not None:
                    awaited.add(reading)
                await asyncio.wait(awaited, timeout=self._seconds_left(), return_when=asyncio.FIRST_COMPLETED)
                if acting is not None and acting.done():
                    acting = acting.result()
                elif hearing in awaited and hearing.done():
                    message = hearing.result()
                    hearing = asyncio.create_task(_next(messages))
                    await self._hear(message)
                elif reading is not None and reading in awaited and reading.done():
                    line = reading.result()
                    reading = None if line is None else asyncio.create_task(self._keyboard.read_line())
                    acting = asyncio.create_task(self._take_line(line))
                else:
                    await self._pass_time()
            return self._exit_code
        except ConnectionLost as lost:
            if not lost.gave_up:
                raise
            viewer, address = self._client.player, self._client.address
            print_error(describe_giving_up(self._state, viewer, address, lost.reason))
            return ExitCode.CONNECTION_LOST
        except asyncio.CancelledError:
            self._screen.print("Goodbye.")
            await self._give_up_seat()
            raise
        except BrokenPipeError:
            await self._give_up_seat()
            raise
        finally:
            await _dismiss(hearing, reading, acting)

    async def _hear(self, message: Message) -> None:
        push, room = message.push, self._room
        if message.event is not None:
            self._hear_of_connection(message.event)
        if room is None or getattr(push, "room", room.code) != room.code:
            return
        if isinstance(push, RoomState):
            await self._take_state(push)
        elif isinstance(push, ChatLine):
            self._screen.print(announce_chat(push))
            self._prompt()
        elif isinstance(push, Closed):
            self._screen.print(f"Room {room.code} is closed: {clean_text(push.reason).rstrip('.')}.")
            is_over = self._state is not None and self._state.status == "over"
            self._finish(None if is_over else ExitCode.NO_ROOM)
        elif isinstance(push, Replaced):
            self._screen.print("A newer connection of yours has taken over your seat.")
            self._finish(ExitCode.REFUSED)
        elif isinstance(push, Notice):
            self._screen.print("The server is about to restart.")

    def _hear_of_connection(self, event: Event) -> None:
        if isinstance(event, Lost):
            self._screen.print(f"Connection lost. Trying again for up to {event.hold_seconds:.0f} seconds.")
        elif isinstance(event, Back):
            self._returned = event
        elif isinstance(event, Gone) and self._room is not None and event.room == self._room.code:
            self._screen.print(f"Room {event.room} is gone: {clean_text(event.refused.message)}")
            self._finish(ExitCode.NO_ROOM)

    async def _take_state(self, state: RoomState) -> None:
        old = self._state
        if old is not None and state.seq < old.seq:
            return
        moves = await self._learn_moves(old, state)
        self._state = state
        if old is None:
            self._tell_arrival(state)
        else:
            viewer = self._client.player
            news = [*announce(old, state, viewer, moves), *describe_choices(old, state, viewer)]
            if self._returned is not None:
                back, self._returned = describe_return(self._returned.seconds), None
                news = [back, *news] if news else [f"{back} Nothing was missed. {describe_turn(state, viewer)}"]
            self._screen.print(*news)
        self._watch_absence(state)
        if old is None or _has_moved_on(old, state):
            self._tell_scene(old, state)
            self._restart_waiting(state)
        self._prompt()

    async def _learn_moves(self, old: RoomState | None, state: RoomState) -> tuple[int, ...] | None:
        """Return all moves of the state's game, None where even the server cannot tell; asks it only after a gap."""
        self._moves = follow_moves(self._moves, old, state)
        if len(self._moves) < state.ply and self._room is not None:
            with contextlib.suppress(Refused):
                self._moves = (await self._room.sync())[: state.ply]
        return self._moves if len(self._moves) == state.ply else None

    def _tell_arrival(self, state: RoomState) -> None:
        viewer, settings = self._client.player, self._settings
        address = reachable_address(self._client.address) if state.status == "waiting" else self._client.address
        self._screen.print(*describe_arrival(state, viewer, address, self._client.latency_seconds))
        self._screen.print(*describe_progress(state, self._moves))
        if seat_of(state, viewer) is not None and not settings.quiet:
            self._screen.print(*describe_controls(state.rules.to_rules(), settings))
        if state.status == "waiting":
            self._screen.print(describe_turn(state, viewer))

    def _tell_scene(self, old: RoomState | None, state: RoomState) -> None:
        """Draw the board where it helps, and say whose move it is where that is news."""
        own = seat_of(state, self._client.player)
        begins = old is None or old.status != "playing" or old.game != state.game
        if state.status == "over":
            self._tell_end(state, own)
        elif state.status == "playing" and state.turn == own:
            self._draw(state)
            self._screen.print(describe_turn(state, self._client.player))
        elif state.status == "playing":
            if own is None or (begins and state.ply > 0):
                self._draw(state)
            if begins:
                self._screen.print(f"{state.turn}'s move.")

    def _tell_end(self, state: RoomState, own: str | None) -> None:
        self._draw(state)
        winner = state.result.winner if state.result is not None else None
        if winner is not None:
            self._screen.print(f"Winner: {name_of(state, winner)}, {winner}.")
        if state.game > 1:
            self._screen.print(describe_score(state))
        if self._keyboard.has_ended or not self._settings.asks:
            self._finish(None)
        elif own is None:
            self._screen.print("A rematch will be shown here. Type leave to go.")
        else:
            self._screen.print("Rematch? Type rematch, new or leave.")

    async def _take_line(self, line: str | None) -> None:
        state, room = self._state, self._room
        if state is None or room is None:
            return
        if line is None:
            self._take_end_of_input(state)
            return
        self._screen.note_typed()
        answer = await self._dialogue.answer(line, state, room)
        self._screen.print(*answer.lines)
        if answer.going == "leave":
            await self._leave()
        elif answer.going == "new":
            await self._find_another(state, room)
        elif answer.lines:
            self._prompt()

    def _take_end_of_input(self, state: RoomState) -> None:
        if state.status == "over":
            self._finish(None)
        elif seat_of(state, self._client.player) is None:
            self._screen.print("The input has ended: watching to the end of the game.")
        elif self._settings.stay:
            self._screen.print("The input has ended: staying to the end of the game.")
        else:
            seconds = self._settings.leaving_seconds
            self._screen.print(f"The input has ended: leaving in {seconds:g} s. (With --stay the client stays.)")
            self._leaves_at = asyncio.get_running_loop().time() + seconds

    async def _leave(self) -> None:
        state, room = self._state, self._room
        if room is not None:
            await room.leave()
            self._screen.print(f"You left room {room.code}. Goodbye.")
        is_live = state is not None and state.status == "playing" and seat_of(state, self._client.player)
        self._finish(ExitCode.ABANDONED if is_live and self._settings.result_code else None)

    async def _find_another(self, state: RoomState, room: Room) -> None:
        await room.leave()
        self._room, self._state, self._moves = None, None, ()
        self._screen.print("Looking for another opponent.")
        self._sit_down(await self._client.match(state.rules.to_rules()))

    async def _pass_time(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._leaves_at is not None and now >= self._leaves_at:
            await self._leave()
        elif self._claims_at is not None and now >= self._claims_at and self._state is not None:
            self._claims_at = None
            self._screen.print(describe_claim(self._state, self._client.player))
            self._prompt()
        elif self._speaks_at is not None and now >= self._speaks_at and self._state is not None:
            waited = format_duration(round((now - self._waiting_since) * 1000))
            whom = name_of(self._state, self._state.turn) if self._state.turn else "another player"
            self._screen.print(f"Still waiting for {whom}: {waited}.")
            self._prompt()
            self._speaks_at = now + self._settings.waiting_line_seconds

    def _seconds_left(self) -> float | None:
        moments = [moment for moment in (self._leaves_at, self._claims_at, self._speaks_at) if moment is not None]
        return max(0.0, min(moments) - asyncio.get_running_loop().time()) if moments else None

    def _restart_waiting(self, state: RoomState) -> None:
        own = seat_of(state, self._client.player)
        waits = own is not None and state.status != "over" and state.turn != own and not self._settings.quiet
        self._waiting_since = asyncio.get_running_loop().time()
        self._speaks_at = self._waiting_since + self._settings.waiting_line_seconds if waits else None

    def _watch_absence(self, state: RoomState) -> None:
        """See to it that the person hears when an absent opponent's seat can be claimed."""
        waits = absent_opponents(state, self._client.player).values()
        self._claims_at = asyncio.get_running_loop().time() + min(waits) / 1000 if waits else None

    async def _give_up_seat(self) -> None:
        """Leave the room, so that nobody waits for us in vain; a server that does not answer is not waited for."""
        if self._room is None:
            return
        try:
            async with asyncio.timeout(GOODBYE_SECONDS):
                await self._room.leave()
        except (TimeoutError, ClientError):
            return

    def _sit_down(self, room: Room) -> None:
        self._room, self._moves = room, room.moves

    def _prompt(self) -> None:
        """Show a prompt to a player from whom something is awaited; others may type all the same."""
        state = self._state
        own = None if state is None else seat_of(state, self._client.player)
        if state is not None and own is not None and (state.turn == own or state.status == "over"):
            self._screen.prompt()

    def _draw(self, state: RoomState) -> None:
        if self._settings.draws_board:
            self._screen.print(*draw_board(state, self._settings))

    def _finish(self, code: ExitCode | None) -> None:
        """End the sitting with this code, with None by the game's result."""
        by_result = exit_code_of(self._state, self._client.player, with_result=self._settings.result_code)
        self._exit_code = by_result if code is None else code


def _has_moved_on(old: RoomState, state: RoomState) -> bool:
    return (old.game, old.ply, old.status, old.turn) != (state.game, state.ply, state.status, state.turn)


async def _next(messages: Messages) -> Message:
    return await anext(messages)


async def _dismiss(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel tasks whose results nobody wants any more, and wait for that."""
    wanted = [task for task in tasks if task is not None]
    for task in wanted:
        task.cancel()
    await asyncio.gather(*wanted, return_exceptions=True)
