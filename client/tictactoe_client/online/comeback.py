"""The way back after a lost connection: wait, try, and again, until it works or the seat is no longer held.

It knows nothing of rooms and requests: `client` says hello through it and then takes up what stood open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from tictactoe_client.online.address import Address
from tictactoe_client.online.errors import (
    EXPULSIONS,
    ClientError,
    ConnectionLost,
    Expelled,
    ProtocolBroken,
    Refused,
    Unreachable,
)
from tictactoe_client.online.events import Back, Event, Lost, Retrying
from tictactoe_client.online.greeting import Greeting
from tictactoe_client.online.house import House
from tictactoe_protocol import may_reconnect

_FOR_A_WHILE: Final = frozenset({"rate_limited", "busy", "server_full", "unavailable", "internal"})


async def arrive(house: House, greet: Callable[[Address], Awaitable[Greeting]]) -> Greeting:
    """Return a connection to the first address of a house that lets us in.

    Raises what `greet` does: at once what another address would not mend, else once all have failed.
    """
    failures: list[ClientError] = []
    for address in house.addresses:
        try:
            return await greet(address)
        except ClientError as error:
            if not _is_passing(error):
                raise
            failures.append(error)
    unreachable = [error for error in failures if isinstance(error, Unreachable)]
    if len(unreachable) < len(failures):
        raise next(error for error in failures if not isinstance(error, Unreachable))
    first, *others = unreachable
    raise Unreachable(first.url, first.reason, others=others) if others else first


async def come_back(
    greet: Callable[[Address], Awaitable[Greeting]],
    house: House,
    ways: Iterable[tuple[int, float]],
    patience_seconds: float,
    lost: ConnectionLost,
    tell: Callable[[Event], None],
    hurry: asyncio.Event,
) -> Greeting:
    """Return the new connection; raises `ConnectionLost` with `gave_up` when there is none within `patience_seconds`.

    `house` begins with the address that was lost; `ways` says which address to try next, and after how many seconds.
    Each is tried once however short the time is, since a seat stays until somebody claims the game.
    `tell` hears of the loss, of every attempt before its wait, and of the success; setting `hurry` ends a wait.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    deadline = started + patience_seconds
    tell(Lost(lost.reason, lost.close_code, patience_seconds))
    for attempt, (step, wait) in enumerate(ways, 1):
        left = max(0.0, deadline - loop.time())
        if left == 0 and attempt > len(house.addresses):
            break
        address = house.addresses[step]
        tell(Retrying(attempt, min(wait, left), left, address.url))
        await _wait(min(wait, left), hurry)
        try:
            greeting = await greet(address)
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
