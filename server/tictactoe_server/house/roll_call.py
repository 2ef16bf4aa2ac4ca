"""Which servers of a house live, heard from outside: by somebody who is no server, over a connection to the store."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Final

import msgspec

from tictactoe_server.house.house import ORDERS
from tictactoe_server.house.members import BEAT_SECONDS, SUBJECT
from tictactoe_server.house.parcels import Beat, decode_beat
from tictactoe_server.stores.jetstream import Link, Message

LISTENING_SECONDS: Final = 2.4 * BEAT_SECONDS
"""Long enough for two signs of life of each."""


@dataclass(frozen=True, slots=True)
class Living:
    """A server that lives: its name for people, how far its served time is behind the latest of all (ms), and the ids
    of those that live as far as it knows.
    """

    id: str
    name: str
    time_lag_ms: int
    knows: frozenset[str]


async def call_roll(link: Link) -> list[Living]:
    """Return who is heard within a moment, by name; raises `LinkError`."""
    heard: dict[str, tuple[Beat, float]] = {}

    def hear(message: Message) -> None:
        try:
            beat = decode_beat(message.data)
        except msgspec.DecodeError:
            return
        heard[beat.sender] = beat, beat.time - time.monotonic() * 1000

    await link.subscribe(SUBJECT, hear)
    await link.flush()
    await asyncio.sleep(LISTENING_SECONDS)
    latest = max((time for _, time in heard.values()), default=0.0)
    living = [
        Living(beat.sender, beat.name, round(latest - time), frozenset(beat.living)) for beat, time in heard.values()
    ]
    return sorted(living, key=lambda one: one.name)


async def ask_living(link: Link, living: Living, order: bytes) -> bytes:
    """Return what a server answers to an order of the operator's; raises `LinkError`."""
    return await link.request(ORDERS + living.id, order)
