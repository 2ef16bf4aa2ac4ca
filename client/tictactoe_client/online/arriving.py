"""The ways to a server: the first time, again after a loss, and to the one that has a room."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from tictactoe_client.online import errors
from tictactoe_client.online.address import Address, is_same_server
from tictactoe_client.online.cluster import Cluster, find_server
from tictactoe_client.online.connection import Connection
from tictactoe_client.online.events import Back, ConnectionEvent, Lost, Retrying
from tictactoe_client.online.inspection import read_message
from tictactoe_client.online.messages import Message
from tictactoe_client.online.pending import Pending
from tictactoe_protocol import ErrorCode, may_reconnect, pushes
from tictactoe_protocol.catalogue import say

Greet = Callable[[Address], Awaitable[Connection]]
"""Connects and says hello; raises `ClientError`."""
_FOR_A_WHILE: Final = frozenset({"rate_limited", "busy", "server_full", "unavailable", "internal"})
_MOST_MOVES: Final = 3
"""So often in a row a request is taken on to the server that is said to have its room."""
_MOST_BEFORE: Final = 100
"""How many messages may come before the answer to the first request."""


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


@dataclass(slots=True)
class Search:
    """How the server was looked for that has the room of a request, as the last `told` of them says.

    It answered over a connection of its own, `guest`, with all that was `heard` over it; or nobody was there, or sent
    us back. `leads_nowhere` where we were sent to no server of the cluster, which is not gone to.
    """

    told: Message
    guest: Connection | None = None
    heard: list[str] = field(default_factory=list)
    leads_nowhere: bool = False


async def search(
    pending: Pending, told: Message, here: Connection, cluster: Cluster, greet: Greet, timeout_seconds: float
) -> Search:
    """Ask the servers to which one is sent from `here`, one after the other; raises `Interrupted`.

    The caller is to close the connection of a guest, or be there.
    """
    teller = here
    for _ in range(_MOST_MOVES):
        address = await _find_way(told, teller, cluster, greet)
        if address is None:
            return Search(told, leads_nowhere=True)
        if is_same_server(address, here.address):
            break
        guest = None
        try:
            guest = await greet(address)
            heard, answer = await _ask(guest, pending, timeout_seconds)
            if not sends_on(answer.push):
                found, guest = guest, None
                return Search(answer, found, heard)
            told, teller = answer, guest
        except errors.ClientError:
            if guest is not None and not pending.may_be_repeated:
                raise errors.Interrupted from None
            break
        finally:
            if guest is not None:
                guest.transport.abort()
    return Search(told)


async def _find_way(told: Message, teller: Connection, cluster: Cluster, greet: Greet) -> Address | None:
    """Return the server of the cluster to which one is sent, None for a stranger: one may have come since the hello."""
    url = getattr(told.push, "url", None) or ""
    known = (*teller.servers, *(one for one in cluster.addresses if teller.address.may_lead_to(one)))
    address = find_server(url, known)
    if address is None:
        with contextlib.suppress(errors.ClientError):
            newer = await greet(teller.address)
            await newer.close()
            teller.servers = newer.servers
            address = find_server(url, newer.servers)
    return address


async def _ask(connection: Connection, pending: Pending, timeout_seconds: float) -> tuple[list[str], Message]:
    """Return all that comes up to the answer to a request, and the answer; raises `ConnectionLost`, `Unreachable`."""
    heard: list[str] = []
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_seconds):
            await connection.say(pending.text)
            while len(heard) < _MOST_BEFORE:
                heard.append(await connection.hear())
                message = read_message(heard[-1])
                if isinstance(message.push, pushes.Ok | pushes.Error) and message.push.id == pending.id:
                    return heard, message
    raise errors.Unreachable(connection.address.url, say("failure no answer", seconds=f"{timeout_seconds:g}"))


def sends_on(push: pushes.Push | None) -> bool:
    """Tell whether an answer says that another server has the room."""
    return isinstance(push, pushes.Error) and push.code == ErrorCode.MOVED and bool(push.url)
