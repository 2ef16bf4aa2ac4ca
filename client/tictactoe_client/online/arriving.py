"""The ways to a server: the first time, and again after a loss."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from tictactoe_client.online import errors
from tictactoe_client.online.address import Address, Cluster
from tictactoe_client.online.connection import Connection
from tictactoe_client.online.events import Back, ConnectionEvent, Lost, Retrying
from tictactoe_protocol import may_reconnect
from tictactoe_protocol.catalogue import say

Greet = Callable[[Address], Awaitable[Connection]]
"""Connects and says hello; raises `ClientError`."""
_FOR_A_WHILE: Final = frozenset({"rate_limited", "busy", "server_full", "unavailable", "internal"})


async def arrive(cluster: Cluster, greet: Greet) -> Connection:
    """Return a connection to the first address of a cluster that lets us in; raises at once what no other mends."""
    silent: list[errors.Unreachable] = []
    put_off: list[errors.ClientError] = []
    for address in cluster.addresses:
        try:
            return await greet(address)
        except errors.Unreachable as error:
            silent.append(error)
        except errors.ClientError as error:
            if not is_passing(error):
                raise
            put_off.append(error)
    if put_off:
        raise put_off[0]
    raise errors.Unreachable(silent[0].url, silent[0].reason, others=silent[1:])


async def come_back(
    greet: Greet,
    cluster: Cluster,
    ways: Iterable[tuple[int, float]],
    patience: tuple[float, float],
    lost: errors.ConnectionLost,
    tell: Callable[[ConnectionEvent], None],
    hurry: asyncio.Event,
) -> Connection:
    """Return the new connection; raises `ConnectionLost` with `gave_up` when there is none in time.

    `cluster` begins with the address that was lost; `ways` and `patience` are a `Backoff`'s. Each address is tried once
    however short the time is. The hold of a seat does not run out while no server runs, so only the time before answers
    counts against it. `tell` hears of the loss, of each attempt and of the success; setting `hurry` ends a wait.
    """
    loop = asyncio.get_running_loop()
    started = before = loop.time()
    hold_seconds, absent_seconds = patience
    is_answered = False
    tell(Lost(lost.reason, lost.close_code, hold_seconds, absent_seconds))
    for attempt, (step, wait) in enumerate(ways, 1):
        is_let_go = hold_seconds <= 0 and is_answered
        left = 0.0 if is_let_go else max(0.0, started + absent_seconds - loop.time())
        if left == 0 and attempt > len(cluster.addresses):
            break
        address = cluster.addresses[step]
        tell(Retrying(attempt, min(wait, left), left, address.url))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(wait, left)):
                await hurry.wait()
        hurry.clear()
        try:
            connection = await greet(address)
        except errors.ClientError as error:
            if isinstance(error, errors.Refused) and error.code in errors.EXPULSIONS:
                raise errors.Expelled(error.code, error.message) from error
            if not is_passing(error):
                raise _give_up(lost, error.message) from error
            is_answered = not isinstance(error, errors.Unreachable)
            hold_seconds -= loop.time() - before if is_answered else 0
            before = loop.time()
            continue
        tell(Back(attempt, loop.time() - started, connection.latency_seconds))
        return connection
    raise _give_up(lost, say("lost too long"))


def is_passing(error: errors.ClientError) -> bool:
    """Tell whether another attempt may fare better."""
    if isinstance(error, errors.ProtocolBroken):
        return False
    if isinstance(error, errors.ConnectionLost):
        return may_reconnect(error.close_code)
    return isinstance(error, errors.Unreachable) or (isinstance(error, errors.Refused) and error.code in _FOR_A_WHILE)


def _give_up(lost: errors.ConnectionLost, reason: str) -> errors.ConnectionLost:
    return errors.ConnectionLost(reason.rstrip("."), lost.close_code, lost.retry_ms, gave_up=True)
