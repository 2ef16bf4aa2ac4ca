"""Plain mode: a game as a transcript that only ever grows, one fact a line, for pipes, logs and screen readers.

Here the server, the keyboard and the time take turns; what comes of each is `sitting`'s.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Iterator
from typing import Any, Final

from tictactoe_client.input.parser import is_farewell
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ConnectionLost
from tictactoe_client.online.messages import Message, Messages
from tictactoe_client.plain.sitting import Sitting
from tictactoe_client.session import Enter, Session
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.keyboard import Keyboard
from tictactoe_client.streams.output import Output, OutputFailed, print_error
from tictactoe_client.streams.signals import asking_before_interrupt
from tictactoe_client.text.arrival import describe_giving_up

_LINES_AHEAD: Final = 64
"""How many typed lines are kept while there is no connection, so that one that says leave is found."""


class PlainGame:
    """One run of plain mode, from entering a room to the exit code."""

    def __init__(
        self, client: Client, settings: Settings, keyboard: Keyboard, screen: Output, seats: Session | None = None
    ) -> None:
        self._client = client
        self._keyboard = keyboard
        self._screen = screen
        self._sitting = Sitting(client, settings, keyboard, screen, seats)
        self._typed: deque[str | None] = deque()
        self._hearing: asyncio.Task[Message] | None = None
        self._reading: asyncio.Task[str | None] | None = None
        self._acting: asyncio.Task[None] | None = None

    async def run(self, enter: Enter) -> int:
        """Enter a room, play or watch, and return the exit code; when cancelled, give the seat up first."""
        sitting, messages = self._sitting, self._client.messages()
        self._hearing = asyncio.create_task(_next(messages))
        self._reading = asyncio.create_task(self._keyboard.read_line())
        try:
            await sitting.enter(enter)
            with asking_before_interrupt(sitting.ask_before_interrupt):
                while sitting.exit_code is None:
                    await self._take_next(messages)
            return sitting.exit_code
        except ConnectionLost as lost:
            if not lost.gave_up:
                raise
            print_error(describe_giving_up(sitting.state, self._client.player, self._client.address, lost.reason))
            return ExitCode.CONNECTION_LOST
        except asyncio.CancelledError:
            try:
                self._screen.print("Goodbye.")
            finally:
                await sitting.give_up_seat()
            raise
        except (BrokenPipeError, OutputFailed):
            await sitting.give_up_seat()
            raise
        finally:
            await _dismiss(self._hearing, self._reading, self._acting)
            self._keyboard.give_back([line for line in self._untaken_lines() if line is not None])

    async def _take_next(self, messages: Messages) -> None:
        """Wait for one thing to happen, and let the sitting deal with it.

        Typed lines wait for one another, and for what the server has to say about the one before.
        """
        sitting = self._sitting
        is_heard_out = not messages.has_more and self._hearing is not None and not self._hearing.done()
        if self._acting is None and is_heard_out and (deed := self._next_deed()) is not None:
            self._acting = asyncio.create_task(deed)
        awaited: set[asyncio.Task[Any]] = set()
        if self._acting is not None:
            awaited.add(self._acting)
        if self._hearing is not None and (self._acting is None or sitting.room is not None):
            awaited.add(self._hearing)
        if self._reading is not None and len(self._typed) < (_LINES_AHEAD if sitting.is_offline else 1):
            awaited.add(self._reading)
        done, _ = await asyncio.wait(awaited, timeout=sitting.seconds_left(), return_when=asyncio.FIRST_COMPLETED)
        if self._acting is not None and self._acting in done:
            self._acting = self._acting.result()
        elif self._hearing is not None and self._hearing in done:
            message = self._hearing.result()
            self._hearing = asyncio.create_task(_next(messages))
            await sitting.hear(message)
        elif self._reading is not None and self._reading in done:
            await self._take_typed(self._reading.result())
        else:
            await sitting.pass_time()

    def _next_deed(self) -> Coroutine[Any, Any, None] | None:
        """Return what is to be done now for whoever types, or None.

        A move that was kept waits until the return has been told, and so does the end of the input; whatever was typed
        after the move waits for it.
        """
        sitting = self._sitting
        if sitting.state is None:
            return None
        if sitting.has_kept_move:
            return None if sitting.is_away else sitting.play_kept_move()
        if not self._typed or (self._typed[0] is None and sitting.is_away):
            return None
        return sitting.settle() if sitting.is_unsettled else sitting.take_line(self._typed.popleft())

    async def _take_typed(self, line: str | None) -> None:
        """Take a line up; while there is no connection it is answered at once, and whoever wants to go goes."""
        self._reading = None if line is None else asyncio.create_task(self._keyboard.read_line())
        sitting = self._sitting
        if line is not None and sitting.is_offline and is_farewell(line):
            self._screen.note_typed()
            await sitting.leave()
        elif line is not None and sitting.is_offline and sitting.state is not None:
            sitting.take_line_offline(line, is_sending=self._acting is not None)
        else:
            self._typed.append(line)

    def _untaken_lines(self) -> Iterator[str | None]:
        """Yield what was typed too late for this game."""
        yield from self._typed
        if self._reading is not None and not self._reading.cancelled():
            yield self._reading.result()


async def _next(messages: Messages) -> Message:
    return await anext(messages)


async def _dismiss(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel tasks whose results nobody wants any more, and wait for that."""
    wanted = [task for task in tasks if task is not None]
    for task in wanted:
        task.cancel()
    await asyncio.gather(*wanted, return_exceptions=True)
