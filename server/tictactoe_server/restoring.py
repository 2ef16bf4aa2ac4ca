"""Bringing back the rooms that an earlier server left, however long the store takes."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from tictactoe_server.registry import Registry
from tictactoe_server.room_timers import RETRY_SECONDS
from tictactoe_server.stores import StoreUnavailable

_AT_ONCE: Final = 64

log: Final = structlog.get_logger(__name__)


async def restore_rooms(registry: Registry) -> None:
    """Bring back all stored rooms; unreadable ones are named in the log and left alone.

    What the store refuses is tried again until it is here; players are not kept waiting for that.
    """
    left: list[str] | None = None
    while left is None or left:
        try:
            if left is None:
                left = await registry.stored_codes()
            left = await _restore_all(registry, left)
        except StoreUnavailable:
            log.exception("the rooms cannot be listed yet")
        finally:
            registry.finish_restoring()
        if left is None or left:
            await asyncio.sleep(RETRY_SECONDS)


async def _restore_all(registry: Registry, codes: list[str]) -> list[str]:
    """Bring rooms back, many at once; return the codes of those that the store refused."""
    refused: list[str] = []
    count = 0
    for first in range(0, len(codes), _AT_ONCE):
        some = codes[first : first + _AT_ONCE]
        outcomes = await asyncio.gather(*(_restore(registry, code) for code in some))
        refused += [code for code, outcome in zip(some, outcomes, strict=True) if outcome is None]
        count += sum(outcome is True for outcome in outcomes)
    if count:
        log.info("rooms restored", rooms=count)
    if refused:
        log.warning("rooms could not be restored yet", rooms=len(refused))
    return refused


async def _restore(registry: Registry, code: str) -> bool | None:
    """Bring one room back and tell whether it is here, None where the store refused.

    One that fails keeps no other from coming.
    """
    try:
        return await registry.load(code) is not None
    except StoreUnavailable:
        return None
    except Exception:
        log.exception("a room could not be restored", room=code)
        return False
