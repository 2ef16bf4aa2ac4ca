"""Run many cases of a test concurrently; starting programs takes most of the time."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

Case = TypeVar("Case")


async def try_each(
    cases: Iterable[Case], attempt: Callable[[Case], Awaitable[None]], *, at_a_time: int = 2 * (os.cpu_count() or 1)
) -> None:
    """Try every case, `at_a_time` concurrently (default: two per processor). A failure names its case."""
    places = asyncio.Semaphore(at_a_time)

    async def try_one(case: Case) -> None:
        async with places:
            try:
                await attempt(case)
            except Exception as error:
                error.add_note(f"in the case {case!r}")
                raise

    async with asyncio.TaskGroup() as group:
        for case in cases:
            group.create_task(try_one(case))
