"""An engine in a seat: it moves when it is its turn, and gives the game up, saying why, where it cannot play on."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

from tictactoe_client.exits import dismiss
from tictactoe_client.online.errors import ClientError, Refused
from tictactoe_client.online.events import Closed, Cut, Replaced, RoomEvent
from tictactoe_client.online.room import Room
from tictactoe_client.text.wording import can_play_again
from tictactoe_lab.brain.engine import Engine, EngineFailed
from tictactoe_lab.brain.gomocup import find_time
from tictactoe_protocol.codes import MAX_CHAT_LENGTH
from tictactoe_protocol.pushes import RoomState
from tictactoe_words.catalogue import say
from tictactoe_words.choices import choices

_PASSED: Final = frozenset({"stale", "not_your_turn", "game_over", "not_started", "no_offer", "not_allowed"})
"""Why something is refused whose position is gone: a state that says more is on its way."""


class EnginePlayer:
    """Plays in a room with an engine: one game, or where it `stays` each that others want to play as well."""

    def __init__(self, engine: Engine, room: Room, *, stays: bool) -> None:
        self._engine = engine
        self._room = room
        self._stays = stays

    async def play(self) -> None:
        """Play until the game or the room is over; raises `EngineFailed` once the game is given up."""
        try:
            async for state in self._room:
                if state.status == "over" and not (self._stays and can_play_again(state)):
                    return
                try:
                    await self._act(state)
                except Refused as refused:  # the position may have gone on meanwhile
                    if refused.code not in _PASSED:
                        raise
        except EngineFailed as failed:
            for request in (
                self._room.chat(say("engine resigns", why=failed.message)[:MAX_CHAT_LENGTH]),
                self._room.resign(),
            ):
                with contextlib.suppress(ClientError):
                    await request
            raise

    async def _act(self, state: RoomState) -> None:
        """Answer an offer as an engine can, which gives moves back and agrees to no draw, else move at its turn."""
        now = choices(state, self._room.viewer, None)
        if now.may("undo accept"):
            await self._room.undo("accept")
            return
        if now.may("rematch accept"):
            await self._room.rematch()
        if now.may("draw decline"):
            await self._room.draw("decline")
        if self._room.is_my_turn:
            await self._move(state)

    async def _move(self, state: RoomState) -> None:
        """Make its move, unless the position is gone before, or the other one wants a move back."""
        room, engine = self._room, self._engine
        passed = asyncio.Event()

        def hear(event: RoomEvent) -> None:
            now = room.state  # events may be of before
            is_same = (now.game, now.ply, now.status) == (state.game, state.ply, state.status)
            if isinstance(event, Closed | Replaced | Cut) or not is_same or now.offers.undo not in (None, room.seat):
                passed.set()

        thinking = asyncio.create_task(engine.decide(room.position, find_time(state, str(room.seat))))
        waiting = asyncio.create_task(passed.wait())
        unsubscribe = room.subscribe(hear)
        try:
            await asyncio.wait({thinking, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if thinking.done():
                act = thinking.result()
                await (room.choose(act) if isinstance(act, str) else room.move(act, ply=state.ply))
            else:
                await engine.end()  # no word would stop it; the next position it is shown as a whole
        finally:
            unsubscribe()
            await dismiss(thinking, waiting)
