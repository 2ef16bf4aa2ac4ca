"""The way back after a lost connection: wait, try, and again, until it works or the seat is no longer held.

It knows nothing of rooms and requests: `client` says hello through it and then takes up what stood open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from tictactoe_client.wire.backoff import Backoff
from tictactoe_client.wire.errors import (
    EXPULSIONS,
    ClientError,
    ConnectionLost,
    Expelled,
    ProtocolBroken,
    Refused,
    Unreachable,
)
from tictactoe_client.wire.events import Back, Event, Lost, Retrying
from tictactoe_client.wire.greeting import Greeting
from tictactoe_protocol import may_reconnect

_FOR_A_WHILE: Final = frozenset({"rate_limited", "busy", "server_full", "unavailable", "internal"})


async def come_back(
    greet: Callable[[], Awaitable[Greeting]],
    backoff: Backoff,
    patience_seconds: float,
    lost: ConnectionLost,
    tell: Callable[[Event], None],
    hurry: asyncio.Event,
) -> Greeting:
    """Return the new connection; raises `ConnectionLost` with `gave_up` when there is none within `patience_seconds`.

    It is tried once however short that is, since a seat stays until somebody claims the game.
    `tell` hears of the loss, of every attempt before its wait, and of the success; setting `hurry` ends a wait.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    deadline = started + patience_seconds
    tell(Lost(lost.reason, lost.close_code, patience_seconds))
    for attempt, wait in enumerate(backoff.waits(lost.retry_ms), 1):
        left = max(0.0, deadline - loop.time())
        if left == 0 and attempt > 1:
            break
        tell(Retrying(attempt, min(wait, left), left))
        await _wait(min(wait, left), hurry)
        try:
            greeting = await greet()
        except ClientError as error:
            if isinstance(error, Refused) and error.code in EXPULSIONS:
                raise Expelled(error.code, error.message) from error
            if not _is_passing(error):
                raise _give_up(lost, error.message) from error
            continue
        tell(Back(attempt, loop.time() - started, greeting.latency_seconds))
        return greeting
    raise _give_up(lost, "could not get back in time")


async def _wait(seconds: float, hurry: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(seconds):
            await hurry.wait()
    except TimeoutError:
        return
    finally:
        hurry.clear()


def _is_passing(error: ClientError) -> bool:
    """Tell whether another attempt may fare better."""
    if isinstance(error, ProtocolBroken):
        return False
    if isinstance(error, ConnectionLost):
        return may_reconnect(error.close_code)
    return isinstance(error, Unreachable) or (isinstance(error, Refused) and error.code in _FOR_A_WHILE)


def _give_up(lost: ConnectionLost, reason: str) -> ConnectionLost:
    return ConnectionLost(reason.rstrip("."), lost.close_code, lost.retry_ms, gave_up=True)
