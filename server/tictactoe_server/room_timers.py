"""What time does to rooms: clocks run out, players who are gone lose their seats' hold, deserted rooms end.

It only decides when; what then happens goes through the registry, the one path of every change.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

import structlog

from tictactoe_server.live_room import LiveRoom
from tictactoe_server.rooms import Dropped, Expire, Player, Refused, expires_at
from tictactoe_server.settings import Limits
from tictactoe_server.stores import StoreUnavailable

if TYPE_CHECKING:
    from tictactoe_server.registry import Registry

NOBODY: Final = Player("", "")
"""Who acts when time does."""

RETRY_SECONDS: Final = 1.0
"""When what the store refused is tried again."""

log: Final = structlog.get_logger(__name__)


class RoomTimers:
    """The timers of all rooms of a registry, and the tasks that they start. `now` returns ms of served time."""

    def __init__(self, registry: Registry, now: Callable[[], int], limits: Limits) -> None:
        self._registry = registry
        self._now = now
        self._limits = limits
        self._tasks: set[asyncio.Task[None]] = set()

    def watch_clock(self, live: LiveRoom) -> None:
        """See to it that the running clock's end is noticed."""
        live.stop_flag()
        end = expires_at(live.room)
        if end is not None:
            self._expire_later(live, max(0, end - self._now()) / 1000)

    def drop_later(self, live: LiveRoom, player: Player) -> None:
        """Hold the seat of one whose connection is gone once the store can take it, unless they are back."""
        self._start(lambda room: self._drop(room, player), live)

    def close_later(self, live: LiveRoom) -> None:
        """Let a room that nobody plays in any more end after a while; `LiveRoom.stop_closing` takes that back."""
        live.stop_closing()
        if live.is_abandoned:
            limits, is_playing = self._limits, live.room.status == "playing"
            delay = limits.deserted_game_seconds if is_playing else limits.deserted_seconds
            live.closing = asyncio.get_running_loop().call_later(delay, self._start, self._close_if_deserted, live)

    async def stop(self) -> None:
        """Stop what the timers started; the timers themselves are stopped with their rooms."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _expire_later(self, live: LiveRoom, seconds: float) -> None:
        live.flag = asyncio.get_running_loop().call_later(seconds, self._start, self._expire, live)

    async def _expire(self, live: LiveRoom) -> None:
        """End the turn whose clock ran out; where that cannot be stored it is tried until it can."""
        registry = self._registry
        async with live.lock:
            if not registry.is_alive(live):
                return
            try:
                changed = await registry.change(live, NOBODY, Expire())
            except (Refused, StoreUnavailable) as error:
                log.warning("a clock that ran out could not be stored", room=live.room.code, reason=str(error))
                if registry.is_alive(live):
                    self._expire_later(live, RETRY_SECONDS)
                return
            if changed:
                registry.show(live)
            else:
                self.watch_clock(live)

    async def _drop(self, live: LiveRoom, player: Player) -> None:
        is_stored = False
        while not is_stored:
            await asyncio.sleep(RETRY_SECONDS)
            async with live.lock:
                if not self._registry.is_alive(live) or player.id in live.players:
                    return
                with contextlib.suppress(StoreUnavailable):
                    await self._registry.change(live, player, Dropped())
                    self._registry.show(live)
                    is_stored = True

    async def _close_if_deserted(self, live: LiveRoom) -> None:
        async with live.lock:
            if live.is_abandoned and self._registry.is_alive(live):
                await self._registry.close(live, "Nobody came back.")

    def _start(self, work: Callable[[LiveRoom], Coroutine[Any, Any, None]], live: LiveRoom) -> None:
        """Begin what a timer asks for; failures are logged."""
        task = asyncio.create_task(_guarded(work(live)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _guarded(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("work on a room failed")
