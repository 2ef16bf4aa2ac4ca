"""Entering rooms, one at a time, for somebody who may want another one meanwhile, or none.

A room that is entered when nobody wants it any more is left again, before the next one is asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

from tictactoe_client.online.client import Choice
from tictactoe_client.online.errors import ClientError
from tictactoe_client.online.room import GOODBYE_SECONDS, Room
from tictactoe_client.session import Enter, Session
from tictactoe_protocol.catalogue import say


class Entrance:
    """What is being entered; `waits_for` says it in words, empty while nothing is waited for."""

    def __init__(self, link: Session) -> None:
        self.waits_for = ""
        self._link = link
        self._turn = asyncio.Lock()
        self._wanted: object | None = None

    def fetch(self, what: str, enter: Enter) -> Coroutine[Any, Any, Room | None]:
        """Return what is to be awaited: the room, or None where it was given up; what was wanted before is given up.

        Awaiting it raises what entering raises, unless it was given up.
        """
        self.waits_for, self._wanted = what, object()
        return self._take_turn(self._wanted, enter)

    def give_up(self) -> bool:
        """Want nothing any more; tell whether anything was wanted."""
        was_wanted = self._wanted is not None
        self.waits_for, self._wanted = "", None
        return was_wanted

    async def finish(self) -> None:
        """Give up and leave what was still on its way, as the program ends; a silent server is not waited for."""
        self.give_up()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE_SECONDS), self._turn:
                pass

    async def _take_turn(self, wanted: object, enter: Enter) -> Room | None:
        try:
            async with self._turn:
                client = self._link.client
                if client is None or self._wanted is not wanted:
                    return None
                room = await enter(client)
                if self._wanted is wanted:
                    return room
                if any(seat.room == room.code for seat in client.welcome.rooms):
                    await self._link.greet_again()  # the seat of an earlier run stays ours
                else:
                    await room.leave()
        except ClientError:
            if self._wanted is wanted:
                raise
        finally:
            if self._wanted is wanted:
                self.give_up()
        return None


def describe_wait(choice: Choice) -> str:
    """Return what one waits for on the way into a room, in a few words."""
    if choice.way == "create":
        return say("wait for computer" if choice.bots else "wait for room")
    return say(f"wait for {choice.way}", room=choice.code)
