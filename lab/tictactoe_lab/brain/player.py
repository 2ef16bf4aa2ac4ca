"""Plays an engine's seat: moves on its turn, and resigns with a chat message if the engine fails."""

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

_OUTDATED: Final = frozenset({"stale", "not_your_turn", "game_over", "not_started", "no_offer", "not_allowed"})
"""The codes of refusals of a request that came too late; the newer state is on its way."""


class EnginePlayer:
    """Plays with an engine in a room: one game, or, if it `stays`, every rematch too."""

    def __init__(self, engine: Engine, room: Room, *, stays: bool) -> None:
        self._engine = engine
        self._room = room
        self._stays = stays

    async def play(self) -> None:
        """Play until the game or the room is over; if the engine fails, resign and raise `EngineFailed`."""
        try:
            async for state in self._room:
                if state.status == "over" and not (self._stays and can_play_again(state)):
                    return
                try:
                    await self._act(state)
                except Refused as refused:
                    if refused.code not in _OUTDATED:
                        raise
        except EngineFailed as failed:
            for request in (
                self._room.chat(say("engine cannot go on", why=failed.message)[:MAX_CHAT_LENGTH]),
                self._room.resign(),
            ):
                with contextlib.suppress(ClientError):
                    await request
            raise

    async def _act(self, state: RoomState) -> None:
        """Answer pending offers (accept an undo or a rematch, decline a draw), then move if it is the engine's turn."""
        now = choices(state, self._room.viewer)
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
        """Make the engine's move, unless the position changes or the opponent asks for an undo first."""
        room, engine = self._room, self._engine
        interrupted = asyncio.Event()

        def interrupt_if_outdated(event: RoomEvent) -> None:
            now = room.state  # the event may be older
            is_same = (now.game, now.ply, now.status) == (state.game, state.ply, state.status)
            if isinstance(event, Closed | Replaced | Cut) or not is_same or now.offers.undo not in (None, room.seat):
                interrupted.set()

        thinking = asyncio.create_task(engine.decide(room.position, find_time(state, str(room.seat))))
        waiting = asyncio.create_task(interrupted.wait())
        unsubscribe = room.subscribe(interrupt_if_outdated)
        try:
            await asyncio.wait({thinking, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if thinking.done():
                act = thinking.result()
                await (room.choose(act) if isinstance(act, str) else room.move(act, ply=state.ply))
            else:
                await engine.end()  # the protocol has no command to stop thinking
        finally:
            unsubscribe()
            await dismiss(thinking, waiting)
