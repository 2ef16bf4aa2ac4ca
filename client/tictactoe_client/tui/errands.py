"""The way into a room while the server has not answered: one at a time, and whoever waits may stop waiting at once.

A room that is entered when nobody wants it any more is left again, before the next one is asked for. Pages say what to
enter and what to do when they are in; they know nothing of answers that come too late.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

from tictactoe_client.online.client import Choice, Client
from tictactoe_client.online.errors import ClientError
from tictactoe_client.online.room import GOODBYE_SECONDS, Room
from tictactoe_client.session import Enter, Session


class Errands:
    """What one person is entering, for all pages; `errand` says it in words, empty while nothing is waited for."""

    def __init__(self, link: Session) -> None:
        self.errand = ""
        self._link = link
        self._turn = asyncio.Lock()
        self._wanted: object | None = None

    def enter(self, errand: str, enter: Enter) -> Coroutine[Any, Any, Room | None]:
        """Return what is to be awaited: the room, or None where it was given up; what was wanted before is given up.

        Awaiting it raises what entering raises, unless it was given up.
        """
        self.errand, self._wanted = errand, object()
        return self._take_turn(self._wanted, enter)

    def give_up(self) -> bool:
        """Want nothing any more; tell whether anything was wanted."""
        was_wanted = self._wanted is not None
        self.errand, self._wanted = "", None
        return was_wanted

    async def finish(self) -> None:
        """Give up and leave what was still on its way, as the program ends; a silent server is not waited for."""
        self.give_up()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE_SECONDS), self._turn:
                pass

    async def _take_turn(self, visit: object, enter: Enter) -> Room | None:
        try:
            async with self._turn:
                return await self._go_in(visit, enter)
        finally:
            if self._wanted is visit:
                self.give_up()

    async def _go_in(self, visit: object, enter: Enter) -> Room | None:
        client = self._link.client
        if client is None or self._wanted is not visit:
            return None
        try:
            room = await enter(client)
            if self._wanted is visit:
                return room
            await self._leave_again(room, client)
        except ClientError:
            if self._wanted is visit:
                raise
        return None

    async def _leave_again(self, room: Room, client: Client) -> None:
        """Leave a room that nobody wants any more; from a seat of an earlier run only go away, so that it is kept."""
        if any(seat.room == room.code for seat in client.welcome.rooms):
            await self._link.reconnect()
        else:
            await room.leave()


def describe_errand(choice: Choice) -> str:
    """Return what one waits for on the way into a room, in a few words."""
    if choice.way == "match":
        return "Looking for an opponent"
    if choice.way == "create":
        return "Fetching the computer" if choice.bots else "Opening the room"
    return f"Joining {choice.code}" if choice.way == "join" else f"Going to watch {choice.code}"
