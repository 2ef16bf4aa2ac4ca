"""The beginning of every connection: the socket, our hello, and the server's welcome."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from msgspec import UNSET

from tictactoe_client.online.address import Address
from tictactoe_client.online.connection import Connection, open_connection
from tictactoe_client.online.errors import Unreachable, VersionRefused
from tictactoe_client.online.installation import client_version
from tictactoe_client.online.messages import Message, read_message, refusal_of
from tictactoe_client.online.version import PROTOCOL_VERSIONS, describe_mismatch
from tictactoe_protocol import encode
from tictactoe_protocol.pushes import Error, Welcome
from tictactoe_protocol.requests import Hello


@dataclass(frozen=True, slots=True)
class Greeting:
    """A connection on which the server knows us: its welcome, as it came and read, and how long that took.

    `address` is that of the server which let us in.
    """

    address: Address
    connection: Connection
    message: Message
    welcome: Welcome
    latency_seconds: float

    @property
    def hold_ms(self) -> int | None:
        """For how long the server says that it holds the seat of one who drops, None where it does not say."""
        stated = self.welcome.hold_ms
        return None if stated is UNSET else stated


async def greet(
    address: Address, name: str | None, token: str | None, timeout_seconds: float, ca: str | Path | None = None
) -> Greeting:
    """Connect and say hello; `ca` as for `connect`.

    Raises `Unreachable`, `VersionRefused`, `Refused` or `ConnectionLost`.
    """
    loop = asyncio.get_running_loop()
    connection = await open_connection(address, timeout_seconds=timeout_seconds, ca=ca)
    try:
        started = loop.time()
        message, welcome = await _say_hello(connection, address, name, token, timeout_seconds)
    except (asyncio.CancelledError, Unreachable):
        connection.abort()
        raise
    except BaseException:
        await connection.close()
        raise
    return Greeting(address, connection, message, welcome, loop.time() - started)


async def _say_hello(
    connection: Connection, address: Address, name: str | None, token: str | None, timeout_seconds: float
) -> tuple[Message, Welcome]:
    hello = Hello(name=name or UNSET, token=token or UNSET, client=f"tictactoe-client/{client_version()}")
    try:
        async with asyncio.timeout(timeout_seconds):
            await connection.send(encode(hello).decode())
            while True:
                message = read_message(await connection.receive())
                if isinstance(message.push, Error):
                    refused = refusal_of(message.push)
                    refused.server = address.url
                    raise refused
                if isinstance(message.push, Welcome):
                    break
    except TimeoutError:
        raise Unreachable(address.url, f"no answer to hello within {timeout_seconds:g} s") from None
    spoken = message.push.protocol
    if spoken not in PROTOCOL_VERSIONS:
        raise VersionRefused(describe_mismatch((spoken,)), (spoken,))
    return message, message.push
