"""The way to a connection on which the server knows us, the first time and after each loss.

It knows nothing of rooms and requests: `Conversation` takes up what stood open."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec import UNSET

from tictactoe_client.online.address import Address, House
from tictactoe_client.online.connection import Connection, open_connection
from tictactoe_client.online.errors import (
    EXPULSIONS,
    ClientError,
    ConnectionLost,
    Expelled,
    ProtocolBroken,
    Refused,
    Unreachable,
    VersionRefused,
)
from tictactoe_client.online.events import Back, ConnectionEvent, Lost, Retrying
from tictactoe_client.online.messages import Message, read_message, refusal_of
from tictactoe_client.online.version import PROTOCOL_VERSIONS, client_version, describe_mismatch
from tictactoe_protocol import encode, may_reconnect
from tictactoe_protocol.pushes import Error, Welcome
from tictactoe_protocol.requests import Hello

_FOR_A_WHILE: Final = frozenset({"rate_limited", "busy", "server_full", "unavailable", "internal"})


@dataclass(frozen=True, slots=True)
class Greeting:
    """A connection on which a server knows us: its welcome, as it came and read, when that was, how long it took."""

    address: Address
    connection: Connection
    message: Message
    welcome: Welcome
    at: float
    latency_seconds: float


async def greet(
    address: Address, name: str | None, token: str | None, timeout_seconds: float, ca: str | Path | None = None
) -> Greeting:
    """Connect and say hello; raises `Unreachable`, `VersionRefused`, `Refused` or `ConnectionLost`."""
    connection = await open_connection(address, timeout_seconds=timeout_seconds, ca=ca)
    hello = Hello(name=name or UNSET, token=token or UNSET, client=f"tictactoe-client/{client_version()}")
    clock = asyncio.get_running_loop().time
    started = clock()
    try:
        async with asyncio.timeout(timeout_seconds):
            await connection.send(encode(hello).decode())
            while not isinstance(welcome := (message := read_message(await connection.receive())).push, Welcome):
                if isinstance(welcome, Error):
                    raise refusal_of(welcome, server=address.url)
        if welcome.protocol not in PROTOCOL_VERSIONS:
            raise VersionRefused(describe_mismatch((welcome.protocol,)), (welcome.protocol,))
    except (TimeoutError, asyncio.CancelledError) as ended:
        connection.abort()
        if isinstance(ended, TimeoutError):
            raise Unreachable(address.url, f"no answer to hello within {timeout_seconds:g} s") from None
        raise
    except BaseException:
        await connection.close()
        raise
    return Greeting(address, connection, message, welcome, clock(), clock() - started)


async def arrive(house: House, greet: Callable[[Address], Awaitable[Greeting]]) -> Greeting:
    """Return a connection to the first address of a house that lets us in.

    What `greet` raises is raised at once where another address would not mend it, else once all have failed.
    """
    failures: list[ClientError] = []
    for address in house.addresses:
        try:
            return await greet(address)
        except ClientError as error:
            if not is_passing(error):
                raise
            failures.append(error)
    unreachable = [error for error in failures if isinstance(error, Unreachable)]
    if len(unreachable) < len(failures):
        raise next(error for error in failures if not isinstance(error, Unreachable))
    raise Unreachable(unreachable[0].url, unreachable[0].reason, others=unreachable[1:])


async def come_back(
    greet: Callable[[Address], Awaitable[Greeting]],
    house: House,
    ways: Iterable[tuple[int, float]],
    patience: tuple[float, float],
    lost: ConnectionLost,
    tell: Callable[[ConnectionEvent], None],
    hurry: asyncio.Event,
) -> Greeting:
    """Return the new connection; raises `ConnectionLost` with `gave_up` when there is none in time.

    `house` begins with the address that was lost; `ways` and `patience` are a `Backoff`'s. Each address is tried once
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
        if left == 0 and attempt > len(house.addresses):
            break
        address = house.addresses[step]
        tell(Retrying(attempt, min(wait, left), left, address.url))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(wait, left)):
                await hurry.wait()
        hurry.clear()
        try:
            greeting = await greet(address)
        except ClientError as error:
            if isinstance(error, Refused) and error.code in EXPULSIONS:
                raise Expelled(error.code, error.message) from error
            if not is_passing(error):
                raise _give_up(lost, error.message) from error
            is_answered = not isinstance(error, Unreachable)
            hold_seconds -= loop.time() - before if is_answered else 0
            before = loop.time()
            continue
        tell(Back(attempt, loop.time() - started, greeting.latency_seconds))
        return greeting
    raise _give_up(lost, "could not get back in time")


def is_passing(error: ClientError) -> bool:
    """Tell whether another attempt may fare better."""
    if isinstance(error, ProtocolBroken):
        return False
    if isinstance(error, ConnectionLost):
        return may_reconnect(error.close_code)
    return isinstance(error, Unreachable) or (isinstance(error, Refused) and error.code in _FOR_A_WHILE)


def _give_up(lost: ConnectionLost, reason: str) -> ConnectionLost:
    return ConnectionLost(reason.rstrip("."), lost.close_code, lost.retry_ms, gave_up=True)
