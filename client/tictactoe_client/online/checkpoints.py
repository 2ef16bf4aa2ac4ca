"""Whether the log of a server's ratings still has all that was in it before: by its signed checkpoints alone.

A server shows how a later checkpoint follows from an earlier one with a hash for each in between, from
``/api/ladders/checkpoints``; it cannot make them up. A verdict is something more in the log, and so no change of it.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Final, Literal
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

import msgspec

from tictactoe_client.online.address import Address
from tictactoe_client.online.connection import context_for
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.ratings.checkpoints import MAX_LINKS, Checkpoint, Links

Standing = Literal["first", "same", "stands", "behind", "unsigned", "other key", "fork", "unproved"]
"""How a checkpoint stands to one that is remembered: there is none; it is the same; it goes on from it; it comes before
it, as where a server is behind others of its cluster; its signature is none; it is by another key; it goes on from
something else; or the server does not show how it follows."""

_MOST_BYTES: Final = 100 * MAX_LINKS


async def compare_checkpoint(
    address: Address,
    now: Checkpoint,
    earlier: Checkpoint | None,
    *,
    timeout_seconds: float = 5.0,
    ca: str | Path | None = None,
) -> Standing:
    """Return how the checkpoint that a server has `now` stands to an earlier one, asking the server where it must."""
    if not await asyncio.to_thread(lambda: now.is_signed):
        return "unsigned"
    if earlier is None:
        return "first"
    if now.key != earlier.key:
        return "other key"
    if now.number <= earlier.number:
        is_same = now.chain == earlier.chain
        return "behind" if now.number < earlier.number else "same" if is_same else "fork"
    links: list[bytes] = []
    while (missing := now.number - earlier.number - len(links)) > 0:
        try:
            some = await asyncio.to_thread(_fetch_links, address, earlier.number + len(links), timeout_seconds, ca)
        except (OSError, HTTPException, ValueError):
            return "unproved"
        if not some:
            return "unproved"
        links += some[:missing]
    return "stands" if now.stands_on(earlier, links) else "fork"


def describe_standing(standing: Standing, now: Checkpoint, earlier: Checkpoint | None) -> str | None:
    """Return in one sentence what a person should know of it, or None where all is as it should be."""
    if standing in ("first", "same", "stands"):
        return None
    return say(f"checkpoint {standing}", n=now.number, earlier=0 if earlier is None else earlier.number)


def _fetch_links(address: Address, after: int, timeout_seconds: float, ca: str | Path | None) -> Sequence[bytes]:
    """Return the links after a checkpoint of this number; raises OSError, HTTPException and ValueError."""
    context = context_for(address, ca)
    handlers = [HTTPSHandler(context=context)] if isinstance(context, ssl.SSLContext) else []
    proxies = [ProxyHandler({})] if address.is_loopback else []
    request = Request(f"{address.page_url}/api/ladders/checkpoints?after={after}", headers={"Accept": "*/*"})
    with build_opener(*handlers, *proxies).open(request, timeout=timeout_seconds) as answer:
        found = msgspec.json.decode(answer.read(_MOST_BYTES), type=Links)
    if found.after != after:
        raise ValueError(found.after)
    return [bytes.fromhex(link) for link in found.links]
