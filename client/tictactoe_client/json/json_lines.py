"""Lines of JSON: what the client itself prints, what it passes on, and what it reads.

The session that they make up is `json_game`'s; commands that only ask something pass the answers through.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tictactoe_client.online.client import Client
from tictactoe_client.streams.output import print_json

Line = dict[str, Any]
Answer = TypeVar("Answer")


def print_own(type: str, **fields: object) -> None:
    """Print a line of the client's own."""
    print_json(json.dumps({"from": "client", "type": type, **fields}, ensure_ascii=False, separators=(",", ":")))


def print_connected(client: Client, latency_seconds: float) -> None:
    """Print the first line of every conversation: where it leads, and how long the answer to hello took."""
    print_own("connected", server=client.address.url, latency_ms=max(1, round(latency_seconds * 1000)))


async def pass_through(client: Client, ask: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    """Carry out requests, print everything that the server says meanwhile, and return what came of them."""
    messages = client.messages()
    print_connected(client, client.latency_seconds)
    asking = asyncio.create_task(ask())
    asking.add_done_callback(lambda _: messages.put(None))
    try:
        async for message in messages:
            if message.event is None:
                print_json(message.text)
        return await asking
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


def parse_line(text: str) -> Line:
    """Return the object on a line; raises ValueError for anything else, also for NaN and Infinity.

    >>> parse_line('{"type":"ping"}')
    {'type': 'ping'}
    """
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("This is nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"This is not JSON: {error}.") from None
    if not isinstance(content, dict):
        raise ValueError("A line holds one JSON object.")
    return content


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")
