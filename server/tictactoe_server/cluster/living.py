"""Which servers of a cluster live, heard from outside: by somebody who is no server, over a connection to the store."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Final, NamedTuple

import msgspec

from tictactoe_server.cluster.cluster import ORDERS
from tictactoe_server.cluster.jetstream.link import Link, Message
from tictactoe_server.cluster.members import BEAT_SECONDS, SUBJECT
from tictactoe_server.cluster.messages import Beat, decode

LISTENING_SECONDS: Final = 2.4 * BEAT_SECONDS
"""Long enough for two signs of life of each."""


class Living(NamedTuple):
    """A server that lives, as its last sign of life says, and how far its served time is behind the latest (ms)."""

    beat: Beat
    time_lag_ms: int


async def find_living(link: Link) -> list[Living]:
    """Return who is heard within a moment, by name; raises `StoreUnavailable`."""
    heard: dict[str, tuple[Beat, float]] = {}

    def hear(message: Message) -> None:
        with contextlib.suppress(msgspec.DecodeError):
            beat = decode(message.data, Beat)
            heard[beat.sender] = beat, beat.time - time.monotonic() * 1000

    await link.subscribe(SUBJECT, hear)
    await link.flush()
    await asyncio.sleep(LISTENING_SECONDS)
    latest = max((time for _, time in heard.values()), default=0.0)
    found = [Living(beat, round(latest - time)) for beat, time in heard.values()]
    return sorted(found, key=lambda living: living.beat.name)


async def ask_living(link: Link, id: str, order: bytes) -> bytes:
    """Return what a server answers to an order of the operator's; raises `StoreUnavailable`."""
    return await link.request(ORDERS + id, order)
