"""Plain mode: a game as a transcript that only ever grows, one fact a line, for pipes, logs and screen readers.

Here the room, the keyboard and the time take turns; what comes of each is `visit`'s.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Iterator
from typing import Any, Final

from tictactoe_client.input.parser import is_farewell
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ConnectionLost, Refused
from tictactoe_client.online.events import RoomEvent
from tictactoe_client.online.stream import Stream
from tictactoe_client.plain.visit import Visit
from tictactoe_client.session import Enter, Session
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.keyboard import Keyboard, asking_before_interrupt
from tictactoe_client.streams.output import Output, OutputFailed, is_terminal, print_error
from tictactoe_client.text.arrival import describe_giving_up
from tictactoe_protocol import clean_text

_LINES_AHEAD: Final = 64
"""How many typed lines are kept while there is no connection, so that one that says leave is found."""


class PlainGame:
    """One run of plain mode, from entering a room to the exit code; `seats` writes down where one sits."""

    def __init__(
        self, client: Client, settings: Settings, keyboard: Keyboard, output: Output, seats: Session | None = None
    ) -> None:
        self._client = client
        self._asks = settings.asks and is_terminal(0)
        self._keyboard = keyboard
        self._output = output
        self._visit = Visit(client, settings, keyboard, output, seats)
        self._typed: deque[str | None] = deque()
        self._events: Stream[RoomEvent] | None = None
        self._hearing: asyncio.Task[RoomEvent | None] | None = None
        self._reading: asyncio.Task[str | None] | None = None
        self._acting: asyncio.Task[None] | None = None

    async def run(self, enter: Enter) -> int:
        """Enter a room, play or watch, and return the exit code; when cancelled, give the seat up first."""
        visit = self._visit
        self._reading = asyncio.create_task(self._keyboard.read_line())
        try:
            if not await self._enter(enter):
                return ExitCode.NO_ROOM
            with asking_before_interrupt(visit.ask_before_interrupt):
                while visit.exit_code is None:
                    await self._take_next()
            return visit.exit_code
        except ConnectionLost as lost:
            if not lost.gave_up:
                raise
            print_error(describe_giving_up(visit.state, self._client.player, self._client.address, lost.reason))
            return ExitCode.CONNECTION_LOST
        except asyncio.CancelledError:
            try:
                self._output.print("Goodbye.")
            finally:
                await visit.give_up_seat()
            raise
        except (BrokenPipeError, OutputFailed):
            await visit.give_up_seat()
            raise
        finally:
            await _dismiss(self._hearing, self._reading, self._acting)
            self._keyboard.give_back([line for line in self._untaken_lines() if line is not None])

    async def _enter(self, enter: Enter) -> bool:
        """Enter a room; one that is full may be watched, by whoever can be asked and says so."""
        try:
            await self._visit.enter(enter)
        except Refused as refused:
            room = refused.room
            if refused.code != "room_full" or room is None or not self._asks:
                raise
            self._output.print(f"{clean_text(refused.message)} Type watch or yes to do that; anything else goes.")
            self._output.prompt()
            line = await self._reading if self._reading is not None else None
            self._reading = None if line is None else asyncio.create_task(self._keyboard.read_line())
            self._output.note_typed()
            if line is None or line.strip().lower() not in ("watch", "yes", "y"):
                return False
            await self._visit.enter(lambda client: client.watch(room))
        return True

    async def _take_next(self) -> None:
        """Wait for one thing to happen, and let the visit deal with it.

        Typed lines wait for one another, and for what the server has to say about the one before.
        """
        visit = self._visit
        if self._events is not visit.events:
            await _dismiss(self._hearing)
            self._events, self._hearing = visit.events, None
        if self._hearing is None and self._events is not None:
            self._hearing = asyncio.create_task(anext(self._events, None))
        is_heard_out = self._events is not None and not self._events.has_more and not _is_done(self._hearing)
        if self._acting is None and is_heard_out and (deed := self._next_deed()) is not None:
            self._acting = asyncio.create_task(deed)
        awaited: set[asyncio.Task[Any]] = {task for task in (self._acting, self._hearing) if task is not None}
        if self._reading is not None and len(self._typed) < (_LINES_AHEAD if visit.is_offline else 1):
            awaited.add(self._reading)
        done, _ = await asyncio.wait(awaited, timeout=visit.seconds_left(), return_when=asyncio.FIRST_COMPLETED)
        if self._acting is not None and self._acting in done:
            self._acting = self._acting.result()
        elif self._hearing is not None and self._hearing in done:
            event, self._hearing = self._hearing.result(), None
            if event is not None:
                visit.hear(event)
            elif self._events is visit.events:
                self._events = visit.events = None
        elif self._reading is not None and self._reading in done:
            await self._take_typed(self._reading.result())
        else:
            await visit.pass_time()

    def _next_deed(self) -> Coroutine[Any, Any, None] | None:
        """Return what is to be done now for whoever types, or None.

        A move that was kept waits until the return has been told, and so does the end of the input; whatever was typed
        after the move waits for it.
        """
        visit = self._visit
        if visit.state is None:
            return None
        if visit.has_kept_move:
            return None if visit.is_away else visit.play_kept_move()
        if not self._typed or (self._typed[0] is None and visit.is_away):
            return None
        return visit.settle() if visit.is_unsettled else visit.take_line(self._typed.popleft())

    async def _take_typed(self, line: str | None) -> None:
        """Take a line up; while there is no connection it is answered at once, and whoever wants to go goes."""
        self._reading = None if line is None else asyncio.create_task(self._keyboard.read_line())
        visit = self._visit
        if line is not None and visit.is_offline and is_farewell(line):
            self._output.note_typed()
            await visit.leave()
        elif line is not None and visit.is_offline and visit.state is not None:
            visit.take_line_offline(line, is_sending=self._acting is not None)
        else:
            self._typed.append(line)

    def _untaken_lines(self) -> Iterator[str | None]:
        """Yield what was typed too late for this game."""
        yield from self._typed
        if self._reading is not None and not self._reading.cancelled():
            yield self._reading.result()


def _is_done(task: asyncio.Task[Any] | None) -> bool:
    return task is not None and task.done()


async def _dismiss(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel tasks whose results nobody wants any more, and wait for that."""
    wanted = [task for task in tasks if task is not None]
    for task in wanted:
        task.cancel()
    await asyncio.gather(*wanted, return_exceptions=True)
